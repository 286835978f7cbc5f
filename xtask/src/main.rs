//! Tasks for developers of the project: `cargo xtask --help` lists them.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, clippy::print_stderr)] // a chore talks to the one who started it

mod bench;
mod cipher;
mod compare_tools;
mod coverage;
mod dist;
mod exchange;
mod faults;
mod figures;
mod fuzz;
mod guest;
mod instructions;
mod interop;
mod interrupted;
mod loads;
mod man;
mod objectives;
mod process;
mod processors;
mod raw_client;
mod record;
mod samba;
mod scenario;
mod smb_exchange;
mod table;
mod tidy;
mod times;
mod tool;
mod trials;

use anyhow::{Context, Result};
use clap::{Parser, Subcommand};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

/// The project's own chores.
#[derive(Parser)]
#[command(name = "cargo xtask", disable_version_flag = true)]
struct Options {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Check the architecture rules that neither the compiler nor clippy holds.
    Tidy,
    /// Measure what recording costs, beside a raw client.
    Bench(bench::Bench),
    /// Replay a load beside dbench and tbench, in turns.
    CompareTools(compare_tools::Versus),
    /// Count the instructions of the hot path.
    Instructions(instructions::Instructions),
    /// Make packages, and check them: install, run and remove them.
    Dist(dist::Dist),
    /// Run all 22 procedures, and some mishaps, against servers that are not ours.
    Interop(interop::Interop),
    /// Run probe, mix and replay against servers that stand still, die, are full or slow.
    Faults(faults::Faults),
    /// Run every fuzz target briefly, where the toolchain allows.
    Fuzz(fuzz::Fuzz),
    /// Write the man pages and JSON schemas anew from the options' and types' definitions.
    Man(man::Man),
    /// Write the loads of our own anew from their models.
    Loads(loads::Loads),
    /// Search for loads against servers whose answer is known, with many seeds.
    Objectives(objectives::Objectives),
    /// Count how often intervals of figures hold what they should.
    Coverage(coverage::CoverageOptions),
    /// Count how often trials of two servers tell what is so, in simulated runs.
    Trials(trials::TrialsOptions),
    /// Accept changed snapshots; read the diff before committing it.
    Bless,
    /// The least a program can do to exchange these bytes (part of bench).
    #[command(hide = true)]
    RawClient(raw_client::RawClient),
}

fn main() -> ExitCode {
    let options = Options::parse();
    let outcome = interrupted::listen().and_then(|()| run(&options.chore));
    if let Some(code) = interrupted::exit_code() {
        return code;
    }
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

impl Chore {
    /// Whether the chore compares the speed of code in this program, or computes for minutes.
    fn needs_optimization(&self) -> bool {
        match self {
            Chore::Bench(_)
            | Chore::CompareTools(_)
            | Chore::Objectives(_)
            | Chore::Coverage(_)
            | Chore::Trials(_)
            | Chore::RawClient(_) => true,
            Chore::Tidy
            | Chore::Instructions(_)
            | Chore::Dist(_)
            | Chore::Interop(_)
            | Chore::Faults(_)
            | Chore::Fuzz(_)
            | Chore::Man(_)
            | Chore::Loads(_)
            | Chore::Bless => false,
        }
    }
}

/// Replaces this process by the same chore in a build with optimization. Returns only if that fails.
fn run_optimized() -> Result<bool> {
    eprintln!("note: this chore runs in a release build of the chores");
    let error = Command::new("cargo")
        .args(["run", "--quiet", "--release", "--package", "xtask"])
        .args(["--features", "chores", "--bin", "xtask", "--"])
        .args(std::env::args_os().skip(1))
        .exec();
    Err(error).context("cargo did not start")
}

/// Runs a command. Returns whether everything was in order.
fn run(chore: &Chore) -> Result<bool> {
    if cfg!(debug_assertions) && chore.needs_optimization() {
        return run_optimized();
    }
    match chore {
        Chore::Tidy => tidy::run(),
        Chore::Bench(options) => bench::run(options),
        Chore::CompareTools(options) => compare_tools::run(options),
        Chore::Instructions(options) => instructions::run(options),
        Chore::Dist(options) => dist::run(options),
        Chore::Interop(options) => interop::run(options),
        Chore::Faults(options) => faults::run(options),
        Chore::Fuzz(options) => fuzz::run(options),
        Chore::Man(options) => man::run(options),
        Chore::Loads(options) => loads::run(options),
        Chore::Objectives(options) => Ok(objectives::run(options)),
        Chore::Coverage(options) => coverage::run(options),
        Chore::Trials(options) => Ok(trials::run(options)),
        Chore::Bless => bless(),
        Chore::RawClient(options) => raw_client::run(options),
    }
}

/// Runs the tests and accepts every new snapshot.
fn bless() -> Result<bool> {
    let status = Command::new("cargo")
        .args(["test", "--workspace", "--quiet"])
        .args(["--features", "xtask/chores"])
        .env("INSTA_UPDATE", "always")
        .env("INSTA_FORCE_PASS", "1")
        .current_dir(tidy::root()?)
        .status()
        .context("cargo did not start")?;
    println!("snapshots are as the code has it now; `git diff` shows what changed");
    Ok(status.success())
}

#[cfg(test)]
mod tests {
    use crate::tool;
    use serde_json::Value;
    use std::process::Command;

    /// `cargo xtask` is `cargo run --package xtask`, and the package has a second program.
    #[test]
    fn cargo_runs_the_chores_by_default() {
        let asked = ["metadata", "--offline", "--no-deps", "--format-version=1"];
        let told = tool::text(Command::new("cargo").args(asked)).expect("cargo runs");
        let told: Value = serde_json::from_str(&told).expect("JSON");
        let packages = told["packages"].as_array().expect("packages");
        let chores = packages.iter().find(|package| package["name"] == "xtask");
        assert_eq!(chores.expect("this package")["default_run"], "xtask");
    }
}
