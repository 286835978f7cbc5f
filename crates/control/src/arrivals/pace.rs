//! When a line of a load file is due.
//!
//! ```text
//!   closed   when the client is free
//!   stamps   base + stamp / speed; a line without a stamp when the client is free
//!   rate     base + bytes moved since base / rate
//! ```
//!
//! The base is the start of the iteration, or the end of the last pause. Nothing is skipped: a late
//! line is executed at once, and its lateness against `due` is the lag.

use filestone_plan::plan::Pacing;
use filestone_workload::time::Timestamp;
use std::time::Duration;

/// When the lines of one client are due.
#[derive(Debug, Clone)]
pub struct Pace {
    pacing: Pacing,
    base: Timestamp,
    /// File data since the base.
    bytes: u64,
}

impl Pace {
    /// Creates the pace of a client, with `start` as its base.
    pub fn new(pacing: Pacing, start: Timestamp) -> Self {
        Self {
            pacing,
            base: start,
            bytes: 0,
        }
    }

    /// Returns when a line with this time stamp is due; `None`: when its client is free.
    pub fn due(&self, stamp: Option<Duration>) -> Option<Timestamp> {
        match (self.pacing, stamp) {
            (Pacing::Closed, _) | (Pacing::Stamps { .. }, None) => None,
            (Pacing::Stamps { speed }, Some(stamp)) => {
                Some(self.base.after_nanos(nanos(stamp.as_secs_f64() / speed)))
            }
            // The first line with data is not delayed: no data have been transferred.
            (Pacing::Rate { .. }, _) if self.bytes == 0 => None,
            (Pacing::Rate { bytes_per_s }, _) => {
                let nanos = nanos(self.bytes as f64 / bytes_per_s);
                Some(self.base.after_nanos(nanos))
            }
        }
    }

    /// Returns when a line with this time stamp is due, whatever the client's state; `None` if the
    /// time stamp does not determine it.
    pub fn due_by_stamp(&self, stamp: Option<Duration>) -> Option<Timestamp> {
        match self.pacing {
            Pacing::Stamps { .. } => self.due(stamp),
            Pacing::Closed | Pacing::Rate { .. } => None,
        }
    }

    /// Counts file data that a line has transferred.
    pub fn moved(&mut self, bytes: u64) {
        self.bytes = self.bytes.saturating_add(bytes);
    }

    /// Restarts at `base`: the start of an iteration, or the end of a pause.
    pub fn restart(&mut self, base: Timestamp) {
        self.base = base;
        self.bytes = 0;
    }
}

/// Converts seconds to nanoseconds; negative, infinite and other invalid values become the nearest
/// valid one.
fn nanos(seconds: f64) -> u64 {
    (seconds * 1e9).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn at(nanos: u64) -> Timestamp {
        Timestamp::from_nanos(nanos)
    }

    #[test]
    fn stamps_count_from_the_beginning_of_the_pass_at_any_speed() {
        let stamp = Some(Duration::from_millis(300));
        for (speed, due) in [(1.0, 310), (0.5, 610), (100.0, 13)] {
            let pace = Pace::new(Pacing::Stamps { speed }, at(10 * MS));
            assert_eq!(pace.due(stamp), Some(at(due * MS)), "{speed}");
        }
        let pace = Pace::new(Pacing::Stamps { speed: 1.0 }, at(10 * MS));
        assert_eq!(pace.due(Some(Duration::ZERO)), Some(at(10 * MS)));
        assert_eq!(pace.due(None), None);
    }

    #[test]
    fn a_rate_spreads_the_bytes_evenly() {
        let mut pace = Pace::new(Pacing::Rate { bytes_per_s: 1e6 }, at(0));
        assert_eq!(pace.due(None), None);
        for line in 1..=10 {
            pace.moved(4000);
            assert_eq!(pace.due(None), Some(at(line * 4 * MS)));
        }
        pace.restart(at(100 * MS));
        assert_eq!(pace.due(None), None);
    }
}
