//! Load controllers: decide on the offered load during a run, from the result of one interval to
//! the next target. They use no clock and no thread: the engine calls them after every interval, a
//! test in virtual time.

pub mod curve;
pub mod objective;

pub use objective::{LoadRange, ObjectiveSearch};

use curve::CurveSteering;
use filestone_measure::measure::RunRecord;
use filestone_measure::measure::run_record::IntervalRecord;
use filestone_plan::plan::SteeringPlan;

/// Load controller of a plan.
pub enum Steering {
    /// Measures a load–response curve.
    Curve(CurveSteering),
    /// Searches for the highest load that meets an objective.
    Objective(ObjectiveSearch),
}

impl Steering {
    /// Creates the controller. `limit_ops_per_s` is the ceiling of the load generator, if known: no
    /// load beyond it is offered.
    pub fn new(plan: &SteeringPlan, limit_ops_per_s: Option<f64>) -> Self {
        match plan {
            SteeringPlan::Curve(curve) => Self::Curve(CurveSteering::new(curve, limit_ops_per_s)),
            SteeringPlan::Objective(objective) => {
                let default = LoadRange::default();
                let range = LoadRange {
                    highest: limit_ops_per_s.unwrap_or(default.highest),
                    ..default
                };
                Self::Objective(ObjectiveSearch::new(objective, range))
            }
        }
    }

    /// Returns the controller.
    pub fn controller(&mut self) -> &mut dyn LoadController {
        match self {
            Self::Curve(curve) => curve,
            Self::Objective(objective) => objective,
        }
    }

    /// Adds the result to the record.
    pub fn finish(self, record: &mut RunRecord) {
        match self {
            Self::Curve(steering) => {
                let curve = steering.into_record();
                record.caveats.extend(curve.doubts());
                record.curve = Some(curve);
            }
            Self::Objective(steering) => {
                let found = steering.into_record();
                record.caveats.extend(found.doubt());
                record.objective = Some(found);
            }
        }
    }
}

/// An interval of a run with a load controller.
#[derive(Debug, Clone, Copy)]
pub struct IntervalResult<'run> {
    /// Offered load, in operations per second.
    pub offered_load_ops_per_s: f64,
    /// Whether that load was offered during the whole interval: the interval in which the load
    /// changed belongs to neither load.
    pub is_whole: bool,
    /// Result of the interval.
    pub interval: &'run IntervalRecord,
}

/// Decision on the next offered load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum NextLoad {
    /// Keep the current load.
    Hold,
    /// Offer this number of operations per second from now on. Operations that were due before and
    /// could not start are counted as skipped, so that an overload does not follow the run to its
    /// next load.
    Set(f64),
    /// End the run: the result is available.
    Finish,
}

/// Decides on the offered load.
pub trait LoadController {
    /// Returns the initial load, in operations per second.
    fn first(&mut self) -> f64;

    /// Decides what to offer after this interval.
    fn next(&mut self, observed: &IntervalResult<'_>) -> NextLoad;

    /// Describes the current activity for the progress display: `load point 3 of 10, 12,000/s`.
    fn progress(&self) -> String;

    /// Returns the remaining time; `None` if unknown.
    fn left(&self) -> Option<RemainingTime> {
        None
    }

    /// Returns the results of the measured loads, after the first `count` of them.
    fn points_since(&self, _count: usize) -> Vec<SteeredPoint> {
        vec![]
    }
}

/// Result of a measured load.
#[derive(Debug, Clone, PartialEq)]
pub struct SteeredPoint {
    /// Part of the run that measured it: a part of a curve, a search.
    pub part: &'static str,
    /// Offered load.
    pub offered_load_ops_per_s: f64,
    /// Achieved load.
    pub achieved_load_ops_per_s: f64,
    /// Response times by name, in nanoseconds; a mean has half of its 95 % interval.
    pub response_times_ns: Vec<(String, f64, Option<f64>)>,
}

/// Estimated remaining time of a run, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemainingTime {
    /// Estimate: the rest takes as long as the elapsed time.
    About(u64),
    /// Upper limit, at which the run ends; the result may be available earlier.
    AtMost(u64),
    /// Lower limit: time of the known remaining work; more precedes it.
    AtLeast(u64),
}
