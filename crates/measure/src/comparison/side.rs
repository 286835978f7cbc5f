//! A side of a comparison: one run, or several runs of one plan.

use super::compared_run::RunValue;
use crate::figure::AveragedFigure;
use crate::measure::figures::{IntervalUnavailable, RunFigure};
use filestone_workload::statistics::Estimate;
use filestone_workload::statistics::trimmed::{mean_unless_far_off, trimmed};

/// Assumed spread between runs of one plan, in addition to the run's own error, if neither side has
/// a second run: one standard deviation, as a share.
///
/// Placement of threads, caches and a server's age do not change within a run. Equal runs of the
/// built-in server differed by 4 to 18 % on one busy virtual machine.
pub const RUN_SPREAD: f64 = 0.10;

/// A side: runs of one plan.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Side {
    figures: Vec<Known>,
    runs: usize,
}

/// A figure in the runs of a side.
#[derive(Debug, Clone, PartialEq)]
struct Known {
    figure: RunFigure,
    runs: Vec<RunSample>,
}

/// Logarithm of a figure in a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct RunSample {
    pub(super) value: f64,
    pub(super) own: Result<Estimate, IntervalUnavailable>,
}

/// Mean of the logarithms of a figure in the runs of a side.
#[derive(Debug, Clone, Copy)]
struct LogarithmMean {
    mean: Estimate,
    /// Spread of the logarithms of single runs, one standard deviation.
    deviation: f64,
    runs: usize,
}

impl LogarithmMean {
    fn of(mean: Estimate, runs: usize) -> Self {
        Self {
            mean,
            deviation: mean.standard_error * (runs as f64).sqrt(),
            runs,
        }
    }

    fn figure(&self, figure: &RunFigure) -> AveragedFigure {
        let half_width = Some(self.mean.half_width());
        AveragedFigure {
            deviation: Some(self.deviation),
            ..AveragedFigure::of_logarithm(*figure, self.mean.value, half_width, self.runs)
        }
    }
}

impl Side {
    /// Creates a side from runs with these figures.
    pub fn of(runs: impl IntoIterator<Item = Vec<RunValue>>) -> Self {
        let mut side = Self::default();
        runs.into_iter().for_each(|run| side.add(&run));
        side
    }

    /// Adds a run with these figures.
    pub fn add(&mut self, run: &[RunValue]) {
        self.runs += 1;
        run.iter().for_each(|value| self.record(value));
    }

    fn record(&mut self, measured: &RunValue) {
        let RunValue { figure, value, own } = *measured;
        if value <= 0.0 {
            return;
        }
        let run = RunSample {
            value: value.ln(),
            own: own.and_then(|own| own.logarithm().ok_or(IntervalUnavailable::NoOperations)),
        };
        match self.figures.iter_mut().find(|known| known.figure == figure) {
            Some(known) => known.runs.push(run),
            None => self.figures.push(Known {
                figure,
                runs: vec![run],
            }),
        }
    }

    /// Returns the number of runs.
    pub fn runs(&self) -> usize {
        self.runs
    }

    /// Returns the figures of the runs.
    pub fn figures(&self) -> impl Iterator<Item = &RunFigure> {
        self.figures.iter().map(|known| &known.figure)
    }

    /// Returns the samples of a figure.
    pub(super) fn known(&self, figure: &RunFigure) -> Option<&[RunSample]> {
        let mut all = self.figures.iter();
        all.find(|known| known.figure == *figure)
            .map(|known| known.runs.as_slice())
    }

    /// Returns a figure over the runs; that of a single run has the interval that the run estimates
    /// for itself.
    pub fn figure(&self, figure: &RunFigure) -> Option<AveragedFigure> {
        let runs = self.known(figure)?;
        let several = between(runs).map(|mean| mean.figure(figure));
        several.or_else(|| {
            let [run] = runs else {
                return None;
            };
            let half_width = run.own.ok().map(|own| own.half_width());
            Some(AveragedFigure::of_logarithm(
                *figure, run.value, half_width, 1,
            ))
        })
    }

    /// Returns why the only run does not show how well it knows a figure.
    pub fn unavailable(&self, figure: &RunFigure) -> Option<IntervalUnavailable> {
        match self.known(figure)? {
            [run] => run.own.err(),
            _ => None,
        }
    }

    /// Returns the mean of the logarithms of a figure, if several runs have it.
    pub(crate) fn logarithm(&self, figure: &RunFigure) -> Option<Estimate> {
        between(self.known(figure)?).map(|mean| mean.mean)
    }
}

/// A figure of both sides.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair {
    pub(super) figure: RunFigure,
    pub(super) base: AveragedFigure,
    pub(super) new: AveragedFigure,
    /// Logarithm of the ratio of new to base.
    pub(super) difference: Estimate,
    /// Spread of the differences of pairs of runs, one of each side.
    pub(super) deviation: f64,
    /// Number of pairs excluded because of outliers.
    pub(super) left_out: usize,
}

impl Pair {
    /// Pairs a figure of two sides with independent runs; `None` unless both have it.
    pub(super) fn of(base: &Side, new: &Side, figure: &RunFigure) -> Option<Self> {
        let (base, new) = (base.known(figure)?, new.known(figure)?);
        let (base, new) = (of_runs(base, new)?, of_runs(new, base)?);
        Some(Self {
            figure: *figure,
            base: base.figure(figure),
            new: new.figure(figure),
            difference: new.mean.minus(&base.mean),
            deviation: base.deviation.hypot(new.deviation),
            left_out: 0,
        })
    }

    /// Pairs a figure of two sides whose runs were made side by side; `None` unless all runs of
    /// both sides have it.
    pub(super) fn side_by_side(base: &Side, new: &Side, figure: &RunFigure) -> Option<Self> {
        let pairs = base.runs.min(new.runs);
        let (of_base, of_new) = (base.known(figure)?, new.known(figure)?);
        if of_base.len() != pairs || of_new.len() != pairs {
            return None;
        }
        let differences = of_base.iter().zip(of_new);
        let differences = differences.map(|(base, new)| new.value - base.value);
        let found = mean_unless_far_off(&differences.collect::<Vec<_>>())?;
        let sides = match found.left_out {
            0 => Self::of(base, new, figure)?,
            _ => Self {
                base: without_ends(of_base)?.figure(figure),
                new: without_ends(of_new)?.figure(figure),
                ..Self::of(base, new, figure)?
            },
        };
        Some(Self {
            difference: found.estimate,
            deviation: found.estimate.standard_error * (pairs as f64).sqrt(),
            left_out: found.left_out,
            ..sides
        })
    }
}

/// Returns the figure of a side's runs. A single run gets the spread of the other side's runs; if
/// the other side has a single run, too, it gets [`RUN_SPREAD`] and its own error combined.
fn of_runs(runs: &[RunSample], others: &[RunSample]) -> Option<LogarithmMean> {
    if let Some(several) = between(runs) {
        return Some(several);
    }
    let [run] = runs else {
        return None;
    };
    let (deviation, freedom) = match between(others) {
        Some(others) => {
            let own = run.own.map_or(0.0, |own| own.standard_error);
            (others.deviation.max(own), others.mean.freedom)
        }
        None => {
            let own = run.own.ok()?;
            (RUN_SPREAD.hypot(own.standard_error), own.freedom)
        }
    };
    let mean = Estimate {
        value: run.value,
        standard_error: deviation,
        freedom,
    };
    Some(LogarithmMean::of(mean, 1))
}

/// Returns the figure of a side without its outermost runs.
fn without_ends(runs: &[RunSample]) -> Option<LogarithmMean> {
    let values: Vec<f64> = runs.iter().map(|run| run.value).collect();
    Some(LogarithmMean::of(trimmed(&values)?.estimate, runs.len()))
}

/// Returns the mean of several runs.
fn between(runs: &[RunSample]) -> Option<LogarithmMean> {
    let values: Vec<f64> = runs.iter().map(|run| run.value).collect();
    Estimate::of_independent(&values).map(|mean| LogarithmMean::of(mean, runs.len()))
}
