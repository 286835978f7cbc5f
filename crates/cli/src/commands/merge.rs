//! `filestone merge`: records of runs that several hosts made at the same time, as one.

use crate::error::Error;
use crate::execution::output_directory::{Existing, OutputDirectory};
use crate::execution::verdict::{FailingCaveats, exit_of};
use crate::inputs::record_file;
use crate::options::merge::MergeOptions;
use crate::options::run_report::RunFormat;
use crate::planning::gates::with_gates;
use crate::report::parts::page::Detail;
use crate::report::{json, text};
use crate::{Exit, console};
use filestone_model::job::{HostRun, NotOneJob, merge_by_hand};
use filestone_model::measure::{RunRecord, gates, validity};
use std::path::Path;

/// Reads the records, merges them and shows what they come to.
pub fn run(options: &MergeOptions) -> Result<Exit, Error> {
    let mut runs = Vec::new();
    for (part, path) in (0..).zip(&options.records) {
        let name = path.display().to_string();
        runs.push(HostRun::by_hand(name, part, read(path)?));
    }
    let mut merged = merge_by_hand(&runs).map_err(|error| explained(&error))?;
    if !options.gates.fail_if.is_empty() {
        merged.plan = with_gates(merged.plan, &options.gates)?;
        merged.gates = gates::judge(&merged);
    }
    if let Some(path) = &options.output {
        let directory = OutputDirectory::claim(path, Existing::Refuse)?;
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

/// The one record of a host.
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

fn explained(error: &NotOneJob) -> Error {
    let help = match error {
        NotOneJob::One => "name the record of each host",
        NotOneJob::Workload { .. } | NotOneJob::Alone { .. } => {
            "look at such runs one by one (filestone report)"
        }
        NotOneJob::Tool { .. } => "run the same filestone on all hosts",
        NotOneJob::Plan { .. } => "compare tells two runs apart; a job asks the same on all hosts",
        NotOneJob::Seed { .. } => "give each host a --seed of its own",
        NotOneJob::SamePart { .. } => "name the record of each part once",
        NotOneJob::SameRun { .. } => "name the record of each host once, and no copy of it",
        NotOneJob::Time { .. } => "start them together, and keep the hosts' clocks (chrony)",
        NotOneJob::Merge(_) => "look at the record alone (filestone report)",
    };
    Error::usage(error.to_string()).with_help(help)
}
