//! Architecture rules that neither the compiler nor clippy enforces, as checks.
//!
//! Each check has a name, which ARCHITECTURE.md must mention; its messages state the remedy. `cargo
//! test` runs them all.

mod cycles;
mod docs;
mod functions;
mod layering;
mod licences;
mod manifests;
mod private_data;
mod source;
mod sources;
mod style;
mod tree;
mod words;

use anyhow::Result;
use std::fmt;
use tree::Tree;

/// A rule: its name in ARCHITECTURE.md, and the function that checks it.
type Check = (&'static str, fn(&Tree, &mut Findings));

/// Findings of the checks.
#[derive(Default)]
struct Findings {
    check: &'static str,
    complaints: Vec<Complaint>,
    notes: Vec<String>,
}

/// A violation of a rule.
struct Complaint {
    check: &'static str,
    place: String,
    what: String,
    help: String,
}

impl Findings {
    fn report(
        &mut self,
        place: impl fmt::Display,
        what: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.complaints.push(Complaint {
            check: self.check,
            place: place.to_string(),
            what: what.into(),
            help: help.into(),
        });
    }

    fn note(&mut self, text: String) {
        self.notes.push(text);
    }
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "error: {}: {} [{}]\nhelp: {}",
            self.place, self.what, self.check, self.help
        )
    }
}

/// All rules, in the order of ARCHITECTURE.md.
const CHECKS: &[Check] = &[
    ("cli-knows-no-protocol", manifests::cli_knows_no_protocol),
    ("pure-dependencies", manifests::pure_dependencies),
    (
        "protection-dependencies",
        manifests::protection_dependencies,
    ),
    (
        "async-runtime-only-in-live",
        manifests::async_runtime_only_in_live,
    ),
    ("wire-dependencies", manifests::wire_dependencies),
    ("wire-needs-no-std", sources::wire_needs_no_std),
    ("lints-are-inherited", manifests::lints_are_inherited),
    ("no-unsafe-code", manifests::no_unsafe_code),
    ("lock-file", manifests::lock_file),
    ("module-names", sources::module_names),
    ("only-cli-prints", sources::only_cli_prints),
    ("no-panic-on-bytes", sources::no_panic_on_bytes),
    (
        "no-wildcard-operation-match",
        sources::no_wildcard_operation_match,
    ),
    ("no-todo", sources::no_todo),
    ("no-module-cycles", cycles::no_module_cycles),
    ("protocol-layering", layering::protocol_layering),
    ("no-tuple-parameters", style::no_tuple_parameters),
    ("no-match-on-bool", style::no_match_on_bool),
    ("function-length", functions::function_length),
    ("licences", licences::licences),
    ("plain-words", words::plain_words),
    ("architecture", docs::architecture),
    ("readme", docs::readme),
    ("no-private-places", private_data::no_private_places),
    ("no-copyleft", private_data::no_copyleft),
];

fn examine(tree: &Tree) -> Findings {
    let mut findings = Findings::default();
    for (name, check) in CHECKS {
        findings.check = name;
        check(tree, &mut findings);
    }
    findings
}

/// Runs every check on the tree that contains this program's source.
pub fn run() -> Result<bool> {
    let tree = Tree::load()?;
    let findings = examine(&tree);
    for note in &findings.notes {
        println!("note: {note}");
    }
    for complaint in &findings.complaints {
        eprintln!("{complaint}");
    }
    let builds = sources::build_wire_without_std(&tree)?;
    println!("{builds}");
    println!(
        "tidy: {} checks over {} files, {} complaints",
        CHECKS.len(),
        tree.files.len(),
        findings.complaints.len()
    );
    Ok(findings.complaints.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_is_tidy() {
        let tree = Tree::load().expect("the sources are there");
        let complaints: Vec<String> = examine(&tree)
            .complaints
            .iter()
            .map(Complaint::to_string)
            .collect();
        assert!(complaints.is_empty(), "\n\n{}\n", complaints.join("\n\n"));
    }
}
