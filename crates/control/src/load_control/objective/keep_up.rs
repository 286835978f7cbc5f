//! Where a server loses operations instead of slowing down: the highest load that it keeps
//! up with.

use super::evidence::Dwell;
use super::{ObjectiveSearch, Stage};
use crate::load_control::NextLoad;
use filestone_measure::measure::curve_record::SearchStopReason;

impl ObjectiveSearch {
    /// The highest load that was kept up with below the lowest that was not, with figures
    /// that were good.
    pub(super) fn kept_up_between(&self) -> (Option<f64>, Option<f64>) {
        let dwells = self.dwells.iter();
        // A single interval may have been cut short by a server that stood still once.
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

    /// Where operations are lost or late although those that end are fast, the figure says
    /// nothing: the answer is then between a load that was kept up with and one that was not.
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
