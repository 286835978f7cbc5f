//! Confidence interval of a quantile of a run, from its batches.
//!
//! The share of values at or below the quantile is a mean, whose interval is computed from the
//! shares of the batches like that of any other mean; the interval of shares is then mapped to
//! values by the distribution of all values (Woodruff 1952, "Confidence intervals for medians and
//! other position measures", *Journal of the American Statistical Association* 47). Consecutive
//! values may be correlated, and the distribution may have any shape.
//!
//! High quantiles of queues need four additions, without which too many intervals are below the
//! true value (`cargo xtask coverage`):
//!
//! - The interval of shares is symmetric on the scale of their logits (Korn and Graubard 1998,
//!   "Confidence intervals for proportions with small expected number of positive counts estimated
//!   from survey data", *Survey Methodology* 24): few values exceed the quantile, and their number
//!   has a skewed distribution.
//! - A run in which few values were slow does not show the true variation of batches there. So the
//!   variation is also computed at the quantiles that three and nine times as many values exceed,
//!   and the largest ratio to the variation of independent values is used at the quantile.
//! - Values in the tail occur in clusters. With m clusters of one size the share has the relative
//!   variance 1/m, and the relative variance of the batches' variance is 1/m more than that of
//!   normal values: the degrees of freedom are those that both together give (Satterthwaite 1946,
//!   "An approximate distribution of estimates of variance components", *Biometrics Bulletin* 2),
//!   or those that the kurtosis of the batches leaves, if fewer. The lower end does not use this: a
//!   run shows the slow values that it has, but not those that it lacks.
//! - The upper end is at least as far from the quantile as the lower one would be with the same
//!   degrees of freedom: there the distribution of a short run ends too early.

use crate::recording::DistributionRecord;
use crate::statistics::Estimate;
use crate::statistics::series::{BatchSum, SkewedMean, of_skewed_ratio};

/// The 95 % interval of a quantile.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QuantileInterval {
    /// The quantile.
    pub value: u64,
    /// The lower end of the interval.
    pub low: u64,
    /// The upper end of the interval; `None` if it exceeds the largest value.
    pub high: Option<u64>,
    /// The share of values that do not exceed the quantile.
    pub share: Estimate,
}

/// Returns the 95 % interval of the `quantile` of `all` values, which came in these batches of one
/// or more distributions each; `None` for fewer than two batches, or if a histogram cannot be read.
/// The ends are limits of the histogram's buckets, which are its resolution.
pub fn interval(
    all: &DistributionRecord,
    stretches: &[Vec<&DistributionRecord>],
    quantile: f64,
) -> Option<QuantileInterval> {
    let histogram = all.decode().ok()?;
    let within = |value: u64| value.max(all.min).min(all.max);
    let value_at = |quantile: f64| within(histogram.value_at_quantile(quantile));
    let value = value_at(quantile);
    let looked_at = looked_at(quantile);
    let values: Vec<u64> = looked_at.iter().map(|at| value_at(*at)).collect();
    let shares_at = shares_below(&values, stretches)?;
    let share = widest(&shares_at)?;
    let [farther, high] = shares(quantile, &share);
    // A run shows the slow values that it has, but not those that it lacks: the lower end does not
    // depend on the number of clusters.
    let freedom = shares_at.first()?.mean.freedom;
    let [low, _] = shares(quantile, &Estimate { freedom, ..share });
    let at = |share: f64| within(histogram.value_at_quantile(share));
    let beyond = (1.0 - high) * all.count as f64;
    let [low, farther] = [low, farther].map(|share| within(histogram.lowest_equivalent(at(share))));
    let mirrored = value.saturating_add(value.saturating_sub(farther));
    Some(QuantileInterval {
        value,
        low,
        high: (beyond >= 1.0).then(|| at(high).max(mirrored)),
        share,
    })
}

/// Returns the interval of a share, on the scale of its logit, so that it is between 0 and 1 and
/// similar to the binomial's if few values are in the tail.
fn shares(quantile: f64, share: &Estimate) -> [f64; 2] {
    let logit = (quantile / (1.0 - quantile)).ln();
    let half = share.half_width() / (quantile * (1.0 - quantile));
    [logit - half, logit + half].map(|logit| 1.0 / (1.0 + (-logit).exp()))
}

/// Returns the quantile, and those that three and nine times as many values exceed, but not more
/// than half of them.
fn looked_at(quantile: f64) -> Vec<f64> {
    let tail = 1.0 - quantile;
    let wider = [3.0, 9.0].map(|times| tail * times).into_iter();
    let wider = wider.filter(|tail| *tail <= 0.5).map(|tail| 1.0 - tail);
    std::iter::once(quantile).chain(wider).collect()
}

/// Returns the first share, with the standard error for the largest variation of batches: the
/// largest ratio to the standard error of independent values.
fn widest(shares: &[SkewedMean]) -> Option<Estimate> {
    let of_first = shares.first()?;
    let first = of_first.mean;
    let variance = |share: &Estimate| share.value * (1.0 - share.value);
    let excess = |share: &Estimate| share.standard_error / variance(share).sqrt();
    let shares = shares.iter().map(|share| &share.mean);
    let seen = shares.filter(|share| variance(share) > 0.0);
    let most = seen.map(excess).fold(0.0, f64::max);
    let standard_error = most * variance(&first).sqrt();
    // If no value exceeds that of the quantile, there is no tail with clusters.
    let of_tail = match first.value.min(1.0 - first.value) {
        tail if tail > 0.0 => standard_error / tail,
        _ => 0.0,
    };
    let of_clusters = 2.0 / (2.0 / first.freedom + of_tail.powi(2));
    Some(Estimate {
        standard_error,
        freedom: of_first.freedom.min(of_clusters),
        ..first
    })
}

/// Returns the shares of values that do not exceed each of `values`, from the batches.
fn shares_below(values: &[u64], stretches: &[Vec<&DistributionRecord>]) -> Option<Vec<SkewedMean>> {
    let counts = stretches
        .iter()
        .map(|stretch| counts_below(values, stretch));
    let counts: Vec<Counts> = counts.collect::<Option<_>>()?;
    let share = |place: usize| {
        let parts = counts.iter().map(|counts| BatchSum {
            sum: counts.below[place] as f64,
            count: counts.all as f64,
        });
        of_skewed_ratio(&parts.collect::<Vec<_>>())
    };
    (0..values.len()).map(share).collect()
}

/// Number of values in a batch, and number of those that do not exceed each bound.
struct Counts {
    all: u64,
    below: Vec<u64>,
}

fn counts_below(values: &[u64], stretch: &[&DistributionRecord]) -> Option<Counts> {
    let mut counts = Counts {
        all: 0,
        below: vec![0; values.len()],
    };
    for times in stretch.iter().filter(|times| times.count > 0) {
        let histogram = times.decode().ok()?;
        counts.all += times.count;
        for (below, value) in counts.below.iter_mut().zip(values) {
            *below += histogram.count_between(0, *value);
        }
    }
    Some(counts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{RandomStream, exponential, stream};
    use crate::recording::Distribution;

    fn record(values: impl IntoIterator<Item = u64>) -> DistributionRecord {
        let mut distribution = Distribution::<u64>::new();
        values
            .into_iter()
            .for_each(|value| distribution.record(value));
        distribution.to_record()
    }

    #[test]
    fn a_hand_worked_example() {
        // Two batches of 100 values, 1 to 200; 60 and 40 of them are at most 100. The shares 0.6
        // and 0.4 have the mean 0.5 with standard error 0.1; Student's quantile is 12.7, which
        // gives ±5.08 of the logit and shares of 0.0062 and 0.9938.
        let first = record((1..=60).chain(101..=140));
        let second = record((61..=100).chain(141..=200));
        let all = record(1..=200);
        let stretches = [vec![&first], vec![&second]];
        let share = shares_below(&[100], &stretches).expect("two stretches")[0].mean;
        assert!((share.value - 0.5).abs() < 1e-12 && (share.standard_error - 0.1).abs() < 1e-12);
        let wide = interval(&all, &stretches, 0.5).expect("two stretches");
        assert_eq!((wide.value, wide.low, wide.high), (100, 2, Some(199)));
        assert_eq!(interval(&all, &stretches[..1], 0.5), None);
        // Two distributions of one batch count as one.
        let both = vec![&first, &second];
        let share = shares_below(&[100], &[both.clone(), both]).expect("two stretches")[0].mean;
        assert_eq!((share.value, share.standard_error), (0.5, 0.0));
    }

    /// Returns a mean of batches that are not skewed.
    fn even(mean: Estimate) -> SkewedMean {
        SkewedMean {
            mean,
            freedom: mean.freedom,
            above: 0.0,
        }
    }

    #[test]
    fn a_quantile_with_nothing_beyond_it_has_its_degrees_of_freedom() {
        // p99 is 200, the largest value: 2 of 100 in each batch.
        let one = || record((0..100).map(|place| if place < 98 { 100 } else { 200 }));
        let stretches = [one(), one(), one()];
        let stretches: Vec<Vec<&DistributionRecord>> =
            stretches.iter().map(|one| vec![one]).collect();
        let shares = shares_below(&[200], &stretches).expect("three stretches");
        let share = widest(&shares).expect("a share");
        assert_eq!((share.value, share.freedom), (1.0, 2.0));
    }

    #[test]
    fn shares_stay_between_0_and_1_and_take_after_the_widest() {
        let share = |value, standard_error| Estimate {
            value,
            standard_error,
            freedom: 1e9,
        };
        // 1.96 standard errors of 0.00495 are 0.98 of the logit, ln 99: tails of 0.0262 and 0.0038.
        let [low, high] = shares(0.99, &share(0.99, 0.00495));
        assert!((low - 0.97379).abs() < 1e-5 && (high - 0.99622).abs() < 1e-5);
        // Twice the variation of independent values at the quantile, three times where nine times
        // as many values are in the tail.
        let deviation = |share: f64| (share * (1.0 - share) / 1000.0).sqrt();
        let seen = [
            share(0.99, 2.0 * deviation(0.99)),
            share(0.91, 3.0 * deviation(0.91)),
        ];
        let found = widest(&seen.map(even)).expect("two shares");
        assert!((found.standard_error / deviation(0.99) - 3.0).abs() < 1e-9);
        assert_eq!(looked_at(0.5), [0.5]);
        assert_eq!(looked_at(0.9).len(), 2);
    }

    #[test]
    fn intervals_hold_the_quantile_as_often_as_they_say() {
        for (quantile, within) in [(0.5, 0.93), (0.99, 0.91)] {
            let true_value = -(1.0_f64 - quantile).ln() * 1e6;
            let holds = (0..200).filter(|seed| {
                let mut generator = stream(*seed, RandomStream::Arrivals, 0);
                let mut value = || exponential(&mut generator, 1e6) as u64;
                let stretches: Vec<Vec<u64>> = (0..20)
                    .map(|_| (0..500).map(|_| value()).collect())
                    .collect();
                let all = record(stretches.iter().flatten().copied());
                let stretches: Vec<DistributionRecord> =
                    stretches.into_iter().map(record).collect();
                let stretches: Vec<_> = stretches.iter().map(|stretch| vec![stretch]).collect();
                let found = interval(&all, &stretches, quantile).expect("20 stretches");
                let high = found.high.map_or(f64::INFINITY, |high| high as f64);
                (found.low as f64..=high).contains(&true_value)
            });
            let share = holds.count() as f64 / 200.0;
            assert!((within..=0.99).contains(&share), "{quantile}: {share}");
        }
    }
}
