//! Numbers and axis ranges in the page's data.

use serde::{Serialize, Serializer};

/// Significant digits of a number: more than can be seen in a chart, and as many as a percentile
/// has.
const DIGITS: usize = 5;
/// Up to this value every whole number is exact in JSON and in a browser.
const WHOLE_MAX: f64 = 9e15;

/// A number in the shortest notation.
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

/// Converts nanoseconds to the microseconds of a chart.
pub fn micros(nanos: u64) -> Number {
    Number(nanos as f64 / 1e3)
}

/// A range of an axis.
#[derive(Debug, Clone, Serialize)]
pub struct SpanData {
    /// Start of the range.
    pub from: Number,
    /// End of the range.
    pub to: Number,
    /// Name of the range.
    pub text: String,
    /// Whether the range was not measured.
    pub shaded: bool,
}
