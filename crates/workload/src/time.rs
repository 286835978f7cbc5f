//! Moments of a run, in nanoseconds since its epoch.
//!
//! A [`Timestamp`] comes from the engine's clock or from a simulation; the model
//! cannot tell which, and that is the point.

use core::time::Duration;

/// A point in time: nanoseconds since the run's epoch.
///
/// 64 bits reach 584 years, so arithmetic saturates instead of failing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(u64);

impl Timestamp {
    /// The run's epoch.
    pub const ZERO: Timestamp = Timestamp(0);
    /// Later than anything that happens.
    pub const MAX: Timestamp = Timestamp(u64::MAX);

    /// The moment `nanos` nanoseconds after the epoch.
    #[inline]
    pub const fn from_nanos(nanos: u64) -> Self {
        Timestamp(nanos)
    }

    /// Nanoseconds since the epoch.
    #[inline]
    pub const fn nanos(self) -> u64 {
        self.0
    }

    /// Nanoseconds from `earlier` to this moment; 0 if `earlier` is later.
    #[inline]
    pub const fn nanos_since(self, earlier: Timestamp) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    /// Time from `earlier` to this moment; zero if `earlier` is later.
    #[inline]
    pub const fn since(self, earlier: Timestamp) -> Duration {
        Duration::from_nanos(self.nanos_since(earlier))
    }

    /// The moment `wait` after this one.
    #[inline]
    pub const fn after(self, wait: Duration) -> Timestamp {
        self.after_nanos(nanos_of(wait))
    }

    /// The moment `nanos` nanoseconds after this one.
    #[inline]
    pub const fn after_nanos(self, nanos: u64) -> Timestamp {
        Timestamp(self.0.saturating_add(nanos))
    }
}

/// A duration in whole nanoseconds, saturating after 584 years.
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
