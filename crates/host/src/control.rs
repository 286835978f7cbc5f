//! Stopping a run, and reporting its progress.
//!
//! ```text
//!   ^C before or during the run   the current step ends at once; then the clean-up runs,
//!                                 for a limited time
//!   ^C during the clean-up        the clean-up ends at once
//!   no ^C                         the clean-up ends when it is done, or after a long time
//! ```
//!
//! Code that waits for a server checks its [`Cancellation`] every few hundredths of a second.

use crate::control_socket::{FleetControl, SocketChoice};
use filestone_control::load_control::{RemainingTime, SteeredPoint};
use filestone_measure::cost::CostCounter;
use filestone_measure::measure::fleet_record::{ChangeRecord, GroupRecord};
use filestone_measure::measure::progress::Progress;
use filestone_measure::measure::run_record::{IntervalRecord, Target};
use filestone_measure::measure::{ConnectionsRecord, RunPhase, RunRecord};
use filestone_workload::password::Password;
use filestone_workload::recording::{DistributionRecord, IntervalBuffer};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

/// Interval at which stop flags are polled if nothing else wakes a thread.
pub const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The run was stopped before it began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("interrupted before anything was measured")]
pub struct Interrupted;

/// Receives the progress of a run on the coordinating thread.
pub trait Observer {
    /// Reports a step before or after the measured run.
    fn preparing(&mut self, _what: &str) {}
    /// Reports a note on the target for the user, before the run.
    fn note(&mut self, _what: &str) {}
    /// The target has been found, and all file handles are resolved.
    fn prepared(&mut self, _target: &Target) {}
    /// Whether the observer wants [`Observer::generator`], whose figures take some time to add up.
    fn wants_generator(&self) -> bool {
        false
    }
    /// Reports CPU use and delay of the load generator in the interval that is reported next.
    fn generator(&mut self, _share: &GeneratorUsage) {}
    /// A phase of the run begins.
    fn phase(&mut self, _phase: RunPhase) {}
    /// The clients are connected.
    fn connected(&mut self, _connections: &ConnectionsRecord) {}
    /// An interval is complete: receives the counters of all workers, some of which are not in the
    /// record of an interval. The buffer is reused afterwards.
    fn counted(&mut self, _interval: &mut IntervalBuffer) {}
    /// An interval of a job of several hosts is complete: receives the record of their counters,
    /// which is all that this process has of them.
    fn counted_by_hosts(&mut self, _interval: &IntervalRecord) {}
    /// An interval is complete.
    fn interval(&mut self, _record: &IntervalRecord) {}
    /// Reports the current step of a steered run or a calibration, and the remaining time.
    fn steering(&mut self, _what: &str, _left: Option<RemainingTime>) {}
    /// Reports the load that a steered run offers from now on, in operations per second.
    fn offered(&mut self, _load_ops_per_s: f64) {}
    /// A second of a fleet has passed. `groups` visits each client to compute the records.
    fn fleet(&mut self, _groups: &dyn Fn() -> Vec<GroupRecord>) {}
    /// A steered run has measured one offered load.
    fn point(&mut self, _point: &SteeredPoint) {}
    /// A second of a replay has passed.
    fn progress(&mut self, _progress: &Progress) {}
    /// A fleet accepts control commands from now on, until its run is over.
    fn controllable(&mut self, _control: &FleetControl) {}
    /// Reports the latest rates of the server's counters, if they are read.
    fn server(&mut self, _rates: &[ServerRates]) {}
    /// A control command has changed clients of a fleet.
    fn changed(&mut self, _change: &ChangeRecord) {}
    /// Everything is measured, and the clean-up that follows may take long. The record lacks only
    /// the results of the clean-up.
    fn measured(&mut self, _record: &RunRecord) {}
}

/// CPU use and delay of the load generator in one interval.
#[derive(Debug, Clone, PartialEq)]
pub struct GeneratorUsage {
    /// Time from ready to sent of measured operations: the generator's lateness.
    pub dispatch_delay_ns: DistributionRecord,
    /// Time in which workers were ready to run and had no processor, summed over all, in
    /// nanoseconds.
    pub waited_ns: u64,
}

/// An observer that ignores everything.
pub struct NoObserver;

impl Observer for NoObserver {}

/// Rates of the server's counters between the last two readings of one source.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerRates {
    /// Name of the source.
    pub source: String,
    /// Each counter with its rate per second.
    pub per_s: Vec<(CostCounter, f64)>,
}

/// Command of a job's controller to a run in progress.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum JobCommand {
    /// Offer this many operations per second from now on.
    Offer(f64),
    /// End the run as if its time were over.
    Finish,
}

/// Controls a run that is part of a job of several hosts: decides when it begins, the offered load
/// and when it ends, and receives each interval.
pub trait JobController {
    /// All clients are connected. Returns when the run may begin, or when `stop` is set.
    fn start(&mut self, stop: &AtomicBool);

    /// An interval is complete. `offered_load_ops_per_s` was offered in it, during all of it if
    /// `is_whole`.
    fn interval(&mut self, interval: &IntervalRecord, offered_load_ops_per_s: f64, is_whole: bool);

    /// Returns the next command, if there is one.
    fn order(&mut self) -> Option<JobCommand>;
}

/// State that all parts of a run share and that is not in the plan: stop flag, observer, password.
pub struct RunContext<'run> {
    /// Set from outside, by ^C: the run must end.
    pub stop: &'run AtomicBool,
    /// Cancels the current step. [`RunContext::cancellable`] sets it when `stop` is set.
    pub cancellation: Cancellation,
    /// Receives the progress of the run.
    pub observer: &'run mut dyn Observer,
    /// The password of the user that clients log on as, if there is one.
    pub password: Option<&'run Password>,
    /// The socket through which a fleet is controlled while it runs.
    pub control_socket: SocketChoice,
    /// Controller of the run, if it is part of a job of several hosts.
    pub controller: Option<&'run mut dyn JobController>,
}

impl<'run> RunContext<'run> {
    /// Returns the context of a run that `stop` ends and `observer` follows.
    pub fn new(stop: &'run AtomicBool, observer: &'run mut dyn Observer) -> Self {
        Self {
            stop,
            cancellation: Cancellation::default(),
            observer,
            password: None,
            control_socket: SocketChoice::None,
            controller: None,
        }
    }

    /// Returns the context with the controller of a job.
    #[must_use]
    pub fn controlled_by(self, controller: &'run mut dyn JobController) -> Self {
        Self {
            controller: Some(controller),
            ..self
        }
    }

    /// Returns the context with the socket through which the fleet is controlled.
    #[must_use]
    pub fn with_control_socket(self, control_socket: SocketChoice) -> Self {
        Self {
            control_socket,
            ..self
        }
    }

    /// Returns the context with the password that clients log on with.
    #[must_use]
    pub fn with_password(self, password: Option<&'run Password>) -> Self {
        Self { password, ..self }
    }

    /// Reports a step to the observer.
    pub fn preparing(&mut self, what: &str) {
        self.observer.preparing(what);
    }

    /// Returns an error if the run must end.
    pub fn check_cancelled(&self) -> Result<(), Interrupted> {
        check_cancelled(self.stop)?;
        self.cancellation.check_cancelled()
    }

    /// Does `work` and cancels it when `stop` is set.
    pub fn cancellable<R>(&mut self, work: impl FnOnce(&mut Self) -> R) -> R {
        let (stop, cancellation) = (self.stop, self.cancellation.clone());
        cancel_on(stop, &cancellation, || work(self))
    }
}

/// Returns an error if `stop` is set.
pub fn check_cancelled(stop: &AtomicBool) -> Result<(), Interrupted> {
    if stop.load(Ordering::Relaxed) {
        return Err(Interrupted);
    }
    Ok(())
}

/// Signals that work must end. Work of many steps, and work that waits, checks it between two
/// steps.
#[derive(Debug, Clone, Default)]
pub struct Cancellation(Arc<AtomicBool>);

impl Cancellation {
    /// Cancels this and all its clones.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the work must end.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Returns an error if the work must end.
    pub fn check_cancelled(&self) -> Result<(), Interrupted> {
        if self.is_cancelled() {
            return Err(Interrupted);
        }
        Ok(())
    }

    /// Sleeps; returns `false` early if the work is cancelled.
    pub fn pause(&self, pause: Duration) -> bool {
        let end = Instant::now() + pause;
        loop {
            if self.is_cancelled() {
                return false;
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            std::thread::sleep(left.min(LOOK_EVERY));
        }
    }
}

/// Deadline of a clean-up.
///
/// A clean-up after ^C still removes the run's files, but only for a limited time; ^C during the
/// clean-up ends it. Without ^C there is a limit, too: a server may list new names for ever.
#[derive(Debug)]
pub struct CleanUpDeadline {
    began: Instant,
    was_stopped: bool,
    limits: CleanUpLimits,
}

/// Longest durations of a clean-up.
#[derive(Debug, Clone, Copy)]
pub struct CleanUpLimits {
    /// Limit after a run that was stopped.
    pub stopped: Duration,
    /// Limit after any other run.
    pub finished: Duration,
}

/// Longest clean-up as a multiple of the length of the run; the time-out of a call is added. A
/// server that lists new names for ever must not be cleaned for ever.
const CLEAN_UP_LENGTHS: u32 = 3;

/// Returns how long trees may be removed after a run of length `run`. Removal of the files takes a
/// part of the time in which they were made.
pub fn clean_up_limits(timeout: Duration, run: Duration) -> CleanUpLimits {
    CleanUpLimits {
        stopped: timeout,
        finished: timeout.saturating_add(run.saturating_mul(CLEAN_UP_LENGTHS)),
    }
}

impl CleanUpDeadline {
    /// Returns the deadline of a clean-up that begins now. `was_stopped`: the run before it was
    /// stopped.
    pub fn new(was_stopped: bool, limits: CleanUpLimits) -> Self {
        Self {
            began: Instant::now(),
            was_stopped,
            limits,
        }
    }

    /// Whether the clean-up must end. `is_stopped`: ^C was pressed by now.
    pub fn is_due(&self, is_stopped: bool) -> bool {
        let took = self.began.elapsed();
        if self.was_stopped {
            took >= self.limits.stopped
        } else {
            is_stopped || took >= self.limits.finished
        }
    }
}

/// Does `work` and cancels it when `stop` is set.
pub fn cancel_on<R>(stop: &AtomicBool, cancellation: &Cancellation, work: impl FnOnce() -> R) -> R {
    let is_stopped = || stop.load(Ordering::Relaxed);
    if is_stopped() {
        cancellation.cancel();
    }
    watch(cancellation, is_stopped, work)
}

/// Does `work` and cancels it when `stop` is set, or after the time `most`.
pub fn cancel_after<R>(
    stop: &AtomicBool,
    most: Duration,
    cancellation: &Cancellation,
    work: impl FnOnce() -> R,
) -> R {
    let end = Instant::now() + most;
    let is_time = || stop.load(Ordering::Relaxed) || Instant::now() >= end;
    watch(cancellation, is_time, work)
}

/// Does the `work` of a clean-up and cancels it at the deadline of `limits`.
pub fn cancel_clean_up_on<R>(
    stop: &AtomicBool,
    limits: CleanUpLimits,
    cancellation: &Cancellation,
    work: impl FnOnce() -> R,
) -> R {
    let is_stopped = || stop.load(Ordering::Relaxed);
    let end = CleanUpDeadline::new(is_stopped(), limits);
    watch(cancellation, || end.is_due(is_stopped()), work)
}

/// Does `work` while another thread cancels it as soon as `is_time`.
fn watch<R>(
    cancellation: &Cancellation,
    is_time: impl Fn() -> bool + Sync,
    work: impl FnOnce() -> R,
) -> R {
    let (mut work, mut result) = (Some(work), None);
    watch_erased(cancellation, &is_time, &mut || {
        result = work.take().map(|work| work());
    });
    result.expect("the work is done once")
}

type Condition<'a> = dyn Fn() -> bool + Sync + 'a;

/// Compiled once, not for each type of work.
fn watch_erased(cancellation: &Cancellation, is_time: &Condition<'_>, work: &mut dyn FnMut()) {
    let (working, ended) = sync_channel::<()>(0);
    std::thread::scope(|scope| {
        let look = move || {
            while ended.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
                if is_time() {
                    cancellation.cancel();
                }
            }
        };
        let thread = std::thread::Builder::new().name("filestone-stop".into());
        // A host that cannot start another thread has worse errors to report, and soon will.
        let _ = thread.spawn_scoped(scope, look);
        work();
        drop(working);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_ends_when_it_is_cancelled() {
        let cancellation = Cancellation::default();
        assert!(cancellation.pause(Duration::from_millis(1)));
        cancellation.cancel();
        assert!(!cancellation.pause(Duration::from_secs(3600)));
        assert!(!cancellation.pause(Duration::ZERO));
    }

    #[test]
    fn work_sees_a_stop_that_comes_while_it_goes_on() {
        let (stop, cancellation) = (AtomicBool::new(false), Cancellation::default());
        let was_cut = cancel_on(&stop, &cancellation, || {
            stop.store(true, Ordering::Relaxed);
            !cancellation.pause(Duration::from_secs(3600))
        });
        assert!(was_cut);
        let cancellation = Cancellation::default();
        assert!(
            cancel_on(&stop, &cancellation, || cancellation.is_cancelled()),
            "at once"
        );
    }

    #[test]
    fn work_that_takes_too_long_is_cancelled() {
        let (stop, cancellation) = (AtomicBool::new(false), Cancellation::default());
        let was_cut = cancel_after(&stop, Duration::from_millis(1), &cancellation, || {
            !cancellation.pause(Duration::from_secs(3600))
        });
        assert!(was_cut && !stop.load(Ordering::Relaxed));
    }

    #[test]
    fn a_clean_up_after_a_stop_goes_on_for_a_while_and_ends_at_another() {
        let stop = AtomicBool::new(true);
        let cancellation = Cancellation::default();
        let hour = Duration::from_secs(3600);
        let limits = |stopped, finished| CleanUpLimits { stopped, finished };
        let (never, at_once) = (limits(hour, hour), Duration::ZERO);
        cancel_clean_up_on(&stop, never, &cancellation, || {
            assert!(!cancellation.is_cancelled())
        });
        cancel_clean_up_on(&stop, limits(at_once, hour), &cancellation, || {
            assert!(!cancellation.pause(hour));
        });
        let (stop, cancellation) = (AtomicBool::new(false), Cancellation::default());
        cancel_clean_up_on(&stop, never, &cancellation, || {
            stop.store(true, Ordering::Relaxed);
            assert!(!cancellation.pause(hour));
        });
        let (stop, cancellation) = (AtomicBool::new(false), Cancellation::default());
        cancel_clean_up_on(&stop, limits(hour, at_once), &cancellation, || {
            assert!(!cancellation.pause(hour));
        });
    }
}
