//! What is called, and how a call fails.

use crate::exhaustion::is_exhaustion;
use filestone_protocol::session::rpc::{RpcProcedure, RpcStreamError};
use filestone_wire::record::RecordError;
use filestone_wire::rpc::{AcceptStatus, RejectStatus, ReplyBody};
use filestone_wire::xdr::DecodeError;
use rustix::io::Errno;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

/// What a call from the server is: no server has a reason to call back over these
/// connections.
pub const UNASKED_CALL: DecodeError = DecodeError::BadDiscriminant {
    field: "msg_type",
    value: 0,
};

/// Why a call has no results.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// No answer in time.
    #[error("no answer within {0:?}")]
    TimedOut(Duration),
    /// The same, of a server that has not answered anything.
    #[error("no answer within {0:?}")]
    NeverAnswered(Duration),
    /// The server hung up.
    #[error("the server closed the connection without an answer")]
    Closed,
    /// What came back is text of another protocol.
    #[error("what answers there does not speak ONC RPC: it sent {0:?}")]
    OtherProtocol(String),
    /// What came back is not ONC RPC.
    #[error("what answers there does not speak ONC RPC: {0}")]
    Record(#[from] RecordError),
    /// What came back cannot be decoded.
    #[error("the reply cannot be decoded: {0}")]
    Decode(#[from] DecodeError),
    /// The server answered what the standard forbids.
    #[error("{0}")]
    Violation(String),
    /// Accepted, but not executed.
    #[error("the call was not executed: {0}")]
    Rejected(AcceptStatus),
    /// Denied.
    #[error("the call was denied: {0}")]
    Denied(RejectStatus),
    /// The operating system said so.
    #[error("{0}")]
    System(#[source] io::Error),
    /// The connection was lost, and could not be made again.
    #[error("{loss}; it was tried again for {tried:?}")]
    Gone {
        /// How the last attempt failed.
        loss: Box<CallError>,
        /// How long there were attempts.
        tried: Duration,
    },
    /// The run was interrupted.
    #[error("interrupted")]
    Stopped,
}

impl CallError {
    /// What to do about it.
    pub fn help(&self) -> Option<&'static str> {
        match self {
            CallError::OtherProtocol(_)
            | CallError::Record(_)
            | CallError::Closed
            | CallError::Decode(_) => {
                Some("is this the port of an NFS server? (--port, --mount-port)")
            }
            CallError::Rejected(AcceptStatus::ProgUnavail | AcceptStatus::ProgMismatch { .. }) => {
                Some("the server is there, but without NFS version 3 on this port and transport")
            }
            CallError::Denied(RejectStatus::AuthError(_)) => Some(
                "try --uid, --gid and --reserved-port; Kerberos exports (sec=krb5) are not supported",
            ),
            CallError::NeverAnswered(_) => {
                Some("does the server speak this transport? (--transport tcp or udp)")
            }
            CallError::Gone { loss, .. } => loss.help(),
            _ => None,
        }
    }

    /// Whether this host has run out of what the call needs.
    pub fn is_exhaustion(&self) -> bool {
        match self {
            CallError::System(error) => is_exhaustion(error),
            CallError::Gone { loss, .. } => loss.is_exhaustion(),
            _ => false,
        }
    }

    /// Whether the connection is gone, so that the call may go out again over another.
    pub fn is_loss(&self) -> bool {
        use io::ErrorKind as Kind;
        match self {
            CallError::Closed => true,
            CallError::System(error) => matches!(
                error.kind(),
                Kind::ConnectionReset
                    | Kind::ConnectionAborted
                    | Kind::ConnectionRefused
                    | Kind::NotConnected
                    | Kind::BrokenPipe
                    | Kind::TimedOut
                    | Kind::HostUnreachable
                    | Kind::NetworkUnreachable
                    | Kind::NetworkDown
            ),
            _ => false,
        }
    }

    /// What a stream that began with `received` is not.
    pub fn not_rpc(error: RpcStreamError, received: &[u8]) -> Self {
        match error {
            RpcStreamError::Reply(error) => CallError::Decode(error),
            RpcStreamError::Record(error) => {
                printable_start(received).map_or(CallError::Record(error), CallError::OtherProtocol)
            }
        }
    }
}

impl From<ReplyBody> for CallError {
    fn from(refusal: ReplyBody) -> Self {
        match refusal {
            ReplyBody::Accepted(status) => CallError::Rejected(status),
            ReplyBody::Denied(status) => CallError::Denied(status),
        }
    }
}

impl From<io::Error> for CallError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            // Nothing else is reported so: calls of the system that a signal breaks off are
            // made again.
            io::ErrorKind::Interrupted => CallError::Stopped,
            _ => CallError::System(error),
        }
    }
}

impl From<Errno> for CallError {
    fn from(error: Errno) -> Self {
        CallError::System(error.into())
    }
}

/// A call without results: which, of which server, and why.
#[derive(Debug, thiserror::Error)]
#[error("{address}: {}: {source}", procedure.shown())]
pub struct CallFailed {
    /// The server.
    pub address: SocketAddr,
    /// What was called.
    pub procedure: RpcProcedure,
    /// Why.
    pub source: CallError,
}

impl CallFailed {
    /// Whether nothing is wrong but that the run is to end.
    pub fn is_stop(&self) -> bool {
        matches!(self.source, CallError::Stopped)
    }
}

/// The first line of what looks like text: an HTTP server's answer says more
/// about itself than a broken record mark does.
fn printable_start(bytes: &[u8]) -> Option<String> {
    const SHOWN: usize = 40;
    let line = bytes
        .split(|byte| *byte == b'\r' || *byte == b'\n')
        .next()?;
    let start = line.get(..SHOWN).unwrap_or(line);
    let is_text = start.len() >= 4 && start.iter().all(|byte| (b' '..=b'~').contains(byte));
    is_text.then(|| String::from_utf8_lossy(start).into_owned())
}
