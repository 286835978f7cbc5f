//! Rules about pages: ARCHITECTURE.md names every crate and every check.

use super::tree::Tree;
use super::{CHECKS, Findings};

const FREEZE: &str = "crates/engine/tests/it/snapshots/it__known_answers__three_ways_to_look_at_a_frozen_server.snap";
const ARCHITECTURE: &str = "ARCHITECTURE.md";

pub fn architecture(tree: &Tree, findings: &mut Findings) {
    let page = tree
        .file(ARCHITECTURE)
        .map_or("", |file| file.text.as_str());
    for folder in tree.crates() {
        if !page.contains(&format!("`{folder}`")) {
            findings.report(
                ARCHITECTURE,
                format!("does not mention `{folder}`"),
                "say what lives there and what deliberately does not",
            );
        }
    }
    files_are_there(page, tree, findings);
    for (name, _) in CHECKS {
        if !page.contains(&format!("`{name}`")) {
            findings.report(
                ARCHITECTURE,
                format!("does not mention the check `{name}`"),
                "every invariant names its check, and every check its invariant",
            );
        }
    }
}

/// Checks that the files that a page names exist: a wrong path is worse than none.
fn files_are_there(page: &str, tree: &Tree, findings: &mut Findings) {
    // Every other part of a line of text that is split at backticks is code.
    let quoted = page
        .lines()
        .flat_map(|line| line.split('`').skip(1).step_by(2));
    let is_file = |word: &&str| word.contains('/') && word.ends_with(".rs") && !word.contains('<');
    for path in quoted.filter(is_file) {
        if tree.file(path).is_none() && tree.file(&format!("crates/{path}")).is_none() {
            findings.report(
                ARCHITECTURE,
                format!("names `{path}`, which is not there"),
                "name the file that has it now",
            );
        }
    }
}

/// Checks that the README shows the computed table of the freeze test, which is the tool's promise.
pub fn readme(tree: &Tree, findings: &mut Findings) {
    let page = tree.file("README.md").map_or("", |file| file.text.as_str());
    let Some(snapshot) = tree.file(FREEZE) else {
        findings.report(FREEZE, "is missing", "it is the table of the freeze test");
        return;
    };
    // A snapshot starts with a header between two lines of dashes.
    let table = snapshot.text.splitn(3, "---\n").nth(2).unwrap_or_default();
    for row in table.lines().filter(|row| !page.contains(*row)) {
        findings.report(
            "README.md",
            format!("does not show the freeze test's row \"{row}\""),
            "copy the table from the snapshot: it is what the tool computes",
        );
    }
}
