//! Load control of a job: the same state machines as on one host, called after each interval of all
//! ranks together.

use crate::message::IntervalReport;
use filestone_control::load_control::{
    IntervalResult, NextLoad, RemainingTime, SteeredPoint, Steering,
};
use filestone_measure::measure::RunRecord;
use filestone_measure::measure::run_record::{IntervalRecord, Phase};
use filestone_plan::plan::Plan;
use std::collections::BTreeMap;

/// Loads are equal if they differ by less than this fraction: they are split over ranks and added
/// up.
const SAME_LOAD: f64 = 1e-6;

/// Load controller of a job.
pub struct JobLoadController {
    steering: Steering,
    offered_load_ops_per_s: f64,
    /// By start of the interval: load that the ranks offered together, and whether during the whole
    /// interval.
    told: BTreeMap<u64, (f64, bool)>,
    is_finished: bool,
    points_told: usize,
}

impl JobLoadController {
    /// Creates the controller of the plan, if its load is controlled.
    pub fn of(plan: &Plan) -> Option<Self> {
        let mut steering = Steering::new(plan.steering.as_ref()?, None);
        Some(Self {
            offered_load_ops_per_s: steering.controller().first(),
            steering,
            told: BTreeMap::new(),
            is_finished: false,
            points_told: 0,
        })
    }

    /// Returns the current offered load.
    pub const fn offered_load_ops_per_s(&self) -> f64 {
        self.offered_load_ops_per_s
    }

    /// Adds an interval that a rank has reported.
    pub fn note(&mut self, told: &IntervalReport) {
        let start = told.interval.whole.start_ns;
        let (load, is_whole) = self.told.entry(start).or_insert((0.0, true));
        *load += told.offered_load_ops_per_s;
        *is_whole &= told.is_whole;
    }

    /// Decides on the load after this interval of all ranks.
    pub fn decide(&mut self, interval: &IntervalRecord) -> NextLoad {
        if self.is_finished || interval.phase == Phase::Drain {
            return NextLoad::Hold;
        }
        let told = self.told.remove(&interval.start_ns);
        self.told.retain(|start, _| *start > interval.start_ns);
        let offered = self.offered_load_ops_per_s;
        let is_whole = told.is_some_and(|(load, is_whole)| {
            is_whole && (load - offered).abs() <= SAME_LOAD * offered
        });
        let observed = IntervalResult {
            offered_load_ops_per_s: offered,
            is_whole,
            interval,
        };
        let direction = self.steering.controller().next(&observed);
        match direction {
            NextLoad::Hold => {}
            NextLoad::Set(load) => self.offered_load_ops_per_s = load,
            NextLoad::Finish => self.is_finished = true,
        }
        direction
    }

    /// Reports the loads that were measured since the last call.
    pub fn points(&mut self, mut tell: impl FnMut(&SteeredPoint)) {
        let told = self.points_told;
        for point in self.steering.controller().points_since(told) {
            tell(&point);
            self.points_told += 1;
        }
    }

    /// Returns the current activity and its remaining time.
    pub fn progress(&mut self) -> (String, Option<RemainingTime>) {
        let steering = self.steering.controller();
        (steering.progress(), steering.left())
    }

    /// Adds the result to the record.
    pub fn finish(self, record: &mut RunRecord) {
        self.steering.finish(record);
    }
}
