//! First part of the search: brackets the result between two loads that are close together.

use super::{ObjectiveSearch, Stage};
use crate::load_control::NextLoad;
use filestone_measure::measure::curve_record::SearchStopReason;

/// Factor between two loads below which bisecting stops.
const BRACKET: f64 = 1.15;

impl ObjectiveSearch {
    /// Decides after another interval while bracketing.
    pub(super) fn bracket(&mut self) -> NextLoad {
        let excess = self.dwell.excess(self.law, &self.plan.objective);
        let taken = self.dwell.readings.len();
        let is_hopeless = excess > 10.0 || self.dwell.achieved() < 0.8 * self.dwell.load;
        let clearly_fails = self.dwell.clearly_fails(self.law, self.objective());
        // On the way down few operations are not significant; their figure is used regardless, or a
        // search for an objective that is never met would stop at the first uncertain result.
        let descends = self.holds.is_none() && self.fails.is_some();
        let holds = !clearly_fails && (!descends || excess <= 1.0);
        let load = self.dwell.load;
        let at_end = load <= self.range.lowest || (load >= self.range.highest && holds);
        // One bad interval may be an outlier, and the ends of the range are results.
        let wanted = match (holds, at_end) {
            (_, true) => 6,
            (true, false) if descends => 3,
            (true, false) => 1,
            (false, false) if is_hopeless => 1,
            (false, false) => 2,
        };
        if taken < wanted {
            return NextLoad::Hold;
        }
        // At a load above the capacity the queue only starts to grow. Below the lowest load there
        // is none to try.
        let is_too_short = holds && self.is_too_short();
        let may_last =
            self.dwell_ns() < self.longest_dwell_ns() as f64 || load <= self.range.lowest;
        if is_too_short && may_last {
            return NextLoad::Hold;
        }
        self.close_dwell();
        self.bound(load, holds, is_too_short);
        let holds = holds && !is_too_short;
        if at_end {
            let end = if holds {
                SearchStopReason::AlwaysMet
            } else {
                SearchStopReason::NeverMet
            };
            if holds == (load >= self.range.highest) {
                return self.finish(end);
            }
        }
        match (self.holds, self.fails) {
            (Some(held), None) => self.offer(2.0 * held),
            (None, Some(failed)) => self.offer(0.25 * failed),
            (Some(held), Some(failed)) if failed > BRACKET * held => {
                self.offer((held * failed).sqrt())
            }
            (held, failed) => {
                self.stage = Stage::Refine;
                if let Some((held, failed)) = held.zip(failed) {
                    self.centre = 0.5 * (held + failed);
                    self.reach = (0.5 * (failed / held - 1.0)).clamp(0.01, 0.05);
                }
                self.aim()
            }
        }
    }

    /// Updates the bracket after a load that met the objective or did not. After too short a time
    /// with the objective met, no higher load is tried, but the load does not count as failed.
    fn bound(&mut self, load: f64, holds: bool, is_too_short: bool) {
        let lower = |bound: Option<f64>| Some(bound.map_or(load, |bound| bound.min(load)));
        if holds && !is_too_short {
            self.holds = Some(self.holds.map_or(load, |held| held.max(load)));
            return;
        }
        self.fails = lower(self.fails);
        if !holds {
            self.broken = lower(self.broken);
        }
    }
}
