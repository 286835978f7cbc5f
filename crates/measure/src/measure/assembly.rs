//! Merges the workers' buffers into intervals, ticks and totals.
//!
//! Buffers of one interval arrive from several workers at different times. An interval is complete
//! when every worker has passed its end. It is then recorded and added to the totals, and its
//! buffer is reused.

use crate::measure::run_record::{
    FailureCount, IntervalKindRecord, IntervalRecord, KindRecord, Phase, TickRecord, Totals,
    WorkerRecord,
};
use filestone_plan::plan::{Plan, TICK_NANOS};
use filestone_workload::operation::{Failure, OpKind};
use filestone_workload::recording::distribution::{Distribution, SignificantDigits};
use filestone_workload::recording::interval::{
    CallCounts, IntervalBuffer, IntervalCounts, KindBuffer, TickCounts,
};
use filestone_workload::recording::ledger::Ledger;
use filestone_workload::recording::sample::Role;
use filestone_workload::time::Timestamp;
use std::collections::BTreeMap;

/// Maximum number of ticks in one record: a week.
const TICKS_MAX: u64 = 7 * 24 * 36_000;

/// Merges the buffers of the workers.
pub struct IntervalAggregator {
    window_start: Timestamp,
    window_end: Timestamp,
    interval_nanos: u64,
    /// Intervals that some worker has not finished yet, by number.
    pending: BTreeMap<u64, Box<IntervalBuffer>>,
    /// Current interval of each worker; `u64::MAX` if it has finished.
    reached: Vec<u64>,
    intervals: Vec<IntervalRecord>,
    ticks: Vec<TickCounts>,
    totals: RunningTotals,
    /// Counts of each worker.
    workers: Vec<IntervalCounts>,
}

/// Sums over all complete intervals.
struct RunningTotals {
    kinds: Vec<KindTotals>,
    slot_wait: Distribution<u64>,
    dispatch_delay: Distribution<u64>,
    counts: IntervalCounts,
}

struct KindTotals {
    kind: OpKind,
    role: Role,
    ledger: Ledger,
    response_time: Distribution<u64>,
    service_time: Distribution<u64>,
    failed_time: Distribution<u64>,
    counts: CallCounts,
    failures: BTreeMap<Failure, u64>,
}

impl IntervalAggregator {
    /// Creates an empty aggregator for the run of `plan`.
    pub fn new(plan: &Plan) -> Self {
        let window = plan.window();
        Self {
            window_start: window.start,
            window_end: window.end,
            interval_nanos: plan.interval_ns.max(TICK_NANOS),
            pending: BTreeMap::new(),
            reached: vec![0; plan.workers as usize],
            intervals: Vec::new(),
            ticks: Vec::new(),
            totals: RunningTotals::new(&plan.kinds()),
            workers: vec![IntervalCounts::default(); plan.workers as usize],
        }
    }

    /// Returns the number of the interval that contains `moment`. The end of the window is always a
    /// boundary.
    fn number_of(&self, moment: Timestamp) -> u64 {
        let whole = moment.nanos_since(self.window_start) / self.interval_nanos;
        whole + u64::from(moment >= self.window_end)
    }

    /// Takes a buffer of worker `worker`; returns a buffer that is no longer used, if there is one.
    pub fn take(
        &mut self,
        worker: usize,
        mut buffer: Box<IntervalBuffer>,
    ) -> Option<Box<IntervalBuffer>> {
        if let Some(counts) = self.workers.get_mut(worker) {
            counts.add(&buffer.counts);
        }
        let number = self.number_of(buffer.start);
        let reached = self.number_of(buffer.end).max(number + 1);
        if let Some(place) = self.reached.get_mut(worker) {
            *place = reached;
        }
        match self.pending.get_mut(&number) {
            Some(merged) => {
                merged.add(&mut buffer);
                Some(buffer)
            }
            None => {
                self.pending.insert(number, buffer);
                None
            }
        }
    }

    /// Marks a worker as finished: it sends no more buffers.
    pub fn finish(&mut self, worker: usize) {
        if let Some(place) = self.reached.get_mut(worker) {
            *place = u64::MAX;
        }
    }

    /// Returns the next complete interval, if there is one, and its buffer for reuse.
    pub fn complete(&mut self) -> Option<(IntervalRecord, Box<IntervalBuffer>)> {
        let reached = self.reached.iter().copied().min().unwrap_or(u64::MAX);
        let number = *self.pending.keys().next()?;
        if number >= reached {
            return None;
        }
        let mut buffer = self.pending.remove(&number)?;
        let record = self.record(&mut buffer);
        self.intervals.push(record.clone());
        Some((record, buffer))
    }

    /// Adds a merged buffer to ticks and totals, and returns its record.
    fn record(&mut self, buffer: &mut IntervalBuffer) -> IntervalRecord {
        let first = buffer.start.nanos_since(self.window_start) / TICK_NANOS;
        for (index, tick) in (first..).zip(&buffer.ticks) {
            if tick.ended() > 0 && index < TICKS_MAX {
                let wanted = index as usize + 1;
                if self.ticks.len() < wanted {
                    self.ticks.resize(wanted, TickCounts::default());
                }
                self.ticks[index as usize].add(tick);
            }
        }
        self.totals.add(buffer);
        let mut ledger = Ledger::default();
        let mut bytes = (0, 0);
        for kind in buffer
            .kinds
            .iter()
            .filter(|kind| kind.role == Role::Measured)
        {
            ledger.add(&kind.ledger);
            bytes.0 += kind.counts.bytes_sent;
            bytes.1 += kind.counts.bytes_received;
        }
        IntervalRecord {
            start_ns: buffer.start.nanos_since(self.window_start),
            end_ns: buffer.end.nanos_since(self.window_start),
            phase: if buffer.start < self.window_end {
                Phase::Measure
            } else {
                Phase::Drain
            },
            settings: None,
            ledger,
            bytes_sent: bytes.0,
            bytes_received: bytes.1,
            client_cpu_ns: buffer.counts.work_nanos(),
            kinds: buffer.kinds.iter_mut().map(interval_kind).collect(),
        }
    }

    /// Returns intervals, ticks and totals of a run whose window closed at `window_end`.
    pub fn finalize(
        mut self,
        plan: &Plan,
        window_end: Timestamp,
    ) -> (Vec<IntervalRecord>, Vec<TickRecord>, Totals) {
        let workers = self.reached.len();
        (0..workers).for_each(|worker| self.finish(worker));
        while self.complete().is_some() {}
        let window = window_end.nanos_since(self.window_start).max(1);
        let held_nanos = self.totals.counts.held_nanos;
        let mut totals = self.totals.finalize(window);
        // With load control, no single load is the offered one.
        totals.offered_load_ops_per_s = match plan.steering {
            None => plan.arrivals.offered_load(),
            Some(_) => None,
        };
        let held = held_nanos as f64 / window as f64;
        totals.held_mean = plan.target.grants_credits().then_some(held);
        totals.client_cpu_ns = self.workers.iter().map(IntervalCounts::work_nanos).sum();
        let ended: u64 = totals.kinds.iter().map(|kind| kind.ledger.ended()).sum();
        totals.client_cpu_ns_per_op = totals.client_cpu_ns as f64 / ended.max(1) as f64;
        totals.workers = (0..plan.workers)
            .zip(&self.workers)
            .map(|(worker, counts)| WorkerRecord {
                worker,
                clients: plan.clients_of_worker(worker).count() as u32,
                cpu_ns: counts.cpu_nanos,
                busy_poll_ns: counts.spun_nanos,
                busy_percent: 100.0 * counts.work_nanos() as f64 / window as f64,
                run_delay_percent: 100.0 * counts.waited_nanos as f64 / window as f64,
            })
            .collect();
        let ticks = (0..)
            .zip(&self.ticks)
            .map(|(index, counts): (u64, _)| {
                TickRecord::new(index * TICK_NANOS, TICK_NANOS, counts)
            })
            .collect();
        (self.intervals, ticks, totals)
    }
}

impl RunningTotals {
    fn new(kinds: &[(OpKind, Role)]) -> Self {
        let digits = SignificantDigits::for_kinds(kinds.len());
        Self {
            kinds: kinds
                .iter()
                .map(|(kind, role)| KindTotals::new(*kind, *role, digits))
                .collect(),
            slot_wait: Distribution::new(),
            dispatch_delay: Distribution::new(),
            counts: IntervalCounts::default(),
        }
    }

    fn add(&mut self, buffer: &mut IntervalBuffer) {
        for (total, kind) in self.kinds.iter_mut().zip(&mut buffer.kinds) {
            total.add(kind);
        }
        self.slot_wait.add(&mut buffer.slot_wait);
        self.dispatch_delay.add(&mut buffer.dispatch_delay);
        self.counts.add(&buffer.counts);
    }

    fn finalize(mut self, window_nanos: u64) -> Totals {
        let per_second = |count: u64| count as f64 * 1e9 / window_nanos as f64;
        let counts = self.counts;
        let mut ledger = Ledger::default();
        // The sum over all kinds is only needed at the end.
        let mut response_time = Distribution::<u64>::new();
        let mut service_time = Distribution::<u64>::new();
        let measured = |kind: &&mut KindTotals| kind.role == Role::Measured;
        for kind in self.kinds.iter_mut().filter(measured) {
            ledger.add(&kind.ledger);
            response_time.add(&mut kind.response_time);
            service_time.add(&mut kind.service_time);
        }
        Totals {
            ledger,
            achieved_load_ops_per_s: per_second(counts.ok_in_window),
            goodput_bytes_per_s: per_second(counts.data_bytes_in_window),
            response_time_ns: response_time.to_record(),
            service_time_ns: service_time.to_record(),
            slot_wait_ns: self.slot_wait.to_record(),
            dispatch_delay_ns: self.dispatch_delay.to_record(),
            kinds: self.kinds.into_iter().map(KindTotals::finalize).collect(),
            late_replies: counts.late_replies,
            oversized_listings: counts.long_listings,
            oversized_listing_bytes_max: counts.listing_excess_bytes_max,
            in_flight_mean: counts.in_flight_nanos as f64 / window_nanos as f64,
            ..Totals::default()
        }
    }
}

impl KindTotals {
    fn new(kind: OpKind, role: Role, digits: SignificantDigits) -> Self {
        Self {
            kind,
            role,
            ledger: Ledger::default(),
            response_time: Distribution::with_digits(digits),
            service_time: Distribution::with_digits(digits),
            failed_time: Distribution::with_digits(SignificantDigits::Three),
            counts: CallCounts::default(),
            failures: BTreeMap::new(),
        }
    }

    fn add(&mut self, kind: &mut KindBuffer) {
        self.ledger.add(&kind.ledger);
        self.response_time.add(&mut kind.response_time);
        self.service_time.add(&mut kind.service_time);
        self.failed_time.add(&mut kind.failed_time);
        self.counts.add(&kind.counts);
        for (failure, count) in &kind.failures {
            *self.failures.entry(*failure).or_default() += count;
        }
    }

    fn finalize(mut self) -> KindRecord {
        let mut failures: Vec<FailureCount> = self
            .failures
            .iter()
            .map(|(failure, count)| FailureCount {
                failure: failure.to_string(),
                count: *count,
            })
            .collect();
        if self.counts.failures_other > 0 {
            failures.push(FailureCount {
                failure: "other".into(),
                count: self.counts.failures_other,
            });
        }
        failures.sort_by(|one, other| {
            other
                .count
                .cmp(&one.count)
                .then(one.failure.cmp(&other.failure))
        });
        KindRecord {
            operation: self.kind,
            role: self.role,
            ledger: self.ledger,
            response_time_ns: self.response_time.to_record(),
            service_time_ns: self.service_time.to_record(),
            failed_time_ns: self.failed_time.to_record().or_default(),
            failed_service_sum_ns: self.counts.failed_service_nanos,
            calls: self.counts.calls,
            retransmissions: self.counts.retransmissions,
            bytes_sent: self.counts.bytes_sent,
            bytes_received: self.counts.bytes_received,
            data_bytes: self.counts.data_bytes,
            failures,
        }
    }
}

fn interval_kind(kind: &mut KindBuffer) -> IntervalKindRecord {
    IntervalKindRecord {
        operation: kind.kind,
        role: kind.role,
        ledger: kind.ledger,
        data_bytes: kind.counts.data_bytes,
        response_time_ns: kind.response_time.to_record(),
        service_time_ns: kind.service_time.to_record(),
    }
}
