//! Verdict on a run, at the top of its report.

use crate::document::Document;
use filestone_measure::measure::{Caveat, RunRecord, Validity, validity};

/// Returns the validity: the figures that make the run invalid, and the caveats.
pub fn heading(record: &RunRecord) -> Document {
    let is_doubt = |caveat: &&Caveat| caveat.leaves() != Validity::DoesNotCount;
    let doubts = ids(record.caveats.iter().filter(is_doubt)).join(", ");
    let text = match validity::of(record) {
        Validity::Counts => "counts".into(),
        Validity::WithCaveats => format!("counts, with caveats: {doubts}"),
        Validity::DoesNotCount => {
            let reasons = validity::reasons(record).join("; ");
            let doubts = match doubts.as_str() {
                "" => String::new(),
                doubts => format!("; caveats: {doubts}"),
            };
            format!("does not count ({reasons}){doubts}")
        }
    };
    Document::default().facts([("verdict", text)])
}

/// Returns the names of the caveats' rules, without duplicates.
pub fn ids<'record>(caveats: impl Iterator<Item = &'record Caveat>) -> Vec<&'static str> {
    let mut ids = Vec::new();
    for id in caveats.map(Caveat::id) {
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    ids
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::page::PageWidth;
    use crate::fixtures;

    #[test]
    fn the_verdict_names_the_rules_that_are_broken() {
        let headed = |record: &RunRecord| heading(record).text(PageWidth::default());
        let mut record = fixtures::in_stretches();
        assert_eq!(headed(&record), "verdict         counts\n");
        let directory = "/x".to_string();
        record.caveats = vec![
            Caveat::DebugBuild,
            Caveat::DebugBuild,
            Caveat::NotSeenOnTheWire { directory },
        ];
        let text = "verdict         counts, with caveats: debug-build, not-seen-on-the-wire\n";
        assert_eq!(headed(&record), text);
        let off_by_percent = 12.0;
        record.caveats = vec![
            Caveat::DebugBuild,
            Caveat::MixInvalid {
                deviation_percent: off_by_percent,
            },
        ];
        let text =
            "verdict         does not count (the mix is off by 12.0 %); caveats: debug-build\n";
        assert_eq!(headed(&record), text);
        record.caveats = vec![];
        let ledger = &mut record.totals.ledger;
        (ledger.failed, ledger.ok) = (ledger.ok, 0);
        assert_eq!(
            headed(&record),
            "verdict         does not count (nothing succeeded)\n"
        );
    }
}
