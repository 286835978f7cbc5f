//! Errors of a run, sorted by their cause: user, target, this host or filestone.

use crate::control::Interrupted;
use crate::exhaustion::is_exhaustion;
use filestone_plan::file_set::FileSetError;
use filestone_plan::plan::{Field, PlanError};
use serde::{Deserialize, Serialize};
use std::net::{IpAddr, SocketAddr};

/// Cause of an error; each has its exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ErrorCategory {
    /// The request cannot be met: the user can correct it.
    Usage,
    /// The server or the network failed.
    Target,
    /// This host failed or refused something.
    Environment,
    /// A bug in this program.
    Internal,
    /// The run was interrupted.
    Interruption,
}

/// An error of one area: a protocol, a test directory, a plan. Its type is defined in its area, and
/// this module does not depend on it; `?` converts it to a [`RunError`].
pub trait AreaError: std::error::Error + Send + Sync + 'static {
    /// Returns the cause.
    fn category(&self) -> ErrorCategory;

    /// Returns advice on how to correct the error, if there is any.
    fn help(&self) -> Option<String>;

    /// Whether the target was not reached at all: another address of the same host may answer.
    fn is_unreachable(&self) -> bool {
        false
    }
}

impl<E: AreaError> From<E> for RunError {
    fn from(error: E) -> Self {
        RunError::Area(Box::new(error))
    }
}

impl AreaError for PlanError {
    fn category(&self) -> ErrorCategory {
        ErrorCategory::Usage
    }

    fn help(&self) -> Option<String> {
        self.help(Field::quoted_key)
    }
}

impl AreaError for FileSetError {
    fn category(&self) -> ErrorCategory {
        ErrorCategory::Usage
    }

    fn help(&self) -> Option<String> {
        Some(self.help().into())
    }
}

/// Error of a run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// An error of one area.
    #[error("{0}")]
    Area(Box<dyn AreaError>),
    /// The host's name cannot be resolved.
    #[error("{host}: no such host: {source}")]
    Resolve {
        /// The name.
        host: String,
        /// Error of the resolver.
        source: std::io::Error,
    },
    /// The connection failed.
    #[error("{address}: cannot connect: {source}")]
    Connect {
        /// Address of the server.
        address: SocketAddr,
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// The setup of a run failed halfway, and parts of it remain on the server.
    #[error("{source}")]
    Unfinished {
        /// Cause of the failure.
        source: Box<RunError>,
        /// A sentence that names the remains on the server.
        remains: String,
    },
    /// This host refused something.
    #[error("cannot {what}: {source}")]
    System {
        /// The attempted action, as a verb phrase.
        what: String,
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// The run was interrupted before it began.
    #[error("interrupted before anything was measured")]
    Interrupted,
    /// A bug in filestone.
    #[error("internal error: {0}")]
    Internal(String),
}

impl From<Interrupted> for RunError {
    fn from(_: Interrupted) -> Self {
        RunError::Interrupted
    }
}

impl RunError {
    /// Returns the error of an area if its type is `E`.
    pub fn of_area<E: AreaError>(&self) -> Option<&E> {
        match self {
            RunError::Area(error) => (&**error as &dyn std::error::Error).downcast_ref(),
            _ => None,
        }
    }

    /// Whether the server was not reached: another address of the same host may answer.
    pub fn is_unreachable(&self) -> bool {
        match self {
            RunError::Connect { .. } => true,
            RunError::Area(error) => error.is_unreachable(),
            _ => false,
        }
    }

    /// Returns the cause.
    pub fn category(&self) -> ErrorCategory {
        match self {
            RunError::Area(error) => error.category(),
            RunError::Connect { source, .. }
                if is_of_this_host(source) || is_source_refused(source) =>
            {
                ErrorCategory::Environment
            }
            RunError::Resolve { .. } | RunError::Connect { .. } => ErrorCategory::Target,
            RunError::System { .. } => ErrorCategory::Environment,
            RunError::Unfinished { source, .. } => source.category(),
            RunError::Internal(_) => ErrorCategory::Internal,
            RunError::Interrupted => ErrorCategory::Interruption,
        }
    }

    /// Returns this error for a run that leaves `path` behind, with the reason.
    pub fn leaving(self, path: &str, reason: &RunError, advice: &str) -> Self {
        RunError::Unfinished {
            source: Box::new(self),
            remains: format!("{path} could not be removed: {reason}; {advice}"),
        }
    }

    /// Returns advice on how to correct the error, if there is any.
    pub fn help(&self) -> Option<String> {
        match self {
            RunError::Area(error) => error.help(),
            RunError::Resolve { .. } => {
                Some("a target is nfs://host[:port]/path, host:/path or smb://host[:port]/share".into())
            }
            RunError::Connect { source, .. }
                if source.kind() == std::io::ErrorKind::ConnectionRefused =>
            {
                Some("is the server running, and is this its port? (host:port; of NFS also --port, --mount-port)".into())
            }
            RunError::Connect { source, .. }
                if source.kind() == std::io::ErrorKind::PermissionDenied =>
            {
                Some("ports below 1024 (--reserved-port) need privileges: root or CAP_NET_BIND_SERVICE".into())
            }
            RunError::Connect { source, .. } if is_source_refused(source) => {
                Some(SOURCES_OF_THIS_HOST.into())
            }
            RunError::Connect { source, .. } if is_of_this_host(source) => Some(NO_MORE_SOCKETS.into()),
            RunError::Connect { .. } => Some(
                "is the host up, and does a firewall stand between? (host:port; of NFS also --port, --mount-port)".into(),
            ),
            RunError::Unfinished { source, remains } => Some(and(source.help(), remains)),
            RunError::System { .. } | RunError::Interrupted => None,
            RunError::Internal(_) => Some("please report this with the command line".into()),
        }
    }
}

fn and(help: Option<String>, more: &str) -> String {
    match help {
        Some(help) => format!("{help}; {more}"),
        None => more.into(),
    }
}

/// Advice if this host cannot provide another socket.
pub const NO_MORE_SOCKETS: &str = "this host has no free port or file left for it; use fewer clients (--clients), or more addresses (--source)";

/// Advice if this host refuses a source address.
pub const SOURCES_OF_THIS_HOST: &str = "clients connect from addresses of this host, of the \
    server's family (--source); `filestone fleet addresses up` gives it more";

/// This host refuses a source address.
#[derive(Debug, thiserror::Error)]
#[error("from {address}: {error}")]
pub struct SourceRefused {
    /// The source address.
    pub address: IpAddr,
    /// Error of the operating system.
    pub error: std::io::Error,
}

/// Whether this host refused the source address.
pub fn is_source_refused(error: &std::io::Error) -> bool {
    let inner = error.get_ref();
    inner.is_some_and(|inner| inner.is::<SourceRefused>())
}

/// Whether this host, not the network, refused a socket.
pub fn is_of_this_host(error: &std::io::Error) -> bool {
    use std::io::ErrorKind;
    matches!(
        error.kind(),
        ErrorKind::PermissionDenied | ErrorKind::AddrInUse | ErrorKind::AddrNotAvailable
    ) || is_exhaustion(error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::ErrorKind;

    #[test]
    fn a_port_that_this_host_refuses_is_not_blamed_on_the_server() {
        let connect = |kind: ErrorKind| RunError::Connect {
            address: SocketAddr::from(([127, 0, 0, 1], 2049)),
            source: kind.into(),
        };
        let help = |kind| connect(kind).help().unwrap_or_default();
        assert_eq!(
            connect(ErrorKind::PermissionDenied).category(),
            ErrorCategory::Environment
        );
        assert!(help(ErrorKind::PermissionDenied).contains("--reserved-port"));
        assert!(help(ErrorKind::AddrInUse).contains("--clients"));
        assert_eq!(
            connect(ErrorKind::ConnectionRefused).category(),
            ErrorCategory::Target
        );
        assert!(help(ErrorKind::TimedOut).contains("firewall"));
    }
}
