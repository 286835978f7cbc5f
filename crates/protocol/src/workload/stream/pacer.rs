//! Due times of the transfers of a client with a rate.
//!
//! The first transfer is due at once; each further one follows after the time that the one before
//! takes at the rate of its file. So the schedule is exact, whatever the server does: late replies
//! make the next transfers late, and the client makes up for at most one second of that: after a
//! long delay a client does not issue the whole backlog. The lateness that it does not make up for
//! is counted.

use filestone_plan::plan::RateUnit;
use filestone_workload::time::Timestamp;

/// Maximum lateness in nanoseconds that a client makes up for.
pub const BEHIND_MAX: u64 = 1_000_000_000;

/// Due times of transfers.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TransferPacer {
    unit: Option<RateUnit>,
    nanos_per_unit: f64,
    /// Time when the file's first transfer was due; `None` before the first file.
    base: Option<Timestamp>,
    /// Nanoseconds since then that its transfers take.
    owed: f64,
    /// Due time of the last transfer, and its bytes.
    last: Option<Timestamp>,
    last_bytes: u64,
    /// Lateness in nanoseconds that the client does not make up for, since the last
    /// [`TransferPacer::charge`].
    forgiven: u64,
}

/// State of a client's schedule when it began a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Charged {
    /// Duration of the transfer at its rate.
    pub takes_ns: u64,
    /// Lateness before it that the client does not make up for.
    pub forgiven_ns: u64,
    /// Due time of the next transfer.
    pub next_due: Timestamp,
}

impl TransferPacer {
    /// Sets the rate in units per second from the next transfer on.
    pub fn go_by(&mut self, unit: RateUnit, per_s: f64) {
        self.base = self
            .base
            .map(|base| base.after_nanos(self.owed.round() as u64));
        self.owed = 0.0;
        self.unit = Some(unit);
        self.nanos_per_unit = 1e9 / per_s;
    }

    /// Changes the rate at once; `None` removes it. The fraction of the current wait that remains
    /// stays the same, applied to the wait at the new rate: staggered clients stay staggered, and
    /// together immediately move data at the new rate. Existing lateness stays.
    pub fn change(&mut self, rate: Option<(RateUnit, f64)>, now: Timestamp) {
        let Some((unit, per_s)) = rate else {
            *self = Self::default();
            return;
        };
        self.go_by(unit, per_s);
        if let (Some(due), Some(last)) = (self.base, self.last)
            && due > now
        {
            let wait = due.nanos_since(last).max(1) as f64;
            let left = (due.nanos_since(now) as f64 / wait).min(1.0);
            let takes = self.units(self.last_bytes) * self.nanos_per_unit;
            let due = now.after_nanos((left * takes).round() as u64);
            let last = due.nanos().saturating_sub(takes.round() as u64);
            (self.base, self.last) = (Some(due), Some(Timestamp::from_nanos(last)));
        }
    }

    /// Clears the schedule; the next transfer is due when it is requested.
    pub fn pause(&mut self) {
        (self.base, self.owed, self.last) = (None, 0.0, None);
    }

    /// Begins a wait for data to transfer. The wait does not count as lateness, but the client does
    /// not make up for existing lateness.
    pub fn wait(&mut self, now: Timestamp) {
        if let (Some(base), Some(_)) = (self.base, self.unit) {
            let due = base.after_nanos(self.owed.round() as u64);
            self.forgiven = self.forgiven.saturating_add(now.nanos_since(due));
        }
        self.pause();
    }

    /// Returns the due time of the next transfer, for a client free since `now`; `None` without a
    /// rate.
    pub fn due(&mut self, now: Timestamp) -> Option<Timestamp> {
        self.unit?;
        let base = *self.base.get_or_insert(now);
        let due = base.after_nanos(self.owed.round() as u64);
        if now.nanos_since(due) <= BEHIND_MAX {
            return Some(due);
        }
        let kept = Timestamp::from_nanos(now.nanos().saturating_sub(BEHIND_MAX));
        self.forgiven = self.forgiven.saturating_add(kept.nanos_since(due));
        let due = kept;
        (self.base, self.owed) = (Some(due), 0.0);
        Some(due)
    }

    /// Makes the next transfer due now: there was nothing to transfer before.
    pub fn restart(&mut self, now: Timestamp) {
        (self.base, self.owed) = (Some(now), 0.0);
    }

    /// Begins a transfer of `bytes` bytes; returns the state of the schedule, `None` without a
    /// rate.
    pub fn charge(&mut self, bytes: u64) -> Option<Charged> {
        let (Some(base), Some(_)) = (self.base, self.unit) else {
            return None;
        };
        self.last = Some(base.after_nanos(self.owed.round() as u64));
        self.last_bytes = bytes;
        let takes = self.units(bytes) * self.nanos_per_unit;
        self.owed += takes;
        Some(Charged {
            takes_ns: takes.round() as u64,
            forgiven_ns: std::mem::take(&mut self.forgiven),
            next_due: base.after_nanos(self.owed.round() as u64),
        })
    }

    /// Returns the rate units of a transfer of `bytes` bytes.
    fn units(&self, bytes: u64) -> f64 {
        match self.unit {
            Some(RateUnit::BitsPerS) => 8.0 * bytes as f64,
            Some(RateUnit::OperationsPerS) | None => 1.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schedule_is_exact_over_files_and_forgets_what_is_long_past() {
        const MS: u64 = 1_000_000;
        let at = Timestamp::from_nanos;
        let mut pacer = TransferPacer::default();
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
        // The second of these was due at 20 ms and 7 ns: that lateness is not made up for.
        let charged = pacer.charge(1).expect("it has a rate");
        assert_eq!(charged.takes_ns, 10 * MS);
        assert_eq!(charged.forgiven_ns, 4000 * MS - (20 * MS + 7));
        assert_eq!(charged.next_due, at(4010 * MS));
        assert_eq!(pacer.due(at(late)), Some(at(4010 * MS)));
    }

    #[test]
    fn what_is_late_when_a_wait_begins_is_not_made_up_for_and_the_wait_is_not_late() {
        let at = |millis: u64| Timestamp::from_nanos(millis * 1_000_000);
        let mut pacer = TransferPacer::default();
        pacer.go_by(RateUnit::OperationsPerS, 100.0);
        assert_eq!(pacer.due(at(0)), Some(at(0)));
        pacer.charge(1);
        // Due at 10 ms; the client waits from 30 to 500 ms.
        pacer.wait(at(30));
        pacer.restart(at(500));
        assert_eq!(pacer.due(at(500)), Some(at(500)));
        let charged = pacer.charge(1).expect("it has a rate");
        assert_eq!(charged.forgiven_ns, 20_000_000);
        // A punctual client has nothing to make up for.
        pacer.wait(at(505));
        pacer.restart(at(600));
        let charged = pacer.charge(1).expect("it has a rate");
        assert_eq!(charged.forgiven_ns, 0);
    }

    #[test]
    fn clients_that_took_turns_still_do_when_their_rate_is_changed() {
        let at = Timestamp::from_nanos;
        const MS: u64 = 1_000_000;
        // A hundred clients with a rate of one per second, 10 ms apart.
        for (rate, each) in [(2.0, 500), (0.5, 2000)] {
            let due = (0..100).map(|client| {
                let mut pacer = TransferPacer::default();
                pacer.change(Some((RateUnit::OperationsPerS, 1.0)), at(0));
                assert_eq!(pacer.due(at(10 * MS * client)), Some(at(10 * MS * client)));
                pacer.charge(1);
                pacer.change(Some((RateUnit::OperationsPerS, rate)), at(1000 * MS));
                pacer.due(at(1000 * MS)).expect("it has a rate").nanos()
            });
            // From then on they are evenly spaced in the new interval.
            let expected = (0..100).map(|client| 1000 * MS + client * each * MS / 100);
            assert!(due.eq(expected), "{rate}");
        }
    }

    #[test]
    fn a_changed_rate_holds_for_the_transfer_that_is_waited_for() {
        const MS: u64 = 1_000_000;
        let at = |millis| Timestamp::from_nanos(millis * MS);
        let ops = |per_s| Some((RateUnit::OperationsPerS, per_s));
        let mut pacer = TransferPacer::default();
        // One transfer per 10 s: at 2 s four fifths of the wait remain, which are 80 ms at ten per
        // second.
        pacer.change(ops(0.1), at(0));
        assert_eq!(pacer.due(at(0)), Some(at(0)));
        pacer.charge(4096);
        assert_eq!(pacer.due(at(1)), Some(at(10_000)));
        pacer.change(ops(10.0), at(2000));
        assert_eq!(pacer.due(at(2000)), Some(at(2080)));
        pacer.charge(4096);
        assert_eq!(pacer.due(at(2081)), Some(at(2180)));
        // Slower, and slower again during that wait: nine tenths of 200 ms, then 45 % of 500 ms.
        pacer.change(ops(5.0), at(2090));
        assert_eq!(pacer.due(at(2090)), Some(at(2270)));
        pacer.change(ops(2.0), at(2180));
        assert_eq!(pacer.due(at(2180)), Some(at(2405)));
        // 4096 bytes at 32.768 kbit/s take a second; 40 % of it remain.
        pacer.change(Some((RateUnit::BitsPerS, 32_768.0)), at(2205));
        assert_eq!(pacer.due(at(2205)), Some(at(2605)));
        // Existing lateness stays, and the following transfers use the new rate.
        pacer.change(ops(10.0), at(3500));
        assert_eq!(pacer.due(at(3500)), Some(at(2605)));
        pacer.charge(4096);
        assert_eq!(pacer.due(at(3500)), Some(at(2705)));
        pacer.change(None, at(3500));
        assert_eq!(pacer.due(at(3500)), None);
        pacer.charge(4096);
        pacer.change(ops(1.0), at(4000));
        assert_eq!(pacer.due(at(4000)), Some(at(4000)));
    }
}
