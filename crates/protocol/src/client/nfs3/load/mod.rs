//! A client of a load on an NFSv3 server: NFS verbs as they are written, CIFS verbs lowered to
//! the calls that Samba would need of such a server.
//!
//! | file | what is in it |
//! |---|---|
//! | `client` | the client as an event loop drives it: one connection of it |
//! | `conversation`, `outgoing` | what it is doing, whichever connection carries it; its calls as bytes |
//! | `actor` | the client as a future (`client::actor`) |
//! | `paths` | which verb becomes what; paths to handles |
//! | `verbs`, `lowering` | the verbs of NFS, those of CIFS |
//! | `transfer` | file data in pieces of the server's size |
//! | `names`, `open_files` | what a client remembers |
//! | `locks` | NLM |
//!
//! docs/reference/lowering.md has the table of what each verb becomes.

mod actor;
mod client;
mod conversation;
mod locks;
mod lowering;
mod names;
mod open_files;
mod outgoing;
mod paths;
mod task_ref;
#[cfg(test)]
mod tests;
mod transfer;
mod verbs;

pub use crate::client::line_results::LineEnd;
pub use actor::{Actor, ActorOptions};
pub use client::{LoadClient, LoadClientOptions};
pub use locks::NLM;
pub use paths::{LoadOptions, RunDirectories, Transfers};
