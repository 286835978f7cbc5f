//! Counts at one load, and the decision whether the server kept up with it.

use filestone_measure::measure::caveat::thresholds::KEPT_UP;
use filestone_measure::measure::run_record::IntervalRecord;
use filestone_workload::recording::ledger::Ledger;

/// Counts of whole intervals at one load.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tally {
    /// Operations by outcome.
    pub ledger: Ledger,
    /// Total length of the intervals, in nanoseconds.
    pub nanos: u64,
    /// Number of intervals.
    pub intervals: u32,
}

impl Tally {
    /// Adds an interval.
    pub fn add(&mut self, interval: &IntervalRecord) {
        self.ledger.add(&interval.ledger);
        self.nanos += interval.end_ns.saturating_sub(interval.start_ns);
        self.intervals += 1;
    }

    /// Returns the operations per second that succeeded.
    pub fn achieved(&self) -> f64 {
        self.ledger.ok as f64 * 1e9 / self.nanos.max(1) as f64
    }

    /// Returns a lower bound of the server's capacity, in operations per second: one standard
    /// deviation below the count, which matters if the count is small.
    pub fn achieved_at_least(&self) -> f64 {
        let ok = self.ledger.ok as f64;
        (ok - ok.sqrt()) * 1e9 / self.nanos.max(1) as f64
    }

    /// Returns the number of operations that should have been due in this time.
    pub fn expected(&self, offered_load_ops_per_s: f64) -> f64 {
        offered_load_ops_per_s * self.nanos as f64 / 1e9
    }

    /// Returns whether the achieved load is at least 98 % of the operations that were due.
    ///
    /// The number due is not counted directly: `scheduled` excludes operations that wait for a
    /// slot, which matter in an overload; the nominal load ignores the random number of arrivals
    /// (Poisson). The number due is therefore the larger of the operations that began and of the
    /// nominal number minus two standard deviations. One standard deviation of the operations that
    /// began is allowed for those that began before the first interval or end after the last. Both
    /// allowances vanish as the number of operations grows.
    pub fn keeps_up(&self, offered_load_ops_per_s: f64) -> bool {
        let expected = self.expected(offered_load_ops_per_s);
        let began = self.ledger.scheduled as f64;
        let due = (expected - 2.0 * expected.sqrt()).max(began - began.sqrt());
        self.ledger.ok as f64 >= KEPT_UP * due
    }
}

/// Standard deviations by which ends must exceed starts to count as a backlog.
const BACKLOG_DEVIATIONS: f64 = 4.0;

/// Returns whether significantly more operations ended than began: the server is working off the
/// backlog of a higher load.
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
        // Every slot is in use: as many began as were answered, and the rest waits.
        assert!(!tally(8_000, 8_000).keeps_up(10_000.0));
    }

    #[test]
    fn few_operations_are_judged_mildly() {
        assert!(tally(50, 46).keeps_up(50.0));
        assert!(!tally(50, 25).keeps_up(50.0));
    }
}
