//! The recorder of a worker: the buffer being filled, and the times that define the measured
//! window.
//!
//! The rule for every report (docs/reference/reports.md, "What belongs to the window"): an
//! operation belongs to the window if it was *due* in it, whenever it ends. These operations are
//! counted, timed and included in the shares of a mix, so that the slowest ones are not omitted.
//! Only rates of completed work (achieved load, goodput) cover the operations that *ended* in the
//! window, whenever they were due: those in flight at its start compensate for those in flight at
//! its end. The two counts differ by the value of `Totals::left_over` of the run record.
//!
//! The replies of one wake-up often have equal times and sizes. Such a run of equal samples is
//! counted here and entered into the buffer at once: with a hundred replies per wake-up this makes
//! recording nearly free.

use crate::operation::{OpKind, Outcome};
use crate::recording::interval::IntervalBuffer;
use crate::recording::sample::{Role, Sample};
use crate::time::Timestamp;

/// Fills interval buffers. Belongs to one worker; nothing in it is shared.
#[derive(Debug)]
pub struct Recorder {
    buffer: Box<IntervalBuffer>,
    /// The sample recorded last, and the number of equal ones that are not entered yet.
    run: Option<Sample>,
    run_len: u32,
    /// Number of scheduled operations that are not entered yet, all of one kind and role.
    births: u64,
    births_of: (OpKind, Role),
    /// Start of the measured window. Operations due before are warm-up: neither counted nor timed,
    /// except for the achieved load if they end after it.
    window_start: Timestamp,
    /// End of the measured window.
    window_end: Timestamp,
}

impl Recorder {
    /// Creates a recorder with `buffer`. Operations due before `window_start` are not counted.
    pub fn new(
        mut buffer: Box<IntervalBuffer>,
        window_start: Timestamp,
        window_end: Timestamp,
    ) -> Self {
        buffer.reset(window_start);
        Self {
            buffer,
            run: None,
            run_len: 0,
            births: 0,
            births_of: (OpKind::Null, Role::Measured),
            window_start,
            window_end,
        }
    }

    /// Whether an operation due at `due` belongs to the measured window.
    #[inline]
    pub fn is_measured(&self, due: Timestamp) -> bool {
        due >= self.window_start
    }

    /// Closes the measured window early, when a run is interrupted.
    pub fn close_window(&mut self, at: Timestamp) {
        self.enter_all();
        self.window_end = self.window_end.min(at);
    }

    /// Counts `times` scheduled operations.
    #[inline]
    pub fn schedule(&mut self, kind: OpKind, role: Role, times: u64) {
        if self.births_of != (kind, role) {
            self.enter_births();
            self.births_of = (kind, role);
        }
        self.births += times;
    }

    /// Counts the end of `times` operations that differ in their slot at most.
    #[inline]
    pub fn record(&mut self, sample: &Sample, times: u32) {
        if times == 0 {
            return;
        }
        match &self.run {
            Some(run) if is_alike(run, sample) && self.run_len <= u32::MAX - times => {
                self.run_len += times
            }
            _ => self.begin_run(sample, times),
        }
    }

    /// Counts the end of one operation that probably differs from the previous one.
    #[inline]
    pub fn record_one(&mut self, sample: &Sample) {
        if self.is_measured(sample.due) {
            self.buffer.record(sample, 1, self.window_end);
        } else {
            self.record(sample, 1);
        }
    }

    /// Enters the last run and starts another.
    fn begin_run(&mut self, sample: &Sample, times: u32) {
        self.enter_run();
        if self.is_measured(sample.due) {
            self.run = Some(*sample);
            self.run_len = times;
        } else if sample.completion.done > self.window_start {
            // A similar number is in flight when the window closes, and ends after it: without
            // these the achieved load would be too low.
            self.buffer.record_overhang(sample, times, self.window_end);
        }
    }

    #[inline]
    fn enter_run(&mut self) {
        if let Some(run) = self.run.take() {
            self.buffer.record(&run, self.run_len, self.window_end);
        }
        self.run_len = 0;
    }

    fn enter_births(&mut self) {
        let (kind, role) = self.births_of;
        if self.births > 0 {
            self.buffer.schedule(kind, role, self.births);
        }
        self.births = 0;
    }

    fn enter_all(&mut self) {
        self.enter_run();
        self.enter_births();
    }

    /// Returns the buffer being filled, with everything entered.
    pub fn buffer(&mut self) -> &mut IntervalBuffer {
        self.enter_all();
        &mut self.buffer
    }

    /// Returns the full buffer and continues with `next`, from `now` on.
    pub fn submit_interval(
        &mut self,
        mut next: Box<IntervalBuffer>,
        now: Timestamp,
    ) -> Box<IntervalBuffer> {
        self.enter_all();
        next.start = now;
        next.end = now;
        self.buffer.end = now;
        std::mem::replace(&mut self.buffer, next)
    }

    /// Returns the last buffer.
    pub fn finish(mut self, now: Timestamp) -> Box<IntervalBuffer> {
        self.enter_all();
        self.buffer.end = now;
        self.buffer
    }
}

/// Whether two samples have equal entries. The cheap and likely differences are compared first.
#[inline]
fn is_alike(one: &Sample, other: &Sample) -> bool {
    let (a, b) = (&one.completion, &other.completion);
    a.done == b.done
        && a.sent == b.sent
        && one.due == other.due
        && one.ready == other.ready
        && a.bytes_received == b.bytes_received
        && a.bytes_sent == b.bytes_sent
        && a.data_bytes == b.data_bytes
        && one.kind == other.kind
        && one.role == other.role
        && (a.calls, a.retransmissions) == (b.calls, b.retransmissions)
        && matches!((a.outcome, b.outcome), (Outcome::Ok, Outcome::Ok))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::StatusSpace;
    use crate::operation::{Completion, Failure, SlotId};
    use crate::recording::TICK_NANOS;

    fn sample(due: u64, done: u64) -> Sample {
        Sample {
            kind: OpKind::Null,
            role: Role::Measured,
            due: Timestamp::from_nanos(due),
            ready: Timestamp::from_nanos(due),
            completion: Completion {
                bytes_sent: 44,
                bytes_received: 28,
                ..Completion::success(
                    SlotId { client: 0, slot: 0 },
                    Timestamp::from_nanos(due),
                    Timestamp::from_nanos(done),
                )
            },
        }
    }

    #[test]
    fn runs_of_equal_samples_count_as_each_of_them_would() {
        let buffer = Box::new(IntervalBuffer::new(
            &[(OpKind::Null, Role::Measured)],
            10,
            TICK_NANOS,
        ));
        let mut recorder = Recorder::new(buffer, Timestamp::from_nanos(100), Timestamp::MAX);
        for sample in [
            sample(50, 500),
            sample(100, 700),
            sample(100, 700),
            sample(100, 700),
            sample(200, 700),
        ] {
            if recorder.is_measured(sample.due) {
                recorder.schedule(sample.kind, sample.role, 1);
            }
            recorder.record(&sample, 1);
        }
        let mut buffer = recorder.finish(Timestamp::from_nanos(1000));
        let kind = &mut buffer.kinds[0];
        assert_eq!((kind.ledger.scheduled, kind.ledger.ok), (4, 4));
        assert_eq!(
            (kind.response_time.count(), kind.response_time.sum()),
            (4, 3 * 600 + 500)
        );
        let counts = &kind.counts;
        assert_eq!(
            (counts.bytes_sent, counts.bytes_received, counts.calls),
            (4 * 44, 4 * 28, 4)
        );
        assert_eq!(buffer.ticks[0].ended(), 4);
        // The operation that was due before the window ended inside it.
        assert_eq!(buffer.counts.ok_in_window, 5);
    }

    #[test]
    fn ticks_tell_what_ended_as_expected_without_a_time() {
        let status = StatusSpace::Nfs3.status(28);
        let kinds = [(OpKind::Null, Role::Measured)];
        let buffer = IntervalBuffer::new(&kinds, 10, TICK_NANOS).expecting([status]);
        let mut recorder = Recorder::new(Box::new(buffer), Timestamp::ZERO, Timestamp::MAX);
        let with = |outcome, sent: Timestamp| {
            let mut sample = sample(100, 500);
            (sample.completion.outcome, sample.completion.sent) = (outcome, sent);
            sample
        };
        let sent = Timestamp::from_nanos(100);
        for sample in [
            with(Outcome::Ok, sent),
            with(Outcome::Ok, Timestamp::MAX),
            with(Outcome::Failed(Failure::Status(status)), sent),
            with(Outcome::Failed(StatusSpace::Nfs3.failure(70)), sent),
            with(Outcome::TimedOut, sent),
        ] {
            recorder.record(&sample, 1);
        }
        let buffer = recorder.finish(Timestamp::from_nanos(1000));
        let tick = buffer.ticks[0];
        assert_eq!((tick.ok, tick.untimed, tick.untimed_as_expected), (1, 4, 2));
    }
}
