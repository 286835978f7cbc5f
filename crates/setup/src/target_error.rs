//! Errors of a target that cannot be used for the requested run.

use filestone_host::error::{AreaError, ErrorCategory};
use filestone_protocol::client::Unsupported;
use filestone_workload::operation::OpKind;

/// Error returned when a target cannot be used for the requested run.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// The protocol has no calls for probes and mixes.
    #[error("only NFS servers are loaded call by call")]
    NoCalls,
    /// The protocol cannot replay loads.
    #[error("no load is replayed on targets of protocol {0}")]
    NoReplay(String),
    /// The clients of the target do not support the operation.
    #[error("{0}")]
    Unsupported(Unsupported),
    /// The plan names an unknown protocol, from a program that supports more protocols.
    #[error("this program knows no protocol \"{0}\"")]
    UnknownProtocol(String),
    /// The targets of a replay use different protocols.
    #[error("the targets of one run are of different layers")]
    DifferentLayers,
    /// The target has no host, and no TCP peer was started.
    #[error("there is no TCP peer")]
    NoPeer,
    /// The target has no host, and no built-in server was started.
    #[error("there is no built-in server")]
    NoServer,
    /// Messages over a plain socket can only be measured unprotected.
    #[error("the server has messages signed or encrypted, which a plain socket does not do")]
    Protected,
    /// The host name cannot be resolved.
    #[error("{0} has no address")]
    NoAddress(String),
    /// The target has the wrong type for the operation.
    #[error("{path}: {} needs {needs}", operation.name())]
    WrongObject {
        /// Path of the target.
        path: String,
        /// The operation.
        operation: OpKind,
        /// Object that the operation needs.
        needs: &'static str,
        /// Advice for the user.
        help: &'static str,
    },
    /// The replay has no loads, or its loads are incompatible.
    #[error("{what}")]
    Loads {
        /// Description of the problem.
        what: &'static str,
        /// Advice for the user.
        help: &'static str,
    },
}

impl AreaError for TargetError {
    fn category(&self) -> ErrorCategory {
        ErrorCategory::Usage
    }

    fn help(&self) -> Option<String> {
        let help = match self {
            TargetError::NoCalls => {
                "load files are replayed on other targets, and mixes on local: directories"
            }
            TargetError::NoReplay(_) => {
                "see filestone replay --help for what loads are replayed on"
            }
            TargetError::Unsupported(_) => "ask another operation, or another protocol",
            TargetError::UnknownProtocol(_) => "run the plan with the program that made it",
            TargetError::DifferentLayers => "several layers run in turn: --layer with commas",
            TargetError::NoPeer => "--layer tcp:HOST",
            TargetError::NoServer => "name a server",
            TargetError::Protected => "calibrate against a server that asks for neither",
            TargetError::NoAddress(_) => "name another host",
            TargetError::Loads { help, .. } | TargetError::WrongObject { help, .. } => help,
        };
        Some(help.into())
    }
}
