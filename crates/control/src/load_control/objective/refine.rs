//! Second part of the search: loads a little below and above the result.

use super::ObjectiveSearch;
use super::evidence::Dwell;
use super::line::FittedCurve;
use crate::load_control::NextLoad;
use filestone_measure::measure::curve_record::SearchStopReason;

/// Number of dwells near the result before it is accepted.
const DWELLS_MIN: usize = 12;
/// Largest relative uncertainty of the figure at which its logarithm or reciprocal is distributed
/// evenly enough for an interval.
const UNCERTAINTY_MAX: f64 = 0.25;
/// Distance of the measured loads from the result, as a fraction: closer loads cannot be
/// distinguished, and further away the line is not straight.
const REACH_MIN: f64 = 0.004;
const REACH_MAX: f64 = 0.05;

impl ObjectiveSearch {
    /// Returns the lowest load that the server did not keep up with, and how often, unless it kept
    /// up with one as high later: an outlier may look like an overload.
    pub(super) fn ceiling(&self) -> Option<(f64, usize)> {
        let mut lowest: Option<(f64, usize)> = None;
        for dwell in &self.dwells {
            let at = |(load, _): (f64, usize)| dwell.load / load;
            lowest = match (!dwell.kept_up(), lowest) {
                (true, Some(low)) if at(low) > 1.0001 => lowest,
                (true, Some((load, times))) if at((load, times)) > 0.9999 => {
                    Some((load, times + 1))
                }
                (true, _) => Some((dwell.load, 1)),
                (false, Some(low)) if at(low) > 0.9999 => None,
                (false, _) => lowest,
            };
        }
        lowest
    }

    /// Moves the centre and the distance of the measured loads, but not into an overload; a single
    /// overload is measured again first.
    pub(super) fn aim_at(&mut self, centre: f64, reach: f64) -> NextLoad {
        let centre = centre.clamp(0.8 * self.centre, 1.25 * self.centre);
        self.centre = centre.clamp(self.range.lowest, self.range.highest);
        self.reach = reach.clamp(REACH_MIN, REACH_MAX);
        if let Some((ceiling, times)) = self.ceiling() {
            if self.centre > 0.94 * ceiling && times < 2 {
                return self.offer(ceiling);
            }
            self.centre = self.centre.min(0.99 * ceiling);
            let free = 0.6 * (ceiling / self.centre - 1.0);
            self.reach = self.reach.min(free).max(REACH_MIN);
        }
        self.aim()
    }

    /// Offers the side of the centre with fewer data.
    pub(super) fn aim(&mut self) -> NextLoad {
        let window = (2.0 * self.reach).max(0.01);
        let balance: f64 = self
            .near_centre(window)
            .map(|(off, dwell)| off * dwell.total.ended as f64)
            .sum();
        let side = if balance > 0.0 { -1.0 } else { 1.0 };
        self.offer(self.centre * (1.0 + side * self.reach))
    }

    /// Returns the dwells within `window` of the centre, and their distances.
    pub(super) fn near_centre(&self, window: f64) -> impl Iterator<Item = (f64, &Dwell)> {
        let dwells = self.dwells.iter();
        let off = dwells.map(|dwell| (dwell.load / self.centre - 1.0, dwell));
        off.filter(move |(off, _)| off.abs() <= window)
    }

    /// Decides after another interval near the result.
    pub(super) fn refine(&mut self) -> NextLoad {
        let last = self.dwell.readings.last();
        let interval_ns = last.map_or(0, |last| last.end_ns.saturating_sub(last.start_ns));
        let taken = self.dwell.readings.len();
        let is_far = taken >= 2 && !self.dwell.kept_up();
        if taken < self.dwell_intervals(interval_ns) && !is_far {
            return NextLoad::Hold;
        }
        self.close_dwell();
        if let Some(direction) = self.check_keep_up() {
            return direction;
        }
        let line = self.fit();
        self.line = line.or(self.line);
        let Some(line) = line.filter(|line| line.interval().is_some()) else {
            return match line.filter(|line| self.is_near(line)) {
                // The slope is unknown yet: measure further away on both sides of the root.
                Some(line) => {
                    let reach = (1.2 * self.reach).min(2.0 * line.reach());
                    self.aim_at(line.root(), reach.max(line.reach()))
                }
                None => self.look_further(),
            };
        };
        if self.is_precise(&line) {
            return self.finish(SearchStopReason::Precise);
        }
        // No line is exactly straight: the better its slope is known, the closer together the loads
        // may be. Loads closer together than the uncertainty of the result add no information,
        // unless they cause the uncertainty by being too far off.
        let known = self.near_centre(2.0 * self.reach).count().max(1) as f64;
        let closer = (4.0 / known).sqrt().clamp(0.6, 1.0);
        let interval = line.interval();
        let width = interval.map_or(0.0, |(lower, upper)| (upper - lower) / line.root());
        let reach = line.reach() * closer.max((0.4 * width / line.reach()).min(2.0));
        self.aim_at(line.root(), reach)
    }

    /// Without a line: follows the figures near the centre, and widens the search.
    fn look_further(&mut self) -> NextLoad {
        if let Some(last) = self.dwells.last().filter(|last| !last.kept_up()) {
            // The achieved load is about the capacity.
            let step = (0.97 * last.achieved() / self.centre - 1.0).clamp(-0.2, -0.7 * self.reach);
            return self.aim_at(self.centre * (1.0 + step), self.reach);
        }
        let window = (2.0 * self.reach).max(0.01);
        let near = self.near_centre(window);
        let off: f64 = near
            .map(|(_, dwell)| {
                let excess = dwell.excess(self.law, self.objective());
                (excess.min(4.0) - 1.0) * dwell.total.ended as f64
            })
            .sum();
        // Without a known upper bound, small steps would take forever.
        let is_open =
            self.ceiling().is_none() && self.fails.is_none_or(|failed| failed < self.centre);
        let step = match (off > 0.0, is_open) {
            (true, _) => -0.7 * self.reach,
            (false, false) => 0.7 * self.reach,
            (false, true) => 0.25,
        };
        self.aim_at(self.centre * (1.0 + step), 1.2 * self.reach)
    }

    pub(super) fn is_near(&self, line: &FittedCurve) -> bool {
        (line.root() / self.centre - 1.0).abs() <= 2.0 * self.reach
    }

    pub(super) fn is_precise(&self, line: &FittedCurve) -> bool {
        let near = self.dwells.iter().rev();
        let near = near.take_while(|dwell| (dwell.load / line.root() - 1.0).abs() < 0.4);
        let interval = line.interval();
        near.count() >= DWELLS_MIN
            && line.uncertainty() <= UNCERTAINTY_MAX
            && interval
                .is_some_and(|(lower, upper)| upper - lower <= self.plan.precision * line.root())
    }
}
