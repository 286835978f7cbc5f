//! The local socket through which a fleet is controlled while it runs, and the way to it.
//!
//! What is said on it is `filestone_protocol::fleet_control`'s; here is where it is, who may speak, and how
//! much of it. One thread serves it, which no worker waits for.

mod client;
mod control;
mod path;
mod server;

pub use client::{AskError, ask};
pub use control::FleetControl;
pub use path::{RunningFleet, SocketChoice, running};
pub use server::{ControlSocket, RequestHandler};

use std::path::PathBuf;

/// Why there is no socket.
#[derive(Debug, thiserror::Error)]
pub enum SocketError {
    /// There is no directory that is ours alone.
    #[error("{}: it is not a directory of this user's alone", .0.display())]
    NotOurs(PathBuf),
    /// A fleet that runs has it.
    #[error("{}: a fleet that runs has this socket", .0.display())]
    InUse(PathBuf),
    /// Something else is there.
    #[error("{}: there is something that is no socket", .0.display())]
    NoSocket(PathBuf),
    /// This host refuses it.
    #[error("{}: {error}", .path.display())]
    Refused {
        /// Where.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
}

impl SocketError {
    fn refused(path: &std::path::Path, error: impl Into<std::io::Error>) -> Self {
        Self::Refused {
            path: path.into(),
            error: error.into(),
        }
    }
}

#[cfg(test)]
mod tests;
