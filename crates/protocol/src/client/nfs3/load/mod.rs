//! A client of a load on an NFSv3 server: NFS verbs unchanged, CIFS verbs lowered to the calls that
//! Samba would need for such a server.
//!
//! | file | content |
//! |---|---|
//! | `client` | one connection of the client, as driven by an event loop |
//! | `conversation`, `outgoing` | the client's current task, independent of the connection; encoding of its calls |
//! | `actor` | the client as a future (`client::actor`) |
//! | `paths` | dispatch of verbs; resolution of paths to handles |
//! | `verbs`, `lowering` | the verbs of NFS, those of CIFS |
//! | `transfer` | file data in pieces of the server's size |
//! | `names`, `open_file` | state of a client: handle cache, an open file |
//! | `locks` | NLM |
//!
//! docs/reference/lowering.md has the table of the calls for each verb.

mod actor;
mod client;
mod conversation;
mod locks;
mod lowering;
mod names;
mod open_file;
mod outgoing;
mod paths;
mod task_ref;
#[cfg(test)]
mod tests;
mod transfer;
mod verbs;

pub use crate::client::line_results::LineEnd;
pub use actor::{ActorOptions, NfsActor};
pub use client::{LoadClient, LoadClientOptions};
pub use locks::NLM;
pub use paths::{LoadOptions, NfsTransferLimits, RunDirectories};
