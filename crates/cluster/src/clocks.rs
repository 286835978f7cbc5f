//! Offset of another clock, estimated by the quickest of several exchanges.
//!
//! A ping sent at `a` whose reply arrives at `c`, both on the local clock, was answered at some
//! time in between. Assuming the middle is wrong by at most half of `c - a`, so the quickest
//! exchange gives the best estimate (Cristian, 1989).

/// Estimated offset of another clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offset {
    /// Offset relative to the local clock, in nanoseconds.
    pub ahead_ns: i64,
    /// Largest error of the offset, in nanoseconds.
    pub uncertainty_ns: u64,
}

/// Exchanges with one rank.
#[derive(Debug, Default)]
pub struct ClockExchanges {
    best: Option<Offset>,
}

impl ClockExchanges {
    /// Adds an exchange: its start and end on the local clock, and the reading of the other clock.
    pub fn add(&mut self, sent_ns: u64, other_ns: u64, received_ns: u64) {
        let took = received_ns.saturating_sub(sent_ns);
        let middle = sent_ns.saturating_add(took / 2);
        let offset = Offset {
            ahead_ns: i128::from(other_ns)
                .saturating_sub(i128::from(middle))
                .clamp(i64::MIN.into(), i64::MAX.into()) as i64,
            uncertainty_ns: took.div_ceil(2),
        };
        let is_better = |best: &Offset| offset.uncertainty_ns < best.uncertainty_ns;
        if self.best.as_ref().is_none_or(is_better) {
            self.best = Some(offset);
        }
    }

    /// Returns the estimate of the quickest exchange.
    pub const fn offset(&self) -> Option<Offset> {
        self.best
    }
}

impl Offset {
    /// Returns the reading of the other clock when the local clock reads `at_ns`.
    pub const fn there(&self, at_ns: u64) -> u64 {
        at_ns.saturating_add_signed(self.ahead_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quickest_exchange_counts() {
        let mut exchanges = ClockExchanges::default();
        assert_eq!(exchanges.offset(), None);
        // The other clock is 50 ms ahead. 30 µs there, 10 µs back.
        let ahead = 50_000_000;
        exchanges.add(1_000_000, 1_030_000 + ahead, 1_040_000);
        let offset = exchanges.offset().expect("an offset");
        assert_eq!(
            (offset.ahead_ns, offset.uncertainty_ns),
            (50_010_000, 20_000)
        );
        // 2 µs there, 3 µs back.
        exchanges.add(2_000_000, 2_002_000 + ahead, 2_005_000);
        let offset = exchanges.offset().expect("an offset");
        assert_eq!((offset.ahead_ns, offset.uncertainty_ns), (49_999_500, 2500));
        // A slow exchange adds no information.
        exchanges.add(3_000_000, 3_900_000 + ahead, 4_000_000);
        assert_eq!(exchanges.offset(), Some(offset));
        assert_eq!(offset.there(1000), 50_000_500);
    }

    #[test]
    fn a_clock_that_is_behind_is_ahead_by_less_than_nothing() {
        let mut exchanges = ClockExchanges::default();
        exchanges.add(100_000_000, 50_000_001, 100_000_002);
        let offset = exchanges.offset().expect("an offset");
        assert_eq!(offset.ahead_ns, -50_000_000);
        assert_eq!(offset.there(200_000_000), 150_000_000);
    }
}
