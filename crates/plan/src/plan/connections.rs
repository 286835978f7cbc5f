//! How the connections of a run's clients are made.

use super::{Identities, SourceAddresses};
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How clients are connected.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ConnectionPlan {
    /// Connections that are begun per second before the run; `None` for as many as can be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections_per_s: Option<f64>,
    /// Where clients connect from; none leaves it to the host.
    #[serde(default, skip_serializing_if = "SourceAddresses::is_empty")]
    pub sources: SourceAddresses,
    /// As whom clients call.
    #[serde(default, skip_serializing_if = "Identities::is_empty")]
    pub identities: Identities,
    /// What the loss of a client does; `None` as usual for so many clients.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_lost: Option<OnLost>,
}

/// What happens when a client's connection could not be made again for as long as a lost one is
/// tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum OnLost {
    /// The run ends.
    End,
    /// It is tried for as long as the run lasts; other clients go on.
    Retry,
    /// The client is given up, and asks for nothing more; other clients go on.
    Continue,
}

impl ConnectionPlan {
    /// Whether nothing is asked of them.
    pub fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}
