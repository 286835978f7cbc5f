//! How far off a mean can be: batch means, with allowance for their autocorrelation.
//!
//! Response times one after the other are alike, so they cannot be treated as independent
//! values. Their means over long stretches nearly are. Neighbouring stretches are joined until
//! von Neumann's ratio no longer shows correlation (Fishman 1978, "Grouping observations in
//! digital simulation", *Management Science* 24), but not to fewer than ten (Schmeiser 1982,
//! "Batch size effects in the analysis of simulation output", *Operations Research* 30). What
//! correlation is left then widens the interval as it would that of a first-order
//! autoregressive series.

/// Batches are not joined to fewer than this.
const BATCHES_MIN: usize = 10;
/// The 95th percentile of the normal distribution: correlation is tested on one side.
const ONE_SIDED: f64 = 1.644_853_6;
/// The 97.5th percentile of the normal distribution.
const TWO_SIDED: f64 = 1.959_964;
/// Correlation beyond this is taken for this: the series is too short to tell it from a drift.
const CORRELATION_MAX: f64 = 0.9;

/// Half of the 95 % confidence interval of the mean of the series that these are stretches of;
/// `None` of fewer than two.
pub fn half_width(means: &[f64]) -> Option<f64> {
    let mut batches = means.to_vec();
    while is_correlated(&batches) && batches.len() >= 2 * BATCHES_MIN {
        // An odd one out is the first: it is nearest to the warm-up.
        let odd = batches.len() % 2;
        let pairs = batches.get(odd..).unwrap_or_default().chunks(2);
        batches = pairs.map(mean_of).collect();
    }
    let count = batches.len();
    if count < 2 {
        return None;
    }
    let variance = deviations_squared(&batches) / (count - 1) as f64;
    let correlation = if is_correlated(&batches) {
        correlation(&batches).clamp(0.0, CORRELATION_MAX)
    } else {
        0.0
    };
    let widened = variance * (1.0 + correlation) / (1.0 - correlation);
    Some(student_quantile(TWO_SIDED, count - 1) * (widened / count as f64).sqrt())
}

fn mean_of(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

fn deviations_squared(values: &[f64]) -> f64 {
    let mean = mean_of(values);
    values.iter().map(|value| (value - mean).powi(2)).sum()
}

/// One minus half of von Neumann's ratio: the correlation of neighbours.
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

/// Whether neighbours are more alike than chance makes them in 19 of 20 series.
fn is_correlated(values: &[f64]) -> bool {
    let count = values.len() as f64;
    count > 2.0 && correlation(values) > ONE_SIDED * ((count - 2.0) / (count * count - 1.0)).sqrt()
}

/// The quantile of Student's distribution at the probability whose normal quantile is `z`.
///
/// Exact at 97.5 % up to four degrees of freedom; else Fisher and Cornish's expansion
/// (Abramowitz and Stegun 26.7.5), which is within 0.2 % there.
pub fn student_quantile(z: f64, freedom: usize) -> f64 {
    const FEW: [f64; 4] = [12.706, 4.303, 3.182, 2.776];
    let exact = FEW.get(freedom.wrapping_sub(1));
    if let Some(exact) = exact.filter(|_| (z - TWO_SIDED).abs() < 1e-6) {
        return *exact;
    }
    let freedom = freedom.max(1) as f64;
    let first = (z.powi(3) + z) / 4.0;
    let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
    let third = (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / 384.0;
    z + first / freedom + second / freedom.powi(2) + third / freedom.powi(3)
}

/// How much wider than 95 % intervals must be, so that of `comparisons` with them all hold with
/// 95 % together (Bonferroni), for the differences of two means of ten batches each.
pub fn widened_for(comparisons: usize) -> f64 {
    const FREEDOM: usize = 2 * (BATCHES_MIN - 1);
    let tail = 0.025 / comparisons.max(1) as f64;
    let z = normal_quantile_of_tail(tail).max(TWO_SIDED);
    student_quantile(z, FREEDOM) / student_quantile(TWO_SIDED, FREEDOM)
}

/// What a normal value exceeds with probability `tail`, within 0.00045 (Abramowitz and Stegun
/// 26.2.23).
fn normal_quantile_of_tail(tail: f64) -> f64 {
    let t = (-2.0 * tail.clamp(1e-300, 0.5).ln()).sqrt();
    let above = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    let below = 1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308));
    t - above / below
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, RngExt, stream};

    #[test]
    fn student_and_normal_quantiles_are_those_of_the_tables() {
        for (freedom, table) in [(1, 12.706), (4, 2.776), (5, 2.571), (9, 2.262), (30, 2.042)] {
            let found = student_quantile(TWO_SIDED, freedom);
            assert!((found / table - 1.0).abs() < 0.002, "{freedom}: {found}");
        }
        assert!((normal_quantile_of_tail(0.025) - 1.95996).abs() < 0.001);
        assert!((normal_quantile_of_tail(0.001) - 3.0902).abs() < 0.001);
        assert!((widened_for(1) - 1.0).abs() < 1e-3);
    }

    #[test]
    fn a_hand_worked_example() {
        // Mean 3, variance 10/4; t(4) = 2.776; 2.776·√(2.5/5) = 1.963.
        let width = half_width(&[1.0, 5.0, 2.0, 4.0, 3.0]).expect("five values");
        assert!((width - 1.963).abs() < 0.001, "{width}");
        assert_eq!(half_width(&[1.0]), None);
        assert_eq!(half_width(&[2.0, 2.0, 2.0]), Some(0.0));
    }

    /// How many of 400 intervals of a first-order autoregressive series hold its mean, 0.
    fn coverage(correlation: f64, length: usize) -> f64 {
        let mut generator = stream(1, Purpose::Arrivals, 0);
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
