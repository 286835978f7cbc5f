//! Failures of a mix, by kind and status.

use crate::document::Document;
use crate::parts::kinds::measured;
use crate::parts::ledger::{errors_table, failures};
use filestone_measure::measure::RunRecord;
use filestone_workload::text::thousands;

/// Returns failures by kind and status, and operations of all kinds that never started; empty if
/// all operations completed.
pub fn section(record: &RunRecord) -> Document {
    let mut rows: Vec<(String, u64, u64)> = Vec::new();
    let (mut skipped, mut scheduled) = (0, 0);
    for kind in measured(record) {
        let ledger = &kind.ledger;
        skipped += ledger.skipped;
        scheduled += ledger.scheduled;
        let name = kind.operation.name();
        rows.extend(
            failures(kind)
                .filter(|(_, count)| *count > 0)
                .map(|(what, count)| (format!("{name}: {what}"), count, ledger.scheduled)),
        );
    }
    let is_steered = record.plan.steering.is_some();
    if skipped > 0 && !is_steered {
        rows.push(("skipped: due, but never sent".into(), skipped, scheduled));
    }
    let skipped = (skipped > 0 && is_steered).then(|| never_started(record, skipped));
    Document::default()
        .tables(errors_table(rows))
        .paragraphs(skipped)
}

/// Describes operations that never started. They are not an error of a run that chose its loads
/// itself.
fn never_started(record: &RunRecord, skipped: u64) -> String {
    let curve = record.curve.as_ref();
    let is_beyond = curve.is_none_or(|curve| curve.points.iter().any(|point| !point.kept_up));
    let (one, many) = if is_beyond {
        (
            "operation that was due at a load beyond the server's was never started; the search \
             goes there on purpose",
            "operations that were due at loads beyond the server's were never started; the search \
             goes there on purpose",
        )
    } else {
        (
            "operation that was due when the load changed was never started",
            "operations that were due when the load changed were never started",
        )
    };
    let what = if skipped == 1 { one } else { many };
    format!("{} {what}", thousands(skipped))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::page::PageWidth;
    use crate::fixtures;
    use filestone_workload::recording::Role;

    #[test]
    fn what_never_began_is_one_row_of_a_mix_and_no_error_of_a_search() {
        let skipping = |mut record: RunRecord| {
            let kinds = record.totals.kinds.iter_mut();
            for kind in kinds.filter(|kind| kind.role == Role::Measured).take(2) {
                kind.ledger.skipped += 6070;
                kind.ledger.scheduled += 6070;
            }
            section(&record).text(PageWidth::default())
        };
        let plain = skipping(fixtures::mix());
        assert_eq!(plain.matches("skipped: due, but never sent").count(), 1);
        assert!(plain.contains(" 12,140 "), "{plain}");
        let steered = skipping(fixtures::curve())
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        assert_eq!(
            steered,
            "12,140 operations that were due at loads beyond the server's were never started; the \
             search goes there on purpose"
        );
    }
}
