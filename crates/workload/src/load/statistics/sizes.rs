//! Sizes of reads and writes: exact counts of each, and a summary.

use super::contents::{SizeCount, TransferTotals};
use std::collections::BTreeMap;

/// Number of the most frequent sizes in the summary.
const FREQUENT_MAX: usize = 8;

/// Approximate memory use of a counted size.
const SIZE_WEIGHT: u64 = 48;

/// Reads or writes.
#[derive(Debug, Default)]
pub(super) struct TransferStatistics {
    bytes_asked: u64,
    bytes_returned: u64,
    sequential: u64,
    sizes: BTreeMap<u64, u64>,
}

impl TransferStatistics {
    /// Adds an operation. `end` is the end of the previous one of this handle or file.
    pub fn add(&mut self, offset: u64, len: u64, returned: u64, end: &mut Option<u64>) {
        self.bytes_asked = self.bytes_asked.saturating_add(len);
        self.bytes_returned = self.bytes_returned.saturating_add(returned);
        *self.sizes.entry(len).or_default() += 1;
        if *end == Some(offset) {
            self.sequential += 1;
        }
        *end = offset.checked_add(len);
    }

    pub fn weight(&self) -> u64 {
        self.sizes.len() as u64 * SIZE_WEIGHT
    }

    pub fn finish(&self) -> TransferTotals {
        let operations: u64 = self.sizes.values().sum();
        let mut frequent: Vec<SizeCount> = self
            .sizes
            .iter()
            .map(|(&bytes, &count)| SizeCount { bytes, count })
            .collect();
        frequent.sort_by_key(|size| std::cmp::Reverse(size.count));
        frequent.truncate(FREQUENT_MAX);
        TransferTotals {
            operations,
            bytes_asked: self.bytes_asked,
            bytes_returned: self.bytes_returned,
            sequential: self.sequential,
            size_min: self.sizes.keys().next().copied().unwrap_or(0),
            size_median: self.median(operations),
            size_max: self.sizes.keys().next_back().copied().unwrap_or(0),
            sizes_distinct: self.sizes.len() as u64,
            sizes_frequent: frequent,
        }
    }

    /// Returns the median: the smallest size that half of the operations do not exceed.
    fn median(&self, operations: u64) -> u64 {
        let half = operations.div_ceil(2);
        let mut seen = 0;
        for (size, count) in &self.sizes {
            seen += count;
            if seen >= half {
                return *size;
            }
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_counted_exactly() {
        let mut reads = TransferStatistics::default();
        let mut end = None;
        // 0..4, 4..8 (sequential), 100..101, 101..111 (sequential), 0..10
        for (offset, len) in [(0, 4), (4, 4), (100, 1), (101, 10), (0, 10)] {
            reads.add(offset, len, len, &mut end);
        }
        let reads = reads.finish();
        assert_eq!(reads.operations, 5);
        assert_eq!(reads.bytes_asked, 29);
        assert_eq!(reads.sequential, 2);
        assert_eq!(
            (reads.size_min, reads.size_median, reads.size_max),
            (1, 4, 10)
        );
        assert_eq!(
            reads.sizes_frequent,
            [(4, 2), (10, 2), (1, 1)].map(|(bytes, count)| SizeCount { bytes, count })
        );
    }

    #[test]
    fn the_end_of_the_number_range_is_nobodys_beginning() {
        let mut writes = TransferStatistics::default();
        let mut end = None;
        writes.add(u64::MAX, 2, 2, &mut end);
        writes.add(1, 2, 2, &mut end);
        assert_eq!(writes.finish().sequential, 0);
    }
}
