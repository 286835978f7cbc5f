//! RPC calls one at a time: before and after a run.
//!
//! One buffer takes the calls, one the replies; file data go out from where they lie and are
//! not copied out of the reply.
//!
//! As a client of NFS does, it waits for a server that is not ready (NFS3ERR_JUKEBOX), and makes a lost
//! connection again. A call that was cut off goes out once more as it was, transaction ID and
//! all; the time that it takes is the call's.

use super::call::{CallError, CallFailed, UNASKED_CALL};
use super::endpoint::Endpoint;
use super::retry::Backoff;
use super::{Dial, first_xid, is_this_host};
use crate::control::Cancellation;
use filestone_plan::plan::TransportKind;
use filestone_protocol::session::rpc::{
    MARK_LEN, RecordBuffer, Retransmission, RpcEvent, RpcOptions, RpcProcedure, RpcSession,
    RpcStreamError,
};
use filestone_wire::xdr::{Decode, Encode, Writer};
use filestone_workload::time::{Timestamp, nanos_of};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendFlags, recv, sendmsg};
use std::io::IoSlice;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

/// The only slot.
const SLOT: u32 = 0;
/// Twice a second a datagram is sent again: what is prepared is small, and waited for.
const RETRANSMISSION: Retransmission = Retransmission {
    first_nanos: 500_000_000,
    max_nanos: 500_000_000,
};

/// A connection for one call at a time, of any program.
#[derive(Debug)]
pub struct RpcConnection {
    endpoint: Endpoint,
    /// `None` between a loss and the next connection.
    socket: Option<OwnedFd>,
    session: RpcSession<()>,
    /// When the session's time began.
    epoch: Instant,
    /// The call, and what was received.
    out: Vec<u8>,
    incoming: RecordBuffer,
    /// What was received as one datagram.
    datagram: Option<Range<usize>>,
    /// Whether an exchange was broken off in its middle: what comes next on this connection may
    /// be the rest of it.
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
            incoming: RecordBuffer::new(record_max),
            datagram: None,
            is_torn: false,
            was_resent: false,
            endpoint,
        };
        let socket = connection.endpoint.connect()?;
        connection.use_socket(socket, 0);
        Ok(connection)
    }

    /// The server, and how it is called.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Where it is connected to.
    pub fn dial(&self) -> &Dial {
        &self.endpoint.dial
    }

    /// From now on, this cancellation ends what waits for the server.
    pub fn cancel_with(&mut self, cancellation: &Cancellation) {
        self.endpoint.retry.cancellation = cancellation.clone();
    }

    /// From now on, a lost connection is made again for so long.
    pub fn reconnect_for(&mut self, reconnect: Duration) {
        self.endpoint.retry.reconnect = reconnect;
    }

    /// Whether the server is on this host: then both ends have the same address.
    pub fn is_local(&self) -> bool {
        let there = self.endpoint.dial.address.ip();
        let here = self.socket.as_ref().and_then(|socket| {
            let address = socket2::SockRef::from(socket).local_addr().ok()?;
            address.as_socket()
        });
        is_this_host(there, here.map(|here| here.ip()))
    }

    /// Whether the last call was sent more than once: then "it is there already" may be the
    /// answer to what it did itself, and so may "it is not there".
    pub fn was_resent(&self) -> bool {
        self.was_resent
    }

    /// Whether what waits for the server is to end.
    pub fn is_cancelled(&self) -> bool {
        self.endpoint.retry.cancellation.is_cancelled()
    }

    /// Asked between two calls of one action: whether it is to be broken off.
    pub fn check_cancelled(&self) -> Result<(), CallFailed> {
        self.wait(Duration::ZERO)
    }

    /// Waits, unless the work is to end.
    pub fn wait(&self, pause: Duration) -> Result<(), CallFailed> {
        if self.endpoint.retry.cancellation.pause(pause) {
            Ok(())
        } else {
            Err(self.failed(RpcProcedure::NONE, CallError::Stopped))
        }
    }

    /// An error with its server and what was called.
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
        let results = self.call_until_done(procedure, arguments, &[]);
        let results = results.map_err(|error| self.failed(procedure, error))?;
        R::from_bytes(self.incoming.bytes(results))
            .map_err(|error| self.failed(procedure, CallError::Decode(error)))
    }

    /// Calls a procedure; its results, undecoded.
    pub fn call_raw(
        &mut self,
        procedure: RpcProcedure,
        arguments: &impl Encode,
    ) -> Result<&[u8], CallFailed> {
        self.call_with_data(procedure, arguments, &[])
    }

    /// The same, with file data after the arguments, which end with their length.
    pub fn call_with_data(
        &mut self,
        procedure: RpcProcedure,
        arguments: &impl Encode,
        data: &[u8],
    ) -> Result<&[u8], CallFailed> {
        let results = self.call_until_done(procedure, arguments, data);
        let results = results.map_err(|error| self.failed(procedure, error))?;
        Ok(self.incoming.bytes(results))
    }

    /// Calls a procedure, again and again for as long as a call may take while the server is not
    /// ready; where the results are.
    fn call_until_done(
        &mut self,
        procedure: RpcProcedure,
        arguments: &impl Encode,
        data: &[u8],
    ) -> Result<Range<usize>, CallError> {
        let mut backoff: Option<Backoff> = None;
        self.was_resent = false;
        loop {
            let results = self.call_once(procedure, arguments, data)?;
            let bytes = self.incoming.bytes(results.clone());
            if !procedure.is_busy(bytes) {
                return Ok(results);
            }
            let timeout = self.endpoint.timeout;
            let backoff = backoff.get_or_insert_with(|| Backoff::busy(timeout));
            let Some(pause) = backoff.next_pause() else {
                return Ok(results);
            };
            if !self.endpoint.retry.cancellation.pause(pause) {
                return Err(CallError::Stopped);
            }
        }
    }

    /// Calls a procedure over this connection, or over one more after the loss of it.
    fn call_once(
        &mut self,
        procedure: RpcProcedure,
        arguments: &impl Encode,
        data: &[u8],
    ) -> Result<Range<usize>, CallError> {
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
        // What was answered badly was answered; the rest leaves the stream anywhere.
        self.is_torn = !matches!(
            results,
            Ok(_) | Err(CallError::Rejected(_) | CallError::Denied(_))
        );
        if self.is_torn {
            self.session.cancel(SLOT);
        }
        results
    }

    /// After the loss of the connection: the same exchange over another one, or over one more
    /// after it.
    #[cold]
    fn exchange_again(
        &mut self,
        loss: CallError,
        len: u32,
        data: &[u8],
    ) -> Result<Range<usize>, CallError> {
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

    /// Leaves a connection on which an exchange was broken off in its middle.
    #[cold]
    fn restart(&mut self) -> Result<(), CallError> {
        self.session.take_back();
        let socket = self.endpoint.connect()?;
        self.use_socket(socket, 0);
        Ok(())
    }

    /// From now on, calls go over this socket: first the one of `len` bytes that waits, if any.
    fn use_socket(&mut self, socket: OwnedFd, len: u32) {
        self.socket = Some(socket);
        self.incoming.clear();
        let now = self.now();
        self.session.connected(now, |_| len);
        self.is_torn = false;
    }

    fn now(&self) -> Timestamp {
        Timestamp::ZERO.after(self.epoch.elapsed())
    }

    /// Sends the call that is encoded and waits for its reply; where the results are.
    fn exchange(&mut self, data: &[u8]) -> Result<Range<usize>, CallError> {
        self.session.transmitted(self.now());
        self.send(data)?;
        loop {
            self.receive()?;
            if let Some(results) = self.next_results()? {
                return Ok(results);
            }
            if self.check_time()? {
                self.send(data)?;
            }
        }
    }

    /// Where the results are, if the reply is here.
    fn next_results(&mut self) -> Result<Option<Range<usize>>, CallError> {
        while let Some(message) = self.next_message()? {
            let bytes = self.incoming.bytes(message.clone());
            let event = match self.endpoint.dial.transport {
                TransportKind::Tcp => self.session.take_record(bytes),
                TransportKind::Udp => self.session.take_datagram(bytes),
            };
            match event.map_err(|error| CallError::not_rpc(error, bytes))? {
                RpcEvent::Reply { exchange, results } => {
                    self.was_resent |= exchange.retransmissions > 0;
                    self.endpoint.has_answered = true;
                    let results_len = results?.len();
                    return Ok(Some(message.end - results_len..message.end));
                }
                // A reply that was not asked for is not ours to judge, but a server that
                // never stops sending such must not keep us for ever.
                RpcEvent::Late | RpcEvent::Head { .. } | RpcEvent::Data { .. } => {
                    self.check_time()?;
                }
                RpcEvent::Call(_) => return Err(UNASKED_CALL.into()),
            }
        }
        Ok(None)
    }

    /// The next record or datagram that is here.
    fn next_message(&mut self) -> Result<Option<Range<usize>>, CallError> {
        match self.endpoint.dial.transport {
            TransportKind::Udp => Ok(self.datagram.take()),
            TransportKind::Tcp => self.incoming.next_record().map_err(|error| {
                CallError::not_rpc(
                    RpcStreamError::Record(error),
                    self.incoming.received_bytes(),
                )
            }),
        }
    }

    /// Receives once, or waits for a while.
    fn receive(&mut self) -> Result<(), CallError> {
        let socket = self.socket.as_ref().ok_or(CallError::Closed)?;
        let is_stream = self.endpoint.dial.transport == TransportKind::Tcp;
        match recv(socket, self.incoming.room(), RecvFlags::empty()) {
            Ok((0, _)) if is_stream => Err(CallError::Closed),
            Ok((len, _)) if is_stream => {
                self.incoming.received(len);
                Ok(())
            }
            Ok((len, _)) => {
                self.datagram = Some(0..len);
                Ok(())
            }
            Err(Errno::AGAIN | Errno::INTR) if self.endpoint.retry.cancellation.is_cancelled() => {
                Err(CallError::Stopped)
            }
            Err(Errno::AGAIN | Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether the call is to be sent again; an error once it has waited too long.
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

    /// Sends the call, the data, and the zeros that fill them up.
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

    /// Sends what there is room for, after the first `sent` bytes.
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
            // There has been no room for a while.
            Err(Errno::AGAIN | Errno::INTR) if self.endpoint.retry.cancellation.is_cancelled() => {
                Err(CallError::Stopped)
            }
            Err(Errno::AGAIN | Errno::INTR) => Ok(0),
            Err(error) => Err(error.into()),
        }
    }
}
