//! What came of a gate, as a record keeps it.

use filestone_plan::gate::Gate;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A gate and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct GateRecord {
    /// The condition that must not be.
    pub gate: Gate,
    /// What came of it.
    pub outcome: GateOutcome,
    /// What the figure and the limit are counted in: `operations/s`, `bytes/s`, `ns` and the like;
    /// none of counts and shares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// What is on the left of the comparison; none if the run has no such figure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<GateValue>,
    /// What is on its right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<GateValue>,
    /// Why there is no figure, or no interval of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What came of a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum GateOutcome {
    /// The condition is not met, whatever chance did.
    #[serde(alias = "holds")]
    Passes,
    /// It is met.
    Fails,
    /// Chance explains either.
    #[serde(rename = "cannot-tell")]
    Inconclusive,
}

/// One side of a gate's comparison.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct GateValue {
    /// What the run came to.
    pub value: f64,
    /// The lower end of its interval; none of what is counted, and where there is no end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// The upper end, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
}

impl GateOutcome {
    /// Whether a run counts as failed by it.
    pub fn is_failure(self, strict: bool) -> bool {
        match self {
            Self::Passes => false,
            Self::Fails => true,
            Self::Inconclusive => strict,
        }
    }
}
