//! Why what a run needs cannot be found or made on the server.

use crate::error::{AreaError, ErrorCategory};
use filestone_wire::nfs3::{Procedure, Status};
use filestone_workload::operation::OpKind;

/// Why what a run needs cannot be found or made on the server.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    /// An operation that the target is not made for.
    #[error("{path}: {} needs {needs}", operation.name())]
    WrongObject {
        /// The target's path.
        path: String,
        /// What is asked.
        operation: OpKind,
        /// What it needs.
        needs: &'static str,
        /// What to do.
        help: &'static str,
    },
    /// The target of a mix.
    #[error("{path}: a mix works in a directory, and this is a {kind}")]
    NotADirectory {
        /// The target's path.
        path: String,
        /// What it is.
        kind: &'static str,
    },
    /// The directories of a mix.
    #[error("the directories of a mix are on different servers")]
    DifferentServers,
    /// Unstable writes are lost whenever they are to be committed.
    #[error("{path}: the server forgets what is written again and again")]
    Forgotten {
        /// The file.
        path: String,
    },
    /// An object of this type cannot be made.
    #[error("{path}: the server does not support {}: {status}", procedure.name().to_uppercase())]
    NotSupported {
        /// The object.
        path: String,
        /// What it does not support.
        procedure: Procedure,
        /// Its answer.
        status: Status,
    },
    /// More was written than was sent, or nothing.
    #[error("{path}: sent {sent} bytes, the server says it took {taken}")]
    WrongCount {
        /// The file.
        path: String,
        /// Bytes of the call.
        sent: u32,
        /// Bytes of the reply.
        taken: u32,
    },
}

impl AreaError for PrepareError {
    fn category(&self) -> ErrorCategory {
        match self {
            PrepareError::WrongObject { .. }
            | PrepareError::NotADirectory { .. }
            | PrepareError::DifferentServers => ErrorCategory::Usage,
            PrepareError::Forgotten { .. }
            | PrepareError::NotSupported { .. }
            | PrepareError::WrongCount { .. } => ErrorCategory::Target,
        }
    }

    fn help(&self) -> Option<String> {
        Some(match self {
            PrepareError::WrongObject { help, .. } => (*help).into(),
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
