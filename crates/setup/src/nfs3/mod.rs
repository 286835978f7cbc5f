//! An NFSv3 server: calls of its procedures, and objects that a run finds or creates.
//!
//! | module | what is in it |
//! |---|---|
//! | `mount` | from a host and a path to a file handle |
//! | `mount_service`, `portmapper` | services used by `mount` |
//! | `calls` | the procedures as functions, one at a time |
//! | `session` | the procedures with paths in their errors |
//! | `prepare` | objects that a run finds or creates before it begins |
//! | `tree` | directories on the server as a run's workspace |
//!
//! The `driver` module transports the calls.

pub mod calls;
mod error;
pub mod mount;
mod mount_service;
mod portmapper;
pub mod prepare;
#[cfg(test)]
mod scripted;
mod session;
pub mod tree;

pub use error::Nfs3Error;
