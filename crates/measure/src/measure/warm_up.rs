//! End of a warm-up, detected by a test of the response times, not by a clock.
//!
//! The rule is MSER, the marginal standard error rule (White 1997, "An effective truncation
//! heuristic for bias reduction in simulation output", *Simulation* 69), applied to batch means as
//! MSER-5 does (White, Cobb and Spratt 2000, "A comparison of five steady-state truncation
//! heuristics for simulation"): leave out the first d means for which the standard error of the
//! rest is smallest. Leaving out a transient makes the rest more similar; leaving out good data
//! only makes it fewer. The batches are the intervals of a run, each the mean of all operations
//! that ended in it.
//!
//! There are two additions. With the minimum in the second half, the series is too short to tell
//! (White 1997), so the warm-up continues. Differences within 1 % of the mean count as zero:
//! without this floor, every truncation would improve a series free of noise.

/// Minimum number of means for the test.
pub const MEANS_MIN: usize = 6;
/// Minimum number of means that remain: fewer may be similar by chance (White and Robinson 2010).
const LEFT_MIN: usize = 3;
/// Share of the mean within which differences do not count as a trend.
const FLOOR: f64 = 0.01;

/// Returns the number of means at the beginning that belong to the warm-up; `None` while that is
/// unknown.
pub fn truncation(means: &[f64]) -> Option<usize> {
    if means.len() < MEANS_MIN {
        return None;
    }
    let candidates = 0..=means.len() - LEFT_MIN;
    let best = candidates.min_by(|one, other| {
        let errors = [one, other].map(|left_out| standard_error_squared(means.get(*left_out..)));
        errors[0].total_cmp(&errors[1])
    })?;
    (best * 2 < means.len()).then_some(best)
}

/// Returns whether the series has become steady.
pub fn is_steady(means: &[f64]) -> bool {
    truncation(means).is_some()
}

/// Returns MSER's statistic: the sum of squared deviations over the square of their number.
fn standard_error_squared(left: Option<&[f64]>) -> f64 {
    let Some(left) = left.filter(|left| !left.is_empty()) else {
        return f64::INFINITY;
    };
    let count = left.len() as f64;
    let mean = left.iter().sum::<f64>() / count;
    let deviations: f64 = left.iter().map(|value| (value - mean).powi(2)).sum();
    (deviations + count * (FLOOR * mean).powi(2)) / (count * count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_series_is_steady_as_soon_as_there_is_enough_of_it() {
        assert_eq!(truncation(&[7.0; MEANS_MIN - 1]), None);
        assert_eq!(truncation(&[7.0; MEANS_MIN]), Some(0));
        assert_eq!(truncation(&[7.0; 100]), Some(0));
        assert_eq!(truncation(&[0.0; 10]), Some(0));
    }

    #[test]
    fn one_outlier_at_the_beginning_is_left_out() {
        assert_eq!(
            truncation(&[50.0, 10.0, 10.1, 9.9, 10.0, 10.1, 9.9]),
            Some(1)
        );
    }

    #[test]
    fn an_exponential_approach_is_cut_where_it_has_come_within_the_noise() {
        // 10 − 8·e^(−i/4) with an alternating ±0.1: the rest is below 0.1 from i = 18 on.
        let series: Vec<f64> = (0..80)
            .map(|i| 10.0 - 8.0 * (-f64::from(i) / 4.0).exp() + 0.1 * f64::from(1 - 2 * (i % 2)))
            .collect();
        let cut = truncation(&series).expect("long enough to tell");
        assert!((12..=22).contains(&cut), "{cut}");
        // Seen in the middle of the approach, it is not steady.
        assert_eq!(truncation(&series[..10]), None);
        // An approach from above is cut at the same position.
        let falling: Vec<f64> = series.iter().map(|value| 20.0 - value).collect();
        let cut = truncation(&falling).expect("long enough to tell");
        assert!((12..=22).contains(&cut), "{cut}");
    }

    #[test]
    fn an_approach_without_noise_is_cut_where_one_percent_is_left() {
        // 10·(1 − e^(−i/4)): less than 1 % is missing from i = 19 on.
        let series: Vec<f64> = (0..120)
            .map(|i| 10.0 * (1.0 - (-f64::from(i) / 4.0).exp()))
            .collect();
        let cut = truncation(&series).expect("long enough to tell");
        assert!((10..=25).contains(&cut), "{cut}");
    }

    #[test]
    fn a_drifting_series_is_never_steady() {
        let series: Vec<f64> = (0..200).map(|i| 10.0 + f64::from(i)).collect();
        for length in 0..=series.len() {
            assert!(!is_steady(&series[..length]), "steady after {length}");
        }
    }
}
