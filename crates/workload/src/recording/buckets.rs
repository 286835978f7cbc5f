//! Counts of values in steps whose width grows with the value: the layout of HdrHistogram (Gil Tene,
//! <https://hdrhistogram.org>), so that what is written here is read by its tools.
//!
//! The first two halves of a bucket have steps of 1, each half after them steps of twice the width of
//! the one before. A run has a hundred of these, most of them almost empty, which are added up, read
//! and emptied ten times a second: only the range that holds something is ever looked at.

use hdrhistogram::Counter;

/// Longest time that the histogram tells apart: ten minutes, in nanoseconds.
pub const HIGHEST_NANOS: u64 = 600_000_000_000;
/// Significant decimal digits of a histogram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignificantDigits {
    /// At most 1/16384 too high; 1.8 MB each in an interval.
    Four,
    /// At most 1/1024 too high; 120 kB each. For runs of many kinds of operation,
    /// whose histograms would fill the processor's caches.
    Three,
}

impl SignificantDigits {
    /// What a run with so many kinds of operation can afford for each of them.
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

/// A probe has one kind, or two with the unmeasured operation that goes with it.
const KINDS_WITH_FOUR: usize = 2;

/// Of the encoding with counts as variable-length numbers of up to nine bytes (HdrHistogram V2).
const COOKIE: u32 = 0x1c84_9313;
/// Bytes before the counts.
const HEADER_LEN: usize = 40;

/// How many values there are in each step.
#[derive(Debug, Clone)]
pub struct Buckets<C> {
    counts: Box<[C]>,
    digits: SignificantDigits,
    total: u64,
    /// The range of steps that hold something; the other way round if none does.
    low: usize,
    high: usize,
}

impl SignificantDigits {
    /// The binary logarithm of how many steps a half has.
    const fn half_bits(self) -> u32 {
        match self {
            SignificantDigits::Three => 10,
            SignificantDigits::Four => 14,
        }
    }

    /// The step that a value is in.
    #[inline]
    const fn step(self, value: u64) -> usize {
        let bits = self.half_bits();
        let first_two = (2 << bits) - 1;
        let doublings = (value | first_two).ilog2() - bits;
        ((doublings as usize) << bits) + (value >> doublings) as usize
    }

    /// How many steps there are: whole halves, up to the one with the highest value.
    const fn steps(self) -> usize {
        let bits = self.half_bits();
        ((self.step(HIGHEST_NANOS) >> bits) + 1) << bits
    }

    /// The largest value of a step.
    const fn largest(self, step: usize) -> u64 {
        let half = step >> self.half_bits();
        let doublings = half.saturating_sub(1);
        let place = step - (doublings << self.half_bits());
        ((place as u64 + 1) << doublings) - 1
    }
}

impl<C: Counter> Buckets<C> {
    /// Steps of these digits, in which nothing is.
    pub fn new(digits: SignificantDigits) -> Self {
        Self {
            counts: vec![C::zero(); digits.steps()].into_boxed_slice(),
            digits,
            total: 0,
            low: usize::MAX,
            high: 0,
        }
    }

    /// Counts a value so many times. What is beyond the last step counts as the highest value.
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

    /// The steps that hold something, with how much.
    fn filled(&self) -> impl Iterator<Item = (usize, u64)> {
        let range = self.counts.get(self.low..=self.high).unwrap_or_default();
        let filled = range.iter().enumerate();
        filled
            .filter(|(_, count)| **count != C::zero())
            .map(|(index, count)| (self.low + index, count.as_u64()))
    }

    /// The largest value of each step that holds something, and how much it holds.
    pub fn largest_and_counts(&self) -> impl Iterator<Item = (u64, u64)> {
        self.filled()
            .map(|(step, count)| (self.digits.largest(step), count))
    }

    /// Adds all of `other`, whose steps may be of another width.
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

    /// Forgets everything, keeps the memory.
    pub fn reset(&mut self) {
        if let Some(range) = self.counts.get_mut(self.low..=self.high) {
            range.fill(C::zero());
        }
        (self.total, self.low, self.high) = (0, usize::MAX, 0);
    }

    /// For each of these quantiles, which go up, the largest value of the step that it is in; 0 if
    /// there are no values.
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

    /// What stands before the counts of these digits.
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

    /// Adds what was [encoded](Self::encode) elsewhere, whose steps may be of another width. What
    /// is empty is skipped, not walked through.
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

    /// Adds counts of the same width. A coordinator of many hosts adds a million of them a second, so the
    /// range and the total are entered once.
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

    /// In HdrHistogram's V2 encoding.
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

/// Why bytes are not the steps of a run's distribution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BucketsError {
    /// Not the header that [`Buckets::encode`] writes.
    #[error("its header is not that of a histogram up to ten minutes with three or four digits")]
    Header,
    /// Fewer bytes than the header says, or more counts than there are steps.
    #[error("its counts do not fit into it")]
    Counts,
}

/// The digits of encoded steps, and the bytes of their counts.
pub fn header_of(bytes: &[u8]) -> Result<(SignificantDigits, &[u8]), BucketsError> {
    let (header, counts) = bytes
        .split_at_checked(HEADER_LEN)
        .ok_or(BucketsError::Header)?;
    for digits in [SignificantDigits::Three, SignificantDigits::Four] {
        let mut own = Buckets::<u64>::header(digits);
        // Of the header, the length alone is not known before.
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

/// How many values encoded steps hold.
pub fn total_of(bytes: &[u8]) -> Result<u64, BucketsError> {
    let (digits, counts) = header_of(bytes)?;
    let (steps, mut total) = (digits.steps(), 0_u64);
    each_count(counts, |step, count| {
        total = total.saturating_add(count);
        step < steps || count == 0
    })?;
    Ok(total)
}

/// Tells the steps, and how much each holds, which may be nothing, until `add` has no such step.
///
/// Counts and gaps come in no order that a processor could foresee, so there is no branch between them.
#[inline]
fn each_count(
    mut counts: &[u8],
    mut add: impl FnMut(usize, u64) -> bool,
) -> Result<(), BucketsError> {
    let mut step = 0_usize;
    while let Some((first, rest)) = counts.split_first() {
        // Nearly all numbers are of one byte.
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

/// A number out of the zigzag order.
#[inline]
const fn signed(zigzag: u64) -> i64 {
    (zigzag >> 1) as i64 ^ -((zigzag & 1) as i64)
}

/// The next number of `put`'s, and what follows it.
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

/// Steps that hold nothing: one as it is, more as their number below zero.
fn put_zeros(steps: usize, bytes: &mut Vec<u8>) {
    match steps {
        0 => {}
        1 => put(0, bytes),
        more => put(-(more as i64), bytes),
    }
}

/// A number in the zigzag order (0, -1, 1, -2, …), in seven bits a byte, of which the ninth has
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

/// A count in the counter's own type, which holds 2^32 at least; what is beyond that saturates.
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

    /// Values of every order, as often as that of times of a server, and the edges of steps.
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
            // Where its total is no exact f64, the library has no quantile of 1.
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
        // The library has no quantile of what was not counted.
        both.compare_bytes();
        assert_eq!(both.ours.quantiles([0.5, 1.0]), [77, 77]);
    }
}
