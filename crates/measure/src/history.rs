//! Records of one plan over time: levels of a figure, and changes from one level to the next.
//!
//! Computed from logarithms, so that a change is a ratio, as in a comparison.

use crate::comparison::RelativeChange;
use crate::measure::figures::{ImprovementDirection, RunFigure};
use filestone_workload::statistics::Estimate;
use filestone_workload::statistics::change_place::places;
use filestone_workload::statistics::change_points::{ChangePoint, change_points};
use std::ops::Range;

/// Random seed of the change-point search, constant so that equal records give equal results.
const SEED: u64 = 1;
/// Minimum number of runs for a significant change: ten runs can be split into two sides of five in
/// 126 ways, so that any result has a probability of at least 1/126.
pub const RUNS_MIN: usize = 10;

/// A figure over time.
#[derive(Debug, Clone, PartialEq)]
pub struct History {
    /// The figure.
    pub figure: RunFigure,
    /// Levels in chronological order; one more than there are changes.
    pub levels: Vec<Level>,
    /// Changes between levels.
    pub changes: Vec<LevelChange>,
}

/// Runs between two changes.
#[derive(Debug, Clone, PartialEq)]
pub struct Level {
    /// Indices of the runs.
    pub runs: Range<usize>,
    /// Geometric mean of the figure.
    pub value: f64,
}

/// A change from one level to the next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LevelChange {
    /// Index of the first run after the change.
    pub at: usize,
    /// Earliest run that may be the first one after the change, with 95 % confidence.
    pub earliest: usize,
    /// Latest run that may be the first one after the change, with 95 % confidence.
    pub latest: usize,
    /// Relative change of the figure, with its 95 % interval if its position is right.
    pub change: RelativeChange,
    /// Probability of a change at least this large by chance.
    pub p_value: f64,
    /// Whether the change is for the worse.
    pub is_worse: bool,
}

impl History {
    /// Finds the changes of a figure in runs in chronological order; all values must be above 0.
    pub fn of(figure: RunFigure, values: &[f64]) -> Self {
        let logarithms: Vec<f64> = values.iter().map(|value| value.ln()).collect();
        let points = change_points(&logarithms, SEED);
        let mut starts: Vec<usize> = points.iter().map(|point| point.at).collect();
        starts.insert(0, 0);
        starts.push(values.len());
        let ranges = || starts.iter().zip(starts.iter().skip(1));
        let level = |(from, to): (&usize, &usize)| Level {
            value: mean(logarithms.get(*from..*to).unwrap_or_default()).exp(),
            runs: *from..*to,
        };
        let levels: Vec<Level> = ranges().map(level).collect();
        let sides = levels.iter().zip(levels.iter().skip(1));
        let changes = points.iter().zip(sides);
        let changes = changes.filter_map(|(point, (before, after))| {
            let of = |level: &Level| Estimate::of_independent(logarithms.get(level.runs.clone())?);
            let start = before.runs.start;
            let places = places(logarithms.get(start..after.runs.end)?);
            let places = places.unwrap_or(point.at - start..=point.at - start);
            let change = change(figure, point, of(after)?.minus(&of(before)?));
            Some(LevelChange {
                earliest: point.at.min(start + places.start()),
                latest: point.at.max(start + places.end()),
                ..change
            })
        });
        Self {
            figure,
            changes: changes.collect(),
            levels,
        }
    }

    /// Returns whether the newest level is worse than the one before it.
    pub fn is_worse(&self) -> bool {
        self.changes.last().is_some_and(|change| change.is_worse)
    }
}

fn change(figure: RunFigure, point: &ChangePoint, difference: Estimate) -> LevelChange {
    let is_more = difference.value > 0.0;
    LevelChange {
        at: point.at,
        earliest: point.at,
        latest: point.at,
        change: RelativeChange::of(&difference, difference.half_width()),
        p_value: point.p_value,
        is_worse: is_more == (figure.quantity.direction() == ImprovementDirection::LessIsBetter),
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use filestone_workload::random::{RandomStream, stream};
    use rand_distr::{Distribution, StandardNormal};

    fn p50() -> RunFigure {
        "response_time.p50".parse().expect("a figure")
    }

    /// 60 nights of 100 with noise of 2 %, multiplied by `change` from night 40 on.
    fn nights(seed: u64, change: f64) -> Vec<f64> {
        let mut random = stream(seed, RandomStream::Arrivals, 0);
        let night = |night| {
            let noise: f64 = StandardNormal.sample(&mut random);
            let level = if night < 40 { 100.0 } else { 100.0 * change };
            level * (1.0 + 0.02 * noise)
        };
        (0..60).map(night).collect()
    }

    #[test]
    fn a_change_is_a_share_with_an_interval_and_a_direction() {
        let values = [99.0, 101.0, 100.0, 110.0, 109.0, 111.0];
        let values = values.map(|value| [value; 3]).concat();
        let history = History::of(p50(), &values);
        let [change] = history.changes.as_slice() else {
            panic!("{history:?}");
        };
        assert_eq!((change.at, change.is_worse), (9, true));
        assert!(history.is_worse());
        // Geometric means: 99.997 and 109.997, a ratio of 1.10000.
        let share = change.change;
        assert!((share.share - 0.1).abs() < 1e-4, "{change:?}");
        assert!(share.low > 0.08 && share.high < 0.12, "{change:?}");
        assert_eq!((change.earliest, change.latest), (9, 9));
        assert_eq!(history.levels[1].runs, 9..18);
        let achieved = "achieved".parse().expect("a figure");
        assert!(!History::of(achieved, &values).is_worse(), "more is better");
    }

    #[test]
    fn of_few_runs_there_is_one_level() {
        for count in 0..RUNS_MIN {
            let values: Vec<f64> = (1..=count).map(|value| value as f64).collect();
            let history = History::of(p50(), &values);
            assert_eq!((history.levels.len(), history.changes.len()), (1, 0));
        }
    }

    #[test]
    fn a_change_of_three_percent_among_noise_of_two_is_found_near_its_night() {
        let found = (0..100).map(|seed| History::of(p50(), &nights(seed, 1.03)).changes);
        let found: Vec<Vec<LevelChange>> = found.collect();
        let any = found.iter().filter(|changes| !changes.is_empty()).count();
        let is_near = |change: &LevelChange| change.at.abs_diff(40) <= 2;
        let near = found.iter().filter(|changes| changes.iter().any(is_near));
        let near = near.count();
        // The position of so small a change is uncertain: the cut with the greatest likelihood is
        // within two nights in 81 of 100 series.
        assert!(any >= 95 && near >= 74, "{any}, {near} of 100");
        let holds = |change: &LevelChange| (change.earliest..=change.latest).contains(&40);
        let held = found.iter().filter(|changes| changes.iter().any(holds));
        let held = held.count();
        // 95 of 100, ± 3 standard deviations, but only of the series in which a change was found.
        assert!((any - 7..=any).contains(&held), "{held} of {any}");
        let quiet =
            (0..100).filter(|seed| History::of(p50(), &nights(*seed, 1.0)).changes.is_empty());
        let quiet = quiet.count();
        assert!(quiet >= 95, "{quiet} of 100");
    }
}
