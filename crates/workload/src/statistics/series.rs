//! Error of the mean of a series of correlated values.
//!
//! Consecutive response times are correlated, so they cannot be treated as independent values.
//! Means of long batches are nearly independent. Neighbouring batches are joined until von
//! Neumann's ratio no longer shows correlation (Fishman 1978, "Grouping observations in digital
//! simulation", *Management Science* 24), but not to fewer than ten (Schmeiser 1982, "Batch size
//! effects in the analysis of simulation output", *Operations Research* 30). The remaining
//! correlation widens the interval as for a first-order autoregressive series, even if it is not
//! significant: with twenty batches the test misses a correlation of 0.3 more often than not.

use super::estimate::{deviations_squared, mean_of, student_quantile};
use super::moments::{excess_kurtosis, skewness};
use super::{CONFIDENCE, Estimate};

/// Minimum number of batches after joining.
const BATCHES_MIN: usize = 10;
/// The 95th percentile of the normal distribution: the test of correlation is one-sided.
const ONE_SIDED: f64 = 1.644_853_6;
/// Maximum correlation: a larger one cannot be distinguished from a drift in a short series.
const CORRELATION_MAX: f64 = 0.9;

/// A batch of values: their number and sum.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct BatchSum {
    /// Sum of the values.
    pub sum: f64,
    /// Number of values.
    pub count: f64,
}

/// Returns the mean of the series with these means of equal batches; `None` for fewer than two.
pub fn of_means(means: &[f64]) -> Option<Estimate> {
    let mut batches = means.to_vec();
    while is_correlated(&batches) && batches.len() >= 2 * BATCHES_MIN {
        // With an odd number, the first batch is dropped: it is closest to the warm-up.
        let odd = batches.len() % 2;
        let pairs = batches.get(odd..).unwrap_or_default().chunks(2);
        batches = pairs.map(mean_of).collect();
    }
    let count = batches.len();
    if count < 2 {
        return None;
    }
    let variance = deviations_squared(&batches) / (count - 1) as f64;
    let correlation = correlation(&batches).clamp(0.0, CORRELATION_MAX);
    let widened = variance * (1.0 + correlation) / (1.0 - correlation);
    Some(Estimate {
        value: mean_of(means),
        standard_error: (widened / count as f64).sqrt(),
        freedom: (count - 1) as f64,
    })
}

/// Returns the mean of all values of a series, from batches of equal length in time with different
/// numbers of values; `None` for fewer than two batches, or if there are no values.
///
/// The deviations of the batches' sums from those expected for their numbers of values are a series
/// with mean 0 (Cochran 1977, *Sampling Techniques*, 3rd edition, section 6.3).
pub fn of_ratio(parts: &[BatchSum]) -> Option<Estimate> {
    let (value, deviations) = deviations(parts)?;
    Some(Estimate {
        value,
        ..of_means(&deviations)?
    })
}

/// Returns the mean of all values, and the deviation of each batch.
fn deviations(parts: &[BatchSum]) -> Option<(f64, Vec<f64>)> {
    let sum: f64 = parts.iter().map(|part| part.sum).sum();
    let count: f64 = parts.iter().map(|part| part.count).sum();
    if count <= 0.0 {
        return None;
    }
    let (mean, each) = (sum / count, count / parts.len() as f64);
    let off = |part: &BatchSum| (part.sum - mean * part.count) / each;
    Some((mean, parts.iter().map(off).collect()))
}

/// The mean of a series of skewed values, such as times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SkewedMean {
    /// The mean.
    pub mean: Estimate,
    /// Degrees of freedom of its standard error: fewer if a few batches have large deviations,
    /// because their number limits the precision of the variance (Satterthwaite 1946, "An
    /// approximate distribution of estimates of variance components", *Biometrics Bulletin* 2).
    pub freedom: f64,
    /// Minimum distance of the upper end of the 95 % interval from the mean: a run that happened to
    /// have few slow batches shows neither their true mean nor the variation of batches (the first
    /// term of the Cornish-Fisher expansion: Johnson 1978, "Modified t tests and confidence
    /// intervals for asymmetrical populations", *Journal of the American Statistical Association*
    /// 73).
    pub above: f64,
}

/// Returns the mean as [`of_ratio`] does, for values that are skewed to the right.
pub fn of_skewed_ratio(parts: &[BatchSum]) -> Option<SkewedMean> {
    let (_, deviations) = deviations(parts)?;
    let mean = of_ratio(parts)?;
    let count = deviations.len() as f64;
    let heavy = excess_kurtosis(&deviations).max(0.0) / count;
    let freedom = 2.0 / (2.0 / mean.freedom + heavy);
    let student = student_quantile(0.5 + CONFIDENCE / 2.0, freedom);
    let skew = skewness(&deviations).max(0.0) * (2.0 * student.powi(2) + 1.0);
    let above = student + skew / (6.0 * count.sqrt());
    Some(SkewedMean {
        mean,
        freedom,
        above: above * mean.standard_error,
    })
}

/// Returns half of the width of the 95 % confidence interval of the mean of the series with these
/// batch means; `None` for fewer than two.
pub fn half_width(means: &[f64]) -> Option<f64> {
    of_means(means).map(|mean| mean.half_width())
}

/// Returns one minus half of von Neumann's ratio: the correlation of neighbours.
fn correlation(values: &[f64]) -> f64 {
    let all = deviations_squared(values);
    let neighbours = values.iter().zip(values.iter().skip(1));
    let steps: f64 = neighbours.map(|(one, next)| (one - next).powi(2)).sum();
    if all > 0.0 {
        1.0 - steps / (2.0 * all)
    } else {
        0.0
    }
}

/// Whether the correlation of neighbours exceeds that of 19 in 20 uncorrelated series.
fn is_correlated(values: &[f64]) -> bool {
    let count = values.len() as f64;
    count > 2.0 && correlation(values) > ONE_SIDED * ((count - 2.0) / (count * count - 1.0)).sqrt()
}

/// Returns the factor that widens 95 % intervals, so that all of `comparisons` of them hold with 95
/// % together (Bonferroni), for the differences of two means of ten batches each.
pub fn widened_for(comparisons: usize) -> f64 {
    const FREEDOM: f64 = 2.0 * (BATCHES_MIN - 1) as f64;
    let quantile = |tail: f64| student_quantile(1.0 - tail, FREEDOM);
    quantile(0.025 / comparisons.max(1) as f64) / quantile(0.025)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{RandomStream, RngExt, stream};

    #[test]
    fn means_of_unequal_stretches_are_weighted() {
        // 10 values of mean 1, 30 of mean 3: 2.5. Deviations: 10 − 25 and 90 − 75 with 20 each:
        // ∓0.75, whose standard error is 0.75.
        let part = |sum, count| BatchSum { sum, count };
        let found = of_ratio(&[part(10.0, 10.0), part(90.0, 30.0)]).expect("two");
        assert!((found.value - 2.5).abs() < 1e-12);
        assert!((found.standard_error - 0.75).abs() < 1e-12);
        assert_eq!(of_ratio(&[]), None);
        assert_eq!(of_ratio(&[BatchSum::default(), BatchSum::default()]), None);
        assert!((widened_for(1) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_skewed_mean_reaches_further_up_with_fewer_degrees_of_freedom() {
        // With one value each: 1, 2, 2, 3, 5, 9 have G1 = 1.47632 and G2 = 1.93669; 2/(2/5 +
        // 1.93669/6) = 2.7671; the upper end is t + G1·(2·t² + 1)/(6·√6) standard errors from the
        // mean.
        let parts = [1.0, 2.0, 2.0, 3.0, 5.0, 9.0].map(|sum| BatchSum { sum, count: 1.0 });
        let found = of_skewed_ratio(&parts).expect("six");
        assert_eq!(found.mean, of_ratio(&parts).expect("six"));
        assert!((found.freedom - 2.7671).abs() < 1e-4, "{}", found.freedom);
        let student = student_quantile(0.975, found.freedom);
        let more = 1.476_315 * (2.0 * student.powi(2) + 1.0) / (6.0 * 6_f64.sqrt());
        let above = (student + more) * found.mean.standard_error;
        assert!((found.above - above).abs() < 1e-5, "{}", found.above);
    }

    #[test]
    fn a_hand_worked_example() {
        // Mean 3, variance 10/4; t(4) = 2.776; 2.776·√(2.5/5) = 1.963.
        let width = half_width(&[1.0, 5.0, 2.0, 4.0, 3.0]).expect("five values");
        assert!((width - 1.963).abs() < 0.001, "{width}");
        assert_eq!(half_width(&[1.0]), None);
        assert_eq!(half_width(&[2.0, 2.0, 2.0]), Some(0.0));
    }

    /// Returns the share of 400 intervals of a first-order autoregressive series that contain its
    /// mean, 0.
    fn coverage(correlation: f64, length: usize) -> f64 {
        let mut generator = stream(1, RandomStream::Arrivals, 0);
        let mut uniform = || generator.random::<f64>() - 0.5;
        let holds = (0..400).filter(|_| {
            let mut value = 0.0;
            let series: Vec<f64> = (0..length + 50)
                .map(|_| {
                    value = correlation * value + uniform();
                    value
                })
                .skip(50)
                .collect();
            half_width(&series).is_some_and(|width| mean_of(&series).abs() <= width)
        });
        holds.count() as f64 / 400.0
    }

    #[test]
    fn the_interval_holds_the_mean_as_often_as_it_says() {
        for (correlation, length, at_least) in [(0.0, 20, 0.92), (0.5, 60, 0.88), (0.8, 200, 0.88)]
        {
            let share = coverage(correlation, length);
            assert!(share >= at_least, "{share} at correlation {correlation}");
        }
    }
}
