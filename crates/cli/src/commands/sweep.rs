//! `filestone sweep`: the same measurement over the values of one or two options, and the read
//! study.

use super::inner::{self, WrappedCommand};
use crate::error::Error;
use crate::execution::live::RowStream;
use crate::execution::sweep::{self, PlannedSweep};
use crate::execution::verdict::FailingCaveats;
use crate::execution::{Measurement, refuse_own, refuse_steered};
use crate::options::FilestoneCommand;
use crate::options::sweep::{SweepFormat, SweepOptions};
use crate::planning::read_study;
use crate::planning::sweep::{line_of_point, parameters};
use crate::{ExitStatus, console, protocols};
use filestone_engine::doctor::examine;
use filestone_engine::protocols::ConnectTarget;
use filestone_host::control::{NoObserver, RunContext};
use filestone_measure::sweep::read_study::{self as study, ReadLimits};
use filestone_measure::sweep::{PointTally, SweepParameter, SweepValue, name_of_point, points};
use filestone_plan::plan::missing_in;
use filestone_report::sweep::{SweepKind, SweepReport, SweptPoint};
use filestone_workload::text::bytes_text;
use std::sync::atomic::AtomicBool;

/// Command lines of the points.
struct PointLines {
    /// Words behind `--`, as shown.
    words: Vec<String>,
    parameters: Vec<SweepParameter>,
    /// Values of each point, and its command line.
    points: Vec<(Vec<SweepValue>, Vec<String>)>,
}

/// Plans every point, then measures all of them.
pub fn run(options: &SweepOptions) -> Result<ExitStatus, Error> {
    let lines = match &options.read_study {
        Some(target) => of_study(target, options)?,
        None => of_options(options)?,
    };
    let mut read: Vec<(String, Vec<String>, Box<FilestoneCommand>)> = vec![];
    for (point, line) in &lines.points {
        let name = name_of_point(&lines.parameters, point);
        match inner::read(line).map_err(|error| of_point(&name, error))? {
            WrappedCommand::Shown(exit) => return Ok(exit),
            WrappedCommand::Read(mut command) => {
                prepare(&mut command, options)?;
                read.push((name, line.clone(), command));
            }
        }
    }
    let mut planned = vec![];
    for ((name, line, command), (values, _)) in read.iter().zip(lines.points) {
        let measured = inner::measurement(command, line).map_err(|error| of_point(name, error))?;
        refuse_several(&measured)?;
        refuse_steered(&measured.jobs, "sweep")?;
        refuse_unread(&measured, options)?;
        planned.push((values, measured));
    }
    sweep::execute(planned_sweep(
        lines.words,
        lines.parameters,
        planned,
        options,
    )?)
}

/// Returns the sweep of these points, each with a measurement that has exactly one job.
fn planned_sweep<'run>(
    command: Vec<String>,
    parameters: Vec<SweepParameter>,
    planned: Vec<(Vec<SweepValue>, Measurement<'run>)>,
    options: &'run SweepOptions,
) -> Result<PlannedSweep<'run>, Error> {
    let Some((_, first)) = planned.first() else {
        return Err(Error::usage("--param: there is no point"));
    };
    let asked = first.show.report;
    let failing = FailingCaveats::parse(asked.fail_on_caveat.as_deref())?;
    let (calibration, notes) = (first.show.calibration, first.notes.clone());
    let (mut points, mut jobs) = (vec![], vec![]);
    for (values, measured) in planned {
        for job in measured.jobs {
            points.push(SweptPoint {
                values: values.clone(),
                plan: job.plan.clone(),
                tally: PointTally::new(options.figure),
                failed: None,
            });
            jobs.push(job);
        }
    }
    let (kind, wanted) = match options.read_study {
        None => (SweepKind::Options, options.rounds.plan_by_default()),
        Some(_) => {
            let wanted = options.rounds.plan(read_study::RUNS, read_study::PAUSE);
            (SweepKind::ReadStudy, wanted)
        }
    };
    let swept = SweepReport {
        command,
        parameters,
        seed: 0,
        wanted,
        kind,
        figure: options.figure,
        points,
        order: vec![],
        end: None,
        first: None,
    };
    Ok(PlannedSweep {
        swept,
        jobs,
        output: options.output.as_deref(),
        seed: options.seed,
        dry_run: options.dry_run,
        format: options.format,
        live: &options.live,
        calibration,
        notes,
        mark: asked.report_interval,
        rows: match options.format {
            SweepFormat::Text => RowStream::Output,
            _ => RowStream::Error,
        },
        failing,
    })
}

/// Returns the points of `--param`.
fn of_options(options: &SweepOptions) -> Result<PointLines, Error> {
    refuse_cost(options)?;
    let words = inner::words(&options.words);
    let parameters = parameters(&options.param, &words)?;
    let points = points(&parameters).map_err(|why| Error::usage(format!("--param: {why}")))?;
    let points = points.into_iter().map(|point| {
        let line = line_of_point(&words, &parameters, &point);
        (point, line)
    });
    Ok(PointLines {
        points: points.collect(),
        words,
        parameters,
    })
}

/// Rejects cost options before `--`, which apply to the read study only; with `--param` the inner
/// command takes them.
fn refuse_cost(options: &SweepOptions) -> Result<(), Error> {
    let is_given = options.cost.plan().is_some() || options.cost.without_readings().is_some();
    if !is_given {
        return Ok(());
    }
    Err(
        Error::usage("before -- stands what reads costs of the read study (--read-study)")
            .with_help(
                "of --param it stands behind --: sweep --param io-size=1,2 -- probe read TARGET --cost",
            ),
    )
}

/// Returns the points of `--read-study` within the server's limits.
fn of_study(target: &str, options: &SweepOptions) -> Result<PointLines, Error> {
    let more = &options.words;
    read_study::refuse(more)?;
    let limits = if options.dry_run {
        ReadLimits::UNKNOWN
    } else {
        limits(target, options)?
    };
    let points = study::points(limits).into_iter().map(|point| {
        let line = read_study::line_of_point(target, &point, more);
        (point, line)
    });
    let words = ["probe", "read", target].map(String::from).into_iter();
    Ok(PointLines {
        points: points.collect(),
        words: words.chain(more.iter().cloned()).collect(),
        parameters: study::parameters(limits),
    })
}

/// Queries over each transport the longest read that the server answers in full.
fn limits(target: &str, options: &SweepOptions) -> Result<ReadLimits, Error> {
    let mut limits = ReadLimits::UNKNOWN;
    for [getattr, transport] in study::asked() {
        let line = read_study::line_of_point(target, &[getattr, transport.clone()], &options.words);
        let WrappedCommand::Read(command) = inner::read(&line)? else {
            continue;
        };
        let measured = inner::measurement(&command, &line)?;
        let Some(job) = measured.jobs.into_iter().next() else {
            continue;
        };
        let contact = ConnectTarget {
            password: job.password,
            connections: job.plan.connections,
            target: job.plan.target,
        };
        let said = read_max(&contact)?;
        limits = limits.with(&transport.text, said);
        if said > 0 {
            let most = bytes_text(said);
            console::note(&format!(
                "over {} the server takes reads of up to {most}",
                transport.text
            ));
        }
    }
    Ok(limits)
}

/// Returns the longest read of a server in bytes; 0 if unknown.
fn read_max(contact: &ConnectTarget) -> Result<u64, Error> {
    let stop = AtomicBool::new(false);
    let mut unobserved = NoObserver;
    let mut context = RunContext::new(&stop, &mut unobserved);
    let found = examine(Some(contact), protocols::known(), &mut context);
    if let Some(failure) = found.failure {
        return Err(failure.into());
    }
    let facts = found.facts.target.and_then(|target| target.transfers);
    Ok(facts.map_or(0, |transfers| transfers.read_max_bytes))
}

/// Sets the sweep's options in each point's command.
fn prepare(command: &mut FilestoneCommand, options: &SweepOptions) -> Result<(), Error> {
    if let Some(report) = inner::report_options(command) {
        refuse_own(report, "sweep")?;
        // Plans that are only shown need no password.
        report.dry_run = options.dry_run;
    }
    if let (Some(_), FilestoneCommand::Probe(probe)) = (&options.read_study, command) {
        read_study::prepare(probe, &options.cost);
    }
    Ok(())
}

/// Rejects a figure that the runs do not measure.
fn refuse_unread(measured: &Measurement<'_>, options: &SweepOptions) -> Result<(), Error> {
    if options.figure.of_operations().is_some() {
        return Ok(());
    }
    let jobs = measured.jobs.iter();
    let mut missing = jobs.filter_map(|job| missing_in(&job.plan, options.figure));
    missing.next().map_or(Ok(()), |missing| {
        Err(
            Error::usage(format!("--figure {}: {}", options.figure, missing.reason))
                .with_help(missing.help),
        )
    })
}

fn of_point(name: &str, error: Error) -> Error {
    Error {
        message: format!("point {name}: {}", error.message),
        ..error
    }
}

fn refuse_several(measured: &Measurement<'_>) -> Result<(), Error> {
    match measured.jobs.as_slice() {
        [_] => Ok(()),
        several => Err(Error::usage(format!(
            "sweep: a point is one run, and this is {} of them, one for each layer",
            several.len()
        ))
        .with_help("--param on=local:,nfs: goes over layers")),
    }
}
