//! Servers that lose operations instead of slowing down: the highest load that the server keeps up
//! with.

use super::evidence::Dwell;
use super::{ObjectiveSearch, Stage};
use crate::load_control::NextLoad;
use filestone_measure::measure::curve_record::SearchStopReason;

impl ObjectiveSearch {
    /// Returns the highest load that the server kept up with below the lowest that it did not, with
    /// good figures.
    pub(super) fn kept_up_between(&self) -> (Option<f64>, Option<f64>) {
        let dwells = self.dwells.iter();
        // A server stall may have cut a single interval short.
        let is_lost = |dwell: &Dwell| {
            !dwell.kept_up()
                && dwell.readings.len() > 1
                && dwell.excess(self.law, &self.plan.objective) <= 1.0
        };
        let ceiling = self.ceiling().map(|(ceiling, _)| ceiling);
        let lost = ceiling.filter(|ceiling| {
            let mut at_ceiling = dwells.clone().filter(|dwell| dwell.load == *ceiling);
            at_ceiling.any(is_lost)
        });
        let below = |dwell: &&Dwell| lost.is_none_or(|lost| dwell.load < lost);
        let kept = dwells
            .filter(|dwell| dwell.kept_up())
            .filter(below)
            .map(|dwell| dwell.load)
            .reduce(f64::max);
        (kept, lost)
    }

    /// Checks whether operations are lost or late although those that end are fast. The figure is
    /// then useless, and the result is between a load that the server kept up with and one that it
    /// did not.
    pub(super) fn check_keep_up(&mut self) -> Option<NextLoad> {
        let (kept, lost) = self.kept_up_between();
        let lost = lost?;
        if self.stage != Stage::KeepUp && self.fit().is_some_and(|line| line.root() < lost) {
            return None;
        }
        self.stage = Stage::KeepUp;
        let Some(kept) = kept else {
            if lost <= self.range.lowest {
                return Some(self.finish(SearchStopReason::NeverMet));
            }
            return Some(self.offer(0.5 * lost));
        };
        if lost - kept <= self.plan.precision * 0.5 * (kept + lost) {
            return Some(self.finish(SearchStopReason::Precise));
        }
        Some(self.offer(0.5 * (kept + lost)))
    }
}
