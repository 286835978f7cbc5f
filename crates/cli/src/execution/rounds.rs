//! Runs of one thing, or of several in turn, in rounds: each with connections and files of its own, a
//! pause between them, and what is measured in random order. Only whole runs count. What they
//! come to, and when they are enough, is whoever counts them to say.

use super::live::{Live, RowStream};
use super::output_directory::{OnExistingDirectory, OutputDirectory, UNFINISHED_FILE};
use super::verdict::{FailingCaveats, exit_of};
use super::views::RunObservers;
use super::{Calibration, Job};
use crate::ExitStatus;
use crate::console;
use crate::error::Error;
use crate::inputs::record_file::{RECORD_FILE, kept_run};
use crate::quantity::waiting_text;
use crate::report::parts::units::counted;
use crate::report::repeats::{self, RepeatsEnd};
use crate::report::rows::Columns;
use filestone_engine::ErrorCategory;
use filestone_measure::comparison::repeats::{RepeatPlan, order, plan_of_run};
use filestone_measure::measure::run_record::Headroom;
use filestone_measure::measure::validity::{self, succeeded_in_nothing};
use filestone_measure::measure::{Caveat, RunRecord};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Runs of one thing in a row that do not count, after which no more are made.
pub const INVALID_MAX: usize = 3;
/// How often it is looked whether a pause is to end early.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Counts runs, and says when they are enough.
pub trait StopRule {
    /// Whether a thing takes part in the round that begins.
    fn wants_more(&self, thing: usize) -> bool;
    /// How many runs of a thing there are likely to be in the end.
    fn expected_runs(&self, thing: usize) -> u32;
    /// What a thing is called, of which there are runs: `size=512`.
    fn thing(&self, thing: usize) -> String;
    /// What a run is called: `repeat 3 of 10`.
    fn name(&self, thing: usize, round: usize) -> String;
    /// Counts a whole run, the next one of its thing.
    fn count(&mut self, thing: usize, record: RunRecord);
    /// Whether the others go on without a thing that cannot be measured.
    fn goes_on_without(&mut self, thing: usize, why: &str) -> bool;
}

/// What is to be measured, and how.
pub struct Rounds<'run> {
    /// What is measured in turn.
    pub jobs: &'run [Job],
    /// How often, and with which pause.
    pub wanted: &'run RepeatPlan,
    /// What the order comes from.
    pub seed: u64,
    /// Whether the tool is measured before the first run of each.
    pub calibration: Calibration,
    /// Where the runs of each are kept, each in a directory of its own.
    pub places: &'run [Option<PathBuf>],
    /// What is done with runs that are there.
    pub existing: OnExistingDirectory,
    /// A row per so many nanoseconds of a run.
    pub mark: Option<u64>,
    /// Where those go.
    pub rows: RowStream,
    /// What counts as a failure.
    pub failing: &'run FailingCaveats,
    /// ^C.
    pub stop: &'run AtomicBool,
    /// Who watches.
    pub views: &'run RunObservers,
}

/// How they ended.
#[derive(Debug)]
pub struct RoundsEnd {
    /// Why there were no more runs.
    pub end: RepeatsEnd,
    /// The exit code of the run that ended them, if one did.
    pub exit: ExitStatus,
    /// The worst of all that count.
    pub worst: ExitStatus,
    /// What went wrong, if it was no run.
    pub error: Option<Error>,
    /// The run that did not come to its end, or the last that does not count.
    pub partial: Option<RunRecord>,
    /// Of which thing each whole run was, in the order of time.
    pub order: Vec<usize>,
}

impl Rounds<'_> {
    /// Makes runs until there are enough, or one is none.
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

    fn job(&self, thing: usize, round: usize) -> Job {
        let job = &self.jobs[thing];
        Job {
            plan: plan_of_run(&job.plan, round as u64),
            loads: job.loads.clone(),
            password: job.password.clone(),
            fleet_socket: job.fleet_socket.clone(),
        }
    }

    /// That runs of an earlier time are there, which are not made again.
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

/// What came of an attempt at a run.
enum Attempt {
    /// It counts.
    Counted,
    /// It is left out, or its thing for good; the others go on.
    LeftOut,
    /// No more runs are made.
    Ended(ExitStatus),
}

struct Driver<'run, 'tally> {
    rounds: &'run Rounds<'run>,
    tally: &'tally mut dyn StopRule,
    began: Instant,
    /// What the tool itself can do does not change from run to run of one thing.
    headrooms: Vec<Option<Option<Headroom>>>,
    /// Runs of each thing that do not count, since its last that does.
    invalid: Vec<usize>,
    /// Runs that were made and not found.
    made: usize,
    /// The exit code where something was left out.
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

    /// A run that is there, or a new one.
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

    /// The run of an earlier time that has the same plan.
    fn found(&self, thing: usize, round: usize) -> Result<Option<RunRecord>, Error> {
        let place = self.rounds.place(thing, round);
        let place = place.filter(|_| self.rounds.existing == OnExistingDirectory::Resume);
        place.map_or(Ok(None), |place| {
            kept_run(&place, &self.rounds.job(thing, round).plan)
        })
    }

    /// One run; it is taken only if it came to its end and counts.
    fn make(&mut self, thing: usize, round: usize) -> Result<Attempt, Error> {
        let job = self.rounds.job(thing, round);
        let place = self.rounds.place(thing, round);
        let existing = self.rounds.existing;
        let directory = place.map(|place| OutputDirectory::claim(&place, existing));
        let directory = directory.transpose()?;
        let calibration = match &self.headrooms[thing] {
            Some(_) => Calibration::Omit,
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

    /// A thing that what it is measured of refuses: whatever is wrong with this host, or with the
    /// target, is wrong with all of them.
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

    /// A run that does not count is left out, unless nothing succeeded in it, or too many in a row are
    /// none; any other ends all.
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

    /// It is no sample, and a run that was made.
    fn leave_out(&mut self, thing: usize, record: RunRecord) {
        self.headrooms[thing].get_or_insert_with(|| record.headroom.clone());
        self.made += 1;
        self.given_up = ExitStatus::CaveatFailure;
        self.ended.partial = Some(record);
    }

    fn live(&self, job: &Job, thing: usize, round: usize) -> Live<'_> {
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

    /// `, about 35 s left`, by what runs took so far.
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

/// Why a run does not count; where nothing succeeded, with the most frequent failure.
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
