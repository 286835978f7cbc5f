//! Parts that all records have, regardless of the kind of run.

use super::tool;
use filestone_host::clock::Clock;
use filestone_host::system;
use filestone_measure::measure::run_record::{
    IntervalRecord, RunOutcome, RunRecord, Target, TickRecord, Totals,
};
use filestone_plan::plan::Plan;
use std::time::{Duration, SystemTime};

/// Parts of a record that all runs have.
pub(super) struct RunHeader<'run> {
    pub plan: &'run Plan,
    pub target: Target,
    pub clock: &'run Clock,
    /// Name of the mechanism that waited for completions.
    pub driver: &'run str,
    /// Start of the run, or of its warm-up if it has one.
    pub started_at: SystemTime,
    pub window_ns: u64,
    pub end: RunOutcome,
}

impl RunHeader<'_> {
    /// Returns the record of this run, without the parts of its kind and without caveats.
    pub fn record(
        self,
        intervals: Vec<IntervalRecord>,
        ticks: Vec<TickRecord>,
        totals: Totals,
    ) -> RunRecord {
        let window_at = self.started_at + Duration::from_nanos(self.plan.warm_up_ns);
        RunRecord {
            started_at: humantime::format_rfc3339_millis(window_at).to_string(),
            host: system::describe(self.clock, self.driver),
            target: self.target,
            end: self.end,
            window_ns: self.window_ns,
            totals,
            intervals,
            ticks,
            ..RunRecord::new(self.plan.clone(), tool())
        }
    }
}
