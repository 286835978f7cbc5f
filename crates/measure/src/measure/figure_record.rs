//! A figure of a run with its interval, as a record keeps it.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

/// A figure with its interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct FigureRecord {
    /// Its name, such as `achieved` or `read.response_time.p99`.
    pub name: String,
    /// What it is counted in: `operations/s`, `bytes/s` or `ns`.
    pub unit: String,
    /// The figure.
    pub value: f64,
    /// The interval's lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// With which probability such intervals hold the true value.
    pub level: f64,
    /// Standard error of the figure; of a percentile, its value times that of its logarithm.
    pub standard_error: f64,
    /// Degrees of freedom of the standard error.
    #[serde(deserialize_with = "freedom")]
    pub freedom: f64,
    /// Stretches of the run that it was found from.
    pub stretches: u64,
    /// `batch-means`, or `woodruff` of percentiles.
    pub method: String,
}

/// A version of before wrote none where nothing lay beyond a percentile: the fewest are meant then.
fn freedom<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or(1.0))
}

impl FigureRecord {
    /// The larger of the distances from the figure to the ends of its interval.
    pub fn half_width(&self) -> f64 {
        (self.high - self.value).max(self.value - self.low)
    }
}

/// A percentile whose interval reaches beyond the slowest operation: only that it is no less than
/// the interval's lower end is known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct OneSidedFigureRecord {
    /// Its name, such as `response_time.p99`.
    pub name: String,
    /// What it is counted in.
    pub unit: String,
    /// The interval's lower end.
    pub low: f64,
    /// With which probability such intervals hold the true value.
    pub level: f64,
}

/// What a record keeps of how well a figure is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RecordedInterval<'record> {
    /// Both ends.
    TwoSided(&'record FigureRecord),
    /// The lower one alone.
    OneSided(&'record OneSidedFigureRecord),
}
