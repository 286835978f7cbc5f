//! Whether a run counts: each check with its figure, the bound that was applied, what chance can
//! explain, and one of three verdicts.
//!
//! The caveats about a run's validity and the table that shows all checks are both made of
//! these, so that they cannot disagree. What is not a matter of a bound, such as an interrupted
//! run or a debug build, is a caveat alone.

pub mod caveats;
mod load;
mod mix;
mod objective;
pub mod percentile;

pub use load::{
    ACHIEVED_OFF_PERCENT, BUSY_PERCENT, DISPATCH_SHARE, GeneratorUse, LATE_PERCENT_MAX,
    achieved_load_ops_per_s, due_load_ops_per_s, generator_use, of_warm_up,
};
pub use mix::{DRIFT_PERCENT, INVALID_PERCENT, LITTLE_PERCENT, OFF_SHARE, in_flight_by_law};
pub use objective::{KEPT_UP, LoadVerdict, has_kept_up};

use crate::measure::run_record::RunRecord;
use crate::measure::shortfall::Shortfall;
use crate::measure::validity_record::Validity;
use filestone_workload::operation::OpKind;

/// The 97.5th percentile of the normal distribution: so many standard errors on either side hold a
/// figure with 95 % confidence.
pub const STANDARD_ERRORS: f64 = 1.959_964;
/// The smallest distance from a bound that a longer run is asked to resolve, as a share of the
/// bound's width. A figure on the bound itself would take for ever.
const RESOLVED_SHARE: f64 = 0.25;

/// One check of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// What is checked, with the figures that say so.
    pub subject: CheckSubject,
    /// What came out, in the unit of the bound.
    pub figure: f64,
    /// What it must be.
    pub bound: Bound,
    /// Half of the figure's 95 % interval, in the same unit; 0 of what was counted.
    pub chance: f64,
    /// What follows.
    pub verdict: Verdict,
}

/// What a figure must not be outside of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    /// The least it may be.
    pub least: Option<f64>,
    /// What it ought to be: the width of the bound is counted from here.
    pub ideal: f64,
    /// The most it may be.
    pub most: Option<f64>,
}

impl Bound {
    /// So much to either side of `ideal`.
    const fn around(ideal: f64, width: f64) -> Self {
        Self {
            least: Some(ideal - width),
            ideal,
            most: Some(ideal + width),
        }
    }

    /// No more than that.
    const fn at_most(most: f64) -> Self {
        Self {
            least: None,
            ideal: 0.0,
            most: Some(most),
        }
    }

    /// Whether a figure is inside.
    pub fn holds(&self, figure: f64) -> bool {
        self.least.is_none_or(|least| figure >= least)
            && self.most.is_none_or(|most| figure <= most)
    }

    /// The three ways: inside with all that chance leaves open, outside with all of it, or neither.
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

    /// How many times as long a run tells it: chance shrinks with the root of the length, and is
    /// to be no more than the way from the figure to the bound, or than the bound is wide.
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

/// What comes of a check.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Verdict {
    /// The figure is within the bound, with all that chance leaves open.
    Passes,
    /// It is outside, whatever chance did.
    Fails,
    /// This run does not tell.
    Inconclusive(InconclusiveReason),
}

/// Why a run does not tell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum InconclusiveReason {
    /// Chance explains more than the bound: so many times as long a run tells.
    TooShort {
        /// At least 1.
        times: f64,
    },
    /// No load was lost, however busy the load generator was.
    NothingLost,
    /// A connection was lost, and held operations that were not sent.
    ConnectionLost,
    /// Operations take so long that those at the ends of the window decide.
    WarmUpBacklog,
    /// The run ended before its time.
    EndedEarly,
}

/// What is checked, with the figures to show beside the one that is judged.
#[derive(Debug, Clone, PartialEq)]
pub enum CheckSubject {
    /// The sum of |got − want| over all operations, in percent: nhfsstone's rule.
    MixInAll,
    /// The operation that is off its share most, in percent of its share.
    MixOf(ShareDeviation),
    /// The same on the wire of a kernel's client, in percent of all calls.
    MixOnWireOf(ShareDeviation),
    /// Achieved load over the load that was due, in percent.
    Achieved {
        /// Operations due per second; calls, where those are what is offered.
        due_ops_per_s: f64,
        /// And done.
        achieved_ops_per_s: f64,
        /// Operations that were due in the warm-up and ended in the window, less those that
        /// were due in the window and ended after it.
        left_over: i64,
        /// Why less was achieved than was due, if it was.
        shortfall: Option<Shortfall>,
    },
    /// Our own lateness in the mean, in nanoseconds.
    DispatchDelay {
        /// Its 99th percentile.
        p99_ns: u64,
        /// Mean response time.
        response_time_mean_ns: f64,
    },
    /// Processor time of the busiest worker in percent of the window, or of all workers in percent of
    /// that of the processors that they may use, whichever is more.
    Headroom {
        /// The busiest one's number.
        worker: u32,
        /// How many there are.
        workers: u32,
        /// How many processors these are, if all workers are what counts.
        processors: Option<f64>,
    },
    /// Operations that ended otherwise than expected, in percent of those that ended.
    Unexpected {
        /// How many.
        count: u64,
        /// Of how many.
        completed: u64,
    },
    /// Operations that were due and never sent.
    Skipped {
        /// All that were due.
        scheduled: u64,
    },
    /// How far the operations in flight, as counted, are outside of what Little's law leaves
    /// open, in percent.
    InFlight {
        /// As counted.
        counted: f64,
        /// The fewest by the law.
        least: f64,
        /// The most by the law.
        most: f64,
    },
    /// Mean response time of the last third against the first, in percent.
    SteadyState {
        /// Mean of the first third.
        first_ns: f64,
        /// Mean of the last.
        last_ns: f64,
    },
    /// Operations above a percentile of all, where they are too few.
    SamplesAbove(PercentileOfAll),
    /// The upper end of a percentile's 95 % interval over the lower; infinite if there is none.
    PercentileSpread(PercentileOfAll),
}

/// One operation's place in a mix.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ShareDeviation {
    /// The operation that is off most, measured against what it may be.
    pub operation: OpKind,
    /// Its share of the mix, in percent.
    pub want_percent: f64,
    /// Its share of what was done.
    pub got_percent: f64,
    /// How many operations are off by more than they may.
    pub off: u64,
    /// Of how many.
    pub of: u64,
}

/// A percentile of the response times of all operations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PercentileOfAll {
    /// Which, between 0 and 1.
    pub quantile: f64,
    /// What it is.
    pub value_ns: u64,
    /// Its 95 % interval.
    pub from_ns: u64,
    /// The other end; `None` if it lies beyond the slowest operation.
    pub to_ns: Option<u64>,
    /// Operations that are expected above it.
    pub above: u64,
    /// All operations.
    pub count: u64,
}

/// All checks that can be made of a record, in the order in which they are shown. Of a run that is
/// steered there are those of its mix and of its outcomes only: it goes to the limits on purpose. Of a replay, whose
/// threads work in system calls, there is the one of its percentiles.
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
    /// A check whose figure is held against its bound.
    fn judged(subject: CheckSubject, figure: f64, bound: Bound, chance: f64) -> Self {
        Self {
            verdict: bound.evaluate(figure, chance),
            subject,
            figure,
            bound,
            chance,
        }
    }

    /// The same, where something keeps the run from telling.
    fn unless(self, untold: Option<InconclusiveReason>) -> Self {
        match untold {
            None => self,
            Some(untold) => Self {
                verdict: Verdict::Inconclusive(untold),
                ..self
            },
        }
    }

    /// Whether its figure is outside of its bound.
    pub fn fails(&self) -> bool {
        self.verdict == Verdict::Fails
    }

    /// The best that the run can be by this: a check that fails is a caveat, and what follows is
    /// what that one's rule says.
    pub fn leaves(&self, record: &RunRecord) -> Validity {
        let broken = self.fails().then(|| caveats::of_check(record, self));
        broken
            .flatten()
            .map_or(Validity::Counts, |caveat| caveat.leaves())
    }
}

#[cfg(test)]
mod tests;
