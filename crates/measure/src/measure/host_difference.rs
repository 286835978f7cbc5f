//! Difference between one host of a job and the others.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Difference between one host of a job and the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum HostDifference {
    /// Longer response times: mean response time, in nanoseconds.
    Slower,
    /// Late sends: 99th percentile of the dispatch delay, in nanoseconds.
    Later,
    /// Less than its part of the load: achieved operations per second of each client.
    Less,
}
