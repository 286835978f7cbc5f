//! The verdict on a run, which heads its report.

use super::page::Page;
use filestone_model::measure::validity::{self, ValidityRule, succeeded_in_nothing};
use filestone_model::measure::{Caveat, RunRecord, Validity};

/// Whether the numbers count, and by which rules not.
pub fn heading(record: &RunRecord, page: Page) -> String {
    let worst = validity::of(record);
    let is_worst = |caveat: &&Caveat| {
        let rule = ValidityRule::of(caveat);
        rule.is_some_and(|rule| rule.leaves == worst)
    };
    let mut broken = ids(record.caveats.iter().filter(is_worst));
    if succeeded_in_nothing(record) {
        broken.insert(0, "nothing succeeded");
    }
    let broken = broken.join(", ");
    let others = ids(record.caveats.iter().filter(|caveat| !is_worst(caveat)));
    let text = match worst {
        Validity::Valid => "valid".into(),
        Validity::WithCaveats => format!("valid, with caveats: {broken}"),
        Validity::Invalid if others.is_empty() => format!("invalid: {broken}"),
        Validity::Invalid => format!("invalid: {broken}; caveats: {}", others.join(", ")),
    };
    page.facts([("verdict", text)])
}

/// The names of the rules that caveats are of, each once.
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
    use crate::report::canned;

    #[test]
    fn the_verdict_names_the_rules_that_are_broken() {
        let headed = |record: &RunRecord| heading(record, Page::default());
        let mut record = canned::in_stretches();
        assert_eq!(headed(&record), "verdict         valid\n");
        let directory = "/x".to_string();
        record.caveats = vec![
            Caveat::DebugBuild,
            Caveat::DebugBuild,
            Caveat::NotSeenOnTheWire { directory },
        ];
        let text = "verdict         valid, with caveats: debug-build, not-seen-on-the-wire\n";
        assert_eq!(headed(&record), text);
        let off_by_percent = 12.0;
        record.caveats = vec![Caveat::DebugBuild, Caveat::MixInvalid { off_by_percent }];
        let text = "verdict         invalid: mix-invalid; caveats: debug-build\n";
        assert_eq!(headed(&record), text);
        record.caveats = vec![];
        let ledger = &mut record.totals.ledger;
        (ledger.failed, ledger.ok) = (ledger.ok, 0);
        assert_eq!(
            headed(&record),
            "verdict         invalid: nothing succeeded\n"
        );
    }
}
