//! How often operations ended in one way, and the share that such a count is.

use filestone_workload::operation::OpKind;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How often operations of one kind ended in one unexpected way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct OutcomeCount {
    /// The operation.
    pub operation: OpKind,
    /// How it ended: the status by its name in the standard, `timed out` or `disconnected`.
    pub outcome: String,
    /// How often.
    pub count: u64,
}

/// The share of unexpected outcomes among completed operations, in percent.
pub fn percent(count: u64, completed: u64) -> f64 {
    100.0 * count as f64 / completed.max(1) as f64
}
