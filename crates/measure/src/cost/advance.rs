//! Difference of a counter between two readings, or the reason why it is unknown.
//!
//! A counter that decreased has either wrapped or restarted. It has wrapped only if it was in the
//! last quarter of the range of 32 or 64 bits and is now in the first: an advance of half the range
//! between two readings would not give a usable figure anyway. In all other cases an error is
//! returned instead of a guess.

use super::reading::CounterReading;

/// Reason why a counter's advance is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CounterError {
    /// A reading does not have the counter.
    #[error("it was not there")]
    Missing,
    /// The host or process restarted between the readings, or its number of CPUs changed.
    #[error("what counts it was started again meanwhile, or has other processors now")]
    Restarted,
    /// The counter decreased, and not because it wrapped.
    #[error("it went from {before} back to {after}")]
    Backwards {
        /// Earlier value.
        before: u64,
        /// Later value.
        after: u64,
    },
}

/// Returns the advance of the value that `of` finds, from one reading to another. The value may
/// decrease by up to `slack`: a value computed from several counters varies with their read times.
pub fn between(
    before: &CounterReading,
    after: &CounterReading,
    of: impl Fn(&CounterReading) -> Option<u64>,
    slack: u64,
) -> Result<i64, CounterError> {
    let identity = |reading: &CounterReading| (reading.started, reading.processors);
    if identity(before) != identity(after) {
        return Err(CounterError::Restarted);
    }
    let (before, after) = of(before).zip(of(after)).ok_or(CounterError::Missing)?;
    let step = advanced(before, after).map(|step| i64::try_from(step).unwrap_or(i64::MAX));
    let back = before.saturating_sub(after);
    let stepped_back = (back <= slack).then(|| -i64::try_from(back).unwrap_or(0));
    step.or(stepped_back)
        .ok_or(CounterError::Backwards { before, after })
}

/// Returns the advance of a counter of 32 or 64 bits; `None` if it went backwards.
pub fn advanced(before: u64, after: u64) -> Option<u64> {
    if after >= before {
        return Some(after - before);
    }
    let has_wrapped = |max: u64| before <= max && before > max / 4 * 3 && after < max / 4;
    if has_wrapped(u32::MAX.into()) {
        Some(after + (1 << 32) - before)
    } else {
        has_wrapped(u64::MAX).then(|| after.wrapping_sub(before))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::CostCounter;

    #[test]
    fn a_counter_advances_wraps_or_goes_backwards() {
        let max_32 = u64::from(u32::MAX);
        for (before, after, expected) in [
            (5, 5, Some(0)),
            (5, 12, Some(7)),
            // Past the end of 32 bits: 3 to reach 2^32, and 4 on.
            (max_32 - 2, 4, Some(7)),
            (max_32, 0, Some(1)),
            // Above 32 bits, the counter has 64.
            (max_32, max_32 + 1, Some(1)),
            (u64::MAX, 0, Some(1)),
            (u64::MAX - 2, 4, Some(7)),
            // Restarted.
            (1_000_000, 3, None),
            (max_32 + 1, 4, None),
            (max_32, max_32 / 2, None),
            (max_32 / 4 * 3, 1, None),
        ] {
            assert_eq!(advanced(before, after), expected, "{before} to {after}");
        }
    }

    fn reading(started: u64, interrupts: u64) -> CounterReading {
        CounterReading {
            started: Some(started),
            counters: [(CostCounter::Interrupts, interrupts)].into(),
            ..CounterReading::default()
        }
    }

    #[test]
    fn what_cannot_be_told_says_why() {
        let between = |one: (u64, u64), other: (u64, u64), counter| {
            let of = |reading: &CounterReading| reading.count(counter);
            between(&reading(one.0, one.1), &reading(other.0, other.1), of, 5)
        };
        let counter = CostCounter::Interrupts;
        assert_eq!(between((7, 10), (7, 30), counter), Ok(20));
        // After a restart more may have been counted than before, and still it is not the difference.
        let restarted = Err(CounterError::Restarted);
        assert_eq!(between((7, 10), (8, 30), counter), restarted);
        let back = CounterError::Backwards {
            before: 30,
            after: 10,
        };
        assert_eq!(between((7, 30), (7, 10), counter), Err(back));
        // Within the differences of read times.
        assert_eq!(between((7, 30), (7, 25), counter), Ok(-5));
        let missing = Err(CounterError::Missing);
        assert_eq!(between((7, 1), (7, 2), CostCounter::NfsdCalls), missing);
    }
}
