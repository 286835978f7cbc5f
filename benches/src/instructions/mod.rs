//! Number of instructions that the hot path executes, counted by callgrind. Unlike times, the counts
//! are the same on a busy machine as on a quiet one.
//!
//! The last accepted counts are in `benches/instructions.json`.

#[cfg(test)]
mod cases;

use anyhow::{Context, Result, ensure};
use clap::Args;
use filestone_interop::table::{lay_out, thousands};
use filestone_interop::tool;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Largest permitted relative change without a reason.
const TOLERANCE: f64 = 0.03;
/// Operations of each benchmark: `OPERATIONS` of `cases.rs`.
const OPERATIONS: f64 = 12_800.0;

/// Arguments of `hot_path.rs`, and the names of its cases in tables.
const NAMES: [(&str, &str); 9] = [
    ("null_1", "NULL ×1"),
    ("null_128", "NULL ×128"),
    ("getattr_32", "GETATTR ×32"),
    ("read_128k_8", "READ 128 KiB ×8, discarded"),
    ("echo_1", "SMB ECHO ×1"),
    ("echo_32", "SMB ECHO ×32"),
    ("smb_read_64k_8", "SMB READ 64 KiB ×8"),
    ("read_x", "a line of a load: ReadX, --fake-io"),
    ("recorded", "one sample recorded"),
];

/// The profile of packages.
pub const PACKAGED: &str = "dist";
const RELEASE: &str = "release";

/// Options of `cargo xtask instructions`.
#[derive(Debug, Clone, Args)]
pub struct Instructions {
    /// Fail if a count is more than 3 % off the stored one
    #[arg(long)]
    pub check: bool,
    /// Store the counts
    #[arg(long, conflicts_with = "check")]
    pub write: bool,
    /// Print the table for docs/benchmarks.md
    #[arg(long)]
    pub markdown: bool,
    /// Profile of the build: `dist` is that of packages, `release` that of people who build filestone
    #[arg(long, default_value = PACKAGED, value_parser = [PACKAGED, RELEASE])]
    pub profile: String,
}

/// Instructions per operation, by name of the case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Counts {
    /// Compiler of the program: another compiler generates other instructions.
    compiler: String,
    per_operation: BTreeMap<String, f64>,
}

/// Counts, prints and compares. Returns whether all counts are unchanged.
pub fn run(options: &Instructions) -> Result<bool> {
    let counts = count(&options.profile)?;
    let mut all = stored()?;
    let stored = all.get(&options.profile);
    print!("{}", table(&counts, stored, options.markdown));
    if options.write {
        all.insert(options.profile.clone(), counts);
        let text = serde_json::to_string_pretty(&all)? + "\n";
        std::fs::write(file()?, text)?;
        return Ok(true);
    }
    let off = off(&counts, stored);
    for (name, change) in off.iter().filter(|_| options.check) {
        eprintln!(
            "error: {name}: {change:+.1} % instructions\n\
             help: find the cause; if the change is intended, run `cargo xtask instructions --write --profile {}` \
             and give the reason in the commit",
            options.profile
        );
    }
    if let Some(stored) = stored.filter(|stored| stored.compiler != counts.compiler) {
        let (old, new) = (&stored.compiler, &counts.compiler);
        eprintln!("note: the stored counts are {old}'s, these are {new}'s");
    }
    Ok(off.is_empty() || !options.check)
}

/// Builds the program and counts the instructions of each case.
pub fn count(profile: &str) -> Result<Counts> {
    let program = build(profile)?;
    let mut per_operation = BTreeMap::new();
    for (case, name) in NAMES {
        let count = instructions(&program, case)? / OPERATIONS;
        per_operation.insert(name.to_owned(), (count * 10.0).round() / 10.0);
    }
    Ok(Counts {
        compiler: compiler()?,
        per_operation,
    })
}

/// Builds the program of the cases. With filestone, since packages selected together have the features of their
/// dependencies in common: what is compiled for filestone is not compiled again.
fn build(profile: &str) -> Result<PathBuf> {
    let status = Command::new("cargo")
        .args(["build", "--quiet", "--profile", profile])
        .args([
            "--package",
            "filestone-cli",
            "--package",
            "filestone-benches",
        ])
        .args(["--features", "filestone-benches/instructions"])
        .args(["--bin", "filestone", "--bin", "hot_path"])
        .current_dir(filestone_interop::root())
        .status()
        .context("cargo did not start")?;
    ensure!(status.success(), "the cases do not build");
    Ok(filestone_interop::process::target_folder()?
        .join(profile)
        .join("hot_path"))
}

/// Returns the instructions of a case by callgrind, without those of its preparation.
fn instructions(program: &Path, case: &str) -> Result<f64> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .args(["--cache-sim=no", "--toggle-collect=hot_path::counted*"])
        .arg(program)
        .arg(case)
        .output()
        .context("valgrind did not start (.ci/run installs it)")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{case}: {}", said.trim());
    collected(&said).with_context(|| format!("{case}: callgrind counted nothing: {}", said.trim()))
}

/// Parses the number of instructions in the messages of callgrind; `None` if there are none.
fn collected(said: &str) -> Option<f64> {
    let (_, number) = said.split_once("Collected :")?;
    let number = number.lines().next()?.trim().parse().ok()?;
    (number > 0.0).then_some(number)
}

fn compiler() -> Result<String> {
    let version = tool::text(Command::new("rustc").arg("--version"))?;
    Ok(version.trim().to_owned())
}

fn file() -> Result<PathBuf> {
    Ok(filestone_interop::root().join("benches/instructions.json"))
}

/// Returns the stored counts by profile.
fn stored() -> Result<BTreeMap<String, Counts>> {
    let file = file()?;
    if !file.exists() {
        return Ok(BTreeMap::new());
    }
    let text = std::fs::read_to_string(&file)?;
    let counts = serde_json::from_str(&text);
    counts.with_context(|| file.display().to_string())
}

/// Returns the difference between a count and the stored one, in percent.
fn change(counts: &Counts, stored: Option<&Counts>, name: &str) -> Option<f64> {
    let (old, new) = (
        stored?.per_operation.get(name)?,
        counts.per_operation.get(name)?,
    );
    Some((new / old - 1.0) * 100.0)
}

/// Returns the cases that changed or have no stored count, with the change.
fn off<'a>(counts: &'a Counts, stored: Option<&Counts>) -> Vec<(&'a str, f64)> {
    let changes = counts.per_operation.keys().map(|name| {
        let change = change(counts, stored, name);
        (name.as_str(), change.unwrap_or(f64::INFINITY))
    });
    changes
        .filter(|(_, change)| change.abs() > TOLERANCE * 100.0)
        .collect()
}

/// Renders the table, for a terminal and for docs/benchmarks.md; with changes where counts are
/// stored.
pub fn table(counts: &Counts, stored: Option<&Counts>, is_markdown: bool) -> String {
    let rows = NAMES.iter().filter_map(|(_, name)| {
        let count = *counts.per_operation.get(*name)?;
        let change = change(counts, stored, name).map(|change| format!("{change:+.1} %"));
        let cells = [Some((*name).to_owned()), Some(thousands(count)), change];
        Some(cells.into_iter().flatten().collect())
    });
    let head = ["case", "instructions per operation", "change"];
    let columns = head.len() - usize::from(stored.is_none());
    lay_out(&head[..columns], &rows.collect::<Vec<_>>(), is_markdown)
}

#[cfg(test)]
mod tests {
    use super::*;
    use filestone_workload::operation::OpKind;
    use filestone_workload::time::Timestamp;

    fn counts(null: f64) -> Counts {
        Counts {
            compiler: "rustc".into(),
            per_operation: BTreeMap::from([("NULL ×1".to_owned(), null)]),
        }
    }

    #[test]
    fn what_is_more_than_three_per_cent_off_is_told() {
        let stored = counts(1000.0);
        assert!(off(&counts(1029.0), Some(&stored)).is_empty());
        assert!(off(&counts(971.0), Some(&stored)).is_empty());
        assert_eq!(off(&counts(1031.0), Some(&stored)).len(), 1);
        assert_eq!(off(&counts(900.0), Some(&stored)).len(), 1);
        assert_eq!(off(&counts(1000.0), None).len(), 1);
    }

    #[test]
    fn the_count_is_that_of_callgrind() {
        let said = "==7== Events    : Ir\n==7== Collected : 16204800\n==7== \n";
        assert_eq!(collected(said), Some(16_204_800.0));
        assert_eq!(collected("==7== Collected : 0\n"), None);
        assert_eq!(collected("valgrind: No such file"), None);
    }

    #[test]
    fn the_number_of_operations_is_that_of_the_cases() {
        assert_eq!(OPERATIONS, cases::OPERATIONS as f64);
    }

    #[test]
    fn every_probe_ends_when_all_its_operations_have() {
        for (kind, in_flight) in [
            (OpKind::Null, 1),
            (OpKind::Null, 128),
            (OpKind::GetAttr, 32),
            (OpKind::Read, 8),
        ] {
            let end = cases::probe(kind, in_flight).run();
            assert!(end.lost.is_none() && !end.is_interrupted);
            let rounds = cases::OPERATIONS / u64::from(in_flight);
            assert_eq!(
                end.window_end,
                Timestamp::from_nanos(rounds * 10_000),
                "{kind:?}"
            );
        }
    }

    #[test]
    fn every_probe_of_a_share_ends_when_all_its_operations_have() {
        for (kind, in_flight) in [(OpKind::Null, 1), (OpKind::Null, 32), (OpKind::Read, 8)] {
            let end = cases::share_probe(kind, in_flight).run();
            assert!(end.lost.is_none() && !end.is_interrupted);
            // The first response grants the credits for all others.
            let behind = u64::from(in_flight > 1);
            let rounds = cases::OPERATIONS / u64::from(in_flight) + behind;
            assert_eq!(
                end.window_end,
                Timestamp::from_nanos(rounds * 10_000),
                "{kind:?}"
            );
        }
    }

    #[test]
    fn every_line_is_as_expected() {
        let mut lines = cases::lines();
        lines.execute(cases::OPERATIONS);
        assert_eq!(lines.carried_out, cases::OPERATIONS);
        lines.clean_up();
    }

    #[test]
    fn every_sample_is_counted() {
        let mut recorder = cases::record(cases::recorder());
        assert_eq!(recorder.buffer().counts.ok_in_window, cases::OPERATIONS);
    }

    #[test]
    fn the_stored_counts_have_every_case() {
        let stored = stored().expect("it can be read");
        for profile in [PACKAGED, RELEASE] {
            for (_, name) in NAMES {
                assert!(
                    stored[profile].per_operation.contains_key(name),
                    "{profile}: {name}"
                );
            }
        }
    }
}
