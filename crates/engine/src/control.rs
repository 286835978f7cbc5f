//! How a run is told to end, and tells how it goes on.
//!
//! ```text
//!   ^C before or during the run   what goes on ends at once; then it is cleaned up,
//!                                 for a limited time
//!   ^C during the clean-up        the clean-up ends at once
//!   no ^C                         the clean-up ends by itself, or after a long time
//! ```
//!
//! What waits for a server looks at its [`Cancellation`] every few hundredths of a second.

use crate::control_socket::{FleetControl, SocketChoice};
use filestone_control::load_control::{RemainingTime, SteeredPoint};
use filestone_measure::cost::Counter;
use filestone_measure::measure::fleet_record::{ChangeRecord, GroupRecord};
use filestone_measure::measure::run_record::{IntervalRecord, Target};
use filestone_measure::measure::{
    ConnectionsRecord, DistributionRecord, IntervalBuffer, RunPhase, RunRecord,
};
use filestone_workload::password::Password;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

/// How often it is looked whether to end, where nothing else wakes a thread.
pub const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The run is to end before it has begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("interrupted before anything was measured")]
pub struct Interrupted;

/// Is told how a run goes on, on the coordinating thread.
pub trait Observer {
    /// What is being done before or after the measured run.
    fn preparing(&mut self, _what: &str) {}
    /// What whoever asked should know of the target, before the run.
    fn note(&mut self, _what: &str) {}
    /// The target has been found and everything is looked up.
    fn prepared(&mut self, _target: &Target) {}
    /// Whether it is to be told what the load generator itself came to, which takes some time to add up.
    fn wants_generator(&self) -> bool {
        false
    }
    /// What the load generator itself came to in the interval that is told next.
    fn generator(&mut self, _share: &GeneratorUsage) {}
    /// Another part of the run begins.
    fn phase(&mut self, _phase: RunPhase) {}
    /// The clients are connected.
    fn connected(&mut self, _connections: &ConnectionsRecord) {}
    /// An interval is complete: what all workers counted in it, some of which is in no record of an
    /// interval. It is filled anew afterwards.
    fn counted(&mut self, _interval: &mut IntervalBuffer) {}
    /// An interval of a job of several hosts is complete: what they counted in it, of which this process
    /// has no more than the record.
    fn counted_by_hosts(&mut self, _interval: &IntervalRecord) {}
    /// An interval is complete.
    fn interval(&mut self, _record: &IntervalRecord) {}
    /// What a steered run, or a calibration, is doing, and for how long it will go on.
    fn steering(&mut self, _what: &str, _left: Option<RemainingTime>) {}
    /// So many operations per second are due from now on, of a steered run.
    fn offered(&mut self, _load_ops_per_s: f64) {}
    /// A second of a fleet has passed; to look at its groups takes a look at each client.
    fn fleet(&mut self, _groups: &dyn Fn() -> Vec<GroupRecord>) {}
    /// A load of a steered run has been measured.
    fn point(&mut self, _point: &SteeredPoint) {}
    /// A second of a replay has passed.
    fn progress(&mut self, _progress: &Progress) {}
    /// The clients of a fleet can be told something from now on, until its run is over.
    fn controllable(&mut self, _control: &FleetControl) {}
    /// What the server counted lately, where it is read.
    fn server(&mut self, _rates: &[ServerRates]) {}
    /// Clients of a fleet were told something.
    fn changed(&mut self, _change: &ChangeRecord) {}
    /// All is measured, and what is cleaned up now may take long: the record, but for what comes of that.
    fn measured(&mut self, _record: &RunRecord) {}
}

/// What the load generator itself came to in an interval.
#[derive(Debug, Clone, PartialEq)]
pub struct GeneratorUsage {
    /// ready → sent of measured operations: its own lateness.
    pub dispatch_delay_ns: DistributionRecord,
    /// Time that its workers were ready to run and had no processor, summed over all, in nanoseconds.
    pub waited_ns: u64,
}

/// An observer that ignores everything.
pub struct NoObserver;

impl Observer for NoObserver {}

/// What a source of readings of the server counted between its last two readings.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerRates {
    /// Where it was read.
    pub source: String,
    /// Of each counter, per second.
    pub per_s: Vec<(Counter, f64)>,
}

/// Which part of a replay is going on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgressPhase {
    /// Nothing is measured yet.
    WarmUp,
    /// The measured window is open, or its last lines are ending.
    Execute,
    /// Clients take their trees away.
    CleanUp,
}

/// How far a replay is: dbench's row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Which part of it is going on.
    pub phase: ProgressPhase,
    /// All clients; in the clean-up, those that are not clean.
    pub clients: u32,
    /// Lines that a client has carried out, on average, over all passes.
    pub line: u64,
    /// File data moved since the phase began, per second of it; in the clean-up, of the phase before.
    pub bytes_per_s: f64,
    /// Seconds since the phase began; in the clean-up, as in dbench, since the window opened.
    pub seconds: f64,
    /// Longest response time of an operation that ended since the last row, or
    /// that is still going on.
    pub latency_max_ns: u64,
}

/// What the conductor of a job wants of a run that goes on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum JobCommand {
    /// To offer so many operations per second from now on.
    Offer(f64),
    /// To end, as if its time were over.
    Finish,
}

/// Conducts a run that is part of a job of several hosts: says when it begins, what it offers and
/// when it ends, and hears of each interval.
pub trait JobController {
    /// All clients are connected. Returns when the run is to begin, or when `stop` is set.
    fn start(&mut self, stop: &AtomicBool);

    /// An interval is complete, in which so many operations per second were offered, during all of
    /// it or not.
    fn interval(&mut self, interval: &IntervalRecord, offered_load_ops_per_s: f64, is_whole: bool);

    /// The next order, if there is one.
    fn order(&mut self) -> Option<JobCommand>;
}

/// What goes through all parts of a run: how it is told to end, whom it tells, and what is in no
/// plan.
pub struct Context<'run> {
    /// Set from outside, by ^C: the run is to end.
    pub stop: &'run AtomicBool,
    /// Cancels what is going on now. It follows `stop` within [`Context::cancellable`].
    pub cancellation: Cancellation,
    /// Is told how the run goes on.
    pub observer: &'run mut dyn Observer,
    /// The password of the user that clients log on as, if there is one.
    pub password: Option<&'run Password>,
    /// The socket through which a fleet is controlled while it runs.
    pub fleet_socket: SocketChoice,
    /// Who conducts the run, if it is part of a job of several hosts.
    pub conductor: Option<&'run mut dyn JobController>,
}

impl<'run> Context<'run> {
    /// The context of a run that `stop` ends and `observer` looks at.
    pub fn new(stop: &'run AtomicBool, observer: &'run mut dyn Observer) -> Self {
        Self {
            stop,
            cancellation: Cancellation::default(),
            observer,
            password: None,
            fleet_socket: SocketChoice::None,
            conductor: None,
        }
    }

    /// The same for a run that is part of a job.
    #[must_use]
    pub fn conducted_by(self, conductor: &'run mut dyn JobController) -> Self {
        Self {
            conductor: Some(conductor),
            ..self
        }
    }

    /// The same for a fleet that is controlled through this socket.
    #[must_use]
    pub fn with_fleet_socket(self, fleet_socket: SocketChoice) -> Self {
        Self {
            fleet_socket,
            ..self
        }
    }

    /// The same for a run whose clients log on with this password.
    #[must_use]
    pub fn with_password(self, password: Option<&'run Password>) -> Self {
        Self { password, ..self }
    }

    /// Tells what is being done.
    pub fn preparing(&mut self, what: &str) {
        self.observer.preparing(what);
    }

    /// An error if the run is to end.
    pub fn check_cancelled(&self) -> Result<(), Interrupted> {
        check_cancelled(self.stop)?;
        self.cancellation.check_cancelled()
    }

    /// Does `work`, which is cancelled when the run is to end meanwhile.
    pub fn cancellable<R>(&mut self, work: impl FnOnce(&mut Self) -> R) -> R {
        let (stop, cancellation) = (self.stop, self.cancellation.clone());
        cancel_on(stop, &cancellation, || work(self))
    }
}

/// An error if the run is to end.
pub fn check_cancelled(stop: &AtomicBool) -> Result<(), Interrupted> {
    if stop.load(Ordering::Relaxed) {
        return Err(Interrupted);
    }
    Ok(())
}

/// Says that work is to end. What takes many steps, or waits, looks at it between two steps.
#[derive(Debug, Clone, Default)]
pub struct Cancellation(Arc<AtomicBool>);

impl Cancellation {
    /// From now on every clone says so.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the work is to end.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// An error if the work is to end.
    pub fn check_cancelled(&self) -> Result<(), Interrupted> {
        if self.is_cancelled() {
            return Err(Interrupted);
        }
        Ok(())
    }

    /// Waits; `false`, and early, if the work is to end.
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

/// When a clean-up is to end before it is done.
///
/// One that follows ^C still takes away what the run made, but not for ever; one that meets
/// ^C ends. Without ^C there is a limit, too: a server may list new names for ever.
#[derive(Debug)]
pub struct CleanUpDeadline {
    began: Instant,
    was_stopped: bool,
    limits: CleanUpLimits,
}

/// How long a clean-up may take.
#[derive(Debug, Clone, Copy)]
pub struct CleanUpLimits {
    /// After a run that was stopped.
    pub stopped: Duration,
    /// After any other.
    pub finished: Duration,
}

/// A clean-up may take so many times as long as the run, and as long as a call may besides: a
/// server that lists new names for ever must not be cleaned for ever.
const CLEAN_UP_LENGTHS: u32 = 3;

/// How long trees are taken away, of a run that has taken so long. What was made in that time is
/// removed in a part of it.
pub fn clean_up_limits(timeout: Duration, run: Duration) -> CleanUpLimits {
    CleanUpLimits {
        stopped: timeout,
        finished: timeout.saturating_add(run.saturating_mul(CLEAN_UP_LENGTHS)),
    }
}

impl CleanUpDeadline {
    /// Of a clean-up that begins now, after a run that was stopped or was not.
    pub fn new(was_stopped: bool, limits: CleanUpLimits) -> Self {
        Self {
            began: Instant::now(),
            was_stopped,
            limits,
        }
    }

    /// Whether it is time to end, if the run is stopped or not.
    pub fn is_due(&self, is_stopped: bool) -> bool {
        let took = self.began.elapsed();
        if self.was_stopped {
            took >= self.limits.stopped
        } else {
            is_stopped || took >= self.limits.finished
        }
    }
}

/// Does `work` and cancels it when the run is stopped meanwhile.
pub fn cancel_on<R>(stop: &AtomicBool, cancellation: &Cancellation, work: impl FnOnce() -> R) -> R {
    let is_stopped = || stop.load(Ordering::Relaxed);
    if is_stopped() {
        cancellation.cancel();
    }
    watch(cancellation, is_stopped, work)
}

/// Does `work` and cancels it when the run is stopped meanwhile, or when it has taken `most`.
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

/// Does the `work` of a clean-up, for as long as the limits say.
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

/// Does `work` while another thread cancels it when it is time.
fn watch<R>(
    cancellation: &Cancellation,
    is_time: impl Fn() -> bool + Send,
    work: impl FnOnce() -> R,
) -> R {
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
        // A host without another thread has worse to tell, and soon.
        let _ = thread.spawn_scoped(scope, look);
        let result = work();
        drop(working);
        result
    })
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
