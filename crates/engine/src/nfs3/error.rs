//! Why an NFS server is none for the run that was asked for.

use crate::error::{AreaError, ErrorCategory};
use std::net::IpAddr;

/// Why an NFS server, or an object on it, is none for the run that was asked for.
#[derive(Debug, thiserror::Error)]
pub enum Nfs3Error {
    /// Neither the port mapper nor the NFS port knows MOUNT.
    #[error(
        "{host}: MOUNT version 3 was not found: it is not at the NFS port {nfs_port}, and {why}"
    )]
    NoMount {
        /// The server.
        host: String,
        /// Where NFS is.
        nfs_port: u16,
        /// What the port mapper said.
        why: String,
    },
    /// Neither the port mapper nor the NFS port knows NLM.
    #[error("{host}: NLM version 4 was not found: it is not at the NFS port {nfs_port}, and {why}")]
    NoLockManager {
        /// The server.
        host: IpAddr,
        /// Where NFS is.
        nfs_port: u16,
        /// What the port mapper said.
        why: String,
    },
    /// A load over UDP.
    #[error("{path}: a load travels by TCP")]
    Datagrams {
        /// The target's path.
        path: String,
    },
    /// A load is replayed in a directory.
    #[error("{path}: is not a directory")]
    NotADirectory {
        /// The target's path.
        path: String,
    },
}

impl AreaError for Nfs3Error {
    fn category(&self) -> ErrorCategory {
        ErrorCategory::Usage
    }

    fn help(&self) -> Option<String> {
        let help = match self {
            Nfs3Error::NoMount { .. } => "name the port (--mount-port)",
            Nfs3Error::NoLockManager { .. } => {
                "name the port (--nlm-port), or leave --enable-nlm out"
            }
            Nfs3Error::Datagrams { .. } => "leave --transport out",
            Nfs3Error::NotADirectory { .. } => "a load is replayed in a directory",
        };
        Some(help.into())
    }
}
