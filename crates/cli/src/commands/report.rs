//! `filestone report`: any report of a stored record.

use crate::error::Error;
use crate::execution::{sweep, sweep_directory};
use crate::inputs::record_file;
use crate::options::ReportOptions;
use crate::options::ladder::LadderFormat;
use crate::options::sweep::SweepFormat;
use crate::planning::gates::with_gates;
use crate::{ExitStatus, advice, console};
use clap::ValueEnum;
use filestone_measure::measure::RunRecord;
use filestone_measure::measure::gates::{evaluate, has_failed};
use filestone_plan::gate::GatesPlan;
use filestone_report::sweep::SweepKind;
use filestone_report::{html, json, layers, picture};
use std::path::Path;

/// Reads the record and prints the report; caveats go to standard error.
pub fn run(options: &ReportOptions) -> Result<ExitStatus, Error> {
    let report = filestone_report::named(&options.format).ok_or_else(|| {
        Error::usage(format!(
            "--format {}: there is no such report",
            options.format
        ))
    })?;
    let page = console::page();
    for kind in [SweepKind::Options, SweepKind::Ladder] {
        if let Some(document) = sweep_directory::document_at(&options.record, kind) {
            return of_sweep(options, &document, kind);
        }
    }
    let records = read(options)?;
    for record in &records {
        if let Err(contradiction) = record.check() {
            console::note(&format!(
                "{}: this record contradicts itself: {contradiction}",
                options.record.display()
            ));
        }
    }
    match (records.as_slice(), report.name) {
        ([record], _) => {
            console::result(&(report.render)(report, record, page, advice::of)?)?;
        }
        (records, "json") => {
            console::result(&json::document(&records)?)?;
        }
        (records, "html") => {
            console::result(&html::of_records(records, advice::of)?)?;
        }
        (records, "svg") => {
            let picture = layers::picture::picture(records).ok_or_else(|| {
                Error::usage(format!(
                    "{}: these are not replays on several layers, so there is no picture of all",
                    options.record.display()
                ))
            })?;
            console::result(&picture::render(&picture))?;
        }
        (records, "text") => {
            for record in records {
                console::result(&format!(
                    "{}\n",
                    (report.render)(report, record, page, advice::of)?
                ))?;
            }
            console::result(&layers::report(records).text(page))?;
        }
        (records, name) => return Err(too_many(options, records.len(), name)),
    }
    if report.name == "text" {
        let caveats = |record: &RunRecord| console::caveats(record);
        records.iter().for_each(caveats);
    }
    let is_judged = !options.gates.fail_if.is_empty();
    if is_judged && report.name != "text" {
        records.iter().for_each(console::failed_gates);
    }
    if is_judged && records.iter().any(has_failed) {
        return Ok(ExitStatus::CaveatFailure);
    }
    Ok(ExitStatus::Done)
}

/// Prints a sweep in the requested form.
fn of_sweep(
    options: &ReportOptions,
    document: &Path,
    kind: SweepKind,
) -> Result<ExitStatus, Error> {
    let format = match kind {
        SweepKind::Ladder => {
            let forms = "text, json, csv, svg and html";
            form_of::<LadderFormat>(options, kind.noun(), forms)?.into()
        }
        SweepKind::Options | SweepKind::ReadStudy => {
            let forms = "text, json, csv, gnuplot, svg and html";
            form_of::<SweepFormat>(options, kind.noun(), forms)?
        }
    };
    let swept = sweep_directory::read_with_runs(document, kind)?;
    console::result(&sweep::render(&swept, format, console::page())?)?;
    Ok(ExitStatus::Done)
}

/// Returns the requested form, if a `noun`, which consists of many runs, has it.
fn form_of<F: ValueEnum>(options: &ReportOptions, noun: &str, forms: &str) -> Result<F, Error> {
    let shown = options.record.display();
    let format = F::from_str(&options.format, false).map_err(|_| {
        Error::usage(format!(
            "{shown}: this is a {noun}; --format {} is of a run",
            options.format
        ))
        .with_help(format!("of a {noun} there are {forms}"))
    })?;
    if options.gates.fail_if.is_empty() {
        return Ok(format);
    }
    let help = match noun {
        "sweep" => {
            "behind the -- of sweep they are of each run; report DIR/POINT/001 takes them, too"
        }
        _ => "report DIR/RUNG/001 takes them",
    };
    Err(Error::usage(format!(
        "--fail-if: {shown} is a {noun}, and gates are of runs"
    ))
    .with_help(help))
}

/// Reads the records; gates of the command line replace their own.
fn read(options: &ReportOptions) -> Result<Vec<RunRecord>, Error> {
    let mut records = record_file::read_records(&options.record)?;
    if options.gates.fail_if.is_empty() {
        return Ok(records);
    }
    for record in &mut records {
        let mut plan = record.plan.clone();
        plan.gates = GatesPlan::default();
        record.plan = with_gates(plan, &options.gates)?;
        record.gates = evaluate(record);
    }
    Ok(records)
}

fn too_many(options: &ReportOptions, count: usize, name: &str) -> Error {
    Error::usage(format!(
        "{}: there are {count} records in it; --format {name} is about one",
        options.record.display()
    ))
    .with_help(
        "text, json, svg and html take several; --output DIR keeps each in a directory of its own",
    )
}
