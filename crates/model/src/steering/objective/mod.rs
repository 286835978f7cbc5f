//! The search for the highest load that keeps an objective.
//!
//! The load is doubled until the objective fails and the gap is halved until it is small;
//! a load far from the answer is left after a single interval. Then the time goes where it
//! tells most: to a little below and a little above the load at which a line through all
//! that was seen near it meets the objective ([`line`]). The search ends when the interval
//! around that load is as narrow as was asked.

mod evidence;
mod law;
mod line;
#[cfg(test)]
mod tests;

use crate::measure::curve_record::{ObjectiveRecord, SearchEnd};
use crate::plan::{Figure, Objective, ObjectivePlan};
use crate::steering::{Direction, Observed, Steering};
use evidence::{Dwell, read};
use law::Law;
use line::{Line, Point};

/// Where a search may look, in operations per second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoadRange {
    /// If the objective does not hold here, it never does.
    pub lowest: f64,
    /// Where the search begins.
    pub first: f64,
    /// What the load generator can offer at most.
    pub highest: f64,
}

impl Default for LoadRange {
    fn default() -> Self {
        Self {
            lowest: 10.0,
            first: 1000.0,
            highest: 1e6,
        }
    }
}

/// Loads that differ by less than this share are not worth bisecting any more.
const BRACKET: f64 = 1.15;
/// Intervals that one load may be discarded for at most before it is measured as it is.
const SETTLE_MAX: u32 = 12;
/// How long one load is measured at a stretch once the answer is near.
const DWELL_NS: u64 = 2_000_000_000;
/// An interval this many standard deviations from the line, by the scatter of all others,
/// was not the load's doing.
const ACCIDENT: f64 = 8.0;

/// Stretches near the answer before it is trusted.
const DWELLS_MIN: usize = 12;
/// How uncertain the figure may be, as a share of itself, before its logarithm or reciprocal
/// is distributed too unevenly for an interval.
const UNCERTAINTY_MAX: f64 = 0.25;

/// How far from the answer loads are measured, as a share of it: less cannot be told apart,
/// more is not a straight line any more.
const REACH_MIN: f64 = 0.004;
const REACH_MAX: f64 = 0.05;

/// Where the search is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Doubling, or going down by quarters, until the answer is between two loads.
    Bracket,
    /// Near the answer.
    Refine,
    /// Between a load that was kept up with and one that was not, the figures being good.
    KeepUp,
}

/// Looks for the highest load that keeps an objective.
#[derive(Debug, Clone)]
pub struct ObjectiveSearch {
    plan: ObjectivePlan,
    range: LoadRange,
    law: Law,
    stage: Stage,
    /// What is measured now.
    dwell: Dwell,
    /// What was measured.
    dwells: Vec<Dwell>,
    /// Intervals at this load that were discarded.
    discarded: u32,
    /// Half of the load that comes next is offered first, until what an overload left in the
    /// server is gone.
    draining: bool,
    /// Highest load that held and lowest that did not, while bracketing.
    holds: Option<f64>,
    fails: Option<f64>,
    /// Where the line is fitted, and how far from there it is measured, as a share.
    centre: f64,
    reach: f64,
    started_ns: Option<u64>,
    end: Option<SearchEnd>,
}

impl ObjectiveSearch {
    /// A search for this objective in this range of loads.
    pub fn new(plan: &ObjectivePlan, range: LoadRange) -> Self {
        let highest = range.highest.max(1e-3);
        let lowest = range.lowest.clamp(1e-3, highest);
        let first = range.first.clamp(lowest, highest);
        Self {
            plan: plan.clone(),
            range: LoadRange {
                lowest,
                first,
                highest,
            },
            law: match plan.objective.figure {
                Figure::Mean => Law::Mean,
                Figure::Quantile { quantile } => Law::Share {
                    target: (1.0 - quantile).clamp(1e-9, 1.0 - 1e-9),
                },
            },
            stage: Stage::Bracket,
            dwell: Dwell::new(first),
            dwells: Vec::new(),
            discarded: 0,
            draining: false,
            holds: None,
            fails: None,
            centre: first,
            reach: 0.05,
            started_ns: None,
            end: None,
        }
    }

    /// What the search found. A search that was not over was interrupted.
    pub fn conclude(mut self) -> ObjectiveRecord {
        let end = self.end.unwrap_or(SearchEnd::Interrupted);
        if !self.dwell.readings.is_empty() {
            self.close_dwell();
        }
        let figure = self.plan.objective.figure;
        let tried = self.dwells.iter().map(|dwell| dwell.to_record(figure));
        let tried = tried.collect();
        let (load, lower, upper) = match end {
            SearchEnd::NeverHolds => (None, None, Some(self.range.lowest)),
            SearchEnd::AlwaysHolds => (None, Some(self.range.highest), None),
            SearchEnd::Precise | SearchEnd::TimeOver | SearchEnd::Interrupted => self.answer(),
        };
        ObjectiveRecord {
            objective: self.plan.objective,
            load_ops_per_s: load,
            lower_ops_per_s: lower,
            upper_ops_per_s: upper,
            end,
            tried,
        }
    }

    /// The load, and the ends of its interval.
    fn answer(&self) -> (Option<f64>, Option<f64>, Option<f64>) {
        if self.stage == Stage::KeepUp {
            let (kept, lost) = self.kept_up_between();
            let middle = kept.zip(lost).map(|(kept, lost)| 0.5 * (kept + lost));
            return (middle, kept, lost);
        }
        match self.fit() {
            Some(line) => {
                let interval = line.interval();
                let (lower, upper) = interval.unzip();
                (Some(line.root()), lower.map(|lower| lower.max(0.0)), upper)
            }
            // Bounds that were seen, without a confidence to state.
            None => (None, None, None),
        }
    }

    fn objective(&self) -> &Objective {
        &self.plan.objective
    }

    /// Intervals of one stretch.
    fn dwell_intervals(&self, interval_ns: u64) -> usize {
        (DWELL_NS / interval_ns.max(1)).clamp(4, 40) as usize
    }

    fn close_dwell(&mut self) {
        let next = Dwell::new(self.dwell.load);
        self.dwells.push(std::mem::replace(&mut self.dwell, next));
    }

    fn offer(&mut self, load: f64) -> Direction {
        let load = load.clamp(self.range.lowest, self.range.highest);
        self.discarded = 0;
        let is_same = load == self.dwell.load;
        let last = self.dwells.last();
        self.draining =
            !is_same && last.is_some_and(|last| last.overloads(self.law, self.objective()));
        self.dwell = Dwell::new(load);
        match (is_same, self.draining) {
            (true, _) => Direction::Stay,
            (false, true) => Direction::Offer(0.5 * load),
            (false, false) => Direction::Offer(load),
        }
    }

    fn finish(&mut self, end: SearchEnd) -> Direction {
        self.end = Some(end);
        Direction::Finish
    }

    /// Takes the interval if the effect of the last load is gone from it; otherwise says
    /// what to do until it is.
    fn take(&mut self, observed: &Observed<'_>) -> Option<Direction> {
        let (reading, steps) = read(observed.interval, &self.plan.objective);
        let is_first = self.dwells.is_empty() && self.discarded == 0;
        let expected = if self.draining { 0.5 } else { 1.0 } * self.dwell.load;
        let at_load = (observed.offered_load_ops_per_s / expected - 1.0).abs() < 1e-6;
        self.discarded += 1;
        if !observed.is_whole || !at_load || (is_first && self.dwell.readings.is_empty()) {
            return Some(Direction::Stay);
        }
        let may_discard = self.dwell.readings.is_empty() && self.discarded < SETTLE_MAX;
        if self.draining {
            if may_discard && reading.excess(self.law, &self.plan.objective) > 1.0 {
                return Some(Direction::Stay);
            }
            self.draining = false;
            return Some(Direction::Offer(self.dwell.load));
        }
        if may_discard && reading.is_draining() {
            return Some(Direction::Stay);
        }
        self.dwell.take(reading, &steps);
        None
    }

    /// After another interval while bracketing.
    fn bracket(&mut self) -> Direction {
        let excess = self.dwell.excess(self.law, &self.plan.objective);
        let taken = self.dwell.readings.len();
        let is_hopeless = excess > 10.0 || self.dwell.achieved() < 0.8 * self.dwell.load;
        let clearly_fails = self.dwell.clearly_fails(self.law, self.objective());
        // On the way down few operations say little by chance's measure; they are taken at
        // their word, or a search for what never holds would stop at the first doubt.
        let descends = self.holds.is_none() && self.fails.is_some();
        let holds = !clearly_fails && (!descends || excess <= 1.0);
        let load = self.dwell.load;
        let at_end = load <= self.range.lowest || (load >= self.range.highest && holds);
        // One bad interval may be an accident, and the ends of the range are an answer.
        let wanted = match (holds, at_end) {
            (_, true) => 6,
            (true, false) if descends => 3,
            (true, false) => 1,
            (false, false) if is_hopeless => 1,
            (false, false) => 2,
        };
        if taken < wanted {
            return Direction::Stay;
        }
        self.close_dwell();
        if holds {
            self.holds = Some(self.holds.map_or(load, |held| held.max(load)));
        } else {
            self.fails = Some(self.fails.map_or(load, |failed| failed.min(load)));
        }
        if at_end {
            let end = if holds {
                SearchEnd::AlwaysHolds
            } else {
                SearchEnd::NeverHolds
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

    /// What says something about the line: all but overloads, where the line is none any
    /// more. What was merely slow stays in: near the capacity slow operations come in rare
    /// bursts, and to leave them out would find too high a load.
    fn points(&self) -> Vec<Point> {
        let dwells = self.dwells.iter().filter(|dwell| dwell.kept_up());
        let bound_ns = self.objective().below_ns;
        (0..)
            .zip(dwells)
            .flat_map(|(number, dwell)| dwell.points(self.law, bound_ns, number))
            .collect()
    }

    /// The line through what was seen near its own root.
    fn fit(&self) -> Option<Line> {
        let points = self.points();
        let mut centre = self.centre;
        let mut found = None;
        for _ in 0..5 {
            let line = self.fit_near(&points, centre, self.reach)?;
            let root = line.root();
            let moved = (root / centre - 1.0).abs();
            centre = root.clamp(0.8 * centre, 1.25 * centre);
            found = Some(line);
            if moved < 1e-3 {
                break;
            }
        }
        found
    }

    fn fit_near(&self, points: &[Point], centre: f64, reach: f64) -> Option<Line> {
        let mut window = (2.5 * reach).max(0.012);
        loop {
            let near = |point: &&Point| (point.load / centre - 1.0).abs() <= window;
            let mut near: Vec<Point> = points.iter().filter(near).copied().collect();
            let line = Line::fit(self.law, centre, &near).map(|line| {
                if leave_out_accidents(&line, self.law.longest(), &mut near) {
                    Line::fit(self.law, centre, &near).unwrap_or(line)
                } else {
                    line
                }
            });
            if line.is_some() || window > 1.0 {
                return line;
            }
            window *= 1.6;
        }
    }

    /// The lowest load that was not kept up with, and how often it was not, unless one as
    /// high was later: an accident may look like an overload.
    fn ceiling(&self) -> Option<(f64, usize)> {
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

    /// Moves the centre and how far from it is measured, but not into an overload; a single
    /// one is looked at again first.
    fn aim_at(&mut self, centre: f64, reach: f64) -> Direction {
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

    /// Offers the side of the centre of which less is known.
    fn aim(&mut self) -> Direction {
        let window = (2.0 * self.reach).max(0.01);
        let balance: f64 = self
            .near_centre(window)
            .map(|(off, dwell)| off * dwell.total.ended as f64)
            .sum();
        let side = if balance > 0.0 { -1.0 } else { 1.0 };
        self.offer(self.centre * (1.0 + side * self.reach))
    }

    /// What was measured so near to the centre, and how far from it.
    fn near_centre(&self, window: f64) -> impl Iterator<Item = (f64, &Dwell)> {
        let dwells = self.dwells.iter();
        let off = dwells.map(|dwell| (dwell.load / self.centre - 1.0, dwell));
        off.filter(move |(off, _)| off.abs() <= window)
    }

    /// After another interval near the answer.
    fn refine(&mut self) -> Direction {
        let last = self.dwell.readings.last();
        let interval_ns = last.map_or(0, |last| last.end_ns.saturating_sub(last.start_ns));
        let taken = self.dwell.readings.len();
        let is_far = taken >= 2 && !self.dwell.kept_up();
        if taken < self.dwell_intervals(interval_ns) && !is_far {
            return Direction::Stay;
        }
        self.close_dwell();
        if let Some(direction) = self.check_keep_up() {
            return direction;
        }
        let line = self.fit().filter(|line| line.interval().is_some());
        let Some(line) = line else {
            // No line yet: go where the figures near the centre point, and look further.
            let window = (2.0 * self.reach).max(0.01);
            let near = self.near_centre(window);
            let off: f64 = near
                .map(|(_, dwell)| {
                    let excess = dwell.excess(self.law, self.objective());
                    (excess.min(4.0) - 1.0) * dwell.total.ended as f64
                })
                .sum();
            // With nothing known above, small steps would take for ever.
            let ceiling = self.ceiling().map_or(f64::INFINITY, |(ceiling, _)| ceiling);
            let step = match (off > 0.0, ceiling > 1.6 * self.centre) {
                (true, _) => -0.7 * self.reach,
                (false, false) => 0.7 * self.reach,
                (false, true) => 0.25,
            };
            return self.aim_at(self.centre * (1.0 + step), 1.2 * self.reach);
        };
        if self.is_precise(&line) {
            return self.finish(SearchEnd::Precise);
        }
        // No line is straight: the more is known of its slope, the closer together the loads
        // may be. But closer together than the answer is known they tell nothing of it.
        let known = self.near_centre(2.0 * self.reach).count().max(1) as f64;
        let closer = (4.0 / known).sqrt().clamp(std::env::var("CL").ok().and_then(|t| t.parse().ok()).unwrap_or(0.35), 1.0);
        let interval = line.interval();
        let width = interval.map_or(0.0, |(lower, upper)| (upper - lower) / line.root());
        self.aim_at(line.root(), (closer * line.reach()).max(0.4 * width))
    }

    fn is_precise(&self, line: &Line) -> bool {
        let near = self.dwells.iter().rev();
        let near = near.take_while(|dwell| (dwell.load / line.root() - 1.0).abs() < 0.4);
        let interval = line.interval();
        near.count() >= DWELLS_MIN
            && line.uncertainty() <= UNCERTAINTY_MAX
            && interval
                .is_some_and(|(lower, upper)| upper - lower <= self.plan.precision * line.root())
    }

    /// The highest load that was kept up with below the lowest that was not, with figures
    /// that were good.
    fn kept_up_between(&self) -> (Option<f64>, Option<f64>) {
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
    fn check_keep_up(&mut self) -> Option<Direction> {
        let (kept, lost) = self.kept_up_between();
        let lost = lost?;
        if self.stage != Stage::KeepUp && self.fit().is_some_and(|line| line.root() < lost) {
            return None;
        }
        self.stage = Stage::KeepUp;
        let Some(kept) = kept else {
            if lost <= self.range.lowest {
                return Some(self.finish(SearchEnd::NeverHolds));
            }
            return Some(self.offer(0.5 * lost));
        };
        if lost - kept <= self.plan.precision * 0.5 * (kept + lost) {
            return Some(self.finish(SearchEnd::Precise));
        }
        Some(self.offer(0.5 * (kept + lost)))
    }
}

impl Steering for ObjectiveSearch {
    fn first(&mut self) -> f64 {
        self.range.first
    }

    fn next(&mut self, observed: &Observed<'_>) -> Direction {
        if self.end.is_some() {
            return Direction::Finish;
        }
        let started_ns = *self.started_ns.get_or_insert(observed.interval.start_ns);
        let waits = self.take(observed);
        let elapsed_ns = observed.interval.end_ns.saturating_sub(started_ns);
        if elapsed_ns >= self.plan.search_max_ns {
            return self.finish(SearchEnd::TimeOver);
        }
        if let Some(direction) = waits {
            return direction;
        }
        match self.stage {
            Stage::Bracket => self.bracket(),
            Stage::Refine | Stage::KeepUp => self.refine(),
        }
    }

    fn progress(&self) -> String {
        let load = self.dwell.load;
        match (self.stage, self.holds, self.fails) {
            (Stage::Bracket, Some(held), Some(failed)) => {
                format!("trying {load:.0}/s, between {held:.0}/s and {failed:.0}/s")
            }
            (Stage::Bracket, _, _) => format!("trying {load:.0}/s"),
            (Stage::Refine | Stage::KeepUp, _, _) => {
                format!(
                    "trying {load:.0}/s, the answer is near {:.0}/s",
                    self.centre
                )
            }
        }
    }
}

/// Leaves out intervals in which something happened once, such as a server that stood still:
/// they are further from the line than the scatter of all others explains, and hold longer
/// response times than any queue near the objective would make (`longest`, in units of the
/// bound). Repeated, it is no accident but the server's way, and stays in. Says whether anything was left out.
fn leave_out_accidents(line: &Line, longest: f64, points: &mut Vec<Point>) -> bool {
    const AROUND: usize = 4;
    if points.len() < 20 {
        return false;
    }
    let residuals: Vec<f64> = points.iter().map(|point| line.residual(point)).collect();
    let mut keep = vec![true; points.len()];
    let accidents_max = 1 + points.len() / 60;
    for found in 0..=accidents_max {
        let kept = (0..points.len()).filter(|index| keep[*index]);
        let kept = kept.filter(|index| points[*index].longest > longest);
        let Some(worst) = kept.max_by(|a, b| residuals[*a].total_cmp(&residuals[*b])) else {
            break;
        };
        let others: Vec<f64> = (0..points.len())
            .filter(|index| keep[*index] && index.abs_diff(worst) > AROUND)
            .map(|index| residuals[index].powi(2))
            .collect();
        let scale = (others.iter().sum::<f64>() / others.len().max(1) as f64).sqrt();
        if residuals[worst] <= ACCIDENT * scale {
            break;
        }
        if found == accidents_max {
            return false;
        }
        for index in worst.saturating_sub(AROUND)..(worst + AROUND + 1).min(points.len()) {
            if residuals[index] > 3.0 * scale {
                keep[index] = false;
            }
        }
    }
    let mut keep = keep.iter();
    let before = points.len();
    points.retain(|_| keep.next().copied().unwrap_or(true));
    points.len() < before
}
