//! Histogram with buckets whose width grows with the value: the layout of HdrHistogram (Gil Tene,
//! <https://hdrhistogram.org>), so that its tools can read the output.
//!
//! The first two half-ranges have buckets of width 1, each half-range after them buckets of twice
//! the width of the one before. A run has a hundred histograms, most of them almost empty, which
//! are added, read and reset ten times a second: only the range with non-empty buckets is accessed.

use hdrhistogram::Counter;

/// Longest time that the histogram distinguishes: ten minutes, in nanoseconds.
pub const HIGHEST_NANOS: u64 = 600_000_000_000;
/// Number of significant decimal digits of a histogram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignificantDigits {
    /// At most 1/16384 too high; 1.8 MB each in an interval.
    Four,
    /// At most 1/1024 too high; 120 kB each. For runs of many kinds of operation, whose histograms
    /// would exceed the CPU caches.
    Three,
}

impl SignificantDigits {
    /// Returns the digits for a run with this number of kinds of operation.
    pub const fn for_kinds(kinds: usize) -> Self {
        if kinds <= KINDS_WITH_FOUR {
            SignificantDigits::Four
        } else {
            SignificantDigits::Three
        }
    }

    const fn number(self) -> u8 {
        match self {
            SignificantDigits::Four => 4,
            SignificantDigits::Three => 3,
        }
    }
}

/// A probe has one kind, or two with its unmeasured operation.
const KINDS_WITH_FOUR: usize = 2;

/// Cookie of the encoding with counts as variable-length numbers of up to nine bytes (HdrHistogram
/// V2).
const COOKIE: u32 = 0x1c84_9313;
/// Number of bytes before the counts.
const HEADER_LEN: usize = 40;

/// Number of values in each bucket.
#[derive(Debug, Clone)]
pub struct Buckets<C> {
    counts: Box<[C]>,
    digits: SignificantDigits,
    total: u64,
    /// Range of non-empty buckets; reversed if all are empty.
    low: usize,
    high: usize,
}

impl SignificantDigits {
    /// Returns the binary logarithm of the number of buckets in a half-range.
    const fn half_bits(self) -> u32 {
        match self {
            SignificantDigits::Three => 10,
            SignificantDigits::Four => 14,
        }
    }

    /// Returns the index of a value's bucket.
    #[inline]
    const fn step(self, value: u64) -> usize {
        let bits = self.half_bits();
        let first_two = (2 << bits) - 1;
        let doublings = (value | first_two).ilog2() - bits;
        ((doublings as usize) << bits) + (value >> doublings) as usize
    }

    /// Returns the number of buckets: whole half-ranges, up to the one with the highest value.
    const fn steps(self) -> usize {
        let bits = self.half_bits();
        ((self.step(HIGHEST_NANOS) >> bits) + 1) << bits
    }

    /// Returns the largest value of a bucket.
    const fn largest(self, step: usize) -> u64 {
        let half = step >> self.half_bits();
        let doublings = half.saturating_sub(1);
        let place = step - (doublings << self.half_bits());
        ((place as u64 + 1) << doublings) - 1
    }
}

impl<C: Counter> Buckets<C> {
    /// Creates empty buckets with these digits.
    pub fn new(digits: SignificantDigits) -> Self {
        Self {
            counts: vec![C::zero(); digits.steps()].into_boxed_slice(),
            digits,
            total: 0,
            low: usize::MAX,
            high: 0,
        }
    }

    /// Counts a value `times` times. A value beyond the last bucket counts as the highest value.
    #[inline]
    pub fn record(&mut self, value: u64, times: u64) {
        let step = self.digits.step(value);
        if step < self.counts.len() {
            self.add_at(step, times);
        } else {
            self.add_at(self.digits.step(HIGHEST_NANOS), times);
        }
    }

    #[inline]
    fn add_at(&mut self, step: usize, times: u64) {
        if let Some(count) = self.counts.get_mut(step) {
            *count = count.saturating_add(counter(times));
            self.low = self.low.min(step);
            self.high = self.high.max(step);
            self.total = self.total.saturating_add(times);
        }
    }

    /// Returns the non-empty buckets with their counts. Most of the range is empty, so whole pieces of
    /// it are compared with zeros first.
    fn filled(&self) -> impl Iterator<Item = (usize, u64)> {
        const PIECE: usize = 64;
        let empty = [C::zero(); PIECE];
        let range = self.counts.get(self.low..=self.high).unwrap_or_default();
        let pieces = range.chunks(PIECE).zip((self.low..).step_by(PIECE));
        pieces
            .filter(move |(piece, _)| Some(*piece) != empty.get(..piece.len()))
            .flat_map(|(piece, low)| piece.iter().zip(low..))
            .filter(|(count, _)| **count != C::zero())
            .map(|(count, step)| (step, count.as_u64()))
    }

    /// Returns the largest value of each non-empty bucket, and its count.
    pub fn largest_and_counts(&self) -> impl Iterator<Item = (u64, u64)> {
        self.filled()
            .map(|(step, count)| (self.digits.largest(step), count))
    }

    /// Adds all of `other`, which may have buckets of a different width.
    pub fn add<D: Counter>(&mut self, other: &Buckets<D>) {
        let is_same = self.digits == other.digits;
        for (step, count) in other.filled() {
            if is_same {
                self.add_at(step, count);
            } else {
                self.record(other.digits.largest(step), count);
            }
        }
    }

    /// Removes all values and keeps the memory.
    pub fn reset(&mut self) {
        if let Some(range) = self.counts.get_mut(self.low..=self.high) {
            range.fill(C::zero());
        }
        (self.total, self.low, self.high) = (0, usize::MAX, 0);
    }

    /// Returns, for each of these ascending quantiles, the largest value of its bucket; 0 if there
    /// are no values.
    pub fn quantiles<const N: usize>(&self, quantiles: [f64; N]) -> [u64; N] {
        let mut filled = self.filled();
        let (mut step, mut passed) = (None, 0_u64);
        quantiles.map(|quantile| {
            let wanted = ((quantile.min(1.0) * self.total as f64).ceil() as u64).max(1);
            while passed < wanted {
                let Some((next, count)) = filled.next() else {
                    break;
                };
                step = Some(next);
                passed = passed.saturating_add(count);
            }
            step.map_or(0, |step| self.digits.largest(step))
        })
    }

    /// Returns the header before the counts.
    fn header(digits: SignificantDigits) -> [u8; HEADER_LEN] {
        let mut bytes = [0; HEADER_LEN];
        bytes[..4].copy_from_slice(&COOKIE.to_be_bytes());
        // Then the length of the counts, which is not known yet, and no normalization.
        bytes[12..16].copy_from_slice(&u32::from(digits.number()).to_be_bytes());
        bytes[16..24].copy_from_slice(&1_u64.to_be_bytes());
        bytes[24..32].copy_from_slice(&HIGHEST_NANOS.to_be_bytes());
        bytes[32..].copy_from_slice(&1.0_f64.to_be_bytes());
        bytes
    }

    /// Adds an [encoded](Self::encode) histogram, which may have buckets of a different width.
    /// Empty ranges are skipped in one step.
    pub fn add_encoded(&mut self, bytes: &[u8]) -> Result<(), BucketsError> {
        let (digits, counts) = header_of(bytes)?;
        if digits == self.digits {
            return self.add_alike(counts);
        }
        let steps = digits.steps();
        each_count(counts, |step, count| {
            let is_there = step < steps;
            if is_there && count > 0 {
                self.record(digits.largest(step), count);
            }
            is_there || count == 0
        })
    }

    /// Adds counts of the same width. A coordinator of many hosts adds a million of them a second,
    /// so the range and the total are updated once.
    fn add_alike(&mut self, counts: &[u8]) -> Result<(), BucketsError> {
        let (mut low, mut high, mut total) = (self.low, self.high, self.total);
        let own = &mut self.counts;
        let added = each_count(counts, |step, more| {
            let Some(count) = own.get_mut(step) else {
                return more == 0;
            };
            *count = count.saturating_add(counter(more));
            let nothing = usize::from(more == 0).wrapping_neg();
            low = low.min(step | nothing);
            high = high.max(step & !nothing);
            total = total.saturating_add(more);
            true
        });
        (self.low, self.high, self.total) = (low, high, total);
        added
    }

    /// Encodes the histogram in HdrHistogram's V2 encoding.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(4 * HEADER_LEN);
        bytes.extend_from_slice(&Self::header(self.digits));
        let mut next = 0;
        for (step, count) in self.filled() {
            put_zeros(step - next, &mut bytes);
            put(count.min(i64::MAX as u64) as i64, &mut bytes);
            next = step + 1;
        }
        if next == 0 {
            put(0, &mut bytes);
        }
        let len = (bytes.len() - HEADER_LEN) as u32;
        bytes[4..8].copy_from_slice(&len.to_be_bytes());
        bytes
    }
}

/// Error returned when bytes are not the encoded buckets of a run's distribution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BucketsError {
    /// The header is not the one that [`Buckets::encode`] writes.
    #[error("its header is not that of a histogram up to ten minutes with three or four digits")]
    Header,
    /// There are fewer bytes than in the header's length, or more counts than buckets.
    #[error("its counts do not fit into it")]
    Counts,
}

/// Returns the digits of encoded buckets, and the bytes of their counts.
pub fn header_of(bytes: &[u8]) -> Result<(SignificantDigits, &[u8]), BucketsError> {
    let (header, counts) = bytes
        .split_at_checked(HEADER_LEN)
        .ok_or(BucketsError::Header)?;
    for digits in [SignificantDigits::Three, SignificantDigits::Four] {
        let mut own = Buckets::<u64>::header(digits);
        // All of the header except the length is known in advance.
        if let (Some(own), Some(given)) = (own.get_mut(4..8), header.get(4..8)) {
            own.copy_from_slice(given);
        }
        if own == header {
            let declared = header.get(4..8).and_then(|len| len.try_into().ok());
            let declared = declared.map_or(0, u32::from_be_bytes) as usize;
            let counts = counts.get(..declared).ok_or(BucketsError::Counts)?;
            return Ok((digits, counts));
        }
    }
    Err(BucketsError::Header)
}

/// Returns the number of values in encoded buckets.
pub fn total_of(bytes: &[u8]) -> Result<u64, BucketsError> {
    let (digits, counts) = header_of(bytes)?;
    let (steps, mut total) = (digits.steps(), 0_u64);
    each_count(counts, |step, count| {
        total = total.saturating_add(count);
        step < steps || count == 0
    })?;
    Ok(total)
}

/// Calls `add` with each bucket and its count, which may be 0, until it returns that the bucket
/// does not exist.
///
/// The sequence of counts and gaps is unpredictable for a CPU, so there is no branch between them.
#[inline]
fn each_count(
    mut counts: &[u8],
    mut add: impl FnMut(usize, u64) -> bool,
) -> Result<(), BucketsError> {
    let mut step = 0_usize;
    while let Some((first, rest)) = counts.split_first() {
        // Nearly all numbers have one byte.
        let (number, rest) = match first & 0x80 {
            0 => (signed(u64::from(*first)), rest),
            _ => take(counts).ok_or(BucketsError::Counts)?,
        };
        counts = rest;
        let (count, gap) = (number.max(0).unsigned_abs(), number.min(-1).unsigned_abs());
        if !add(step, count) {
            return Err(BucketsError::Counts);
        }
        step = step.saturating_add(gap as usize);
    }
    Ok(())
}

/// Decodes a zigzag number.
#[inline]
const fn signed(zigzag: u64) -> i64 {
    (zigzag >> 1) as i64 ^ -((zigzag & 1) as i64)
}

/// Returns the next number, as written by `put`, and the following bytes.
fn take(bytes: &[u8]) -> Option<(i64, &[u8])> {
    let mut number = 0_u64;
    for (place, byte) in bytes.iter().enumerate().take(9) {
        let is_ninth = place == 8;
        let bits = if is_ninth { *byte } else { byte & 0x7f };
        number |= u64::from(bits) << (7 * place);
        if is_ninth || byte & 0x80 == 0 {
            return Some((signed(number), bytes.get(place + 1..).unwrap_or_default()));
        }
    }
    None
}

/// Writes empty buckets: one as 0, several as their negative number.
fn put_zeros(steps: usize, bytes: &mut Vec<u8>) {
    match steps {
        0 => {}
        1 => put(0, bytes),
        more => put(-(more as i64), bytes),
    }
}

/// Writes a number in zigzag order (0, -1, 1, -2, …), with seven bits per byte; the ninth byte has
/// eight.
fn put(number: i64, bytes: &mut Vec<u8>) {
    let mut rest = ((number << 1) ^ (number >> 63)) as u64;
    for _ in 0..8 {
        if rest < 0x80 {
            break;
        }
        bytes.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    bytes.push(rest as u8);
}

/// Returns a count in the counter's type, which has at least 32 bits; larger counts saturate.
fn counter<C: Counter>(count: u64) -> C {
    C::from_u64(count)
        .or_else(|| C::from_u32(u32::MAX))
        .unwrap_or_else(C::one)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{RandomStream, RngExt, stream};
    use hdrhistogram::Histogram;
    use hdrhistogram::serialization::{Serializer, V2Serializer};

    const QUANTILES: [f64; 7] = [0.001, 0.5, 0.9, 0.99, 0.999, 0.9999, 1.0];

    /// The same values here and in the library's histogram.
    struct Both<C: Counter> {
        ours: Buckets<C>,
        theirs: Histogram<C>,
    }

    impl<C: Counter> Both<C> {
        fn new(digits: SignificantDigits) -> Self {
            let theirs = Histogram::new_with_bounds(1, HIGHEST_NANOS, digits.number());
            Self {
                ours: Buckets::new(digits),
                theirs: theirs.expect("bounds"),
            }
        }

        fn record(&mut self, value: u64, times: u32) {
            self.ours.record(value, times.into());
            self.theirs
                .saturating_record_n(value, counter(times.into()));
        }

        fn compare_bytes(&self) {
            let mut bytes = Vec::new();
            let written = V2Serializer::new().serialize(&self.theirs, &mut bytes);
            written.expect("memory");
            assert_eq!(self.ours.encode(), bytes);
        }

        fn compare(&self) {
            self.compare_bytes();
            let quantiles = QUANTILES.map(|quantile| self.theirs.value_at_quantile(quantile));
            assert_eq!(self.ours.quantiles(QUANTILES), quantiles);
            let filled = self.ours.filled();
            let filled: Vec<(u64, u64)> = filled
                .map(|(step, count)| (self.ours.digits.largest(step), count))
                .collect();
            let recorded = self.theirs.iter_recorded();
            let recorded: Vec<(u64, u64)> = recorded
                .map(|step| (step.value_iterated_to(), step.count_at_value().as_u64()))
                .collect();
            assert_eq!(filled, recorded);
        }
    }

    /// Values of all magnitudes, with frequencies as of a server's times, and the limits of
    /// buckets.
    fn values(seed: u64) -> Vec<(u64, u32)> {
        let mut random = stream(seed, RandomStream::Workload, 0);
        let mut values: Vec<(u64, u32)> = (0..2000)
            .map(|_| {
                let bits = random.random_range(0..41);
                (
                    random.random::<u64>() >> (63 - bits),
                    random.random_range(1..9),
                )
            })
            .collect();
        for power in 0..40 {
            let edge = 1_u64 << power;
            values.extend([(edge - 1, 1), (edge, 1), (edge + 1, 200)]);
        }
        values.extend([
            (HIGHEST_NANOS, 3),
            (HIGHEST_NANOS * 2, 1),
            (u64::MAX, 70_000),
        ]);
        values
    }

    #[test]
    fn an_empty_one_is_what_the_library_makes_of_it() {
        Both::<u32>::new(SignificantDigits::Three).compare();
        Both::<u64>::new(SignificantDigits::Four).compare();
    }

    #[test]
    fn steps_quantiles_and_bytes_are_the_librarys() {
        for digits in [SignificantDigits::Three, SignificantDigits::Four] {
            for seed in 0..5 {
                let mut both = Both::<u32>::new(digits);
                for (count, (value, times)) in values(seed).into_iter().enumerate() {
                    both.record(value, times);
                    if count < 40 {
                        both.compare();
                    }
                }
                both.compare();
            }
        }
    }

    #[test]
    fn counts_that_take_nine_bytes_are_the_librarys() {
        for shift in [7, 14, 21, 28, 35, 42, 49, 55, 56, 61] {
            let mut both = Both::<u64>::new(SignificantDigits::Three);
            for value in [3, 5000, 5001] {
                both.ours.record(value, 1 << shift);
                both.theirs.saturating_record_n(value, 1 << shift);
            }
            // If its total is not an exact f64, the library has no quantile of 1.
            both.compare_bytes();
            assert_eq!(both.ours.quantiles([0.5, 1.0]), [5003, 5003]);
        }
    }

    #[test]
    fn what_is_added_is_as_if_the_library_had_added_it() {
        for (to, from) in [
            (SignificantDigits::Four, SignificantDigits::Three),
            (SignificantDigits::Three, SignificantDigits::Four),
            (SignificantDigits::Four, SignificantDigits::Four),
        ] {
            let mut all = Both::<u64>::new(to);
            for seed in 0..3 {
                let mut part = Both::<u32>::new(from);
                for (value, times) in values(seed) {
                    part.record(value, times);
                }
                all.ours.add(&part.ours);
                for step in part.theirs.iter_recorded() {
                    let (value, times) = (step.value_iterated_to(), step.count_at_value());
                    all.theirs.saturating_record_n(value, times.into());
                }
            }
            all.compare();
        }
    }

    #[test]
    fn what_is_encoded_is_added_as_if_it_had_been_recorded_here() {
        for digits in [SignificantDigits::Three, SignificantDigits::Four] {
            let (mut all, mut merged) = (Buckets::<u64>::new(digits), Buckets::<u64>::new(digits));
            for seed in 0..4 {
                let mut part = Buckets::<u32>::new(digits);
                for (value, times) in values(seed) {
                    part.record(value, times.into());
                    all.record(value, times.into());
                }
                merged.add_encoded(&part.encode()).expect("encoded");
            }
            assert_eq!(merged.encode(), all.encode());
            assert_eq!(merged.quantiles(QUANTILES), all.quantiles(QUANTILES));
            merged
                .add_encoded(&Buckets::<u64>::new(digits).encode())
                .expect("empty");
            assert_eq!(merged.encode(), all.encode());
        }
    }

    #[test]
    fn steps_of_another_width_are_added_as_the_library_would() {
        let (mut from, mut to) = (
            Buckets::<u64>::new(SignificantDigits::Three),
            Buckets::<u64>::new(SignificantDigits::Four),
        );
        values(1)
            .into_iter()
            .for_each(|(value, times)| from.record(value, times.into()));
        let mut expected = Buckets::<u64>::new(SignificantDigits::Four);
        expected.add(&from);
        to.add_encoded(&from.encode()).expect("encoded");
        assert_eq!(to.encode(), expected.encode());
    }

    #[test]
    fn bytes_that_are_no_steps_are_refused_wherever_they_are_cut() {
        let mut steps = Buckets::<u64>::new(SignificantDigits::Four);
        values(3)
            .into_iter()
            .for_each(|(value, times)| steps.record(value, times.into()));
        let bytes = steps.encode();
        for len in 0..bytes.len() {
            let cut = Buckets::<u64>::new(SignificantDigits::Four).add_encoded(&bytes[..len]);
            assert!(cut.is_err(), "{len}");
        }
        let mut far = bytes[..HEADER_LEN].to_vec();
        put(-(1 << 40), &mut far);
        put(1, &mut far);
        let len = (far.len() - HEADER_LEN) as u32;
        far[4..8].copy_from_slice(&len.to_be_bytes());
        let far = Buckets::<u64>::new(SignificantDigits::Four).add_encoded(&far);
        assert_eq!(far, Err(BucketsError::Counts));
    }

    #[test]
    fn one_that_is_emptied_is_as_new() {
        let mut both = Both::<u32>::new(SignificantDigits::Three);
        for (value, times) in values(7) {
            both.ours.record(value, times.into());
        }
        both.ours.reset();
        both.compare();
        both.record(77, 2);
        both.compare();
    }

    #[test]
    fn a_counter_that_is_full_stays_full() {
        let mut both = Both::<u32>::new(SignificantDigits::Three);
        both.record(77, u32::MAX);
        both.record(77, 5);
        // The library has no quantile if it counted no values.
        both.compare_bytes();
        assert_eq!(both.ours.quantiles([0.5, 1.0]), [77, 77]);
    }
}
