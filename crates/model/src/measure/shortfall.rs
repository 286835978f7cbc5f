//! Why less was achieved than was due.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What kept a run from the load that was due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Shortfall {
    /// Operations ended, but not well: with them the load was as it was due.
    Errors,
    /// The same, and most of them with NFS3ERR_JUKEBOX.
    Jukebox,
    /// Connections were down.
    Connection,
    /// The load generator was late or had no processor time left.
    Generator,
    /// The server: operations waited for slots, or for their replies.
    Server,
}
