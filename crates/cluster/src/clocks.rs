//! How far another clock is ahead, by the quickest of many exchanges.
//!
//! A ping that is sent at `a` and whose answer comes at `c`, both by our clock, was answered at some
//! moment between: taken for the middle, that is off by no more than half of `c - a`. The quickest
//! exchange says it best (Cristian, 1989).

/// What exchanges have told of another clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offset {
    /// How far it is ahead, in nanoseconds.
    pub ahead_ns: i64,
    /// How far that may be off.
    pub uncertainty_ns: u64,
}

/// Exchanges with one rank.
#[derive(Debug, Default)]
pub struct Exchanges {
    best: Option<Offset>,
}

impl Exchanges {
    /// An exchange: when it began and ended by our clock, and what the other one showed.
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

    /// What the quickest of them says.
    pub const fn offset(&self) -> Option<Offset> {
        self.best
    }
}

impl Offset {
    /// What the other clock shows when ours shows `at_ns`.
    pub const fn there(&self, at_ns: u64) -> u64 {
        at_ns.saturating_add_signed(self.ahead_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quickest_exchange_counts() {
        let mut exchanges = Exchanges::default();
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
        // A slow one tells nothing.
        exchanges.add(3_000_000, 3_900_000 + ahead, 4_000_000);
        assert_eq!(exchanges.offset(), Some(offset));
        assert_eq!(offset.there(1000), 50_000_500);
    }

    #[test]
    fn a_clock_that_is_behind_is_ahead_by_less_than_nothing() {
        let mut exchanges = Exchanges::default();
        exchanges.add(100_000_000, 50_000_001, 100_000_002);
        let offset = exchanges.offset().expect("an offset");
        assert_eq!(offset.ahead_ns, -50_000_000);
        assert_eq!(offset.there(200_000_000), 150_000_000);
    }
}
