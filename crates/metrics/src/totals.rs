//! What was counted, added up: per kind of operation and role, and of all kinds together.

use crate::times::Times;
use filestone_measure::measure::run_record::{
    IntervalKindRecord, IntervalRecord, KindRecord, RunRecord, WorkerRecord,
};
use filestone_measure::measure::{IntervalBuffer, Ledger, Role};
use filestone_workload::operation::OpKind;
use filestone_workload::recording::interval::{CallCounts, IntervalCounts, KindBuffer};
use std::collections::BTreeMap;

/// Failures of one kind of operation that are told apart; what a server invents beyond them is `other`.
const FAILURES_MAX: usize = 64;
/// What further failures are called, here as in records.
const OTHER: &str = "other";

/// Counts of intervals or of whole runs.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Totals {
    /// Of each kind of operation in each role.
    pub kinds: BTreeMap<(OpKind, Role), KindSums>,
    /// due → ready of measured operations.
    pub slot_wait: Times,
    /// ready → sent of measured operations: our own lateness.
    pub dispatch_delay: Times,
    /// What is counted of a worker, and not of each kind of operation.
    pub stretch: IntervalCounts,
    /// Connections made before runs began.
    pub connections: u64,
    /// Connections made again; known when a run is over.
    pub reconnections: u64,
}

/// Counts of one kind of operation in one role.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KindSums {
    /// Where they went.
    pub ledger: Ledger,
    /// due → done.
    pub response_time: Times,
    /// sent → done.
    pub service_time: Times,
    /// What their calls came to.
    pub counts: CallCounts,
    /// Failures by their names in the standard.
    pub failures: BTreeMap<String, u64>,
}

impl Totals {
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

    /// Adds what the record of an interval has of it.
    pub fn count_record(&mut self, interval: &IntervalRecord) {
        for kind in &interval.kinds {
            let place = (kind.operation, kind.role);
            self.kinds.entry(place).or_default().count_record(kind);
        }
        self.stretch.cpu_nanos += interval.client_cpu_ns;
    }

    /// Adds other sums.
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

    /// The sums of a run that is over and has this record, which knows the last of it: what was entered
    /// after the last interval was told, and what is only known at the end.
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
            stretch.spun_nanos = workers(|worker| worker.spun_ns);
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
    /// Operations that have begun and are not accounted for yet.
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
