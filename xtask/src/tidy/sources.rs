//! Rules about the Rust sources themselves.

use super::Findings;
use super::source::{is_mark, is_word, line, matches_in};
use super::tree::Tree;
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
        for tokens in &file.code {
            for token in tokens.iter().filter(|token| is_word(token, "std")) {
                findings.report(
                    format_args!("{}:{}", file.path, line(token)),
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
        for tokens in &file.tokens {
            for pair in tokens.windows(2).filter(|pair| is_word(&pair[0], "mod")) {
                if let Some(name) = VAGUE.iter().find(|name| is_word(&pair[1], name)) {
                    findings.report(
                        format_args!("{}:{}", file.path, line(&pair[1])),
                        format!("module `{name}` says nothing about what it holds"),
                        "name it after its content: the glossary has the words",
                    );
                }
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
        for tokens in &file.tokens {
            for token in tokens {
                let lints = ["print_stdout", "print_stderr"];
                if let Some(lint) = lints.iter().find(|lint| is_word(token, lint)) {
                    findings.report(
                        format_args!("{}:{}", file.path, line(token)),
                        format!("clippy::{lint} is allowed here"),
                        "return the text or a value; only cli prints",
                    );
                }
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
        for tokens in &file.code {
            for pair in tokens.windows(2) {
                let is_macro = |name| is_word(&pair[0], name) && is_mark(&pair[1], '!');
                let phrase = if is_mark(&pair[0], '.') && is_word(&pair[1], "unwrap") {
                    ".unwrap()"
                } else if is_macro("panic") || is_macro("unreachable") {
                    "a panic"
                } else {
                    continue;
                };
                findings.report(
                    format_args!("{}:{}", file.path, line(&pair[0])),
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
        for tokens in &file.code {
            for (at, patterns) in matches_in(tokens) {
                let is_about_operations = patterns.iter().any(|pattern| {
                    pattern.starts_with("Operation::") || pattern.contains(" Operation::")
                });
                if is_about_operations && patterns.iter().any(|pattern| *pattern == "_") {
                    findings.report(
                        format_args!("{}:{at}", file.path),
                        "this match on Operation has a `_` arm",
                        "name every operation: a new verb must stop the build until somebody decides what it means here",
                    );
                }
            }
        }
    }
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
    super::private_data::search(
        tree.sources(""),
        findings,
        PROMISES,
        "promises work instead of doing it",
        "do it, or state the limit in docs/limits.md",
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::File;
    use std::path::PathBuf;

    fn complaints(path: &str, text: &str, check: fn(&Tree, &mut Findings)) -> usize {
        let tree = Tree {
            root: PathBuf::new(),
            files: vec![File::new(path.into(), text.into()).expect("tokens")],
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
