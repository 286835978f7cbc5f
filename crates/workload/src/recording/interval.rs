//! Counts of one interval of the run: counts per kind of operation, histograms, and one row of
//! counts per tick.
//!
//! A worker owns the buffer that it fills. At the end of the interval it passes the buffer to the
//! coordinator and continues with an empty one. Nothing is shared while it is being written.

use crate::failure::ProtocolStatus;
use crate::operation::{Completion, Failure, OpKind, Outcome, ReplyInfo};
use crate::recording::distribution::{Distribution, SignificantDigits};
use crate::recording::ledger::Ledger;
use crate::recording::sample::{Role, Sample};
use crate::time::Timestamp;

/// Maximum number of different failures of one kind of operation in one interval; further ones are
/// counted as `other`.
const FAILURES_MAX: usize = 32;

/// Counts of one tick (100 ms), nct's "sample".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TickCounts {
    /// Measured operations that were sent and ended successfully in this tick.
    pub ok: u64,
    /// Measured operations that ended in this tick without a time: they failed, or were not sent.
    pub untimed: u64,
    /// Number of untimed operations that ended as expected: they failed as the plan expects, or
    /// their client knew the result without sending them.
    pub untimed_as_expected: u64,
    /// Sum of the response times of the successful operations, in nanoseconds.
    pub response_time_sum: u64,
    /// Minimum response time, in nanoseconds.
    pub response_time_min: u64,
    /// Maximum response time, in nanoseconds.
    pub response_time_max: u64,
    /// Bytes sent for all operations of the tick.
    pub bytes_sent: u64,
    /// Bytes received for all operations of the tick.
    pub bytes_received: u64,
}

impl TickCounts {
    /// Adds the counts of another worker for the same tick.
    pub fn add(&mut self, other: &TickCounts) {
        if other.ok > 0 {
            self.response_time_min = if self.ok == 0 {
                other.response_time_min
            } else {
                self.response_time_min.min(other.response_time_min)
            };
        }
        self.response_time_max = self.response_time_max.max(other.response_time_max);
        self.ok = self.ok.saturating_add(other.ok);
        self.untimed = self.untimed.saturating_add(other.untimed);
        self.untimed_as_expected = self
            .untimed_as_expected
            .saturating_add(other.untimed_as_expected);
        self.response_time_sum = self
            .response_time_sum
            .saturating_add(other.response_time_sum);
        self.bytes_sent = self.bytes_sent.saturating_add(other.bytes_sent);
        self.bytes_received = self.bytes_received.saturating_add(other.bytes_received);
    }

    /// Returns the number of measured operations that ended.
    pub const fn ended(&self) -> u64 {
        self.ok.saturating_add(self.untimed)
    }

    fn count(&mut self, response_time: u64, completion: &Completion, times: u64) {
        self.response_time_min = if self.ok == 0 {
            response_time
        } else {
            self.response_time_min.min(response_time)
        };
        self.response_time_max = self.response_time_max.max(response_time);
        self.ok += times;
        self.response_time_sum = self
            .response_time_sum
            .saturating_add(response_time.saturating_mul(times));
        self.count_bytes(completion, times);
    }

    fn count_bytes(&mut self, completion: &Completion, times: u64) {
        self.bytes_sent += u64::from(completion.bytes_sent) * times;
        self.bytes_received += u64::from(completion.bytes_received) * times;
    }
}

/// Calls, retransmissions and bytes of one kind of operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CallCounts {
    /// Number of RPC calls.
    pub calls: u64,
    /// Number of retransmitted calls.
    pub retransmissions: u64,
    /// Bytes sent.
    pub bytes_sent: u64,
    /// Bytes received.
    pub bytes_received: u64,
    /// File data transferred by successful operations.
    pub data_bytes: u64,
    /// Number of failures beyond the limit of different causes.
    pub failures_other: u64,
    /// Sum of sent → done of operations that did not succeed, in nanoseconds.
    pub failed_service_nanos: u64,
}

impl CallCounts {
    /// Counts equal completions.
    #[inline]
    fn count(&mut self, completion: &Completion, times: u64) {
        self.calls += u64::from(completion.calls) * times;
        self.retransmissions += u64::from(completion.retransmissions) * times;
        self.bytes_sent += u64::from(completion.bytes_sent) * times;
        self.bytes_received += u64::from(completion.bytes_received) * times;
    }

    /// Adds counts from elsewhere.
    pub fn add(&mut self, other: &CallCounts) {
        self.calls += other.calls;
        self.retransmissions += other.retransmissions;
        self.bytes_sent += other.bytes_sent;
        self.bytes_received += other.bytes_received;
        self.data_bytes += other.data_bytes;
        self.failures_other += other.failures_other;
        self.failed_service_nanos = self
            .failed_service_nanos
            .saturating_add(other.failed_service_nanos);
    }
}

/// Counts and times of one kind of operation in one role.
#[derive(Debug)]
pub struct KindBuffer {
    /// The kind.
    pub kind: OpKind,
    /// The role.
    pub role: Role,
    /// Ledger of the operations.
    pub ledger: Ledger,
    /// due → done of successful operations.
    pub response_time: Distribution<u32>,
    /// sent → done of successful operations.
    pub service_time: Distribution<u32>,
    /// due → done of operations that were sent and did not succeed.
    pub failed_time: Distribution<u32>,
    /// Calls and bytes.
    pub counts: CallCounts,
    /// Failures by cause.
    pub failures: Vec<(Failure, u64)>,
}

impl KindBuffer {
    fn new(kind: OpKind, role: Role, digits: SignificantDigits) -> Self {
        Self {
            kind,
            role,
            ledger: Ledger::default(),
            response_time: Distribution::with_digits(digits),
            service_time: Distribution::with_digits(digits),
            failed_time: Distribution::with_digits(SignificantDigits::Three),
            counts: CallCounts::default(),
            failures: Vec::with_capacity(FAILURES_MAX),
        }
    }

    fn count_failures(&mut self, failure: Failure, times: u64) {
        if let Some((_, count)) = self
            .failures
            .iter_mut()
            .find(|(known, _)| *known == failure)
        {
            *count += times;
        } else if self.failures.len() < FAILURES_MAX {
            self.failures.push((failure, times));
        } else {
            self.counts.failures_other += times;
        }
    }

    /// Adds another worker's counts of the same kind.
    pub fn add(&mut self, other: &mut KindBuffer) {
        self.ledger.add(&other.ledger);
        self.response_time.add(&mut other.response_time);
        self.service_time.add(&mut other.service_time);
        self.failed_time.add(&mut other.failed_time);
        self.counts.add(&other.counts);
        for (failure, count) in &other.failures {
            self.count_failures(*failure, *count);
        }
    }

    fn reset(&mut self) {
        self.ledger = Ledger::default();
        self.response_time.reset();
        self.service_time.reset();
        self.failed_time.reset();
        self.counts = CallCounts::default();
        self.failures.clear();
    }
}

/// Counts of an interval that are not per kind of operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct IntervalCounts {
    /// Measured operations that succeeded before the measured window closed.
    pub ok_in_window: u64,
    /// Data bytes of measured operations that succeeded before the window closed.
    pub data_bytes_in_window: u64,
    /// Replies to calls that were already aborted or answered.
    pub late_replies: u64,
    /// Directory pages that exceeded the requested size.
    pub long_listings: u64,
    /// Maximum excess of a directory page, in bytes.
    pub listing_excess_bytes_max: u32,
    /// CPU time that the worker used in the interval, in nanoseconds.
    pub cpu_nanos: u64,
    /// Part of the CPU time that was spent spinning.
    pub spun_nanos: u64,
    /// Time that the worker was ready to run and had no CPU.
    pub waited_nanos: u64,
    /// Integral of the number of operations in flight over time: its time average is used to check
    /// Little's law.
    pub in_flight_nanos: u128,
    /// Part of the integral for operations that a connection held back because of missing credits,
    /// or while it was down.
    pub held_nanos: u128,
}

impl IntervalCounts {
    /// Returns the CPU time without spinning.
    pub fn work_nanos(&self) -> u64 {
        // A worker that is descheduled while it spins has spun longer than it ran.
        self.cpu_nanos.saturating_sub(self.spun_nanos)
    }

    /// Adds counts from elsewhere, or of another interval.
    pub fn add(&mut self, other: &IntervalCounts) {
        self.ok_in_window += other.ok_in_window;
        self.data_bytes_in_window += other.data_bytes_in_window;
        self.late_replies += other.late_replies;
        self.long_listings += other.long_listings;
        self.listing_excess_bytes_max = self
            .listing_excess_bytes_max
            .max(other.listing_excess_bytes_max);
        self.cpu_nanos += other.cpu_nanos;
        self.spun_nanos += other.spun_nanos;
        self.waited_nanos += other.waited_nanos;
        self.in_flight_nanos += other.in_flight_nanos;
        self.held_nanos += other.held_nanos;
    }
}

/// All counts of one worker in one interval of the run.
#[derive(Debug)]
pub struct IntervalBuffer {
    /// Start of the interval.
    pub start: Timestamp,
    /// End of the interval.
    pub end: Timestamp,
    /// One row of counts per tick, from the start of the interval.
    pub ticks: Vec<TickCounts>,
    /// One entry per kind and role that the plan can produce.
    pub kinds: Vec<KindBuffer>,
    /// Index of each (role, kind) in `kinds`.
    places: [[u8; OpKind::COUNT]; 2],
    /// due → ready of successful measured operations.
    pub slot_wait: Distribution<u32>,
    /// ready → sent of successful measured operations.
    pub dispatch_delay: Distribution<u32>,
    /// Counts of all kinds together.
    pub counts: IntervalCounts,
    tick_nanos: u64,
    /// Failure statuses that the plan expects.
    expected: Box<[ProtocolStatus]>,
}

/// Marks a kind without an entry: the plan cannot produce it.
const NO_PLACE: u8 = u8::MAX;

impl IntervalBuffer {
    /// Creates a buffer for these kinds and for `ticks` ticks of `tick_nanos` each.
    pub fn new(kinds: &[(OpKind, Role)], ticks: usize, tick_nanos: u64) -> Self {
        let digits = SignificantDigits::for_kinds(kinds.len());
        let mut places = [[NO_PLACE; OpKind::COUNT]; 2];
        for (place, (kind, role)) in kinds.iter().enumerate() {
            places[*role as usize][kind.index()] = place as u8;
        }
        Self {
            start: Timestamp::ZERO,
            end: Timestamp::ZERO,
            ticks: vec![TickCounts::default(); ticks.max(1)],
            kinds: kinds
                .iter()
                .map(|(kind, role)| KindBuffer::new(*kind, *role, digits))
                .collect(),
            places,
            slot_wait: Distribution::new(),
            dispatch_delay: Distribution::new(),
            counts: IntervalCounts::default(),
            tick_nanos: tick_nanos.max(1),
            expected: Box::default(),
        }
    }

    /// Sets the failure statuses that count as expected.
    #[must_use]
    pub fn expecting(self, expected: impl IntoIterator<Item = ProtocolStatus>) -> Self {
        Self {
            expected: expected.into_iter().collect(),
            ..self
        }
    }

    #[inline]
    fn kind(&mut self, kind: OpKind, role: Role) -> Option<&mut KindBuffer> {
        let place = self.places[role as usize][kind.index()];
        self.kinds.get_mut(usize::from(place))
    }

    /// Counts `times` scheduled operations.
    #[inline]
    pub fn schedule(&mut self, kind: OpKind, role: Role, times: u64) {
        if let Some(buffer) = self.kind(kind, role) {
            buffer.ledger.scheduled += times;
        }
    }

    /// Counts operations that were due and never sent.
    pub fn skip(&mut self, kind: OpKind, role: Role, count: u64) {
        if let Some(buffer) = self.kind(kind, role) {
            buffer.ledger.scheduled += count;
            buffer.ledger.skipped += count;
        }
    }

    /// Counts an operation that is still unanswered at the end.
    pub fn leave_in_flight(&mut self, kind: OpKind, role: Role) {
        if let Some(buffer) = self.kind(kind, role) {
            buffer.ledger.in_flight += 1;
        }
    }

    /// Counts the end of `times` equal operations; `window_end` is the end of the measured window.
    pub fn record(&mut self, sample: &Sample, times: u32, window_end: Timestamp) {
        let completion = &sample.completion;
        if !matches!(completion.outcome, Outcome::Ok) || completion.sent == Timestamp::MAX {
            return self.record_untimed(sample, times, window_end);
        }
        let response = completion.done.nanos_since(sample.due);
        let many = u64::from(times);
        let Some(buffer) = self.kind(sample.kind, sample.role) else {
            return;
        };
        buffer.ledger.ok += many;
        buffer.response_time.record_n(response, times);
        buffer
            .service_time
            .record_n(completion.done.nanos_since(completion.sent), times);
        buffer.counts.count(completion, many);
        buffer.counts.data_bytes += u64::from(completion.data_bytes) * many;
        self.note_listing(&completion.answer, many);
        if let Role::Unmeasured = sample.role {
            return;
        }
        self.slot_wait
            .record_n(sample.ready.nanos_since(sample.due), times);
        self.dispatch_delay
            .record_n(completion.sent.nanos_since(sample.ready), times);
        self.count_achieved(completion, many, window_end);
        let tick = self.tick_of(completion.done);
        self.ticks[tick].count(response, completion, many);
    }

    /// Counts operations that did not succeed, which have separate times, and those that were not
    /// sent, which have no times.
    #[cold]
    fn record_untimed(&mut self, sample: &Sample, times: u32, window_end: Timestamp) {
        let completion = &sample.completion;
        let many = u64::from(times);
        let is_expected = self.expects(completion.outcome);
        let is_sent = completion.sent != Timestamp::MAX;
        let Some(buffer) = self.kind(sample.kind, sample.role) else {
            return;
        };
        match completion.outcome {
            Outcome::Ok => {
                buffer.ledger.ok += many;
                buffer.ledger.unsent += many;
            }
            Outcome::TimedOut | Outcome::Disconnected if !is_sent => {
                buffer.ledger.skipped += many;
                return;
            }
            Outcome::Skipped => {
                buffer.ledger.skipped += many;
                return;
            }
            Outcome::Failed(failure) => {
                buffer.ledger.failed += many;
                buffer.ledger.expected += if is_expected { many } else { 0 };
                buffer.count_failures(failure, many);
            }
            Outcome::TimedOut => buffer.ledger.timed_out += many,
            Outcome::Disconnected => buffer.ledger.disconnected += many,
        }
        if is_sent {
            let response = completion.done.nanos_since(sample.due);
            let service = completion.done.nanos_since(completion.sent);
            buffer.failed_time.record_n(response, times);
            let sum = &mut buffer.counts.failed_service_nanos;
            *sum = sum.saturating_add(service.saturating_mul(many));
        }
        buffer.counts.count(completion, many);
        self.note_listing(&completion.answer, many);
        if let Role::Measured = sample.role {
            self.count_achieved(completion, many, window_end);
            let tick = self.tick_of(completion.done);
            let tick = &mut self.ticks[tick];
            tick.untimed += many;
            if is_expected || completion.outcome == Outcome::Ok {
                tick.untimed_as_expected += many;
            }
            tick.count_bytes(completion, many);
        }
    }

    /// Whether the plan expects this outcome.
    fn expects(&self, outcome: Outcome) -> bool {
        match outcome {
            Outcome::Failed(failure) => {
                let status = failure.status();
                status.is_some_and(|status| self.expected.contains(&status))
            }
            Outcome::Ok | Outcome::TimedOut | Outcome::Disconnected | Outcome::Skipped => false,
        }
    }

    /// Counts directory pages that exceeded the requested size.
    #[inline]
    fn note_listing(&mut self, answer: &ReplyInfo, times: u64) {
        if let ReplyInfo::Directory { excess_bytes, .. } = *answer
            && excess_bytes > 0
        {
            self.counts.long_listings += times;
            let longest = &mut self.counts.listing_excess_bytes_max;
            *longest = excess_bytes.max(*longest);
        }
    }

    /// Counts operations for the achieved load if they succeeded while the window was open.
    fn count_achieved(&mut self, completion: &Completion, times: u64, window_end: Timestamp) {
        if completion.done <= window_end && matches!(completion.outcome, Outcome::Ok) {
            self.counts.ok_in_window += times;
            self.counts.data_bytes_in_window += u64::from(completion.data_bytes) * times;
        }
    }

    /// Counts the end of operations that were due in the warm-up. They are part of the achieved
    /// load, as the server's work in the window, and of no other figure.
    pub fn record_overhang(&mut self, sample: &Sample, times: u32, window_end: Timestamp) {
        if let Role::Measured = sample.role {
            self.count_achieved(&sample.completion, times.into(), window_end);
        }
    }

    /// Returns the tick of `moment`; later moments belong to the last tick.
    #[inline]
    fn tick_of(&self, moment: Timestamp) -> usize {
        let tick = moment.nanos_since(self.start) / self.tick_nanos;
        (tick as usize).min(self.ticks.len() - 1)
    }

    /// Adds another worker's counts of the same interval.
    pub fn add(&mut self, other: &mut IntervalBuffer) {
        self.end = self.end.max(other.end);
        for (mine, theirs) in self.ticks.iter_mut().zip(&other.ticks) {
            mine.add(theirs);
        }
        for (mine, theirs) in self.kinds.iter_mut().zip(&mut other.kinds) {
            mine.add(theirs);
        }
        self.slot_wait.add(&mut other.slot_wait);
        self.dispatch_delay.add(&mut other.dispatch_delay);
        self.counts.add(&other.counts);
    }

    /// Removes all counts, keeps the memory, and starts an interval at `start`.
    pub fn reset(&mut self, start: Timestamp) {
        self.start = start;
        self.end = start;
        self.ticks.fill(TickCounts::default());
        self.kinds.iter_mut().for_each(KindBuffer::reset);
        self.slot_wait.reset();
        self.dispatch_delay.reset();
        self.counts = IntervalCounts::default();
    }
}
