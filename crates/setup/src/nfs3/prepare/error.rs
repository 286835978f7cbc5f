//! Errors of finding or creating a run's objects on the server.

use filestone_host::error::{AreaError, ErrorCategory};
use filestone_wire::nfs3::{Procedure, Status};

/// Error of finding or creating a run's objects on the server.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    /// The target of a mix is not a directory.
    #[error("{path}: a mix works in a directory, and this is a {kind}")]
    NotADirectory {
        /// Path of the target.
        path: String,
        /// Type of the object.
        kind: &'static str,
    },
    /// The directories of a mix are on different servers.
    #[error("the directories of a mix are on different servers")]
    DifferentServers,
    /// The server loses unstable writes before every COMMIT.
    #[error("{path}: the server forgets what is written again and again")]
    Forgotten {
        /// Path of the file.
        path: String,
    },
    /// The server cannot create objects of this type.
    #[error("{path}: the server does not support {}: {status}", procedure.name().to_uppercase())]
    NotSupported {
        /// Path of the object.
        path: String,
        /// Unsupported procedure.
        procedure: Procedure,
        /// Status of the reply.
        status: Status,
    },
    /// A WRITE reply reports 0 bytes, or more than were sent.
    #[error("{path}: sent {sent} bytes, the server says it took {taken}")]
    WrongCount {
        /// Path of the file.
        path: String,
        /// Bytes in the call.
        sent: u32,
        /// Bytes in the reply.
        taken: u32,
    },
}

impl AreaError for PrepareError {
    fn category(&self) -> ErrorCategory {
        match self {
            PrepareError::NotADirectory { .. } | PrepareError::DifferentServers => {
                ErrorCategory::Usage
            }
            PrepareError::Forgotten { .. }
            | PrepareError::NotSupported { .. }
            | PrepareError::WrongCount { .. } => ErrorCategory::Target,
        }
    }

    fn help(&self) -> Option<String> {
        Some(match self {
            PrepareError::NotADirectory { .. } => {
                "it makes a file set of its own there; nothing else is touched".into()
            }
            PrepareError::DifferentServers => "run filestone once for each server".into(),
            PrepareError::Forgotten { .. } => {
                "does it crash, or is it started again and again?".into()
            }
            PrepareError::NotSupported { procedure, .. } => {
                format!("take {} out of the mix", procedure.name())
            }
            PrepareError::WrongCount { .. } => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_of_the_server_are_not_the_users() {
        let path = || "/export/f".to_owned();
        let faults = [
            PrepareError::Forgotten { path: path() },
            PrepareError::NotSupported {
                path: path(),
                procedure: Procedure::Mknod,
                status: Status::NOTSUPP,
            },
            PrepareError::WrongCount {
                path: path(),
                sent: 4096,
                taken: 5000,
            },
        ];
        for fault in faults {
            assert_eq!(fault.category(), ErrorCategory::Target, "{fault}");
        }
        let wrong = PrepareError::DifferentServers;
        assert_eq!(wrong.category(), ErrorCategory::Usage);
    }
}
