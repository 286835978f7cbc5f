//! Distribution of operation times, counted for a classic and a native histogram.

use crate::bounds::{COUNT, place};
use crate::native::NativeCounts;
use filestone_workload::recording::distribution::{Distribution, DistributionRecord};

/// Distribution of operation times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Times {
    count: u64,
    sum_nanos: u64,
    /// Counts by classic bucket; the last element counts times above all bounds.
    classic: Box<[u64]>,
    native: NativeCounts,
}

impl Default for Times {
    fn default() -> Self {
        Self {
            count: 0,
            sum_nanos: 0,
            classic: vec![0; COUNT + 1].into_boxed_slice(),
            native: NativeCounts::default(),
        }
    }
}

impl Times {
    /// Returns the number of values.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Returns the exact sum of all values, in nanoseconds.
    pub const fn sum_nanos(&self) -> u64 {
        self.sum_nanos
    }

    /// Returns the counts of the classic buckets; the last element counts times above all bounds.
    pub fn classic(&self) -> &[u64] {
        &self.classic
    }

    /// Returns the counts of the native histogram.
    pub const fn native(&self) -> &NativeCounts {
        &self.native
    }

    /// Adds the values of an interval.
    pub fn add_distribution(&mut self, distribution: &mut Distribution<u32>) {
        self.count += distribution.count();
        self.sum_nanos = self.sum_nanos.saturating_add(distribution.sum());
        for (nanos, times) in distribution.steps() {
            self.step(nanos, times);
        }
    }

    /// Decodes the values of a record. With an unreadable histogram, all values go to the bucket of
    /// the maximum.
    pub fn of_record(record: &DistributionRecord) -> Self {
        let mut times = Self {
            count: record.count,
            sum_nanos: record.sum,
            ..Self::default()
        };
        match record.decode() {
            _ if record.count == 0 => {}
            Ok(histogram) => {
                for step in histogram.iter_recorded() {
                    times.step(step.value_iterated_to(), step.count_at_value());
                }
            }
            Err(_) => times.step(record.max, record.count),
        }
        times
    }

    /// Adds the values of another distribution.
    pub fn add(&mut self, other: &Self) {
        self.count += other.count;
        self.sum_nanos = self.sum_nanos.saturating_add(other.sum_nanos);
        for (count, more) in self.classic.iter_mut().zip(&other.classic) {
            *count += more;
        }
        self.native.add(&other.native);
    }

    fn step(&mut self, nanos: u64, times: u64) {
        if let Some(count) = self.classic.get_mut(place(nanos)) {
            *count += times;
        }
        self.native.count(nanos, times);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_add_up_to_what_the_record_of_all_of_them_says() {
        let mut all = Distribution::<u64>::new();
        let mut times = Times::default();
        for values in [[0, 1000, 2000], [5_000_000, 77, 3_000_000_000]] {
            let mut interval = Distribution::<u32>::new();
            values.into_iter().for_each(|nanos| interval.record(nanos));
            times.add_distribution(&mut interval);
            all.add(&mut interval);
        }
        assert_eq!(times.count(), 6);
        assert_eq!(times.sum_nanos(), 3_005_003_077);
        assert_eq!(times, Times::of_record(&all.to_record()));
    }

    #[test]
    fn a_record_without_its_histogram_keeps_count_and_sum() {
        let mut distribution = Distribution::<u64>::new();
        [1000, 3000]
            .into_iter()
            .for_each(|nanos| distribution.record(nanos));
        let times = Times::of_record(&DistributionRecord {
            histogram: String::new(),
            ..distribution.to_record()
        });
        assert_eq!((times.count(), times.sum_nanos()), (2, 4000));
        assert_eq!(times.classic().iter().sum::<u64>(), 2);
    }
}
