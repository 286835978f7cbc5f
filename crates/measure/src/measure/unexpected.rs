//! Rule for operations with an unexpected outcome, common to all commands: their share of the
//! completed operations, and the outcomes.
//!
//! Completed operations are all that ended, both measured operations and those that only make them
//! possible (prerequisites, and operations that keep a file set in its proportions): a fleet whose
//! COMMITs all fail has written nothing. Unexpected are operations that failed, timed out or were
//! disconnected, except with a status that the plan expects (`--expect`). In a replay an operation
//! fails if its result differs from that in its load file.

use super::caveat::Caveat;
use super::caveat::thresholds::UNEXPECTED_PERCENT;
pub use super::outcome_count::{OutcomeCount, percent};
use super::run_record::{KindRecord, RunRecord};
use filestone_workload::failure::{Mismatch, ReplyFault};

/// Returns the numbers of unexpected outcomes and of completed operations of a run.
pub fn counts(record: &RunRecord) -> (u64, u64) {
    let kinds = record.totals.kinds.iter();
    let completed = kinds.map(|kind| kind.ledger.ended());
    (
        record.totals.errors(),
        completed.fold(0, u64::saturating_add),
    )
}

/// Returns the unexpected outcomes, most frequent first.
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

/// Returns the caveat of a run with too many unexpected outcomes, or with any operation that
/// returned other data than were written.
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
