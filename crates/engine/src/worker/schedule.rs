//! Time limits of the phases of a run.

use filestone_plan::plan::{Plan, TICK_NANOS};
use filestone_workload::time::Timestamp;

/// Time limits of the phases of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Schedule {
    /// Start of the measured window; the time before it is warm-up.
    pub window_start: Timestamp,
    /// End of the window; `MAX` if a count of operations ends the run.
    pub window_end: Timestamp,
    /// Longest wait for outstanding operations after the end, in nanoseconds.
    pub drain_nanos: u64,
    /// Length of one interval.
    pub interval_nanos: u64,
}

impl Schedule {
    /// Returns the schedule of a plan.
    pub fn of(plan: &Plan) -> Self {
        let window = plan.window();
        Self {
            window_start: window.start,
            window_end: window.end,
            // The client gives up a call at its time-out; the extra second lets it report that.
            drain_nanos: plan.timeout_ns.saturating_add(1_000_000_000),
            interval_nanos: plan.interval_ns.max(TICK_NANOS),
        }
    }

    /// Returns the end of the interval that contains `moment` of the window or of the drain: the
    /// next whole interval since the window opened, but not beyond the end of the window.
    pub(super) fn boundary_after(&self, moment: Timestamp) -> Timestamp {
        let intervals = moment.nanos_since(self.window_start) / self.interval_nanos + 1;
        let whole = intervals.saturating_mul(self.interval_nanos);
        let boundary = self.window_start.after_nanos(whole);
        if moment < self.window_end {
            boundary.min(self.window_end)
        } else {
            boundary
        }
    }

    /// Returns the last interval boundary up to `moment`, which is not before the window.
    pub(super) fn boundary_before(&self, moment: Timestamp) -> Timestamp {
        let since = moment.nanos_since(self.window_start);
        let boundary = self
            .window_start
            .after_nanos(since - since % self.interval_nanos);
        if self.window_end <= moment {
            boundary.max(self.window_end)
        } else {
            boundary
        }
    }

    /// Returns the number of ticks of one interval.
    pub fn ticks(&self) -> usize {
        (self.interval_nanos.div_ceil(TICK_NANOS) as usize).clamp(1, 100_000)
    }
}
