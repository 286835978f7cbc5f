//! How well a percentile is known: by the interval that the record keeps of it, or from the ranks of its
//! sample alone where it keeps none.
//!
//! Of n independent values as many as a binomial count lie at or below the p-quantile: np with the
//! standard deviation √(np(1 − p)). So the values of ranks np ± 1.96 √(np(1 − p)) hold it with
//! 95 % confidence whatever the distribution is (Conover, *Practical Nonparametric Statistics*,
//! 3rd edition, 1999, section 3.2).
//!
//! By ranks it is quoted without a mark if it is known twofold:
//!
//! - by ranks: the interval leaves at least half of what lies beyond the quantile beyond itself,
//!   so that its end is no extreme of the sample. With m values expected beyond, that is
//!   1.96 √(pm) ≤ m/2, m ≥ 15.4 p: 8 of 16 for a median, 16 for all high percentiles;
//! - by value: the upper end is no more than twice the lower. Of an exponential distribution that
//!   takes 69 values for the median; high percentiles are narrower than that.
//!
//! A kept interval has both ends only if values lie beyond its upper one. It sees what ranks do not, that
//! operations one after the other are alike, so that only the second is asked of it.

use super::{Bound, Check, CheckSubject, PercentileOfAll, STANDARD_ERRORS, Verdict};
use crate::measure::figure_record::RecordedInterval;
use crate::measure::run_record::{RunRecord, Totals};
use filestone_workload::figure::{Quantity, RunFigure, Statistic, TimeKind};
use filestone_workload::operation::OpKind;
use filestone_workload::recording::distribution::DistributionRecord;

/// The interval's end may be nearer to the extreme than the quantile by this share of the values
/// there.
const TAIL_SHARE: f64 = 0.5;
/// The upper end of the interval may be so many times the lower.
pub const SPREAD_MAX: f64 = 2.0;
/// The percentile of all operations that a run is judged by.
const JUDGED: f64 = 0.99;

/// How many values must lie beyond a quantile for its rank to be known.
pub fn beyond_min(quantile: f64) -> f64 {
    let (tail, rest) = (quantile.min(1.0 - quantile), quantile.max(1.0 - quantile));
    if tail <= 0.0 {
        return f64::INFINITY;
    }
    rest * (STANDARD_ERRORS / TAIL_SHARE).powi(2)
}

/// Whether enough values lie beyond the quantile of so many.
pub fn is_rank_known(count: u64, quantile: f64) -> bool {
    let tail = quantile.min(1.0 - quantile);
    // 98 · (1 − 0.9) is 9.799…: the count itself must not be lost in the last bit.
    count as f64 * tail * (1.0 + 1e-9) >= beyond_min(quantile)
}

/// The 95 % interval of a percentile: the one that headings, tables, caveats, pages and pictures show.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PercentileInterval {
    /// Its lower end.
    pub low_ns: f64,
    /// Its upper end; `None` if it lies beyond the slowest operation, or if too few lie above.
    pub high_ns: Option<f64>,
    /// Whether the record keeps it; otherwise it follows from ranks alone.
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

    /// By ranks; `None` if nothing was timed or the histogram cannot be read.
    fn of_ranks(times: &DistributionRecord, quantile: f64) -> Option<Self> {
        let (low, high) = ranks(times, quantile)?;
        let is_closed = is_rank_known(times.count, quantile);
        Some(Self {
            low_ns: low as f64,
            high_ns: is_closed.then_some(high as f64),
            is_kept: false,
        })
    }

    /// Whether the percentile may be quoted without a mark.
    pub fn is_known(&self) -> bool {
        self.high_ns
            .is_some_and(|high| high <= SPREAD_MAX * self.low_ns)
    }
}

/// The values at the ends of the ranks' interval, within the extremes of the sample.
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

/// Times of a run, by what they are of.
#[derive(Debug, Clone, Copy)]
pub struct TimesOf<'record> {
    /// Of the run.
    pub totals: &'record Totals,
    /// Of this measured kind; `None` is of all together.
    pub operation: Option<OpKind>,
    /// From which moment on.
    pub timed: TimeKind,
}

impl<'record> TimesOf<'record> {
    /// Response times of all measured operations.
    pub const fn all(totals: &'record Totals) -> Self {
        Self {
            totals,
            operation: None,
            timed: TimeKind::Response,
        }
    }

    /// The interval that the record keeps of a percentile.
    fn kept(&self, quantile: f64) -> Option<PercentileInterval> {
        let figure = RunFigure {
            operation: self.operation,
            quantity: Quantity::Time(self.timed, Statistic::of_quantile(quantile)?),
        };
        let kept = self.totals.kept_interval(&figure.to_string())?;
        Some(PercentileInterval::of_kept(kept))
    }

    /// The interval of a percentile; `None` if nothing was timed or the histogram cannot be read.
    pub fn interval(&self, quantile: f64) -> Option<PercentileInterval> {
        let of_ranks = || {
            let times = self.totals.times(self.operation, self.timed)?;
            PercentileInterval::of_ranks(times, quantile)
        };
        self.kept(quantile).or_else(of_ranks)
    }

    /// Whether a percentile may be quoted without a mark.
    ///
    /// Ranks take all operations for independent, which they need not be. So a percentile of the tail
    /// that only ranks are known of is not known either where a kept one below it in the tail is not.
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

/// Whether a percentile may be quoted without a mark, by its ranks.
pub fn is_known(times: &DistributionRecord, quantile: f64) -> bool {
    PercentileInterval::of_ranks(times, quantile).is_some_and(|interval| interval.is_known())
}

/// The highest percentile that every report shows, of all operations.
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
    use crate::measure::{Distribution, FigureRecord, OneSidedFigureRecord};

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
        // The lower tail is no other.
        assert_eq!(least(0.01), least(0.99));
    }

    /// The quantiles of an exponential distribution with mean 1 ms, one value for each of `count`.
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
        // Of 100 the upper rank is 100.95: there is no such value, and the interval ends at the
        // maximum.
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
        // 1 of 100 takes ten times as long: whether p99 is among them, chance decides.
        let mut cliff = Distribution::<u64>::new();
        (0..9900).for_each(|_| cliff.record(100_000));
        (0..100).for_each(|_| cliff.record(1_000_000));
        assert!(!is_known(&cliff.to_record(), 0.99));
        assert!(is_known(&cliff.to_record(), 0.9));
    }

    /// The percentiles of a record whose p99 has the interval from `low` on, in milliseconds.
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
            level: 0.95,
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
            level: 0.95,
            standard_error: 1e5,
            freedom: 19.0,
            stretches: 20,
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
        // What lies further out than an unknown percentile is not known better.
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
