//! A histogram as Prometheus' library wants it.

use crate::bounds::ENDS;
use crate::times::Times;
use prometheus_client::encoding::{MetricEncoder, NoLabelSet};
use std::fmt;

/// Writes both histograms of these times: the native one where the format has such.
pub fn encode(times: &Times, encoder: &mut MetricEncoder<'_>) -> fmt::Result {
    let ends = ENDS.iter().map(|end| seconds(*end));
    let ends = ends.chain([f64::INFINITY]);
    let buckets: Vec<(f64, u64)> = ends.zip(times.classic().iter().copied()).collect();
    times.native().with(|native| {
        encoder.encode_histogram_with_native::<NoLabelSet>(
            seconds(times.sum_nanos()),
            times.count(),
            &buckets,
            None,
            native,
        )
    })
}

/// Nanoseconds as seconds, the unit that Prometheus has for all times.
pub fn seconds(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}
