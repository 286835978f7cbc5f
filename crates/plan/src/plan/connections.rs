//! Connection settings of the clients of a run.

use super::{Identities, SourceAddresses};
use crate::JsonSchema;
use filestone_workload::choices;
use serde::{Deserialize, Serialize};

/// Connection settings of the clients.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ConnectionPlan {
    /// Number of connections that are started per second before the run; `None` for no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections_per_s: Option<f64>,
    /// Source addresses of the clients; if empty, the host chooses.
    #[serde(default, skip_serializing_if = "SourceAddresses::is_empty")]
    pub sources: SourceAddresses,
    /// Identities of the clients.
    #[serde(default, skip_serializing_if = "Identities::is_empty")]
    pub identities: Identities,
    /// Effect of the loss of a client; `None` for the default, which depends on the number of
    /// clients.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_lost: Option<OnLost>,
}

choices! {
    /// Effect of a connection that was lost and could not be restored within the time for
    /// reconnecting.
    pub enum OnLost {
        /// The run ends
        End = "end";
        /// The client tries to reconnect until the run ends; the others continue
        Retry = "retry";
        /// The client ends; the others continue
        Continue = "continue";
    }
}

impl ConnectionPlan {
    /// Whether all settings are defaults.
    pub fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}
