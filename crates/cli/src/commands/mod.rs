//! Commands: each turns options into a plan and selects a report. No command measures, schedules or
//! encodes.

pub mod ab;
pub mod calibrate;
pub mod check;
pub mod compare;
pub mod completions;
pub mod cookbook;
pub mod demo;
pub mod doctor;
pub mod explain;
pub mod fleet;
pub mod fleet_addresses;
pub mod fleet_ctl;
pub mod help;
pub mod history;
pub mod inner;
pub mod ladder;
pub mod merge;
pub mod mix;
pub mod probe;
pub mod replay;
pub mod report;
pub mod run;
pub mod schema;
pub mod serve;
pub mod sweep;

use crate::error::Error;
use crate::{ExitStatus, console};

/// Prints the output of `filestone` alone: the two commands to try, and further documentation.
pub fn short_help() -> Result<ExitStatus, Error> {
    console::result(&crate::command().render_help().ansi().to_string())?;
    Ok(ExitStatus::Done)
}
