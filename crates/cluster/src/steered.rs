//! A job whose offered load is decided on while it lasts: the same state machines as on one host,
//! asked after each interval of all ranks together.

use crate::message::IntervalReport;
use filestone_control::load_control::curve::CurveSteering;
use filestone_control::load_control::{
    IntervalResult, LoadController, LoadRange, NextLoad, ObjectiveSearch, RemainingTime,
    SteeredPoint,
};
use filestone_measure::measure::RunRecord;
use filestone_measure::measure::run_record::{IntervalRecord, Phase};
use filestone_plan::plan::{Plan, SteeringPlan};
use std::collections::BTreeMap;

/// Loads are the same if they differ by less than this share: they are dealt to ranks and added up.
const SAME_LOAD: f64 = 1e-6;

enum Decider {
    Curve(CurveSteering),
    Objective(ObjectiveSearch),
}

/// Decides on the load of a job.
pub struct Steered {
    decider: Decider,
    offered_load_ops_per_s: f64,
    /// Of each interval: what ranks offered in it together, and whether during all of it.
    told: BTreeMap<u64, (f64, bool)>,
    is_finished: bool,
    points_told: usize,
}

impl Steered {
    /// Of the plan, if its load is decided on.
    pub fn of(plan: &Plan) -> Option<Self> {
        let decider = match plan.steering.as_ref()? {
            SteeringPlan::Curve(curve) => Decider::Curve(CurveSteering::new(curve, None)),
            SteeringPlan::Objective(objective) => {
                Decider::Objective(ObjectiveSearch::new(objective, LoadRange::default()))
            }
        };
        let mut steered = Self {
            decider,
            offered_load_ops_per_s: 0.0,
            told: BTreeMap::new(),
            is_finished: false,
            points_told: 0,
        };
        steered.offered_load_ops_per_s = steered.steering().first();
        Some(steered)
    }

    fn steering(&mut self) -> &mut dyn LoadController {
        match &mut self.decider {
            Decider::Curve(curve) => curve,
            Decider::Objective(objective) => objective,
        }
    }

    /// What is offered at present.
    pub const fn offered_load_ops_per_s(&self) -> f64 {
        self.offered_load_ops_per_s
    }

    /// A rank has told an interval.
    pub fn note(&mut self, told: &IntervalReport) {
        let start = told.interval.whole.start_ns;
        let (load, is_whole) = self.told.entry(start).or_insert((0.0, true));
        *load += told.offered_load_ops_per_s;
        *is_whole &= told.is_whole;
    }

    /// What comes after this interval of all ranks.
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
        let direction = self.steering().next(&observed);
        match direction {
            NextLoad::Hold => {}
            NextLoad::Set(load) => self.offered_load_ops_per_s = load,
            NextLoad::Finish => self.is_finished = true,
        }
        direction
    }

    /// Tells the loads that have been measured since this was asked last.
    pub fn points(&mut self, mut tell: impl FnMut(&SteeredPoint)) {
        let told = self.points_told;
        for point in self.steering().points_since(told) {
            tell(&point);
            self.points_told += 1;
        }
    }

    /// What is being done, and for how long.
    pub fn progress(&mut self) -> (String, Option<RemainingTime>) {
        let steering = self.steering();
        (steering.progress(), steering.left())
    }

    /// Enters what came of it.
    pub fn finish(self, record: &mut RunRecord) {
        match self.decider {
            Decider::Curve(steering) => {
                let curve = steering.into_record();
                record.caveats.extend(curve.doubts());
                record.curve = Some(curve);
            }
            Decider::Objective(steering) => {
                let found = steering.into_record();
                record.caveats.extend(found.doubt());
                record.objective = Some(found);
            }
        }
    }
}
