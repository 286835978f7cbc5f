//! Native histograms of Prometheus: buckets whose bounds grow by a constant factor. Only non-empty
//! buckets are transmitted.
//!
//! The bounds are powers of two of a second and lie inside buckets of filestone's histograms, so a
//! value within 0.1 % of a bound may be counted in the next bucket. A given value always goes to
//! the same bucket, so counts only grow.

use crate::data_model::BucketSpan;
use std::collections::BTreeMap;

/// Schema number: the upper bound of a bucket is 2^(1/16) times its lower bound, 4.4 % more.
pub const SCHEMA: i32 = 4;
/// Shorter times count as zero; the default of Prometheus. No clock has this resolution.
pub const ZERO_THRESHOLD: f64 = 2.938_735_877_055_719e-39;

/// Counts by bucket number.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NativeCounts {
    zero: u64,
    buckets: BTreeMap<i32, u64>,
}

/// Returns the bucket number of a nonzero time; the upper bound of bucket `n` is 2^(n/16) s.
fn number(nanos: u64) -> i32 {
    let doublings = (nanos as f64 / 1e9).log2();
    (doublings * f64::from(1 << SCHEMA)).ceil() as i32
}

impl NativeCounts {
    /// Counts the value `nanos` `times` times.
    pub fn count(&mut self, nanos: u64, times: u64) {
        match nanos {
            0 => self.zero += times,
            nanos => *self.buckets.entry(number(nanos)).or_default() += times,
        }
    }

    /// Adds the counts of another histogram.
    pub fn add(&mut self, other: &Self) {
        self.zero += other.zero;
        for (number, count) in &other.buckets {
            *self.buckets.entry(*number).or_default() += count;
        }
    }

    /// Returns the number of zero values.
    pub const fn zero(&self) -> u64 {
        self.zero
    }

    /// Returns the spans of consecutive buckets, each with its distance from the previous span and
    /// its length, and the difference of each bucket's count from the previous bucket's.
    pub fn spans(&self) -> (Vec<BucketSpan>, Vec<i64>) {
        let (mut spans, mut deltas) = (Vec::<BucketSpan>::new(), Vec::new());
        let (mut next, mut before) = (0_i32, 0_i64);
        for (number, count) in &self.buckets {
            let count = i64::try_from(*count).unwrap_or(i64::MAX);
            match spans.last_mut() {
                Some(span) if *number == next => span.length += 1,
                _ => spans.push(BucketSpan {
                    offset: number - next,
                    length: 1,
                }),
            }
            deltas.push(count - before);
            (next, before) = (number + 1, count);
        }
        if self.zero == 0 && spans.is_empty() {
            // A span without buckets distinguishes an empty native histogram from a classic one.
            spans.push(BucketSpan::default());
        }
        (spans, deltas)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_ends_at_a_sixteenth_power_of_two() {
        const SECOND: u64 = 1_000_000_000;
        assert_eq!(number(SECOND), 0);
        assert_eq!(number(SECOND + 1), 1);
        assert_eq!(number(2 * SECOND), 16);
        assert_eq!(number(SECOND / 2), -16);
        // 2^(-159/16) s are 1.0198 ms, 2^(-160/16) s are 0.9766 ms.
        assert_eq!(number(1_000_000), -159);
    }

    #[test]
    fn buckets_travel_as_runs_and_differences() {
        let mut counts = NativeCounts::default();
        for (nanos, times) in [
            (1_000_000_000, 5),
            (1_040_000_000, 7),
            (2_000_000_000, 1),
            (0, 3),
        ] {
            counts.count(nanos, times);
        }
        let (spans, deltas) = counts.spans();
        assert_eq!(spans, [span(0, 2), span(14, 1)]);
        assert_eq!(deltas, [5, 2, -6]);
        assert_eq!(counts.zero, 3);
    }

    const fn span(offset: i32, length: u32) -> BucketSpan {
        BucketSpan { offset, length }
    }

    #[test]
    fn an_empty_one_is_still_native() {
        let (spans, deltas) = NativeCounts::default().spans();
        assert_eq!((spans, deltas), (vec![span(0, 0)], vec![]));
    }
}
