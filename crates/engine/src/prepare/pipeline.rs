//! Many calls in flight on one connection, before and after the measured run.
//!
//! What is called, and what becomes of the answers, is a [`Work`]'s. Not here: anything that
//! is measured; calls one at a time are in `session`.
//!
//! After the loss of the connection, all calls without an answer go out again over another one,
//! as they were. So a call may be carried out twice, and its `Work` is told.

use super::session::name_of;
use crate::control::LOOK_EVERY;
use crate::error::RunError;
use crate::transport::retry::{Backoff, Retry, asks_for_patience};
use crate::transport::rpc::CallError;
use crate::transport::{Dial, first_xid};
use filestone_model::client::nfs3::Credentials;
use filestone_model::plan::TransportKind;
use filestone_wire::nfs3::{PROGRAM, Procedure, VERSION};
use filestone_wire::record::{Assembler, RecordMark};
use filestone_wire::rpc::{AcceptStatus, CallHeader, OpaqueAuth, ReplyBody, ReplyHeader};
use filestone_wire::xdr::{Decode, DecodeError, Encode, Reader, Writer};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use std::collections::{HashMap, VecDeque};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

/// Calls in flight at most.
pub const WINDOW: usize = 64;
/// No further call is encoded while so many bytes wait to be sent.
const UNSENT_MAX: usize = 256 << 10;
/// The largest reply taken: none has file data in it.
const RECORD_MAX: usize = 64 << 10;
/// Bytes received at once.
const RECEIVED_MAX: usize = 64 << 10;

/// Calls to be made, in an order that may depend on the answers.
pub trait Work {
    /// What is remembered of a call until its answer is here.
    type Call: Copy;

    /// The next call; `None` if there is none before another answer, or none at all.
    fn next(&mut self) -> Option<Self::Call>;

    /// Which procedure it calls.
    fn procedure(&self, call: &Self::Call) -> Procedure;

    /// Its arguments.
    fn encode(&self, call: &Self::Call, out: &mut Writer<'_>);

    /// The path that an error names.
    fn about(&self, call: &Self::Call) -> String;

    /// What came of it: the results, undecoded, and whether it was sent more than once. Then
    /// "it is there already" may be the answer to what it did itself.
    fn answered(
        &mut self,
        call: Self::Call,
        results: &[u8],
        was_resent: bool,
    ) -> Result<(), WorkError>;
}

/// Why work cannot go on.
#[derive(Debug)]
pub enum WorkError {
    /// The results cannot be decoded.
    Undecodable(DecodeError),
    /// What the server answered is no good.
    Failed(RunError),
}

impl From<DecodeError> for WorkError {
    fn from(error: DecodeError) -> Self {
        WorkError::Undecodable(error)
    }
}

impl From<RunError> for WorkError {
    fn from(error: RunError) -> Self {
        WorkError::Failed(error)
    }
}

/// A call whose answer is awaited, or that is to be made again.
#[derive(Debug, Clone, Copy)]
struct Pending<C> {
    call: C,
    /// What is left of it, of a call that the server has asked for some with.
    patience: Option<Backoff>,
    was_resent: bool,
}

/// What is on the way.
struct Traffic<C> {
    in_flight: HashMap<u32, Pending<C>>,
    /// What is to be made again, and when.
    later: Vec<(Instant, Pending<C>)>,
    /// What is to be sent again over a new connection, by transaction ID.
    resend: VecDeque<u32>,
    last_answer: Instant,
    /// The attempts to connect since the last answer.
    losses: Option<Backoff>,
}

impl<C: Copy> Traffic<C> {
    fn new() -> Self {
        Self {
            in_flight: HashMap::with_capacity(WINDOW),
            later: Vec::new(),
            resend: VecDeque::new(),
            last_answer: Instant::now(),
            losses: None,
        }
    }

    /// One whose pause is over.
    fn take_due(&mut self) -> Option<Pending<C>> {
        let now = Instant::now();
        let index = self.later.iter().position(|(due, _)| *due <= now)?;
        Some(self.later.swap_remove(index).1)
    }

    /// Makes a call again after a pause; `false` if there have been enough.
    fn postpone(&mut self, mut pending: Pending<C>, timeout: Duration) -> bool {
        let patience = pending
            .patience
            .get_or_insert_with(|| Backoff::patience(timeout));
        let Some(pause) = patience.next_pause() else {
            return false;
        };
        self.later.push((Instant::now() + pause, pending));
        true
    }
}

/// A connection with many calls in flight. After an error it is of no use any more.
#[derive(Debug)]
pub struct Pipeline {
    socket: Option<OwnedFd>,
    dial: Dial,
    retry: Retry,
    credentials: Credentials,
    timeout: Duration,
    xid: u32,
    out: Vec<u8>,
    sent: usize,
    input: Box<[u8]>,
    assembler: Assembler,
}

impl Pipeline {
    /// Connects by TCP, whatever the measured calls travel by: what is lost of a datagram
    /// that makes something cannot be told from what was carried out.
    pub fn connect(
        dial: &Dial,
        credentials: &Credentials,
        timeout: Duration,
        retry: Retry,
    ) -> Result<Self, RunError> {
        let dial = Dial {
            transport: TransportKind::Tcp,
            ..*dial
        };
        let socket = retry
            .connect_first(|| Ok(dial.connect_until(timeout, &retry.sign)?))
            .map_err(|error| RunError::connecting(dial.address, error))?;
        Ok(Self {
            socket: Some(socket),
            dial,
            retry,
            credentials: credentials.clone(),
            timeout,
            xid: first_xid(),
            out: Vec::new(),
            sent: 0,
            input: vec![0; RECEIVED_MAX].into(),
            assembler: Assembler::new(RECORD_MAX),
        })
    }

    /// Makes all calls of `work`, up to [`WINDOW`] at a time, and waits for their answers.
    pub fn run<W: Work>(&mut self, work: &mut W) -> Result<(), RunError> {
        let mut traffic = Traffic::new();
        loop {
            self.retry.sign.go_on()?;
            self.fill(work, &mut traffic);
            let waiting = traffic
                .in_flight
                .values()
                .next()
                .map(|pending| pending.call);
            if waiting.is_none() && traffic.later.is_empty() {
                return Ok(());
            }
            match self.exchange(work, &mut traffic) {
                Ok(()) => {}
                Err(Failure::Connection(source)) => {
                    if let Err(source) = self.connect_again(source, &mut traffic) {
                        let later = traffic.later.first().map(|(_, pending)| pending.call);
                        return Err(match waiting.or(later) {
                            Some(call) => self.error(work, &call, source),
                            None => RunError::Internal("nothing is awaited".into()),
                        });
                    }
                }
                Err(Failure::Work(error)) => return Err(error),
            }
            match waiting {
                // While nothing is asked, no answer is late.
                None => traffic.last_answer = Instant::now(),
                Some(call) if traffic.last_answer.elapsed() >= self.timeout => {
                    return Err(self.error(work, &call, CallError::TimedOut(self.timeout)));
                }
                Some(_) => {}
            }
        }
    }

    fn error<W: Work>(&self, work: &W, call: &W::Call, source: CallError) -> RunError {
        let call = name_of(work.procedure(call), &work.about(call));
        RunError::calling(self.dial.address, call, source)
    }

    /// After the loss of the connection: another one, over which all that has no answer goes
    /// out again.
    fn connect_again<C>(
        &mut self,
        loss: CallError,
        traffic: &mut Traffic<C>,
    ) -> Result<(), CallError> {
        if !loss.is_loss() {
            return Err(loss);
        }
        let backoff = traffic.losses.get_or_insert_with(|| self.retry.backoff());
        let (dial, timeout, sign) = (self.dial, self.timeout, &self.retry.sign);
        let mut lost = self.socket.take();
        let socket = self.retry.connect(backoff, loss, || {
            Ok(match lost.take() {
                Some(lost) => dial.connect_again(lost, timeout, sign)?,
                None => dial.connect_until(timeout, sign)?,
            })
        })?;
        self.socket = Some(socket);
        self.out.clear();
        self.sent = 0;
        self.assembler = Assembler::new(RECORD_MAX);
        for pending in traffic.in_flight.values_mut() {
            pending.was_resent = true;
        }
        traffic.resend = traffic.in_flight.keys().copied().collect();
        traffic.last_answer = Instant::now();
        Ok(())
    }

    /// Encodes calls while there is room for them.
    fn fill<W: Work>(&mut self, work: &mut W, traffic: &mut Traffic<W::Call>) {
        // What is sent goes, even if some of the rest always waits: otherwise everything ever
        // written to a slow server would be kept.
        if self.sent == self.out.len() || self.sent >= UNSENT_MAX {
            self.out.drain(..self.sent);
            self.sent = 0;
        }
        while self.out.len() - self.sent < UNSENT_MAX {
            if let Some(xid) = traffic.resend.pop_front() {
                if let Some(pending) = traffic.in_flight.get(&xid) {
                    self.encode(work, &pending.call, xid);
                }
                continue;
            }
            let is_open = traffic.in_flight.len() + traffic.later.len() < WINDOW;
            let Some(pending) = traffic.take_due().or_else(|| match is_open {
                true => work.next().map(|call| Pending {
                    call,
                    patience: None,
                    was_resent: false,
                }),
                false => None,
            }) else {
                return;
            };
            self.xid = self.xid.wrapping_add(1);
            self.encode(work, &pending.call, self.xid);
            traffic.in_flight.insert(self.xid, pending);
        }
    }

    fn encode<W: Work>(&mut self, work: &W, call: &W::Call, xid: u32) {
        let header = CallHeader {
            xid,
            program: PROGRAM,
            version: VERSION,
            procedure: work.procedure(call).number(),
            credential: self.credentials.to_auth(),
            verifier: OpaqueAuth::NONE,
        };
        let start = RecordMark::open(&mut self.out);
        let mut writer = Writer::new(&mut self.out);
        header.encode(&mut writer);
        work.encode(call, &mut writer);
        RecordMark::close(&mut self.out, start, 0);
    }

    /// Sends and receives what is possible, after waiting for it a while.
    fn exchange<W: Work>(
        &mut self,
        work: &mut W,
        traffic: &mut Traffic<W::Call>,
    ) -> Result<(), Failure> {
        let wanted = match self.sent < self.out.len() {
            true => PollFlags::IN | PollFlags::OUT,
            false => PollFlags::IN,
        };
        let Some(socket) = &self.socket else {
            return Err(Failure::Connection(CallError::Closed));
        };
        let mut ready = [PollFd::new(socket, wanted)];
        let wait = LOOK_EVERY.min(self.timeout);
        let wait = Timespec {
            tv_sec: 0,
            tv_nsec: i64::from(wait.subsec_nanos()),
        };
        match poll(&mut ready, Some(&wait)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(Failure::Connection(error.into())),
        }
        self.send().map_err(Failure::Connection)?;
        self.receive(work, traffic)
    }

    fn send(&mut self) -> Result<(), CallError> {
        let Some(socket) = &self.socket else {
            return Err(CallError::Closed);
        };
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
        traffic: &mut Traffic<W::Call>,
    ) -> Result<(), Failure> {
        let Some(socket) = &self.socket else {
            return Err(Failure::Connection(CallError::Closed));
        };
        let len = match recv(socket, &mut self.input[..], RecvFlags::DONTWAIT) {
            Ok((_, 0)) => return Err(Failure::Connection(CallError::Closed)),
            Ok((_, len)) => len,
            Err(Errno::AGAIN | Errno::INTR) => return Ok(()),
            Err(error) => return Err(Failure::Connection(error.into())),
        };
        let mut input = self.input.get(..len).unwrap_or_default();
        while let Some(record) = self
            .assembler
            .next(&mut input)
            .map_err(|error| Failure::Connection(error.into()))?
        {
            let mut reader = Reader::new(record);
            let header = ReplyHeader::decode(&mut reader)
                .map_err(|error| Failure::Connection(error.into()))?;
            // A reply that nobody asked for is not ours to judge, and no sign of life either.
            let Some(pending) = traffic.in_flight.remove(&header.xid) else {
                continue;
            };
            let (call, was_resent) = (pending.call, pending.was_resent);
            traffic.last_answer = Instant::now();
            traffic.losses = None;
            let answer = match header.body {
                ReplyBody::Accepted(AcceptStatus::Success) => {
                    let results = reader.rest();
                    if asks_for_patience(results) && traffic.postpone(pending, self.timeout) {
                        continue;
                    }
                    match work.answered(call, results, was_resent) {
                        Ok(()) => continue,
                        Err(WorkError::Failed(error)) => return Err(Failure::Work(error)),
                        Err(WorkError::Undecodable(error)) => CallError::Decode(error),
                    }
                }
                ReplyBody::Accepted(status) => CallError::Rejected(status),
                ReplyBody::Denied(status) => CallError::Denied(status),
            };
            return Err(Failure::Work(RunError::Call {
                address: self.dial.address,
                call: name_of(work.procedure(&call), &work.about(&call)),
                source: answer,
            }));
        }
        Ok(())
    }
}

/// How an exchange failed.
enum Failure {
    /// For all calls alike.
    Connection(CallError),
    /// For one of them.
    Work(RunError),
}
