//! Why a run could not be made, sorted by whose fault it is.

use crate::control::Interrupted;
use crate::driver::{CallError, SourceRefused};
use crate::exhaustion::{EXHAUSTED_HELP, is_exhaustion};
use filestone_plan::file_set::FileSetError;
use filestone_plan::plan::{Field, PlanError};
use std::net::SocketAddr;

/// Whose fault an error is; each has its exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorCategory {
    /// What was asked for cannot be done: the user can mend it.
    Usage,
    /// The server or the network.
    Target,
    /// This host.
    Environment,
    /// A bug in this program.
    Internal,
    /// The run was interrupted.
    Interruption,
}

/// An error of one area: a protocol, a test directory, a plan. Its type stands where the area
/// does, so that nothing here knows of it; `?` makes a [`RunError`] of it.
pub trait AreaError: std::error::Error + Send + Sync + 'static {
    /// Whose fault it is.
    fn category(&self) -> ErrorCategory;

    /// What to do about it, if there is something.
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

/// Why a run could not be made.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// What one area alone can say.
    #[error("{0}")]
    Area(Box<dyn AreaError>),
    /// The host's name means nothing.
    #[error("{host}: no such host: {source}")]
    Resolve {
        /// The name.
        host: String,
        /// What the resolver said.
        source: std::io::Error,
    },
    /// Nobody answers there.
    #[error("{address}: cannot connect: {source}")]
    Connect {
        /// Where.
        address: SocketAddr,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// A call before or after the run failed.
    #[error("{address}: {call}: {source}")]
    Call {
        /// Where.
        address: SocketAddr,
        /// Which call, such as `MOUNT /export`.
        call: String,
        /// How it failed.
        source: CallError,
    },
    /// What the run needs could not be completed.
    #[error("{source}")]
    Unfinished {
        /// Why.
        source: Box<RunError>,
        /// What stays of it on the server, as a sentence.
        remains: String,
    },
    /// This host refused something.
    #[error("cannot {what}: {source}")]
    System {
        /// What was tried.
        what: String,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// The run was interrupted before it began.
    #[error("interrupted before anything was measured")]
    Interrupted,
    /// A bug.
    #[error("internal error: {0}")]
    Internal(String),
}

impl From<Interrupted> for RunError {
    fn from(_: Interrupted) -> Self {
        RunError::Interrupted
    }
}

impl RunError {
    /// The error of an area, if it is of that one.
    pub fn of_area<E: AreaError>(&self) -> Option<&E> {
        match self {
            RunError::Area(error) => (&**error as &dyn std::error::Error).downcast_ref(),
            _ => None,
        }
    }

    /// Whether nobody answers: another address of the same host may.
    pub fn is_unreachable(&self) -> bool {
        match self {
            RunError::Connect { .. } => true,
            RunError::Area(error) => error.is_unreachable(),
            _ => false,
        }
    }

    /// What came of connecting.
    pub(crate) fn connecting(address: SocketAddr, error: CallError) -> Self {
        match error {
            CallError::System(source) => RunError::Connect { address, source },
            CallError::Gone { loss, .. } => Self::connecting(address, *loss),
            error => Self::calling(address, "connecting".into(), error),
        }
    }

    /// What came of a call before or after the run.
    pub(crate) fn calling(address: SocketAddr, call: String, source: CallError) -> Self {
        match source {
            CallError::Stopped => RunError::Interrupted,
            source => RunError::Call {
                address,
                call,
                source,
            },
        }
    }

    /// Whose fault it is.
    pub fn category(&self) -> ErrorCategory {
        match self {
            RunError::Area(error) => error.category(),
            RunError::Connect { source, .. }
                if is_of_this_host(source) || is_source_refused(source) =>
            {
                ErrorCategory::Environment
            }
            RunError::Call { source, .. } if source.is_exhaustion() => ErrorCategory::Environment,
            RunError::Resolve { .. } | RunError::Connect { .. } | RunError::Call { .. } => {
                ErrorCategory::Target
            }
            RunError::System { .. } => ErrorCategory::Environment,
            RunError::Unfinished { source, .. } => source.category(),
            RunError::Internal(_) => ErrorCategory::Internal,
            RunError::Interrupted => ErrorCategory::Interruption,
        }
    }

    /// The same error of a run that leaves something at `path`, and why.
    pub(crate) fn leaving(self, path: &str, reason: &RunError, advice: &str) -> Self {
        RunError::Unfinished {
            source: Box::new(self),
            remains: format!("{path} could not be removed: {reason}; {advice}"),
        }
    }

    /// What to do about it, if there is something.
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
            RunError::Call { source, .. } if source.is_exhaustion() => Some(EXHAUSTED_HELP.into()),
            RunError::Call { source, .. } => source.help().map(Into::into),
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

/// What to do when this host has no socket left.
pub(crate) const NO_MORE_SOCKETS: &str = "this host has no free port or file left for it; use fewer clients (--clients), or more addresses (--source)";

/// What to do when this host does not let a connection come from an address.
pub(crate) const SOURCES_OF_THIS_HOST: &str = "clients connect from addresses of this host, of the \
    server's family (--source); `filestone fleet addresses up` gives it more";

/// Whether it was the address to come from that this host refused.
pub(crate) fn is_source_refused(error: &std::io::Error) -> bool {
    let inner = error.get_ref();
    inner.is_some_and(|inner| inner.is::<SourceRefused>())
}

/// Whether it was this host that refused a socket, and not the network.
pub(crate) fn is_of_this_host(error: &std::io::Error) -> bool {
    use std::io::ErrorKind;
    matches!(
        error.kind(),
        ErrorKind::PermissionDenied | ErrorKind::AddrInUse | ErrorKind::AddrNotAvailable
    ) || is_exhaustion(error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::io::Errno;
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

    #[test]
    fn a_call_that_this_host_has_no_room_for_is_not_blamed_on_the_server() {
        for errno in [Errno::MFILE, Errno::NFILE, Errno::NOMEM, Errno::NOBUFS] {
            let error = RunError::Call {
                address: SocketAddr::from(([127, 0, 0, 1], 2049)),
                call: "MOUNT /export".into(),
                source: CallError::System(errno.into()),
            };
            assert_eq!(error.category(), ErrorCategory::Environment, "{errno}");
            assert!(error.help().is_some_and(|help| help.contains("ulimit -n")));
        }
    }
}
