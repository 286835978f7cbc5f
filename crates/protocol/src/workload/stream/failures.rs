//! Failed operations of a client: retries, and the end of its failing periods.

use super::client_stats::Count;
use super::{RETRY_MAX, RETRY_MIN, Step, Stream};
use filestone_measure::measure::fleet_record::ClientState;
use filestone_plan::plan::GroupPlan;
use filestone_workload::time::Timestamp;

/// A failed operation that has not succeeded since.
#[derive(Debug, Clone, Copy)]
pub(super) struct Trouble {
    /// Due time of the first failure.
    since: Timestamp,
    step: Step,
    /// Number of the transfer within the file.
    number: u32,
    /// Number of failures since.
    failures: u32,
}

impl Stream {
    /// A successful open or close does not end a failing period that began with a transfer; a
    /// successful transfer does. The failed operation counts as resolved once the client is past
    /// it.
    pub(super) fn leave_trouble(&mut self, trouble: Trouble, done: Timestamp) {
        let is_at_data = match self.step {
            Step::Transfer | Step::SyncAfterWrite | Step::SyncBeforeClose | Step::Close => true,
            Step::Begin
            | Step::MakeDirectory
            | Step::Choose
            | Step::Unlink
            | Step::Open
            | Step::Abandon
            | Step::Held
            | Step::Ended => false,
        };
        let is_same = self.step == trouble.step;
        if (is_same || is_at_data) && self.end_failing(done) {
            self.enter_usual();
        }
        if self.step == Step::Close || is_same && self.file.number() >= trouble.number {
            self.trouble = None;
        }
    }

    /// Handles a failed operation that was due at `due`.
    pub(super) fn failed(&mut self, group: &GroupPlan, due: Timestamp, done: Timestamp) {
        self.gauge().add(Count::Failures, 1);
        let (failed, number) = (self.step, self.file.number());
        let has_moved = self.failing_since.is_none();
        let since = *self.failing_since.get_or_insert(due);
        self.gauge().fail(Some(since));
        // A client that only reaches the previous failure again has not resolved it, whatever
        // succeeded before that.
        let is_same =
            |trouble: &Trouble| !has_moved || (trouble.step, trouble.number) == (failed, number);
        let mut trouble = self.trouble.filter(is_same).unwrap_or(Trouble {
            since: due,
            step: failed,
            number,
            failures: 0,
        });
        if done.nanos_since(trouble.since) >= group.retry_ns {
            self.gauge()
                .add(Count::FailingNanos, done.nanos_since(since));
            self.gauge().fail(None);
            let what = trouble.step.name();
            return self.end(ClientState::Failed, Some(format!("it could not {what}")));
        }
        self.enter(ClientState::Failing);
        self.gauge()
            .retry_until(trouble.since.after_nanos(group.retry_ns));
        let pause = RETRY_MIN << trouble.failures.min(4);
        trouble.failures += 1;
        self.trouble = Some(trouble);
        self.not_before = done.after_nanos(pause.min(RETRY_MAX));
        self.step = match failed {
            Step::Transfer | Step::SyncAfterWrite | Step::SyncBeforeClose | Step::Close => {
                Step::Abandon
            }
            other => other,
        };
    }
}
