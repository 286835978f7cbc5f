//! How well the quantile of a run is known, from its stretches.
//!
//! The share of values at or below the quantile is a mean, whose interval comes from the shares of
//! the stretches as that of any other mean does; the interval of shares is then read off the
//! distribution of all values (Woodruff 1952, "Confidence intervals for medians and other position
//! measures", *Journal of the American Statistical Association* 47). Values one after the other
//! may be alike, and the distribution may have any shape.

use crate::measure::DistributionRecord;
use crate::statistics::Estimate;
use crate::statistics::series::{Part, of_ratio};

/// The 95 % interval of a quantile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuantileInterval {
    /// Its lower end.
    pub low: u64,
    /// Its upper end; `None` if it lies beyond the largest value.
    pub high: Option<u64>,
}

/// The 95 % interval of the `quantile` of `all` values, which came in these stretches; `None` of
/// fewer than two stretches, or if a histogram cannot be read.
pub fn interval(
    all: &DistributionRecord,
    stretches: &[&DistributionRecord],
    quantile: f64,
) -> Option<QuantileInterval> {
    let share = share_below(all, stretches, quantile)?;
    let histogram = all.decode().ok()?;
    let half = share.half_width();
    let value = |share: f64| {
        let value = histogram.value_at_quantile(share.clamp(0.0, 1.0));
        value.max(all.min).min(all.max)
    };
    let (low, high) = (quantile - half, quantile + half);
    Some(QuantileInterval {
        low: value(low),
        high: (high < 1.0).then(|| value(high)),
    })
}

/// The share of values that do not exceed the quantile, as the stretches have it.
fn share_below(
    all: &DistributionRecord,
    stretches: &[&DistributionRecord],
    quantile: f64,
) -> Option<Estimate> {
    let at = all.quantile(quantile).ok()?;
    let part = |stretch: &&DistributionRecord| {
        if stretch.count == 0 {
            return Some(Part::default());
        }
        let below = stretch.decode().ok()?.count_between(0, at);
        Some(Part {
            sum: below as f64,
            count: stretch.count as f64,
        })
    };
    let parts: Option<Vec<Part>> = stretches.iter().map(part).collect();
    of_ratio(&parts?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Distribution;
    use crate::random::{Purpose, exponential, stream};

    fn record(values: impl IntoIterator<Item = u64>) -> DistributionRecord {
        let mut distribution = Distribution::<u64>::new();
        values
            .into_iter()
            .for_each(|value| distribution.record(value));
        distribution.to_record()
    }

    #[test]
    fn a_hand_worked_example() {
        // Two stretches of 100 values, 1 to 200; 60 and 40 of them are at most 100. The shares
        // 0.6 and 0.4 have the mean 0.5 with standard error 0.1; Student's quantile is 12.7.
        let first = record((1..=60).chain(101..=140));
        let second = record((61..=100).chain(141..=200));
        let all = record(1..=200);
        let share = share_below(&all, &[&first, &second], 0.5).expect("two stretches");
        assert!((share.value - 0.5).abs() < 1e-12 && (share.standard_error - 0.1).abs() < 1e-12);
        let wide = interval(&all, &[&first, &second], 0.5).expect("two stretches");
        assert_eq!(wide, QuantileInterval { low: 1, high: None });
        assert_eq!(interval(&all, &[&first], 0.5), None);
    }

    #[test]
    fn intervals_hold_the_quantile_as_often_as_they_say() {
        for (quantile, within) in [(0.5, 0.93), (0.99, 0.91)] {
            let true_value = -(1.0_f64 - quantile).ln() * 1e6;
            let holds = (0..200).filter(|seed| {
                let mut generator = stream(*seed, Purpose::Arrivals, 0);
                let mut value = || exponential(&mut generator, 1e6) as u64;
                let stretches: Vec<Vec<u64>> = (0..20)
                    .map(|_| (0..500).map(|_| value()).collect())
                    .collect();
                let all = record(stretches.iter().flatten().copied());
                let stretches: Vec<DistributionRecord> =
                    stretches.into_iter().map(record).collect();
                let stretches: Vec<&DistributionRecord> = stretches.iter().collect();
                let found = interval(&all, &stretches, quantile).expect("20 stretches");
                let high = found.high.map_or(f64::INFINITY, |high| high as f64);
                (found.low as f64..=high).contains(&true_value)
            });
            let share = holds.count() as f64 / 200.0;
            assert!((within..=0.99).contains(&share), "{quantile}: {share}");
        }
    }
}
