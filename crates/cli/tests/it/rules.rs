//! Every rule, of doctor's and of a run's validity, is explained where the reference says.

use filestone_model::threshold::Threshold;
use filestone_model::{doctor, measure::validity};
use std::path::Path;

/// The sections of a page of the reference.
struct Sections(Vec<String>);

impl Sections {
    fn of(page: &str) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference");
        let page = std::fs::read_to_string(root.join(page)).expect("the page is there");
        Self(page.split("\n### ").skip(1).map(String::from).collect())
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
        sections.0.len(),
        doctor::RULES.len(),
        "no section without a rule"
    );
}

#[test]
fn every_rule_of_validity_has_a_section_with_its_threshold() {
    let sections = Sections::of("validity.md");
    for rule in validity::RULES {
        sections.explain(rule.id, rule.threshold);
        let (_, section) = sections
            .0
            .iter()
            .find_map(|section| section.split_once('\n').filter(|(id, _)| *id == rule.id))
            .expect(rule.id);
        let is_invalid = rule.leaves == filestone_model::measure::Validity::Invalid;
        assert_eq!(section.contains("is invalid"), is_invalid, "{}", rule.id);
    }
    assert_eq!(
        sections.0.len(),
        validity::RULES.len(),
        "no section without a rule"
    );
}
