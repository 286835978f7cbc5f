//! The ledger: outcomes of all scheduled operations.

use crate::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

/// Number of operations by outcome.
///
/// `scheduled = ok + failed + timed_out + disconnected + skipped + in_flight`, always, at the end
/// of every run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Ledger {
    /// Scheduled operations, counted when they are created, not computed from the rest.
    #[serde(deserialize_with = "operations")]
    pub scheduled: u64,
    /// Operations answered as expected.
    #[serde(deserialize_with = "operations")]
    pub ok: u64,
    /// Operations answered with a failure.
    #[serde(deserialize_with = "operations")]
    pub failed: u64,
    /// Operations not answered within the timeout.
    #[serde(deserialize_with = "operations")]
    pub timed_out: u64,
    /// Operations lost with their connection.
    #[serde(deserialize_with = "operations")]
    pub disconnected: u64,
    /// Operations that were due, but never sent.
    #[serde(deserialize_with = "operations")]
    pub skipped: u64,
    /// Operations that were sent and not answered when the run ended.
    #[serde(deserialize_with = "operations")]
    pub in_flight: u64,
    /// Failed operations whose status the plan expects (`--expect`).
    #[serde(
        default,
        skip_serializing_if = "is_zero",
        deserialize_with = "operations"
    )]
    pub expected: u64,
    /// Successful operations that were not sent, because their client knew the result: they have no
    /// time.
    #[serde(
        default,
        skip_serializing_if = "is_zero",
        deserialize_with = "operations"
    )]
    pub unsent: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Ledger {
    /// Adds another ledger's counts.
    pub fn add(&mut self, other: &Ledger) {
        self.scheduled = self.scheduled.saturating_add(other.scheduled);
        self.ok = self.ok.saturating_add(other.ok);
        self.failed = self.failed.saturating_add(other.failed);
        self.timed_out = self.timed_out.saturating_add(other.timed_out);
        self.disconnected = self.disconnected.saturating_add(other.disconnected);
        self.skipped = self.skipped.saturating_add(other.skipped);
        self.in_flight = self.in_flight.saturating_add(other.in_flight);
        self.expected = self.expected.saturating_add(other.expected);
        self.unsent = self.unsent.saturating_add(other.unsent);
    }

    /// Returns the number of operations that ended with any outcome, without those that were due
    /// and never sent.
    pub fn ended(&self) -> u64 {
        self.ok + self.unsuccessful()
    }

    /// Returns the number of operations that were sent and did not succeed.
    pub const fn unsuccessful(&self) -> u64 {
        self.failed + self.timed_out + self.disconnected
    }

    /// Returns the number of operations that ended otherwise than expected: the only definition of
    /// errors, for all commands, gates and checks.
    pub const fn unexpected(&self) -> u64 {
        self.unsuccessful().saturating_sub(self.expected)
    }

    /// Returns the number of operations that ended as expected.
    pub const fn as_expected(&self) -> u64 {
        self.ok.saturating_add(self.expected)
    }

    /// Returns the number of successful operations that were sent: those whose times are in the
    /// percentiles.
    pub const fn timed(&self) -> u64 {
        self.ok.saturating_sub(self.unsent)
    }

    /// Returns the number of operations that the server answered, with success or failure.
    pub fn answered(&self) -> u64 {
        self.ok + self.failed
    }

    /// Returns the number of operations that are unaccounted for; 0 if the ledger is balanced.
    pub fn missing(&self) -> i128 {
        i128::from(self.scheduled)
            - i128::from(self.ended())
            - i128::from(self.skipped)
            - i128::from(self.in_flight)
    }
}

/// Upper limit of the operations of a run: numbers up to this are exact in all JSON, and their sums
/// do not overflow.
const OPERATIONS_MAX: u64 = 1 << 53;

/// Deserializes a count of a record, which may come from any source.
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
    fn what_is_expected_is_no_error_and_what_was_not_sent_has_no_time() {
        let mut ledger = Ledger {
            scheduled: 10,
            ok: 4,
            failed: 3,
            timed_out: 1,
            disconnected: 1,
            in_flight: 1,
            expected: 2,
            unsent: 1,
            ..Ledger::default()
        };
        assert_eq!(ledger.missing(), 0);
        assert_eq!((ledger.ended(), ledger.timed()), (9, 3));
        assert_eq!((ledger.unsuccessful(), ledger.unexpected()), (5, 3));
        assert_eq!(ledger.as_expected(), 6);
        ledger.scheduled += 1;
        assert_eq!(ledger.missing(), 1);
    }
}
