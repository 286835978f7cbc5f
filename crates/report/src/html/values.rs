//! Numbers and axis ranges in the page's data.

use crate::picture::{Span, legible};
use serde::{Serialize, Serializer};

/// Significant digits of a number: more than can be seen in a chart, and as many as a percentile
/// has.
const DIGITS: usize = 5;
/// Up to this value every whole number is exact in JSON and in a browser.
const WHOLE_MAX: f64 = 9e15;

/// A number in the shortest notation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ShortNumber(pub f64);

impl Serialize for ShortNumber {
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
pub fn micros(nanos: u64) -> ShortNumber {
    ShortNumber(nanos as f64 / 1e3)
}

/// A range of an axis.
#[derive(Debug, Clone, Serialize)]
pub struct SpanData {
    from: ShortNumber,
    to: ShortNumber,
    text: String,
    shaded: bool,
}

impl SpanData {
    /// Converts ranges; `unit` is the factor for their ends.
    pub fn of(spans: &[Span], unit: f64) -> Vec<Self> {
        let spans = spans.iter().map(|span| Self {
            from: ShortNumber(span.from * unit),
            to: ShortNumber(span.to * unit),
            text: legible(&span.text),
            shaded: span.is_shaded,
        });
        spans.collect()
    }
}
