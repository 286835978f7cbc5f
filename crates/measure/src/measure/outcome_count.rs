//! Number of operations with an outcome, and their share.

use crate::JsonSchema;
use filestone_workload::operation::OpKind;
use serde::{Deserialize, Serialize};

/// Number of operations of one kind with one unexpected outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OutcomeCount {
    /// Kind of operation.
    pub operation: OpKind,
    /// Outcome: name of the status in the standard, `timed out` or `disconnected`.
    pub outcome: String,
    /// Number of operations.
    pub count: u64,
}

/// Returns the share of unexpected outcomes among completed operations, in percent.
pub fn percent(count: u64, completed: u64) -> f64 {
    100.0 * count as f64 / completed.max(1) as f64
}
