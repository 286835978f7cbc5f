//! FILETIME (MS-DTYP, section 2.3.3).

layout! {
    /// FILETIME: units of 100 ns since 1601-01-01; 0 for no time.
    #[derive(PartialOrd, Ord, Hash, Default)]
    pub struct FileTime {
        /// Number of 100 ns units.
        pub ticks: u64;
    }
}

/// From 1601-01-01 to 1970-01-01: 369 years, 89 of them leap years.
const UNIX_EPOCH_SECONDS: i64 = (369 * 365 + 89) * 86_400;
const TICKS_PER_SECOND: i64 = 10_000_000;

impl FileTime {
    /// Converts a time relative to 1970-01-01, limited to the representable range.
    pub const fn from_unix(seconds: i64, nanoseconds: u32) -> Self {
        let ticks = seconds
            .saturating_add(UNIX_EPOCH_SECONDS)
            .saturating_mul(TICKS_PER_SECOND)
            .saturating_add(nanoseconds as i64 / 100);
        let ticks = if ticks < 0 { 0 } else { ticks as u64 };
        Self { ticks }
    }

    /// Seconds since 1970-01-01, rounded down.
    pub const fn unix_seconds(self) -> i64 {
        (self.ticks / TICKS_PER_SECOND as u64) as i64 - UNIX_EPOCH_SECONDS
    }

    /// Nanoseconds since the last whole second.
    pub const fn subsec_nanoseconds(self) -> u32 {
        (self.ticks % TICKS_PER_SECOND as u64) as u32 * 100
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The published difference of the epochs: 11,644,473,600 seconds.
    #[test]
    fn a_time_is_the_same_from_either_epoch() {
        assert_eq!(FileTime::from_unix(0, 0).ticks, 116_444_736_000_000_000);
        let time = FileTime::from_unix(1_700_000_000, 123_456_789);
        assert_eq!(time.unix_seconds(), 1_700_000_000);
        assert_eq!(time.subsec_nanoseconds(), 123_456_700);
        assert_eq!(FileTime::from_unix(i64::MIN, 0).ticks, 0);
        assert_eq!(FileTime { ticks: 1 }.unix_seconds(), -11_644_473_600);
        assert_eq!(
            FileTime { ticks: u64::MAX }.subsec_nanoseconds(),
            955_161_500
        );
    }
}
