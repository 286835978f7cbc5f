//! One client of a replay: line after line, each when it is due.
//!
//! ```text
//!   script ──line──▶ schedule ──due──▶ wait ──▶ layer ──▶ sample ──▶ mailbox
//! ```
//!
//! A client is sequential, as dbench's are: its one slot is itself. So `ready` is
//! when it is free and the line is due, slot wait is how late the line is against
//! its schedule (the lag), and dispatch delay is what we take between two lines.

use super::layer::{Layer, LayerLost, Repeats, Reply};
use super::mailbox::{End, Ended, ReplayMailbox};
use super::mismatches::Mismatches;
use super::pacing::Schedule;
use crate::processors::ThreadMark;
use crate::time::Time;
use filestone_model::load::{Line, Next, Script, ScriptError, Status};
use filestone_model::measure::processors::ThreadTime;
use filestone_model::measure::replay_record::{ClientKindRecord, ClientRecord};
use filestone_model::measure::{Recorder, Role};
use filestone_model::operation::OpKind;
use filestone_model::plan::{OnMismatch, Pacing};
use filestone_model::time::Moment;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How often another client's sequence point is looked at.
const POINT_NAP: u64 = 1_000_000;

/// Lines that are counted as due and not begun at most, for each client.
const SKIPPED_MAX: u32 = 10_000_000;

/// What all clients of a run share.
#[derive(Debug)]
pub struct Shared<'run> {
    /// Somebody stops the run.
    pub stop: &'run AtomicBool,
    /// Where samples are entered.
    pub recorder: Mutex<Recorder>,
    /// When the measured window opens.
    pub window_start: Moment,
    /// When the last line may begin.
    pub window_end: Moment,
    /// Sequence points, by client (SETSP, WAITSP); `u64::MAX` once it has ended.
    pub points: Vec<AtomicU64>,
    /// Whether clients end after one pass.
    pub run_once: bool,
    /// What a mismatch does.
    pub on_mismatch: OnMismatch,
    /// Reads and writes are cut to so many bytes.
    pub trunc_io_bytes: Option<u64>,
}

impl Shared<'_> {
    /// The recorder, for a moment.
    pub fn recorder(&self) -> MutexGuard<'_, Recorder> {
        // Nothing can panic while it is held.
        self.recorder.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a line that was due and never begun.
    fn skip(&self, kind: OpKind) {
        self.recorder().buffer().skip(kind, Role::Measured, 1);
    }
}

/// Whether a client has more to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// It has.
    Going,
    /// It has come to its end.
    Ended,
}

/// One client.
pub struct Client<'run, L, T> {
    script: Script,
    layer: L,
    state: ClientState<'run, T>,
}

/// Where a client is, and what it counts: all of it but script and layer.
struct ClientState<'run, T> {
    number: u32,
    schedule: Schedule,
    time: T,
    mailbox: &'run ReplayMailbox,
    shared: &'run Shared<'run>,
    tally: Tally,
    /// When it came free.
    free_at: Moment,
    /// The sequence point of another client that it waits for.
    awaited: Option<(u32, u64)>,
}

/// What one client counts by itself.
struct Tally {
    kinds: [KindTally; OpKind::COUNT],
    mismatches: Mismatches,
    data_bytes_in_window: u64,
    passes: u64,
    begun: u64,
    was_stopped: bool,
    lost: Option<String>,
    repeats: Repeats,
    /// What its thread had come to when its first measured operation began.
    opened: Option<ThreadMark>,
}

#[derive(Clone, Copy, Default)]
struct KindTally {
    count: u64,
    sum: u64,
    max: u64,
}

/// How a client ended.
#[derive(Debug)]
pub struct ClientEnd {
    /// For the record.
    pub record: ClientRecord,
    /// Its mismatches by kind.
    pub mismatches: Mismatches,
    /// Passes that it began.
    pub passes: u64,
    /// Operations that it began in the measured window, or should have begun.
    pub begun: u64,
    /// Whether somebody stopped it before its end.
    pub was_stopped: bool,
    /// What its server made it do more than once.
    pub repeats: Repeats,
    /// What its thread came to while it measured.
    pub thread: ThreadTime,
}

impl<'run, L: Layer, T: Time> Client<'run, L, T> {
    /// Client `number`, free from now on.
    pub fn new(
        number: u32,
        script: Script,
        layer: L,
        pacing: Pacing,
        time: T,
        mailbox: &'run ReplayMailbox,
        shared: &'run Shared<'run>,
    ) -> Self {
        let now = time.now();
        Self {
            script,
            layer,
            state: ClientState {
                number,
                schedule: Schedule::new(pacing, now),
                time,
                mailbox,
                shared,
                tally: Tally {
                    kinds: [KindTally::default(); OpKind::COUNT],
                    mismatches: Mismatches::default(),
                    data_bytes_in_window: 0,
                    passes: 1,
                    begun: 0,
                    was_stopped: false,
                    lost: None,
                    repeats: Repeats::default(),
                    opened: None,
                },
                free_at: now,
                awaited: None,
            },
        }
    }

    /// Carries out what comes next.
    pub fn step(&mut self) -> Step {
        if self.state.is_over(self.state.free_at) {
            self.skip_what_was_due();
            return Step::Ended;
        }
        let state = &mut self.state;
        if let Some((client, point)) = state.awaited {
            return state.look_for(client, point);
        }
        let step = match self.script.next() {
            Ok(Next::Operation(line)) => state.carry_out(&mut self.layer, line),
            Ok(Next::Sleep(pause)) => Ok(state.pause(pause)),
            Ok(Next::SetSequencePoint(point)) => Ok(state.publish(point)),
            Ok(Next::WaitSequencePoint { client, point }) => state.wait_for(client, point),
            Ok(Next::EndOfPass) => state.end_pass(&mut self.layer),
            Err(ScriptError { line, what }) => Err(LayerLost {
                what: format!("line {line}: {what}"),
            }),
        };
        step.unwrap_or_else(|lost| state.lose(lost))
    }

    /// Counts the lines of this pass whose stamps came in the window, and that the
    /// client did not come to: without them a server that lags behind looks better
    /// the more it does so. Lines after a pause are due only after it.
    fn skip_what_was_due(&mut self) {
        let ClientState {
            schedule,
            shared,
            tally,
            ..
        } = &mut self.state;
        if shared.stop.load(Ordering::Relaxed) {
            return;
        }
        for _ in 0..SKIPPED_MAX {
            let Ok(Next::Operation(line)) = self.script.next() else {
                return;
            };
            let due = schedule.due_by_stamp(line.stamp);
            let Some(due) = due.filter(|due| *due <= shared.window_end) else {
                return;
            };
            if due >= shared.window_start {
                tally.begun += 1;
                shared.skip(line.action.kind());
            }
        }
    }

    /// Ends it: no more lines. Gives the layer back for the clean-up.
    pub fn finish(self) -> (ClientEnd, L) {
        let ClientState {
            number,
            mailbox,
            shared,
            tally,
            time,
            ..
        } = self.state;
        let now = time.thread_mark();
        mailbox.cpu_nanos.store(now.cpu_ns, Ordering::Relaxed);
        let thread = tally.opened.unwrap_or(now).until(now, number);
        mailbox
            .was_stopped
            .store(tally.was_stopped, Ordering::Relaxed);
        mailbox.finish(time.now());
        if let Some(point) = shared.points.get(number as usize) {
            point.store(u64::MAX, Ordering::Relaxed);
        }
        let record = ClientRecord {
            client: number,
            lines: mailbox.lines.load(Ordering::Relaxed),
            data_bytes: mailbox.data_bytes.load(Ordering::Relaxed),
            data_bytes_in_window: tally.data_bytes_in_window,
            mismatch_count: tally.mismatches.count(),
            lost: tally.lost,
            kinds: kind_records(&tally.kinds),
        };
        let end = ClientEnd {
            record,
            mismatches: tally.mismatches,
            passes: tally.passes,
            begun: tally.begun,
            was_stopped: tally.was_stopped,
            repeats: tally.repeats,
            thread,
        };
        (end, self.layer)
    }
}

impl<T: Time> ClientState<'_, T> {
    /// Whether nothing may begin at `now`: the window has closed, or somebody stops
    /// the run, which is then noted.
    fn is_over(&mut self, now: Moment) -> bool {
        if self.shared.stop.load(Ordering::Relaxed) {
            self.tally.was_stopped = true;
            return true;
        }
        now > self.shared.window_end
    }

    /// Waits for the line's moment, has it carried out, and counts it.
    fn carry_out(&mut self, layer: &mut impl Layer, line: Line<'_>) -> Result<Step, LayerLost> {
        let due = self.schedule.due(line.stamp, self.free_at);
        if due > self.free_at {
            self.time.wait(due.min(self.shared.window_end));
            if self.is_over(due) {
                return Ok(Step::Ended);
            }
        }
        let ready = due.max(self.free_at);
        let action = match self.shared.trunc_io_bytes {
            Some(limit) => line.action.truncated(limit),
            None => line.action,
        };
        self.mailbox.begin(due.nanos());
        let is_measured = due >= self.shared.window_start;
        self.tally.begun += u64::from(is_measured);
        if is_measured && self.tally.opened.is_none() {
            self.tally.opened = Some(self.time.thread_mark());
        }
        let sent = self.time.now().max(ready);
        let answer = layer.carry_out(&action, line.data);
        let done = self.time.now().max(sent);
        self.free_at = done;
        let is_broken_off = answer.as_ref().is_err_and(LayerLost::is_stop);
        if is_broken_off && self.shared.stop.load(Ordering::Relaxed) {
            return Ok(self.break_off(is_measured));
        }
        let repeats = layer.take_repeats();
        self.tally.repeats = self.tally.repeats.and(repeats);
        let nothing = Reply::of(Status::Unknown);
        let (reply, end) = match &answer {
            Ok(reply) => match line.expected.mismatch(&reply.status) {
                None => (reply, End::AsExpected),
                Some(mismatch) => (reply, End::Unexpected(mismatch)),
            },
            // Nobody stopped the run: its window has been over for as long as a call may take.
            Err(_) if is_broken_off => (&nothing, End::TimedOut),
            Err(_) => (&nothing, End::Lost),
        };
        let kind = action.kind();
        let mut ended = Ended::new(kind, end, reply, [due, ready, sent, done]);
        ended.retransmissions = repeats.retransmissions;
        self.schedule.moved(reply.data_bytes);
        let response_time = done.nanos_since(due);
        self.mailbox
            .end(line.number, reply.data_bytes, response_time);
        if is_measured {
            self.tally.kinds[kind.index()].add(done.nanos_since(sent));
            let bytes = &mut self.tally.data_bytes_in_window;
            *bytes = bytes.saturating_add(reply.data_bytes);
        }
        if let End::Unexpected(mismatch) = end {
            self.tally
                .mismatches
                .add(kind, mismatch, &line, reply.status);
        }
        if self.mailbox.push(ended) {
            self.flush();
        }
        if is_broken_off {
            return Ok(Step::Ended);
        }
        answer.and_then(|_| self.after(kind, end, &line))
    }

    /// Whether the client goes on after a line that ended so.
    fn after(&self, kind: OpKind, end: End, line: &Line<'_>) -> Result<Step, LayerLost> {
        match (end, self.shared.on_mismatch) {
            (End::Unexpected(mismatch), OnMismatch::Stop) => Err(LayerLost {
                what: format!(
                    "line {}: {} {} (--on-mismatch stop)",
                    line.number,
                    kind.name(),
                    mismatch.name()
                ),
            }),
            _ => Ok(Step::Going),
        }
    }

    /// Ends with an action that was broken off because somebody stops the run: it
    /// counts as not begun.
    fn break_off(&mut self, is_measured: bool) -> Step {
        self.mailbox.abandon();
        self.tally.begun -= u64::from(is_measured);
        self.tally.was_stopped = true;
        Step::Ended
    }

    /// Enters the samples of this client that wait.
    fn flush(&mut self) {
        let nanos = self.time.processor_nanos();
        self.mailbox.cpu_nanos.store(nanos, Ordering::Relaxed);
        enter(self.mailbox, self.shared, Moment::NEVER);
    }

    /// A pause restarts the clock of stamps and rates.
    fn pause(&mut self, pause: Duration) -> Step {
        let nanos = u64::try_from(pause.as_nanos()).unwrap_or(u64::MAX);
        let until = self.time.now().after_nanos(nanos);
        self.time.wait(until.min(self.shared.window_end));
        self.restart();
        Step::Going
    }

    fn publish(&mut self, point: u64) -> Step {
        if let Some(own) = self.shared.points.get(self.number as usize) {
            own.store(point, Ordering::Relaxed);
        }
        self.restart();
        Step::Going
    }

    /// Waits until that client has come to the point, or beyond, or to its end.
    fn wait_for(&mut self, client: u32, point: u64) -> Result<Step, LayerLost> {
        let Some(other) = self.shared.points.get(client as usize) else {
            return Err(LayerLost {
                what: format!(
                    "WAITSP waits for client {client}, but there are only {}",
                    self.shared.points.len()
                ),
            });
        };
        if client == self.number && other.load(Ordering::Relaxed) < point {
            return Err(LayerLost {
                what: format!("WAITSP waits for point {point} of client {client}, which is itself"),
            });
        }
        Ok(self.look_for(client, point))
    }

    /// Looks once whether that client is there, and naps if not: one that runs on
    /// the same thread must have its turns to come there.
    fn look_for(&mut self, client: u32, point: u64) -> Step {
        let other = self.shared.points.get(client as usize);
        if other.is_none_or(|other| other.load(Ordering::Relaxed) >= point) {
            self.awaited = None;
            self.restart();
            return Step::Going;
        }
        let now = self.time.now();
        if self.is_over(now) {
            return Step::Ended;
        }
        self.awaited = Some((client, point));
        self.time.wait(now.after_nanos(POINT_NAP));
        Step::Going
    }

    fn end_pass(&mut self, layer: &mut impl Layer) -> Result<Step, LayerLost> {
        layer.end_pass()?;
        if self.shared.run_once {
            return Ok(Step::Ended);
        }
        self.tally.passes += 1;
        self.restart();
        Ok(Step::Going)
    }

    fn restart(&mut self) {
        self.free_at = self.time.now();
        self.schedule.restart(self.free_at);
    }

    fn lose(&mut self, lost: LayerLost) -> Step {
        self.tally.lost = Some(lost.what);
        Step::Ended
    }
}

impl KindTally {
    fn add(&mut self, nanos: u64) {
        self.count += 1;
        self.sum = self.sum.saturating_add(nanos);
        self.max = self.max.max(nanos);
    }
}

/// Enters the samples on a mailbox that ended before `until`.
pub fn enter(mailbox: &ReplayMailbox, shared: &Shared<'_>, until: Moment) {
    let mut recorder = shared.recorder();
    mailbox.drain(until, |ended| {
        if recorder.is_measured(ended.due) {
            recorder.schedule(ended.kind, Role::Measured, 1);
        }
        recorder.record_one(&ended.sample());
    });
}

fn kind_records(kinds: &[KindTally; OpKind::COUNT]) -> Vec<ClientKindRecord> {
    OpKind::ALL
        .iter()
        .zip(kinds)
        .filter(|(_, tally)| tally.count > 0)
        .map(|(operation, tally)| ClientKindRecord {
            operation: *operation,
            count: tally.count,
            service_time_mean_ns: tally.sum as f64 / tally.count as f64,
            service_time_max_ns: tally.max,
        })
        .collect()
}

#[cfg(test)]
mod tests;
