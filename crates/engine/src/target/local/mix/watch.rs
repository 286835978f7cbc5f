//! The coordinator: it looks at the kernel's counters every two seconds, takes what clients
//! have measured once per interval, and closes the books.

use super::client::{ClientEnd, Shared};
use super::clients::{ClientGroup, Clients};
use crate::control::Observer;
use crate::error::RunError;
use crate::time::Time;
use filestone_model::measure::{Assembly, IntervalBuffer, Recorder, Role, Sample};
use filestone_model::mix::Counters;
use filestone_model::mix::feedback::{CORRECTION_NS, FIRST_CORRECTION_NS};
use filestone_model::plan::{FeedbackArithmetic, MixPlan, Plan, TICK_NANOS};
use filestone_model::time::Moment;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

/// How often the coordinator looks up.
const NAP_NANOS: u64 = 20_000_000;
/// The same when a number of calls ends the run.
const COUNT_NAP_NANOS: u64 = 1_000_000;

/// An empty buffer for the kinds of a plan.
fn buffer(plan: &Plan) -> Box<IntervalBuffer> {
    let ticks = plan.interval_ns.div_ceil(TICK_NANOS).max(1);
    Box::new(IntervalBuffer::new(
        &plan.kinds(),
        ticks as usize + 1,
        TICK_NANOS,
    ))
}

/// Watches the clients of all mounts.
pub(super) struct MixCoordinator<'run> {
    plan: &'run Plan,
    pub clients: Clients<'run>,
    shared: &'run Shared<'run>,
    /// Whether correcting is the coordinator's: by nhfsstone's arithmetic each client does it.
    corrects: bool,
    recorder: Recorder,
    pub assembly: Assembly,
    interval_start: Moment,
    is_measuring: bool,
    /// Each group's counters when its counting began.
    before: Vec<Counters>,
    next_correction: Moment,
    /// When it looked up last.
    now: Moment,
    /// The counters could not be read any more.
    pub failed: Option<String>,
}

impl<'run> MixCoordinator<'run> {
    pub fn new(
        plan: &'run Plan,
        mix: &MixPlan,
        clients: Clients<'run>,
        shared: &'run Shared<'run>,
    ) -> Result<Self, RunError> {
        let mut assembly = Assembly::new(plan);
        // There is one recorder, whatever the plan says of workers.
        (1..plan.workers as usize).for_each(|worker| assembly.finish(worker));
        let mut coordinator = Self {
            plan,
            clients,
            shared,
            corrects: mix.local.arithmetic == FeedbackArithmetic::Exact
                || plan.arrivals.offered_load().is_none(),
            recorder: Recorder::new(buffer(plan), shared.window_start, shared.window_end),
            assembly,
            interval_start: shared.window_start,
            is_measuring: false,
            before: Vec::new(),
            next_correction: Moment::from_nanos(FIRST_CORRECTION_NS),
            now: Moment::ZERO,
            failed: None,
        };
        coordinator.restart()?;
        Ok(coordinator)
    }

    /// Waits for the threads' ends; corrects and takes intervals meanwhile.
    pub fn watch<E>(
        &mut self,
        ends: &Receiver<E>,
        time: &impl Time,
        observer: &mut dyn Observer,
    ) -> Vec<E> {
        let nap = match self.plan.count {
            Some(_) => COUNT_NAP_NANOS,
            None => NAP_NANOS,
        };
        let mut all = Vec::new();
        loop {
            match ends.recv_timeout(Duration::from_nanos(nap)) {
                Ok(end) => all.push(end),
                Err(RecvTimeoutError::Disconnected) => return all,
                Err(RecvTimeoutError::Timeout) => {}
            }
            self.turn(time.now(), observer);
        }
    }

    /// Does what is due at `now`: a look at the counters, the intervals that have ended.
    pub fn turn(&mut self, now: Moment, observer: &mut dyn Observer) {
        self.now = now;
        if let Err(error) = self.look(now) {
            self.failed.get_or_insert(error.to_string());
            self.clients.end();
        }
        while now >= self.next_boundary() && self.clients.done_at().is_none() {
            self.take_interval(self.next_boundary(), observer);
        }
    }

    fn look(&mut self, now: Moment) -> Result<(), RunError> {
        if !self.is_measuring && now >= self.shared.window_start {
            self.is_measuring = true;
            if self.shared.window_start > Moment::ZERO {
                self.restart()?;
            }
        }
        let is_due = now >= self.next_correction;
        for (index, group) in self.clients.groups.iter().enumerate() {
            let seems_complete = group.arithmetic().seems_complete();
            if self.corrects && (is_due || self.is_measuring && seems_complete) {
                self.correct(index, group, now)?;
            }
        }
        if is_due {
            self.next_correction = now.after_nanos(CORRECTION_NS);
        }
        Ok(())
    }

    /// Counting begins anew: at the start, and when the window opens.
    fn restart(&mut self) -> Result<(), RunError> {
        let groups = self.clients.groups.iter();
        self.before = groups.map(ClientGroup::read).collect::<Result<_, _>>()?;
        for group in self.clients.groups {
            group.arithmetic().restart();
        }
        Ok(())
    }

    fn correct(&self, index: usize, group: &ClientGroup, now: Moment) -> Result<(), RunError> {
        let seen = self.seen(index)?;
        let waiting = self.waiting(index, now);
        let mut arithmetic = group.arithmetic();
        let origin = if self.is_measuring {
            self.shared.window_start
        } else {
            Moment::ZERO
        };
        let at_ns = now.nanos_since(origin);
        let is_complete = if group.kernel.is_some() {
            let correction = arithmetic.correct(at_ns, &seen, waiting);
            group.corrections().push(correction);
            arithmetic.is_complete()
        } else {
            arithmetic.replan(at_ns, waiting);
            arithmetic.seems_complete()
        };
        if is_complete && self.is_measuring {
            group.end();
        }
        Ok(())
    }

    /// Calls of a group on the wire since its counting began.
    pub fn seen(&self, index: usize) -> Result<Counters, RunError> {
        let now = self.clients.groups.get(index).map(ClientGroup::read);
        let now = now.transpose()?.unwrap_or_default();
        Ok(match self.before.get(index) {
            Some(before) => now.since(before),
            None => now,
        })
    }

    /// Operations of a group that are due, and wait because their client is not free.
    fn waiting(&self, index: usize, now: Moment) -> f64 {
        let pause_ns = self.clients.groups[index].pause_ns();
        if pause_ns > 0.0 {
            self.clients.late_ns(index, now) as f64 / pause_ns
        } else {
            0.0
        }
    }

    /// Where the interval being filled ends: never inside of it is the end of the window.
    fn next_boundary(&self) -> Moment {
        let len = self.plan.interval_ns.max(TICK_NANOS);
        let end = self.interval_start.after_nanos(len);
        if self.interval_start < self.shared.window_end {
            end.min(self.shared.window_end)
        } else {
            end
        }
    }

    fn take_interval(&mut self, boundary: Moment, observer: &mut dyn Observer) {
        self.enter(boundary);
        let full = self.recorder.hand_over(buffer(self.plan), boundary);
        self.interval_start = boundary;
        self.assembly.take(0, full);
        while let Some((record, _)) = self.assembly.complete() {
            observer.interval(&record);
        }
    }

    /// Enters what ended before `until`.
    fn enter(&mut self, until: Moment) {
        let (recorder, shared) = (&mut self.recorder, self.shared);
        for mailbox in self.clients.mailboxes {
            mailbox.drain(until, |sample| enter(recorder, shared, sample));
        }
    }

    /// Enters what is left; says when the window closed.
    pub fn close(&mut self, ends: &[ClientEnd]) -> Moment {
        let done_at = self.clients.done_at().unwrap_or(self.now);
        self.enter(Moment::NEVER);
        for end in ends {
            let (kind, count) = (self.plan.measured_kind(), end.skipped);
            self.recorder.buffer().skip(kind, Role::Measured, count);
        }
        let end = done_at.max(self.interval_start);
        let mut full = self.recorder.hand_over(buffer(self.plan), end);
        full.counts.cpu_nanos = ends.iter().map(|end| end.thread.cpu_ns).sum();
        self.assembly.take(0, full);
        // A run that ends by itself, or is stopped, closes its window then.
        let window_end = self.shared.window_end.min(done_at);
        window_end.max(self.shared.window_start)
    }
}

fn enter(recorder: &mut Recorder, shared: &Shared<'_>, sample: &Sample) {
    if recorder.is_measured(sample.due) {
        recorder.schedule(sample.kind, sample.role, 1);
    }
    recorder.record_one(sample);
    let (sent, done) = (sample.completion.sent, sample.completion.done);
    let from = sent.max(shared.window_start);
    let in_window = done.min(shared.window_end).nanos_since(from);
    recorder.buffer().counts.in_flight_nanos += u128::from(in_window);
}
