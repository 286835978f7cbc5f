//! Benchmarks: the cost of filestone beside other programs, and the error rates of its statistics.

#![cfg(feature = "chores")]
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, clippy::print_stderr)] // a chore talks to the one who started it

mod bench;
mod cipher;
mod compare_tools;
mod coverage;
mod figures;
mod instructions;
mod objectives;
mod raw_client;
mod smb_exchange;
mod trials;

use anyhow::{Context, Result};
use clap::Subcommand;
use std::os::unix::process::CommandExt;

/// Commands of `cargo xtask`.
#[derive(Subcommand)]
pub enum Command {
    /// Measure what recording costs, beside a raw client.
    Bench(bench::Bench),
    /// Replay a load beside dbench and tbench, in turns.
    CompareTools(compare_tools::Versus),
    /// Count the instructions of the hot path.
    Instructions(instructions::Instructions),
    /// Search for loads against servers whose answer is known, with many seeds.
    Objectives(objectives::Objectives),
    /// Count how often intervals of figures hold what they should.
    Coverage(coverage::CoverageOptions),
    /// Count how often trials of two servers tell what is so, in simulated runs.
    Trials(trials::TrialsOptions),
    /// The least a program can do to exchange these bytes (part of bench).
    #[command(hide = true)]
    RawClient(raw_client::RawClient),
}

impl Command {
    /// Runs the command. Returns whether everything was in order.
    pub fn run(&self) -> Result<bool> {
        // The others compare the speed of code in this program, or compute for minutes.
        if cfg!(debug_assertions) && !matches!(self, Self::Instructions(_)) {
            return run_optimized();
        }
        match self {
            Self::Bench(options) => bench::run(options),
            Self::CompareTools(options) => compare_tools::run(options),
            Self::Instructions(options) => instructions::run(options),
            Self::Objectives(options) => Ok(objectives::run(options)),
            Self::Coverage(options) => coverage::run(options),
            Self::Trials(options) => Ok(trials::run(options)),
            Self::RawClient(options) => raw_client::run(options),
        }
    }
}

/// Replaces this process by the same command in a build with optimization. Returns only if that
/// fails.
fn run_optimized() -> Result<bool> {
    eprintln!("note: this chore runs in a release build of the chores");
    let error = std::process::Command::new("cargo")
        .args(["run", "--quiet", "--release", "--package", "xtask"])
        .args(["--features", "chores", "--"])
        .args(std::env::args_os().skip(1))
        .exec();
    Err(error).context("cargo did not start")
}
