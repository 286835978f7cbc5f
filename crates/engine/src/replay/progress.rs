//! Hook of a replay: reports its progress once a second, and sets the cancellations that abort long
//! actions and long clean-ups.

use crate::run::{RunHook, RunSnapshot, Stage};
use filestone_host::control::{
    Cancellation, CleanUpDeadline, LOOK_EVERY, Observer, clean_up_limits,
};
use filestone_measure::measure::progress::{Progress, ProgressPhase};
use filestone_plan::plan::Plan;
use filestone_protocol::workload::load_file::{ReplayClientStats, SharedLoad};
use filestone_workload::time::Timestamp;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// A second: dbench's row.
const ROW: u64 = 1_000_000_000;
/// Cancellations that clients check during one action.
#[derive(Debug, Clone, Default)]
pub struct Cancellations {
    /// The load must end.
    pub work: Cancellation,
    /// The removal of trees must end.
    pub clean_up: Cancellation,
}

/// Sets the cancellations at their times.
pub struct CancellationTimer {
    window_end: Timestamp,
    timeout: Duration,
    cancellations: Cancellations,
    /// Set as soon as the run is stopped, or all clients are done.
    clean_up: Option<CleanUpDeadline>,
}

impl CancellationTimer {
    pub fn new(plan: &Plan, cancellations: Cancellations) -> Self {
        let window = plan.window();
        Self {
            window_end: window.end,
            timeout: Duration::from_nanos(plan.timeout_ns),
            cancellations,
            clean_up: None,
        }
    }

    /// Polls a run; returns the time of the next poll.
    pub fn poll(&mut self, at: &RunSnapshot<'_>) -> Timestamp {
        self.cancel(at);
        at.now.after(LOOK_EVERY)
    }

    fn cancel(&mut self, at: &RunSnapshot<'_>) {
        // An action of many calls is aborted when the window has been over for the time limit of
        // one call.
        let work_end = match self.window_end {
            Timestamp::MAX => Timestamp::MAX,
            end => end.after(self.timeout),
        };
        if at.is_stopped || at.now >= work_end {
            self.cancellations.work.cancel();
        }
        let was_stopped = match at.stage {
            Stage::Running if at.is_stopped => true,
            Stage::Running => return,
            Stage::Done | Stage::Left => at.was_stopped,
        };
        let limits = clean_up_limits(self.timeout, at.now.since(Timestamp::ZERO));
        let end = self
            .clean_up
            .get_or_insert_with(|| CleanUpDeadline::new(was_stopped, limits));
        if end.is_due(at.is_stopped) {
            self.cancellations.clean_up.cancel();
        }
    }
}

/// Hook of a replay.
pub struct ReplayProgressHook {
    clients: u32,
    window_start: Timestamp,
    window_end: Timestamp,
    shared: Arc<SharedLoad>,
    /// Number of clients whose trees have been removed.
    cleaned: Arc<AtomicU32>,
    ending: CancellationTimer,
    /// Time of the next row.
    row: Timestamp,
    is_measuring: bool,
    /// Bytes moved before the window opened.
    bytes_before: u64,
    /// Whether no more operations begin: dbench calls the following phase the clean-up.
    is_cleaning: bool,
    /// Bytes per second at the end of the operations.
    last_rate: f64,
}

impl ReplayProgressHook {
    pub fn new(
        plan: &Plan,
        shared: Arc<SharedLoad>,
        cleaned: Arc<AtomicU32>,
        cancellations: Cancellations,
    ) -> Self {
        let window = plan.window();
        Self {
            clients: plan.clients,
            window_start: window.start,
            window_end: window.end,
            shared,
            cleaned,
            ending: CancellationTimer::new(plan, cancellations),
            row: Timestamp::ZERO.after_nanos(ROW),
            is_measuring: false,
            bytes_before: 0,
            is_cleaning: false,
            last_rate: 0.0,
        }
    }

    fn note_phase(&mut self, at: &RunSnapshot<'_>, observer: &mut dyn Observer) {
        if !self.is_measuring && at.now >= self.window_start {
            self.is_measuring = true;
            self.bytes_before = self.bytes_moved();
        }
        let is_over = at.now >= self.window_end || at.stage != Stage::Running;
        if is_over && !self.is_cleaning {
            self.last_rate = self.rate(at.now);
            self.is_cleaning = true;
            // Some clients may already be clean when this thread gets here.
            observer.progress(&Progress {
                clients: self.clients,
                ..self.progress(at.now)
            });
        }
    }

    fn gauges(&self) -> impl Iterator<Item = &ReplayClientStats> {
        self.shared.gauges().iter()
    }

    fn bytes_moved(&self) -> u64 {
        let moved = self.gauges().map(ReplayClientStats::data_bytes);
        moved.fold(0, u64::saturating_add)
    }

    /// Returns the seconds since the phase began; after the window, the seconds since its start.
    fn seconds(&self, now: Timestamp) -> f64 {
        let since = if self.is_measuring {
            self.window_start
        } else {
            Timestamp::ZERO
        };
        now.nanos_since(since) as f64 / 1e9
    }

    /// Returns the bytes per second since the phase began.
    fn rate(&self, now: Timestamp) -> f64 {
        let moved = self.bytes_moved().saturating_sub(self.bytes_before);
        moved as f64 / self.seconds(now).max(1e-9)
    }

    fn progress(&self, now: Timestamp) -> Progress {
        let phase = match (self.is_cleaning, self.is_measuring) {
            (true, _) => ProgressPhase::CleanUp,
            (false, true) => ProgressPhase::Execute,
            (false, false) => ProgressPhase::WarmUp,
        };
        let (rate, cleaned) = match phase {
            ProgressPhase::WarmUp | ProgressPhase::Execute => (self.rate(now), 0),
            ProgressPhase::CleanUp => (self.last_rate, self.cleaned.load(Ordering::Acquire)),
        };
        let lines: u64 = self.gauges().map(ReplayClientStats::lines).sum();
        let worst = self.gauges().map(|gauge| gauge.worst(now)).max();
        Progress {
            phase,
            clients: self.clients.saturating_sub(cleaned),
            line: lines / u64::from(self.clients.max(1)),
            bytes_per_s: rate,
            seconds: self.seconds(now),
            latency_max_ns: worst.unwrap_or(0),
        }
    }
}

impl RunHook for ReplayProgressHook {
    fn poll(&mut self, at: &RunSnapshot<'_>, observer: &mut dyn Observer) -> Timestamp {
        self.note_phase(at, observer);
        let again = self.ending.poll(at);
        if at.now >= self.row || at.stage == Stage::Left {
            observer.progress(&self.progress(at.now));
            let rows = 1 + at.now.nanos_since(self.row) / ROW;
            self.row = self.row.after_nanos(ROW * rows);
        }
        let mut next = self.row.min(again);
        if !self.is_measuring {
            next = next.min(self.window_start);
        }
        next
    }
}
