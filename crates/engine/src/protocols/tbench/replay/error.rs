//! Errors of a connection to a tbench peer.

use filestone_host::error::{AreaError, ErrorCategory, NO_MORE_SOCKETS, is_of_this_host};
use filestone_wire::tbench::{ORIGINAL_MAX, PORT, TbenchExchange};
use rustix::io::Errno;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

/// Error of a connection to a tbench peer.
#[derive(Debug, thiserror::Error)]
pub enum TcpError {
    /// Connecting failed.
    #[error("cannot connect: {0}")]
    Connect(#[source] io::Error),
    /// This host rejected a socket option.
    #[error("cannot set {option}: {source}")]
    Option {
        /// Name of the option.
        option: String,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The peer does not speak tbench.
    #[error("what answers there does not speak tbench: {0}")]
    OtherProtocol(String),
    /// The peer did not answer in time.
    #[error("no answer within {}", humantime::format_duration(*.0))]
    TimedOut(Duration),
    /// The peer closed the connection.
    #[error(
        "the peer closed the connection in an exchange of {} bytes for {}",
        .0.request_len(),
        .0.reply_len()
    )]
    Closed(TbenchExchange),
    /// The reply does not have the requested length.
    #[error("out of step: a reply of {wanted} bytes was to come, and one of {got} did")]
    OutOfStep {
        /// Requested length.
        wanted: u32,
        /// Length stated in the reply.
        got: u64,
    },
    /// Another error of the operating system.
    #[error("{0}")]
    System(#[source] io::Error),
}

impl TcpError {
    /// Returns advice for the user.
    pub fn help(&self) -> Option<String> {
        match self {
            TcpError::Connect(error) if error.kind() == io::ErrorKind::ConnectionRefused => Some(
                "start the other end there: filestone serve --tbench, or dbench's tbench_srv"
                    .into(),
            ),
            TcpError::Connect(_) => {
                Some("is the host up, and does a firewall stand between?".into())
            }
            TcpError::OtherProtocol(_) => Some(
                "the other end is filestone serve --tbench, or dbench's tbench_srv; \
                 is this its port?"
                    .into(),
            ),
            TcpError::Closed(exchange) if is_too_long_for_the_original(*exchange) => Some(format!(
                "dbench's tbench_srv takes no message of {ORIGINAL_MAX} bytes or more; \
                 filestone serve --tbench does"
            )),
            TcpError::Option { .. }
            | TcpError::TimedOut(_)
            | TcpError::Closed(_)
            | TcpError::OutOfStep { .. }
            | TcpError::System(_) => None,
        }
    }

    /// Returns the error of the operating system, if it is the cause.
    pub fn system(&self) -> Option<&io::Error> {
        match self {
            TcpError::Connect(error)
            | TcpError::Option { source: error, .. }
            | TcpError::System(error) => Some(error),
            TcpError::OtherProtocol(_)
            | TcpError::TimedOut(_)
            | TcpError::Closed(_)
            | TcpError::OutOfStep { .. } => None,
        }
    }
}

/// Error returned when a client cannot reach its peer.
#[derive(Debug, thiserror::Error)]
pub enum PeerError {
    /// The connection failed.
    #[error("{address}: {source}")]
    TbenchConnection {
        /// Address of the peer.
        address: SocketAddr,
        /// Error of the connection.
        source: TcpError,
    },
    /// The port is 0, which no server can listen on.
    #[error("{address}: a peer has no port 0")]
    PortZero {
        /// Address of the peer.
        address: SocketAddr,
    },
}

impl AreaError for PeerError {
    fn category(&self) -> ErrorCategory {
        match self {
            PeerError::TbenchConnection { source, .. } if is_refused_here(source) => {
                ErrorCategory::Environment
            }
            PeerError::PortZero { .. }
            | PeerError::TbenchConnection {
                source: TcpError::Option { .. },
                ..
            } => ErrorCategory::Usage,
            PeerError::TbenchConnection { .. } => ErrorCategory::Target,
        }
    }

    fn help(&self) -> Option<String> {
        match self {
            PeerError::TbenchConnection { source, .. } if is_refused_here(source) => {
                Some(NO_MORE_SOCKETS.into())
            }
            PeerError::TbenchConnection { source, .. } => source.help(),
            PeerError::PortZero { .. } => Some(format!("tbench_srv listens on port {PORT}")),
        }
    }
}

fn is_refused_here(error: &TcpError) -> bool {
    error.system().is_some_and(is_of_this_host)
}

fn is_too_long_for_the_original(exchange: TbenchExchange) -> bool {
    exchange.request_len().max(exchange.reply_len()) >= ORIGINAL_MAX
}

impl From<Errno> for TcpError {
    fn from(error: Errno) -> Self {
        TcpError::System(error.into())
    }
}
