//! Scenarios against real servers and faults, and the child processes, run records and tables of
//! these scenarios, which benchmarks and chores use, too.

#![cfg(feature = "chores")]
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, clippy::print_stderr)] // a chore talks to the one who started it

pub mod exchange;
mod faults;
mod guest;
pub mod interrupted;
mod peers;
pub mod process;
pub mod processors;
pub mod record;
pub mod samba;
mod scenario;
pub mod table;
pub mod times;
pub mod tool;

use anyhow::Result;
use clap::Subcommand;
use std::path::PathBuf;

/// Commands of `cargo xtask`.
#[derive(Subcommand)]
pub enum Command {
    /// Run all 22 procedures, and some mishaps, against foreign servers.
    Interop(peers::Interop),
    /// Run probe, mix, replay and fleet against servers that are stopped, killed, full or slow.
    Faults(faults::Faults),
}

impl Command {
    /// Runs the command. Returns whether everything was in order.
    pub fn run(&self) -> Result<bool> {
        match self {
            Self::Interop(options) => peers::run(options),
            Self::Faults(options) => faults::run(options),
        }
    }
}

/// Returns the root of the workspace.
pub fn root() -> PathBuf {
    let folder = env!("CARGO_MANIFEST_DIR");
    let root = folder.strip_suffix("/tests/interop");
    root.expect("this package is in the workspace").into()
}
