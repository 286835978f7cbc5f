//! Skewness and kurtosis of samples: G1 and G2 of Joanes and Gill 1998, "Comparing measures of
//! sample skewness and kurtosis", *The Statistician* 47.

use super::estimate::mean_of;

/// Returns the estimated skewness of the distribution of these values; 0 if it cannot be estimated.
pub(super) fn skewness(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let spread = moment(values, 2).powf(1.5);
    if count > 2.0 && spread > 0.0 {
        moment(values, 3) / spread * (count * (count - 1.0)).sqrt() / (count - 2.0)
    } else {
        0.0
    }
}

/// Returns the estimated excess kurtosis of the distribution of these values; 0 if it cannot be
/// estimated.
pub(super) fn excess_kurtosis(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let square = moment(values, 2).powi(2);
    if count > 3.0 && square > 0.0 {
        let of_sample = moment(values, 4) / square - 3.0;
        let factor = (count - 1.0) / ((count - 2.0) * (count - 3.0));
        factor * ((count + 1.0) * of_sample + 6.0)
    } else {
        0.0
    }
}

/// Returns the mean of the `power`-th powers of the deviations.
fn moment(values: &[f64], power: i32) -> f64 {
    let mean = mean_of(values);
    let powers = values.iter().map(|value| (value - mean).powi(power));
    powers.sum::<f64>() / values.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skewness_and_kurtosis_are_those_of_scipy() {
        // scipy.stats.skew and .kurtosis, bias=False
        let values = [1.0, 2.0, 2.0, 3.0, 5.0, 9.0];
        assert!(
            (skewness(&values) - 1.476_315_056_057_762_3).abs() < 1e-9,
            "{}",
            skewness(&values)
        );
        assert!((excess_kurtosis(&values) - 1.936_686_390_532_548_7).abs() < 1e-9);
        assert_eq!(skewness(&[1.0, 2.0]), 0.0);
        assert_eq!(excess_kurtosis(&[2.0; 9]), 0.0);
    }
}
