//! Statistics of random figures: intervals, differences, changes.
//!
//! This module is independent of the measured quantities. Quantiles of distributions come from
//! `statrs`; golden values in the tests come from scipy by `xtask/golden/statistics.py`.

pub mod change_place;
pub mod change_points;
pub mod estimate;
pub mod holm;
pub mod jump;
mod moments;
pub mod regression;
mod relaxation;
pub mod sample_size;
pub mod segmented;
pub mod sequential;
pub mod series;
pub mod trimmed;

pub use estimate::Estimate;
pub use relaxation::relaxation_time_ns;

/// Returns the median: the middle value, or the mean of the middle two; `None` without values.
pub fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    let upper = values.get(values.len() / 2)?;
    let lower = values.get(values.len().saturating_sub(1) / 2)?;
    Some(f64::midpoint(*lower, *upper))
}

/// Confidence level of all intervals.
pub const CONFIDENCE: f64 = 0.95;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_of_an_even_number_is_between_the_middle_two() {
        assert_eq!(median([3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median([4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median([]), None);
    }
}
