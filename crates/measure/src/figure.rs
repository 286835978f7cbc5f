//! A figure over the runs of one plan, with its uncertainty.

use filestone_plan::gate::GateFigure;
use filestone_workload::figure::RunFigure;
use filestone_workload::statistics::Estimate;
use filestone_workload::statistics::estimate::student_quantile;

/// Minimum number of runs before a stop: a few runs may agree by chance.
pub const ENOUGH_MIN: usize = 5;

/// Value of a figure in one run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FigureSample {
    /// Value of the figure.
    pub value: f64,
    /// Half of the 95 % interval that the run estimates for itself.
    pub half_width: Option<f64>,
}

impl FigureSample {
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

/// A figure over runs. Its name gives the unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AveragedFigure {
    /// The figure.
    pub name: GateFigure,
    /// Mean of the runs. That of a figure of operations is geometric; that of a figure of whole
    /// runs is not, since it can be 0 or negative.
    pub value: f64,
    /// Ends of the 95 % interval: over several runs, or as estimated by a single run, if available.
    pub interval: Option<(f64, f64)>,
    /// Number of runs that have the figure, or of pairs of runs.
    pub runs: usize,
    /// Spread of the logarithms of single runs, one standard deviation.
    pub deviation: Option<f64>,
    /// Whether the value includes an unmeasured operation for each measured one.
    pub has_unmeasured: bool,
}

impl AveragedFigure {
    /// Creates a figure whose interval is symmetric on a logarithmic scale.
    pub(crate) fn of_logarithm(
        figure: RunFigure,
        logarithm: f64,
        half_width: Option<f64>,
        runs: usize,
    ) -> Self {
        let ends = |half: f64| ((logarithm - half).exp(), (logarithm + half).exp());
        Self {
            name: GateFigure::OfOperations(figure),
            value: logarithm.exp(),
            interval: half_width.map(ends),
            runs,
            deviation: None,
            has_unmeasured: false,
        }
    }

    /// Creates a figure whose interval is symmetric.
    pub(crate) fn around(
        name: GateFigure,
        value: f64,
        half_width: Option<f64>,
        runs: usize,
    ) -> Self {
        Self {
            name,
            value,
            interval: half_width.map(|half| (value - half, value + half)),
            runs,
            deviation: None,
            has_unmeasured: false,
        }
    }

    /// Returns the lower end of the interval.
    pub fn low(&self) -> Option<f64> {
        self.interval.map(|(low, _)| low)
    }

    /// Returns the upper end of the interval.
    pub fn high(&self) -> Option<f64> {
        self.interval.map(|(_, high)| high)
    }

    /// Returns the distance from the value to the upper end of the interval.
    pub fn half_width(&self) -> Option<f64> {
        self.high().map(|high| high - self.value)
    }

    /// Returns the half-width as a share of the value; that of a figure of operations is of the
    /// logarithm.
    pub fn share(&self) -> Option<f64> {
        let (low, high) = self.interval?;
        Some(match self.name {
            GateFigure::OfOperations(_) => (high / low).sqrt() - 1.0,
            GateFigure::OfRun(_) => (high - low) / 2.0 / self.value.abs(),
        })
    }

    /// Returns the estimate that a single run gives of itself.
    pub(crate) fn of_itself(&self) -> Estimate {
        let half_width = self.interval.map_or(0.0, |(low, high)| (high - low) / 2.0);
        Estimate {
            value: self.value,
            standard_error: half_width / student_quantile(0.975, f64::INFINITY),
            freedom: f64::INFINITY,
        }
    }

    /// Returns whether the interval is within ± this share of the value, and there are enough runs.
    pub fn is_known_within(&self, share: f64) -> bool {
        let half_width = self.half_width().filter(|_| self.runs >= ENOUGH_MIN);
        half_width.is_some_and(|half_width| half_width <= share * self.value.abs())
    }

    /// Returns the estimated number of runs until the interval is within `share`, at most `most`.
    pub fn runs_until(&self, share: f64, most: u32) -> u32 {
        let count = self.runs as u32;
        let least = (ENOUGH_MIN as u32).max(count);
        let Some(half_width) = self.half_width().filter(|_| count > 1) else {
            return least.min(most);
        };
        let quantile = |runs: u32| student_quantile(0.975, f64::from(runs) - 1.0);
        let (deviation, wanted) = match self.deviation {
            Some(of_logarithms) => (of_logarithms, share.ln_1p()),
            None => (
                half_width / quantile(count) * f64::from(count).sqrt(),
                share * self.value.abs(),
            ),
        };
        let is_enough =
            |runs: &u32| quantile(*runs) * deviation / f64::from(*runs).sqrt() <= wanted;
        (least..most).find(is_enough).unwrap_or(most)
    }
}
