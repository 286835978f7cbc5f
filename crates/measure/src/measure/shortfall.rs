//! Why less was achieved than was due.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What kept a run from the load that was due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Shortfall {
    /// Operations ended, but not well: with them the load was as it was due.
    Errors,
    /// The same, and most of them with NFS3ERR_JUKEBOX.
    Jukebox,
    /// Connections were down.
    Connection,
    /// The link to the server was full.
    Link,
    /// The load generator was late or had no processor time left.
    Generator,
    /// As many operations were in flight as are allowed, and with so many the server answered no
    /// more.
    Slots,
    /// The server: what is missing was sent and waited for its reply.
    Server,
}
