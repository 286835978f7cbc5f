//! Rules about pages: the glossary contains every public type of model, and ARCHITECTURE.md names
//! every crate and every check.

use super::source::words;
use super::tree::Tree;
use super::{CHECKS, Findings};

const GLOSSARY: &str = "docs/glossary.md";
const FREEZE: &str = "crates/engine/tests/it/snapshots/it__known_answers__three_ways_to_look_at_a_frozen_server.snap";
const ARCHITECTURE: &str = "ARCHITECTURE.md";

/// Returns the names of public types in a blanked source.
fn public_types(code: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for at in words(code, "pub") {
        let mut parts = code[at + 3..].split_whitespace();
        let is_type = matches!(parts.next(), Some("struct" | "enum" | "trait" | "type"));
        if let Some(name) = parts.next().filter(|_| is_type) {
            let end = name
                .find(|c: char| !c.is_alphanumeric() && c != '_')
                .unwrap_or(name.len());
            found.push(&name[..end]);
        }
    }
    found
}

pub fn glossary(tree: &Tree, findings: &mut Findings) {
    let page = tree.file(GLOSSARY).map_or("", |file| file.text.as_str());
    let sources = super::manifests::PURE
        .iter()
        .flat_map(|folder| tree.sources(folder));
    for file in sources.filter(|file| file.path.contains("/src/")) {
        for name in public_types(&file.code()) {
            if !page.contains(&format!("`{name}`")) {
                findings.report(
                    &file.path,
                    format!("public type {name} is not in {GLOSSARY}"),
                    "say in one line what it is and what the literature calls it, or make it private",
                );
            }
        }
    }
}

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
    for check in CHECKS {
        if !page.contains(&format!("`{}`", check.name)) {
            findings.report(
                ARCHITECTURE,
                format!("does not mention the check `{}`", check.name),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn public_types_are_found_and_functions_are_not() {
        let code =
            "pub struct A(pub u32); pub enum B<T> {} pub fn c() {} pub(crate) struct D; struct E;";
        assert_eq!(public_types(code), ["A", "B"]);
    }
}
