//! Ending before its time: a sign that work looks at, and who raises it.
//!
//! ```text
//!   ^C before or during the run   what goes on ends at once; then it is cleaned up,
//!                                 for a limited time
//!   ^C during the clean-up        the clean-up ends at once
//!   no ^C                         the clean-up ends by itself, or after a long time
//! ```
//!
//! What waits for a server looks at the sign every few hundredths of a second.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

/// How often it is looked whether to end, where nothing else wakes a thread.
pub const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Says that work is to end. Whoever does much for one action, or waits, looks at it
/// between two pieces.
#[derive(Debug, Clone, Default)]
pub struct StopSign(Arc<AtomicBool>);

impl StopSign {
    /// From now on everybody sees it.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the work is to end.
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Waits; `false`, and early, if the work is to end.
    pub fn pause(&self, pause: Duration) -> bool {
        let end = Instant::now() + pause;
        loop {
            if self.is_raised() {
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
pub struct CleanUpEnd {
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

impl CleanUpEnd {
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
        match self.was_stopped {
            true => took >= self.limits.stopped,
            false => is_stopped || took >= self.limits.finished,
        }
    }
}

/// Does `work` and raises `sign` when somebody stops the run meanwhile.
pub fn attend<R>(stop: &AtomicBool, sign: &StopSign, work: impl FnOnce() -> R) -> R {
    let is_stopped = || stop.load(Ordering::Relaxed);
    if is_stopped() {
        sign.raise();
    }
    watch(sign, is_stopped, work)
}

/// Does the `work` of a clean-up, for as long as the limits say.
pub fn attend_clean_up<R>(
    stop: &AtomicBool,
    limits: CleanUpLimits,
    sign: &StopSign,
    work: impl FnOnce() -> R,
) -> R {
    let is_stopped = || stop.load(Ordering::Relaxed);
    let end = CleanUpEnd::new(is_stopped(), limits);
    watch(sign, || end.is_due(is_stopped()), work)
}

/// Does `work` while another thread raises the sign when it is time.
fn watch<R>(sign: &StopSign, is_time: impl Fn() -> bool + Send, work: impl FnOnce() -> R) -> R {
    let (working, ended) = sync_channel::<()>(0);
    std::thread::scope(|scope| {
        let look = move || {
            while ended.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
                if is_time() {
                    sign.raise();
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
    fn a_pause_ends_when_the_sign_is_raised() {
        let sign = StopSign::default();
        assert!(sign.pause(Duration::from_millis(1)));
        sign.raise();
        assert!(!sign.pause(Duration::from_secs(3600)));
        assert!(!sign.pause(Duration::ZERO));
    }

    #[test]
    fn work_sees_a_stop_that_comes_while_it_goes_on() {
        let (stop, sign) = (AtomicBool::new(false), StopSign::default());
        let was_cut = attend(&stop, &sign, || {
            stop.store(true, Ordering::Relaxed);
            !sign.pause(Duration::from_secs(3600))
        });
        assert!(was_cut);
        let sign = StopSign::default();
        assert!(attend(&stop, &sign, || sign.is_raised()), "at once");
    }

    #[test]
    fn a_clean_up_after_a_stop_goes_on_for_a_while_and_ends_at_another() {
        let stop = AtomicBool::new(true);
        let sign = StopSign::default();
        let hour = Duration::from_secs(3600);
        let limits = |stopped, finished| CleanUpLimits { stopped, finished };
        let (never, at_once) = (limits(hour, hour), Duration::ZERO);
        attend_clean_up(&stop, never, &sign, || assert!(!sign.is_raised()));
        attend_clean_up(&stop, limits(at_once, hour), &sign, || {
            assert!(!sign.pause(hour));
        });
        let (stop, sign) = (AtomicBool::new(false), StopSign::default());
        attend_clean_up(&stop, never, &sign, || {
            stop.store(true, Ordering::Relaxed);
            assert!(!sign.pause(hour));
        });
        let (stop, sign) = (AtomicBool::new(false), StopSign::default());
        attend_clean_up(&stop, limits(hour, at_once), &sign, || {
            assert!(!sign.pause(hour));
        });
    }
}
