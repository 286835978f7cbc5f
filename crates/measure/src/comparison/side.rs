//! One side of a comparison: a run, or several of the same.

use super::compared_run::RunValue;
use crate::measure::figures::RunFigure;
use filestone_workload::statistics::Estimate;
use filestone_workload::statistics::trimmed::{mean_unless_far_off, trimmed};

/// What single runs of the same are taken to differ by, beyond what each knows of itself, where
/// neither side has a second one: as a share, one standard deviation.
///
/// Placement of threads, caches and a server's age do not change within a run. Equal runs of the
/// built-in server differed by 4 to 18 % on one busy virtual machine.
pub const RUN_SPREAD: f64 = 0.10;

/// One side: runs of the same.
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

/// The logarithm of a figure in a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct RunSample {
    pub(super) value: f64,
    pub(super) own: Option<Estimate>,
}

/// A figure of a side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SideFigure {
    /// The figure: of several runs, their geometric mean.
    pub value: f64,
    /// Its logarithm, and how well that is known.
    pub logarithm: Estimate,
    /// By what the logarithms of single runs differ, one standard deviation.
    pub deviation: f64,
    /// Runs that have it.
    pub runs: usize,
}

impl Side {
    /// A side of runs with these figures.
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
            own: own.and_then(|own| own.logarithm()),
        };
        match self.figures.iter_mut().find(|known| known.figure == figure) {
            Some(known) => known.runs.push(run),
            None => self.figures.push(Known {
                figure,
                runs: vec![run],
            }),
        }
    }

    /// How many runs it has.
    pub fn runs(&self) -> usize {
        self.runs
    }

    /// The figures that its runs have.
    pub fn figures(&self) -> impl Iterator<Item = &RunFigure> {
        self.figures.iter().map(|known| &known.figure)
    }

    /// What its runs have of a figure.
    pub(super) fn known(&self, figure: &RunFigure) -> Option<&[RunSample]> {
        let mut all = self.figures.iter();
        all.find(|known| known.figure == *figure)
            .map(|known| known.runs.as_slice())
    }
}

/// The logarithm of a figure of the only run that has it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SingleFigure {
    pub(crate) logarithm: f64,
    /// Half of the 95 % interval that the run has of itself.
    pub(crate) interval: Option<f64>,
}

/// What is known of a figure that one run of the side has; `None` of several.
pub(crate) fn single(side: &Side, figure: &RunFigure) -> Option<SingleFigure> {
    let [run] = side.known(figure)? else {
        return None;
    };
    Some(SingleFigure {
        logarithm: run.value,
        interval: run.own.map(|own| own.half_width()),
    })
}

/// A figure of both sides.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair {
    pub(super) figure: RunFigure,
    pub(super) base: SideFigure,
    pub(super) new: SideFigure,
    /// How much more the other's is, as logarithms.
    pub(super) difference: Estimate,
    /// By what pairs of runs, one of each side, differ.
    pub(super) deviation: f64,
    /// So many pairs were left out, because some were far off.
    pub(super) left_out: usize,
}

impl Pair {
    /// Of sides whose runs have nothing to do with each other; `None` unless both have it.
    pub(super) fn of(base: &Side, new: &Side, figure: &RunFigure) -> Option<Self> {
        let (base, new) = (base.known(figure)?, new.known(figure)?);
        let (base, new) = (of_runs(base, new)?, of_runs(new, base)?);
        Some(Self {
            figure: *figure,
            base,
            new,
            difference: new.logarithm.minus(&base.logarithm),
            deviation: base.deviation.hypot(new.deviation),
            left_out: 0,
        })
    }

    /// Of sides of which each run of one was made beside the same run of the other; `None`
    /// unless all runs of both have it.
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
                base: without_ends(of_base)?,
                new: without_ends(of_new)?,
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

/// What is known of a side's runs. One alone differs from its like as those of the other side do;
/// where neither side has a second one, it takes what the run knows of itself.
pub(super) fn of_runs(runs: &[RunSample], others: &[RunSample]) -> Option<SideFigure> {
    if let Some(logarithm) = between(runs) {
        return Some(SideFigure {
            value: logarithm.value.exp(),
            logarithm,
            deviation: logarithm.standard_error * (runs.len() as f64).sqrt(),
            runs: runs.len(),
        });
    }
    let [run] = runs else {
        return None;
    };
    let (deviation, freedom) = match between(others) {
        Some(others_mean) => {
            let deviation = others_mean.standard_error * (others.len() as f64).sqrt();
            let own = run.own.map_or(0.0, |own| own.standard_error);
            (deviation.max(own), others_mean.freedom)
        }
        None => {
            let own = run.own?;
            (RUN_SPREAD.hypot(own.standard_error), own.freedom)
        }
    };
    Some(SideFigure {
        value: run.value.exp(),
        logarithm: Estimate {
            value: run.value,
            standard_error: deviation,
            freedom,
        },
        deviation,
        runs: 1,
    })
}

/// What is known of a side without its outermost runs.
fn without_ends(runs: &[RunSample]) -> Option<SideFigure> {
    let values: Vec<f64> = runs.iter().map(|run| run.value).collect();
    let logarithm = trimmed(&values)?.estimate;
    Some(SideFigure {
        value: logarithm.value.exp(),
        logarithm,
        deviation: logarithm.standard_error * (runs.len() as f64).sqrt(),
        runs: runs.len(),
    })
}

/// The mean of several runs.
fn between(runs: &[RunSample]) -> Option<Estimate> {
    let values: Vec<f64> = runs.iter().map(|run| run.value).collect();
    Estimate::of_independent(&values)
}
