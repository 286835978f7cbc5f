//! The coordinator of a replay: it watches the clients, tells once a second how far
//! they are, takes what they have measured once per interval, and closes the books.

use super::client::{Shared, enter};
use super::mailbox::ReplayMailbox;
use super::record::{Measured, RunTimes, ThreadEnd};
use super::{Progress, ProgressPhase};
use crate::clock::Clock;
use crate::control::Observer;
use crate::control::{Cancellation, CleanUpEnd, CleanUpLimits, LOOK_EVERY};
use crate::processors::Meter;
use filestone_model::measure::processors::ProcessorTime;
use filestone_model::measure::{Assembly, IntervalBuffer};
use filestone_model::plan::{Plan, ReplayPlan, TICK_NANOS};
use filestone_model::time::Moment;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, SystemTime};

/// A second: dbench's row.
const ROW: u64 = 1_000_000_000;
/// A clean-up may take so many times as long as the run, and as long as a call may besides: a
/// server that lists new names for ever must not be cleaned for ever.
const CLEAN_UP_LENGTHS: u32 = 3;
/// An empty buffer for the kinds of a plan.
pub(super) fn buffer(plan: &Plan) -> IntervalBuffer {
    let ticks = plan.interval_ns.div_ceil(TICK_NANOS).max(1);
    IntervalBuffer::new(&plan.kinds(), ticks as usize + 1, TICK_NANOS)
}

/// What clients look at while they are busy with one action.
#[derive(Debug, Default)]
pub(super) struct Cancellations {
    /// The load is to end.
    pub(super) work: Cancellation,
    /// So is taking trees away.
    pub(super) clean_up: Cancellation,
}

/// How long trees are taken away, of a run that has taken so long. What was made in that time is
/// removed in a part of it.
pub(super) fn clean_up_limits(timeout: Duration, run: Moment) -> CleanUpLimits {
    CleanUpLimits {
        stopped: timeout,
        finished: timeout + Duration::from_nanos(run.nanos()) * CLEAN_UP_LENGTHS,
    }
}

/// When the cancellations are raised.
struct Watch<'run> {
    cancellations: &'run Cancellations,
    /// The end of the window, and as long as a call may take: an action of many calls is broken
    /// off then.
    work_end: Moment,
    /// How long a call may take.
    timeout: Duration,
    /// Known as soon as the run is stopped, or all clients are done.
    clean_up: Option<CleanUpEnd>,
}

impl Watch<'_> {
    /// `done` is known when all clients have carried out their last line: whether that was
    /// because the run was stopped.
    fn look(&mut self, now: Moment, is_stopped: bool, done: Option<bool>) {
        if is_stopped || now >= self.work_end {
            self.cancellations.work.cancel();
        }
        let Some(was_stopped) = done.or(is_stopped.then_some(true)) else {
            return;
        };
        let limits = clean_up_limits(self.timeout, now);
        let end = self
            .clean_up
            .get_or_insert_with(|| CleanUpEnd::new(was_stopped, limits));
        if end.is_due(is_stopped) {
            self.cancellations.clean_up.cancel();
        }
    }
}

/// Watches the clients and takes what they measure.
pub(super) struct ReplayCoordinator<'run> {
    plan: &'run Plan,
    clients_per_thread: usize,
    mailboxes: &'run [ReplayMailbox],
    shared: &'run Shared<'run>,
    assembly: Assembly,
    /// The buffer that comes next.
    spare: Option<Box<IntervalBuffer>>,
    /// When the interval being filled began.
    interval_start: Moment,
    cpu_entered: u64,
    /// Bytes that had been moved when the window opened.
    bytes_before: u64,
    is_measuring: bool,
    /// Looks at the processors since the window opened.
    meter: Option<Meter>,
    /// What it saw until the last client was done.
    processors: Option<ProcessorTime>,
    /// Whether nothing more begins: dbench calls what follows the clean-up.
    is_cleaning: bool,
    /// When the last client had carried out its last line.
    all_done_at: Option<Moment>,
}

impl<'run> ReplayCoordinator<'run> {
    pub(super) fn new(
        plan: &'run Plan,
        clients_per_thread: usize,
        mailboxes: &'run [ReplayMailbox],
        shared: &'run Shared<'run>,
    ) -> Self {
        Self {
            plan,
            clients_per_thread,
            mailboxes,
            shared,
            assembly: Assembly::new(plan),
            spare: None,
            interval_start: shared.window_start,
            cpu_entered: 0,
            bytes_before: 0,
            is_measuring: false,
            meter: None,
            processors: None,
            is_cleaning: false,
            all_done_at: None,
        }
    }

    /// Waits for the threads' ends; tells of progress and takes intervals meanwhile.
    pub(super) fn watch(
        &mut self,
        clock: &Clock,
        all_done: &Receiver<ThreadEnd>,
        cancellations: &Cancellations,
        observer: &mut dyn Observer,
    ) -> Vec<ThreadEnd> {
        let mut ends = Vec::new();
        self.note_phase(clock.now());
        let mut row = Moment::ZERO.after_nanos(ROW);
        let mut watch = Watch {
            cancellations,
            work_end: match self.shared.window_end {
                Moment::NEVER => Moment::NEVER,
                end => end.after_nanos(self.plan.timeout_ns),
            },
            timeout: Duration::from_nanos(self.plan.timeout_ns),
            clean_up: None,
        };
        loop {
            let mut next = row;
            // The books of what has been carried out are closed all at once, when
            // nothing more comes.
            if self.all_done_at.is_none() {
                next = next.min(self.next_boundary());
            }
            if !self.is_measuring {
                next = next.min(self.shared.window_start);
            }
            let left = Duration::from_nanos(next.nanos_since(clock.now()));
            match all_done.recv_timeout(left.min(LOOK_EVERY)) {
                Ok(end) => ends.push(end),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {}
            }
            let now = clock.now();
            let is_stopped = self.shared.stop.load(Ordering::Relaxed);
            self.note_phase(now);
            watch.look(now, is_stopped, self.was_stopped());
            if now >= self.next_boundary() && self.all_done_at.is_none() {
                self.take_interval(self.next_boundary(), observer);
            }
            if now >= row {
                observer.progress(&self.progress(now));
                row = row.after_nanos(ROW * (1 + now.nanos_since(row) / ROW));
            }
            let is_over = now >= self.shared.window_end || self.all_done_at.is_some();
            if is_over && !self.is_cleaning {
                self.is_cleaning = true;
                // Of which some may be clean by the time that this thread comes to it.
                observer.progress(&Progress {
                    clients: self.plan.clients,
                    ..self.progress(now)
                });
            }
        }
        let now = clock.now();
        self.note_phase(now);
        self.is_cleaning = true;
        observer.progress(&self.progress(now));
        ends
    }

    /// Where the interval being filled ends: never inside of it is the end of the window.
    fn next_boundary(&self) -> Moment {
        let end = self
            .interval_start
            .after_nanos(self.plan.interval_ns.max(TICK_NANOS));
        if self.interval_start < self.shared.window_end {
            end.min(self.shared.window_end)
        } else {
            end
        }
    }

    /// Notices the opening of the window and the end of the last client.
    fn note_phase(&mut self, now: Moment) {
        if !self.is_measuring && now >= self.shared.window_start {
            self.is_measuring = true;
            self.bytes_before = self.bytes_moved();
            // What the warm-up took is no cost of what is measured.
            self.cpu_entered = self.cpu_used();
            self.meter = Some(Meter::start());
        }
        if self.all_done_at.is_none() {
            self.all_done_at = all_done_at(self.mailboxes);
            if self.all_done_at.is_some() {
                self.processors = self.meter.as_ref().map(Meter::used);
            }
        }
    }

    /// Whether clients ended because the run was stopped, once all have ended.
    fn was_stopped(&self) -> Option<bool> {
        self.all_done_at?;
        let mut mailboxes = self.mailboxes.iter();
        Some(mailboxes.any(|mailbox| mailbox.was_stopped.load(Ordering::Relaxed)))
    }

    fn bytes_moved(&self) -> u64 {
        let moved = self
            .mailboxes
            .iter()
            .map(|mailbox| mailbox.data_bytes.load(Ordering::Relaxed));
        moved.fold(0, u64::saturating_add)
    }

    fn cpu_used(&self) -> u64 {
        cpu_used(self.mailboxes, self.clients_per_thread)
    }

    /// Takes what ended before `boundary`.
    fn take_interval(&mut self, boundary: Moment, observer: &mut dyn Observer) {
        for mailbox in self.mailboxes {
            enter(mailbox, self.shared, boundary);
        }
        let next = match self.spare.take() {
            Some(buffer) => buffer,
            None => Box::new(buffer(self.plan)),
        };
        let cpu = self.cpu_used();
        let mut full = self.shared.recorder().hand_over(next, boundary);
        full.counts.cpu_nanos = cpu.saturating_sub(self.cpu_entered);
        self.cpu_entered = cpu;
        self.interval_start = boundary;
        self.give(full);
        while let Some((record, mut buffer)) = self.assembly.complete() {
            observer.interval(&record);
            buffer.reset(Moment::ZERO);
            self.spare = Some(buffer);
        }
    }

    fn give(&mut self, buffer: Box<IntervalBuffer>) {
        if let Some(mut merged) = self.assembly.take(0, buffer) {
            merged.reset(Moment::ZERO);
            self.spare = Some(merged);
        }
    }

    fn progress(&self, now: Moment) -> Progress {
        let phase = match (self.is_cleaning, self.is_measuring) {
            (true, _) => ProgressPhase::CleanUp,
            (false, true) => ProgressPhase::Execute,
            (false, false) => ProgressPhase::WarmUp,
        };
        let since = if self.is_measuring {
            self.shared.window_start
        } else {
            Moment::ZERO
        };
        let seconds = now.nanos_since(since) as f64 / 1e9;
        let moved = match phase {
            ProgressPhase::WarmUp | ProgressPhase::Execute => {
                self.bytes_moved().saturating_sub(self.bytes_before)
            }
            ProgressPhase::CleanUp => 0,
        };
        let lines: u64 = self
            .mailboxes
            .iter()
            .map(|mailbox| mailbox.lines.load(Ordering::Relaxed))
            .sum();
        let is_active = |mailbox: &&ReplayMailbox| match phase {
            ProgressPhase::CleanUp => !mailbox.is_clean.load(Ordering::Acquire),
            // Each ends a moment after the window does, and that is no news.
            ProgressPhase::WarmUp | ProgressPhase::Execute => true,
        };
        let worst = self
            .mailboxes
            .iter()
            .map(|mailbox| mailbox.worst(now.nanos()));
        Progress {
            phase,
            clients: self.mailboxes.iter().filter(is_active).count() as u32,
            line: lines / u64::from(self.plan.clients.max(1)),
            bytes_per_s: moved as f64 / seconds.max(1e-9),
            seconds,
            latency_max_ns: worst.max().unwrap_or(0),
        }
    }

    /// Enters what is left and closes the books.
    pub(super) fn conclude(
        mut self,
        replay: &ReplayPlan,
        clock: Clock,
        started_at: SystemTime,
        ends: Vec<ThreadEnd>,
    ) -> Measured {
        let done_at = self.all_done_at.unwrap_or_else(|| clock.now());
        // A run that ends by itself, or is stopped, closes its window then.
        let window_end = self
            .shared
            .window_end
            .min(done_at)
            .max(self.shared.window_start);
        for mailbox in self.mailboxes {
            enter(mailbox, self.shared, Moment::NEVER);
        }
        // A run that was stopped in its warm-up has measured nothing.
        let cpu = if self.is_measuring {
            self.cpu_used().saturating_sub(self.cpu_entered)
        } else {
            0
        };
        let last = Box::new(buffer(self.plan));
        let end = done_at.max(self.interval_start);
        let mut full = self.shared.recorder().hand_over(last, end);
        full.counts.cpu_nanos = cpu;
        self.give(full);
        let times = RunTimes {
            clock,
            started_at,
            window_end,
        };
        let (plan, processors) = (self.plan, self.processors);
        Measured::new(self.assembly, plan, replay, times, ends, processors)
    }
}

/// When the last client had carried out its last line; `None` while one is at it.
/// Asked late, the answer is the same.
fn all_done_at(mailboxes: &[ReplayMailbox]) -> Option<Moment> {
    let ends = mailboxes.iter().map(ReplayMailbox::done_at);
    ends.collect::<Option<Vec<_>>>()?.into_iter().max()
}

/// Processor time of all threads. The clients of one thread tell the same clock's
/// time: the latest of them is the thread's.
fn cpu_used(mailboxes: &[ReplayMailbox], clients_per_thread: usize) -> u64 {
    let told = |mailbox: &ReplayMailbox| mailbox.cpu_nanos.load(Ordering::Relaxed);
    let of_thread = |clients: &[ReplayMailbox]| clients.iter().map(told).max().unwrap_or(0);
    mailboxes
        .chunks(clients_per_thread.max(1))
        .map(of_thread)
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_ends_with_the_last_line_of_its_last_client_and_not_with_its_clean_up() {
        let mailboxes = [ReplayMailbox::new(), ReplayMailbox::new()];
        mailboxes[0].finish(Moment::from_nanos(7));
        assert_eq!(all_done_at(&mailboxes), None);
        mailboxes[1].finish(Moment::from_nanos(5));
        assert_eq!(all_done_at(&mailboxes), Some(Moment::from_nanos(7)));
    }

    #[test]
    fn a_thread_is_counted_once_however_many_clients_it_has() {
        let mailboxes = [
            ReplayMailbox::new(),
            ReplayMailbox::new(),
            ReplayMailbox::new(),
        ];
        for (mailbox, nanos) in mailboxes.iter().zip([10, 12, 5]) {
            mailbox.cpu_nanos.store(nanos, Ordering::Relaxed);
        }
        assert_eq!(cpu_used(&mailboxes, 1), 27);
        assert_eq!(cpu_used(&mailboxes, 2), 17);
        assert_eq!(cpu_used(&mailboxes, 8), 12);
    }
}
