//! What decides on the offered load while a run lasts: one interval's result in, the next
//! target out. No clock and no thread: the engine asks after every interval, a test asks in
//! virtual time.

pub mod curve;
pub mod objective;

pub use objective::{LoadRange, ObjectiveSearch};

use filestone_measure::measure::run_record::IntervalRecord;

/// One interval of a steered run.
#[derive(Debug, Clone, Copy)]
pub struct IntervalResult<'run> {
    /// What was offered, in operations per second.
    pub offered_load_ops_per_s: f64,
    /// Whether that was offered during the whole interval: the interval in which the load
    /// changed belongs to neither load.
    pub is_whole: bool,
    /// What came of it.
    pub interval: &'run IntervalRecord,
}

/// What is offered next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum NextLoad {
    /// The same again.
    Hold,
    /// So many operations per second from now on. What was due before and could not start is
    /// counted as skipped, so that an overload does not follow the run to its next load.
    Set(f64),
    /// Nothing: the answer is there.
    Finish,
}

/// Decides on the offered load.
pub trait LoadController {
    /// What the run begins with, in operations per second.
    fn first(&mut self) -> f64;

    /// What comes after this interval.
    fn next(&mut self, observed: &IntervalResult<'_>) -> NextLoad;

    /// What is being done, for people who wait: `load point 3 of 10, 12,000/s`.
    fn progress(&self) -> String;

    /// For how long this will go on; `None` if nothing is known of that.
    fn left(&self) -> Option<RemainingTime> {
        None
    }

    /// What came of the loads that were measured, after the first `count` of them.
    fn points_since(&self, _count: usize) -> Vec<SteeredPoint> {
        vec![]
    }
}

/// What came of a load that was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct SteeredPoint {
    /// What it was measured for: a part of a curve, a search.
    pub part: &'static str,
    /// Offered load.
    pub offered_load_ops_per_s: f64,
    /// Achieved load.
    pub achieved_load_ops_per_s: f64,
    /// Response times by their names, in nanoseconds; of a mean, with half of its 95 % interval.
    pub response_times_ns: Vec<(String, f64, Option<f64>)>,
}

/// How long a run will go on, as far as that can be told; in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemainingTime {
    /// If what comes takes as long as what was.
    About(u64),
    /// Then time is over; the answer may be there before.
    AtMost(u64),
    /// For what is known to come; more comes before.
    AtLeast(u64),
}
