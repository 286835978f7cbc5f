//! The local socket through which a fleet is controlled while it runs, and its client.
//!
//! `filestone_protocol::fleet_control` defines the messages; this module defines the path, the
//! permissions and the limits. One thread serves the socket, and no worker waits for it.

mod client;
mod control;
mod path;
mod server;

pub use client::{AskError, ask};
pub use control::FleetControl;
pub use path::{RunningFleet, SocketChoice, running};
pub use server::{ControlSocket, RequestHandler};

use std::path::PathBuf;

/// Error of creating a control socket.
#[derive(Debug, thiserror::Error)]
pub enum SocketError {
    /// The directory is not accessible to this user alone.
    #[error("{}: it is not a directory of this user's alone", .0.display())]
    NotOurs(PathBuf),
    /// A running fleet uses the path.
    #[error("{}: a fleet that runs has this socket", .0.display())]
    InUse(PathBuf),
    /// The path exists and is not a socket.
    #[error("{}: there is something that is no socket", .0.display())]
    NoSocket(PathBuf),
    /// This host refuses the socket.
    #[error("{}: {error}", .path.display())]
    Refused {
        /// Path of the socket.
        path: PathBuf,
        /// Cause.
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
