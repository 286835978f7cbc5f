//! Result of a gate, as stored in a record.

use crate::JsonSchema;
use filestone_plan::gate::Gate;
use serde::{Deserialize, Serialize};

/// A gate and its result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GateRecord {
    /// Condition that fails the gate.
    pub gate: Gate,
    /// Result of the gate.
    pub outcome: GateOutcome,
    /// Unit of the figure and the limit: `operations/s`, `bytes/s`, `ns` and the like; absent for
    /// counts and shares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Left side of the comparison; absent if the run has no such figure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<GateValue>,
    /// Right side of the comparison.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<GateValue>,
    /// Reason why there is no figure, or no interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Result of a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GateOutcome {
    /// The condition is not met by any value within the 95 % intervals.
    #[serde(alias = "holds")]
    Passes,
    /// The condition is met by all values within the 95 % intervals.
    Fails,
    /// Inconclusive: the condition is met by a part of the values within the 95 % intervals.
    #[serde(rename = "cannot-tell")]
    Inconclusive,
}

/// A side of a gate's comparison.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GateValue {
    /// Value of the figure in the run, or of the limit.
    pub value: f64,
    /// Lower end of its interval; absent for counts, and if the interval has no lower end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// Upper end of its interval; absent for counts, and if the interval has no upper end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
}

impl GateOutcome {
    /// Returns whether the gate fails the run.
    pub fn is_failure(self, strict: bool) -> bool {
        match self {
            Self::Passes => false,
            Self::Fails => true,
            Self::Inconclusive => strict,
        }
    }
}
