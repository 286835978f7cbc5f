//! When the transfers of a client are due that has a rate.
//!
//! The first is due at once; each of the others as long after the one before as that takes at the rate
//! of its file. So the schedule is exact, whatever the server does: what it answers late makes the next
//! transfers late, and they are made up for. But no more than a second of them: who was away for long
//! does not come back with all that it had to do meanwhile.

use crate::plan::RateUnit;
use crate::time::Moment;

/// So much of its schedule a client makes up for at most.
const BEHIND_MAX: u64 = 1_000_000_000;

/// When transfers are due.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Pacer {
    unit: Option<RateUnit>,
    nanos_per_unit: f64,
    /// When the file's first transfer was due; none before the first file.
    base: Option<Moment>,
    /// Nanoseconds since then that its transfers take.
    owed: f64,
}

impl Pacer {
    /// From the next transfer on, so many units are moved per second.
    pub fn go_by(&mut self, unit: RateUnit, per_s: f64) {
        self.base = self
            .base
            .map(|base| base.after_nanos(self.owed.round() as u64));
        self.owed = 0.0;
        self.unit = Some(unit);
        self.nanos_per_unit = 1e9 / per_s;
    }

    /// When the next transfer is due, of a client that is free since `now`; `None` without a rate.
    pub fn due(&mut self, now: Moment) -> Option<Moment> {
        self.unit?;
        let base = *self.base.get_or_insert(now);
        let due = base.after_nanos(self.owed.round() as u64);
        if now.nanos_since(due) <= BEHIND_MAX {
            return Some(due);
        }
        let due = Moment::from_nanos(now.nanos().saturating_sub(BEHIND_MAX));
        (self.base, self.owed) = (Some(due), 0.0);
        Some(due)
    }

    /// The next transfer is due now: there was nothing to transfer before.
    pub fn restart(&mut self, now: Moment) {
        (self.base, self.owed) = (Some(now), 0.0);
    }

    /// A transfer of so many bytes begins.
    pub fn charge(&mut self, bytes: u64) {
        let units = match self.unit {
            Some(RateUnit::BitsPerS) => 8.0 * bytes as f64,
            Some(RateUnit::OperationsPerS) => 1.0,
            None => return,
        };
        self.owed += units * self.nanos_per_unit;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schedule_is_exact_over_files_and_forgets_what_is_long_past() {
        const MS: u64 = 1_000_000;
        let at = Moment::from_nanos;
        let mut pacer = Pacer::default();
        assert_eq!(pacer.due(at(5)), None);
        // 4096 bytes at 32.768 Mbit/s take a millisecond.
        pacer.go_by(RateUnit::BitsPerS, 32.768e6);
        for transfer in 0..10 {
            assert_eq!(pacer.due(at(7)), Some(at(7 + transfer * MS)));
            pacer.charge(4096);
        }
        pacer.go_by(RateUnit::OperationsPerS, 100.0);
        assert_eq!(pacer.due(at(50 * MS)), Some(at(7 + 10 * MS)));
        pacer.charge(1);
        assert_eq!(pacer.due(at(50 * MS)), Some(at(7 + 20 * MS)));
        let late = 5000 * MS;
        assert_eq!(pacer.due(at(late)), Some(at(4000 * MS)));
        pacer.charge(1);
        assert_eq!(pacer.due(at(late)), Some(at(4010 * MS)));
    }
}
