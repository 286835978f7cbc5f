//! The project's own chores: `cargo xtask --help` lists them.

#![allow(clippy::print_stdout, clippy::print_stderr)] // a chore talks to the one who started it

mod bench;
mod exchange;
mod process;
mod processors;
mod raw_client;
mod tidy;

use anyhow::Result;
use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// The project's own chores.
#[derive(Parser)]
#[command(name = "cargo xtask", disable_version_flag = true)]
struct Options {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Check the walls that neither the compiler nor clippy holds.
    Tidy,
    /// Measure what recording costs, beside a raw client.
    Bench(bench::Bench),
    /// The least a program can do to exchange these bytes (part of bench).
    #[command(hide = true)]
    RawClient(raw_client::RawClient),
}

fn main() -> ExitCode {
    match run(&Options::parse().chore) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Whether the chore found everything in order.
fn run(chore: &Chore) -> Result<bool> {
    match chore {
        Chore::Tidy => tidy::run(),
        Chore::Bench(options) => bench::run(options),
        Chore::RawClient(options) => raw_client::run(options),
    }
}
