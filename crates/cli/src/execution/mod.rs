//! Executes plans and reports the results: starts the built-in server for plans that name no host,
//! runs the plans one after the other, writes the directory, prints, warns and chooses the exit
//! code.

pub mod ab;
mod caveat_summary;
#[cfg(feature = "mpi")]
pub mod hosts;
pub mod interruption;
pub mod live;
mod metrics_observer;
pub mod output_directory;
pub mod repeats;
pub mod rounds;
pub mod server_command;
pub mod sweep;
pub mod sweep_directory;
pub mod verdict;
pub mod views;

#[cfg(test)]
mod tests;

use crate::console::{self, StdoutState};
use crate::error::Error;
use crate::execution::live::{Live, RowStream};
use crate::execution::output_directory::{LayersPicture, OnExistingDirectory, OutputDirectory};
use crate::execution::verdict::{FailingCaveats, exit_of};
use crate::execution::views::RunObservers;
use crate::inputs::credentials::DefaultCredentials;
use crate::inputs::loads::{self, Named};
use crate::options::run_report::{RunFormat, RunReportOptions};
use crate::planning::{self, Environment};
use crate::{ExitStatus, advice, built_in, protocols};
use filestone_engine::calibrate::{CalibrationLength, calibrate};
use filestone_host::control::{JobController, NoObserver, Observer, RunContext};
use filestone_host::control_socket::SocketChoice;
use filestone_measure::measure::RunRecord;
use filestone_measure::measure::run_record::Headroom;
use filestone_plan::plan::Plan;
use filestone_report::document::page::Detail;
use filestone_report::mix::file_set;
use filestone_report::rows::Columns;
use filestone_report::{dbench, html, json, layers, replay, text};
use filestone_workload::load::Load;
use filestone_workload::password::Password;
use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A plan with the load files it names, parsed.
#[derive(Debug, Clone)]
pub struct LoadedPlan {
    /// Plan of the run.
    pub plan: Plan,
    /// Load files in the plan's order; empty for a probe.
    pub loads: Vec<Arc<Load>>,
    /// Password of the user that clients log on as, if there is one.
    pub password: Option<Password>,
    /// Socket through which a fleet is controlled while it runs.
    pub control_socket: SocketChoice,
}

impl LoadedPlan {
    /// Creates a job from a plan; load files that it names are read now.
    pub fn new(plan: Plan) -> Result<Self, Error> {
        let loads = match plan.replay() {
            Some(replay) => loads::of_plan(replay)?,
            None => vec![],
        };
        Ok(Self {
            plan,
            loads,
            password: None,
            control_socket: SocketChoice::Usual,
        })
    }

    /// Returns the jobs with the identity from the command line; plans that are only shown need no
    /// password.
    pub fn with_credentials(
        jobs: Vec<Self>,
        credentials: &DefaultCredentials,
        report: &RunReportOptions,
    ) -> Result<Vec<Self>, Error> {
        if report.dry_run {
            Ok(jobs)
        } else {
            Self::logging_on(jobs, credentials)
        }
    }

    /// Returns the jobs with the identity from the command line.
    pub fn logging_on(
        jobs: Vec<Self>,
        credentials: &DefaultCredentials,
    ) -> Result<Vec<Self>, Error> {
        let targets = jobs.iter().flat_map(|job| job.plan.targets());
        let password = credentials.password_for(targets)?;
        let jobs = jobs.into_iter().map(|job| Self {
            password: password.clone(),
            ..job
        });
        Ok(jobs.collect())
    }

    /// Creates replays of load files that have been read, on layers that support all of them.
    pub fn replays(plans: Vec<Plan>, loads: &[Named]) -> Result<Vec<Self>, Error> {
        let read: Vec<Arc<Load>> = loads.iter().map(|named| Arc::clone(&named.load)).collect();
        plans
            .iter()
            .try_for_each(|plan| loads::refuse(plan, &read))?;
        let jobs = plans.into_iter().map(|plan| Self {
            plan,
            loads: read.clone(),
            password: None,
            control_socket: SocketChoice::None,
        });
        Ok(jobs.collect())
    }
}

/// Output options of the results.
#[derive(Debug)]
pub struct Presentation<'command> {
    /// Output options of the command line.
    pub report: &'command RunReportOptions,
    /// Whether filestone is calibrated first.
    pub calibration: CalibrationMode,
    /// Level of detail of a replay's report.
    pub detail: Detail,
}

/// Jobs of a command, and how the results are shown.
#[derive(Debug)]
pub struct Measurement<'command> {
    /// Notes that are printed before the measurement.
    pub notes: Vec<String>,
    /// Jobs, run one after the other.
    pub jobs: Vec<LoadedPlan>,
    /// Output of the results.
    pub show: Presentation<'command>,
}

impl Measurement<'_> {
    /// Runs the jobs in turn and prints the results; a dry run prints the plans.
    pub fn execute(&self) -> Result<ExitStatus, Error> {
        self.notes.iter().for_each(|note| console::note(note));
        execute(&self.jobs, &self.show)
    }
}

/// Whether filestone's own ceiling is measured before the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CalibrationMode {
    /// Calibrate for less than a second, then run.
    First,
    /// Do not calibrate; the record has no headroom.
    Omit,
}

impl CalibrationMode {
    /// Returns [`First`](Self::First), unless the command line disables calibration.
    pub const fn unless(is_omitted: bool) -> Self {
        if is_omitted { Self::Omit } else { Self::First }
    }
}

fn execute(jobs: &[LoadedPlan], show: &Presentation<'_>) -> Result<ExitStatus, Error> {
    if show.report.dry_run {
        let plans: Vec<&Plan> = jobs.iter().map(|job| &job.plan).collect();
        console::result(&match plans.as_slice() {
            [plan] => json::document(plan)?,
            plans => json::document(&plans)?,
        })?;
        return Ok(ExitStatus::Done);
    }
    if let Some(wanted) = planning::repeats::plan(&show.report.repeat)? {
        return repeats::execute(jobs, show, &wanted);
    }
    let failing = FailingCaveats::parse(show.report.fail_on_caveat.as_deref())?;
    let output = show.report.output.as_deref();
    let layers = output.filter(|_| jobs.len() > 1);
    let layers = layers.map(LayersPicture::claim).transpose()?;
    let directories = claim(jobs, output)?;
    let stop = interruption::stop_flag()?;
    let views = RunObservers::open(&show.report.live, jobs.iter().map(|job| &job.plan))?;
    let mut records = Vec::new();
    let mut ended = Ok(StdoutState::Present);
    for (job, directory) in jobs.iter().zip(&directories) {
        if ended != Ok(StdoutState::Present) || stop.load(Ordering::Relaxed) {
            continue;
        }
        ended = run_one(job, directory.as_ref(), show, &stop, &views).and_then(|(record, kept)| {
            let shown = show_one(&record, kept, show, jobs.len());
            records.push(record);
            shown
        });
    }
    let drawn = layers.map_or(Ok(()), |layers| layers.write(&records));
    let shown = show_all(&records, show.report.format, jobs.len());
    if !records.is_empty() {
        views.offer(|| html::of_records(&records, advice::of));
    }
    views.close(output, &stop);
    let exits = records.iter().map(|record| exit_of(record, &failing));
    let exit = exits.max().unwrap_or(ExitStatus::Interrupted);
    drawn?;
    match (ended?, shown?, exit) {
        // This run was not ended by ^C but by the reader of its output, which closed the pipe.
        (StdoutState::Gone, _, ExitStatus::Interrupted)
        | (_, StdoutState::Gone, ExitStatus::Interrupted) => Ok(ExitStatus::Done),
        (_, _, exit) => Ok(exit),
    }
}

/// Rejects options before `--` that a command that measures the command behind `--` sets itself.
pub fn refuse_own(report: &RunReportOptions, command: &str) -> Result<(), Error> {
    let repeat = &report.repeat;
    let is_given = [
        ("--output", report.output.is_some()),
        (
            "--repeat",
            repeat.repeat.is_some() || repeat.repeat_until.is_some(),
        ),
        ("--format", report.format != RunFormat::Text),
        ("--dry-run", report.dry_run),
    ];
    let given = is_given.iter().find(|(_, is_given)| *is_given);
    let given = given.map(|(option, _)| *option);
    match given.or_else(|| report.live.first_given()) {
        None => Ok(()),
        Some(option) => Err(
            Error::usage(format!("{option} behind --: here it is {command}'s")).with_help(format!(
                "{command} has --output, --format and --live of its own, before the --"
            )),
        ),
    }
}

/// Rejects steered runs, whose figures cover several loads, for commands that compare runs.
pub fn refuse_steered(jobs: &[LoadedPlan], option: &str) -> Result<(), Error> {
    if jobs.iter().all(|job| job.plan.steering.is_none()) {
        return Ok(());
    }
    Err(Error::usage(format!(
        "{option}: the load of this run is steered, so its figures are of several loads"
    ))
    .with_help("measure at one load: --offered, or a closed loop"))
}

/// Claims the directories of the records: `path` itself, or one in it for each of several.
fn claim(jobs: &[LoadedPlan], path: Option<&Path>) -> Result<Vec<Option<OutputDirectory>>, Error> {
    let Some(path) = path else {
        return Ok(jobs.iter().map(|_| None).collect());
    };
    if let [_] = jobs {
        return Ok(vec![Some(OutputDirectory::claim(
            path,
            OnExistingDirectory::Refuse,
        )?)]);
    }
    let mut claimed: Vec<Option<OutputDirectory>> = Vec::new();
    for (number, job) in (1..).zip(jobs) {
        let name = format!("{number}-{}", job.plan.target.layer());
        let directory = OutputDirectory::claim(&path.join(name), OnExistingDirectory::Refuse)?;
        claimed.push(Some(directory));
    }
    Ok(claimed)
}

/// Result of filling a directory: the error, and whether the record is lost too.
type Kept = Result<(), crate::execution::output_directory::WriteError>;

fn run_one(
    job: &LoadedPlan,
    directory: Option<&OutputDirectory>,
    show: &Presentation<'_>,
    stop: &AtomicBool,
    views: &RunObservers,
) -> Result<(RunRecord, Kept), Error> {
    let stream = match show.report.format {
        RunFormat::Text => RowStream::Output,
        RunFormat::Json => RowStream::Error,
    };
    let live = match (show.report.report_interval, job.plan.replay()) {
        (Some(nanos), _) if nanos > 0 => Live::with_rows(stop, Columns::WithPercentiles, stream),
        (None, Some(_)) => {
            Live::with_progress(stop, dbench::rows(dbench::DbenchFormat::Five), stream)
                .announced(replay::announcement(&job.plan))
        }
        _ => Live::with_bar(stop, &job.plan),
    };
    let mut live = live.kept_in(directory);
    let record = views.measure("", job, show.calibration, stop, &mut live)?;
    let kept = match directory {
        Some(directory) => directory.write(&record, "png"),
        None => Ok(()),
    };
    Ok((record, kept))
}

/// Prints one record of `count`: its tables, unless it will be part of a document.
fn show_one(
    record: &RunRecord,
    kept: Kept,
    show: &Presentation<'_>,
    count: usize,
) -> Result<StdoutState, Error> {
    let page = console::page();
    let is_text = show.report.format == RunFormat::Text;
    let shown = if is_text {
        let mut printed = text::render(record, show.detail, page);
        if count > 1 {
            printed.push('\n');
        }
        console::result(&printed)
    } else {
        Ok(StdoutState::Present)
    };
    console::caveats(record);
    if !is_text {
        console::failed_gates(record);
    }
    if let Some(stays) = file_set::what_stays(record) {
        console::note(&stays);
    }
    if let Err(error) = kept {
        // The numbers must not be lost with the directory.
        if error.is_record_lost && is_text {
            console::result(&json::render(record)?)?;
        }
        return Err(error.error);
    }
    shown
}

/// Prints the results that need all records together; as JSON, all records.
fn show_all(records: &[RunRecord], format: RunFormat, count: usize) -> Result<StdoutState, Error> {
    match (format, records) {
        (_, []) => Ok(StdoutState::Present),
        (RunFormat::Json, [record]) if count == 1 => console::result(&json::render(record)?),
        (RunFormat::Json, records) => console::result(&json::document(&records)?),
        (RunFormat::Text, [_]) => Ok(StdoutState::Present),
        (RunFormat::Text, records) => {
            console::result(&layers::report(records).text(console::page()))
        }
    }
}

/// Runs a job, against the built-in server if its plan names no host; on all hosts, if this process
/// was started as one of many.
pub fn measure(
    job: &LoadedPlan,
    calibration: CalibrationMode,
    stop: &AtomicBool,
    observer: &mut dyn Observer,
) -> Result<RunRecord, Error> {
    #[cfg(feature = "mpi")]
    if hosts::are_many() {
        return hosts::measure(job, calibration, stop, observer);
    }
    measure_in(job, calibration, &mut RunContext::new(stop, observer))
}

/// Returns the combined plan of all processes of a run, for observers.
pub fn plan_of_all(plan: &Plan) -> Result<Cow<'_, Plan>, Error> {
    #[cfg(feature = "mpi")]
    if hosts::are_many() {
        return hosts::plan_of_all(plan).map(Cow::Owned);
    }
    Ok(Cow::Borrowed(plan))
}

/// Runs a job on this host, in a context that lacks only the job's own data.
fn measure_in(
    job: &LoadedPlan,
    calibration: CalibrationMode,
    context: &mut RunContext<'_>,
) -> Result<RunRecord, Error> {
    let plan = &job.plan;
    let is_by_calls = !plan.has_lines() && !plan.target.is_directory();
    let headroom = match calibration {
        CalibrationMode::First if is_by_calls => {
            context.preparing("measuring what filestone itself can do here");
            headroom(plan, context.stop)?
        }
        CalibrationMode::First | CalibrationMode::Omit => None,
    };
    let peers = built_in::Peers::of(plan, &job.loads, Environment::here().processors)?;
    // Borrowed for as long as the job.
    let controller: Option<&mut dyn JobController> = match &mut context.controller {
        Some(controller) => Some(&mut **controller),
        None => None,
    };
    let mut context = RunContext {
        cancellation: context.cancellation.clone(),
        controller,
        ..RunContext::new(context.stop, &mut *context.observer)
    }
    .with_password(job.password.as_ref())
    .with_control_socket(job.control_socket.clone());
    let job = filestone_engine::Job {
        plan,
        loads: &job.loads,
        built_in: peers.addresses(),
        headroom: headroom.as_ref(),
    };
    let mut record = filestone_engine::run(&job, protocols::known(), &mut context)?;
    record.headroom = headroom;
    Ok(record)
}

/// Measures filestone's capacity by the run's protocol with the same number in flight, against its
/// own server that is stopped before the run. `None` if it was interrupted, or if the server does
/// not support the protocol.
fn headroom(plan: &Plan, stop: &AtomicBool) -> Result<Option<Headroom>, Error> {
    let Some(target) = protocols::known().calibrated_like(&plan.target) else {
        return Ok(None);
    };
    let server = built_in::start_for_measurement(Environment::here().processors)?;
    let calibration = calibrate(
        &built_in::calibrated_against(&server, vec![target]),
        CalibrationLength::before(plan),
        &mut RunContext::new(stop, &mut NoObserver),
    )?;
    server.stop();
    let mut of_target = calibration.headroom.into_iter();
    Ok(of_target.next().filter(|_| !stop.load(Ordering::Relaxed)))
}
