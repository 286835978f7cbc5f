//! Distribution of times: an HDR histogram with exact minimum, maximum and sum.
//!
//! The histogram has four significant digits between 1 ns and ten minutes: a value is reported at
//! most 1/16384 (0.006 %) too high. In runs of many kinds of operation, such as replays, each kind
//! has three digits (at most 1/1024, 0.1 %, too high), and so have sums over kinds. Minimum,
//! maximum and mean are stored separately and are exact, and a percentile is never reported outside
//! minimum and maximum, so `min ≤ p50 ≤ p99 ≤ max` holds in every row. Times above ten minutes
//! count as ten minutes in the percentiles; the maximum is still exact.

use crate::JsonSchema;
use crate::recording::buckets::{Buckets, BucketsError, header_of, total_of};
pub use crate::recording::buckets::{HIGHEST_NANOS, SignificantDigits};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::{Counter, Histogram};
use serde::{Deserialize, Serialize};
use std::cell::RefCell;

/// A histogram of nanoseconds with exact minimum, maximum and sum.
#[derive(Debug, Clone)]
pub struct Distribution<C: Counter> {
    steps: Buckets<C>,
    count: u64,
    sum: u64,
    min: u64,
    max: u64,
    /// The value recorded last, and its number of consecutive occurrences: the replies of one
    /// wake-up often have equal times, and a run of them is recorded at once.
    run_value: u64,
    run_len: u32,
}

impl<C: Counter> Distribution<C> {
    /// Creates an empty distribution of four digits.
    pub fn new() -> Self {
        Self::with_digits(SignificantDigits::Four)
    }

    /// Creates an empty distribution. Allocates all memory that it needs.
    pub fn with_digits(digits: SignificantDigits) -> Self {
        Self {
            steps: Buckets::new(digits),
            count: 0,
            sum: 0,
            min: u64::MAX,
            max: 0,
            run_value: u64::MAX,
            run_len: 0,
        }
    }

    /// Adds one value, in nanoseconds.
    #[inline]
    pub fn record(&mut self, nanos: u64) {
        self.record_n(nanos, 1);
    }

    /// Adds the same value `times` times.
    #[inline]
    pub fn record_n(&mut self, nanos: u64, times: u32) {
        if self.run_len == 0 || nanos != self.run_value || self.run_len > u32::MAX - times {
            self.flush();
            self.run_value = nanos;
            self.min = self.min.min(nanos);
            self.max = self.max.max(nanos);
        }
        self.run_len += times;
        self.count += u64::from(times);
        self.sum = self
            .sum
            .saturating_add(nanos.saturating_mul(u64::from(times)));
    }

    /// Writes the pending run of equal values into the histogram.
    fn flush(&mut self) {
        if self.run_len != 0 {
            self.steps.record(self.run_value, self.run_len.into());
            self.run_len = 0;
        }
    }

    /// Adds all of `other`.
    pub fn add<D: Counter>(&mut self, other: &mut Distribution<D>) {
        other.flush();
        self.flush();
        self.steps.add(&other.steps);
        self.count += other.count;
        self.sum = self.sum.saturating_add(other.sum);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// Removes all values and keeps the memory.
    pub fn reset(&mut self) {
        self.steps.reset();
        self.count = 0;
        self.sum = 0;
        self.min = u64::MAX;
        self.max = 0;
        self.run_len = 0;
    }

    /// Returns the number of values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the minimum; 0 if there are no values.
    pub fn min(&self) -> u64 {
        if self.count == 0 { 0 } else { self.min }
    }

    /// Returns the maximum; 0 if there are no values.
    pub fn max(&self) -> u64 {
        self.max
    }

    /// Returns the sum of all values.
    pub fn sum(&self) -> u64 {
        self.sum
    }

    /// Returns the mean; 0 if there are no values.
    pub fn mean(&self) -> f64 {
        if self.count == 0 {
            0.0
        } else {
            self.sum as f64 / self.count as f64
        }
    }

    /// Returns the smallest recorded value that at least a share of `quantile` of all values do not
    /// exceed, within the histogram's resolution and never outside the extremes.
    pub fn quantile(&mut self, quantile: f64) -> u64 {
        let [value] = self.quantiles([quantile]);
        value
    }

    /// Returns several quantiles, which must be ascending.
    fn quantiles<const N: usize>(&mut self, quantiles: [f64; N]) -> [u64; N] {
        self.flush();
        let (min, max) = (self.min(), self.max());
        let values = self.steps.quantiles(quantiles);
        values.map(|value| value.max(min).min(max))
    }

    /// Returns the non-empty buckets of the histogram in ascending order: the largest value of
    /// each, in nanoseconds, and its count.
    pub fn steps(&mut self) -> impl Iterator<Item = (u64, u64)> {
        self.flush();
        self.steps.largest_and_counts()
    }

    /// Returns the record of this distribution.
    pub fn to_record(&mut self) -> DistributionRecord {
        let [p50, p90, p95, p99, p99_9, p99_99] =
            self.quantiles([0.5, 0.9, 0.95, 0.99, 0.999, 0.9999]);
        DistributionRecord {
            count: self.count,
            sum: self.sum,
            min: self.min(),
            mean: self.mean(),
            p50,
            p90,
            p95,
            p99,
            p99_9,
            p99_99,
            max: self.max(),
            histogram: STANDARD.encode(self.steps.encode()),
        }
    }
}

impl Distribution<u64> {
    /// Adds all values of a record. Count, sum and extremes stay exact.
    pub fn add_record(&mut self, record: &DistributionRecord) -> Result<(), HistogramError> {
        self.add_encoded(&record.encoded()?)
    }

    /// Adds all values of an encoded distribution.
    fn add_encoded(&mut self, encoded: &EncodedDistribution) -> Result<(), HistogramError> {
        if encoded.count == 0 {
            return Ok(());
        }
        self.steps.add_encoded(&encoded.histogram)?;
        self.min = self.min.min(encoded.min);
        self.max = self.max.max(encoded.max);
        self.count = self.count.saturating_add(encoded.count);
        self.sum = self.sum.saturating_add(encoded.sum);
        Ok(())
    }
}

/// Merges the records of several hosts, bucket by bucket, so that the result equals the record of a
/// single host. Reuses its memory.
#[derive(Debug)]
pub struct RecordMerger {
    three: Distribution<u64>,
    four: Distribution<u64>,
}

impl RecordMerger {
    /// Creates a merger with memory for both widths of buckets.
    pub fn new() -> Self {
        Self {
            three: Distribution::with_digits(SignificantDigits::Three),
            four: Distribution::with_digits(SignificantDigits::Four),
        }
    }

    /// Returns the record of all values of these records, with the resolution of the first one.
    pub fn merge<'record>(
        &mut self,
        records: impl Iterator<Item = &'record DistributionRecord>,
    ) -> Result<DistributionRecord, HistogramError> {
        let encoded = records.map(DistributionRecord::encoded);
        let encoded = encoded.collect::<Result<Vec<_>, _>>()?;
        self.merge_encoded(encoded.iter())
    }

    /// Returns the record of all values of these encoded distributions.
    pub fn merge_encoded<'encoded>(
        &mut self,
        distributions: impl Iterator<Item = &'encoded EncodedDistribution> + Clone,
    ) -> Result<DistributionRecord, HistogramError> {
        let mut with_histogram = distributions.clone();
        let first = with_histogram.find(|encoded| !encoded.histogram.is_empty());
        let digits = first.map_or(Ok(SignificantDigits::Four), |encoded| {
            header_of(&encoded.histogram).map(|(digits, _)| digits)
        })?;
        let all = match digits {
            SignificantDigits::Three => &mut self.three,
            SignificantDigits::Four => &mut self.four,
        };
        all.reset();
        for encoded in distributions {
            all.add_encoded(encoded)?;
        }
        Ok(all.to_record())
    }
}

impl Default for RecordMerger {
    fn default() -> Self {
        Self::new()
    }
}

impl<C: Counter> Default for Distribution<C> {
    fn default() -> Self {
        Self::new()
    }
}

/// A distribution in a record; all values in nanoseconds.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct DistributionRecord {
    /// Number of values.
    pub count: u64,
    /// Sum of the values.
    pub sum: u64,
    /// Minimum, exact.
    pub min: u64,
    /// Mean, exact.
    pub mean: f64,
    /// Median.
    pub p50: u64,
    /// 90th percentile.
    pub p90: u64,
    /// 95th percentile.
    pub p95: u64,
    /// 99th percentile.
    pub p99: u64,
    /// 99.9th percentile.
    pub p99_9: u64,
    /// 99.99th percentile.
    pub p99_99: u64,
    /// Maximum, exact.
    pub max: u64,
    /// Histogram in HdrHistogram V2 encoding, base64.
    pub histogram: String,
}

/// Data sufficient to compute a distribution's record.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct EncodedDistribution {
    /// Number of values.
    pub count: u64,
    /// Sum of the values.
    pub sum: u64,
    /// Minimum, exact.
    pub min: u64,
    /// Maximum, exact.
    pub max: u64,
    /// Histogram in HdrHistogram V2 encoding.
    #[serde(with = "serde_bytes")]
    pub histogram: Vec<u8>,
}

/// Error returned when a record's histogram cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum HistogramError {
    /// The text is not base64.
    #[error("the histogram is not base64: {0}")]
    Base64(#[from] base64::DecodeError),
    /// The bytes are not HdrHistogram V2.
    #[error("the histogram is not in HdrHistogram's V2 encoding: {0}")]
    Encoding(String),
    /// The histogram was not written by filestone.
    #[error("the histogram cannot be merged: {0}")]
    Steps(#[from] BucketsError),
    /// The histogram does not match its row.
    #[error("the histogram has {histogram} values, its row {count}")]
    Count {
        /// Number of values in the histogram.
        histogram: u64,
        /// Number of values in the row.
        count: u64,
    },
}

impl DistributionRecord {
    /// Whether there are no values.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the default for a record without values, which is omitted in documents.
    #[must_use]
    pub fn or_default(self) -> Self {
        if self.is_empty() {
            Self::default()
        } else {
            self
        }
    }

    /// Returns the data that are sufficient to compute this record.
    pub fn encoded(&self) -> Result<EncodedDistribution, HistogramError> {
        Ok(EncodedDistribution {
            count: self.count,
            sum: self.sum,
            min: self.min,
            max: self.max,
            histogram: STANDARD.decode(&self.histogram)?,
        })
    }

    /// Returns the histogram of this record.
    pub fn decode(&self) -> Result<Histogram<u64>, HistogramError> {
        let bytes = STANDARD.decode(&self.histogram)?;
        // The deserializer allocates the number of bytes that the encoding declares.
        let declared = bytes.get(4..8).and_then(|length| length.try_into().ok());
        let declared = declared.map_or(0, u32::from_be_bytes);
        if u64::from(declared) > bytes.len() as u64 {
            return Err(HistogramError::Encoding(format!(
                "{declared} bytes are said to follow, of {} in all",
                bytes.len()
            )));
        }
        Deserializer::new()
            .deserialize(&mut bytes.as_slice())
            .map_err(|error| HistogramError::Encoding(error.to_string()))
    }

    /// Checks that the histogram can be read, and has the number of values of the row.
    pub fn check_histogram(&self) -> Result<(), HistogramError> {
        if self.count == 0 && self.histogram.is_empty() {
            return Ok(());
        }
        let bytes = STANDARD.decode(&self.histogram)?;
        let histogram = match total_of(&bytes) {
            Ok(total) => total,
            // Other programs, and older versions, write other ranges.
            Err(BucketsError::Header) => self.decode()?.len(),
            Err(error) => return Err(error.into()),
        };
        if histogram == self.count {
            return Ok(());
        }
        Err(HistogramError::Count {
            histogram,
            count: self.count,
        })
    }

    /// Returns any quantile of this record, as [`Distribution::quantile`].
    pub fn quantile(&self, quantile: f64) -> Result<u64, HistogramError> {
        Ok(self
            .decode()?
            .value_at_quantile(quantile)
            // Not `clamp`: the extremes in a record from another source may be reversed.
            .max(self.min)
            .min(self.max))
    }

    /// Returns the sum of the `power`-th powers of all values, in nanoseconds to that power. For a
    /// record without its histogram it is the upper limit for the sum and maximum.
    pub fn moment_sum(&self, power: i32) -> f64 {
        let Ok(histogram) = self.decode() else {
            return self.sum as f64 * (self.max as f64).powi(power - 1);
        };
        let steps = histogram.iter_recorded();
        steps
            .map(|step| {
                let value = histogram.median_equivalent(step.value_iterated_to());
                step.count_at_value() as f64 * (value as f64).powi(power)
            })
            .sum()
    }

    /// Returns the record of all values of these records together.
    ///
    /// Count, sum and extremes stay exact; percentiles are those of the merged histograms
    /// ([`RecordMerger::merge`]).
    pub fn merged(records: &[&Self]) -> Result<Self, HistogramError> {
        thread_local! {
            // Reports merge the kinds of many intervals, and the merger's memory is megabytes.
            static MERGER: RefCell<RecordMerger> = RefCell::new(RecordMerger::new());
        }
        MERGER.with_borrow_mut(|merger| merger.merge(records.iter().copied()))
    }

    /// Whether the row is ordered: `min ≤ p50 ≤ p90 ≤ … ≤ max`, the mean between the extremes.
    pub fn is_ordered(&self) -> bool {
        let row = [
            self.min,
            self.p50,
            self.p90,
            self.p95,
            self.p99,
            self.p99_9,
            self.p99_99,
            self.max,
        ];
        row.is_sorted() && (self.min as f64) <= self.mean && self.mean <= self.max as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sums_of_squares_and_cubes_are_those_of_the_values() {
        let mut distribution = Distribution::<u64>::new();
        [1000, 2000, 3000]
            .into_iter()
            .for_each(|nanos| distribution.record(nanos));
        let record = distribution.to_record();
        assert!((record.moment_sum(2) / 14e6 - 1.0).abs() < 1e-3);
        assert!((record.moment_sum(3) / 36e9 - 1.0).abs() < 1e-3);
        let without = DistributionRecord {
            histogram: String::new(),
            ..record
        };
        assert_eq!(without.moment_sum(2), 18e6);
        assert_eq!(DistributionRecord::default().moment_sum(3), 0.0);
    }

    #[test]
    fn a_record_that_somebody_has_changed_is_no_panic_and_takes_no_memory() {
        let mut distribution = Distribution::<u64>::new();
        distribution.record(1000);
        let whole = distribution.to_record();
        let turned = DistributionRecord {
            min: 2000,
            max: 500,
            ..whole.clone()
        };
        assert_eq!(turned.quantile(0.5).ok(), Some(500));
        let mut bytes = STANDARD.decode(&whole.histogram).expect("base64");
        bytes[4..8].copy_from_slice(&[0xff, 0xff, 0xff, 0xf0]);
        let promising = DistributionRecord {
            histogram: STANDARD.encode(bytes),
            ..whole
        };
        assert!(promising.decode().is_err());
    }

    #[test]
    fn a_first_value_of_zero_is_an_extreme_like_any_other() {
        let mut fresh = Distribution::<u32>::new();
        fresh.record(0);
        let record = fresh.to_record();
        assert_eq!((record.min, record.p50, record.max), (0, 0, 0));
        assert!(record.is_ordered());
    }

    #[test]
    fn percentiles_lie_between_the_extremes_and_close_to_the_truth() {
        let mut distribution = Distribution::<u32>::new();
        for value in 1..=10_000u64 {
            distribution.record(value * 1000);
        }
        let record = distribution.to_record();
        assert!(record.is_ordered());
        assert_eq!(record.min, 1000);
        assert_eq!(record.max, 10_000_000);
        assert_eq!(record.mean, 5_000_500.0);
        for (shown, truth) in [(record.p50, 5_000_000.0), (record.p99, 9_900_000.0)] {
            let error = shown as f64 / truth - 1.0;
            assert!(
                (0.0..=1.0 / 16384.0).contains(&error),
                "{shown} for {truth}"
            );
        }
    }

    #[test]
    fn a_run_of_equal_values_counts_each_of_them() {
        let mut distribution = Distribution::<u32>::new();
        for value in [7, 7, 7, 9, 7] {
            distribution.record(value);
        }
        assert_eq!((distribution.count(), distribution.sum()), (5, 37));
        assert_eq!((distribution.min(), distribution.max()), (7, 9));
        assert_eq!(distribution.quantile(0.8), 7);
        assert_eq!(distribution.quantile(0.81), 9);
        distribution.record(7);
        assert_eq!(
            distribution
                .to_record()
                .decode()
                .expect("own encoding")
                .len(),
            6
        );
    }

    #[test]
    fn zero_is_a_value_and_the_first_one_sets_the_extremes() {
        let mut distribution = Distribution::<u32>::new();
        distribution.record(0);
        distribution.record(5);
        assert_eq!(
            (distribution.min(), distribution.max(), distribution.count()),
            (0, 5, 2)
        );
        distribution.reset();
        distribution.record(u64::MAX);
        assert_eq!((distribution.min(), distribution.count()), (u64::MAX, 1));
    }

    #[test]
    fn merging_in_any_order_gives_the_same_record() {
        let parts: Vec<Vec<u64>> = vec![vec![5, 900_000], vec![], vec![77, 77, 1_000_000_007]];
        let merged = |order: [usize; 3]| {
            let mut total = Distribution::<u64>::new();
            for index in order {
                let mut part = Distribution::<u32>::new();
                parts[index].iter().for_each(|value| part.record(*value));
                total.add(&mut part);
            }
            total.to_record()
        };
        assert_eq!(merged([0, 1, 2]), merged([2, 0, 1]));
        assert_eq!(merged([0, 1, 2]).count, 5);
    }

    #[test]
    fn records_are_merged_as_their_distributions_are() {
        let parts: [&[u64]; 3] = [&[5, 900_000], &[], &[77, 77, 1_000_000_007]];
        let (mut total, mut records) = (Distribution::<u64>::new(), Vec::new());
        for part in parts {
            let mut distribution = Distribution::<u64>::new();
            part.iter().for_each(|value| distribution.record(*value));
            records.push(distribution.to_record());
            total.add(&mut distribution);
        }
        let records: Vec<&DistributionRecord> = records.iter().collect();
        let merged = DistributionRecord::merged(&records).expect("own encoding");
        assert_eq!(merged, total.to_record());
    }

    #[test]
    fn what_outlasts_the_histogram_still_shows_as_the_maximum() {
        let mut distribution = Distribution::<u32>::new();
        distribution.record(HIGHEST_NANOS * 2);
        assert_eq!(distribution.max(), HIGHEST_NANOS * 2);
        assert!(distribution.to_record().is_ordered());
    }
}
