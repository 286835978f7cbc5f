//! Hook of the run that reads the kernel's counters every two seconds, corrects the operation mix,
//! and ends the clients of a mount when enough calls have been made.

use super::clients::ClientGroup;
use crate::run::{RunHook, RunSnapshot, Stage};
use filestone_host::control::Observer;
use filestone_host::error::RunError;
use filestone_plan::mix::feedback::{CORRECTION_NS, FIRST_CORRECTION_NS};
use filestone_plan::plan::{FeedbackArithmetic, MixPlan, Plan};
use filestone_workload::time::Timestamp;
use std::sync::Arc;

/// Interval between checks when a number of calls ends the run.
const COUNT_NAP_NANOS: u64 = 1_000_000;

/// Corrects the clients of all mounts.
pub(super) struct FeedbackController {
    groups: Vec<Arc<ClientGroup>>,
    /// Whether this hook makes corrections; with nhfsstone's arithmetic each client corrects
    /// itself.
    corrects: bool,
    ends_by_count: bool,
    window_start: Timestamp,
    is_measuring: bool,
    next_correction: Timestamp,
}

impl FeedbackController {
    pub fn new(plan: &Plan, mix: &MixPlan, groups: Vec<Arc<ClientGroup>>) -> Self {
        Self {
            groups,
            corrects: mix.local.arithmetic == FeedbackArithmetic::Exact
                || plan.arrivals.offered_load().is_none(),
            ends_by_count: plan.count.is_some(),
            window_start: Timestamp::from_nanos(plan.warm_up_ns),
            is_measuring: false,
            next_correction: Timestamp::from_nanos(FIRST_CORRECTION_NS),
        }
    }

    fn look_at(&self, group: &ClientGroup, now: Timestamp, is_due: bool) -> Result<(), RunError> {
        let is_complete = || self.is_measuring && group.arithmetic().seems_complete();
        if self.corrects && (is_due || is_complete()) {
            self.correct(group, now)?;
        }
        Ok(())
    }

    fn correct(&self, group: &ClientGroup, now: Timestamp) -> Result<(), RunError> {
        let seen = group.seen()?;
        let waiting = group.waiting(now);
        let origin = if self.is_measuring {
            self.window_start
        } else {
            Timestamp::ZERO
        };
        let at_ns = now.nanos_since(origin);
        let mut arithmetic = group.arithmetic();
        let is_complete = if group.kernel.is_some() {
            let correction = arithmetic.correct(at_ns, &seen, waiting);
            group.corrections().push(correction);
            arithmetic.is_complete()
        } else {
            arithmetic.replan(at_ns, waiting);
            arithmetic.seems_complete()
        };
        if is_complete && self.is_measuring {
            group.end();
        }
        Ok(())
    }
}

impl RunHook for FeedbackController {
    fn poll(&mut self, at: &RunSnapshot<'_>, _observer: &mut dyn Observer) -> Timestamp {
        if at.stage != Stage::Running {
            return Timestamp::MAX;
        }
        let opens = !self.is_measuring && at.now >= self.window_start;
        self.is_measuring |= opens;
        let is_due = at.now >= self.next_correction;
        if is_due {
            self.next_correction = at.now.after_nanos(CORRECTION_NS);
        }
        for group in &self.groups {
            // Already done at the start of the run.
            let restarted = if opens && self.window_start > Timestamp::ZERO {
                group.restart()
            } else {
                Ok(())
            };
            if let Err(error) = restarted.and_then(|()| self.look_at(group, at.now, is_due)) {
                group.fail(error.to_string());
                self.groups.iter().for_each(|group| group.end());
            }
        }
        if self.ends_by_count {
            at.now.after_nanos(COUNT_NAP_NANOS)
        } else if self.is_measuring {
            self.next_correction
        } else {
            self.next_correction.min(self.window_start)
        }
    }
}
