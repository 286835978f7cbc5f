//! Connection of an SMB2 client, for an event loop: a future in each slot, and the session of their
//! requests.

mod answers;
mod endings;
mod work;

pub use work::{Smb2Language, Smb2Work};

use super::connect_options::ConnectError;
use super::connection_setup::{ConnectionSetup, establish};
use super::fast_path::{self, FastPath};
use super::link::{SmbCallHandle, SmbCalls, SmbClientError, SmbClientErrorKind};
use crate::client::actor::{Actor, ActorTask, ActorTaskState, TaskEnd};
use crate::client::inspection::LazyVerifier;
use crate::client::line_results::{LineEnd, LineResults, PendingLine};
use crate::client::{Client, ConnectionSet, Output, ProtocolError};
use crate::session::smb2::{
    CompletedCompound, CompoundRequest, Established, OutgoingCompound, Smb2Options, Smb2Session,
    SmbStreamError,
};
use filestone_measure::measure::Mismatches;
use filestone_wire::smb2::FileId;
use filestone_workload::completions::CompletionBatch;
use filestone_workload::operation::{Operation, SlotId};
use filestone_workload::output::WriteData;
use filestone_workload::payload::Payload;
use filestone_workload::time::Timestamp;
use std::collections::VecDeque;
use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, PoisonError};
use work::{LEAVE, Leave};

/// Bytes received at a time: the response to a READ of 64 KiB, in memory that stays in the
/// processor's caches.
const RECEIVED_AT_A_TIME: usize = 72 << 10;
/// Bytes of an invalid message shown in errors.
const SHOWN: usize = 64;

/// Options of a client.
#[derive(Debug, Clone)]
pub struct Smb2ClientOptions {
    /// Connection setup of the client.
    pub way: Arc<ConnectionSetup>,
    /// The run's table with the file data; in most runs two periods of the pattern.
    pub pattern: Arc<[u8]>,
    /// Time limit for a response, in nanoseconds.
    pub timeout_nanos: u64,
    /// Position among the client's connections.
    pub lane: ChannelPosition,
}

/// Position of a connection among the channels of its client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChannelPosition {
    /// Number of connections: the client's slots are assigned to them round robin.
    pub count: u32,
    /// The first of the further connections after the client's own, among the connections of the
    /// worker.
    pub first: u32,
    /// The client's own connection, if this is one of the others.
    pub primary: Option<u32>,
}

impl ChannelPosition {
    /// The only connection.
    pub const ALONE: Self = Self {
        count: 1,
        first: 0,
        primary: None,
    };

    /// Returns the slot of this connection that holds the client's slot `slot`.
    const fn own(self, slot: u32) -> u32 {
        slot / self.count
    }
}

/// The current task of a slot.
#[derive(Debug, Clone, Copy)]
struct UnderWay {
    ticket: SlotId,
    line: Option<PendingLine>,
    /// Time of the last input before it began.
    begun: Timestamp,
    usable: Timestamp,
    /// Time when its first request was handed to the operating system.
    sent: Option<Timestamp>,
    calls: u32,
    bytes_sent: u32,
    bytes_received: u32,
}

impl UnderWay {
    fn note(&mut self, exchange: &CompletedCompound) {
        self.calls = self.calls.saturating_add(exchange.calls);
        self.bytes_sent = self.bytes_sent.saturating_add(exchange.bytes_sent);
        self.bytes_received = self.bytes_received.saturating_add(exchange.bytes_received);
    }
}

#[derive(Debug)]
struct Slot {
    actor: Actor<SmbCalls>,
    data: WriteData,
    /// Verifier of data that are read.
    inspection: LazyVerifier,
    under_way: Option<UnderWay>,
    /// End of the pause that the future waits for.
    pause: Option<Timestamp>,
    /// Whether a request is in flight.
    is_calling: bool,
    /// Whether the last operation bypasses its actor.
    is_short: bool,
    /// Number of session losses when its last request was made.
    losses: u32,
    /// Result of a task that needed no request.
    at_once: Option<TaskEnd>,
    /// Whether the response to its last request failed the signature check.
    is_forged: bool,
    /// The last operation.
    last: Option<Last>,
}

/// The last operation of a slot.
#[derive(Debug, Clone, Copy)]
struct Last {
    ticket: SlotId,
    operation: Operation,
}

/// State of a connection.
enum Standing {
    Down,
    /// Setting up the session and the tree.
    Establishing {
        actor: Box<Actor<SmbCalls>>,
        result: Arc<Mutex<Option<Result<Established, ConnectError>>>>,
        /// End of the pause that it waits for.
        pause: Option<Timestamp>,
    },
    Ready,
}

impl fmt::Debug for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Standing::Down => "Down",
            Standing::Establishing { .. } => "Establishing",
            Standing::Ready => "Ready",
        })
    }
}

/// The state apart from the session.
#[derive(Debug)]
struct Inner {
    slots: Box<[Slot]>,
    standing: Standing,
    options: Smb2ClientOptions,
    /// Fast path that bypasses the actors.
    fast_path: FastPath,
    /// Slots with requests that must be sent, in order.
    waiting: VecDeque<u32>,
    /// Slots with requests in the output.
    queued: Vec<u32>,
    /// Lower bound of all pause ends: usually there is no pause, and no slot needs a check.
    alarm: Timestamp,
    /// Whether a task may have ended without a request.
    has_ended: bool,
    books: LineResults,
    lost: Option<SmbClientError>,
    /// Files whose CLOSE was aborted, to be closed later.
    closing: Vec<FileId>,
    /// Error after which nothing can be sent, if there is one.
    dry: Option<SmbStreamError>,
    /// Reason why the connection is unusable, if it is.
    defect: Option<ProtocolError>,
    /// Time of the last input.
    now: Timestamp,
    sent: Vec<u8>,
}

/// A connection of an SMB2 client, with its session.
#[derive(Debug)]
pub struct Smb2Client<L> {
    session: Smb2Session,
    inner: Inner,
    language: PhantomData<fn() -> L>,
}

impl<L: Smb2Language> Smb2Client<L> {
    /// Creates a client over an established session, with an actor in each of its slots.
    pub fn over(
        session: Smb2Session,
        options: Smb2ClientOptions,
        actors: impl IntoIterator<Item = Actor<SmbCalls>>,
    ) -> Self {
        let slot = |actor| Slot {
            actor,
            data: WriteData::PATTERN,
            inspection: LazyVerifier::default(),
            under_way: None,
            pause: None,
            is_calling: false,
            is_short: false,
            losses: 0,
            at_once: None,
            is_forged: false,
            last: None,
        };
        let standing = if session.established().is_some() {
            Standing::Ready
        } else {
            Standing::Down
        };
        let slots: Box<[Slot]> = actors.into_iter().map(slot).collect();
        Self {
            session,
            inner: Inner {
                waiting: VecDeque::with_capacity(slots.len() + 1),
                queued: Vec::with_capacity(slots.len() + 1),
                slots,
                standing,
                fast_path: FastPath::default(),
                options,
                alarm: Timestamp::MAX,
                has_ended: false,
                books: LineResults::default(),
                lost: None,
                closing: Vec::new(),
                dry: None,
                defect: None,
                now: Timestamp::ZERO,
                sent: Vec::new(),
            },
            language: PhantomData,
        }
    }

    /// Returns the options of a session for a client of `slots` slots: one more slot serves
    /// reconnects.
    pub fn session_options(slots: u32, timeout_nanos: u64, frame_max: usize) -> Smb2Options {
        Smb2Options {
            slots: slots + 1,
            timeout_nanos,
            frame_max,
            compounds: true,
            channel: 0,
        }
    }

    /// Returns the session.
    pub fn session(&self) -> &Smb2Session {
        &self.session
    }

    /// Returns the result of its last line.
    pub fn line_end(&self) -> Option<LineEnd> {
        self.inner.books.line_end
    }

    /// Returns the reason why it cannot continue, if it cannot.
    pub fn take_lost(&mut self) -> Option<SmbClientError> {
        self.inner.lost.take()
    }

    /// Returns the mismatches with the load since the last call.
    pub fn take_mismatches(&mut self) -> Mismatches {
        std::mem::take(&mut self.inner.books.mismatches)
    }

    /// Aborts the current tasks: the run ends, or the connection is lost for good.
    pub fn break_off(
        &mut self,
        why: &SmbClientErrorKind,
        now: Timestamp,
        completed: &mut CompletionBatch,
    ) {
        let slots = self.inner.slots.len() as u32;
        for slot in 0..slots {
            self.catch_up(slot);
            self.session.forget(slot);
            self.inner.cut(slot, why.clone(), now, completed);
        }
        self.inner.waiting.clear();
        self.inner.queued.clear();
    }

    /// Hands a fast-path request of a slot, if there is one, to the slot's actor.
    fn catch_up(&mut self, slot: u32) {
        let sent = self.session.sent(slot);
        self.inner.catch_up(slot, sent);
    }

    /// Sends an operation on the fast path if possible; returns whether it did.
    #[inline]
    fn try_fast_path(&mut self, slot: u32, operation: &Operation, out: &mut Output) -> bool {
        let Self { session, inner, .. } = self;
        let losses = inner.options.way.losses();
        let Some(fit) = inner.fast_path.fit(operation, losses) else {
            return false;
        };
        let Some(own) = inner.slots.get_mut(slot as usize) else {
            return false;
        };
        // Requests that wait for credits come first.
        let may_go = matches!(inner.standing, Standing::Ready) && inner.waiting.is_empty();
        if !may_go || !inner.fast_path.put(session, slot, fit, out) {
            return false;
        }
        own.is_short = true;
        true
    }

    /// Sends a new operation of its slot on the fast path if possible; returns whether it did.
    #[inline]
    fn go_short_first(&mut self, ticket: SlotId, operation: Operation, out: &mut Output) -> bool {
        let slot = self.inner.options.lane.own(ticket.slot);
        let goes_short = self.try_fast_path(slot, &operation, out);
        if goes_short && let Some(own) = self.inner.slots.get_mut(slot as usize) {
            own.last = Some(Last { ticket, operation });
        }
        goes_short
    }

    /// Sends all requests for which there are credits; returns whether there were any.
    #[inline]
    fn flush(&mut self, out: &mut Output) -> bool {
        let has_some = !self.inner.closing.is_empty() || !self.inner.waiting.is_empty();
        has_some && self.put_waiting(out)
    }

    fn put_waiting(&mut self, out: &mut Output) -> bool {
        let Self { session, inner, .. } = self;
        let before = out.bytes.len();
        inner
            .closing
            .drain(..)
            .for_each(|file_id| session.close_aside(file_id));
        while let Some(slot) = inner.next_waiting() {
            match session.can_send(slot, inner.chain(slot)) {
                Ok(true) => {}
                Ok(false) => break,
                Err(why) => {
                    inner.dry = Some(why);
                    break;
                }
            }
            inner.waiting.pop_front();
            inner.put(session, slot, out);
        }
        out.bytes.len() > before
    }
}

impl Inner {
    /// Returns the slot used for connection setup.
    fn establisher(&self) -> u32 {
        self.slots.len() as u32
    }

    /// Returns the next slot whose request may be sent.
    fn next_waiting(&self) -> Option<u32> {
        let next = *self.waiting.front()?;
        match self.standing {
            Standing::Ready => Some(next),
            Standing::Establishing { .. } if next == self.establisher() => Some(next),
            Standing::Establishing { .. } | Standing::Down => None,
        }
    }

    fn actor(&mut self, slot: u32) -> Option<&mut Actor<SmbCalls>> {
        if let Some(slot) = self.slots.get_mut(slot as usize) {
            return Some(&mut slot.actor);
        }
        match &mut self.standing {
            Standing::Establishing { actor, .. } => Some(actor),
            Standing::Down | Standing::Ready => None,
        }
    }

    /// Returns the pending chain of a slot.
    fn chain(&self, slot: u32) -> &CompoundRequest {
        let own = self.slots.get(slot as usize).map(|slot| &slot.actor);
        let actor = own.or(match &self.standing {
            Standing::Establishing { actor, .. } => Some(&**actor),
            Standing::Down | Standing::Ready => None,
        });
        actor.map_or(&CompoundRequest::NONE, |actor| &actor.call().procedure)
    }

    fn put(&mut self, session: &mut Smb2Session, slot: u32, out: &mut Output) {
        let mut sent = std::mem::take(&mut self.sent);
        let pattern = &self.options.pattern;
        let own = self.slots.get_mut(slot as usize);
        let (actor, source, asked) = match (own, &mut self.standing) {
            (Some(own), _) => {
                own.is_calling = true;
                // The request has waited for credits, as others wait for a connection: that time
                // belongs to the server, and is not a delay of the client.
                if let Some(under_way) = &mut own.under_way
                    && under_way.sent.is_none()
                    && under_way.begun < self.now
                {
                    under_way.usable = under_way.usable.max(self.now);
                }
                let asked = own.last.map(|last| last.operation);
                (&mut own.actor, &own.data, asked)
            }
            (None, Standing::Establishing { actor, .. }) => {
                (&mut **actor, &WriteData::PATTERN, None)
            }
            (None, Standing::Down | Standing::Ready) => return,
        };
        let asked = asked.filter(|operation| fast_path::command_of(operation).is_some());
        let call = actor.call();
        let sending = OutgoingCompound {
            chain: &call.procedure,
            bodies: &call.arguments,
            data: call.data,
            source,
            pattern,
        };
        let keeps = call.procedure.keeps_sent;
        session.put(slot, &sending, out, &mut sent);
        if let Some(operation) = asked {
            let losses = self.options.way.losses();
            self.fast_path.open(&operation, call, session, losses);
        }
        if keeps {
            std::mem::swap(actor.call_slot().sent_mut(), &mut sent);
        }
        self.sent = sent;
        self.queued.push(slot);
    }

    fn start(&mut self, ticket: SlotId, work: &dyn Smb2Work) {
        let now = self.now;
        let slot = self.options.lane.own(ticket.slot);
        let Some(own) = self.slots.get_mut(slot as usize) else {
            return;
        };
        let payload = work.payload();
        match (payload, work.data()) {
            (Some(Payload::Unit(unit)), _) => own.data.keep_unit(unit),
            (None, Some(data)) => own.data.keep(data),
            (Some(Payload::Reading(_)) | None, _) => {}
        }
        own.inspection.start(payload);
        let task = work.task();
        if let ActorTask::Operation(operation) = task {
            own.last = Some(Last { ticket, operation });
        }
        own.actor.start(task);
        own.is_forged = false;
        own.under_way = Some(UnderWay {
            ticket,
            line: work.line(),
            begun: now,
            usable: Timestamp::ZERO,
            sent: None,
            calls: 0,
            bytes_sent: 0,
            bytes_received: 0,
        });
        let end = self.resume(slot, now);
        self.has_ended |= end.is_some();
        if let Some(own) = self.slots.get_mut(slot as usize) {
            own.at_once = end;
        }
    }

    /// Hands a fast-path request of a slot, sent at `sent`, to the slot's actor if there is one.
    /// Returns whether the actor waits for exactly that request: if the open file was lost, it
    /// sends another one.
    fn catch_up(&mut self, slot: u32, sent: Option<Timestamp>) -> bool {
        let own = self.slots.get_mut(slot as usize);
        let Some(own) = own.filter(|own| own.is_short) else {
            return false;
        };
        own.is_short = false;
        let Some(Last { ticket, operation }) = own.last else {
            return false;
        };
        self.start(ticket, &operation);
        let Some(own) = self.slots.get_mut(slot as usize) else {
            return false;
        };
        let is_asked = self.waiting.back() == Some(&slot)
            && fast_path::is_all_of(own.actor.call(), &operation);
        if is_asked {
            self.waiting.pop_back();
            own.is_calling = true;
            if let Some(under_way) = &mut own.under_way {
                under_way.sent = sent;
            }
        }
        is_asked
    }

    /// Resumes a future; returns the result of its task, if it has ended.
    fn resume(&mut self, slot: u32, now: Timestamp) -> Option<TaskEnd> {
        let progress = self.actor(slot)?.resume(now);
        match progress {
            ActorTaskState::Called => {
                match self.slots.get_mut(slot as usize) {
                    Some(own) => {
                        own.losses = self.options.way.losses();
                        self.waiting.push_back(slot);
                    }
                    None => self.waiting.push_front(slot),
                }
                None
            }
            ActorTaskState::Pausing(nanos) => {
                let end = now.after_nanos(nanos);
                if let Some(pause) = self.pause_mut(slot) {
                    *pause = Some(end);
                    self.alarm = self.alarm.min(end);
                }
                None
            }
            ActorTaskState::Ended(end) => Some(end),
        }
    }

    /// Computes the end of the next pause from all slots.
    fn next_pause(&self) -> Timestamp {
        let pauses = self.slots.iter().filter_map(|slot| slot.pause);
        let own = match self.standing {
            Standing::Establishing { pause, .. } => pause,
            Standing::Down | Standing::Ready => None,
        };
        pauses.chain(own).min().unwrap_or(Timestamp::MAX)
    }

    /// Resumes the futures whose pauses are over.
    fn end_pauses(&mut self, now: Timestamp, completed: &mut CompletionBatch) {
        for slot in 0..=self.establisher() {
            let pause = self.pause_mut(slot);
            let is_over = pause.is_some_and(|pause| pause.take_if(|end| *end <= now).is_some());
            let Some(actor) = self.actor(slot).filter(|_| is_over) else {
                continue;
            };
            actor.call_slot().rested();
            if let Some(end) = self.resume(slot, now) {
                self.end(slot, end, now, completed);
            }
        }
        self.alarm = self.next_pause();
    }

    /// Returns the end of a slot's pause.
    fn pause_mut(&mut self, slot: u32) -> Option<&mut Option<Timestamp>> {
        if let Some(own) = self.slots.get_mut(slot as usize) {
            return Some(&mut own.pause);
        }
        match &mut self.standing {
            Standing::Establishing { pause, .. } => Some(pause),
            Standing::Down | Standing::Ready => None,
        }
    }
}

impl<L: Smb2Language> Client for Smb2Client<L> {
    type Language = L;

    #[inline]
    fn carriers(&self) -> ConnectionSet {
        let ChannelPosition { count, first, .. } = self.inner.options.lane;
        ConnectionSet::with_others(count - 1, first)
    }

    fn beside(&self) -> Option<u32> {
        self.inner.options.lane.primary
    }

    fn submit(&mut self, ticket: SlotId, work: L::WorkItem<'_>, out: &mut Output) {
        let goes_short = L::seen(&work, |work| match work.task() {
            ActorTask::Operation(operation) => self.go_short_first(ticket, operation, out),
            _ => false,
        });
        if goes_short {
            return;
        }
        L::seen(&work, |work| self.inner.start(ticket, work));
        self.flush(out);
    }

    fn end_at_once(&mut self, now: Timestamp, completed: &mut CompletionBatch) {
        if !std::mem::take(&mut self.inner.has_ended) {
            return;
        }
        for slot in 0..self.inner.slots.len() as u32 {
            let own = self.inner.slots.get_mut(slot as usize);
            if let Some(end) = own.and_then(|own| own.at_once.take()) {
                self.inner.end(slot, end, now, completed);
            }
        }
    }

    fn repeat(&mut self, slots: &[u32], out: &mut Output) {
        let mut is_long = false;
        for slot in slots {
            let slot = self.inner.options.lane.own(*slot);
            let own = self.inner.slots.get(slot as usize);
            let Some(Last { ticket, operation }) = own.and_then(|own| own.last) else {
                continue;
            };
            if !self.try_fast_path(slot, &operation, out) {
                self.inner.start(ticket, &operation);
                is_long = true;
            }
        }
        if is_long {
            self.flush(out);
        }
    }

    fn transmitted(&mut self, now: Timestamp) {
        self.session.transmitted(now);
        let Inner { slots, queued, .. } = &mut self.inner;
        for slot in queued.drain(..) {
            let own = slots.get_mut(slot as usize);
            if let Some(under_way) = own.and_then(|own| own.under_way.as_mut()) {
                under_way.sent.get_or_insert(now);
            }
        }
    }

    fn handle_input(
        &mut self,
        bytes: &[u8],
        now: Timestamp,
        completed: &mut CompletionBatch,
    ) -> Result<(), ProtocolError> {
        let Self { session, inner, .. } = self;
        let received = session.receive(bytes, |answered| {
            inner.answered(&answered, now, completed);
        });
        if let Err(error) = received {
            let start = bytes.get(..SHOWN).unwrap_or(bytes).to_vec();
            self.break_off(
                &SmbClientErrorKind::BadMessage(error.clone(), start),
                now,
                completed,
            );
            return Err(error.into());
        }
        if let Some(defect) = self.take_defect() {
            return Err(defect);
        }
        self.settle(now, completed)
    }

    fn answer(&mut self, out: &mut Output) -> bool {
        let has_answered = self.session.answer(out);
        self.flush(out) || has_answered
    }

    fn receive_len(&self, room: usize) -> usize {
        self.session.receive_len(room.min(RECEIVED_AT_A_TIME))
    }

    fn handle_timeout(
        &mut self,
        now: Timestamp,
        out: &mut Output,
        completed: &mut CompletionBatch,
    ) {
        while let Some(slot) = self.session.timed_out(now, out) {
            self.catch_up(slot);
            if slot == self.inner.establisher() {
                // A server closes a connection on a second NEGOTIATE (MS-SMB2, section 3.3.5.3.1):
                // the setup starts again over another connection.
                let why = "it did not answer in time".into();
                self.inner.defect = Some(ProtocolError::NotSetUp(why));
                return;
            }
            self.inner
                .cut(slot, SmbClientErrorKind::TimedOut, now, completed);
        }
        if self.inner.alarm <= now {
            self.inner.end_pauses(now, completed);
        }
        if let Some(why) = self.inner.dry.take() {
            self.break_off(
                &SmbClientErrorKind::BadMessage(why, Vec::new()),
                now,
                completed,
            );
        }
        self.flush(out);
    }

    fn take_defect(&mut self) -> Option<ProtocolError> {
        self.inner.defect.take()
    }

    fn poll_timeout(&self) -> Timestamp {
        if self.inner.dry.is_some() {
            return Timestamp::ZERO;
        }
        self.session.poll_timeout().min(self.inner.alarm)
    }

    fn connected(&mut self, now: Timestamp, out: &mut Output) {
        if matches!(self.inner.standing, Standing::Ready) {
            // The session was established before the run.
            self.flush(out);
            return;
        }
        self.session.reset();
        self.inner.begin_establishing();
        self.inner.now = now;
        let establisher = self.inner.establisher();
        self.inner.resume(establisher, now);
        self.flush(out);
    }

    fn is_ready(&self) -> bool {
        matches!(self.inner.standing, Standing::Ready)
    }

    fn disconnected(&mut self, now: Timestamp, completed: &mut CompletionBatch) {
        for slot in 0..self.inner.establisher() {
            self.catch_up(slot);
        }
        self.inner.fast_path.close();
        self.session.reset();
        self.inner.closing.clear();
        self.inner.options.way.mark_lost();
        self.inner.reset(now, completed);
    }

    fn abort(&mut self, now: Timestamp, completed: &mut CompletionBatch) {
        for slot in 0..self.inner.slots.len() as u32 {
            let own = &self.inner.slots[slot as usize];
            let is_unsent = own.under_way.is_some_and(|way| way.sent.is_none());
            if is_unsent && own.at_once.is_none() {
                self.inner.waiting.retain(|waiting| *waiting != slot);
                self.inner
                    .cut(slot, SmbClientErrorKind::Stopped, now, completed);
            }
        }
    }

    fn mark_failed(&mut self, now: Timestamp, completed: &mut CompletionBatch) {
        self.break_off(&SmbClientErrorKind::Disconnected, now, completed);
    }

    /// Aborts the current tasks, closes all open files and logs off; one completion reports the
    /// end.
    ///
    /// Only the client's own connection logs off; the others just abort and return false.
    fn log_off(&mut self, now: Timestamp, out: &mut Output) -> bool {
        self.break_off(
            &SmbClientErrorKind::Stopped,
            now,
            &mut CompletionBatch::default(),
        );
        self.inner.lost = None;
        self.inner.fast_path.close();
        if self.inner.options.lane.primary.is_some() {
            return false;
        }
        self.inner.start(LEAVE, &Leave);
        self.flush(out);
        true
    }

    fn in_flight(&self) -> u32 {
        self.session.in_flight()
    }

    fn replies(&self) -> u64 {
        self.session.replies()
    }

    fn late_replies(&self) -> u64 {
        self.session.late_replies()
    }
}

impl<L: Smb2Language> Smb2Client<L> {
    /// Handles the end of connection setup, successful or not.
    fn settle(
        &mut self,
        now: Timestamp,
        completed: &mut CompletionBatch,
    ) -> Result<(), ProtocolError> {
        let Standing::Establishing { result, .. } = &self.inner.standing else {
            return Ok(());
        };
        let result = result.lock().unwrap_or_else(PoisonError::into_inner).take();
        match result {
            None => Ok(()),
            Some(Ok(established)) => {
                self.session.establish(established);
                self.inner.standing = Standing::Ready;
                for own in &mut self.inner.slots {
                    if let Some(under_way) = &mut own.under_way
                        && under_way.sent.is_none()
                    {
                        under_way.usable = now;
                    }
                }
                self.inner.reset_strays(now, completed);
                Ok(())
            }
            Some(Err(why)) => Err(ProtocolError::NotSetUp(why.to_string())),
        }
    }
}

impl Inner {
    fn begin_establishing(&mut self) {
        let result = Arc::new(Mutex::new(None));
        let (way, found) = (Arc::clone(&self.options.way), Arc::clone(&result));
        let actor = Actor::new(async move {
            let established = establish(SmbCallHandle::HERE, &way).await;
            *found.lock().unwrap_or_else(PoisonError::into_inner) = Some(established);
            std::future::pending::<()>().await;
        });
        self.standing = Standing::Establishing {
            actor: Box::new(actor),
            result,
            pause: None,
        };
    }
}

impl From<SmbStreamError> for ProtocolError {
    fn from(error: SmbStreamError) -> Self {
        ProtocolError::Refused(error.to_string())
    }
}
