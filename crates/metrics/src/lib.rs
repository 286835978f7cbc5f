//! What Prometheus is told of runs: what was counted of their intervals, added up, and its exposition.
//!
//! Counters are those of the record's ledger and histograms: the sums over all runs of this process,
//! of operations that were due in a measured window. What belongs to the warm-up is in none of them,
//! what ends during the drain is, as in the record; so at the end of a run they are what its record
//! says, to the last operation, and they never go down.
//!
//! No I/O: whoever serves it hands the `Accept` header in and the bytes on. The one lock is held while
//! an interval is added, or what was added so far is copied; never while it is written down.

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
pub use totals::{KindSums, Totals};

use filestone_measure::measure::connections_record::ConnectionsRecord;
use filestone_measure::measure::fleet_record::GroupRecord;
use filestone_measure::measure::run_record::{IntervalRecord, RunRecord, Target, Tool};
use filestone_measure::measure::{IntervalBuffer, RunPhase};
use filestone_plan::plan::Plan;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What is known of the runs of this process so far.
#[derive(Debug)]
pub struct Metrics {
    known: Mutex<Known>,
}

/// Finished runs, and the one that goes on.
#[derive(Debug, Clone)]
struct Known {
    finished: Totals,
    running: Totals,
    standing: RunState,
}

/// What was known at a moment.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// What was counted, over all runs.
    pub sums: Totals,
    /// What is so now, and no count.
    pub standing: RunState,
}

impl Metrics {
    /// Of a process of this program that has measured nothing yet.
    pub fn new(tool: Tool) -> Self {
        Self {
            known: Mutex::new(Known {
                finished: Totals::default(),
                running: Totals::default(),
                standing: RunState::new(tool),
            }),
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        // What was added when a thread panicked is not worse than nothing at all.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A run of this plan begins.
    pub fn start(&self, plan: &Plan) {
        let known = &mut *self.known();
        // A counter that begins at 0 has its first increase seen.
        for place in plan.kinds() {
            known.running.kinds.entry(place).or_default();
        }
        known.standing.start(plan);
    }

    /// Its target has been found.
    pub fn found(&self, target: &Target) {
        self.known().standing.found(target);
    }

    /// Its clients are connected.
    pub fn connected(&self, connections: &ConnectionsRecord) {
        self.known().running.connections += connections.made;
    }

    /// It has come to this part of it.
    pub fn set_phase(&self, phase: RunPhase) {
        self.known().standing.phase = Some(phase);
    }

    /// So many operations per second are due from now on.
    pub fn offer(&self, load_ops_per_s: f64) {
        self.known().standing.offered_load_ops_per_s = Some(load_ops_per_s);
    }

    /// What the clients of a fleet are doing.
    pub fn fleet(&self, groups: &[GroupRecord]) {
        self.known().standing.fleet(groups);
    }

    /// An interval is complete.
    pub fn count(&self, interval: &mut IntervalBuffer) {
        self.known().running.count(interval);
    }

    /// An interval of a job of several hosts is complete. Its record has what was counted of operations;
    /// what their calls came to is added when the run is over.
    pub fn count_record(&self, interval: &IntervalRecord) {
        self.known().running.count_record(interval);
    }

    /// The run is over; its record says what it came to.
    pub fn end(&self, record: &RunRecord) {
        let known = &mut *self.known();
        let running = std::mem::take(&mut known.running);
        known.finished.add(&running.concluded(record));
        known.standing.end(record);
    }

    /// The run has failed: there is no record of it. What was counted of it stays counted.
    pub fn fail(&self) {
        let known = &mut *self.known();
        let running = std::mem::take(&mut known.running);
        known.finished.add(&running);
        known.standing.fail();
    }

    /// What is known now.
    pub fn snapshot(&self) -> Snapshot {
        let known = self.known().clone();
        let mut sums = known.finished;
        sums.add(&known.running);
        Snapshot {
            sums,
            standing: known.standing,
        }
    }
}

#[cfg(test)]
mod tests;
