//! Tasks for developers of the project: `cargo xtask --help` lists them.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, clippy::print_stderr)] // a chore talks to the one who started it

mod dist;
mod fuzz;
mod loads;
mod man;
mod tidy;

use anyhow::{Context, Result};
use clap::{Parser, Subcommand};
use filestone_interop::interrupted;
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
    #[command(flatten)]
    Bench(filestone_benches::Command),
    /// Make packages, and check them: install, run and remove them.
    Dist(dist::Dist),
    #[command(flatten)]
    Interop(filestone_interop::Command),
    /// Run every fuzz target briefly, where the toolchain allows.
    Fuzz(fuzz::Fuzz),
    /// Generate the man pages and JSON schemas from the definitions of options and types.
    Man(man::Man),
    /// Generate the built-in loads from their models.
    Loads(loads::Loads),
    /// Accept changed snapshots; read the diff before committing it.
    Bless,
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

/// Runs a command. Returns whether everything was in order.
fn run(chore: &Chore) -> Result<bool> {
    match chore {
        Chore::Tidy => tidy::run(),
        Chore::Bench(command) => command.run(),
        Chore::Dist(options) => dist::run(options),
        Chore::Interop(command) => command.run(),
        Chore::Fuzz(options) => fuzz::run(options),
        Chore::Man(options) => man::run(options),
        Chore::Loads(options) => loads::run(options),
        Chore::Bless => bless(),
    }
}

/// Runs the tests and accepts every new snapshot.
fn bless() -> Result<bool> {
    let status = Command::new("cargo")
        .args(["test", "--workspace", "--quiet"])
        .args(["--features", "xtask/chores"])
        .env("INSTA_UPDATE", "always")
        .env("INSTA_FORCE_PASS", "1")
        .current_dir(filestone_interop::root())
        .status()
        .context("cargo did not start")?;
    println!("snapshots are as the code has it now; `git diff` shows what changed");
    Ok(status.success())
}
