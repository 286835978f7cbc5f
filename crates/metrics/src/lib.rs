//! Metrics of runs for Prometheus: totals over their intervals, and the exposition formats.
//!
//! Counters equal the ledger and histograms of the record, added up over all runs of this process.
//! They include operations that were due in a measured window, even if they end during the drain,
//! and exclude the warm-up. So at the end of a run they match its record exactly, and they never
//! decrease.
//!
//! This crate does no I/O: the HTTP server passes the `Accept` header in and sends the bytes. The
//! only lock is held while an interval is added or the totals are copied, never while they are
//! encoded.

#![forbid(unsafe_code)]

mod bounds;
mod data_model;
mod exposition;
mod families;
mod format;
mod gauges;
mod histograms;
mod native;
mod text;
mod times;
mod totals;

pub use exposition::{Exposition, ExpositionError};
pub use format::Format;
pub use gauges::RunState;
pub use times::Times;
pub use totals::{KindSums, OperationTotals};

use filestone_measure::measure::RunPhase;
use filestone_measure::measure::connections_record::ConnectionsRecord;
use filestone_measure::measure::fleet_record::GroupRecord;
use filestone_measure::measure::run_record::{IntervalRecord, RunRecord, Target, Tool};
use filestone_plan::plan::Plan;
use filestone_workload::recording::IntervalBuffer;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The metrics of the runs of this process.
#[derive(Debug)]
pub struct Metrics {
    known: Mutex<Known>,
}

/// Totals of finished runs and of the current one.
#[derive(Debug, Clone)]
struct Known {
    finished: OperationTotals,
    running: OperationTotals,
    standing: RunState,
}

/// Copy of the metrics at one time.
#[derive(Debug, Clone)]
pub struct MetricsSnapshot {
    /// Totals over all runs.
    pub sums: OperationTotals,
    /// Current state, exposed as gauges.
    pub standing: RunState,
}

impl Metrics {
    /// Creates the metrics of a process before its first run.
    pub fn new(tool: Tool) -> Self {
        Self {
            known: Mutex::new(Known {
                finished: OperationTotals::default(),
                running: OperationTotals::default(),
                standing: RunState::new(tool),
            }),
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        // Counts that a panicking thread left half added are better than no counts.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts counting a run of `plan`.
    pub fn start(&self, plan: &Plan) {
        let known = &mut *self.known();
        // Prometheus sees the first increase only if the counter starts at 0.
        for place in plan.kinds() {
            known.running.kinds.entry(place).or_default();
        }
        known.standing.start(plan);
    }

    /// Records that the target of the run has been found.
    pub fn found(&self, target: &Target) {
        self.known().standing.found(target);
    }

    /// Records that the clients of the run are connected.
    pub fn connected(&self, connections: &ConnectionsRecord) {
        self.known().running.connections += connections.made;
    }

    /// Sets the phase of the run.
    pub fn set_phase(&self, phase: RunPhase) {
        self.known().standing.phase = Some(phase);
    }

    /// Sets the offered load, in operations per second.
    pub fn offer(&self, load_ops_per_s: f64) {
        self.known().standing.offered_load_ops_per_s = Some(load_ops_per_s);
    }

    /// Sets the client states of a fleet.
    pub fn fleet(&self, groups: &[GroupRecord]) {
        self.known().standing.fleet(groups);
    }

    /// Adds a complete interval.
    pub fn count(&self, interval: &mut IntervalBuffer) {
        self.known().running.count(interval);
    }

    /// Adds a complete interval of a job on several hosts. Its record contains the operation
    /// counts; the counts of calls are added at the end of the run.
    pub fn count_record(&self, interval: &IntervalRecord) {
        self.known().running.count_record(interval);
    }

    /// Ends the run and replaces its totals by those of its record.
    pub fn end(&self, record: &RunRecord) {
        let known = &mut *self.known();
        let running = std::mem::take(&mut known.running);
        known.finished.add(&running.concluded(record));
        known.standing.end(record);
    }

    /// Ends a failed run, which has no record. Its counts so far are kept.
    pub fn fail(&self) {
        let known = &mut *self.known();
        let running = std::mem::take(&mut known.running);
        known.finished.add(&running);
        known.standing.fail();
    }

    /// Returns a copy of the current metrics.
    pub fn snapshot(&self) -> MetricsSnapshot {
        let known = self.known().clone();
        let mut sums = known.finished;
        sums.add(&known.running);
        MetricsSnapshot {
            sums,
            standing: known.standing,
        }
    }
}

#[cfg(test)]
mod tests;
