//! Runs of one job, or of several in turn, in rounds. Each run has its own connections and files;
//! runs are separated by a pause, and each round runs the jobs in random order. Only complete runs
//! count. A [`StopRule`] evaluates the runs and decides when there are enough.

use super::live::{Live, RowStream};
use super::output_directory::{OnExistingDirectory, OutputDirectory, UNFINISHED_FILE};
use super::verdict::{FailingCaveats, exit_of};
use super::views::RunObservers;
use super::{CalibrationMode, LoadedPlan};
use crate::ExitStatus;
use crate::console;
use crate::error::Error;
use crate::inputs::record_file::kept_run;
use filestone_host::error::ErrorCategory;
use filestone_measure::comparison::repeats::{RepeatPlan, order, plan_of_run};
use filestone_measure::measure::run_record::Headroom;
use filestone_measure::measure::validity::{self, succeeded_in_nothing};
use filestone_measure::measure::{Caveat, RunRecord};
use filestone_report::json::RECORD_FILE;
use filestone_report::quantity::waiting_text;
use filestone_report::repeats::{self, RepeatsEnd};
use filestone_report::rows::Columns;
use filestone_workload::text::counted;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Number of consecutive invalid runs of one job after which no more are made.
pub const INVALID_MAX: usize = 3;
/// Interval between checks whether a pause should end early.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Counts runs and decides when there are enough.
pub trait StopRule {
    /// Whether the job takes part in the next round.
    fn wants_more(&self, thing: usize) -> bool;
    /// Expected total number of runs of the job.
    fn expected_runs(&self, thing: usize) -> u32;
    /// Name of a job, such as `io-size=512`.
    fn thing(&self, thing: usize) -> String;
    /// Name of a run, such as `repeat 3 of 10`.
    fn name(&self, thing: usize, round: usize) -> String;
    /// Counts a complete run as the next one of its job.
    fn count(&mut self, thing: usize, record: RunRecord);
    /// Whether the other jobs continue without one that cannot be measured.
    fn goes_on_without(&mut self, thing: usize, why: &str) -> bool;
}

/// Jobs to measure in rounds, and how to run and store them.
pub struct Rounds<'run> {
    /// Jobs that run in turn.
    pub jobs: &'run [LoadedPlan],
    /// Number of runs, and the pause between them.
    pub wanted: &'run RepeatPlan,
    /// Seed of the order of runs.
    pub seed: u64,
    /// Whether filestone is calibrated before the first run of each job.
    pub calibration: CalibrationMode,
    /// Root of the run directories of each job.
    pub places: &'run [Option<PathBuf>],
    /// Handling of runs that already exist there.
    pub existing: OnExistingDirectory,
    /// Interval of one row, in nanoseconds of the run.
    pub mark: Option<u64>,
    /// Destination of the rows.
    pub rows: RowStream,
    /// Caveats that count as failure.
    pub failing: &'run FailingCaveats,
    /// Set by ^C.
    pub stop: &'run AtomicBool,
    /// Observers of the runs.
    pub views: &'run RunObservers,
}

/// End of the rounds: the reason, exit codes and the last run that does not count.
#[derive(Debug)]
pub struct RoundsEnd {
    /// Reason why no more runs were made.
    pub end: RepeatsEnd,
    /// Exit code of the run that ended the rounds, if one did.
    pub exit: ExitStatus,
    /// Worst exit code of the counted runs.
    pub worst: ExitStatus,
    /// Error that ended the rounds outside of a run.
    pub error: Option<Error>,
    /// The run that was incomplete, or the last run that does not count.
    pub partial: Option<RunRecord>,
    /// Job of each counted run, in the order of time.
    pub order: Vec<usize>,
}

impl Rounds<'_> {
    /// Makes runs until there are enough, or until one fails.
    pub fn run(&self, tally: &mut dyn StopRule) -> RoundsEnd {
        let mut driver = Driver {
            rounds: self,
            tally,
            began: Instant::now(),
            headrooms: vec![None; self.jobs.len()],
            invalid: vec![0; self.jobs.len()],
            made: 0,
            given_up: ExitStatus::Done,
            ended: RoundsEnd {
                end: RepeatsEnd::All,
                exit: ExitStatus::Done,
                worst: ExitStatus::Done,
                error: None,
                partial: None,
                order: vec![],
            },
        };
        if let Err(error) = driver.measure() {
            driver.ended.end = match error.category {
                ErrorCategory::Interruption => RepeatsEnd::Interrupted,
                _ => RepeatsEnd::Failed,
            };
            driver.ended.error = Some(error);
        }
        let worst = driver.ended.worst.max(driver.given_up);
        RoundsEnd {
            worst,
            ..driver.ended
        }
    }

    fn job(&self, thing: usize, round: usize) -> LoadedPlan {
        let job = &self.jobs[thing];
        LoadedPlan {
            plan: plan_of_run(&job.plan, round as u64),
            loads: job.loads.clone(),
            password: job.password.clone(),
            control_socket: job.control_socket.clone(),
        }
    }

    /// Prints that runs exist from an earlier invocation and are not repeated.
    fn tell_what_is_there(&self) {
        let rounds = 0..self.wanted.most as usize;
        let all = rounds.flat_map(|round| (0..self.jobs.len()).map(move |thing| (thing, round)));
        let kept = all.filter_map(|(thing, round)| self.place(thing, round));
        let kept = kept
            .filter(|place| place.join(RECORD_FILE).is_file())
            .count();
        if self.existing == OnExistingDirectory::Resume && kept > 0 {
            let runs = counted(kept as u64, "run");
            console::note(&format!("{runs} there already, from an earlier time"));
        }
    }

    fn place(&self, thing: usize, round: usize) -> Option<PathBuf> {
        let path = self.places[thing].as_ref()?;
        Some(path.join(format!("{:03}", round + 1)))
    }
}

/// Result of one attempt at a run.
enum Attempt {
    /// The run counts.
    Counted,
    /// The run, or its job from now on, is left out; the others continue.
    LeftOut,
    /// No more runs are made.
    Ended(ExitStatus),
}

struct Driver<'run, 'tally> {
    rounds: &'run Rounds<'run>,
    tally: &'tally mut dyn StopRule,
    began: Instant,
    /// Headroom of each job: the tool's own capacity does not change between runs of one job.
    headrooms: Vec<Option<Option<Headroom>>>,
    /// Number of invalid runs of each job since its last valid one.
    invalid: Vec<usize>,
    /// Number of runs that were made now, not found on disk.
    made: usize,
    /// Exit code if a run or job was left out.
    given_up: ExitStatus,
    ended: RoundsEnd,
}

impl Driver<'_, '_> {
    fn measure(&mut self) -> Result<(), Error> {
        let things = self.rounds.jobs.len();
        self.rounds.tell_what_is_there();
        for round in 0..self.rounds.wanted.most as usize {
            let order = order(things, self.rounds.seed, round as u64);
            let due: Vec<usize> = order
                .into_iter()
                .filter(|thing| self.tally.wants_more(*thing))
                .collect();
            for thing in due {
                if let Attempt::Ended(exit) = self.attempt(thing, round)? {
                    self.ended.exit = exit;
                    self.ended.end = match exit {
                        ExitStatus::Interrupted => RepeatsEnd::Interrupted,
                        _ => RepeatsEnd::Failed,
                    };
                    return Ok(());
                }
            }
        }
        if self.ended.partial.is_some()
            && (0..things).any(|thing| !self.ended.order.contains(&thing))
        {
            self.ended.exit = ExitStatus::DoesNotCount;
            self.ended.end = RepeatsEnd::Failed;
        } else if self.rounds.wanted.until.is_some()
            && (0..things).all(|thing| !self.tally.wants_more(thing))
        {
            self.ended.end = RepeatsEnd::Enough;
        }
        Ok(())
    }

    /// Loads an existing run, or makes a new one.
    fn attempt(&mut self, thing: usize, round: usize) -> Result<Attempt, Error> {
        if let Some(record) = self.found(thing, round)? {
            self.record(thing, record);
            return Ok(Attempt::Counted);
        }
        if self.made > 0 {
            pause(
                Duration::from_nanos(self.rounds.wanted.pause_ns),
                self.rounds.stop,
            );
        }
        if self.rounds.stop.load(Ordering::Relaxed) {
            return Ok(Attempt::Ended(ExitStatus::Interrupted));
        }
        self.make(thing, round)
    }

    /// Returns the earlier run that has the same plan.
    fn found(&self, thing: usize, round: usize) -> Result<Option<RunRecord>, Error> {
        let place = self.rounds.place(thing, round);
        let place = place.filter(|_| self.rounds.existing == OnExistingDirectory::Resume);
        place.map_or(Ok(None), |place| {
            kept_run(&place, &self.rounds.job(thing, round).plan)
        })
    }

    /// Makes one run; it counts only if it is complete and valid.
    fn make(&mut self, thing: usize, round: usize) -> Result<Attempt, Error> {
        let job = self.rounds.job(thing, round);
        let place = self.rounds.place(thing, round);
        let existing = self.rounds.existing;
        let directory = place.map(|place| OutputDirectory::claim(&place, existing));
        let directory = directory.transpose()?;
        let calibration = match &self.headrooms[thing] {
            Some(_) => CalibrationMode::Omit,
            None => self.rounds.calibration,
        };
        let mut live = self.live(&job, thing, round);
        let name = self.tally.name(thing, round);
        let views = self.rounds.views;
        let record = views.measure(&name, &job, calibration, self.rounds.stop, &mut live);
        drop(live);
        let mut record = match record {
            Ok(record) => record,
            Err(error) => return self.without(thing, round, error),
        };
        if let Some(headroom) = &self.headrooms[thing] {
            record.headroom.clone_from(headroom);
        }
        let exit = exit_of(&record, &FailingCaveats::None);
        let is_whole = exit <= ExitStatus::CaveatFailure;
        if let Some(directory) = directory {
            let name = if is_whole {
                RECORD_FILE
            } else {
                UNFINISHED_FILE
            };
            directory.keep(&record, name)?;
        }
        if !is_whole {
            return Ok(self.unfinished(thing, round, exit, record));
        }
        self.made += 1;
        console::failed_gates(&record);
        let told = repeats::line(&record);
        self.record(thing, record);
        let left = self.left_text("");
        console::aside(&format!(
            "{}: {told}{left}\n",
            self.tally.name(thing, round)
        ));
        Ok(Attempt::Counted)
    }

    fn record(&mut self, thing: usize, record: RunRecord) {
        self.headrooms[thing].get_or_insert_with(|| record.headroom.clone());
        self.invalid[thing] = 0;
        self.ended.worst = self.ended.worst.max(exit_of(&record, self.rounds.failing));
        self.ended.order.push(thing);
        let name = self.tally.thing(thing);
        self.rounds.views.count(&name, &record);
        self.tally.count(thing, record);
    }

    /// Leaves out a job whose own settings are rejected, if the stop rule allows that. Any other
    /// error, of this host or of the target, would affect all jobs and ends the rounds.
    fn without(&mut self, thing: usize, round: usize, error: Error) -> Result<Attempt, Error> {
        let is_refused = error.category == ErrorCategory::Usage;
        if is_refused && self.tally.goes_on_without(thing, &error.message) {
            self.given_up = ExitStatus::CaveatFailure;
            return Ok(Attempt::LeftOut);
        }
        Err(Error {
            message: format!("{}: {}", self.tally.name(thing, round), error.message),
            ..error
        })
    }

    /// Leaves out an invalid run, unless no operation succeeded in it or too many in a row were
    /// invalid; any other incomplete run ends the rounds.
    fn unfinished(
        &mut self,
        thing: usize,
        round: usize,
        exit: ExitStatus,
        record: RunRecord,
    ) -> Attempt {
        let why = why_not(&record);
        if exit == ExitStatus::DoesNotCount && self.tally.goes_on_without(thing, &why) {
            self.given_up = ExitStatus::CaveatFailure;
            return Attempt::LeftOut;
        }
        let name = self.tally.name(thing, round);
        if exit == ExitStatus::DoesNotCount && !succeeded_in_nothing(&record) {
            self.invalid[thing] += 1;
            if self.invalid[thing] < INVALID_MAX {
                console::note(&format!("{name}: left out: {why}"));
                self.leave_out(thing, record);
                return Attempt::LeftOut;
            }
        }
        let in_a_row = match self.invalid[thing] {
            INVALID_MAX => format!(", {INVALID_MAX} times in a row"),
            _ => String::new(),
        };
        if exit != ExitStatus::Interrupted {
            console::note(&format!("{name}: {why}{in_a_row}"));
        }
        self.ended.partial = Some(record);
        Attempt::Ended(exit)
    }

    /// Leaves a run out of the samples; its headroom is kept.
    fn leave_out(&mut self, thing: usize, record: RunRecord) {
        self.headrooms[thing].get_or_insert_with(|| record.headroom.clone());
        self.made += 1;
        self.given_up = ExitStatus::CaveatFailure;
        self.ended.partial = Some(record);
    }

    fn live(&self, job: &LoadedPlan, thing: usize, round: usize) -> Live<'_> {
        let rounds = self.rounds;
        let live = match rounds.mark {
            Some(nanos) if nanos > 0 => {
                Live::with_rows(rounds.stop, Columns::WithPercentiles, rounds.rows)
            }
            _ => Live::with_bar(rounds.stop, &job.plan),
        };
        let (name, left) = (self.tally.name(thing, round), self.left_text(" in all"));
        live.kept(rounds.places[thing].is_some())
            .within(format!("{name}{left}: "))
    }

    /// Formats the remaining time from the length of earlier runs, such as `, about 35 s left`.
    fn left_text(&self, of: &str) -> String {
        if self.made == 0 {
            return String::new();
        }
        let things = 0..self.rounds.jobs.len();
        let all: usize = things
            .map(|thing| self.tally.expected_runs(thing) as usize)
            .sum();
        let nanos = self.began.elapsed().as_nanos() as u64 / self.made as u64;
        let left = nanos * all.saturating_sub(self.ended.order.len()) as u64;
        format!(", about {} left{of}", waiting_text(left))
    }
}

/// Returns the reasons why a run does not count; if no operation succeeded, with the most frequent
/// error.
fn why_not(record: &RunRecord) -> String {
    let reasons = validity::reasons(record).join("; ");
    if !succeeded_in_nothing(record) {
        return format!("it does not count: {reasons}");
    }
    let failures = record.totals.kinds.iter().flat_map(|kind| &kind.failures);
    let most = failures.max_by_key(|failure| failure.count);
    let most = most.map(|most| format!(": {}", most.failure));
    let is_limit = |caveat: &&Caveat| matches!(caveat, Caveat::TransferBeyondServer { .. });
    let limit = record.caveats.iter().find(is_limit);
    let limit = limit.map(|caveat| format!("; {}", caveat.sentence().0));
    format!(
        "nothing succeeded{}{}",
        most.unwrap_or_default(),
        limit.unwrap_or_default()
    )
}

/// Waits for `length`, or until `stop` is set.
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
