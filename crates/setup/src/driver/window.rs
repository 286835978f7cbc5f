//! Many RPC calls in flight on one connection, before and after the measured run.
//!
//! A [`Work`] defines the calls and handles their replies. Nothing here is measured.
//!
//! After a disconnect, all calls without a reply are sent again unchanged over a new connection. A
//! call may thus be executed twice, and its `Work` is informed.

use super::call::{CallError, CallFailed};
use super::endpoint::Endpoint;
use super::first_xid;
use super::retry::Backoff;
use filestone_host::control::LOOK_EVERY;
use filestone_plan::plan::TransportKind;
use filestone_protocol::session::rpc::RpcProcedure;
use filestone_protocol::session::rpc::{
    Retransmission, RpcEvent, RpcExchange, RpcOptions, RpcSession,
};
use filestone_wire::rpc::ReplyBody;
use filestone_wire::xdr::{DecodeError, Writer};
use filestone_workload::time::Timestamp;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

/// Maximum number of calls in flight.
pub const WINDOW: usize = 64;
/// No further call is encoded while this many bytes wait to be sent.
const UNSENT_MAX: usize = 256 << 10;
/// The largest reply accepted: replies contain no file data here.
const RECORD_MAX: usize = 64 << 10;
/// Bytes received at once.
const RECEIVED_MAX: usize = 64 << 10;

/// A sequence of calls, whose order may depend on the replies.
pub trait Work {
    /// State of a call until its reply arrives.
    type Call: Copy;
    /// Error that ends the work.
    type Error;

    /// Returns the next call; `None` if there is none before another reply, or none at all.
    fn next(&mut self) -> Option<Self::Call>;

    /// Returns the procedure of a call.
    fn procedure(&self, call: &Self::Call) -> RpcProcedure;

    /// Encodes the arguments of a call.
    fn encode(&self, call: &Self::Call, out: &mut Writer<'_>);

    /// Handles a reply: `results` are undecoded; `was_resent`: the call was sent more than once.
    /// Then "already exists" may be caused by its first execution.
    fn answered(
        &mut self,
        call: Self::Call,
        results: &[u8],
        was_resent: bool,
    ) -> Result<(), WorkError<Self::Error>>;

    /// Returns the error of a call without results.
    fn failed(&self, call: &Self::Call, failed: CallFailed) -> Self::Error;
}

/// Error of a reply that ends the work.
#[derive(Debug)]
pub enum WorkError<E> {
    /// The results cannot be decoded.
    Undecodable(DecodeError),
    /// The reply is not acceptable.
    Failed(E),
}

impl<E> From<DecodeError> for WorkError<E> {
    fn from(error: DecodeError) -> Self {
        WorkError::Undecodable(error)
    }
}

/// A call in a slot: outstanding, or to be repeated at its time.
#[derive(Debug, Clone, Copy)]
struct Pending<C> {
    call: C,
    due: Option<Instant>,
    /// Pauses of a call whose reply was NFS3ERR_JUKEBOX.
    backoff: Option<Backoff>,
    was_resent: bool,
}

impl<C> Pending<C> {
    fn new(call: C) -> Self {
        Self {
            call,
            due: None,
            backoff: None,
            was_resent: false,
        }
    }

    fn is_due(&self, now: Instant) -> bool {
        self.due.is_some_and(|due| due <= now)
    }

    /// Schedules the call again after a pause; `false` if the time is used up.
    fn postpone(&mut self, timeout: Duration) -> bool {
        let backoff = self.backoff.get_or_insert_with(|| Backoff::busy(timeout));
        let pause = backoff.next_pause();
        self.due = pause.map(|pause| Instant::now() + pause);
        pause.is_some()
    }
}

/// The calls of one work.
struct Pendings<C> {
    slots: Vec<Option<Pending<C>>>,
    last_answer: Instant,
    /// Attempts to reconnect since the last reply.
    losses: Option<Backoff>,
}

impl<C: Copy> Pendings<C> {
    fn new() -> Self {
        Self {
            slots: vec![None; WINDOW],
            last_answer: Instant::now(),
            losses: None,
        }
    }

    /// Returns a call that an error may name: an outstanding one if possible.
    fn any(&self) -> Option<&Pending<C>> {
        let all = self.slots.iter().flatten();
        all.min_by_key(|pending| pending.due.is_some())
    }

    fn get_mut(&mut self, slot: u32) -> Option<&mut Pending<C>> {
        self.slots.get_mut(slot as usize)?.as_mut()
    }

    /// Handles the reply to a call.
    fn answered<W: Work<Call = C>>(
        &mut self,
        work: &mut W,
        exchange: &RpcExchange<()>,
        results: Result<&[u8], ReplyBody>,
        timeout: Duration,
    ) -> Result<(), Failure<W>> {
        let Some(place) = self.slots.get_mut(exchange.slot as usize) else {
            return Ok(());
        };
        let Some(mut pending) = *place else {
            return Ok(());
        };
        self.last_answer = Instant::now();
        self.losses = None;
        pending.was_resent |= exchange.retransmissions > 0;
        let call = pending.call;
        let results = results.map_err(|refusal| Failure::Call(call, refusal.into()))?;
        if work.procedure(&call).is_busy(results) && pending.postpone(timeout) {
            *place = Some(pending);
            return Ok(());
        }
        *place = None;
        let answered = work.answered(call, results, pending.was_resent);
        answered.map_err(|error| match error {
            WorkError::Undecodable(error) => Failure::Call(call, error.into()),
            WorkError::Failed(error) => Failure::Work(error),
        })
    }
}

/// A connection with many calls in flight. An error makes the connection unusable.
#[derive(Debug)]
pub struct CallPipeline {
    endpoint: Endpoint,
    socket: Option<OwnedFd>,
    session: RpcSession<()>,
    out: Vec<u8>,
    sent: usize,
    input: Box<[u8]>,
}

impl CallPipeline {
    /// Connects by TCP, regardless of the transport of the measured calls: if a datagram that
    /// creates something is lost, its execution is uncertain.
    pub fn connect(mut endpoint: Endpoint) -> Result<Self, CallError> {
        endpoint.dial.transport = TransportKind::Tcp;
        let options = RpcOptions {
            transport: TransportKind::Tcp,
            slots: WINDOW as u32,
            first_xid: first_xid(),
            // A call is not late while others are answered.
            timeout_nanos: u64::MAX,
            retransmission: Retransmission::LINUX,
            record_max: RECORD_MAX,
            streamed_min: None,
            head_len: 0,
        };
        let mut session = RpcSession::new(&options, ());
        session.connected(Timestamp::ZERO, |_| 0);
        Ok(Self {
            socket: Some(endpoint.connect()?),
            endpoint,
            session,
            out: Vec::new(),
            sent: 0,
            input: vec![0; RECEIVED_MAX].into(),
        })
    }

    /// Executes all calls of `work`, up to [`WINDOW`] at a time, and waits for their replies.
    pub fn run<W: Work>(&mut self, work: &mut W) -> Result<(), W::Error> {
        let mut pendings = Pendings::new();
        loop {
            self.fill(work, &mut pendings);
            let Some(any) = pendings.any().copied() else {
                return Ok(());
            };
            let exchanged = match self.exchange(work, &mut pendings) {
                Err(Failure::Connection(loss)) => self
                    .connect_again(loss, work, &mut pendings)
                    .map_err(|source| Failure::Call(any.call, source)),
                exchanged => exchanged,
            };
            let going_on = exchanged.and_then(|()| self.check_time(&any, &mut pendings));
            going_on.map_err(|failure| match failure {
                Failure::Work(error) => error,
                Failure::Call(call, source) => self.failed(work, &call, source),
                Failure::Connection(source) => self.failed(work, &any.call, source),
            })?;
        }
    }

    fn failed<W: Work>(&self, work: &W, call: &W::Call, source: CallError) -> W::Error {
        let failed = CallFailed {
            address: self.endpoint.dial.address,
            procedure: work.procedure(call),
            source,
        };
        work.failed(call, failed)
    }

    /// Returns an error if the wait for `any` must end.
    fn check_time<W: Work>(
        &self,
        any: &Pending<W::Call>,
        pendings: &mut Pendings<W::Call>,
    ) -> Result<(), Failure<W>> {
        let timeout = self.endpoint.timeout;
        if self.endpoint.retry.cancellation.is_cancelled() {
            return Err(Failure::Call(any.call, CallError::Stopped));
        }
        if any.due.is_some() {
            // Without outstanding calls no reply is late.
            pendings.last_answer = Instant::now();
        } else if pendings.last_answer.elapsed() >= timeout {
            return Err(Failure::Call(any.call, CallError::TimedOut(timeout)));
        }
        Ok(())
    }

    /// Reconnects after a disconnect, and sends all calls without a reply again.
    fn connect_again<W: Work>(
        &mut self,
        loss: CallError,
        work: &W,
        pendings: &mut Pendings<W::Call>,
    ) -> Result<(), CallError> {
        if !loss.is_loss() {
            return Err(loss);
        }
        let backoff = pendings
            .losses
            .get_or_insert_with(|| self.endpoint.retry.backoff());
        let socket = self
            .endpoint
            .connect_again(backoff, loss, self.socket.take())?;
        self.socket = Some(socket);
        self.out.clear();
        self.sent = 0;
        self.session.take_back();
        let (endpoint, out) = (&self.endpoint, &mut self.out);
        self.session.connected(Timestamp::ZERO, |call| {
            let pending = pendings.get_mut(call.slot);
            pending.map_or(0, |pending| {
                encode(endpoint, work, &pending.call, call.xid, out)
            })
        });
        pendings.last_answer = Instant::now();
        Ok(())
    }

    /// Encodes calls while there is room for them.
    fn fill<W: Work>(&mut self, work: &mut W, pendings: &mut Pendings<W::Call>) {
        // Sent bytes are removed even if some bytes always wait: otherwise all calls ever written
        // to a slow server would be kept.
        if self.sent == self.out.len() || self.sent >= UNSENT_MAX {
            self.out.drain(..self.sent);
            self.sent = 0;
        }
        let now = Instant::now();
        for (slot, place) in (0..).zip(&mut pendings.slots) {
            if self.out.len() - self.sent >= UNSENT_MAX {
                break;
            }
            match place {
                Some(pending) if pending.is_due(now) => pending.due = None,
                Some(_) => continue,
                None => *place = work.next().map(Pending::new),
            }
            let Some(pending) = place else {
                continue;
            };
            let Some(xid) = self.session.start(slot, ()) else {
                continue;
            };
            let len = encode(&self.endpoint, work, &pending.call, xid, &mut self.out);
            self.session.enqueued(slot, len);
        }
        self.session.transmitted(Timestamp::ZERO);
    }

    /// Waits for a while, then sends and receives as much as possible.
    fn exchange<W: Work>(
        &mut self,
        work: &mut W,
        pendings: &mut Pendings<W::Call>,
    ) -> Result<(), Failure<W>> {
        self.wait().map_err(Failure::Connection)?;
        self.send().map_err(Failure::Connection)?;
        self.receive(work, pendings)
    }

    fn wait(&self) -> Result<(), CallError> {
        let socket = self.socket.as_ref().ok_or(CallError::Closed)?;
        let mut wanted = PollFlags::IN;
        if self.sent < self.out.len() {
            wanted |= PollFlags::OUT;
        }
        let most = LOOK_EVERY.min(self.endpoint.timeout);
        let most = Timespec {
            tv_sec: 0,
            tv_nsec: i64::from(most.subsec_nanos()),
        };
        match poll(&mut [PollFd::new(socket, wanted)], Some(&most)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn send(&mut self) -> Result<(), CallError> {
        let socket = self.socket.as_ref().ok_or(CallError::Closed)?;
        while let Some(rest) = self.out.get(self.sent..).filter(|rest| !rest.is_empty()) {
            match send(socket, rest, SendFlags::NOSIGNAL | SendFlags::DONTWAIT) {
                Ok(len) => self.sent += len,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn receive<W: Work>(
        &mut self,
        work: &mut W,
        pendings: &mut Pendings<W::Call>,
    ) -> Result<(), Failure<W>> {
        let lost = Failure::Connection;
        let socket = self.socket.as_ref().ok_or(lost(CallError::Closed))?;
        let received = match recv(socket, &mut self.input[..], RecvFlags::DONTWAIT) {
            Ok((_, 0)) => return Err(lost(CallError::Closed)),
            Ok((_, len)) => self.input.get(..len).unwrap_or_default(),
            Err(Errno::AGAIN | Errno::INTR) => return Ok(()),
            Err(error) => return Err(lost(error.into())),
        };
        let mut input = received;
        let not_rpc = |error| lost(CallError::not_rpc(error, received));
        while let Some(event) = self.session.next(&mut input).map_err(not_rpc)? {
            match event {
                RpcEvent::Reply { exchange, results } => {
                    pendings.answered(work, &exchange, results, self.endpoint.timeout)?;
                }
                // An unexpected reply is ignored, and does not count as progress.
                RpcEvent::Late | RpcEvent::Head { .. } | RpcEvent::Data { .. } => {}
            }
        }
        Ok(())
    }
}

/// Failure of an exchange.
enum Failure<W: Work> {
    /// Affects all calls.
    Connection(CallError),
    /// Affects one call.
    Call(W::Call, CallError),
    /// Error of the work.
    Work(W::Error),
}

fn encode<W: Work>(
    endpoint: &Endpoint,
    work: &W,
    call: &W::Call,
    xid: u32,
    out: &mut Vec<u8>,
) -> u32 {
    let arguments = |out: &mut Writer<'_>| work.encode(call, out);
    endpoint.encode(out, xid, work.procedure(call), arguments, 0)
}
