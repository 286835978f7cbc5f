//! A rank's part of a job, on a separate thread while the rank's main thread exchanges messages.

use crate::message::{FromRank, IntervalReport, JobSpec, RankFailure, RankResult};
use filestone_control::job::deal;
use filestone_host::control::{self, JobController, Observer, RunContext};
use filestone_host::error::ErrorCategory;
use filestone_measure::measure::run_record::{IntervalRecord, Target};
use filestone_measure::measure::{ConnectionsRecord, RunPhase, RunRecord};
use filestone_plan::plan::Plan;
use filestone_setup::workspace::marker::ProcessIdentity;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Longest sleep of a rank between checks for a stop.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Final part of the wait for the start that polls the clock: a sleep ends late.
const LOOK_FOR: Duration = Duration::from_micros(300);

/// Executes runs, as a process would do with a plan on its own.
pub trait Runner: Send + Sync {
    /// Executes `plan`; with `calibrates`, first measures what filestone itself can do here.
    fn run(
        &self,
        plan: &Plan,
        calibrates: bool,
        context: &mut RunContext<'_>,
    ) -> Result<RunRecord, RankFailure>;

    /// Cleans up what the run of `plan` has left, for a process that has ended, as that process
    /// would have done at its end; for at most `limit`.
    fn reclaim(
        &self,
        plan: &Plan,
        owner: &ProcessIdentity,
        limit: Duration,
        context: &mut RunContext<'_>,
    ) -> Result<(), RankFailure>;
}

/// A message to a run in progress.
enum ToRun {
    Start(Instant),
    Order(control::JobCommand),
}

/// A part of a job in progress.
pub struct RankRun {
    to_run: Sender<ToRun>,
    told: Receiver<FromRank>,
    stop: Arc<AtomicBool>,
    is_cleaning_up: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    /// Clients of this part divided by all clients.
    share: f64,
}

impl RankRun {
    /// Starts the part that `order` assigns to `rank`; `None` if it assigns none.
    pub fn start(order: &JobSpec, rank: u32, runner: &Arc<dyn Runner>) -> Option<Self> {
        let index = order.makers.iter().position(|maker| *maker == rank)?;
        let stop = Arc::new(AtomicBool::new(false));
        let is_cleaning_up = Arc::new(AtomicBool::new(false));
        let (to_run, from_coordinator) = channel();
        let (tell, told) = channel();
        let parts = deal(&order.job, order.makers.len() as u32);
        let part = parts.map(|mut parts| (index < parts.len()).then(|| parts.swap_remove(index)));
        let share = match &part {
            Ok(Some(part)) => f64::from(part.clients) / f64::from(order.job.clients.max(1)),
            _ => 0.0,
        };
        let refused = |what: String, help: Option<String>| {
            let failure = RankFailure::new(ErrorCategory::Usage, what, help);
            let _ = tell.send(FromRank::Ended(Box::new(RankResult::Failed(failure))));
        };
        let thread = match part {
            Ok(Some(plan)) => {
                let (runner, stop) = (Arc::clone(runner), Arc::clone(&stop));
                let link = Link {
                    tell: tell.clone(),
                    from_coordinator,
                };
                let telling = Telling {
                    tell: tell.clone(),
                    is_cleaning_up: Arc::clone(&is_cleaning_up),
                };
                let calibrates = order.calibrates;
                let made = move || make(&plan, calibrates, &*runner, &stop, telling, link);
                Some(std::thread::spawn(made))
            }
            Ok(None) => {
                refused("there is no such part".into(), None);
                None
            }
            Err(error) => {
                refused(error.to_string(), Some(error.help().into()));
                None
            }
        };
        Some(Self {
            to_run,
            told,
            stop,
            is_cleaning_up,
            thread,
            share,
        })
    }

    /// Sets the start time of the run.
    pub fn start_at(&self, at: Instant) {
        let _ = self.to_run.send(ToRun::Start(at));
    }

    /// Sets the offered load of the job, in operations per second.
    pub fn offer(&self, load_ops_per_s: f64) {
        let own = control::JobCommand::Offer(load_ops_per_s * self.share);
        let _ = self.to_run.send(ToRun::Order(own));
    }

    /// Finishes the job as if the planned duration were over.
    pub fn finish(&self) {
        let _ = self.to_run.send(ToRun::Order(control::JobCommand::Finish));
    }

    /// Ends the job early. A clean-up continues; a stop would end it.
    pub fn end(&self) {
        if !self.is_cleaning_up.load(Ordering::Acquire) {
            self.stop();
        }
    }

    /// Stops the job on request of the user.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Release);
    }

    /// Returns the next message of the run, if any; the last one is the end.
    pub fn told(&self) -> Option<FromRank> {
        self.told.try_recv().ok()
    }
}

impl Drop for RankRun {
    fn drop(&mut self) {
        self.stop();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl RankFailure {
    /// Creates a failure of this category.
    pub fn new(category: ErrorCategory, what: impl Into<String>, help: Option<String>) -> Self {
        Self {
            what: what.into(),
            help,
            category,
        }
    }

    /// Returns whether the user stopped the run.
    pub fn is_interruption(&self) -> bool {
        self.category == ErrorCategory::Interruption
    }
}

fn make(
    plan: &Plan,
    calibrates: bool,
    runner: &dyn Runner,
    stop: &AtomicBool,
    mut observer: Telling,
    mut link: Link,
) {
    let tell = link.tell.clone();
    let ended = {
        let mut context = RunContext::new(stop, &mut observer).controlled_by(&mut link);
        runner.run(plan, calibrates, &mut context)
    };
    let ending = match ended {
        Ok(record) => RankResult::Measured(Box::new(record)),
        Err(failure) => RankResult::Failed(failure),
    };
    let _ = tell.send(FromRank::Ended(Box::new(ending)));
}

/// Reports preparation steps and the progress of the run.
struct Telling {
    tell: Sender<FromRank>,
    is_cleaning_up: Arc<AtomicBool>,
}

impl Observer for Telling {
    fn preparing(&mut self, what: &str) {
        let _ = self.tell.send(FromRank::Preparing { what: what.into() });
    }

    fn phase(&mut self, phase: RunPhase) {
        let is_cleaning_up = phase == RunPhase::CleanUp;
        self.is_cleaning_up.store(is_cleaning_up, Ordering::Release);
        let _ = self.tell.send(FromRank::Phase { phase });
    }

    fn prepared(&mut self, target: &Target) {
        let target = Box::new(target.clone());
        let _ = self.tell.send(FromRank::Found { target });
    }

    fn connected(&mut self, connections: &ConnectionsRecord) {
        let connections = Box::new(connections.clone());
        let _ = self.tell.send(FromRank::Connected { connections });
    }
}

/// The run's end of the channel to the coordinator.
struct Link {
    tell: Sender<FromRank>,
    from_coordinator: Receiver<ToRun>,
}

impl JobController for Link {
    fn start(&mut self, stop: &AtomicBool) {
        let _ = self.tell.send(FromRank::Ready);
        while !stop.load(Ordering::Acquire) {
            match self.from_coordinator.recv_timeout(LOOK_EVERY) {
                Ok(ToRun::Start(at)) => {
                    let late_ns = wait_until(at, stop).as_nanos() as u64;
                    let _ = self.tell.send(FromRank::Started { late_ns });
                    return;
                }
                // Orders before the start are already in the plan.
                Ok(ToRun::Order(_)) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn interval(&mut self, interval: &IntervalRecord, offered_load_ops_per_s: f64, is_whole: bool) {
        // A histogram that this rank has just encoded can be decoded.
        let Ok(interval) = interval.try_into() else {
            return;
        };
        let told = IntervalReport {
            interval,
            offered_load_ops_per_s,
            is_whole,
        };
        let _ = self.tell.send(FromRank::Interval(Box::new(told)));
    }

    fn order(&mut self) -> Option<control::JobCommand> {
        match self.from_coordinator.try_recv().ok()? {
            ToRun::Order(order) => Some(order),
            ToRun::Start(_) => None,
        }
    }
}

/// Waits until `at` and returns the delay past it.
fn wait_until(at: Instant, stop: &AtomicBool) -> Duration {
    loop {
        let left = at.saturating_duration_since(Instant::now());
        if left.is_zero() || stop.load(Ordering::Acquire) {
            return Instant::now().saturating_duration_since(at);
        }
        match left.checked_sub(LOOK_FOR) {
            Some(asleep) if !asleep.is_zero() => std::thread::sleep(asleep.min(LOOK_EVERY)),
            _ => std::hint::spin_loop(),
        }
    }
}
