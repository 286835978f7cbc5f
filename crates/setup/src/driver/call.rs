//! Errors of RPC calls.

use filestone_host::error::{AreaError, ErrorCategory, RunError};
use filestone_host::exhaustion::{EXHAUSTED_HELP, is_exhaustion};
use filestone_protocol::session::rpc::{RpcProcedure, RpcStreamError};
use filestone_wire::record::RecordError;
use filestone_wire::rpc::{AcceptStatus, RejectStatus, ReplyBody};
use filestone_wire::xdr::DecodeError;
use rustix::io::Errno;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

/// Error of a call without results.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The server did not reply in time.
    #[error("no answer within {0:?}")]
    TimedOut(Duration),
    /// The server did not reply in time, and has not replied to any call.
    #[error("no answer within {0:?}")]
    NeverAnswered(Duration),
    /// The server closed the connection.
    #[error("the server closed the connection without an answer")]
    Closed,
    /// The reply is text of another protocol.
    #[error("what answers there does not speak ONC RPC: it sent {0:?}")]
    OtherProtocol(String),
    /// The reply is not ONC RPC.
    #[error("what answers there does not speak ONC RPC: {0}")]
    Record(#[from] RecordError),
    /// The reply cannot be decoded.
    #[error("the reply cannot be decoded: {0}")]
    Decode(#[from] DecodeError),
    /// The reply violates the standard.
    #[error("{0}")]
    Violation(String),
    /// The call was accepted, but not executed.
    #[error("the call was not executed: {0}")]
    Rejected(AcceptStatus),
    /// The call was denied.
    #[error("the call was denied: {0}")]
    Denied(RejectStatus),
    /// The operating system reported an error.
    #[error("{0}")]
    System(#[source] io::Error),
    /// The connection was lost, and reconnecting failed.
    #[error("{loss}; it was tried again for {tried:?}")]
    Gone {
        /// Error of the last attempt.
        loss: Box<CallError>,
        /// Duration of the attempts.
        tried: Duration,
    },
    /// The run was interrupted.
    #[error("interrupted")]
    Stopped,
}

impl CallError {
    /// Returns advice on how to correct the error.
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

    /// Returns whether this host has run out of a resource that the call needs.
    pub fn is_exhaustion(&self) -> bool {
        match self {
            CallError::System(error) => is_exhaustion(error),
            CallError::Gone { loss, .. } => loss.is_exhaustion(),
            _ => false,
        }
    }

    /// Returns whether the connection is lost, so that the call may be sent again over another one.
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

    /// Converts an error of connecting.
    pub fn connecting(self, address: SocketAddr) -> RunError {
        match self {
            CallError::System(source) => RunError::Connect { address, source },
            CallError::Gone { loss, .. } => loss.connecting(address),
            error => error.calling(address, "connecting".into()),
        }
    }

    /// Converts an error of a call before or after the run.
    pub fn calling(self, address: SocketAddr, call: String) -> RunError {
        match self {
            CallError::Stopped => RunError::Interrupted,
            source => UnmeasuredCallError {
                address,
                call,
                source,
            }
            .into(),
        }
    }

    /// Returns the error for a stream that began with `received` and is not RPC.
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
            // No other error has this kind: system calls interrupted by a signal are repeated.
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

/// A call before or after the run failed.
#[derive(Debug, thiserror::Error)]
#[error("{address}: {call}: {source}")]
pub struct UnmeasuredCallError {
    /// Address of the server.
    pub address: SocketAddr,
    /// Name of the call, such as `MOUNT /export`.
    pub call: String,
    /// Cause.
    pub source: CallError,
}

impl AreaError for UnmeasuredCallError {
    fn category(&self) -> ErrorCategory {
        if self.source.is_exhaustion() {
            ErrorCategory::Environment
        } else {
            ErrorCategory::Target
        }
    }

    fn help(&self) -> Option<String> {
        let help = if self.source.is_exhaustion() {
            Some(EXHAUSTED_HELP)
        } else {
            self.source.help()
        };
        help.map(Into::into)
    }
}

/// A failed call: server, procedure and cause.
#[derive(Debug, thiserror::Error)]
#[error("{address}: {}: {source}", procedure.shown())]
pub struct CallFailed {
    /// Address of the server.
    pub address: SocketAddr,
    /// The called procedure.
    pub procedure: RpcProcedure,
    /// Cause.
    pub source: CallError,
}

impl CallFailed {
    /// Returns whether the only cause is that the run must end.
    pub fn is_stop(&self) -> bool {
        matches!(self.source, CallError::Stopped)
    }
}

/// Returns the first line of bytes that look like text: an HTTP server's reply explains more than a
/// broken record mark.
pub fn printable_start(bytes: &[u8]) -> Option<String> {
    const SHOWN: usize = 40;
    let line = bytes
        .split(|byte| *byte == b'\r' || *byte == b'\n')
        .next()?;
    let start = line.get(..SHOWN).unwrap_or(line);
    let is_text = start.len() >= 4 && start.iter().all(|byte| (b' '..=b'~').contains(byte));
    is_text.then(|| String::from_utf8_lossy(start).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_this_host_has_no_room_for_is_not_blamed_on_the_server() {
        for errno in [Errno::MFILE, Errno::NFILE, Errno::NOMEM, Errno::NOBUFS] {
            let address = SocketAddr::from(([127, 0, 0, 1], 2049));
            let error = CallError::System(errno.into()).calling(address, "MOUNT /export".into());
            assert_eq!(error.category(), ErrorCategory::Environment, "{errno}");
            assert!(error.help().is_some_and(|help| help.contains("ulimit -n")));
        }
    }
}
