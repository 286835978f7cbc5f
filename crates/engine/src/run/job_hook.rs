//! A run that is part of a job: the job's controller receives each interval, and its commands are
//! executed.

use super::{RunHook, RunSnapshot, Stage};
use crate::worker::OfferedLoad;
use filestone_host::control::{JobCommand, JobController, Observer};
use filestone_measure::measure::run_record::IntervalRecord;
use filestone_plan::plan::Plan;
use filestone_workload::time::Timestamp;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Longest delay of a command.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// Hook that connects the controller with the workers.
pub struct JobHook<'run> {
    controller: &'run mut dyn JobController,
    offer: &'run OfferedLoad,
    window_start: Timestamp,
}

impl<'run> JobHook<'run> {
    /// Waits for the start if there is a controller, and returns its hook for the run of `plan`,
    /// whose intervals begin after its warm-up.
    pub fn after_start<'job>(
        controller: Option<&'run mut (dyn JobController + 'job)>,
        stop: &AtomicBool,
        offer: &'run OfferedLoad,
        plan: &Plan,
    ) -> Option<Self> {
        let controller = controller?;
        controller.start(stop);
        Some(Self {
            controller,
            offer,
            window_start: Timestamp::from_nanos(plan.warm_up_ns),
        })
    }
}

impl RunHook for JobHook<'_> {
    fn interval(
        &mut self,
        interval: &IntervalRecord,
        _halt: &AtomicBool,
        _observer: &mut dyn Observer,
    ) {
        let begun = self.window_start.after_nanos(interval.start_ns);
        let is_whole = self.offer.followed_since() <= begun;
        let load = self.offer.load_ops_per_s();
        self.controller.interval(interval, load, is_whole);
    }

    fn poll(&mut self, at: &RunSnapshot<'_>, _observer: &mut dyn Observer) -> Timestamp {
        if at.stage != Stage::Running {
            return Timestamp::MAX;
        }
        while let Some(order) = self.controller.order() {
            match order {
                JobCommand::Offer(load) => self.offer.change(load),
                JobCommand::Finish => at.end_run.store(true, Ordering::Relaxed),
            }
        }
        at.now.after_nanos(LOOK_EVERY.as_nanos() as u64)
    }
}
