//! A load file as a workload of one slot: line after line, each when it is due.
//!
//! A client of a load is sequential, as dbench's are: it has a single slot. Therefore `ready` is
//! the time when the client is free and the line is due, slot wait is the delay of the line against
//! its schedule (the lag), and dispatch delay is the time that filestone takes between two lines.

mod ledger;
mod shared;

pub use ledger::ClientCounters;
pub use shared::{ReplayClientStats, SharedLoad};

use crate::workload::line_source::{ClientTotals, LineSource};
use crate::workload::{Next, Workload};
use filestone_control::arrivals::Pace;
use filestone_plan::plan::{OnMismatch, Pacing};
use filestone_workload::load::{Lines, LoadWork, Peek, Script, is_left_out_of_reading};
use filestone_workload::operation::{Completion, OpKind, Outcome};
use filestone_workload::recording::{Role, Sample};
use filestone_workload::time::Timestamp;
use std::sync::Arc;
use std::time::Duration;

/// Polling interval for another client's sequence point, in nanoseconds.
const POINT_NAP: u64 = 1_000_000;

/// Maximum number of consecutive skipped lines before other clients get their turn.
const LEFT_OUT_AT_ONCE: u32 = 10_000;

/// Maximum number of lines counted as due and not begun, per client.
const SKIPPED_MAX: u32 = 10_000_000;

/// A client of a load.
#[derive(Debug)]
pub struct LoadFile {
    number: u32,
    script: Script,
    pace: Pace,
    is_paced: bool,
    shared: Arc<SharedLoad>,
    state: State,
    /// Current line.
    line: u32,
    /// Whether its connection was closed for good before the client was finished.
    is_given_up: bool,
    ledger: ClientCounters,
}

/// State of the client between two lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Executing the script.
    Going,
    /// Paused until this time.
    Pausing(Timestamp),
    /// Waiting for a sequence point of another client.
    Waiting { client: u32, point: u64 },
    /// Ending an iteration.
    EndingPass,
    /// Finished.
    Ended,
}

impl LoadFile {
    /// Creates client `number`, which follows `script`.
    pub fn new(number: u32, script: Script, pacing: Pacing, shared: Arc<SharedLoad>) -> Self {
        Self {
            number,
            script,
            pace: Pace::new(pacing, Timestamp::ZERO),
            is_paced: pacing != Pacing::Closed,
            shared,
            state: State::Going,
            line: 0,
            is_given_up: false,
            ledger: ClientCounters::new(number),
        }
    }

    /// Finishes the client: other clients no longer wait for its sequence points.
    fn end(&mut self) {
        self.state = State::Ended;
        self.shared.publish(self.number, u64::MAX);
    }

    /// Finishes the client early.
    fn mark_lost(&mut self, why: String) {
        self.ledger.record.lost = Some(why);
        self.end();
    }

    /// Restarts the time base of stamps and rates at `now`.
    fn restart(&mut self, now: Timestamp) {
        self.pace.restart(now);
        self.state = State::Going;
    }

    /// Advances to the next line, handling other script items. `None` means the line is due now or
    /// earlier; an error is the value to return instead of a line.
    fn start_line(&mut self, now: Timestamp) -> Result<Option<Timestamp>, Next<LoadWork<'static>>> {
        let mut left_out = 0;
        loop {
            if left_out >= LEFT_OUT_AT_ONCE {
                return Err(Next::NotBefore(now));
            }
            match self.state {
                State::Ended => return Err(Next::Idle),
                State::Pausing(until) if now < until => return Err(Next::NotBefore(until)),
                State::Pausing(_) => self.restart(now),
                State::Waiting { client, point } => {
                    if !self.shared.has_come(client, point) {
                        return Err(Next::NotBefore(now.after_nanos(POINT_NAP)));
                    }
                    self.restart(now);
                }
                State::EndingPass if self.shared.run_once => self.end(),
                State::EndingPass => {
                    self.ledger.passes += 1;
                    self.restart(now);
                }
                State::Going => match self.script.ahead() {
                    Peek::Operation(_) if self.leaves_out() => left_out += 1,
                    Peek::Operation(stamp) => return self.is_due(stamp, now),
                    Peek::Sleep(pause) => self.state = State::Pausing(now.after(pause)),
                    Peek::SetSequencePoint(point) => {
                        self.shared.publish(self.number, point);
                        self.restart(now);
                    }
                    Peek::WaitSequencePoint { client, point } => self.wait_for(client, point),
                    Peek::EndOfPass => {
                        self.state = State::EndingPass;
                        return Err(Next::Background(LoadWork::EndPass));
                    }
                },
            }
        }
    }

    /// Skips the next line if it modifies something and the run is read-only; returns whether it
    /// did.
    #[inline]
    fn leaves_out(&mut self) -> bool {
        self.shared.read_only && self.leaves_out_of_reading()
    }

    #[cold]
    fn leaves_out_of_reading(&mut self) -> bool {
        let kind = self.script.kind_ahead();
        let Some(kind) = kind.filter(|kind| is_left_out_of_reading(*kind)) else {
            return false;
        };
        // Later line numbers depend on it; an error in a skipped line does not matter.
        let _ = self.script.line();
        self.ledger.leave_out(kind);
        true
    }

    fn is_due(
        &self,
        stamp: Option<Duration>,
        now: Timestamp,
    ) -> Result<Option<Timestamp>, Next<LoadWork<'static>>> {
        if !self.is_paced {
            return Ok(None);
        }
        match self.pace.due(stamp) {
            Some(due) if due > now => Err(Next::NotBefore(due)),
            due => Ok(due),
        }
    }

    /// Waits until that client has reached or passed the point, or finished.
    fn wait_for(&mut self, client: u32, point: u64) {
        let clients = self.shared.clients();
        if client >= clients {
            self.mark_lost(format!(
                "WAITSP waits for client {client}, but there are only {clients}"
            ));
        } else if client == self.number && !self.shared.has_come(client, point) {
            self.mark_lost(format!(
                "WAITSP waits for point {point} of client {client}, which is itself"
            ));
        } else {
            self.state = State::Waiting { client, point };
        }
    }
}

impl ClientTotals for ClientCounters {
    fn client(&self) -> u32 {
        self.record.client
    }

    fn lost(&self) -> Option<&str> {
        self.record.lost.as_deref()
    }
}

impl LineSource for LoadFile {
    type ClientTotals = ClientCounters;

    fn is_given_up(&self) -> bool {
        self.is_given_up
    }

    fn into_account(self, lost: Option<String>) -> ClientCounters {
        let mut ledger = self.ledger;
        ledger.record.lost = ledger.record.lost.or(lost);
        ledger
    }
}

impl Workload<Lines> for LoadFile {
    fn next(&mut self, _slot: u32, now: Timestamp) -> Next<LoadWork<'_>> {
        if self.ledger.is_fresh {
            // An iteration counts from the time when its client begins.
            self.ledger.is_fresh = false;
            self.pace.restart(now);
        }
        let due = match self.start_line(now) {
            Ok(due) => due,
            Err(instead) => return instead,
        };
        let Self {
            script,
            shared,
            ledger,
            line: number,
            state,
            ..
        } = self;
        let mut line = match script.line() {
            Ok(Some(line)) => line,
            Ok(None) => return Next::Idle,
            Err(error) => {
                ledger.record.lost = Some(error.to_string());
                *state = State::Ended;
                shared.publish(ledger.record.client, u64::MAX);
                return Next::Idle;
            }
        };
        *number = line.number;
        if let Some(limit) = shared.trunc_io_bytes {
            line.action = line.action.truncated(limit);
        }
        if shared.read_only {
            line.action = line.action.reading();
        }
        let began = due.unwrap_or(now);
        ledger.begun += u64::from(began >= shared.window_start);
        shared.gauge(ledger.record.client).start(began);
        let work = LoadWork::Line(line);
        match due {
            Some(due) => Next::Due(due, work),
            None => Next::Measured(work),
        }
    }

    fn records_samples(&self) -> bool {
        true
    }

    fn ended(&mut self, sample: &Sample) {
        let completion = &sample.completion;
        let data_bytes = u64::from(completion.data_bytes);
        self.pace.moved(data_bytes);
        let is_measured = sample.due >= self.shared.window_start && sample.role == Role::Measured;
        self.ledger.add(sample, is_measured);
        let gauge = self.shared.gauge(self.number);
        gauge.end(data_bytes, completion.done.nanos_since(sample.due));
        let mismatch = match completion.outcome {
            Outcome::Failed(failure) => failure.mismatch(),
            Outcome::Ok | Outcome::TimedOut | Outcome::Disconnected | Outcome::Skipped => None,
        };
        match mismatch {
            Some(mismatch) if self.shared.on_mismatch.ends_client(sample.kind, mismatch) => {
                self.mark_lost(format!(
                    "line {}: {} {}{}",
                    self.line,
                    sample.kind.name(),
                    mismatch.name(),
                    match self.shared.on_mismatch {
                        OnMismatch::Stop => " (--on-mismatch stop)",
                        OnMismatch::Count | OnMismatch::Smbtorture => "",
                    }
                ));
            }
            _ => {}
        }
    }

    fn needs_preparation(&self) -> bool {
        true
    }

    /// Needs no preparation, but finishes a client that lost its server, in a line or at the end of
    /// an iteration.
    fn prepare_slot(&mut self, _slot: u32, after: Option<&Completion>) -> Option<LoadWork<'_>> {
        if after.is_some_and(|after| after.outcome == Outcome::Disconnected) {
            self.end();
        }
        None
    }

    /// Releases the clients that wait for its sequence points.
    fn mark_failed(&mut self) {
        self.is_given_up |= self.state != State::Ended;
        self.end();
    }

    /// Counts the lines of this iteration whose stamps fell into the window and that the client did
    /// not reach: without them a lagging server would look better the more it lags. Lines after a
    /// pause are due only after it.
    fn skip_due(&mut self, opened: Timestamp, end: Timestamp, count: &mut dyn FnMut(OpKind)) {
        if self.state != State::Going {
            return;
        }
        for _ in 0..SKIPPED_MAX {
            let Peek::Operation(stamp) = self.script.ahead() else {
                return;
            };
            if self.leaves_out() {
                continue;
            }
            let Some(due) = self.pace.due_by_stamp(stamp).filter(|due| *due <= end) else {
                return;
            };
            let Ok(Some(line)) = self.script.line() else {
                return;
            };
            if due >= opened {
                self.ledger.begun += 1;
                count(line.action.kind());
            }
        }
    }
}
