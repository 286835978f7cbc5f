//! Numbers and parts of an axis as the page's data have them.

use serde::{Serialize, Serializer};

/// Digits of a number: more than can be seen in a chart, and as many as a percentile has.
const DIGITS: usize = 5;
/// Up to here every whole number is a number of JSON and of a browser.
const WHOLE_MAX: f64 = 9e15;

/// A number in as few letters as it needs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Number(pub f64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let rounded = format!("{:.*e}", DIGITS - 1, self.0).parse::<f64>();
        match rounded {
            Ok(value) if !value.is_finite() => serializer.serialize_none(),
            Ok(value) if value.fract() == 0.0 && value.abs() < WHOLE_MAX => {
                serializer.serialize_i64(value as i64)
            }
            Ok(value) => serializer.serialize_f64(value),
            Err(_) => serializer.serialize_none(),
        }
    }
}

/// Nanoseconds in the microseconds of a chart.
pub fn micros(nanos: u64) -> Number {
    Number(nanos as f64 / 1e3)
}

/// A part of an axis.
#[derive(Debug, Clone, Serialize)]
pub struct SpanData {
    /// Where it begins.
    pub from: Number,
    /// Where it ends.
    pub to: Number,
    /// Its name.
    pub text: String,
    /// Whether it is no part of what was measured.
    pub shaded: bool,
}
