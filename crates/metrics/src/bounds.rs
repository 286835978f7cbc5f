//! Upper bounds of the buckets of classic histograms.
//!
//! There are four buckets per doubling, from 1 µs to nine minutes. Each bound is the last
//! nanosecond of a bucket of the histograms of `filestone_measure::measure::steps`, whether these
//! have three or four digits. No such bucket crosses a bound, so the counts are exact and need no
//! interpolation.

/// The first bound is 2^10 ns.
const FIRST_DOUBLING: u32 = 10;
/// The last bound is 2^39 ns, or 550 s. Times above ten minutes are recorded as ten minutes anyway.
const LAST_DOUBLING: u32 = 39;
/// Bounds per doubling: at 4/4, 5/4, 6/4 and 7/4 of it.
const PARTS: u32 = 4;

/// Number of buckets with an upper bound; one more bucket holds everything above.
pub const COUNT: usize = ((LAST_DOUBLING - FIRST_DOUBLING) * PARTS + 1) as usize;

/// Upper bound of each bucket, in nanoseconds.
pub const ENDS: [u64; COUNT] = ends();

const fn ends() -> [u64; COUNT] {
    let mut ends = [0; COUNT];
    let mut place = 0;
    while place < COUNT {
        let doubling = FIRST_DOUBLING + place as u32 / PARTS;
        let part = PARTS as u64 + place as u64 % PARTS as u64;
        // The boundary itself is the first nanosecond of the next bucket.
        ends[place] = (part << (doubling - PARTS.ilog2())) - 1;
        place += 1;
    }
    ends
}

/// Returns the bucket index of a time; [`COUNT`] if it is above the last bound.
pub fn place(nanos: u64) -> usize {
    ENDS.partition_point(|end| *end < nanos)
}

#[cfg(test)]
mod tests {
    use super::*;
    use filestone_workload::recording::distribution::{Distribution, SignificantDigits};

    #[test]
    fn there_are_four_to_a_doubling() {
        assert_eq!(ENDS[..6], [1023, 1279, 1535, 1791, 2047, 2559]);
        assert_eq!(ENDS[COUNT - 1], (1 << 39) - 1);
        assert!(ENDS.is_sorted());
    }

    #[test]
    fn a_time_is_in_the_first_bucket_that_does_not_end_before_it() {
        for (nanos, bucket) in [
            (0, 0),
            (1023, 0),
            (1024, 1),
            (1279, 1),
            (1280, 2),
            (u64::MAX, COUNT),
        ] {
            assert_eq!(place(nanos), bucket, "{nanos} ns");
        }
    }

    #[test]
    fn no_step_of_a_histogram_reaches_over_an_end() {
        for digits in [SignificantDigits::Three, SignificantDigits::Four] {
            for (number, end) in ENDS.iter().enumerate() {
                let mut distribution = Distribution::<u64>::with_digits(digits);
                distribution.record(*end);
                distribution.record(end + 1);
                let steps: Vec<usize> = distribution
                    .steps()
                    .map(|(largest, _)| place(largest))
                    .collect();
                assert_eq!(steps, [number, number + 1], "{end} ns");
            }
        }
    }
}
