//! How a connection to a tbench peer fails.

use crate::error::{AreaError, ErrorCategory, NO_MORE_SOCKETS, is_of_this_host};
use filestone_wire::tbench::{Exchange, ORIGINAL_MAX, PORT};
use rustix::io::Errno;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub enum TcpError {
    /// Nobody answers there.
    #[error("cannot connect: {0}")]
    Connect(#[source] io::Error),
    /// This host does not take an option.
    #[error("cannot set {option}: {source}")]
    Option {
        /// Which.
        option: String,
        /// What the operating system said.
        source: io::Error,
    },
    /// Somebody answers, in another way.
    #[error("what answers there does not speak tbench: {0}")]
    OtherProtocol(String),
    /// No answer in time.
    #[error("no answer within {}", humantime::format_duration(*.0))]
    TimedOut(Duration),
    /// The peer hung up.
    #[error(
        "the peer closed the connection in an exchange of {} bytes for {}",
        .0.request_len(),
        .0.reply_len()
    )]
    Closed(Exchange),
    /// The reply is not of the length that was asked for.
    #[error("out of step: a reply of {wanted} bytes was to come, and one of {got} did")]
    OutOfStep {
        /// What was asked for.
        wanted: u32,
        /// What the reply says of itself.
        got: u64,
    },
    /// The operating system said so.
    #[error("{0}")]
    System(#[source] io::Error),
}

impl TcpError {
    /// What to do about it.
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

    /// The operating system's error, if that is what went wrong.
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

/// Why there is no peer for a client.
#[derive(Debug, thiserror::Error)]
pub enum PeerError {
    /// No connection.
    #[error("{address}: {source}")]
    TbenchConnection {
        /// Where.
        address: SocketAddr,
        /// What went wrong.
        source: TcpError,
    },
    /// A port that nothing can listen on.
    #[error("{address}: a peer has no port 0")]
    PortZero {
        /// Where.
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

fn is_too_long_for_the_original(exchange: Exchange) -> bool {
    exchange.request_len().max(exchange.reply_len()) >= ORIGINAL_MAX
}

impl From<Errno> for TcpError {
    fn from(error: Errno) -> Self {
        TcpError::System(error.into())
    }
}
