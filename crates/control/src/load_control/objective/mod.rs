//! The search for the highest load that meets an objective.
//!
//! The load is doubled until the objective is not met, and the gap is halved until it is small; a
//! load far from the result is left after a single interval. The remaining time is spent where it
//! is most informative: a little below and a little above the load at which a line fitted to all
//! points near it meets the objective ([`line`]). The search ends when the interval around that
//! load is as narrow as requested.

mod bracket;
mod evidence;
mod keep_up;
mod law;
mod line;
mod refine;
mod window;

use crate::load_control::{IntervalResult, LoadController, NextLoad, RemainingTime, SteeredPoint};
use evidence::{Dwell, read};
use filestone_measure::measure::caveat::thresholds::SEARCH_RELAXATIONS_MIN;
use filestone_measure::measure::curve_record::{ObjectiveRecord, SearchStopReason};
use filestone_plan::plan::{Figure, Objective, ObjectivePlan};
use filestone_workload::statistics::relaxation_time_ns;
use filestone_workload::text::thousands;
use law::ResponseModel;
use line::FittedCurve;

/// Range of loads of a search, in operations per second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoadRange {
    /// Lowest load; if the objective is not met here, it is never met.
    pub lowest: f64,
    /// First load of the search.
    pub first: f64,
    /// Highest load that the load generator can offer.
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

/// Largest number of intervals that are discarded at one load before it is measured regardless.
const SETTLE_MAX: u32 = 12;
/// Loads that differ by at most this fraction have nearly the same queue.
const NEAR: f64 = 0.05;
/// Length of a dwell at one load near the result,
const DWELL_NS: u64 = 2_000_000_000;
/// or in relaxation times of the queue there,
const RELAXATIONS_WANTED: f64 = 20.0;
/// limited to this fraction of the whole search.
const DWELL_SHARE_MAX: f64 = 0.15;

/// Stage of the search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Doubling, or quartering, until the result is between two loads.
    Bracket,
    /// Refining near the result.
    Refine,
    /// Between a load that the server kept up with and one that it did not, with good figures.
    KeepUp,
}

/// Searches for the highest load that meets an objective.
#[derive(Debug, Clone)]
pub struct ObjectiveSearch {
    plan: ObjectivePlan,
    range: LoadRange,
    law: ResponseModel,
    stage: Stage,
    /// The current dwell.
    dwell: Dwell,
    /// Completed dwells.
    dwells: Vec<Dwell>,
    /// Number of discarded intervals at this load.
    discarded: u32,
    /// Half of the next load is offered first, until the backlog of an overload is gone.
    draining: bool,
    /// While bracketing: the highest load that met the objective, and the lowest that was not shown
    /// to meet it.
    holds: Option<f64>,
    fails: Option<f64>,
    /// While bracketing: the lowest load that did not meet the objective.
    broken: Option<f64>,
    /// Centre of the line fit, and the distance of the measured loads from it, as a fraction.
    centre: f64,
    reach: f64,
    /// The previous line.
    line: Option<FittedCurve>,
    started_ns: Option<u64>,
    /// Elapsed time of the search.
    elapsed_ns: u64,
    end: Option<SearchStopReason>,
}

impl ObjectiveSearch {
    /// Creates a search for this objective in this range of loads.
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
                Figure::Mean => ResponseModel::Mean,
                Figure::Quantile { quantile } => ResponseModel::Share {
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
            broken: None,
            centre: first,
            reach: 0.05,
            line: None,
            started_ns: None,
            elapsed_ns: 0,
            end: None,
        }
    }

    /// Returns the result of the search. An incomplete search was interrupted.
    pub fn into_record(mut self) -> ObjectiveRecord {
        let end = self.end.unwrap_or(SearchStopReason::Interrupted);
        if !self.dwell.readings.is_empty() {
            self.close_dwell();
        }
        let figure = self.plan.objective.figure;
        let tried = self.dwells.iter().map(|dwell| dwell.to_record(figure));
        let tried = tried.collect();
        let (load, lower, upper) = match end {
            SearchStopReason::NeverMet => (None, None, Some(self.range.lowest)),
            SearchStopReason::AlwaysMet => (None, Some(self.range.highest), None),
            SearchStopReason::Precise
            | SearchStopReason::TimedOut
            | SearchStopReason::Interrupted => self.answer(),
        };
        let near = load.unwrap_or(self.centre);
        let relaxation_time_ns = self.relaxation_time_ns_at(near);
        let longest_stretch_ns = self.longest_stretch_ns_at(near);
        let is_by_line = self.stage == Stage::Refine && end.is_of_line();
        let is_too_short =
            (longest_stretch_ns as f64) < SEARCH_RELAXATIONS_MIN * relaxation_time_ns;
        let [load, lower, upper] =
            [load, lower, upper].map(|bound| bound.filter(|_| !is_by_line || !is_too_short));
        ObjectiveRecord {
            objective: self.plan.objective,
            load_ops_per_s: load,
            lower_ops_per_s: lower,
            upper_ops_per_s: upper,
            relaxation_time_ns,
            longest_stretch_ns,
            highest_passed_ops_per_s: self.holds,
            lowest_failed_ops_per_s: self.broken,
            end,
            steps: tried,
        }
    }

    /// Returns the load, and the ends of its interval.
    fn answer(&self) -> (Option<f64>, Option<f64>, Option<f64>) {
        if self.stage == Stage::KeepUp {
            let (kept, lost) = self.kept_up_between();
            let middle = kept.zip(lost).map(|(kept, lost)| 0.5 * (kept + lost));
            return (middle, kept, lost);
        }
        match self.fit().or(self.line) {
            Some(line) => {
                let interval = line.interval();
                let (lower, upper) = interval.unzip();
                (Some(line.root()), lower.map(|lower| lower.max(0.0)), upper)
            }
            // Observed bounds, without a confidence level.
            None => (None, None, None),
        }
    }

    fn objective(&self) -> &Objective {
        &self.plan.objective
    }

    /// Returns the number of intervals of one dwell.
    fn dwell_intervals(&self, interval_ns: u64) -> usize {
        let planned = (DWELL_NS / interval_ns.max(1)).clamp(4, 40);
        let longest = self.longest_dwell_ns() / interval_ns.max(1);
        let wanted = RELAXATIONS_WANTED * self.relaxation_time_ns() / interval_ns.max(1) as f64;
        (wanted.ceil() as u64).clamp(planned, longest.max(planned)) as usize
    }

    fn longest_dwell_ns(&self) -> u64 {
        (DWELL_SHARE_MAX * self.plan.search_max_ns as f64) as u64
    }

    /// Returns the relaxation time of the queue at the current load; see [`relaxation_time_ns`].
    /// Uses all dwells near that load together: a single one whose queue happened to be short is
    /// not enough.
    fn relaxation_time_ns(&self) -> f64 {
        self.relaxation_time_ns_at(self.dwell.load)
    }

    fn stretches(&self) -> impl Iterator<Item = &Dwell> {
        let all = self.dwells.iter().chain([&self.dwell]);
        all.filter(|dwell| dwell.total.ended > 0)
    }

    /// Returns the length of the longest dwell near a load.
    fn longest_stretch_ns_at(&self, load: f64) -> u64 {
        let near = self.stretches().filter(|dwell| is_near(dwell, load));
        let longest = near.map(Dwell::seconds).fold(0.0, f64::max);
        (1e9 * longest) as u64
    }

    fn relaxation_time_ns_at(&self, load: f64) -> f64 {
        let means = self.stretches().map(|dwell| dwell.total.mean_ns());
        let unqueued_ns = means.fold(f64::INFINITY, f64::min);
        let near = self.stretches().filter(|dwell| is_near(dwell, load));
        let (count, sum_ns) = near.fold((0_u64, 0_u64), |(count, sum_ns), dwell| {
            let total = &dwell.total;
            (count + total.ended, sum_ns.saturating_add(total.sum_ns))
        });
        if count == 0 {
            return 0.0;
        }
        relaxation_time_ns(load, sum_ns as f64 / count as f64 - unqueued_ns)
    }

    /// Returns the elapsed time of the current dwell.
    fn dwell_ns(&self) -> f64 {
        1e9 * self.dwell.seconds()
    }

    /// Returns whether a longer dwell may still show that the objective is not met at this load.
    fn is_too_short(&self) -> bool {
        self.dwell_ns() < RELAXATIONS_WANTED * self.relaxation_time_ns()
    }

    fn close_dwell(&mut self) {
        let next = Dwell::new(self.dwell.load);
        self.dwells.push(std::mem::replace(&mut self.dwell, next));
    }

    fn offer(&mut self, load: f64) -> NextLoad {
        let load = load.clamp(self.range.lowest, self.range.highest);
        self.discarded = 0;
        let is_same = load == self.dwell.load;
        let last = self.dwells.last();
        self.draining =
            !is_same && last.is_some_and(|last| last.overloads(self.law, self.objective()));
        self.dwell = Dwell::new(load);
        match (is_same, self.draining) {
            (true, _) => NextLoad::Hold,
            (false, true) => NextLoad::Set(0.5 * load),
            (false, false) => NextLoad::Set(load),
        }
    }

    fn finish(&mut self, end: SearchStopReason) -> NextLoad {
        self.end = Some(end);
        NextLoad::Finish
    }

    /// Adds the interval if the effect of the previous load is gone from it; otherwise returns the
    /// next step.
    fn take(&mut self, observed: &IntervalResult<'_>) -> Option<NextLoad> {
        let (reading, steps) = read(observed.interval, &self.plan.objective);
        let is_first = self.dwells.is_empty() && self.discarded == 0;
        let expected = if self.draining { 0.5 } else { 1.0 } * self.dwell.load;
        let at_load = (observed.offered_load_ops_per_s / expected - 1.0).abs() < 1e-6;
        self.discarded += 1;
        if !observed.is_whole || !at_load || (is_first && self.dwell.readings.is_empty()) {
            return Some(NextLoad::Hold);
        }
        let may_discard = self.dwell.readings.is_empty() && self.discarded < SETTLE_MAX;
        if self.draining {
            if may_discard && reading.excess(self.law, &self.plan.objective) > 1.0 {
                return Some(NextLoad::Hold);
            }
            self.draining = false;
            return Some(NextLoad::Set(self.dwell.load));
        }
        if may_discard && reading.is_draining() {
            return Some(NextLoad::Hold);
        }
        self.dwell.take(reading, &steps);
        None
    }
}

/// Returns whether a dwell was at nearly this load.
fn is_near(dwell: &Dwell, load: f64) -> bool {
    (dwell.load / load - 1.0).abs() <= NEAR
}

impl LoadController for ObjectiveSearch {
    fn points_since(&self, count: usize) -> Vec<SteeredPoint> {
        let figure = self.plan.objective.figure;
        let point = |dwell: &Dwell| {
            let tried = dwell.to_record(figure);
            SteeredPoint {
                part: "tried",
                offered_load_ops_per_s: tried.offered_load_ops_per_s,
                achieved_load_ops_per_s: tried.achieved_load_ops_per_s,
                response_times_ns: vec![(figure.to_string(), tried.figure_ns as f64, None)],
            }
        };
        let dwells = self.dwells.get(count..).unwrap_or_default();
        dwells.iter().map(point).collect()
    }

    fn first(&mut self) -> f64 {
        self.range.first
    }

    fn next(&mut self, observed: &IntervalResult<'_>) -> NextLoad {
        if self.end.is_some() {
            return NextLoad::Finish;
        }
        let started_ns = *self.started_ns.get_or_insert(observed.interval.start_ns);
        let waits = self.take(observed);
        self.elapsed_ns = observed.interval.end_ns.saturating_sub(started_ns);
        if self.elapsed_ns >= self.plan.search_max_ns {
            return self.finish(SearchStopReason::TimedOut);
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
        let amount = |load: f64| thousands(load.round() as u64);
        let load = amount(self.dwell.load);
        match (self.stage, self.holds, self.fails) {
            (Stage::Bracket, Some(held), Some(failed)) => {
                let (held, failed) = (amount(held), amount(failed));
                format!("trying {load}/s, between {held}/s and {failed}/s")
            }
            (Stage::Bracket, Some(held), None) => {
                format!("trying {load}/s, at least {}/s", amount(held))
            }
            (Stage::Bracket, None, _) => format!("trying {load}/s"),
            (Stage::Refine | Stage::KeepUp, _, _) => {
                let centre = amount(self.centre);
                format!("trying {load}/s, the answer is near {centre}/s")
            }
        }
    }

    fn left(&self) -> Option<RemainingTime> {
        let left = self.plan.search_max_ns.saturating_sub(self.elapsed_ns);
        self.end.is_none().then_some(RemainingTime::AtMost(left))
    }
}
