//! Hooks of a run, called on the coordinating thread while its workers run.

use filestone_host::control::Observer;
use filestone_measure::measure::run_record::IntervalRecord;
use filestone_workload::time::Timestamp;
use std::sync::atomic::AtomicBool;

/// Hook of a run: sets its load, corrects it, reports its progress.
pub trait RunHook {
    /// An interval is complete.
    fn interval(
        &mut self,
        _interval: &IntervalRecord,
        _halt: &AtomicBool,
        _observer: &mut dyn Observer,
    ) {
    }

    /// Polls the run; returns the time of the next poll.
    fn poll(&mut self, _at: &RunSnapshot<'_>, _observer: &mut dyn Observer) -> Timestamp {
        Timestamp::MAX
    }
}

/// State of a run as seen outside of its workers.
#[derive(Debug, Clone, Copy)]
pub struct RunSnapshot<'run> {
    /// The current time.
    pub now: Timestamp,
    /// Stage of the run.
    pub stage: Stage,
    /// Whether the run has been stopped.
    pub is_stopped: bool,
    /// Whether workers ended because of the stop.
    pub was_stopped: bool,
    /// Ends the run when set.
    pub end_run: &'run AtomicBool,
}

/// Stage of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Workers run.
    Running,
    /// All workers have executed their last operation, and may clean up.
    Done,
    /// All workers have ended.
    Left,
}
