//! Interleaved blocks of two servers: each block starts one of them, waits until it answers,
//! measures it and stops it. A server that does not start, or ends by itself, is an error and never
//! a sample.

use super::output_directory::{OnExistingDirectory, OutputDirectory, write_synced};
use super::rounds::{INVALID_MAX, pause};
use super::server_command::ServerCommand;
use super::verdict::{FailingCaveats, exit_of};
use super::views::RunObservers;
use super::{CalibrationMode, LoadedPlan, Measurement, interruption, refuse_own, refuse_steered};
use crate::console;
use crate::error::Error;
use crate::execution::live::Live;
use crate::inputs::record_file::AB_FILE;
use crate::options::ab::AbOptions;
use crate::options::run_report::DocumentFormat;
use crate::{ExitStatus, protocols};
use filestone_engine::doctor::answers;
use filestone_engine::protocols::ConnectTarget;
use filestone_host::error::ErrorCategory;
use filestone_measure::comparison::ab::{Arm, Trial, group};
use filestone_measure::comparison::repeats::plan_of_run;
use filestone_measure::comparison::{ComparedRun, ComparisonOptions, ComparisonVerdict};
use filestone_measure::measure::RunRecord;
use filestone_measure::measure::run_record::Headroom;
use filestone_measure::measure::validity::succeeded_in_nothing;
use filestone_report::ab::{AbEnd, AbReport, AbResult};
use filestone_report::comparison::ReadRun;
use filestone_report::json::RECORD_FILE;
use filestone_report::quantity::{duration_text, waiting_text};
use filestone_report::sanitize::printable;
use filestone_report::{html, json, repeats};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Exit code that makes `git bisect run` skip a commit.
const CANNOT_TELL: u8 = 125;
/// Timeout of one attempt to reach a server.
const LOOK_MAX: Duration = Duration::from_secs(2);
/// Pause between two such attempts.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Measures both servers in turn until it is clear which is better, and prints the result.
pub fn execute(measured: &Measurement<'_>, options: &AbOptions) -> Result<ExitStatus, Error> {
    let job = only_job(measured)?;
    measured.notes.iter().for_each(|note| console::note(note));
    let stop = interruption::stop_flag()?;
    let question =
        ComparisonOptions::new(&options.decide_by, options.tolerance, options.min_effect);
    // Checks before the first run that the directory can be written.
    let held = options.output.as_ref();
    let held = held.map(|path| OutputDirectory::claim(path, OnExistingDirectory::Refuse));
    let _held = held.transpose()?;
    let views = RunObservers::open(&options.live, [&job.plan])?;
    let mut blocks = Blocks {
        job,
        views: &views,
        options,
        calibration: measured.show.calibration,
        headroom: None,
        stop: &stop,
        began: Instant::now(),
        trial: Trial::new(question, options.power, u64::from(options.blocks / 2)),
        order: String::new(),
        invalid: vec![],
        base: vec![],
        new: vec![],
    };
    let ended = blocks.measure();
    let (end, error) = match ended {
        Ok(end) => (end, None),
        Err(error) if error.category == ErrorCategory::Usage => return Err(error),
        Err(error) => (AbEnd::Failed, Some(error)),
    };
    let shown = blocks.show(end);
    views.close(options.output.as_deref(), &stop);
    let failed = error.iter().chain(shown.as_ref().err());
    failed.for_each(console::error);
    let (Ok(verdict), None) = (shown, error) else {
        return Ok(ExitStatus::Code(CANNOT_TELL));
    };
    Ok(match verdict {
        _ if end == AbEnd::Interrupted => ExitStatus::Interrupted,
        ComparisonVerdict::Worse => ExitStatus::CaveatFailure,
        ComparisonVerdict::Better | ComparisonVerdict::NotWorse => ExitStatus::Done,
        ComparisonVerdict::Inconclusive => ExitStatus::Code(CANNOT_TELL),
    })
}

/// Returns the only job, which runs against both servers.
fn only_job<'run>(measured: &'run Measurement<'_>) -> Result<&'run LoadedPlan, Error> {
    refuse_steered(&measured.jobs, "ab")?;
    let [job] = measured.jobs.as_slice() else {
        return Err(Error::usage(
            "ab: only one thing can be measured of both, not several layers or plans",
        ));
    };
    let report = measured.show.report;
    refuse_own(report, "ab")?;
    let gates = &job.plan.gates;
    let is_held = [
        ("--fail-if", !gates.fail_if.is_empty()),
        ("--strict", gates.strict),
        ("--fail-on-caveat", report.fail_on_caveat.is_some()),
    ];
    if let Some((option, _)) = is_held.iter().find(|(_, is_held)| *is_held) {
        return Err(Error::usage(format!(
            "{option} behind --, or in the plan: no gate decides here, but which of both is better"
        ))
        .with_help(
            "leave it out; filestone report DIR/a/001 --fail-if holds one block to a gate",
        ));
    }
    if job.plan.target.is_built_in() {
        return Err(Error::usage(
            "ab: the command line names no target, so A and B would not be measured",
        )
        .with_help("name what they serve: --target nfs://localhost:20490/export"));
    }
    Ok(job)
}

/// The trial and its blocks.
struct Blocks<'run> {
    job: &'run LoadedPlan,
    options: &'run AbOptions,
    calibration: CalibrationMode,
    headroom: Option<Headroom>,
    stop: &'run AtomicBool,
    views: &'run RunObservers,
    began: Instant,
    trial: Trial,
    /// Arm of each block.
    order: String,
    /// Blocks that were repeated, with reasons.
    invalid: Vec<String>,
    base: Vec<ReadRun>,
    new: Vec<ReadRun>,
}

impl Blocks<'_> {
    fn measure(&mut self) -> Result<AbEnd, Error> {
        let contact = ConnectTarget {
            target: self.job.plan.target.clone(),
            connections: self.job.plan.connections.clone(),
            password: self.job.password.clone(),
        };
        for number in 0.. {
            for (half, pair) in group(self.seed(), number).chunks(2).enumerate() {
                let round = 2 * number + half as u64;
                let mut measured = vec![];
                for arm in pair {
                    let Some(run) = self.block(&contact, *arm, round)? else {
                        return Ok(AbEnd::Interrupted);
                    };
                    measured.push((*arm, run));
                }
                self.record(measured);
            }
            if self.trial.look() {
                break;
            }
        }
        Ok(match self.trial.found().verdict {
            ComparisonVerdict::Inconclusive => AbEnd::All,
            ComparisonVerdict::Worse | ComparisonVerdict::Better | ComparisonVerdict::NotWorse => {
                AbEnd::Clear
            }
        })
    }

    fn seed(&self) -> u64 {
        self.options.seed.unwrap_or(self.job.plan.seed)
    }

    /// Counts a pair.
    fn record(&mut self, measured: Vec<(Arm, ReadRun)>) {
        for (arm, run) in measured {
            match arm {
                Arm::A => self.base.push(run),
                Arm::B => self.new.push(run),
            }
        }
        if let (Some(base), Some(new)) = (self.base.last(), self.new.last()) {
            let judged = &self.options.decide_by;
            self.trial
                .add(&base.run.figures(judged), &new.run.figures(judged));
        }
    }

    /// Measures one block, repeated if its run does not count; `None` if it was interrupted.
    fn block(
        &mut self,
        contact: &ConnectTarget,
        arm: Arm,
        round: u64,
    ) -> Result<Option<ReadRun>, Error> {
        for _ in 0..INVALID_MAX {
            let Some(record) = self.run(contact, arm, round)? else {
                return Ok(None);
            };
            let run = ComparedRun::from(&record);
            let Some(why) = run.does_not_count() else {
                return self.keep(arm, &record, run).map(Some);
            };
            let block = format!(
                "block {}, {}: does not count ({why})",
                self.order.len() + 1,
                arm.name().to_uppercase()
            );
            console::aside(&format!("{block}, so it is made again\n"));
            self.invalid.push(block);
        }
        Err(Error::target(format!(
            "{}, {INVALID_MAX} times in a row",
            self.invalid.last().map_or("", String::as_str)
        ))
        .with_help("measure it by itself to see why; `filestone help validity` has the rules"))
    }

    /// Measures one run of a server that is started for it; `None` if it was interrupted.
    fn run(
        &mut self,
        contact: &ConnectTarget,
        arm: Arm,
        round: u64,
    ) -> Result<Option<RunRecord>, Error> {
        if !(self.order.is_empty() && self.invalid.is_empty()) {
            pause(Duration::from_nanos(self.options.pause), self.stop);
        }
        if self.stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let Some(mut server) = self.start(contact, arm)? else {
            return Ok(None);
        };
        let mut job = self.job.clone();
        job.plan.seed = self.seed();
        job.plan = plan_of_run(&job.plan, round);
        let mut live = Live::with_bar(self.stop, &job.plan).within(format!("{}: ", self.name(arm)));
        let name = self.name(arm);
        let views = self.views;
        let record = views.measure(&name, &job, self.calibration, self.stop, &mut live);
        // The status of a server that has ended by itself explains the error.
        if !self.options.switch
            && let Some(status) = server.ended()
        {
            return Err(self.failed(
                arm,
                &format!("ended while it was measured ({status})"),
                &mut server,
            ));
        }
        server.stop();
        let mut record = record?;
        match exit_of(&record, &FailingCaveats::None) {
            ExitStatus::Interrupted => return Ok(None),
            ExitStatus::DoesNotCount if !succeeded_in_nothing(&record) => {}
            exit if exit > ExitStatus::CaveatFailure => {
                return Err(self.failed(arm, "was lost, or nothing succeeded", &mut server));
            }
            _ => {}
        }
        self.calibration = CalibrationMode::Omit;
        match &self.headroom {
            Some(headroom) => record.headroom = Some(headroom.clone()),
            None => self.headroom.clone_from(&record.headroom),
        }
        Ok(Some(record))
    }

    /// Stores and prints a run that counts.
    fn keep(&mut self, arm: Arm, record: &RunRecord, run: ComparedRun) -> Result<ReadRun, Error> {
        let own = self.order.matches(arm.name()).count() + 1;
        let name = self.name(arm);
        self.order.push_str(arm.name());
        self.views.count(&arm.name().to_uppercase(), record);
        let path = match &self.options.output {
            None => PathBuf::from(format!("{} {own}", arm.name().to_uppercase())),
            Some(root) => {
                let path = root.join(arm.name()).join(format!("{own:03}"));
                OutputDirectory::claim(&path, OnExistingDirectory::Refuse)?
                    .keep(record, RECORD_FILE)?;
                path.join(RECORD_FILE)
            }
        };
        let done = self.order.len() as u64;
        let nanos = self.began.elapsed().as_nanos() as u64 / done;
        let left = nanos * self.expected().saturating_sub(done);
        let left = waiting_text(left);
        console::aside(&format!(
            "{name}: {}, about {left} left\n",
            repeats::line(record)
        ));
        Ok(ReadRun { path, run })
    }

    /// Returns the expected maximum number of blocks.
    fn expected(&self) -> u64 {
        2 * self.trial.planned()
    }

    /// Returns the name, such as `block 7 of about 24, b`.
    fn name(&self, arm: Arm) -> String {
        let (next, expected) = (self.order.len() + 1, self.expected());
        format!(
            "block {next} of about {expected}, {}",
            arm.name().to_uppercase()
        )
    }

    /// Starts a server, or sets it up, and waits until it answers; `None` if it was interrupted.
    fn start(&self, contact: &ConnectTarget, arm: Arm) -> Result<Option<ServerCommand>, Error> {
        let line = match arm {
            Arm::A => &self.options.base,
            Arm::B => &self.options.new,
        };
        let limit = Duration::from_nanos(self.options.ready_timeout);
        let within = duration_text(self.options.ready_timeout);
        if !self.options.switch && self.answers(contact).is_ok() {
            let error = Error::target(format!(
                "something answers at {} before {} is started, in block {}",
                contact.target,
                arm.name().to_uppercase(),
                self.order.len() + 1
            ));
            return Err(error.with_help(
                "end it, or choose another port; a command stays in the foreground, or sets something \
                 of a server that goes on (--switch)",
            ));
        }
        let mut server = ServerCommand::start(line)?;
        if self.options.switch {
            match server.wait(limit, self.stop) {
                _ if self.stop.load(Ordering::Relaxed) => return Ok(None),
                Some(status) if status.success() => server.release(),
                Some(status) => {
                    return Err(self.failed(arm, &format!("failed ({status})"), &mut server));
                }
                None => {
                    let what = format!("did not end within {within}");
                    return Err(self.failed(arm, &what, &mut server));
                }
            }
        }
        let end = Instant::now() + limit;
        while !self.stop.load(Ordering::Relaxed) {
            let Err(refused) = self.answers(contact) else {
                return Ok(Some(server));
            };
            if !self.options.switch
                && let Some(status) = server.ended()
            {
                return Err(self.failed(arm, &format!("did not start ({status})"), &mut server));
            }
            if Instant::now() >= end {
                let what = format!("does not answer within {within}: {refused}");
                return Err(self.failed(arm, &what, &mut server));
            }
            pause(LOOK_EVERY, self.stop);
        }
        Ok(None)
    }

    fn answers(&self, contact: &ConnectTarget) -> Result<(), String> {
        let found = answers(contact, protocols::known(), self.stop, LOOK_MAX);
        found.map_err(|error| error.to_string())
    }

    /// Returns the error of a server that failed, with its output.
    fn failed(&self, arm: Arm, what: &str, server: &mut ServerCommand) -> Error {
        let block = self.order.len() + 1;
        let name = arm.name().to_uppercase();
        let error = Error::target(format!("{name} {what}, in block {block}"));
        server.stop();
        match server.said() {
            said if said.is_empty() => error.with_help("it said nothing"),
            said => error.with_help(format!("it said: {}", printable(&said))),
        }
    }

    /// Stores and prints the result.
    fn show(self, end: AbEnd) -> Result<ComparisonVerdict, Error> {
        let (format, views) = (self.options.format, self.views);
        let found = AbResult {
            seed: self.seed(),
            planned: self.expected(),
            order: self.order,
            invalid: self.invalid,
            end,
            base: self.base,
            new: self.new,
            trial: self.trial,
        };
        if found.order.is_empty() {
            return Ok(ComparisonVerdict::Inconclusive);
        }
        let report = AbReport::of(found);
        let document = json::document(&report.document())?;
        console::result(&match format {
            DocumentFormat::Text => report.report().text(console::page()),
            DocumentFormat::Json => document.clone(),
        })?;
        if let Some(root) = &self.options.output {
            let path = root.join(AB_FILE);
            write_synced(&path, &document).map_err(|error| Error::file(&path, &error))?;
            let path = root.join(html::FILE);
            let page = html::of_ab(&report)?;
            std::fs::write(&path, page).map_err(|error| Error::file(&path, &error))?;
        }
        views.offer(|| html::of_ab(&report));
        Ok(report.compared.comparison.verdict)
    }
}
