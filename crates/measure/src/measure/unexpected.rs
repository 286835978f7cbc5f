//! The rule about operations that ended otherwise than expected, for every command: how many of all
//! that were completed they are, and how.
//!
//! Completed are the operations that ended, measured ones and those that only make them possible
//! (prerequisites, and what keeps a file set in its proportions) alike: a fleet whose COMMITs all fail
//! has written nothing. Unexpected are those that failed, timed out or were disconnected, except those
//! whose status the plan expects (`--expect`). Of a replay an operation fails if it ends otherwise than its
//! load file expects.

use super::caveat::Caveat;
pub use super::outcome_count::{OutcomeCount, percent};
use super::run_record::{KindRecord, RunRecord};
use filestone_workload::failure::{Mismatch, ReplyFault};

/// More of them than this share of the completed ones, in percent, are a caveat.
pub const UNEXPECTED_PERCENT: f64 = 1.0;
/// With more of them than this share, in percent, a run does not count. One alone is a caveat however
/// few operations there are: a share says nothing about it.
pub const UNEXPECTED_PERCENT_MAX: f64 = 5.0;

/// Unexpected outcomes of a run, and its completed operations.
pub fn counts(record: &RunRecord) -> (u64, u64) {
    let kinds = record.totals.kinds.iter();
    let completed = kinds.map(|kind| kind.ledger.ended());
    (
        record.totals.errors(),
        completed.fold(0, u64::saturating_add),
    )
}

/// In which ways operations ended unexpectedly, the most frequent first.
pub fn outcomes(record: &RunRecord) -> Vec<OutcomeCount> {
    let expected = record.plan.expect.iter();
    let expected: Vec<String> = expected
        .map(|expected| expected.status().to_string())
        .collect();
    let kinds = record.totals.kinds.iter();
    let mut outcomes: Vec<OutcomeCount> = kinds.flat_map(outcomes_of).collect();
    outcomes.retain(|one| one.count > 0 && !expected.contains(&one.outcome));
    outcomes.sort_by_key(|one| std::cmp::Reverse(one.count));
    outcomes
}

fn outcomes_of(kind: &KindRecord) -> impl Iterator<Item = OutcomeCount> {
    let failures = kind.failures.iter();
    let failures = failures.map(|failure| (failure.failure.clone(), failure.count));
    let others = [
        ("timed out".to_owned(), kind.ledger.timed_out),
        ("disconnected".to_owned(), kind.ledger.disconnected),
    ];
    let operation = kind.operation;
    let all = failures.chain(others);
    all.map(move |(outcome, count)| OutcomeCount {
        operation,
        outcome,
        count,
    })
}

/// The caveat of a run in which too many operations ended otherwise than expected, or in which any
/// brought other data than were written.
pub fn caveat(record: &RunRecord) -> Option<Caveat> {
    let (count, completed) = counts(record);
    let outcomes = outcomes(record);
    let wrong_data = [
        ReplyFault::WrongData.to_string(),
        Mismatch::WrongData.name().to_owned(),
    ];
    let is_corrupt = outcomes.iter().any(|one| wrong_data.contains(&one.outcome));
    let is_broken = is_corrupt || percent(count, completed) > UNEXPECTED_PERCENT;
    is_broken.then_some(Caveat::UnexpectedOutcomes {
        count,
        completed,
        outcomes,
    })
}
