//! Value of a figure in one run, and over several runs.

use filestone_workload::statistics::Estimate;
use filestone_workload::statistics::trimmed::mean_unless_far_off;

/// Value of a figure in a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RungValue {
    /// Value of the figure.
    pub value: f64,
    /// Half of the 95 % interval that the run estimates for itself.
    pub half_width: Option<f64>,
}

impl RungValue {
    /// Returns the difference from an independent value.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        let both = self.half_width.zip(other.half_width);
        Self {
            value: self.value - other.value,
            half_width: both.map(|(one, other)| one.hypot(other)),
        }
    }
}

/// Returns the mean of these runs, with eight or more runs without outliers; `None` with fewer than
/// two.
pub(super) fn mean_of_runs(runs: &[RungValue]) -> Option<Estimate> {
    let values: Vec<f64> = runs.iter().map(|run| run.value).collect();
    mean_unless_far_off(&values).map(|mean| mean.estimate)
}

/// Returns the mean of these runs with half of its 95 % interval; a single run has its own
/// interval.
pub(super) fn over_runs(runs: &[RungValue]) -> Option<(f64, Option<f64>)> {
    let first = runs.first()?;
    Some(match mean_of_runs(runs) {
        Some(mean) => (mean.value, Some(mean.half_width())),
        None => (first.value, first.half_width),
    })
}
