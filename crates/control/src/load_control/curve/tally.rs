//! What was counted at one load, and whether the server kept up with it.

use filestone_measure::measure::run_record::IntervalRecord;
use filestone_measure::measure::verdict::KEPT_UP;
use filestone_workload::recording::ledger::Ledger;

/// Counts of whole intervals at one load.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tally {
    /// Where the operations went.
    pub ledger: Ledger,
    /// How long it took.
    pub nanos: u64,
    /// In how many intervals.
    pub intervals: u32,
}

impl Tally {
    /// Adds an interval.
    pub fn add(&mut self, interval: &IntervalRecord) {
        self.ledger.add(&interval.ledger);
        self.nanos += interval.end_ns.saturating_sub(interval.start_ns);
        self.intervals += 1;
    }

    /// Operations that succeeded, per second.
    pub fn achieved(&self) -> f64 {
        self.ledger.ok as f64 * 1e9 / self.nanos.max(1) as f64
    }

    /// Operations per second that the server can surely do: one standard deviation less than what
    /// was counted, which matters where little was.
    pub fn achieved_at_least(&self) -> f64 {
        let ok = self.ledger.ok as f64;
        (ok - ok.sqrt()) * 1e9 / self.nanos.max(1) as f64
    }

    /// Operations that should have been due in this time.
    pub fn expected(&self, offered_load_ops_per_s: f64) -> f64 {
        offered_load_ops_per_s * self.nanos as f64 / 1e9
    }

    /// Whether what was achieved is at least 98 % of what was due.
    ///
    /// What was due is not counted as such: `scheduled` lacks what waits for a slot, and in
    /// an overload that is what matters; the nominal load lacks that chance decides how many
    /// are due (Poisson arrivals). So what was due is the larger of what began and of
    /// what the nominal load has due even with two standard deviations of bad luck. One
    /// standard deviation of what began is left to operations that began before the first interval
    /// or end after the last. Both allowances vanish as operations become many.
    pub fn keeps_up(&self, offered_load_ops_per_s: f64) -> bool {
        let expected = self.expected(offered_load_ops_per_s);
        let began = self.ledger.scheduled as f64;
        let due = (expected - 2.0 * expected.sqrt()).max(began - began.sqrt());
        self.ledger.ok as f64 >= KEPT_UP * due
    }
}

/// So many standard deviations more that end than begin are a backlog.
const BACKLOG_DEVIATIONS: f64 = 4.0;

/// Whether more operations ended than began, by more than chance: the server is working off what
/// a higher load left behind.
pub fn is_working_off(interval: &IntervalRecord) -> bool {
    let began = interval.ledger.scheduled as f64;
    let ended = interval.ledger.ended() as f64;
    ended > began + BACKLOG_DEVIATIONS * began.max(1.0).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(scheduled: u64, ok: u64) -> Tally {
        Tally {
            ledger: Ledger {
                scheduled,
                ok,
                ..Ledger::default()
            },
            nanos: 1_000_000_000,
            intervals: 1,
        }
    }

    #[test]
    fn chance_in_what_is_due_is_no_overload_but_a_backlog_is() {
        // 9,800 of nominally 10,000 were due by chance, and all were answered.
        assert!(tally(9_800, 9_800).keeps_up(10_000.0));
        // 10,300 were due by chance, and 9,700 answered: a queue grows.
        assert!(!tally(10_300, 9_700).keeps_up(10_000.0));
        // Every slot is taken: what began is what was answered, and the rest waits.
        assert!(!tally(8_000, 8_000).keeps_up(10_000.0));
    }

    #[test]
    fn few_operations_are_judged_mildly() {
        assert!(tally(50, 46).keeps_up(50.0));
        assert!(!tally(50, 25).keeps_up(50.0));
    }
}
