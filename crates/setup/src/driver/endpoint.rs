//! A server, and the settings that all calls to it share.

use super::call::CallError;
use super::retry::{Backoff, Retry};
use filestone_host::connect::Dial;
use filestone_host::control::LOOK_EVERY;
use filestone_protocol::session::rpc::{Credentials, RpcProcedure};
use filestone_wire::record::RecordMark;
use filestone_wire::rpc::{CallHeader, Credential, OpaqueAuth};
use filestone_wire::xdr::{Encode, Writer};
use rustix::net::sockopt;
use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

/// A server, and the settings of calls to it.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// Address and options for connecting.
    pub dial: Dial,
    /// Credentials of the calls.
    pub credentials: Credentials,
    /// Time limit of a call.
    pub timeout: Duration,
    /// Limit of reconnection attempts after a disconnect, and the cancellation that ends them.
    pub retry: Retry,
    /// Whether the server has replied to a call.
    pub has_answered: bool,
}

impl Endpoint {
    /// Connects, with the retries of `retry`.
    pub fn connect(&self) -> Result<OwnedFd, CallError> {
        self.retry.connect_first(|| {
            self.limited(
                self.dial
                    .connect_until(self.timeout, &self.retry.cancellation),
            )
        })
    }

    /// Reconnects after the loss of `lost`, which it closes, with the pauses of `backoff`.
    pub fn connect_again(
        &self,
        backoff: &mut Backoff,
        loss: CallError,
        lost: Option<OwnedFd>,
    ) -> Result<OwnedFd, CallError> {
        let (dial, timeout, cancellation) = (self.dial, self.timeout, &self.retry.cancellation);
        let mut lost = lost;
        self.retry.connect(backoff, loss, || {
            self.limited(match lost.take() {
                Some(lost) => dial.connect_again(lost, timeout, cancellation),
                None => dial.connect_until(timeout, cancellation),
            })
        })
    }

    /// Sets time-outs with which system calls return in time to check the cancellation.
    fn limited(&self, connected: io::Result<OwnedFd>) -> Result<OwnedFd, CallError> {
        let socket = connected?;
        // A time-out of zero would mean no time-out.
        let limit = Some(self.timeout.clamp(Duration::from_millis(1), LOOK_EVERY));
        sockopt::set_socket_timeout(&socket, sockopt::Timeout::Recv, limit)?;
        sockopt::set_socket_timeout(&socket, sockopt::Timeout::Send, limit)?;
        Ok(socket)
    }

    /// Appends a call with its record mark to `out`; its last `data_len` bytes are sent from
    /// elsewhere. Returns its length including these bytes.
    pub fn encode(
        &self,
        out: &mut Vec<u8>,
        xid: u32,
        procedure: RpcProcedure,
        arguments: impl FnOnce(&mut Writer<'_>),
        data_len: usize,
    ) -> u32 {
        let start = RecordMark::open(out);
        let credential = match procedure.number {
            // As all clients do for NULL.
            0 => Credential::None,
            _ => self.credentials.to_auth(),
        };
        let header = CallHeader {
            xid,
            program: procedure.program.number,
            version: procedure.program.version,
            procedure: procedure.number,
            credential,
            verifier: OpaqueAuth::NONE,
        };
        let mut writer = Writer::new(out);
        header.encode(&mut writer);
        arguments(&mut writer);
        let data_len = data_len.next_multiple_of(4);
        RecordMark::close(out, start, data_len);
        u32::try_from(out.len() - start + data_len).unwrap_or(u32::MAX)
    }
}
