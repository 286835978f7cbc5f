//! `filestone merge`: merges records of simultaneous runs on several hosts into one.

use crate::error::Error;
use crate::execution::output_directory::{OnExistingDirectory, OutputDirectory};
use crate::execution::verdict::{FailingCaveats, exit_of};
use crate::inputs::record_file;
use crate::options::merge::MergeOptions;
use crate::options::run_report::RunFormat;
use crate::planning::gates::with_gates;
use crate::{ExitStatus, console};
use filestone_control::job::{HostRun, IncompatibleRuns, merge_independent};
use filestone_measure::measure::{RunRecord, gates, validity};
use filestone_report::document::page::Detail;
use filestone_report::{json, text};
use std::path::Path;

/// Reads the records, merges them and prints the result.
pub fn run(options: &MergeOptions) -> Result<ExitStatus, Error> {
    let mut runs = Vec::new();
    for (part, path) in (0..).zip(&options.records) {
        let name = path.display().to_string();
        runs.push(HostRun::independent(name, part, read(path)?));
    }
    let mut merged = merge_independent(&runs).map_err(|error| explained(&error))?;
    if !options.gates.fail_if.is_empty() {
        merged.plan = with_gates(merged.plan, &options.gates)?;
        merged.gates = gates::evaluate(&merged);
    }
    if let Some(path) = &options.output {
        let directory = OutputDirectory::claim(path, OnExistingDirectory::Refuse)?;
        let written = directory.write(&merged, "png");
        written.map_err(|error| error.error)?;
    }
    console::result(&match options.format {
        RunFormat::Text => text::render(&merged, Detail::Whole, console::page()),
        RunFormat::Json => json::render(&merged)?,
    })?;
    console::caveats(&merged);
    Ok(exit_of(&merged, &FailingCaveats::None))
}

/// Reads the only record of a host.
fn read(path: &Path) -> Result<RunRecord, Error> {
    let mut records = record_file::read_records(path)?;
    match (records.pop(), records.is_empty()) {
        (Some(record), true) if validity::counts(&record) => Ok(record),
        (Some(record), true) => Err(Error::usage(format!(
            "{}: this run does not count ({})",
            path.display(),
            validity::reasons(&record).join("; ")
        ))
        .with_help("a job is made of runs that count; `filestone help validity` has the rules")),
        _ => Err(Error::usage(format!(
            "{}: this is not one run",
            path.display()
        ))),
    }
}

fn explained(error: &IncompatibleRuns) -> Error {
    let help = match error {
        IncompatibleRuns::One => "name the record of each host",
        IncompatibleRuns::Workload { .. } | IncompatibleRuns::Alone { .. } => {
            "look at such runs one by one (filestone report)"
        }
        IncompatibleRuns::Tool { .. } => "run the same filestone on all hosts",
        IncompatibleRuns::Plan { .. } => {
            "compare tells two runs apart; a job asks the same on all hosts"
        }
        IncompatibleRuns::Seed { .. } => "give each host a different --seed",
        IncompatibleRuns::SamePart { .. } => "name the record of each part once",
        IncompatibleRuns::SameRun { .. } => "name the record of each host once, and no copy of it",
        IncompatibleRuns::Time { .. } => "start them together, and keep the hosts' clocks (chrony)",
        IncompatibleRuns::Merge(_) => "look at the record alone (filestone report)",
    };
    Error::usage(error.to_string()).with_help(help)
}
