//! Rules about the crates' manifests: permitted dependencies between crates.

use super::Findings;
use super::tree::{File, Tree};

/// Permitted dependencies of the pure crates: codecs, statistics, seeded randomness and
/// serialisation, without I/O.
const PURE_MAY_USE: &[&str] = &[
    "base64",
    "filestone-control",
    "filestone-measure",
    "filestone-no-schema",
    "filestone-plan",
    "filestone-protection",
    "filestone-protocol",
    "filestone-wire",
    "filestone-workload",
    "hdrhistogram",
    "rand",
    "rand_distr",
    "rand_xoshiro",
    "rustc-hash",
    "schemars",
    "serde",
    // Serializes bytes as bytes.
    "serde_bytes",
    "serde_json",
    "statrs",
    // Parsing of text into values, and checksums of bytes, without I/O.
    "toml",
    "crc32c",
    "thiserror",
    // Colours, times, templates and hashes of the text of reports.
    "anstyle",
    "humantime",
    "maud",
    "sha2",
];

/// Permitted dependencies of message protection: ciphers with given keys. None of them does I/O,
/// except for the random numbers of aws-lc-rs, which the crate does not use.
const PROTECTION_MAY_USE: &[&str] = &[
    "aes",
    "aws-lc-rs",
    "ccm",
    "filestone-wire",
    "hmac",
    "md-5",
    "md4",
    "thiserror",
];

const WIRE_MAY_USE: &[&str] = &["thiserror"];

/// Returns the names in a section of a manifest, with their line numbers.
fn entries<'a>(manifest: &'a File, section: &str) -> Vec<(usize, &'a str)> {
    let mut is_inside = false;
    let mut found = Vec::new();
    for (index, line) in manifest.text.lines().enumerate() {
        let line = line.trim();
        if line.starts_with('[') {
            is_inside = line == section;
        } else if is_inside && !line.is_empty() && !line.starts_with('#') {
            let end = line.find(['=', '.', ' ']).unwrap_or(line.len());
            found.push((index + 1, &line[..end]));
        }
    }
    found
}

fn manifest<'t>(tree: &'t Tree, findings: &mut Findings, path: &str) -> Option<&'t File> {
    let file = tree.file(path);
    if file.is_none() {
        findings.report(
            path,
            "is missing",
            "every crate and xtask each have a manifest",
        );
    }
    file
}

fn only(tree: &Tree, findings: &mut Findings, path: &str, allowed: &[&str], why: &str) {
    let Some(file) = manifest(tree, findings, path) else {
        return;
    };
    for (line, name) in entries(file, "[dependencies]") {
        if !allowed.contains(&name) {
            findings.report(
                format_args!("{path}:{line}"),
                format!("{name} is not on the short list of what this crate may use"),
                why,
            );
        }
    }
}

/// Reports dependencies of a crate on one of these.
fn never(
    tree: &Tree,
    findings: &mut Findings,
    folder: &str,
    names: &[&str],
    what: &str,
    help: &str,
) {
    let path = format!("{folder}/Cargo.toml");
    let Some(file) = manifest(tree, findings, &path) else {
        return;
    };
    for section in [
        "[dependencies]",
        "[dev-dependencies]",
        "[build-dependencies]",
    ] {
        for (line, name) in entries(file, section) {
            if names.contains(&name) {
                findings.report(
                    format_args!("{path}:{line}"),
                    format!("{name} {what}"),
                    help,
                );
            }
        }
    }
}

pub fn cli_knows_no_protocol(tree: &Tree, findings: &mut Findings) {
    never(
        tree,
        findings,
        "crates/cli",
        &["filestone-wire"],
        "is listed by cli",
        "a command turns options into a plan; what needs messages belongs into engine or protocol",
    );
}

/// Crates that do no I/O.
pub const PURE: [&str; 6] = [
    "crates/workload/",
    "crates/plan/",
    "crates/measure/",
    "crates/control/",
    "crates/protocol/",
    "crates/report/",
];

pub fn pure_dependencies(tree: &Tree, findings: &mut Findings) {
    for folder in PURE {
        only(
            tree,
            findings,
            &format!("{folder}Cargo.toml"),
            PURE_MAY_USE,
            "a pure crate must not reach a socket, a clock, a thread or a file; put what does into host, setup or engine, \
             or show in xtask/src/tidy/manifests.rs why this library cannot",
        );
        let clippy = format!("{folder}clippy.toml");
        if tree.file(&clippy).is_none() {
            findings.report(
                &clippy,
                "is missing",
                "it lists the types and methods that a pure crate may not use",
            );
        }
    }
}

/// Asynchronous runtimes, and crates that need one.
const RUNTIMES: &[&str] = &["tokio", "async-std", "smol", "axum", "hyper", "hyper-util"];

pub fn async_runtime_only_in_live(tree: &Tree, findings: &mut Findings) {
    for folder in tree
        .crates()
        .iter()
        .filter(|folder| *folder != "crates/live")
    {
        never(
            tree,
            findings,
            folder,
            RUNTIMES,
            "is an asynchronous runtime, or needs one",
            "what measures has none: its timers work in milliseconds; what serves people belongs into live",
        );
    }
}

pub fn protection_dependencies(tree: &Tree, findings: &mut Findings) {
    only(
        tree,
        findings,
        "crates/protection/Cargo.toml",
        PROTECTION_MAY_USE,
        "protocol and server use it: keys are arguments, and only bytes go out",
    );
}

pub fn wire_dependencies(tree: &Tree, findings: &mut Findings) {
    only(
        tree,
        findings,
        "crates/wire/Cargo.toml",
        WIRE_MAY_USE,
        "wire is bytes and messages, without std; write the few lines by hand",
    );
}

pub fn lints_are_inherited(tree: &Tree, findings: &mut Findings) {
    for folder in tree.crates() {
        let path = format!("{folder}/Cargo.toml");
        let Some(file) = manifest(tree, findings, &path) else {
            continue;
        };
        if !entries(file, "[lints]")
            .iter()
            .any(|(_, name)| *name == "workspace")
        {
            findings.report(
                &path,
                "does not inherit the workspace's lints",
                "add `[lints]` with `workspace = true`: it denies unsafe code, printing and exiting",
            );
        }
    }
    let root = tree.file("Cargo.toml");
    for (name, level) in [
        ("unsafe_code", "deny"),
        ("print_stdout", "deny"),
        ("print_stderr", "deny"),
        ("exit", "deny"),
    ] {
        let line = format!("{name} = \"{level}\"");
        if !root.is_some_and(|file| file.text.contains(&line)) {
            findings.report(
                "Cargo.toml",
                format!("the workspace's lints lack `{line}`"),
                "the rules of ARCHITECTURE.md rest on it",
            );
        }
    }
}

/// Checks that crates deny unsafe code, which cannot be allowed again further down. Code outside a
/// library's sources, such as the counting allocator of a test, may allow it.
pub fn no_unsafe_code(tree: &Tree, findings: &mut Findings) {
    for folder in tree.crates() {
        let roots = ["lib.rs", "main.rs"].map(|name| format!("{folder}/src/{name}"));
        for root in roots.iter().filter_map(|path| tree.file(path)) {
            if !root.text.contains("#![forbid(unsafe_code)]") {
                findings.report(
                    &root.path,
                    "has no #![forbid(unsafe_code)]",
                    "add it: bytes of a peer meet no unsafe code here",
                );
            }
        }
    }
}

pub fn lock_file(tree: &Tree, findings: &mut Findings) {
    let Some(lock) = tree.file("Cargo.lock") else {
        findings.report(
            "Cargo.lock",
            "is missing",
            "commit it: a benchmark is built from known sources",
        );
        return;
    };
    let registry = "source = \"registry+https://github.com/rust-lang/crates.io-index\"";
    for (index, line) in lock.text.lines().enumerate() {
        if line.starts_with("source = ") && line != registry {
            findings.report(
                format_args!("Cargo.lock:{}", index + 1),
                format!("{line} is not crates.io"),
                "build from crates.io only, so that everyone can",
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_is_read_section_by_section() {
        let text = "[lints]\nworkspace = true\n[dependencies]\n# a\nserde = \"1\"\nrand.workspace = true\n";
        let file = File::new("Cargo.toml".into(), text.into()).expect("a file");
        assert_eq!(
            entries(&file, "[dependencies]"),
            [(5, "serde"), (6, "rand")]
        );
        assert_eq!(entries(&file, "[lints]"), [(2, "workspace")]);
    }
}
