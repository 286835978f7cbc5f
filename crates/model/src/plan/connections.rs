//! How the connections of a run's clients are made.

use super::SourceAddresses;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How clients are connected.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ConnectionPlan {
    /// Connections that are begun per second before the run; `None` for as many as can be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections_per_s: Option<f64>,
    /// Where clients connect from; none leaves it to the host.
    #[serde(default, skip_serializing_if = "SourceAddresses::is_empty")]
    pub sources: SourceAddresses,
}

impl ConnectionPlan {
    /// Whether nothing is asked of them.
    pub fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}
