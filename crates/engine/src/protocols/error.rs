//! Why a target is none for the run that was asked for.

use crate::error::{AreaError, ErrorCategory};
use filestone_protocol::client::Unsupported;

/// Why a target is none for the run that was asked for.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// Probes and mixes go to other protocols.
    #[error("only NFS servers are loaded call by call")]
    NoCalls,
    /// Loads are replayed on other protocols.
    #[error("no load is replayed on targets of protocol {0}")]
    NoReplay(String),
    /// Its clients have no such operation.
    #[error("{0}")]
    Unsupported(Unsupported),
    /// The plan comes from a program that knows more protocols.
    #[error("this program knows no protocol \"{0}\"")]
    UnknownProtocol(String),
    /// The targets of a replay do not belong together.
    #[error("the targets of one run are of different layers")]
    DifferentLayers,
    /// Nothing was started for a target without a host.
    #[error("there is no TCP peer")]
    NoPeer,
    /// No server was started for a target without a host.
    #[error("there is no built-in server")]
    NoServer,
    /// What is measured over a plain socket are messages as they are.
    #[error("the server has messages signed or encrypted, which a plain socket does not do")]
    Protected,
    /// The name of a host means nothing.
    #[error("{0} has no address")]
    NoAddress(String),
    /// The loads of a replay are none, or do not go together.
    #[error("{what}")]
    Loads {
        /// What is wrong.
        what: &'static str,
        /// What to do about it.
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
            TargetError::DifferentLayers => "several layers run in turn: --on with commas",
            TargetError::NoPeer => "--on tcp:HOST",
            TargetError::NoServer => "name a server",
            TargetError::Protected => "calibrate against a server that asks for neither",
            TargetError::NoAddress(_) => "name another host",
            TargetError::Loads { help, .. } => help,
        };
        Some(help.into())
    }
}
