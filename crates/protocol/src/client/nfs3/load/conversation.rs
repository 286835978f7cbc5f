//! Current task of a client of a load, independent of the connection that carries its calls.

use super::actor::NfsActor;
use super::outgoing::CallEncoder;
use crate::client::Output;
use crate::client::actor::{ActorTask, ActorTaskState, TaskEnd};
use crate::client::inspection::LazyVerifier;
use crate::client::line_results::{LineResults, PendingLine};
use crate::client::nfs3::sequence::{ActionError, NfsClientError, NfsClientErrorKind, Results};
use crate::session::backoff::{BackoffSchedule, BackoffUntil};
use crate::session::rpc::{JukeboxWaits, Program, RpcExchange, RpcProcedure, Traffic};
use filestone_wire::nfs3;
use filestone_wire::rpc::ReplyBody;
use filestone_workload::completions::CompletionBatch;
use filestone_workload::load::LoadWork;
use filestone_workload::operation::{Completion, Outcome, ReplyInfo, SlotId};
use filestone_workload::output::WriteData;
use filestone_workload::payload::Payload;
use filestone_workload::time::Timestamp;
use std::sync::Arc;
use std::time::Duration;

/// Status, attributes, count, eof and length of a READ reply.
pub(super) const READ_HEAD_MAX: usize = 4 + 4 + 84 + 12;

/// The current line.
#[derive(Debug, Clone, Copy)]
struct UnderWay {
    ticket: SlotId,
    /// The expected result; `None` if the task is not a line.
    line: Option<PendingLine>,
    usable: Timestamp,
    /// Time when its first call was handed to the operating system.
    sent: Option<Timestamp>,
    traffic: Traffic,
    retransmissions: u32,
}

/// A pause.
#[derive(Debug, Clone, Copy)]
struct Pause {
    begin: Timestamp,
    end: Timestamp,
    /// Whether the server caused it by not being ready: the call is then repeated.
    is_busy: bool,
}

/// Results of a READ up to the data, while its data arrive.
#[derive(Debug, Clone, Copy)]
struct ReadHead {
    bytes: [u8; READ_HEAD_MAX],
    len: usize,
    results_len: usize,
    /// Outstanding data bytes, without padding.
    left: usize,
}

/// Returns the length of successful READ results before their data.
fn head_len(results: &[u8]) -> Option<usize> {
    let (status, rest) = results.split_first_chunk::<4>()?;
    if *status != nfs3::Status::OK.0.to_be_bytes() {
        return None;
    }
    Some(match rest.first_chunk::<4>()? {
        [0, 0, 0, 0] => READ_HEAD_MAX - 84,
        _ => READ_HEAD_MAX,
    })
}

/// Returns the data length, from the last number before the data.
fn data_len(head: &[u8]) -> usize {
    let len = head.last_chunk::<4>().copied().unwrap_or_default();
    u32::from_be_bytes(len) as usize
}

/// Returns the data in the results of a READ, if they are included.
fn data_of(results: &[u8]) -> &[u8] {
    let head = head_len(results).and_then(|len| results.split_at_checked(len));
    let Some((head, data)) = head else {
        return &[];
    };
    data.get(..data_len(head)).unwrap_or_default()
}

/// Current task of a client.
#[derive(Debug)]
pub(super) struct ClientTask {
    actor: NfsActor,
    timeout_nanos: u64,
    pattern: Arc<[u8]>,
    data: WriteData,
    under_way: Option<UnderWay>,
    /// Whether the call in the slot must be sent.
    is_wanted: bool,
    pause: Option<Pause>,
    /// Backoff of the current call while the server is not ready.
    busy: Option<BackoffUntil>,
    read_head: Option<ReadHead>,
    inspection: LazyVerifier,
    /// Result of a task that needed no call.
    at_once: Option<TaskEnd>,
    pub books: LineResults,
    pub lost: Option<NfsClientError>,
    pub busy_pauses: JukeboxWaits,
    /// Time of the last input.
    now: Timestamp,
}

impl ClientTask {
    pub fn new(actor: NfsActor, pattern: Arc<[u8]>, timeout_nanos: u64) -> Self {
        Self {
            actor,
            timeout_nanos,
            pattern,
            data: WriteData::default(),
            under_way: None,
            is_wanted: false,
            pause: None,
            busy: None,
            read_head: None,
            inspection: LazyVerifier::default(),
            at_once: None,
            books: LineResults::default(),
            lost: None,
            busy_pauses: JukeboxWaits::default(),
            now: Timestamp::ZERO,
        }
    }

    /// Starts a work item, up to its first call; returns whether it needs one.
    pub fn start(&mut self, ticket: SlotId, work: &LoadWork<'_>) -> bool {
        let line = match work {
            LoadWork::Line(line) => {
                match line.payload {
                    None => self.data.keep(line.data),
                    Some(Payload::Unit(unit)) => self.data.keep_unit(unit),
                    Some(Payload::Reading(_)) => {}
                }
                self.inspection.start(line.payload);
                self.actor.start(ActorTask::Action(&line.action));
                Some(PendingLine::of(line))
            }
            LoadWork::EndPass => {
                self.actor.start(ActorTask::EndPass);
                None
            }
            LoadWork::RemoveTree => {
                self.actor.start(ActorTask::RemoveTree);
                None
            }
        };
        self.under_way = Some(UnderWay {
            ticket,
            line,
            usable: Timestamp::ZERO,
            sent: None,
            traffic: Traffic::default(),
            retransmissions: 0,
        });
        self.at_once = self.resume(self.now);
        self.at_once.is_none()
    }

    /// Ends a task that needed no call, once the time is known.
    pub fn end_at_once(&mut self, now: Timestamp, completed: &mut CompletionBatch) {
        if let Some(end) = self.at_once.take() {
            self.end(end, now, completed);
        }
    }

    /// Resumes the future; returns the result of its task, if it has ended.
    fn resume(&mut self, now: Timestamp) -> Option<TaskEnd> {
        self.now = now;
        match self.actor.resume(now) {
            ActorTaskState::Called => self.is_wanted = true,
            ActorTaskState::Pausing(nanos) => {
                self.pause = Some(Pause {
                    begin: now,
                    end: now.after_nanos(nanos),
                    is_busy: false,
                });
            }
            ActorTaskState::Ended(end) => return Some(end),
        }
        None
    }

    /// Returns whether a call for a connection of another program than `program` is pending.
    pub fn wants_call_of_other(&self, program: Program) -> bool {
        self.is_wanted && self.wanted_program() != program
    }

    /// Returns whether a call of `program` is pending, and marks it as sent.
    pub fn take_wanted(&mut self, program: Program) -> bool {
        let is_ours = self.is_wanted && self.wanted_program() == program;
        if is_ours {
            self.is_wanted = false;
        }
        is_ours
    }

    fn wanted_program(&self) -> Program {
        self.actor.call().procedure.program
    }

    /// Appends the call in the slot to the output.
    pub fn put(&self, outgoing: &CallEncoder, xid: u32, out: &mut Output) -> u32 {
        outgoing.put(self.actor.call(), xid, &self.data, &self.pattern, out)
    }

    pub fn future_len(&self) -> usize {
        self.actor.future_len()
    }

    /// Returns the time when a timer must resume it.
    pub fn alarm(&self) -> Timestamp {
        self.pause.map_or(Timestamp::MAX, |pause| pause.end)
    }

    pub fn transmitted(&mut self, now: Timestamp) {
        if let Some(under_way) = &mut self.under_way {
            under_way.sent.get_or_insert(now);
        }
    }

    pub fn note_retransmission(&mut self) {
        if let Some(under_way) = &mut self.under_way {
            under_way.retransmissions += 1;
        }
    }

    /// Handles the availability of the connection that a call waited for: a call that was sent
    /// before goes out again.
    pub fn note_usable(&mut self, now: Timestamp) {
        match &mut self.under_way {
            Some(under_way) if under_way.sent.is_none() => under_way.usable = now,
            _ => self.note_retransmission(),
        }
    }

    /// Handles the reply to the call.
    pub fn answered(
        &mut self,
        exchange: &RpcExchange<()>,
        results: Result<&[u8], ReplyBody>,
        now: Timestamp,
        completed: &mut CompletionBatch,
    ) {
        match results {
            Ok(bytes) => {
                let len = bytes.len();
                self.take_results(exchange, Results { bytes, len }, now, completed);
            }
            Err(refusal) => {
                self.note(exchange);
                self.cut(NfsClientErrorKind::Refused(refusal), now, completed);
            }
        }
    }

    fn note(&mut self, exchange: &RpcExchange<()>) {
        if let Some(under_way) = &mut self.under_way {
            under_way.traffic.add(exchange);
        }
    }

    fn take_results(
        &mut self,
        exchange: &RpcExchange<()>,
        results: Results<'_>,
        now: Timestamp,
        completed: &mut CompletionBatch,
    ) {
        self.note(exchange);
        if self.actor.call().procedure.is_busy(results.bytes) && self.rest(now) {
            return;
        }
        self.busy = None;
        if let Some(verifier) = self.inspection.verifier() {
            if self.actor.call().kept_max == READ_HEAD_MAX {
                verifier.see(data_of(results.bytes));
            }
            verifier.keep();
        }
        self.actor.call_slot().answer(results);
        if let Some(end) = self.resume(now) {
            self.end(end, now, completed);
        }
    }

    /// Pauses before the call is repeated because the server is not ready; returns false if the
    /// time limit does not allow it.
    fn rest(&mut self, now: Timestamp) -> bool {
        let limit = self.timeout_nanos;
        let begin = || BackoffUntil::new(BackoffSchedule::BUSY, now, limit);
        let Some(nanos) = self.busy.get_or_insert_with(begin).next_nanos(now) else {
            return false;
        };
        self.now = now;
        self.pause = Some(Pause {
            begin: now,
            end: now.after_nanos(nanos),
            is_busy: true,
        });
        true
    }

    /// Ends the pause.
    pub fn rested(&mut self, now: Timestamp, completed: &mut CompletionBatch) {
        let Some(pause) = self.pause.take_if(|pause| pause.end <= now) else {
            return;
        };
        if pause.is_busy {
            self.note_busy(pause, now);
            self.is_wanted = true;
            return;
        }
        self.actor.call_slot().rested();
        if let Some(end) = self.resume(now) {
            self.end(end, now, completed);
        }
    }

    fn note_busy(&mut self, pause: Pause, now: Timestamp) {
        let nanos = now.nanos_since(pause.begin);
        self.busy_pauses.note(Duration::from_nanos(nanos));
    }

    /// Examines the beginning of READ results; returns the length before the data, if the data need
    /// not be collected.
    pub fn begin_data(&mut self, results: &[u8], results_len: usize) -> Option<usize> {
        let is_read = self.actor.call().kept_max == READ_HEAD_MAX;
        let len = head_len(results).filter(|_| is_read)?;
        let mut bytes = [0; READ_HEAD_MAX];
        bytes.get_mut(..len)?.copy_from_slice(results.get(..len)?);
        self.read_head = Some(ReadHead {
            bytes,
            len,
            results_len,
            left: data_len(bytes.get(..len)?),
        });
        Some(len)
    }

    /// Handles the next data of a READ.
    pub fn see(&mut self, data: &[u8]) {
        let (Some(head), Some(verifier)) = (&mut self.read_head, self.inspection.verifier()) else {
            return;
        };
        let data = data.get(..head.left).unwrap_or(data);
        head.left -= data.len();
        verifier.see(data);
    }

    /// Handles the end of the data of a READ.
    pub fn end_data(
        &mut self,
        exchange: &RpcExchange<()>,
        now: Timestamp,
        completed: &mut CompletionBatch,
    ) {
        if let Some(head) = self.read_head.take() {
            let results = Results {
                bytes: head.bytes.get(..head.len).unwrap_or_default(),
                len: head.results_len,
            };
            self.take_results(exchange, results, now, completed);
        }
    }

    /// Drops the received part of a reply. The rest will not come: the connection is lost, or the
    /// call is aborted. The data of that part arrive again if the call is repeated.
    pub fn drop_partial_reply(&mut self) {
        self.read_head = None;
        if let Some(verifier) = self.inspection.verifier() {
            verifier.rewind();
        }
    }

    /// Aborts the current call or pause and ends the task.
    pub fn cut(
        &mut self,
        why: NfsClientErrorKind,
        now: Timestamp,
        completed: &mut CompletionBatch,
    ) {
        self.drop_partial_reply();
        if let Some(pause) = self.pause.take()
            && pause.is_busy
        {
            self.note_busy(pause, now);
        }
        (self.busy, self.is_wanted) = (None, false);
        if self.under_way.is_none() {
            return;
        }
        if self.at_once.is_some() {
            return self.end_at_once(now, completed);
        }
        let procedure = self.actor.call().procedure;
        self.lost = Some(NfsClientError {
            procedure: match why {
                NfsClientErrorKind::Stopped => RpcProcedure::NONE,
                _ => procedure,
            },
            reason: why,
        });
        loop {
            self.actor.call_slot().cut();
            if let ActorTaskState::Ended(end) = self.actor.resume(now) {
                return self.end(end, now, completed);
            }
        }
    }

    /// Returns unsent work as skipped; returns whether there was any.
    pub fn skip(&mut self, now: Timestamp, completed: &mut CompletionBatch) -> bool {
        let is_unsent = self
            .under_way
            .is_some_and(|under_way| under_way.sent.is_none());
        if is_unsent && self.at_once.is_none() {
            self.cut(NfsClientErrorKind::Stopped, now, completed);
        }
        is_unsent
    }

    fn end(&mut self, end: TaskEnd, now: Timestamp, completed: &mut CompletionBatch) {
        let Some(under_way) = self.under_way.take() else {
            return;
        };
        let is_lost = end.answer == Err(ActionError::ClientFailed);
        if is_lost && let Some(lost) = self.actor.call_slot().take_lost() {
            self.lost = Some(lost);
        }
        let status = match end.answer {
            Ok(status) | Err(ActionError::Status(status)) => Some(status),
            Err(ActionError::ClientFailed | ActionError::ConnectionReset) => None,
        };
        let fault = self.inspection.take_fault();
        let status = status.map(|status| status.with_fault(fault));
        let mismatch = under_way
            .line
            .and_then(|line| self.books.note(line, status));
        let outcome = match (status, mismatch) {
            (None, _) => self.outcome_of_lost(&under_way),
            (Some(_), None) => Outcome::Ok,
            (Some(status), Some(mismatch)) => Outcome::Failed(status.failure(mismatch)),
        };
        let traffic = if is_lost {
            Traffic::default()
        } else {
            under_way.traffic
        };
        completed.push(Completion {
            ticket: under_way.ticket,
            outcome,
            answer: ReplyInfo::Plain,
            usable: under_way.usable,
            // An unsent call has no time.
            sent: under_way.sent.unwrap_or(Timestamp::MAX),
            done: now,
            calls: traffic.calls,
            retransmissions: under_way.retransmissions,
            bytes_sent: traffic.bytes_sent,
            bytes_received: traffic.bytes_received,
            data_bytes: if is_lost {
                0
            } else {
                u32::try_from(end.moved).unwrap_or(u32::MAX)
            },
        });
    }

    fn outcome_of_lost(&self, under_way: &UnderWay) -> Outcome {
        match self.lost.as_ref().map(|lost| &lost.reason) {
            Some(NfsClientErrorKind::Stopped) if under_way.sent.is_none() => Outcome::Skipped,
            Some(NfsClientErrorKind::Stopped) => Outcome::TimedOut,
            _ => Outcome::Disconnected,
        }
    }
}
