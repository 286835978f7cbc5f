//! Validity of a record: the verdict that follows from the rules that a run breaks.

use super::caveat::Caveat;
use super::run_record::{RunOutcome, RunRecord};
pub use super::validity_record::Validity;

/// Returns the validity of a record, from its caveats.
pub fn of(record: &RunRecord) -> Validity {
    if succeeded_in_nothing(record) {
        return Validity::DoesNotCount;
    }
    let worst = record.caveats.iter().map(Caveat::leaves).max();
    worst.unwrap_or(Validity::Counts)
}

/// Returns whether the figures of a run are valid.
pub fn counts(record: &RunRecord) -> bool {
    of(record) != Validity::DoesNotCount
}

/// Returns why a record is invalid, each reason with its figure; empty for a valid record.
pub fn reasons(record: &RunRecord) -> Vec<String> {
    let nothing = succeeded_in_nothing(record).then(|| "nothing succeeded".into());
    nothing
        .into_iter()
        .chain(reasons_of(&record.caveats))
        .collect()
}

/// Returns the reasons that are caveats.
pub fn reasons_of(caveats: &[Caveat]) -> impl Iterator<Item = String> {
    let decisive = caveats.iter();
    let decisive = decisive.filter(|caveat| caveat.leaves() == Validity::DoesNotCount);
    decisive.map(Caveat::reason)
}

/// Returns whether a run that was not interrupted has no operation that ended as expected: whatever
/// the command, such a run has no result.
pub const fn succeeded_in_nothing(record: &RunRecord) -> bool {
    !matches!(record.end, RunOutcome::Interrupted) && record.totals.ledger.as_expected() == 0
}

#[cfg(test)]
mod tests;
