//! Where every scheduled operation went.

use crate::operation::Outcome;
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

/// Where every scheduled operation went.
///
/// `scheduled = ok + failed + timed_out + disconnected + skipped + in_flight`,
/// always, at the end of every run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Ledger {
    /// Counted where operations are born, not summed from the rest.
    #[serde(deserialize_with = "operations")]
    pub scheduled: u64,
    /// Answered as expected.
    #[serde(deserialize_with = "operations")]
    pub ok: u64,
    /// Answered with a failure.
    #[serde(deserialize_with = "operations")]
    pub failed: u64,
    /// Not answered in time.
    #[serde(deserialize_with = "operations")]
    pub timed_out: u64,
    /// Lost with their connection.
    #[serde(deserialize_with = "operations")]
    pub disconnected: u64,
    /// Due, but never sent.
    #[serde(deserialize_with = "operations")]
    pub skipped: u64,
    /// Sent and unanswered when the run ended.
    #[serde(deserialize_with = "operations")]
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
        self.scheduled = self.scheduled.saturating_add(other.scheduled);
        self.ok = self.ok.saturating_add(other.ok);
        self.failed = self.failed.saturating_add(other.failed);
        self.timed_out = self.timed_out.saturating_add(other.timed_out);
        self.disconnected = self.disconnected.saturating_add(other.disconnected);
        self.skipped = self.skipped.saturating_add(other.skipped);
        self.in_flight = self.in_flight.saturating_add(other.in_flight);
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

/// No run has so many operations: numbers up to this are exact in all JSON, and their sums are sums.
const OPERATIONS_MAX: u64 = 1 << 53;

/// A count of a record, which anybody may have written.
fn operations<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    let count = u64::deserialize(from)?;
    if count > OPERATIONS_MAX {
        return Err(D::Error::custom(format_args!(
            "{count} operations are more than any run has"
        )));
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::StatusSpace;

    #[test]
    fn counts_that_no_run_has_are_refused() {
        let with = |count: u64| {
            let ledger = Ledger {
                ok: count,
                ..Ledger::default()
            };
            serde_json::from_value::<Ledger>(serde_json::to_value(ledger).expect("JSON"))
        };
        assert_eq!(with(OPERATIONS_MAX).expect("a count").ok, OPERATIONS_MAX);
        let error = with(OPERATIONS_MAX + 1).expect_err("too many");
        assert!(error.to_string().contains("9007199254740993"), "{error}");
    }

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
