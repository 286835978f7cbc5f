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

/// Confidence level of all intervals.
pub const CONFIDENCE: f64 = 0.95;
