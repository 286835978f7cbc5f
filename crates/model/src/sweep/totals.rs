//! Figures that only a whole run has, of the runs of a point: no figure of operations, but how busy the load
//! generator was, or what counters elsewhere say. One more is a line in [`TOTALS`].

use crate::comparison::ComparedRun;
use crate::gate::RunTotal;
use crate::statistics::Estimate;

/// A figure that only a whole run has.
#[derive(Debug, Clone, Copy)]
pub struct SweptTotal {
    /// Which.
    pub total: RunTotal,
    /// What it is counted in: `share`, `ns`, `bytes`, or nothing of a number.
    pub unit: &'static str,
    /// What a run has of it, if anything.
    pub of: fn(&ComparedRun) -> Option<TotalValue>,
}

/// What a run has of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TotalValue {
    /// The figure.
    pub value: f64,
    /// Half of the 95 % interval that the run knows of it.
    pub half_width: Option<f64>,
}

impl TotalValue {
    /// How much more it is than an independent one.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        let both = self.half_width.zip(other.half_width);
        Self {
            value: self.value - other.value,
            half_width: both.map(|(one, other)| one.hypot(other)),
        }
    }
}

/// Those that points have.
pub const TOTALS: [SweptTotal; 1] = [SweptTotal {
    total: RunTotal::GeneratorBusy,
    unit: "share",
    of: |run| {
        let workers = run.totals.workers.iter().map(|worker| worker.busy_percent);
        let busiest = workers.max_by(f64::total_cmp)?;
        Some(TotalValue {
            value: busiest / 100.0,
            half_width: None,
        })
    },
}];

/// One of them over the runs of a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PointTotal {
    /// Which.
    pub total: RunTotal,
    /// What it is counted in.
    pub unit: &'static str,
    /// Of several runs their mean: it can be 0, and less.
    pub value: f64,
    /// The ends of its 95 % interval: over runs, or of one run what that knows of itself, if anything.
    pub interval: Option<(f64, f64)>,
    /// Runs that have it.
    pub runs: usize,
}

impl PointTotal {
    /// What these runs come to; `None` of none.
    pub(super) fn of(swept: &SweptTotal, runs: &[TotalValue]) -> Option<Self> {
        let (value, half_width) = over_runs(runs)?;
        Some(Self {
            total: swept.total,
            unit: swept.unit,
            value,
            interval: half_width.map(|half| (value - half, value + half)),
            runs: runs.len(),
        })
    }
}

/// The mean of these runs with half of its 95 % interval; of one run what that knows of itself.
pub(crate) fn over_runs(runs: &[TotalValue]) -> Option<(f64, Option<f64>)> {
    let values: Vec<f64> = runs.iter().map(|run| run.value).collect();
    let first = runs.first()?;
    Some(match Estimate::of_independent(&values) {
        Some(mean) => (mean.value, Some(mean.half_width())),
        None => (first.value, first.half_width),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(runs: &[(f64, Option<f64>)]) -> Option<PointTotal> {
        let runs = runs.iter().map(|(value, half_width)| TotalValue {
            value: *value,
            half_width: *half_width,
        });
        PointTotal::of(&TOTALS[0], &runs.collect::<Vec<_>>())
    }

    #[test]
    fn several_runs_have_their_mean_and_one_has_what_it_knows() {
        assert_eq!(of(&[]), None);
        let one = of(&[(0.5, Some(0.1))]).expect("one");
        assert_eq!(
            (one.value, one.interval, one.runs),
            (0.5, Some((0.4, 0.6)), 1)
        );
        assert_eq!(of(&[(0.5, None)]).expect("one").interval, None);
        // Of −1 and 1 the mean is 0, its error 1, and t of one degree 12.706.
        let two = of(&[(-1.0, Some(0.1)), (1.0, None)]).expect("two");
        let (low, high) = two.interval.expect("of two");
        assert!(
            two.value == 0.0 && (high - 12.706).abs() < 1e-3 && low == -high,
            "{two:?}"
        );
    }
}
