//! Accuracy of a percentile: from its interval in the record, or, without one, from the ranks of
//! its sample alone.
//!
//! The number of n independent values at or below the p-quantile is binomial: np with the standard
//! deviation √(np(1 − p)). The values of ranks np ± 1.96 √(np(1 − p)) therefore include it with
//! 95 % confidence, whatever the distribution (Conover, *Practical Nonparametric Statistics*, 3rd
//! edition, 1999, section 3.2).
//!
//! By ranks, it is shown without a mark if two conditions are met:
//!
//! - by ranks: the interval leaves at least half of the values beyond the quantile outside, so that
//!   its end is not an extreme of the sample. With m values expected beyond, that is 1.96 √(pm) ≤
//!   m/2, m ≥ 15.4 p: 8 of 16 for a median, 16 for all high percentiles;
//! - by value: the upper end is at most twice the lower. For an exponential distribution that takes
//!   69 values for the median; high percentiles have narrower intervals.
//!
//! An interval in the record has both ends only if there are values beyond the upper one. It
//! accounts for correlation between consecutive operations, which ranks do not, so that only the
//! second condition applies to it.

use super::{Bound, Check, CheckSubject, PercentileOfAll, STANDARD_ERRORS, Verdict};
use crate::measure::caveat::thresholds::SPREAD_MAX;
use crate::measure::figure_record::RecordedInterval;
use crate::measure::run_record::{RunRecord, Totals};
use filestone_workload::figure::{Quantity, RunFigure, Statistic, TimeKind};
use filestone_workload::operation::OpKind;
use filestone_workload::recording::distribution::DistributionRecord;

/// Share of the values beyond the quantile by which the end of the interval may be nearer to the
/// extreme.
const TAIL_SHARE: f64 = 0.5;
/// Percentile of all operations that is checked.
const JUDGED: f64 = 0.99;

/// Returns the number of values that must be beyond a quantile for its rank to be known.
pub fn beyond_min(quantile: f64) -> f64 {
    let (tail, rest) = (quantile.min(1.0 - quantile), quantile.max(1.0 - quantile));
    if tail <= 0.0 {
        return f64::INFINITY;
    }
    rest * (STANDARD_ERRORS / TAIL_SHARE).powi(2)
}

/// Returns whether there are enough values beyond the quantile, with `count` values.
pub fn is_rank_known(count: u64, quantile: f64) -> bool {
    let tail = quantile.min(1.0 - quantile);
    // 98 · (1 − 0.9) is 9.799…: a rounding error in the last bit must not lose the value itself.
    count as f64 * tail * (1.0 + 1e-9) >= beyond_min(quantile)
}

/// 95 % interval of a percentile, as shown in headings, tables, caveats, pages and plots.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PercentileInterval {
    /// Lower end.
    pub low_ns: f64,
    /// Upper end; `None` if it exceeds the slowest operation, or if too few values are above.
    pub high_ns: Option<f64>,
    /// Whether the interval is from the record; otherwise it is computed from ranks alone.
    pub is_kept: bool,
}

impl PercentileInterval {
    fn of_kept(kept: RecordedInterval<'_>) -> Self {
        let (low_ns, high_ns) = match kept {
            RecordedInterval::TwoSided(kept) => (kept.low, Some(kept.high)),
            RecordedInterval::OneSided(kept) => (kept.low, None),
        };
        Self {
            low_ns,
            high_ns,
            is_kept: true,
        }
    }

    /// Computes the interval from ranks; `None` if there are no times or the histogram cannot be
    /// read.
    fn of_ranks(times: &DistributionRecord, quantile: f64) -> Option<Self> {
        let (low, high) = ranks(times, quantile)?;
        let is_closed = is_rank_known(times.count, quantile);
        Some(Self {
            low_ns: low as f64,
            high_ns: is_closed.then_some(high as f64),
            is_kept: false,
        })
    }

    /// Returns whether the percentile can be shown without a mark.
    pub fn is_known(&self) -> bool {
        self.high_ns
            .is_some_and(|high| high <= SPREAD_MAX * self.low_ns)
    }
}

/// Returns the values at the ends of the interval of ranks, limited to the extremes of the sample.
fn ranks(times: &DistributionRecord, quantile: f64) -> Option<(u64, u64)> {
    if times.count == 0 {
        return None;
    }
    let histogram = times.decode().ok()?;
    let count = times.count as f64;
    let half = STANDARD_ERRORS * (quantile * (1.0 - quantile) / count).sqrt();
    let value = |share: f64| {
        let share = share.clamp(0.0, 1.0);
        let value = histogram.value_at_quantile(share);
        value.max(times.min).min(times.max)
    };
    Some((value(quantile - half), value(quantile + half)))
}

/// A set of times of a run.
#[derive(Debug, Clone, Copy)]
pub struct TimesOf<'record> {
    /// Totals of the run.
    pub totals: &'record Totals,
    /// Measured kind of operation; `None` for all together.
    pub operation: Option<OpKind>,
    /// Start of the times: response or service time.
    pub timed: TimeKind,
}

impl<'record> TimesOf<'record> {
    /// Selects the response times of all measured operations.
    pub const fn all(totals: &'record Totals) -> Self {
        Self {
            totals,
            operation: None,
            timed: TimeKind::Response,
        }
    }

    /// Returns the stored interval of a percentile.
    fn kept(&self, quantile: f64) -> Option<PercentileInterval> {
        let figure = RunFigure {
            operation: self.operation,
            quantity: Quantity::Time(self.timed, Statistic::of_quantile(quantile)?),
        };
        let kept = self.totals.kept_interval(&figure.to_string())?;
        Some(PercentileInterval::of_kept(kept))
    }

    /// Returns the interval of a percentile; `None` if there are no times or the histogram cannot
    /// be read.
    pub fn interval(&self, quantile: f64) -> Option<PercentileInterval> {
        let of_ranks = || {
            let times = self.totals.times(self.operation, self.timed)?;
            PercentileInterval::of_ranks(times, quantile)
        };
        self.kept(quantile).or_else(of_ranks)
    }

    /// Returns whether a percentile can be shown without a mark.
    ///
    /// Ranks assume independent operations, which need not be true. A percentile of the tail with
    /// an interval from ranks only is therefore unknown if a stored interval of a lower percentile
    /// in the tail is too wide.
    pub fn is_known(&self, quantile: f64) -> bool {
        let Some(interval) = self.interval(quantile) else {
            return false;
        };
        let is_below = |other: &f64| 0.5 < *other && *other < quantile;
        let all = Statistic::ALL.into_iter();
        let mut below = all.filter_map(Statistic::quantile).filter(is_below);
        let is_unknown = |below: f64| self.kept(below).is_some_and(|kept| !kept.is_known());
        interval.is_known() && (interval.is_kept || !below.any(is_unknown))
    }
}

/// Returns whether a percentile can be shown without a mark, from its ranks.
pub fn is_known(times: &DistributionRecord, quantile: f64) -> bool {
    PercentileInterval::of_ranks(times, quantile).is_some_and(|interval| interval.is_known())
}

/// Checks the highest percentile that every report shows, of all operations.
pub(super) fn of_all(record: &RunRecord) -> Option<Check> {
    let totals = &record.totals;
    let times = &totals.response_time_ns;
    if times.count == 0 {
        return None;
    }
    let known = TimesOf::all(totals).interval(JUDGED);
    let (from_ns, to_ns) = known.map_or((times.min, None), |known| {
        (known.low_ns as u64, known.high_ns.map(|high| high as u64))
    });
    let above = times.count as f64 * (1.0 - JUDGED);
    let figures = PercentileOfAll {
        quantile: JUDGED,
        value_ns: times.p99,
        from_ns,
        to_ns,
        above: above.round() as u64,
        count: times.count,
    };
    let is_kept = known.is_some_and(|known| known.is_kept);
    if !is_kept && !is_rank_known(times.count, JUDGED) {
        return Some(too_few_above(figures));
    }
    let spread = to_ns.map_or(f64::INFINITY, |to| to as f64 / from_ns.max(1) as f64);
    let bound = Bound::at_most(SPREAD_MAX);
    let subject = CheckSubject::PercentileSpread(figures);
    Some(Check::judged(subject, spread, bound, 0.0))
}

fn too_few_above(figures: PercentileOfAll) -> Check {
    let bound = Bound {
        least: Some(beyond_min(JUDGED).ceil()),
        ideal: 0.0,
        most: None,
    };
    Check {
        subject: CheckSubject::SamplesAbove(figures),
        figure: figures.above as f64,
        bound,
        chance: 0.0,
        verdict: Verdict::Fails,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::{FigureRecord, OneSidedFigureRecord};
    use filestone_workload::recording::Distribution;

    #[test]
    fn a_median_of_98_is_known_and_a_p99_9_of_5000_is_not() {
        assert!(is_rank_known(98, 0.5));
        assert!(!is_rank_known(5000, 0.999));
        // 1.96² · 4 · p values beyond it: 7.7, 15.21 and 15.35.
        let least = |quantile: f64| {
            let mut counts = 1..100_000;
            counts.find(|count| is_rank_known(*count, quantile))
        };
        assert_eq!(least(0.5), Some(16));
        assert_eq!(least(0.99), Some(1522));
        assert_eq!(least(0.999), Some(15_351));
        // The lower tail is equivalent.
        assert_eq!(least(0.01), least(0.99));
    }

    /// Returns the quantiles of an exponential distribution with mean 1 ms, one value for each of
    /// `count`.
    fn exponential(count: u64) -> DistributionRecord {
        let mut times = Distribution::<u64>::new();
        for index in 0..count {
            let share = (index as f64 + 0.5) / count as f64;
            times.record((-1e6 * (1.0 - share).ln()) as u64);
        }
        times.to_record()
    }

    #[test]
    fn the_interval_is_that_of_the_ranks() {
        // np ± 1.96 √(np(1 − p)) of 10,000 is 9,900 ± 19.5: −ln 0.01195 and −ln 0.00805.
        let (from, to) = ranks(&exponential(10_000), 0.99).expect("values");
        assert!((from as f64 / 4.427e6 - 1.0).abs() < 0.002, "{from}");
        assert!((to as f64 / 4.822e6 - 1.0).abs() < 0.002, "{to}");
        // With 100 values the upper rank is 100.95: there is no such value, and the interval ends
        // at the maximum.
        let few = exponential(100);
        assert_eq!(ranks(&few, 0.99).map(|(_, to)| to), Some(few.max));
        assert_eq!(ranks(&DistributionRecord::default(), 0.5), None);
    }

    #[test]
    fn a_percentile_is_known_within_a_factor_of_two() {
        // ln 0.382 = 2 ln 0.618: the median of an exponential distribution is known where
        // 1.96 · 0.5/√n ≤ 0.118, from 69 values on.
        assert!(!is_known(&exponential(60), 0.5));
        assert!(is_known(&exponential(80), 0.5));
        assert!(is_known(&exponential(98), 0.5));
        assert!(is_known(&exponential(2000), 0.99));
        assert!(!is_known(&exponential(5000), 0.999));
        // 1 of 100 takes ten times as long: chance decides whether p99 is among them.
        let mut cliff = Distribution::<u64>::new();
        (0..9900).for_each(|_| cliff.record(100_000));
        (0..100).for_each(|_| cliff.record(1_000_000));
        assert!(!is_known(&cliff.to_record(), 0.99));
        assert!(is_known(&cliff.to_record(), 0.9));
    }

    /// Returns the totals of a record whose p99 has the interval from `low` to `high`, in
    /// milliseconds.
    fn with_p99(low: f64, high: Option<f64>) -> Totals {
        let totals = Totals {
            response_time_ns: exponential(100_000),
            ..Totals::default()
        };
        let name = || "response_time.p99".to_owned();
        let open = OneSidedFigureRecord {
            name: name(),
            unit: "ns".into(),
            low: low * 1e6,
            confidence: 0.95,
        };
        let Some(high) = high else {
            return Totals {
                open_figures: vec![open],
                ..totals
            };
        };
        let whole = FigureRecord {
            name: name(),
            unit: "ns".into(),
            value: 4.6e6,
            low: low * 1e6,
            high: high * 1e6,
            confidence: 0.95,
            standard_error: 1e5,
            degrees_of_freedom: 19.0,
            batches: 20,
            method: "woodruff".into(),
        };
        Totals {
            figures: vec![whole],
            ..totals
        }
    }

    #[test]
    fn a_kept_interval_goes_before_ranks_and_an_open_one_is_not_known() {
        // By ranks p99 and p99.9 of 100,000 are known.
        let by_ranks = Totals {
            response_time_ns: exponential(100_000),
            ..Totals::default()
        };
        let known =
            |totals: &Totals| [0.5, 0.9, 0.99, 0.999].map(|at| TimesOf::all(totals).is_known(at));
        assert_eq!(known(&by_ranks), [true; 4]);
        assert_eq!(known(&with_p99(4.0, Some(5.0))), [true; 4]);
        // A percentile further out than an unknown one is unknown, too.
        let beyond = [true, true, false, false];
        assert_eq!(known(&with_p99(4.0, Some(8.1))), beyond);
        let open = with_p99(0.01, None);
        assert_eq!(known(&open), beyond);
        let interval = TimesOf::all(&open).interval(0.99).expect("it is kept");
        assert_eq!((interval.low_ns, interval.high_ns), (10_000.0, None));
    }

    #[test]
    fn ranks_without_enough_values_above_have_no_upper_end() {
        let totals = Totals {
            response_time_ns: exponential(1000),
            ..Totals::default()
        };
        let interval = TimesOf::all(&totals).interval(0.99).expect("values");
        assert_eq!((interval.high_ns, interval.is_kept), (None, false));
        assert_eq!(TimesOf::all(&Totals::default()).interval(0.99), None);
    }
}
