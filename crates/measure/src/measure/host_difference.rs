//! In what one host of a job differs from the others.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// In what one host of a job differs from the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum HostDifference {
    /// Its response times are longer: mean response time, in nanoseconds.
    Slower,
    /// It sends later than it could: 99th percentile of the dispatch delay, in nanoseconds.
    Later,
    /// It does less than its part of the load: achieved operations per second of each client.
    Less,
}
