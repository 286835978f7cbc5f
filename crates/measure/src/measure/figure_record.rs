//! A figure of a run with its interval, as stored in a record.

use crate::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

/// A figure with its interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FigureRecord {
    /// Name, such as `achieved` or `read.response_time.p99`.
    pub name: String,
    /// Unit: `operations/s`, `bytes/s` or `ns`.
    pub unit: String,
    /// Value of the figure.
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// Confidence level of the interval.
    #[serde(alias = "level")]
    pub confidence: f64,
    /// Standard error of the figure; of a percentile, its value times that of its logarithm.
    pub standard_error: f64,
    /// Degrees of freedom of the standard error.
    #[serde(deserialize_with = "freedom")]
    #[serde(alias = "freedom")]
    pub degrees_of_freedom: f64,
    /// Number of batches that the interval is computed from.
    #[serde(alias = "stretches")]
    pub batches: u64,
    /// Method: `batch-means`, or `woodruff` for percentiles.
    pub method: String,
}

/// An older version wrote none if nothing was above a percentile; 1, the minimum, is used then.
fn freedom<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or(1.0))
}

impl FigureRecord {
    /// Returns the larger of the distances from the figure to the ends of its interval.
    pub fn half_width(&self) -> f64 {
        (self.high - self.value).max(self.value - self.low)
    }
}

/// A percentile whose interval exceeds the slowest operation, so that only a lower end is known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OneSidedFigureRecord {
    /// Name, such as `response_time.p99`.
    pub name: String,
    /// Unit.
    pub unit: String,
    /// Lower end of the interval.
    pub low: f64,
    /// Confidence level of the interval.
    #[serde(alias = "level")]
    pub confidence: f64,
}

/// Interval of a figure in a record.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RecordedInterval<'record> {
    /// Interval with both ends.
    TwoSided(&'record FigureRecord),
    /// Interval with a lower end only.
    OneSided(&'record OneSidedFigureRecord),
}
