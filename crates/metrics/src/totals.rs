//! Totals per kind of operation and role, and over all kinds.

use crate::times::Times;
use filestone_measure::measure::run_record::{
    IntervalKindRecord, IntervalRecord, KindRecord, RunRecord, WorkerRecord,
};
use filestone_workload::operation::OpKind;
use filestone_workload::recording::interval::{CallCounts, IntervalCounts, KindBuffer};
use filestone_workload::recording::{IntervalBuffer, Ledger, Role};
use std::collections::BTreeMap;

/// Maximum number of distinct failures per kind of operation; further ones that a server returns
/// count as `other`.
const FAILURES_MAX: usize = 64;
/// Name of further failures, as in records.
const OTHER: &str = "other";

/// Totals of intervals or of whole runs.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OperationTotals {
    /// Totals by kind of operation and role.
    pub kinds: BTreeMap<(OpKind, Role), KindSums>,
    /// Time from due to ready of measured operations.
    pub slot_wait: Times,
    /// Time from ready to sent of measured operations: the lateness of the load generator.
    pub dispatch_delay: Times,
    /// Counts per worker, not split by kind of operation.
    pub stretch: IntervalCounts,
    /// Connections made before runs began.
    pub connections: u64,
    /// Connections made again; set when a run has ended.
    pub reconnections: u64,
}

/// Totals of one kind of operation in one role.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KindSums {
    /// Operation counts by outcome.
    pub ledger: Ledger,
    /// Time from due to done.
    pub response_time: Times,
    /// Time from sent to done.
    pub service_time: Times,
    /// Calls, retransmissions and bytes.
    pub counts: CallCounts,
    /// Failures by their names in the standard.
    pub failures: BTreeMap<String, u64>,
}

impl OperationTotals {
    /// Adds an interval.
    pub fn count(&mut self, interval: &mut IntervalBuffer) {
        for kind in &mut interval.kinds {
            self.kinds
                .entry((kind.kind, kind.role))
                .or_default()
                .count(kind);
        }
        self.slot_wait.add_distribution(&mut interval.slot_wait);
        self.dispatch_delay
            .add_distribution(&mut interval.dispatch_delay);
        self.stretch.add(&interval.counts);
    }

    /// Adds the counts in the record of an interval.
    pub fn count_record(&mut self, interval: &IntervalRecord) {
        for kind in &interval.kinds {
            let place = (kind.operation, kind.role);
            self.kinds.entry(place).or_default().count_record(kind);
        }
        self.stretch.cpu_nanos += interval.client_cpu_ns;
    }

    /// Adds other totals.
    pub fn add(&mut self, other: &Self) {
        for (place, kind) in &other.kinds {
            self.kinds.entry(*place).or_default().add(kind);
        }
        self.slot_wait.add(&other.slot_wait);
        self.dispatch_delay.add(&other.dispatch_delay);
        self.stretch.add(&other.stretch);
        self.connections += other.connections;
        self.reconnections += other.reconnections;
    }

    /// Returns the totals of an ended run from its record, which also contains everything entered
    /// after the last interval and figures only known at the end.
    #[must_use]
    pub fn concluded(self, record: &RunRecord) -> Self {
        let totals = &record.totals;
        let kinds = totals.kinds.iter();
        let made = record.connections.as_ref().map(|made| made.made);
        let workers = |of: fn(&WorkerRecord) -> u64| totals.workers.iter().map(of).sum();
        let mut stretch = self.stretch;
        stretch.late_replies = totals.late_replies;
        // Threads that wait in system calls have no workers in the record.
        if !totals.workers.is_empty() {
            stretch.cpu_nanos = workers(|worker| worker.cpu_ns);
            stretch.spun_nanos = workers(|worker| worker.busy_poll_ns);
        }
        Self {
            kinds: kinds
                .map(|kind| ((kind.operation, kind.role), KindSums::of_record(kind)))
                .collect(),
            slot_wait: Times::of_record(&totals.slot_wait_ns),
            dispatch_delay: Times::of_record(&totals.dispatch_delay_ns),
            stretch,
            connections: made.unwrap_or(self.connections),
            reconnections: totals.reconnections,
        }
    }
}

impl KindSums {
    /// Returns the number of operations that have started without an outcome yet.
    pub fn in_flight(&self) -> u64 {
        u64::try_from(self.ledger.missing()).unwrap_or(0)
    }

    fn count(&mut self, kind: &mut KindBuffer) {
        self.ledger.add(&kind.ledger);
        self.response_time.add_distribution(&mut kind.response_time);
        self.service_time.add_distribution(&mut kind.service_time);
        self.counts.add(&kind.counts);
        for (failure, count) in &kind.failures {
            self.fail(&failure.to_string(), *count);
        }
        let other = kind.counts.failures_other;
        if other > 0 {
            self.fail(OTHER, other);
        }
    }

    fn count_record(&mut self, kind: &IntervalKindRecord) {
        self.ledger.add(&kind.ledger);
        self.response_time
            .add(&Times::of_record(&kind.response_time_ns));
        self.service_time
            .add(&Times::of_record(&kind.service_time_ns));
        self.counts.data_bytes += kind.data_bytes;
    }

    fn add(&mut self, other: &Self) {
        self.ledger.add(&other.ledger);
        self.response_time.add(&other.response_time);
        self.service_time.add(&other.service_time);
        self.counts.add(&other.counts);
        for (failure, count) in &other.failures {
            self.fail(failure, *count);
        }
    }

    fn of_record(kind: &KindRecord) -> Self {
        let mut sums = Self {
            ledger: kind.ledger,
            response_time: Times::of_record(&kind.response_time_ns),
            service_time: Times::of_record(&kind.service_time_ns),
            counts: CallCounts {
                calls: kind.calls,
                retransmissions: kind.retransmissions,
                bytes_sent: kind.bytes_sent,
                bytes_received: kind.bytes_received,
                data_bytes: kind.data_bytes,
                failures_other: 0,
                failed_service_nanos: kind.failed_service_sum_ns,
            },
            failures: BTreeMap::new(),
        };
        for failure in &kind.failures {
            sums.fail(&failure.failure, failure.count);
        }
        sums
    }

    fn fail(&mut self, failure: &str, times: u64) {
        let is_told_apart =
            self.failures.contains_key(failure) || self.failures.len() < FAILURES_MAX;
        let name = if is_told_apart { failure } else { OTHER };
        *self.failures.entry(name.into()).or_default() += times;
    }
}
