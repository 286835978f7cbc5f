//! Processing of a call on one thread: the service, counters, faults and the queue.
//!
//! Without faults and queue a call goes directly to [`Service`]. Otherwise the reply is created
//! separately, modified by the fault rules, and returned with the time at which it is due.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use filestone_protection::DecryptBuffer;

use crate::counters::ThreadCounters;
use crate::dispatch::{CallTransport, Caller, Endpoints, Service};
use crate::faults::{FaultPlan, FaultSource, FramingKind, RequestKind};
use crate::queue::Queue;
use crate::reply::ReplySink;
use crate::smb2::{
    self, CloseConnection, CrossConnectionEvent, Envelope, FaultAction, Frames, Moment, SmbService,
};

/// Outcome of a call.
#[derive(Debug)]
pub enum CallOutcome {
    /// The reply, if there is one, is in the sink.
    Answered,
    /// The reply is due at this time after the start.
    Later(Duration, Box<ReplySink>),
    /// The connection must be closed.
    Disconnect,
}

/// Time before a queued reply is due at which its thread stops sleeping and polls: the kernel wakes
/// a sleeping thread that much late, and the delay would add to the service time.
const SPIN: Duration = Duration::from_micros(50);

/// Faults and queue, which modify and delay replies.
#[derive(Debug)]
pub struct DelayedPath {
    faults: Option<FaultSource>,
    /// Shared by all threads.
    queue: Option<Arc<Mutex<Queue>>>,
}

impl DelayedPath {
    /// Returns `None` without faults and queue, so that the common case costs one check.
    pub fn new(faults: Option<FaultSource>, queue: Option<Arc<Mutex<Queue>>>) -> Option<Self> {
        let is_any = faults.is_some() || queue.is_some();
        is_any.then_some(Self { faults, queue })
    }

    /// Returns the end of service of a call that arrived at `arrival`.
    fn queued_until(&self, arrival: Duration) -> Option<Duration> {
        let mut queue = self
            .queue
            .as_ref()?
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        Some(queue.enqueue(arrival))
    }
}

/// Answers calls for one thread.
#[derive(Debug)]
pub struct Responder {
    service: Arc<Service>,
    smb: Option<Arc<SmbService>>,
    pub tally: Arc<ThreadCounters>,
    delayed_path: Option<Box<DelayedPath>>,
    start: Instant,
    now: u64,
    /// Time of the last receive since the start: all calls in the data had arrived by then.
    arrival: Duration,
    /// Buffers for the last decrypted messages and for signatures.
    opened: DecryptBuffer,
    room: Vec<u8>,
}

impl Responder {
    pub fn new(
        service: Arc<Service>,
        smb: Option<Arc<SmbService>>,
        tally: Arc<ThreadCounters>,
        delayed_path: Option<DelayedPath>,
        start: Instant,
    ) -> Self {
        Self {
            service,
            smb,
            tally,
            delayed_path: delayed_path.map(Box::new),
            start,
            now: 0,
            arrival: Duration::ZERO,
            opened: DecryptBuffer::default(),
            room: Vec::new(),
        }
    }

    /// Reads the clock once for all data of one receive.
    #[inline]
    pub fn refresh_clock(&mut self) {
        self.now = crate::clock::now();
    }

    pub fn service(&self) -> &Service {
        &self.service
    }

    /// Stores the time of a receive, for the queue and for timeouts of SMB.
    #[inline]
    pub fn note_arrival(&mut self) {
        if self.delayed_path.is_some() || self.smb.is_some() {
            self.arrival = self.start.elapsed();
        }
    }

    /// Returns whether replies may be delayed or modified.
    pub fn has_detour(&self) -> bool {
        self.delayed_path.is_some()
    }

    /// Returns the time before a reply is due during which the thread polls rather than sleeps.
    pub fn spin(&self) -> Duration {
        let delayed_path = self.delayed_path.as_ref();
        let has_queue = delayed_path.is_some_and(|delayed_path| delayed_path.queue.is_some());
        if has_queue { SPIN } else { Duration::ZERO }
    }

    /// Returns the time since the server's start, which rules and delays use.
    pub fn since_start(&self) -> Duration {
        self.start.elapsed()
    }

    /// Returns the remaining time of a freeze of the whole server.
    pub fn frozen_for(&self) -> Option<Duration> {
        let faults = self.delayed_path.as_ref()?.faults.as_ref()?;
        let now = self.since_start();
        faults
            .frozen_until(now)
            .map(|until| until.saturating_sub(now))
    }

    /// Answers one call.
    #[inline]
    pub fn respond(&mut self, call: &[u8], ends: &Endpoints, sink: &mut ReplySink) -> CallOutcome {
        if self.delayed_path.is_some() {
            return self.respond_by_detour(call, ends, sink);
        }
        self.service.serve(call, self.caller(ends), sink);
        CallOutcome::Answered
    }

    #[inline]
    fn caller<'a>(&'a self, ends: &'a Endpoints) -> Caller<'a> {
        Caller {
            ends,
            tally: &self.tally,
            now: self.now,
            loops: false,
        }
    }

    /// Creates the state of an SMB connection, if SMB is served.
    pub fn connect(&self, place: smb2::ConnectionId) -> Option<Box<smb2::SmbConnection>> {
        let service = self.smb.as_ref()?;
        Some(Box::new(service.connect(place)))
    }

    /// Answers a frame of SMB.
    pub fn respond_to_frame(
        &mut self,
        frame: &[u8],
        connection: &mut smb2::SmbConnection,
        sink: &mut ReplySink,
    ) -> CallOutcome {
        // Taken out temporarily: reference counting would cost more.
        let Some(service) = self.smb.take() else {
            return CallOutcome::Disconnect;
        };
        let mut opened = std::mem::take(&mut self.opened);
        let outcome = match smb2::open(connection, frame, &mut opened) {
            Ok(envelope) => {
                let messages = match envelope {
                    Envelope::Sealed(_) => opened.messages(),
                    Envelope::Plain | Envelope::Smb1 => frame,
                };
                self.respond_to_messages(&service, envelope, messages, connection, sink)
            }
            Err(CloseConnection) => CallOutcome::Disconnect,
        };
        self.opened = opened;
        self.smb = Some(service);
        outcome
    }

    fn respond_to_messages(
        &mut self,
        service: &SmbService,
        envelope: Envelope,
        messages: &[u8],
        connection: &mut smb2::SmbConnection,
        sink: &mut ReplySink,
    ) -> CallOutcome {
        let command = self.delayed_path.as_ref().and_then(|_| {
            let is_smb2 = envelope != Envelope::Smb1;
            smb2::command_of(messages).filter(|_| is_smb2)
        });
        let (Some(command), Some(delayed_path)) = (command, self.delayed_path.as_mut()) else {
            let mut frames = self.frames(service, connection);
            return outcome_of(frames.answer(envelope, messages, FaultAction::default(), sink));
        };
        let since_start = self.start.elapsed();
        let faults = delayed_path.faults.as_mut();
        let verdict = faults.map_or_else(FaultPlan::default, |faults| {
            faults.evaluate(RequestKind::Command(command), since_start)
        });
        if verdict.is_disconnected {
            return CallOutcome::Disconnect;
        }
        let is_queued = smb2::is_work(command) && !verdict.is_dropped;
        let queued_until = is_queued
            .then(|| delayed_path.queued_until(self.arrival))
            .flatten();
        let fault_action = FaultAction {
            session_end: verdict.session_end,
            refusal: verdict.error_of_smb,
            loops: verdict.is_looped,
            no_credits: verdict.has_no_credits,
            is_stuck: verdict.is_pending,
            is_dropped: verdict.is_dropped,
        };
        let mut reply = Box::<ReplySink>::default();
        let mut frames = self.frames(service, connection);
        if frames
            .answer(envelope, messages, fault_action, &mut reply)
            .is_err()
        {
            return CallOutcome::Disconnect;
        }
        self.spend(&verdict);
        self.spoil(verdict, FramingKind::Frame, &mut reply);
        if queued_until.is_none() && verdict.delay.is_zero() {
            sink.append(&mut reply);
            return CallOutcome::Answered;
        }
        CallOutcome::Later(queued_until.unwrap_or(since_start) + verdict.delay, reply)
    }

    /// Processes an event from another SMB connection.
    pub fn notice(
        &mut self,
        connection: &mut smb2::SmbConnection,
        notice: CrossConnectionEvent,
        sink: &mut ReplySink,
    ) -> CallOutcome {
        let Some(service) = self.smb.clone() else {
            return CallOutcome::Disconnect;
        };
        outcome_of(self.frames_now(&service, connection).notice(notice, sink))
    }

    /// Retries requests that have waited too long for a break.
    pub fn retry_overdue(
        &mut self,
        connection: &mut smb2::SmbConnection,
        sink: &mut ReplySink,
    ) -> CallOutcome {
        let Some(service) = self.smb.clone() else {
            return CallOutcome::Disconnect;
        };
        outcome_of(self.frames_now(&service, connection).retry_overdue(sink))
    }

    /// Releases all state of a closed connection.
    pub fn end(&mut self, connection: &mut smb2::SmbConnection) {
        if let Some(service) = self.smb.clone() {
            self.frames_now(&service, connection).end();
        }
    }

    /// Returns the frames for work that no received bytes have triggered.
    fn frames_now<'x>(
        &'x mut self,
        service: &'x SmbService,
        connection: &'x mut smb2::SmbConnection,
    ) -> Frames<'x> {
        self.arrival = self.start.elapsed();
        self.frames(service, connection)
    }

    fn frames<'x>(
        &'x mut self,
        service: &'x SmbService,
        connection: &'x mut smb2::SmbConnection,
    ) -> Frames<'x> {
        let moment = Moment {
            now: self.now,
            since_start: self.arrival,
        };
        service.frames(connection, &self.tally, moment, &mut self.room)
    }

    #[cold]
    fn respond_by_detour(
        &mut self,
        call: &[u8],
        ends: &Endpoints,
        sink: &mut ReplySink,
    ) -> CallOutcome {
        let since_start = self.since_start();
        let procedure = Service::procedure_of(call);
        let (Some(procedure), Some(delayed_path)) = (procedure, self.delayed_path.as_mut()) else {
            self.service.serve(call, self.caller(ends), sink);
            return CallOutcome::Answered;
        };
        let faults = delayed_path.faults.as_mut();
        let verdict = faults.map_or_else(FaultPlan::default, |faults| {
            faults.evaluate(RequestKind::Procedure(procedure), since_start)
        });
        if verdict.is_disconnected {
            return CallOutcome::Disconnect;
        }
        if verdict.is_dropped {
            return CallOutcome::Answered;
        }
        let queued_until = delayed_path.queued_until(self.arrival);
        let mut reply = Box::<ReplySink>::default();
        match verdict.error {
            Some(status) => self.service.refuse(call, status, &self.tally, &mut reply),
            None => {
                let loops = verdict.is_looped;
                let caller = self.caller(ends);
                self.service
                    .serve(call, Caller { loops, ..caller }, &mut reply);
            }
        }
        self.spend(&verdict);
        // A datagram has no mark.
        let has_mark = ends.transport == CallTransport::Tcp;
        let verdict = FaultPlan {
            is_oversize: verdict.is_oversize && has_mark,
            is_missigned: false,
            ..verdict
        };
        self.spoil(verdict, FramingKind::Record, &mut reply);
        if queued_until.is_none() && verdict.delay.is_zero() {
            sink.append(&mut reply);
            return CallOutcome::Answered;
        }
        CallOutcome::Later(queued_until.unwrap_or(since_start) + verdict.delay, reply)
    }

    fn spend(&mut self, verdict: &FaultPlan) {
        let delayed_path = self.delayed_path.as_mut();
        if let Some(faults) = delayed_path.and_then(|delayed_path| delayed_path.faults.as_mut()) {
            faults.spend(verdict);
        }
    }

    fn spoil(&mut self, verdict: FaultPlan, shape: FramingKind, reply: &mut ReplySink) {
        let is_spoilt = verdict.truncate > 0
            || verdict.corrupt > 0
            || verdict.is_oversize
            || verdict.is_missigned;
        if reply.is_empty() || !(is_spoilt || verdict.is_unasked) {
            return;
        }
        let mut bytes = reply.to_vec();
        reply.clear();
        if verdict.is_unasked {
            let mut stranger = bytes.clone();
            // Callers count their xids up, so the complement is most likely not in use.
            for byte in stranger.get_mut(shape.identity()).into_iter().flatten() {
                *byte = !*byte;
            }
            reply.extend(&stranger);
        }
        let delayed_path = self.delayed_path.as_mut();
        if let Some(faults) = delayed_path.and_then(|delayed_path| delayed_path.faults.as_mut()) {
            faults.spoil(&verdict, shape, &mut bytes);
        }
        reply.extend(&bytes);
    }
}

fn outcome_of(answered: Result<(), CloseConnection>) -> CallOutcome {
    match answered {
        Ok(()) => CallOutcome::Answered,
        Err(CloseConnection) => CallOutcome::Disconnect,
    }
}
