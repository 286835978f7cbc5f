//! Errors of a mix through a mount.

use filestone_host::error::{AreaError, ErrorCategory};

/// Error returned when a mix cannot run through a mount.
#[derive(Debug, thiserror::Error)]
pub enum MountError {
    /// The file system of a directory cannot be determined.
    #[error("{directory}: cannot determine its file system: {source}")]
    UnknownFileSystem {
        /// Path of the target.
        directory: String,
        /// Error of statfs(2).
        source: std::io::Error,
    },
    /// The directory is not on NFS, so the counters of the NFS client do not apply.
    #[error(
        "{directory}: is on {file_system}, mounted on {mount_point}, and not on NFS: no call would reach a server"
    )]
    NotNfs {
        /// Path of the target.
        directory: String,
        /// Type of the file system.
        file_system: String,
        /// Mount point of the file system.
        mount_point: String,
    },
    /// The target does not exist.
    #[error("{path}: {source}")]
    NoDirectory {
        /// Path of the target.
        path: String,
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// Other processes make too many calls.
    #[error("too much background activity ({per_s:.0} calls/sec)")]
    Background {
        /// Rate of these calls per second.
        per_s: f64,
        /// Description of the counters, the observation time and the increase.
        seen: String,
    },
    /// The kernel's counters cannot be parsed.
    #[error("{what}")]
    Counters {
        /// Description of the problem.
        what: String,
        /// Advice for the user.
        help: Option<String>,
    },
    /// No operation of the mix corresponds to a system call.
    #[error("mix {mix}: no system call makes any of its operations")]
    NothingToCall {
        /// Name of the mix.
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
