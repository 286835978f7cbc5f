//! Why a mix cannot go through a mount.

use crate::error::{AreaError, ErrorCategory};

/// Why a mix cannot go through a mount.
#[derive(Debug, thiserror::Error)]
pub enum MountError {
    /// Nothing says what a directory is on.
    #[error("{directory}: {mountinfo} does not say which file system it is on")]
    UnknownFileSystem {
        /// The target.
        directory: String,
        /// The file that should say so.
        mountinfo: String,
    },
    /// The counters of an NFS client say nothing about another file system.
    #[error(
        "{directory}: is on {file_system}, mounted on {mount_point}, and not on NFS: no call would reach a server"
    )]
    NotNfs {
        /// The target.
        directory: String,
        /// What it is on.
        file_system: String,
        /// Where that is mounted.
        mount_point: String,
    },
    /// The target cannot be found.
    #[error("{path}: {source}")]
    NoDirectory {
        /// The target.
        path: String,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// Others make calls, too.
    #[error("too much background activity ({per_s:.0} calls/sec)")]
    Background {
        /// Their calls per second.
        per_s: f64,
        /// What was looked at, for how long, and by how much it grew.
        seen: String,
    },
    /// The kernel's counters cannot be understood.
    #[error("{what}")]
    Counters {
        /// What is wrong with them.
        what: String,
        /// What to do.
        help: Option<String>,
    },
    /// No operation of a mix has a system call.
    #[error("mix {mix}: no system call makes any of its operations")]
    NothingToCall {
        /// Its name.
        mix: String,
    },
}

impl AreaError for MountError {
    fn category(&self) -> ErrorCategory {
        ErrorCategory::Usage
    }

    fn help(&self) -> Option<String> {
        Some(match self {
            MountError::UnknownFileSystem { .. } => {
                "is it a directory of this host, and is that its /proc? (--proc)".into()
            }
            MountError::NotNfs { .. } => {
                "use a directory of an NFS mount, or --no-feedback to make the system calls \
                 and look at no counters"
                    .into()
            }
            MountError::NoDirectory { .. } => {
                "the target of a mix is a directory that is there".into()
            }
            MountError::Background { seen, .. } => {
                format!("{seen}: end what else uses it, or run with --no-feedback")
            }
            MountError::Counters { help, .. } => return help.clone(),
            MountError::NothingToCall { .. } => {
                "NULL, FSINFO and PATHCONF are made on mounting only; add others, or use nfs://"
                    .into()
            }
        })
    }
}
