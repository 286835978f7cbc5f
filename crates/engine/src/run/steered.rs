//! A run with an offered load that a controller sets while it runs: after every interval the
//! controller decides, and the workers follow.

use super::RunHook;
use crate::worker::OfferedLoad;
use filestone_control::load_control::{IntervalResult, LoadController, NextLoad};
use filestone_host::control::Observer;
use filestone_measure::measure::run_record::{IntervalRecord, Phase};
use filestone_plan::plan::Plan;
use filestone_workload::time::Timestamp;
use std::sync::atomic::{AtomicBool, Ordering};

/// Hook that connects the load controller with the workers.
pub struct LoadControllerHook<'run> {
    steering: &'run mut dyn LoadController,
    offer: &'run OfferedLoad,
    window_start: Timestamp,
    is_finished: bool,
    /// Number of points reported.
    told: usize,
}

impl<'run> LoadControllerHook<'run> {
    /// Returns the hook for the run of `plan`, whose intervals begin after its warm-up.
    pub fn new(
        steering: &'run mut dyn LoadController,
        offer: &'run OfferedLoad,
        plan: &Plan,
    ) -> Self {
        Self {
            steering,
            offer,
            window_start: Timestamp::from_nanos(plan.warm_up_ns),
            is_finished: false,
            told: 0,
        }
    }
}

impl RunHook for LoadControllerHook<'_> {
    /// Decides after an interval. `end_run` ends the run.
    fn interval(
        &mut self,
        interval: &IntervalRecord,
        end_run: &AtomicBool,
        observer: &mut dyn Observer,
    ) {
        if self.is_finished || interval.phase == Phase::Drain {
            return;
        }
        let begun = self.window_start.after_nanos(interval.start_ns);
        let observed = IntervalResult {
            offered_load_ops_per_s: self.offer.load_ops_per_s(),
            is_whole: self.offer.followed_since() <= begun,
            interval,
        };
        match self.steering.next(&observed) {
            NextLoad::Hold => {}
            NextLoad::Set(load) => {
                self.offer.change(load);
                observer.offered(load);
            }
            NextLoad::Finish => {
                self.is_finished = true;
                end_run.store(true, Ordering::Relaxed);
            }
        }
        for point in self.steering.points_since(self.told) {
            observer.point(&point);
            self.told += 1;
        }
        observer.steering(&self.steering.progress(), self.steering.left());
    }
}
