//! RPC calls one at a time, for everything before and after the measured run.
//!
//! The measured path never comes through here; it has no allocation-free ways
//! and no batches, only clear errors.

use super::retry::{Backoff, Retry, asks_for_patience};
use crate::control::LOOK_EVERY;
use crate::transport::{Dial, first_xid};
use filestone_model::client::nfs3::Credentials;
use filestone_model::plan::TransportKind;
use filestone_wire::record::{Assembler, RecordError, RecordMark};
use filestone_wire::rpc::{
    AcceptStatus, CallHeader, Credential, OpaqueAuth, RejectStatus, ReplyBody, ReplyHeader,
};
use filestone_wire::xdr::{Decode, DecodeError, Encode, Reader, Writer};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send, sockopt};
use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

/// The largest reply taken.
const RECORD_MAX: usize = 4 << 20;
/// Pause before a datagram is sent again.
const RETRANSMIT: Duration = Duration::from_millis(500);

/// How a single call failed.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// No answer in time.
    #[error("no answer within {0:?}")]
    TimedOut(Duration),
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
    /// Somebody stopped the run.
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
            CallError::TimedOut(_) => {
                Some("does the server speak this transport? (--transport tcp or udp)")
            }
            CallError::Gone { loss, .. } => loss.help(),
            _ => None,
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

/// A connection for one call at a time.
#[derive(Debug)]
pub struct RpcChannel {
    socket: OwnedFd,
    dial: Dial,
    credentials: Credentials,
    xid: u32,
    timeout: Duration,
    retry: Retry,
    /// Whether the last call was sent more than once.
    was_resent: bool,
    assembler: Assembler,
    /// Input that has been received and not been used.
    pending: Vec<u8>,
}

impl RpcChannel {
    /// Connects; calls are numbered from anywhere on. What `retry` says goes for connecting, too.
    pub fn connect(
        dial: Dial,
        credentials: Credentials,
        timeout: Duration,
        retry: Retry,
    ) -> Result<Self, CallError> {
        let socket = retry.connect_first(|| Ok(dial.connect_until(timeout, &retry.sign)?))?;
        Ok(Self {
            socket,
            dial,
            credentials,
            xid: first_xid(),
            timeout,
            retry,
            was_resent: false,
            assembler: Assembler::new(RECORD_MAX),
            pending: Vec::new(),
        })
    }

    /// Where it is connected to.
    pub fn dial(&self) -> &Dial {
        &self.dial
    }

    /// Whether the last call was sent more than once: then its answer may be that to a second
    /// try of what the first one did.
    pub fn was_resent(&self) -> bool {
        self.was_resent
    }

    /// For how long a lost connection is made again, and what ends that.
    pub fn retry(&self) -> &Retry {
        &self.retry
    }

    /// Changes that from now on.
    pub fn set_retry(&mut self, retry: Retry) {
        self.retry = retry;
    }

    /// Whether the server is on this host: then both ends have the same address.
    pub fn is_local(&self) -> bool {
        let here = socket2::SockRef::from(&self.socket).local_addr();
        let here = here.ok().and_then(|address| address.as_socket());
        let there = self.dial.address.ip();
        there.is_loopback() || here.is_some_and(|here| here.ip() == there)
    }

    /// Calls a procedure and gives its results, undecoded.
    pub fn call(
        &mut self,
        program: u32,
        version: u32,
        procedure: u32,
        args: &dyn EncodeArgs,
    ) -> Result<Vec<u8>, CallError> {
        self.xid = self.xid.wrapping_add(1);
        let message = self.encode(program, version, procedure, args);
        let mut losses: Option<Backoff> = None;
        self.was_resent = false;
        loop {
            let loss = match self.exchange(&message) {
                Err(error) if error.is_loss() => error,
                answered => return answered,
            };
            let backoff = losses.get_or_insert_with(|| self.retry.backoff());
            let (dial, timeout) = (self.dial, self.timeout);
            let sign = &self.retry.sign;
            let connect = || Ok(dial.connect_until(timeout, sign)?);
            self.socket = self.retry.connect(backoff, loss, connect)?;
            self.assembler = Assembler::new(RECORD_MAX);
            self.pending.clear();
            self.was_resent = true;
        }
    }

    /// Calls a procedure of NFS, whose results have a status first, and calls it again for as
    /// long as a call may take if the server asks for patience.
    pub fn call_patiently(
        &mut self,
        (program, version, procedure): (u32, u32, u32),
        args: &dyn EncodeArgs,
    ) -> Result<Vec<u8>, CallError> {
        let mut patience = Backoff::patience(self.timeout);
        loop {
            let results = self.call(program, version, procedure, args)?;
            let is_asked_for = asks_for_patience(&results);
            match patience.next_pause().filter(|_| is_asked_for) {
                None => return Ok(results),
                Some(pause) if self.retry.sign.pause(pause) => {}
                Some(_) => return Err(CallError::Stopped),
            }
        }
    }

    /// Sends a message and waits for the reply to it.
    fn exchange(&mut self, message: &[u8]) -> Result<Vec<u8>, CallError> {
        let deadline = Instant::now() + self.timeout;
        self.send(message)?;
        let mut send_again = Instant::now() + RETRANSMIT;
        loop {
            if let Some(record) = self.next_record(deadline.min(send_again))?
                && let Some(results) = self.results_of(&record)?
            {
                return Ok(results);
            }
            let now = Instant::now();
            if now >= deadline {
                return Err(CallError::TimedOut(self.timeout));
            }
            if now >= send_again {
                send_again = now + RETRANSMIT;
                if self.dial.transport == TransportKind::Udp {
                    self.was_resent = true;
                    self.send(message)?;
                }
            }
        }
    }

    fn encode(&self, program: u32, version: u32, procedure: u32, args: &dyn EncodeArgs) -> Vec<u8> {
        let credential = match procedure {
            0 => Credential::None,
            _ => self.credentials.to_auth(),
        };
        let header = CallHeader {
            xid: self.xid,
            program,
            version,
            procedure,
            credential,
            verifier: OpaqueAuth::NONE,
        };
        let mut message = Vec::new();
        let start = RecordMark::open(&mut message);
        header.encode(&mut Writer::new(&mut message));
        args.encode_args(&mut Writer::new(&mut message));
        RecordMark::close(&mut message, start, 0);
        message
    }

    fn send(&self, message: &[u8]) -> Result<(), CallError> {
        let mut rest = match self.dial.transport {
            TransportKind::Tcp => message,
            TransportKind::Udp => &message[4..],
        };
        let deadline = Instant::now() + self.timeout;
        while !rest.is_empty() {
            // There is always room for a message as short as these, unless the server stops
            // reading.
            match send(
                &self.socket,
                rest,
                SendFlags::NOSIGNAL | SendFlags::DONTWAIT,
            ) {
                Ok(len) => rest = &rest[len..],
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) if Instant::now() >= deadline => {
                    return Err(CallError::TimedOut(self.timeout));
                }
                Err(Errno::AGAIN) if self.retry.sign.pause(Duration::from_millis(1)) => {}
                Err(Errno::AGAIN) => return Err(CallError::Stopped),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// The next record or datagram; `None` if none has come by `until`.
    fn next_record(&mut self, until: Instant) -> Result<Option<Vec<u8>>, CallError> {
        let mut buffer = vec![0; 70_000];
        loop {
            if self.dial.transport == TransportKind::Tcp {
                let pending = std::mem::take(&mut self.pending);
                let mut input = pending.as_slice();
                match self.assembler.next(&mut input) {
                    Ok(Some(record)) => {
                        let record = record.to_vec();
                        self.pending = input.to_vec();
                        return Ok(Some(record));
                    }
                    Ok(None) => {}
                    Err(error) => {
                        return Err(printable_start(&pending)
                            .map_or(CallError::Record(error), CallError::OtherProtocol));
                    }
                }
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(None);
            }
            sockopt::set_socket_timeout(
                &self.socket,
                sockopt::Timeout::Recv,
                Some(left.clamp(Duration::from_millis(1), LOOK_EVERY)),
            )?;
            match recv(&self.socket, &mut buffer[..], RecvFlags::empty()) {
                Ok((_, 0)) if self.dial.transport == TransportKind::Tcp => {
                    return Err(CallError::Closed);
                }
                Ok((_, len)) if self.dial.transport == TransportKind::Udp => {
                    return Ok(Some(buffer[..len.min(buffer.len())].to_vec()));
                }
                Ok((_, len)) => self.pending.extend_from_slice(&buffer[..len]),
                Err(Errno::AGAIN | Errno::INTR) if self.retry.sign.is_cancelled() => {
                    return Err(CallError::Stopped);
                }
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// The results in `record` if it answers the call that is outstanding.
    fn results_of(&self, record: &[u8]) -> Result<Option<Vec<u8>>, CallError> {
        let mut reader = Reader::new(record);
        let header = ReplyHeader::decode(&mut reader)?;
        if header.xid != self.xid {
            // Late, of a call that was sent twice.
            return Ok(None);
        }
        match header.body {
            ReplyBody::Accepted(AcceptStatus::Success) => Ok(Some(reader.rest().to_vec())),
            ReplyBody::Accepted(status) => Err(CallError::Rejected(status)),
            ReplyBody::Denied(status) => Err(CallError::Denied(status)),
        }
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

/// Arguments of any call, as an object.
pub trait EncodeArgs {
    /// Encodes them.
    fn encode_args(&self, out: &mut Writer<'_>);
}

impl<T: Encode> EncodeArgs for T {
    fn encode_args(&self, out: &mut Writer<'_>) {
        self.encode(out);
    }
}
