//! Where every scheduled operation went.

use crate::operation::Outcome;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where every scheduled operation went.
///
/// `scheduled = ok + failed + timed_out + disconnected + skipped + in_flight`,
/// always, at the end of every run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Ledger {
    /// Counted where operations are born, not summed from the rest.
    pub scheduled: u64,
    /// Answered as expected.
    pub ok: u64,
    /// Answered with a failure.
    pub failed: u64,
    /// Not answered in time.
    pub timed_out: u64,
    /// Lost with their connection.
    pub disconnected: u64,
    /// Due, but never sent.
    pub skipped: u64,
    /// Sent and unanswered when the run ended.
    pub in_flight: u64,
}

impl Ledger {
    /// Counts the end of `times` operations.
    #[inline]
    pub fn count(&mut self, outcome: &Outcome, times: u64) {
        match outcome {
            Outcome::Ok => self.ok += times,
            Outcome::Failed(_) => self.failed += times,
            Outcome::TimedOut => self.timed_out += times,
            Outcome::Disconnected => self.disconnected += times,
            Outcome::Skipped => self.skipped += times,
        }
    }

    /// Adds another ledger's counts.
    pub fn add(&mut self, other: &Ledger) {
        self.scheduled += other.scheduled;
        self.ok += other.ok;
        self.failed += other.failed;
        self.timed_out += other.timed_out;
        self.disconnected += other.disconnected;
        self.skipped += other.skipped;
        self.in_flight += other.in_flight;
    }

    /// Operations that came to an end after they were sent: those that have a
    /// response time.
    pub fn ended(&self) -> u64 {
        self.ok + self.unsuccessful()
    }

    /// Operations that came to an end after they were sent, and not well.
    pub const fn unsuccessful(&self) -> u64 {
        self.failed + self.timed_out + self.disconnected
    }

    /// Operations that the server answered, well or badly.
    pub fn answered(&self) -> u64 {
        self.ok + self.failed
    }

    /// How many operations are unaccounted for; 0 when the ledger balances.
    pub fn missing(&self) -> i128 {
        i128::from(self.scheduled)
            - i128::from(self.ended())
            - i128::from(self.skipped)
            - i128::from(self.in_flight)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::StatusSpace;

    #[test]
    fn every_outcome_has_its_column() {
        let mut ledger = Ledger {
            scheduled: 6,
            in_flight: 1,
            ..Ledger::default()
        };
        for outcome in [
            Outcome::Ok,
            Outcome::Failed(StatusSpace::Nfs3.failure(70)),
            Outcome::TimedOut,
            Outcome::Disconnected,
            Outcome::Skipped,
        ] {
            ledger.count(&outcome, 1);
        }
        assert_eq!(ledger.missing(), 0);
        assert_eq!(ledger.ended(), 4);
        ledger.scheduled += 1;
        assert_eq!(ledger.missing(), 1);
    }
}
