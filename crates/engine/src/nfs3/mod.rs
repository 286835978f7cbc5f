//! NFSv3 one call at a time: for preparing a run, and for a load's clients.
//!
//! | file | what is in it |
//! |---|---|
//! | `calls` | the procedures as functions |
//! | `session` | the same with paths in their errors |
//! | `mount` | from a host and a path to a file handle |
//! | `mount_service`, `portmapper` | who is asked for that |
//!
//! How calls travel is `driver`'s.

pub mod calls;
mod error;
pub mod mount;
mod mount_service;
pub mod portmapper;
#[cfg(test)]
pub(crate) mod scripted;
pub mod session;

pub use calls::{Failure, Nfs, Outcome};
pub use error::Nfs3Error;
pub use session::Session;
