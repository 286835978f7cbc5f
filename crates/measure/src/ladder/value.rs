//! What a run has of a figure, and several runs together.

use filestone_workload::statistics::Estimate;
use filestone_workload::statistics::trimmed::mean_unless_far_off;

/// What a run has of a figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RungValue {
    /// The figure.
    pub value: f64,
    /// Half of the 95 % interval that the run knows of it.
    pub half_width: Option<f64>,
}

impl RungValue {
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

/// The mean of these runs, of eight or more without a few that are far off; `None` of fewer than two.
pub(super) fn mean_of_runs(runs: &[RungValue]) -> Option<Estimate> {
    let values: Vec<f64> = runs.iter().map(|run| run.value).collect();
    mean_unless_far_off(&values).map(|mean| mean.estimate)
}

/// The same with half of its 95 % interval; of one run what that knows of itself.
pub(super) fn over_runs(runs: &[RungValue]) -> Option<(f64, Option<f64>)> {
    let first = runs.first()?;
    Some(match mean_of_runs(runs) {
        Some(mean) => (mean.value, Some(mean.half_width())),
        None => (first.value, first.half_width),
    })
}
