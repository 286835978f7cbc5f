//! A histogram in Prometheus' data model.

use crate::bounds::ENDS;
use crate::data_model::{Bucket, Histogram, LabelPair, Metric};
use crate::native::{SCHEMA, ZERO_THRESHOLD};
use crate::times::Times;

/// Converts times to both histograms; the text formats use only the classic one.
pub fn histogram(times: &Times, label: Vec<LabelPair>) -> Metric {
    let ends = ENDS.iter().map(|end| seconds(*end));
    let ends = ends.chain([f64::INFINITY]);
    let bucket = ends.zip(times.classic()).scan(0, |below, (end, count)| {
        *below += count;
        Some(Bucket {
            cumulative_count: *below,
            upper_bound: end,
        })
    });
    let (positive_span, positive_delta) = times.native().spans();
    let histogram = Histogram {
        sample_count: times.count(),
        sample_sum: seconds(times.sum_nanos()),
        bucket: bucket.collect(),
        schema: SCHEMA,
        zero_threshold: ZERO_THRESHOLD,
        zero_count: times.native().zero(),
        positive_span,
        positive_delta,
    };
    Metric {
        label,
        histogram: Some(Box::new(histogram)),
        ..Metric::default()
    }
}

/// Converts nanoseconds to seconds, Prometheus' unit for times.
pub fn seconds(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}
