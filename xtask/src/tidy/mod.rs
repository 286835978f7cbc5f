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

pub use tree::root;

/// A rule.
struct Check {
    /// Name of the rule in ARCHITECTURE.md.
    name: &'static str,
    run: fn(&Tree, &mut Findings),
}

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
    Check {
        name: "cli-knows-no-protocol",
        run: manifests::cli_knows_no_protocol,
    },
    Check {
        name: "pure-dependencies",
        run: manifests::pure_dependencies,
    },
    Check {
        name: "protection-dependencies",
        run: manifests::protection_dependencies,
    },
    Check {
        name: "async-runtime-only-in-live",
        run: manifests::async_runtime_only_in_live,
    },
    Check {
        name: "wire-dependencies",
        run: manifests::wire_dependencies,
    },
    Check {
        name: "wire-needs-no-std",
        run: sources::wire_needs_no_std,
    },
    Check {
        name: "lints-are-inherited",
        run: manifests::lints_are_inherited,
    },
    Check {
        name: "no-unsafe-code",
        run: manifests::no_unsafe_code,
    },
    Check {
        name: "lock-file",
        run: manifests::lock_file,
    },
    Check {
        name: "module-names",
        run: sources::module_names,
    },
    Check {
        name: "only-cli-prints",
        run: sources::only_cli_prints,
    },
    Check {
        name: "no-panic-on-bytes",
        run: sources::no_panic_on_bytes,
    },
    Check {
        name: "no-wildcard-operation-match",
        run: sources::no_wildcard_operation_match,
    },
    Check {
        name: "no-todo",
        run: sources::no_todo,
    },
    Check {
        name: "no-module-cycles",
        run: cycles::no_module_cycles,
    },
    Check {
        name: "protocol-layering",
        run: layering::protocol_layering,
    },
    Check {
        name: "no-tuple-parameters",
        run: style::no_tuple_parameters,
    },
    Check {
        name: "no-match-on-bool",
        run: style::no_match_on_bool,
    },
    Check {
        name: "function-length",
        run: functions::function_length,
    },
    Check {
        name: "licences",
        run: licences::licences,
    },
    Check {
        name: "plain-words",
        run: words::plain_words,
    },
    Check {
        name: "architecture",
        run: docs::architecture,
    },
    Check {
        name: "readme",
        run: docs::readme,
    },
    Check {
        name: "no-private-places",
        run: private_data::no_private_places,
    },
    Check {
        name: "no-copyleft",
        run: private_data::no_copyleft,
    },
];

fn examine(tree: &Tree) -> Findings {
    let mut findings = Findings::default();
    for check in CHECKS {
        findings.check = check.name;
        (check.run)(tree, &mut findings);
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
