//! `--repeat`: several runs of the same jobs, and their differences.

use super::caveat_summary::CaveatSummary;
use super::live::RowStream;
use super::output_directory::{OnExistingDirectory, OutputDirectory, write_synced};
use super::rounds::{Rounds, RoundsEnd, StopRule};
use super::verdict::FailingCaveats;
use super::views::RunObservers;
use super::{LoadedPlan, Presentation, interruption, refuse_steered};
use crate::ExitStatus;
use crate::console::{self, StdoutState};
use crate::error::Error;
use crate::inputs::record_file::REPEATS_FILE;
use crate::options::run_report::RunFormat;
use filestone_measure::comparison::repeats::RepeatPlan;
use filestone_measure::measure::RunRecord;
use filestone_report::repeats::{self, Repeats};
use filestone_report::{html, json, text};
use std::path::{Path, PathBuf};

/// Runs `jobs` repeatedly, and prints the differences between the runs.
pub fn execute(
    jobs: &[LoadedPlan],
    show: &Presentation<'_>,
    wanted: &RepeatPlan,
) -> Result<ExitStatus, Error> {
    refuse_steered(jobs, "--repeat")?;
    let failing = FailingCaveats::parse(show.report.fail_on_caveat.as_deref())?;
    let places = Places::claim(jobs, show.report.output.as_deref())?;
    let stop = interruption::stop_flag()?;
    let views = RunObservers::open(&show.report.live, jobs.iter().map(|job| &job.plan))?;
    let mut repeated = Repeated {
        show,
        wanted,
        root: places.root,
        layers: jobs
            .iter()
            .map(|job| job.plan.target.layer().to_string())
            .collect(),
        records: vec![vec![]; jobs.len()],
        repeats: Repeats::new(jobs.iter().map(|job| &job.plan), wanted),
        partial: None,
    };
    let rounds = Rounds {
        jobs,
        wanted,
        seed: jobs.first().map_or(0, |job| job.plan.seed),
        calibration: show.calibration,
        places: &places.of_jobs,
        existing: OnExistingDirectory::Refuse,
        mark: show.report.report_interval,
        rows: match show.report.format {
            RunFormat::Text => RowStream::Output,
            RunFormat::Json => RowStream::Error,
        },
        failing: &failing,
        stop: &stop,
        views: &views,
    };
    let RoundsEnd {
        end,
        exit,
        worst,
        error,
        partial,
        order,
    } = rounds.run(&mut repeated);
    (
        repeated.repeats.end,
        repeated.repeats.order,
        repeated.partial,
    ) = (end, order, partial);
    let shown = repeated.finish();
    if repeated.runs() > 0 {
        views.offer(|| html::of_repeats(&repeated.repeats));
    }
    views.close(show.report.output.as_deref(), &stop);
    // The first error is reported first.
    if let Some(error) = error {
        return Err(error);
    }
    match (exit, shown?) {
        (ExitStatus::Interrupted, StdoutState::Gone) => Ok(ExitStatus::Done),
        (exit, _) => Ok(exit.max(worst)),
    }
}

/// Directories of the records.
struct Places {
    root: Option<PathBuf>,
    of_jobs: Vec<Option<PathBuf>>,
    /// Excludes other processes from the directory.
    _held: Option<OutputDirectory>,
}

impl Places {
    /// Claims `path` itself, or a directory in it for each of several jobs.
    fn claim(jobs: &[LoadedPlan], path: Option<&Path>) -> Result<Self, Error> {
        let Some(path) = path else {
            return Ok(Self {
                root: None,
                of_jobs: vec![None; jobs.len()],
                _held: None,
            });
        };
        // Checks before the first run that the directory can be written.
        let held = OutputDirectory::claim(path, OnExistingDirectory::Refuse)?;
        let of_job = |(number, job): (usize, &LoadedPlan)| match jobs.len() {
            1 => Some(path.to_owned()),
            _ => Some(path.join(format!("{}-{}", number + 1, job.plan.target.layer()))),
        };
        Ok(Self {
            root: Some(path.to_owned()),
            of_jobs: jobs.iter().enumerate().map(of_job).collect(),
            _held: Some(held),
        })
    }
}

/// Completed runs and their summary.
struct Repeated<'run> {
    show: &'run Presentation<'run>,
    wanted: &'run RepeatPlan,
    root: Option<PathBuf>,
    /// Layer of each job.
    layers: Vec<String>,
    /// Complete runs of each job.
    records: Vec<Vec<RunRecord>>,
    repeats: Repeats,
    /// The incomplete run.
    partial: Option<RunRecord>,
}

impl StopRule for Repeated<'_> {
    /// All jobs continue until all are precise enough, because they will be compared.
    fn wants_more(&self, _: usize) -> bool {
        !self.repeats.are_enough()
    }

    fn expected_runs(&self, _: usize) -> u32 {
        self.repeats.expected_runs()
    }

    /// Returns the number and the layer of a job.
    fn thing(&self, thing: usize) -> String {
        let layer = self.layers.get(thing).map_or("", String::as_str);
        format!("{}: {layer}", thing + 1)
    }

    /// Returns the name, such as `repeat 3 of 10`.
    fn name(&self, _: usize, round: usize) -> String {
        let most = self.wanted.most;
        let of = match self.wanted.until {
            None => format!("of {most}"),
            Some(_) => format!("of about {} (at most {most})", self.repeats.expected_runs()),
        };
        format!("repeat {} {of}", round + 1)
    }

    fn count(&mut self, thing: usize, record: RunRecord) {
        self.repeats.series[thing].add(&record);
        self.records[thing].push(record);
    }

    fn goes_on_without(&mut self, _: usize, _: &str) -> bool {
        false
    }
}

impl Repeated<'_> {
    /// Returns the number of complete runs.
    fn runs(&self) -> usize {
        self.records.iter().map(Vec::len).sum()
    }

    /// Stores and prints the summary of all runs.
    fn finish(&self) -> Result<StdoutState, Error> {
        let runs = self.runs();
        if let (0, Some(partial)) = (runs, &self.partial) {
            console::caveats(partial);
            return match self.show.report.format {
                RunFormat::Text => {
                    console::result(&text::render(partial, self.show.detail, console::page()))
                }
                RunFormat::Json => console::result(&json::document(&[partial])?),
            };
        }
        if runs == 0 {
            return Ok(StdoutState::Present);
        }
        let shown = match self.show.report.format {
            RunFormat::Text => {
                console::result(&repeats::report(&self.repeats).text(console::page()))
            }
            RunFormat::Json => {
                let all: Vec<&RunRecord> = self.records.iter().flatten().collect();
                console::result(&json::document(&all)?)
            }
        };
        let mut caveats = CaveatSummary::default();
        self.records
            .iter()
            .flatten()
            .for_each(|record| caveats.add(record));
        caveats.tell();
        if let Some(root) = &self.root {
            let path = root.join(REPEATS_FILE);
            let document = json::document(&repeats::document(&self.repeats))?;
            write_synced(&path, &document).map_err(|error| Error::file(&path, &error))?;
            let path = root.join(html::FILE);
            let page = html::of_repeats(&self.repeats)?;
            std::fs::write(&path, page).map_err(|error| Error::file(&path, &error))?;
        }
        shown
    }
}
