//! Checks of a run: each with its figure, the bound that was applied, the effect of chance, and one
//! of three verdicts.
//!
//! The caveats about a run's validity and the table of all checks are both made from these, so that
//! they cannot contradict each other. Conditions without a bound, such as an interrupted run or a
//! debug build, are caveats only.

pub mod caveats;
mod load;
mod mix;
mod objective;
pub mod percentile;

pub use load::{
    GeneratorUse, achieved_load_ops_per_s, due_load_ops_per_s, generator_use, of_warm_up,
};
pub use mix::in_flight_by_law;
pub use objective::{LoadVerdict, has_kept_up};

use crate::measure::run_record::RunRecord;
use crate::measure::shortfall::Shortfall;
use crate::measure::validity_record::Validity;
use filestone_workload::operation::OpKind;

/// 97.5th percentile of the normal distribution: the 95 % confidence interval extends this number
/// of standard errors to either side.
pub const STANDARD_ERRORS: f64 = 1.959_964;
/// Smallest distance from a bound that a suggested longer run resolves, as a share of the bound's
/// width. A figure exactly on the bound would take forever.
const RESOLVED_SHARE: f64 = 0.25;

/// A check of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// Subject of the check, with further figures.
    pub subject: CheckSubject,
    /// Figure in the unit of the bound.
    pub figure: f64,
    /// Permitted range.
    pub bound: Bound,
    /// Half of the figure's 95 % interval, in the same unit; 0 for counts.
    pub chance: f64,
    /// Result of the check.
    pub verdict: Verdict,
}

/// Permitted range of a figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    /// Minimum.
    pub least: Option<f64>,
    /// Ideal value: the width of the bound is measured from here.
    pub ideal: f64,
    /// Maximum.
    pub most: Option<f64>,
}

impl Bound {
    /// Creates a bound of ± `width` around `ideal`.
    const fn around(ideal: f64, width: f64) -> Self {
        Self {
            least: Some(ideal - width),
            ideal,
            most: Some(ideal + width),
        }
    }

    /// Creates a bound with a maximum.
    const fn at_most(most: f64) -> Self {
        Self {
            least: None,
            ideal: 0.0,
            most: Some(most),
        }
    }

    /// Returns whether a figure is within the bound.
    pub fn holds(&self, figure: f64) -> bool {
        self.least.is_none_or(|least| figure >= least)
            && self.most.is_none_or(|most| figure <= most)
    }

    /// Returns the verdict: the interval of the figure is inside the bound, outside, or neither.
    pub fn evaluate(&self, figure: f64, chance: f64) -> Verdict {
        let ends = [figure - chance, figure + chance];
        if ends.into_iter().all(|end| self.holds(end)) {
            return Verdict::Passes;
        }
        let is_below = self.least.is_some_and(|least| figure + chance < least);
        let is_above = self.most.is_some_and(|most| figure - chance > most);
        if is_below || is_above {
            Verdict::Fails
        } else {
            Verdict::Inconclusive(InconclusiveReason::TooShort {
                times: self.times_as_long(figure, chance),
            })
        }
    }

    /// Returns the multiple of the run's length that makes the check conclusive. The interval
    /// shrinks with the root of the length, and must be no wider than the distance from the figure
    /// to the bound, or than the width of the bound.
    fn times_as_long(&self, figure: f64, chance: f64) -> f64 {
        let ends = [self.least, self.most].into_iter().flatten();
        let nearest =
            ends.min_by(|one, other| (one - figure).abs().total_cmp(&(other - figure).abs()));
        let Some(nearest) = nearest else {
            return 1.0;
        };
        let width = (nearest - self.ideal).abs();
        let wanted = (nearest - figure)
            .abs()
            .min(width)
            .max(RESOLVED_SHARE * width);
        (chance / wanted).powi(2).max(1.0)
    }
}

/// Verdict of a check.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Verdict {
    /// The figure with its whole interval is within the bound.
    Passes,
    /// The figure with its whole interval is outside of the bound.
    Fails,
    /// This run is inconclusive.
    Inconclusive(InconclusiveReason),
}

/// Reason why a check is inconclusive.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum InconclusiveReason {
    /// The interval is too wide for the bound; a run `times` times as long would be conclusive.
    TooShort {
        /// Multiple of the length, at least 1.
        times: f64,
    },
    /// No load was lost, however busy the load generator was.
    NothingLost,
    /// A connection was lost and held operations that were not sent.
    ConnectionLost,
    /// Operations take so long that those at the ends of the window dominate.
    WarmUpBacklog,
    /// The run ended early.
    EndedEarly,
}

/// Subject of a check, with figures shown in addition to the checked one.
#[derive(Debug, Clone, PartialEq)]
pub enum CheckSubject {
    /// Sum of |got − want| over all operations, in percent: nhfsstone's rule.
    MixInAll,
    /// Operation with the largest deviation from its share, in percent of the share.
    MixOf(ShareDeviation),
    /// Operation with the largest deviation on the network, of a kernel's client, in percent of all
    /// calls.
    MixOnWireOf(ShareDeviation),
    /// Achieved load over the load that was due, in percent.
    Achieved {
        /// Due operations per second, or calls, if the offered load is in calls.
        due_ops_per_s: f64,
        /// Achieved operations per second, or calls.
        achieved_ops_per_s: f64,
        /// Operations due in the warm-up that ended in the window, minus those due in the window
        /// that ended after it.
        left_over: i64,
        /// Cause of an achieved load below the due load.
        shortfall: Option<Shortfall>,
    },
    /// Mean delay of the load generator, in nanoseconds.
    DispatchDelay {
        /// 99th percentile of the delay.
        p99_ns: u64,
        /// Mean response time in nanoseconds.
        response_time_mean_ns: f64,
    },
    /// CPU time of the busiest worker in percent of the window, or of all workers in percent of
    /// that of their available CPUs, whichever is higher.
    Headroom {
        /// Number of the busiest worker.
        worker: u32,
        /// Number of workers.
        workers: u32,
        /// Number of CPUs, if the figure is that of all workers.
        processors: Option<f64>,
    },
    /// Operations with an unexpected outcome, in percent of those that ended.
    Unexpected {
        /// Number of unexpected outcomes.
        count: u64,
        /// Number of operations that ended.
        completed: u64,
    },
    /// Operations that were due and never sent.
    Skipped {
        /// Number of due operations.
        scheduled: u64,
    },
    /// Distance of the counted operations in flight from the range that Little's law permits, in
    /// percent.
    InFlight {
        /// Mean number as counted.
        counted: f64,
        /// Minimum by the law.
        least: f64,
        /// Maximum by the law.
        most: f64,
    },
    /// Mean response time of the last third relative to the first, in percent.
    SteadyState {
        /// Mean of the first third, in nanoseconds.
        first_ns: f64,
        /// Mean of the last third, in nanoseconds.
        last_ns: f64,
    },
    /// Operations above a percentile of all operations, if there are too few.
    SamplesAbove(PercentileOfAll),
    /// Upper end of a percentile's 95 % interval over the lower end; infinite without an upper end.
    PercentileSpread(PercentileOfAll),
}

/// Deviation of one operation from its share of the mix.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ShareDeviation {
    /// Operation with the largest deviation, relative to the permitted one.
    pub operation: OpKind,
    /// Requested share of the mix, in percent.
    pub want_percent: f64,
    /// Achieved share, in percent.
    pub got_percent: f64,
    /// Number of kinds of operations that deviate by more than permitted.
    pub off: u64,
    /// Number of kinds of operations.
    pub of: u64,
}

/// A percentile of the response times of all operations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PercentileOfAll {
    /// Quantile between 0 and 1.
    pub quantile: f64,
    /// Value in nanoseconds.
    pub value_ns: u64,
    /// Lower end of its 95 % interval.
    pub from_ns: u64,
    /// Upper end of its 95 % interval; `None` if it exceeds the slowest operation.
    pub to_ns: Option<u64>,
    /// Number of operations expected above it.
    pub above: u64,
    /// Number of all operations.
    pub count: u64,
}

/// Returns all checks of a record, in display order. A run with load control only has those of its
/// mix and its outcomes, since it overloads the server on purpose. A replay, whose threads work in
/// system calls, only has the one of its percentiles.
pub fn checks(record: &RunRecord) -> Vec<Check> {
    if record.replay.is_some() {
        return percentile::of_all(record).into_iter().collect();
    }
    let is_steered = record.plan.steering.is_some();
    let unless_steered = |check: Option<Check>| check.filter(|_| !is_steered);
    let mix = record.mix.as_ref();
    let achieved = unless_steered(load::achieved(record));
    [
        mix.map(|mix| mix::in_all(record, mix)),
        mix.and_then(|mix| mix::worst_share(record, mix)),
        achieved.clone(),
        unless_steered(load::dispatch(record)),
        unless_steered(load::headroom(record, achieved.as_ref())),
        Some(load::unexpected(record)),
        unless_steered(Some(load::skipped(&record.totals.ledger))),
        mix.and_then(|mix| mix::in_flight(record, mix)),
        unless_steered(mix.and_then(mix::steady)),
        unless_steered(percentile::of_all(record)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

impl Check {
    /// Creates a check by comparing a figure with its bound.
    fn judged(subject: CheckSubject, figure: f64, bound: Bound, chance: f64) -> Self {
        Self {
            verdict: bound.evaluate(figure, chance),
            subject,
            figure,
            bound,
            chance,
        }
    }

    /// Makes the check inconclusive, if there is a reason.
    fn unless(self, untold: Option<InconclusiveReason>) -> Self {
        match untold {
            None => self,
            Some(untold) => Self {
                verdict: Verdict::Inconclusive(untold),
                ..self
            },
        }
    }

    /// Returns whether the check fails.
    pub fn fails(&self) -> bool {
        self.verdict == Verdict::Fails
    }

    /// Returns the best validity that the check leaves: a check that fails is a caveat, whose rule
    /// decides.
    pub fn leaves(&self, record: &RunRecord) -> Validity {
        let broken = self.fails().then(|| caveats::of_check(record, self));
        broken
            .flatten()
            .map_or(Validity::Counts, |caveat| caveat.leaves())
    }
}

#[cfg(test)]
mod tests;
