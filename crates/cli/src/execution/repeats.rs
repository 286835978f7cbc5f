//! Several runs of the same: each with connections and files of its own, a pause between them, and
//! what is measured in turn in random order. Only whole runs count.

use super::live::{Live, RowStream};
use super::output_directory::{Existing, OutputDirectory, write_synced};
use super::verdict::{FailingCaveats, exit_of};
use super::{Calibration, Job, Presentation, interruption, measure, refuse_steered};
use crate::Exit;
use crate::console::{self, Reader};
use crate::error::Error;
use crate::inputs::record_file::{RECORD_FILE, REPEATS_FILE};
use crate::options::run_report::RunFormat;
use crate::quantity::waiting_text;
use crate::report::repeats::{self, Repeats, RepeatsEnd};
use crate::report::rows::Columns;
use crate::report::{json, text};
use filestone_model::comparison::repeats::{RepeatPlan, order, plan_of_run};
use filestone_model::measure::RunRecord;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often it is looked whether a pause is to end early.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// The record of a run that does not count.
const UNFINISHED_FILE: &str = "unfinished.json";

/// Runs `jobs` again and again, and shows what the runs differ by.
pub fn execute(jobs: &[Job], show: &Presentation<'_>, wanted: &RepeatPlan) -> Result<Exit, Error> {
    refuse_steered(jobs, "--repeat")?;
    let failing = FailingCaveats::parse(show.report.fail_on_caveat.as_deref())?;
    let places = Places::claim(jobs, show.report.output.as_deref())?;
    let stop = interruption::stop_flag()?;
    let mut repeating = Repeating {
        jobs,
        show,
        wanted,
        places,
        stop: &stop,
        began: Instant::now(),
        records: vec![vec![]; jobs.len()],
        repeats: Repeats::new(jobs.iter().map(|job| &job.plan), wanted),
        partial: None,
    };
    let ended = repeating.measure();
    let shown = repeating.finish();
    let exits = repeating.records.iter().flatten();
    let worst = exits.map(|record| exit_of(record, &failing)).max();
    // What went wrong first is told first.
    let exit = ended?;
    let reader = shown?;
    match exit {
        Exit::Interrupted if reader == Reader::Gone => Ok(Exit::Done),
        exit => Ok(exit.max(worst.unwrap_or(exit))),
    }
}

/// Where records go.
struct Places {
    root: Option<PathBuf>,
    of_jobs: Vec<Option<PathBuf>>,
}

impl Places {
    /// `path` itself, or a directory in it for each of several jobs.
    fn claim(jobs: &[Job], path: Option<&Path>) -> Result<Self, Error> {
        let Some(path) = path else {
            return Ok(Self {
                root: None,
                of_jobs: vec![None; jobs.len()],
            });
        };
        // Whether it can be written to is found out before the first run.
        OutputDirectory::claim(path, Existing::Refuse)?.abandon();
        let of_job = |(number, job): (usize, &Job)| match jobs.len() {
            1 => Some(path.to_owned()),
            _ => Some(path.join(format!("{}-{}", number + 1, job.plan.target.layer()))),
        };
        Ok(Self {
            root: Some(path.to_owned()),
            of_jobs: jobs.iter().enumerate().map(of_job).collect(),
        })
    }

    /// The directory of a run.
    fn of_run(&self, job: usize, round: usize) -> Result<Option<OutputDirectory>, Error> {
        let Some(path) = &self.of_jobs[job] else {
            return Ok(None);
        };
        let path = path.join(format!("{:03}", round + 1));
        OutputDirectory::claim(&path, Existing::Refuse).map(Some)
    }
}

/// What has been measured so far.
struct Repeating<'run> {
    jobs: &'run [Job],
    show: &'run Presentation<'run>,
    wanted: &'run RepeatPlan,
    places: Places,
    stop: &'run AtomicBool,
    began: Instant,
    /// Whole runs, of each job.
    records: Vec<Vec<RunRecord>>,
    repeats: Repeats,
    /// The run that did not come to its end.
    partial: Option<RunRecord>,
}

impl Repeating<'_> {
    /// Makes runs until there are enough, or one is none.
    fn measure(&mut self) -> Result<Exit, Error> {
        for round in 0..self.wanted.most as usize {
            let seed = self.jobs.first().map_or(0, |job| job.plan.seed);
            let order = order(self.jobs.len(), seed, round as u64);
            for job in order {
                if !self.repeats.order.is_empty() {
                    pause(Duration::from_nanos(self.wanted.pause_ns), self.stop);
                }
                if self.stop.load(Ordering::Relaxed) {
                    self.repeats.end = RepeatsEnd::Interrupted;
                    return Ok(Exit::Interrupted);
                }
                let exit = self.run_one(job, round).inspect_err(|_| {
                    self.repeats.end = RepeatsEnd::Failed;
                })?;
                if exit > Exit::Doubtful {
                    self.repeats.end = match exit {
                        Exit::Interrupted => RepeatsEnd::Interrupted,
                        _ => RepeatsEnd::Failed,
                    };
                    return Ok(exit);
                }
                self.repeats.order.push(job);
            }
            if self.repeats.are_enough() {
                self.repeats.end = RepeatsEnd::Enough;
                break;
            }
        }
        Ok(Exit::Done)
    }

    /// One run; it counts only if it came to its end and something succeeded in it.
    fn run_one(&mut self, number: usize, round: usize) -> Result<Exit, Error> {
        let job = Job {
            plan: plan_of_run(&self.jobs[number].plan, round as u64),
            loads: self.jobs[number].loads.clone(),
            password: self.jobs[number].password.clone(),
            fleet_socket: self.jobs[number].fleet_socket.clone(),
        };
        let directory = self.places.of_run(number, round)?;
        let first = self.records[number].first();
        let calibration = match first {
            // What the tool itself can do does not change from run to run.
            Some(_) => Calibration::Omit,
            None => self.show.calibration,
        };
        let mut live = self.live(&job);
        let record = measure(&job, calibration, self.stop, &mut live);
        live.finish();
        let mut record = record.map_err(|error| {
            directory.iter().for_each(OutputDirectory::abandon);
            Error {
                what: format!("{}: {}", self.name(round), error.what),
                ..error
            }
        })?;
        if let Some(first) = first {
            record.headroom.clone_from(&first.headroom);
        }
        let exit = exit_of(&record, &FailingCaveats::None);
        let is_whole = exit <= Exit::Doubtful;
        if let Some(directory) = directory {
            directory.keep(
                &record,
                if is_whole {
                    RECORD_FILE
                } else {
                    UNFINISHED_FILE
                },
            )?;
        }
        if is_whole {
            self.count(number, round, record);
        } else {
            self.partial = Some(record);
        }
        Ok(exit)
    }

    fn count(&mut self, number: usize, round: usize, record: RunRecord) {
        console::failed_gates(&record);
        let told = repeats::line(&record);
        self.repeats.series[number].add(&record);
        self.records[number].push(record);
        let left = self.left().map_or_else(String::new, |left| {
            format!(", about {} left", waiting_text(left))
        });
        console::aside(&format!("{}: {told}{left}\n", self.name(round)));
    }

    fn live(&self, job: &Job) -> Live<'_> {
        let stream = match self.show.report.format {
            RunFormat::Text => RowStream::Output,
            RunFormat::Json => RowStream::Error,
        };
        let live = match self.show.report.mark {
            Some(nanos) if nanos > 0 => {
                Live::with_rows(self.stop, Columns::WithPercentiles, stream)
            }
            _ => Live::with_bar(self.stop, &job.plan),
        };
        let round = self.repeats.order.len() / self.jobs.len().max(1);
        let left = self.left().map_or_else(String::new, |left| {
            format!(", about {} left in all", waiting_text(left))
        });
        live.kept(self.show.report.output.is_some())
            .within(format!("{}{left}: ", self.name(round)))
    }

    /// `repeat 3 of 10`.
    fn name(&self, round: usize) -> String {
        let of = match self.wanted.until {
            None => format!("of {}", self.wanted.most),
            Some(_) => format!(
                "of about {} (at most {})",
                self.expected(),
                self.wanted.most
            ),
        };
        format!("repeat {} {of}", round + 1)
    }

    /// How many rounds there are likely to be.
    fn expected(&self) -> u32 {
        self.repeats.expected_runs()
    }

    /// How long the rest is going to take, in nanoseconds, by what it took so far.
    fn left(&self) -> Option<u64> {
        let runs: usize = self.records.iter().map(Vec::len).sum();
        let all = self.expected() as usize * self.jobs.len();
        let nanos = self.began.elapsed().as_nanos() as u64;
        (runs > 0).then(|| nanos / runs as u64 * all.saturating_sub(runs) as u64)
    }

    /// Keeps and shows what all runs together tell.
    fn finish(&self) -> Result<Reader, Error> {
        let runs: usize = self.records.iter().map(Vec::len).sum();
        if let (0, Some(partial)) = (runs, &self.partial) {
            partial.caveats.iter().for_each(console::caveat);
            return match self.show.report.format {
                RunFormat::Text => {
                    console::result(&text::render(partial, self.show.detail, console::page()))
                }
                RunFormat::Json => console::result(&json::document(&[partial])?),
            };
        }
        if runs == 0 {
            return Ok(Reader::Present);
        }
        let shown = match self.show.report.format {
            RunFormat::Text => console::result(&repeats::text(&self.repeats, console::page())),
            RunFormat::Json => {
                let all: Vec<&RunRecord> = self.records.iter().flatten().collect();
                console::result(&json::document(&all)?)
            }
        };
        self.tell_caveats(runs);
        if let Some(root) = &self.places.root {
            let path = root.join(REPEATS_FILE);
            let document = json::document(&repeats::document(&self.repeats))?;
            write_synced(&path, &document).map_err(|error| Error::file(&path, &error))?;
        }
        shown
    }

    /// Each caveat once, and how many runs have it.
    fn tell_caveats(&self, runs: usize) {
        let mut found = BTreeMap::new();
        for caveat in self
            .records
            .iter()
            .flatten()
            .flat_map(|record| &record.caveats)
        {
            found.entry(caveat.id()).or_insert((caveat, 0)).1 += 1;
        }
        for (name, (caveat, count)) in found {
            console::caveat(caveat);
            if count < runs {
                console::note(&format!(
                    "{name}: in {count} of {runs} runs; this is of the first"
                ));
            }
        }
    }
}

/// Waits, unless it is to stop.
pub fn pause(length: Duration, stop: &AtomicBool) {
    let end = Instant::now() + length;
    while !stop.load(Ordering::Relaxed) {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        std::thread::sleep(left.min(LOOK_EVERY));
    }
}
