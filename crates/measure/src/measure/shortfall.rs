//! Causes of an achieved load below the due load.

use crate::JsonSchema;
use serde::{Deserialize, Serialize};

/// Cause of an achieved load below the due load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Shortfall {
    /// Operations failed; including them, the due load was achieved.
    Errors,
    /// Operations failed, most of them with NFS3ERR_JUKEBOX; including them, the due load was
    /// achieved.
    Jukebox,
    /// Connections were down.
    Connection,
    /// The link to the server was full.
    Link,
    /// The load generator was late or had no CPU time left.
    Generator,
    /// All slots were in use, and with that number of operations in flight the server did not
    /// complete more.
    Slots,
    /// The server: the missing operations were sent and waited for their replies.
    Server,
}
