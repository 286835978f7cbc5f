//! Points in time of a run, in nanoseconds since its epoch.
//!
//! A [`Timestamp`] comes from the engine's clock or from a simulation; the other crates are
//! deliberately independent of its source.

use core::time::Duration;

/// A point in time: nanoseconds since the run's epoch.
///
/// 64 bits reach 584 years, so arithmetic saturates instead of failing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(u64);

impl Timestamp {
    /// The run's epoch.
    pub const ZERO: Timestamp = Timestamp(0);
    /// Later than any event.
    pub const MAX: Timestamp = Timestamp(u64::MAX);

    /// Returns the time `nanos` nanoseconds after the epoch.
    #[inline]
    pub const fn from_nanos(nanos: u64) -> Self {
        Timestamp(nanos)
    }

    /// Returns the nanoseconds since the epoch.
    #[inline]
    pub const fn nanos(self) -> u64 {
        self.0
    }

    /// Returns the nanoseconds from `earlier` to this time; 0 if `earlier` is later.
    #[inline]
    pub const fn nanos_since(self, earlier: Timestamp) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    /// Returns the time from `earlier` to this time; zero if `earlier` is later.
    #[inline]
    pub const fn since(self, earlier: Timestamp) -> Duration {
        Duration::from_nanos(self.nanos_since(earlier))
    }

    /// Returns the time `wait` after this one.
    #[inline]
    pub const fn after(self, wait: Duration) -> Timestamp {
        self.after_nanos(nanos_of(wait))
    }

    /// Returns the time `nanos` nanoseconds after this one.
    #[inline]
    pub const fn after_nanos(self, nanos: u64) -> Timestamp {
        Timestamp(self.0.saturating_add(nanos))
    }
}

/// Returns a duration in whole nanoseconds, saturating after 584 years.
#[inline]
pub const fn nanos_of(duration: Duration) -> u64 {
    let nanos = duration.as_nanos();
    if nanos > u64::MAX as u128 {
        u64::MAX
    } else {
        nanos as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_do_not_wrap() {
        let early = Timestamp::from_nanos(5);
        let late = Timestamp::from_nanos(9);
        assert_eq!(late.since(early), Duration::from_nanos(4));
        assert_eq!(early.since(late), Duration::ZERO);
        assert_eq!(Timestamp::MAX.after_nanos(1), Timestamp::MAX);
    }
}
