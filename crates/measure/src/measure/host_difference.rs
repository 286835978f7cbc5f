//! Difference between one host of a job and the others.

use crate::JsonSchema;
use serde::{Deserialize, Serialize};

/// Difference between one host of a job and the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HostDifference {
    /// Longer response times: mean response time, in nanoseconds.
    Slower,
    /// Late sends: 99th percentile of the dispatch delay, in nanoseconds.
    Later,
    /// Less than its part of the load: achieved operations per second of each client.
    Less,
}
