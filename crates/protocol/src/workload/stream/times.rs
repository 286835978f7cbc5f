//! Compact histogram of the response times of one client's reads and writes.
//!
//! A count for each bucket, four buckets per doubling. A quantile is therefore known only as the
//! upper edge of its bucket; this bound is exact. Only the client's worker counts.

use filestone_measure::measure::fleet_record::LatencyBounds;
use std::array;
use std::sync::atomic::{AtomicU32, Ordering};

/// Buckets per doubling.
const OF_DOUBLING: u64 = 4;
/// Number of doublings; the first begins at 4 µs, the last ends at 268 s.
const DOUBLINGS: u64 = 26;
/// Number of buckets: underflow, those of the doublings, and overflow.
const STRETCHES: usize = (1 + OF_DOUBLING * DOUBLINGS + 1) as usize;
const MICRO: u64 = 1000;

/// Histogram of one client.
#[derive(Debug)]
pub(super) struct ClientHistogram([AtomicU32; STRETCHES]);

impl Default for ClientHistogram {
    fn default() -> Self {
        Self(array::from_fn(|_| AtomicU32::new(0)))
    }
}

impl ClientHistogram {
    /// Counts a response time.
    pub fn add(&self, nanos: u64) {
        if let Some(count) = self.0.get(place_of(nanos)) {
            let before = count.load(Ordering::Relaxed);
            count.store(before.saturating_add(1), Ordering::Relaxed);
        }
    }
}

/// Returns the bucket of a time.
fn place_of(nanos: u64) -> usize {
    let micros = nanos / MICRO;
    if micros < OF_DOUBLING {
        return 0;
    }
    let doubling = u64::from((micros / OF_DOUBLING).ilog2());
    let stretch = (micros >> doubling) - OF_DOUBLING;
    let place = 1 + OF_DOUBLING * doubling + stretch;
    (place as usize).min(STRETCHES - 1)
}

/// Returns the upper edge of a bucket in nanoseconds; `None` for the overflow bucket.
fn end_of(place: usize) -> Option<u64> {
    let Some(place) = (place as u64).checked_sub(1) else {
        return Some(OF_DOUBLING * MICRO);
    };
    let (doubling, stretch) = (place / OF_DOUBLING, place % OF_DOUBLING);
    (doubling < DOUBLINGS).then(|| ((OF_DOUBLING + stretch + 1) << doubling) * MICRO)
}

/// Sum of the histograms of several clients.
#[derive(Debug, Clone)]
pub struct TimesCounted([u64; STRETCHES]);

impl Default for TimesCounted {
    fn default() -> Self {
        Self([0; STRETCHES])
    }
}

impl TimesCounted {
    /// Adds the histogram of a client.
    pub(super) fn add(&mut self, times: &ClientHistogram) {
        for (sum, count) in self.0.iter_mut().zip(&times.0) {
            *sum = sum.saturating_add(count.load(Ordering::Relaxed).into());
        }
    }

    /// Returns bounds for the record; `None` if nothing was counted.
    pub fn record(&self) -> Option<LatencyBounds> {
        let count = self
            .0
            .iter()
            .fold(0, |sum: u64, count| sum.saturating_add(*count));
        (count > 0).then(|| LatencyBounds {
            count,
            p50_ns: self.at_most(count.div_ceil(2)),
            p99_ns: self.at_most(count - count / 100),
        })
    }

    /// Returns the bound of the time with this rank.
    fn at_most(&self, rank: u64) -> Option<u64> {
        let mut seen = 0_u64;
        let place = self.0.iter().position(|count| {
            seen = seen.saturating_add(*count);
            seen >= rank
        });
        end_of(place?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_time_is_in_the_stretch_that_ends_after_it() {
        let ends: Vec<u64> = (0..STRETCHES).map_while(end_of).collect();
        assert_eq!(ends.len(), STRETCHES - 1);
        let micros: Vec<u64> = ends.iter().take(11).map(|end| end / MICRO).collect();
        assert_eq!(micros, [4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24]);
        assert_eq!(ends.last(), Some(&(268_435_456 * MICRO)));
        for (place, end) in ends.iter().enumerate() {
            assert_eq!(place_of(end - 1), place);
            assert_eq!(place_of(*end), place + 1);
        }
        assert_eq!((place_of(0), place_of(u64::MAX)), (0, STRETCHES - 1));
    }

    #[test]
    fn shares_of_several_clients_took_no_longer() {
        let (one, other) = (ClientHistogram::default(), ClientHistogram::default());
        let mut both = TimesCounted::default();
        both.add(&one);
        assert_eq!(both.record(), None);
        // 99 of a millisecond, one of a second: 99 % took no longer than the upper edge of the
        // millisecond's bucket, 1024 us.
        (0..60).for_each(|_| one.add(1_000_000));
        (0..39).for_each(|_| other.add(1_000_000));
        other.add(1_000_000_000);
        both.add(&one);
        both.add(&other);
        let at_most = LatencyBounds {
            count: 100,
            p50_ns: Some(1_024_000),
            p99_ns: Some(1_024_000),
        };
        assert_eq!(both.record(), Some(at_most));
        one.add(u64::MAX);
        let mut both = TimesCounted::default();
        both.add(&one);
        both.add(&other);
        let of_101 = both.record().expect("some");
        assert_eq!((of_101.count, of_101.p99_ns), (101, Some(1_048_576_000)));
    }
}
