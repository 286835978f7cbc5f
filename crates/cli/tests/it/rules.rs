//! Every rule, of doctor's and of a run's validity, is explained where the reference says.

use filestone_measure::doctor;
use filestone_measure::measure::caveat::{RULES, ValidityRule};
use filestone_measure::measure::validity::Validity;
use filestone_workload::threshold::Threshold;
use std::path::Path;

/// The sections of a page of the reference, after what stands before the first.
struct Sections(Vec<String>);

impl Sections {
    fn of(page: &str) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference");
        let page = std::fs::read_to_string(root.join(page)).expect("the page is there");
        Self(page.split("\n### ").map(String::from).collect())
    }

    /// The section of a rule names what its figure is held against.
    fn explain(&self, id: &str, threshold: Option<Threshold>) {
        let mut sections = self.0.iter();
        let section = sections.find(|section| section.lines().next() == Some(id));
        let section = section.unwrap_or_else(|| panic!("no section {id}"));
        let section = section.split_whitespace().collect::<Vec<_>>().join(" ");
        if let Some(said) = threshold.map(|threshold| threshold.to_string()) {
            assert!(section.contains(&said), "{id}: {said}: {section}");
        }
    }
}

#[test]
fn every_rule_of_doctor_has_a_section_with_its_threshold() {
    let sections = Sections::of("doctor.md");
    for rule in doctor::RULES {
        sections.explain(rule.id, rule.threshold);
    }
    assert_eq!(
        sections.0.len() - 1,
        doctor::RULES.len(),
        "no section without a rule"
    );
}

/// The row of a rule in the table of `validity.md`: the verdict and the exit code that follow if a
/// run breaks it.
fn row(rule: &ValidityRule) -> String {
    let id = rule.id;
    let code = match (id, rule.leaves) {
        ("ledger-out-of-balance", _) => 70,
        ("interrupted", _) => 130,
        // The run has lost a part of what it was to measure.
        ("host-lost", _) | (_, Validity::DoesNotCount) => 3,
        (_, Validity::WithCaveats | Validity::Counts) => 0,
    };
    let (verdict, code) = match (rule.leaves, rule.most) {
        (Validity::DoesNotCount, _) => ("does not count".into(), code.to_string()),
        (_, None) => ("counts, with caveats".into(), code.to_string()),
        (_, Some(most)) => (
            format!("counts, with caveats; over {most}: does not count"),
            format!("{code}; then 3"),
        ),
    };
    format!("| [{id}](#{id}) | {verdict} | {code} |")
}

#[test]
fn every_rule_of_validity_has_a_row_with_its_verdict_and_a_section_with_its_threshold() {
    let sections = Sections::of("validity.md");
    let rows: Vec<String> = RULES.iter().map(row).collect();
    let table = rows.join("\n");
    assert!(
        sections.0[0].contains(&table),
        "the table is to be:\n{table}"
    );
    for rule in RULES {
        sections.explain(rule.id, rule.threshold);
        sections.explain(rule.id, rule.most);
    }
    assert_eq!(
        sections.0.len() - 1,
        RULES.len(),
        "no section without a rule"
    );
}
