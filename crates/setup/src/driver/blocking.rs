//! RPC calls one at a time: before and after a run.
//!
//! One buffer holds the call, one the results; file data are sent from their own buffer.
//!
//! As an NFS client does, it waits for a server that is not ready (NFS3ERR_JUKEBOX), and reconnects
//! after a disconnect. An interrupted call is sent again unchanged, with the same transaction ID;
//! the time counts as part of the call.

use super::call::{CallError, CallFailed};
use super::endpoint::Endpoint;
use super::first_xid;
use super::retry::Backoff;
use filestone_host::connect::{Dial, is_local};
use filestone_host::control::Cancellation;
use filestone_plan::plan::TransportKind;
use filestone_protocol::session::rpc::{
    MARK_LEN, Retransmission, RpcEvent, RpcOptions, RpcProcedure, RpcSession,
};
use filestone_wire::xdr::{Decode, Encode, Writer};
use filestone_workload::time::{Timestamp, nanos_of};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendFlags, recv, sendmsg};
use std::io::IoSlice;
use std::mem;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

/// Bytes received at once: a datagram of any length fits.
const RECEIVED_MAX: usize = 64 << 10;
/// The only slot.
const SLOT: u32 = 0;
/// A datagram is sent again twice a second: preparation has few calls, and waits for them.
const RETRANSMISSION: Retransmission = Retransmission {
    first_nanos: 500_000_000,
    max_nanos: 500_000_000,
};

/// A connection for one call at a time, of any program.
#[derive(Debug)]
pub struct RpcConnection {
    endpoint: Endpoint,
    /// `None` between a disconnect and the next connection.
    socket: Option<OwnedFd>,
    session: RpcSession<()>,
    /// Epoch of the session's time.
    epoch: Instant,
    /// The call.
    out: Vec<u8>,
    input: Box<[u8]>,
    /// Range of `input` that was received and not processed yet.
    received: Range<usize>,
    /// Results of the last call.
    results: Vec<u8>,
    /// Whether an exchange was aborted halfway: the next bytes on this connection may be the rest
    /// of it.
    is_torn: bool,
    was_resent: bool,
}

impl RpcConnection {
    /// Connects. Replies over `record_max` bytes are refused.
    pub fn connect(endpoint: Endpoint, record_max: usize) -> Result<Self, CallError> {
        let options = RpcOptions {
            transport: endpoint.dial.transport,
            slots: 1,
            first_xid: first_xid(),
            timeout_nanos: nanos_of(endpoint.timeout),
            retransmission: RETRANSMISSION,
            record_max,
            streamed_min: None,
            head_len: 0,
        };
        let mut connection = Self {
            socket: None,
            session: RpcSession::new(&options, ()),
            epoch: Instant::now(),
            out: Vec::new(),
            input: vec![0; RECEIVED_MAX].into(),
            received: 0..0,
            results: Vec::new(),
            is_torn: false,
            was_resent: false,
            endpoint,
        };
        let socket = connection.endpoint.connect()?;
        connection.use_socket(socket, 0);
        Ok(connection)
    }

    /// Returns the server and the settings of calls to it.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Returns address and options of the connection.
    pub fn dial(&self) -> &Dial {
        &self.endpoint.dial
    }

    /// Sets the cancellation that ends every wait for the server.
    pub fn cancel_with(&mut self, cancellation: &Cancellation) {
        self.endpoint.retry.cancellation = cancellation.clone();
    }

    /// Sets how long reconnection attempts continue after a disconnect.
    pub fn reconnect_for(&mut self, reconnect: Duration) {
        self.endpoint.retry.reconnect = reconnect;
    }

    /// Returns whether the server is on this host: then both ends have the same address.
    pub fn is_local(&self) -> bool {
        is_local(self.endpoint.dial.address, self.socket.as_ref())
    }

    /// Returns whether the last call was sent more than once: then "already exists" may be caused
    /// by its first execution, and so may "does not exist".
    pub fn was_resent(&self) -> bool {
        self.was_resent
    }

    /// Returns whether every wait for the server must end.
    pub fn is_cancelled(&self) -> bool {
        self.endpoint.retry.cancellation.is_cancelled()
    }

    /// Returns an error if the action must be aborted. Called between two calls of one action.
    pub fn check_cancelled(&self) -> Result<(), CallFailed> {
        self.wait(Duration::ZERO)
    }

    /// Waits; returns an error if the work must end.
    pub fn wait(&self, pause: Duration) -> Result<(), CallFailed> {
        if self.endpoint.retry.cancellation.pause(pause) {
            Ok(())
        } else {
            Err(self.failed(RpcProcedure::NONE, CallError::Stopped))
        }
    }

    /// Returns an error with its server and procedure.
    pub fn failed(&self, procedure: RpcProcedure, source: CallError) -> CallFailed {
        CallFailed {
            address: self.endpoint.dial.address,
            procedure,
            source,
        }
    }

    /// Calls a procedure and decodes its results.
    pub fn call<'c, R: Decode<'c>>(
        &'c mut self,
        procedure: RpcProcedure,
        arguments: &impl Encode,
    ) -> Result<R, CallFailed> {
        self.call_raw(procedure, arguments)?;
        R::from_bytes(&self.results)
            .map_err(|error| self.failed(procedure, CallError::Decode(error)))
    }

    /// Calls a procedure; returns its results, undecoded.
    pub fn call_raw(
        &mut self,
        procedure: RpcProcedure,
        arguments: &impl Encode,
    ) -> Result<&[u8], CallFailed> {
        self.call_with_data(procedure, arguments, &[])
    }

    /// Calls a procedure with file data after the arguments, which end with the length of the data.
    pub fn call_with_data(
        &mut self,
        procedure: RpcProcedure,
        arguments: &impl Encode,
        data: &[u8],
    ) -> Result<&[u8], CallFailed> {
        let results = self.call_until_done(procedure, arguments, data);
        results.map_err(|error| self.failed(procedure, error))?;
        Ok(&self.results)
    }

    /// Calls a procedure, repeatedly while the server is not ready, up to the time limit of a call.
    fn call_until_done(
        &mut self,
        procedure: RpcProcedure,
        arguments: &impl Encode,
        data: &[u8],
    ) -> Result<(), CallError> {
        let mut backoff: Option<Backoff> = None;
        self.was_resent = false;
        loop {
            self.call_once(procedure, arguments, data)?;
            if !procedure.is_busy(&self.results) {
                return Ok(());
            }
            let timeout = self.endpoint.timeout;
            let backoff = backoff.get_or_insert_with(|| Backoff::busy(timeout));
            let Some(pause) = backoff.next_pause() else {
                return Ok(());
            };
            if !self.endpoint.retry.cancellation.pause(pause) {
                return Err(CallError::Stopped);
            }
        }
    }

    /// Calls a procedure over this connection, or over another one after a disconnect.
    fn call_once(
        &mut self,
        procedure: RpcProcedure,
        arguments: &impl Encode,
        data: &[u8],
    ) -> Result<(), CallError> {
        if self.is_torn {
            self.restart()?;
        }
        let xid = self.session.start(SLOT, ()).ok_or(CallError::Closed)?;
        self.out.clear();
        let encode = |out: &mut Writer<'_>| arguments.encode(out);
        let endpoint = &self.endpoint;
        let len = endpoint.encode(&mut self.out, xid, procedure, encode, data.len());
        self.session.enqueued(SLOT, len);
        let results = match self.exchange(data) {
            Err(error) if error.is_loss() => self.exchange_again(error, len, data),
            results => results,
        };
        // After a refusal the stream is intact; other errors may leave it anywhere.
        self.is_torn = !matches!(
            results,
            Ok(()) | Err(CallError::Rejected(_) | CallError::Denied(_))
        );
        if self.is_torn {
            self.session.cancel(SLOT);
        }
        results
    }

    /// Repeats the exchange over a new connection after a disconnect, and over another one if that
    /// is lost, too.
    #[cold]
    fn exchange_again(&mut self, loss: CallError, len: u32, data: &[u8]) -> Result<(), CallError> {
        let (mut loss, mut backoff) = (loss, self.endpoint.retry.backoff());
        loop {
            self.session.take_back();
            let lost = self.socket.take();
            let socket = self.endpoint.connect_again(&mut backoff, loss, lost)?;
            self.use_socket(socket, len);
            match self.exchange(data) {
                Err(error) if error.is_loss() => loss = error,
                results => return results,
            }
        }
    }

    /// Replaces a connection on which an exchange was aborted halfway.
    #[cold]
    fn restart(&mut self) -> Result<(), CallError> {
        self.session.take_back();
        let socket = self.endpoint.connect()?;
        self.use_socket(socket, 0);
        Ok(())
    }

    /// Uses this socket for calls: first for the pending one of `len` bytes, if any.
    fn use_socket(&mut self, socket: OwnedFd, len: u32) {
        self.socket = Some(socket);
        self.received = 0..0;
        let now = self.now();
        self.session.connected(now, |_| len);
        self.is_torn = false;
    }

    fn now(&self) -> Timestamp {
        Timestamp::ZERO.after(self.epoch.elapsed())
    }

    /// Sends the encoded call and waits for its results.
    fn exchange(&mut self, data: &[u8]) -> Result<(), CallError> {
        self.session.transmitted(self.now());
        self.send(data)?;
        while !self.take_results()? {
            // Also after an unexpected reply: a server that sends such replies without end must not
            // block filestone for ever.
            if self.check_time()? {
                self.send(data)?;
            }
            self.receive()?;
        }
        Ok(())
    }

    /// Takes the results out of the received bytes; returns `false` if they have not arrived.
    fn take_results(&mut self) -> Result<bool, CallError> {
        let end = self.received.end;
        let received = self.input.get(self.received.clone()).unwrap_or_default();
        let mut rest = received;
        while !rest.is_empty() {
            let event = match self.endpoint.dial.transport {
                TransportKind::Tcp => self.session.next(&mut rest),
                TransportKind::Udp => self.session.take_datagram(mem::take(&mut rest)).map(Some),
            };
            let event = event.map_err(|error| CallError::not_rpc(error, received))?;
            if let Some(RpcEvent::Reply { exchange, results }) = event {
                self.received = end - rest.len()..end;
                self.was_resent |= exchange.retransmissions > 0;
                self.endpoint.has_answered = true;
                self.results.clear();
                self.results.extend_from_slice(results?);
                return Ok(true);
            }
        }
        self.received = 0..0;
        Ok(false)
    }

    /// Receives once, or waits for a while.
    fn receive(&mut self) -> Result<(), CallError> {
        let socket = self.socket.as_ref().ok_or(CallError::Closed)?;
        let is_stream = self.endpoint.dial.transport == TransportKind::Tcp;
        match recv(socket, &mut self.input[..], RecvFlags::empty()) {
            Ok((_, 0)) if is_stream => Err(CallError::Closed),
            Ok((_, len)) => {
                self.received = 0..len;
                Ok(())
            }
            Err(Errno::AGAIN | Errno::INTR) if self.endpoint.retry.cancellation.is_cancelled() => {
                Err(CallError::Stopped)
            }
            Err(Errno::AGAIN | Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns whether the call must be sent again; an error after its time limit.
    fn check_time(&mut self) -> Result<bool, CallError> {
        let now = self.now();
        let len = self.out.len() as u32;
        let (mut is_over, mut is_due_again) = (false, false);
        let resend = |_| {
            is_due_again = true;
            len
        };
        self.session.handle_timeout(now, |_| is_over = true, resend);
        if is_over {
            let Endpoint { timeout, .. } = self.endpoint;
            return Err(if self.endpoint.has_answered {
                CallError::TimedOut(timeout)
            } else {
                CallError::NeverAnswered(timeout)
            });
        }
        Ok(is_due_again)
    }

    /// Sends the call, the data and their zero padding.
    fn send(&mut self, data: &[u8]) -> Result<(), CallError> {
        let total = self.out.len() + data.len().next_multiple_of(4);
        let mut sent = match self.endpoint.dial.transport {
            TransportKind::Tcp => 0,
            TransportKind::Udp => MARK_LEN,
        };
        while sent < total {
            sent += self.send_some(sent, data)?;
            if sent < total {
                self.check_time()?;
            }
        }
        Ok(())
    }

    /// Sends as much as the socket accepts, after the first `sent` bytes.
    fn send_some(&self, sent: usize, data: &[u8]) -> Result<usize, CallError> {
        const ZEROS: [u8; 3] = [0; 3];
        let socket = self.socket.as_ref().ok_or(CallError::Closed)?;
        let padding = ZEROS
            .get(..data.len().wrapping_neg() & 3)
            .unwrap_or_default();
        let mut slices = [
            IoSlice::new(&self.out),
            IoSlice::new(data),
            IoSlice::new(padding),
        ];
        let mut rest = &mut slices[..];
        IoSlice::advance_slices(&mut rest, sent);
        let mut no_control = SendAncillaryBuffer::default();
        match sendmsg(socket, rest, &mut no_control, SendFlags::NOSIGNAL) {
            Ok(len) => Ok(len),
            // The send buffer has been full for a while.
            Err(Errno::AGAIN | Errno::INTR) if self.endpoint.retry.cancellation.is_cancelled() => {
                Err(CallError::Stopped)
            }
            Err(Errno::AGAIN | Errno::INTR) => Ok(0),
            Err(error) => Err(error.into()),
        }
    }
}
