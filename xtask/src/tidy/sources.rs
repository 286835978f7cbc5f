//! Rules about the Rust sources themselves.

use super::Findings;
use super::source::{closing, line_of, words};
use super::tree::{File, Tree};
use anyhow::{Context, Result, bail};
use std::process::Command;

const NO_STD_TARGET: &str = "thumbv7em-none-eabi";

/// Module names that do not describe their content.
const VAGUE: &[&str] = &[
    "utils", "util", "common", "helpers", "helper", "manager", "types", "core", "misc",
];

pub fn wire_needs_no_std(tree: &Tree, findings: &mut Findings) {
    let root = "crates/wire/src/lib.rs";
    if !tree
        .file(root)
        .is_some_and(|file| file.text.contains("#![no_std]"))
    {
        findings.report(
            root,
            "has no #![no_std]",
            "wire is used where there is no operating system; keep it so",
        );
    }
    for file in tree.sources("crates/wire/src/") {
        let code = file.code();
        for word in words(&code, "std") {
            if code[word..].starts_with("std::") || code[..word].ends_with("extern crate ") {
                findings.report(
                    place(file, &code, word),
                    "wire names std",
                    "use core or alloc; what needs std belongs above the sans-IO line",
                );
            }
        }
    }
}

/// Builds wire for a target without std, if that target is installed.
pub fn build_wire_without_std(tree: &Tree) -> Result<String> {
    let rustc = Command::new("rustc")
        .args(["--print", "sysroot"])
        .current_dir(&tree.root)
        .output()
        .context("rustc did not start")?;
    let sysroot = String::from_utf8_lossy(&rustc.stdout).trim().to_owned();
    let library = std::path::Path::new(&sysroot)
        .join("lib/rustlib")
        .join(NO_STD_TARGET);
    if !library.is_dir() {
        return Ok(format!(
            "note: wire was checked for std by its text only; `rustup target add {NO_STD_TARGET}` lets it be built"
        ));
    }
    let status = Command::new("cargo")
        .args([
            "build",
            "--quiet",
            "-p",
            "filestone-wire",
            "--target",
            NO_STD_TARGET,
        ])
        .current_dir(&tree.root)
        .status()
        .context("cargo did not start")?;
    if !status.success() {
        bail!("crates/wire: does not build for {NO_STD_TARGET}, which has no std");
    }
    Ok(format!("wire builds for {NO_STD_TARGET}, which has no std"))
}

pub fn module_names(tree: &Tree, findings: &mut Findings) {
    for file in tree.sources("") {
        let is_vague = file
            .path
            .trim_end_matches(".rs")
            .split('/')
            .any(|part| VAGUE.contains(&part));
        if is_vague {
            findings.report(
                &file.path,
                "a module's name says nothing about what it holds",
                "name it after its content: the glossary has the words",
            );
        }
        for at in words(&file.blanked, "mod") {
            let name = file.blanked[at + 3..].trim_start();
            let end = name
                .find(|c: char| !c.is_alphanumeric() && c != '_')
                .unwrap_or(name.len());
            if VAGUE.contains(&&name[..end]) {
                findings.report(
                    place(file, &file.blanked, at),
                    format!("module `{}` says nothing about what it holds", &name[..end]),
                    "name it after its content: the glossary has the words",
                );
            }
        }
    }
}

pub fn only_cli_prints(tree: &Tree, findings: &mut Findings) {
    // Examples and tests are separate programs.
    let libraries = tree
        .sources("crates/")
        .filter(|file| file.path.contains("/src/") && !file.path.starts_with("crates/cli/"));
    for file in libraries {
        for lint in ["clippy::print_stdout", "clippy::print_stderr"] {
            if let Some(at) = file.blanked.find(lint) {
                findings.report(
                    place(file, &file.blanked, at),
                    format!("{lint} is allowed here"),
                    "return the text or a value; only cli prints",
                );
            }
        }
    }
}

/// Applies to wire and to all other code that parses a peer's bytes.
pub fn no_panic_on_bytes(tree: &Tree, findings: &mut Findings) {
    let folders = [
        "crates/wire/src/",
        "crates/protocol/src/client/",
        "crates/server/src/",
    ];
    let sources = folders.iter().flat_map(|folder| tree.sources(folder));
    for file in sources.filter(|file| !file.is_test) {
        let code = file.code();
        for phrase in [".unwrap()", "panic!(", "unreachable!("] {
            for (at, _) in code.match_indices(phrase) {
                findings.report(
                    place(file, &code, at),
                    format!("{phrase} where a peer's bytes are handled"),
                    "return an error; for an invariant, `.expect(\"the invariant in words\")`",
                );
            }
        }
    }
}

pub fn no_wildcard_operation_match(tree: &Tree, findings: &mut Findings) {
    for file in tree
        .sources("crates/")
        .filter(|file| file.path.contains("/src/") && !file.is_test)
    {
        let code = file.code();
        for at in words(&code, "match") {
            let Some(body) = match_body(&code, at) else {
                continue;
            };
            let patterns = patterns_of(body);
            let is_about_operations = patterns.iter().any(|pattern| {
                words(pattern, "Operation").any(|at| pattern[at..].starts_with("Operation::"))
            });
            if is_about_operations && patterns.iter().any(|pattern| *pattern == "_") {
                findings.report(
                    place(file, &code, at),
                    "this match on Operation has a `_` arm",
                    "name every operation: a new verb must stop the build until somebody decides what it means here",
                );
            }
        }
    }
}

pub(super) fn match_body(code: &str, at: usize) -> Option<&str> {
    let open = at + code[at..].find('{')?;
    let close = closing(code, open)?;
    Some(&code[open + 1..close])
}

/// Returns the patterns of a match's body: the text before each `=>` outside brackets, up to the
/// previous arm.
pub(super) fn patterns_of(body: &str) -> Vec<String> {
    let mut depth = 0;
    let mut text = String::new();
    for (at, c) in body.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => {
                depth -= 1;
                // A block ends its arm, with or without a comma; the braces of a pattern do not.
                let rest = body[at + 1..].trim_start();
                let is_pattern = ["=>", "|", "if "].iter().any(|next| rest.starts_with(next));
                if depth == 0 && c == '}' && !is_pattern {
                    text.push(',');
                }
            }
            _ if depth == 0 => text.push(c),
            _ => {}
        }
    }
    let mut parts: Vec<&str> = text.split("=>").collect();
    parts.pop();
    parts
        .iter()
        .map(|part| part.rsplit_once(',').map_or(*part, |(_, pattern)| pattern))
        .map(|pattern| pattern.trim().to_owned())
        .collect()
}

/// Words that announce work instead of doing it. They are split here, so that this file does not
/// break its own rule.
const PROMISES: &[&str] = &[
    concat!("HA", "CK"),
    concat!("FIX", "ME"),
    concat!("TO", "DO"),
    concat!("XX", "X:"),
    concat!("#[ig", "nore"),
    concat!("todo", "!("),
    concat!("unimplemented", "!("),
];

pub fn no_todo(tree: &Tree, findings: &mut Findings) {
    for file in tree.sources("") {
        for promise in PROMISES {
            for (at, _) in file.text.match_indices(promise) {
                findings.report(
                    place(file, &file.text, at),
                    format!("\"{promise}\" promises work instead of doing it"),
                    "do it, or state the limit in docs/limits.md",
                );
            }
        }
    }
}

fn place(file: &File, text: &str, at: usize) -> String {
    format!("{}:{}", file.path, line_of(text, at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::source::blank;
    use std::path::PathBuf;

    fn complaints(path: &str, text: &str, check: fn(&Tree, &mut Findings)) -> usize {
        let tree = Tree {
            root: PathBuf::new(),
            files: vec![File {
                path: path.into(),
                text: text.into(),
                blanked: blank(text),
                is_test: false,
            }],
        };
        let mut findings = Findings::default();
        check(&tree, &mut findings);
        findings.complaints.len()
    }

    #[test]
    fn a_catch_all_arm_on_operation_is_found_and_one_on_a_number_is_not() {
        let path = "crates/protocol/src/client/nfs3.rs";
        let wild = "fn f() { match o { Operation::Null => 1, _ => 2 } }";
        let number = "fn f() { match n { 1 => Operation::Null, _ => 2 } }";
        let inner =
            "fn f() { match o { Operation::Read { file, .. } => { match n { 1 => 1, _ => 2 } } } }";
        assert_eq!(complaints(path, wild, no_wildcard_operation_match), 1);
        assert_eq!(complaints(path, number, no_wildcard_operation_match), 0);
        assert_eq!(complaints(path, inner, no_wildcard_operation_match), 0);
    }

    #[test]
    fn an_unwrap_in_a_test_is_no_complaint_and_one_in_a_decoder_is() {
        let path = "crates/wire/src/xdr.rs";
        let test = "#[cfg(test)]\nmod tests { fn f() { a.unwrap() } }";
        assert_eq!(complaints(path, test, no_panic_on_bytes), 0);
        assert_eq!(
            complaints(path, "fn f() { a.unwrap() }", no_panic_on_bytes),
            1
        );
    }

    #[test]
    fn a_module_called_utils_is_found() {
        assert_eq!(complaints("crates/wire/src/utils.rs", "", module_names), 1);
        assert_eq!(
            complaints("crates/wire/src/lib.rs", "mod helpers;", module_names),
            1
        );
        assert_eq!(
            complaints(
                "crates/wire/src/lib.rs",
                "mod xdr; use core::fmt;",
                module_names
            ),
            0
        );
    }
}
