//! Who attends to a run on the coordinating thread while its workers run.

use crate::control::Observer;
use filestone_measure::measure::run_record::IntervalRecord;
use filestone_workload::time::Timestamp;
use std::sync::atomic::AtomicBool;

/// Attends to a run: decides on its load, corrects it, tells how far it is.
pub trait RunHook {
    /// An interval is complete.
    fn interval(
        &mut self,
        _interval: &IntervalRecord,
        _halt: &AtomicBool,
        _observer: &mut dyn Observer,
    ) {
    }

    /// Looks at the run, and says when to look again.
    fn poll(&mut self, _at: &RunSnapshot<'_>, _observer: &mut dyn Observer) -> Timestamp {
        Timestamp::MAX
    }
}

/// What can be seen of a run from outside of its workers.
#[derive(Debug, Clone, Copy)]
pub struct RunSnapshot<'run> {
    /// The present moment.
    pub now: Timestamp,
    /// How far the run is.
    pub stage: Stage,
    /// Whether somebody stops it.
    pub is_stopped: bool,
    /// Whether workers ended because of that.
    pub was_stopped: bool,
    /// Raised, it ends the run.
    pub end_run: &'run AtomicBool,
}

/// How far a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Workers run.
    Running,
    /// All have carried out their last operation, and may clean up after themselves.
    Done,
    /// All have left.
    Left,
}
