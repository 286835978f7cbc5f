//! The worker loop: one thread, many simulated clients, one backend.
//!
//! Until the run ends, the loop starts due operations in free slots; waits for completions until
//! the next due moment; records a sample of each completion and lets its slot continue; and submits
//! the interval at its end. The loop knows neither protocol nor options, and prints nothing.
//! Warm-up, measured window and drain are moments in the [`Schedule`], not copies of the loop.
//!
//! Between a due moment and its completion nothing allocates, formats or logs
//! (`tests/allocations.rs`).

mod client;
mod ending;
mod live_workers;
mod load;
mod losses;
mod offered_load;
mod sample_sink;
mod schedule;
mod shared_sample_sink;

pub use schedule::Schedule;

pub use client::WorkerClient;
pub use live_workers::LiveWorkers;
pub use offered_load::OfferedLoad;
pub use sample_sink::{IntervalSink, LocalSampleSink, SampleSink};
pub use shared_sample_sink::{SharedRecorder, SharedSampleSink};

use crate::backend::{Backend, BackendError, ConnectionCounts, WaitLimit};
use client::{ClientSlots, SlotActivity, WorkerClientState};
use filestone_control::arrivals::counts_of_clients;
use filestone_measure::measure::processors::ThreadTime;
use filestone_measure::measure::stamps::StampedCall;
use filestone_plan::plan::{Plan, TICK_NANOS};
use filestone_protocol::workload::stream::ControlEpoch;
use filestone_protocol::workload::{Next, Workload};
use filestone_workload::completions::{CompletionBatch, for_slot};
use filestone_workload::language::{WorkItem, WorkType};
use filestone_workload::operation::{Completion, OpKind, Outcome, SlotId};
use filestone_workload::recording::interval::IntervalCounts;
use filestone_workload::recording::{IntervalBuffer, Recorder, Role, Sample};
use filestone_workload::time::Timestamp;
use losses::LostClients;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicBool, Ordering};

/// Longest sleep of a worker without checking the stop flag.
const ATTENTION_NANOS: u64 = 50_000_000;
/// Drain time of an interrupted run.
const INTERRUPTED_DRAIN_NANOS: u64 = 500_000_000;

/// End of a worker's run: its time, reason and final figures.
#[derive(Debug)]
pub struct WorkerEnd {
    /// Time at which the worker closed the window: the end of the plan, the end of its last
    /// operation, or the time of the stop.
    pub window_end: Timestamp,
    /// Whether the run was stopped.
    pub is_interrupted: bool,
    /// Loss of the server that ended the measurement, if there was one.
    pub lost: Option<BackendError>,
    /// Counters of the worker's connections.
    pub connections: ConnectionCounts,
    /// The calls that carry kernel timestamps.
    pub stamped: Vec<StampedCall>,
    /// Whether this loss of the server ends the run of the other workers, too.
    pub ends_run: bool,
    /// Times of the worker's thread in the measured window.
    pub time: ThreadTime,
}

/// Result returned by a worker thread.
pub struct WorkerResult<B, W> {
    /// End of the run.
    pub end: WorkerEnd,
    /// Workloads of the clients, in order.
    pub workloads: Vec<W>,
    /// The backend that executed them.
    pub backend: B,
}

/// A worker: the share of one thread in a run.
pub struct Worker<'run, B, W, K> {
    line: Line<B, K>,
    schedule: Schedule,
    clients: Vec<WorkerClientState<W>>,
    /// Clients that wait for a moment: those of open loops for the due time of their next
    /// operation, and those whose workload has no operation before that moment.
    due: BinaryHeap<Reverse<(Timestamp, u32)>>,
    /// Kind of the operations that open loops count as skipped when they cannot start them.
    measured_kind: OpKind,
    /// For each run of the current completions: whether it was repeated.
    repeated: Vec<bool>,
    next_boundary: Timestamp,
    end: Option<Timestamp>,
    last_done: Timestamp,
    is_interrupted: bool,
    /// Number of leading clients that may start no more operations; none of them ever may again.
    exhausted: usize,
    time: ThreadTime,
    lost: LostClients,
    cpu_mark: u64,
    spun_mark: u64,
    waited_mark: u64,
    late_mark: u64,
    is_window_open: bool,
    /// Time up to which operations in flight are counted, and the count since the last buffer was
    /// submitted.
    in_flight_mark: Timestamp,
    in_flight_nanos: u128,
    /// Part of it in which completed operations waited for a connection that was down.
    held_nanos: u128,
    /// Index of this worker.
    index: u32,
    all_clients: u32,
    /// Number of control changes to clients, and how many of them this worker has applied.
    orders: Option<ControlEpoch>,
    orders_mark: u64,
    signals: WorkerControl<'run>,
}

/// Backend and sample sink: everything that an operation passes when it starts.
struct Line<B, K> {
    backend: B,
    books: K,
    /// ClientSlots in use.
    busy: u64,
}

/// An operation that starts.
struct Start<T> {
    work: T,
    role: Role,
    due: Timestamp,
    ready: Timestamp,
}

impl<T> Start<T> {
    /// Returns an operation that is due now.
    fn now(work: T, role: Role, now: Timestamp) -> Self {
        Self {
            work,
            role,
            due: now,
            ready: now,
        }
    }
}

impl<B: Backend, K: SampleSink> Line<B, K> {
    /// Submits one operation to the backend.
    #[expect(clippy::inline_always, reason = "see `Worker::ask`")]
    #[inline(always)]
    fn start(
        &mut self,
        slots: &mut ClientSlots,
        ticket: SlotId,
        start: Start<<B::Language as WorkType>::WorkItem<'_>>,
        now: Timestamp,
    ) {
        let Start {
            work,
            role,
            due,
            ready,
        } = start;
        let kind = work.kind();
        if self.books.is_measured(due) {
            slots.remaining -= u64::from(role == Role::Measured);
            self.books.schedule(kind, role, 1);
        }
        slots.due[ticket.slot as usize] = due;
        let slot = &mut slots.slots[ticket.slot as usize];
        slot.ready = ready;
        slot.kind = kind;
        slot.role = role;
        slot.under_way = SlotActivity::Measured;
        self.busy += 1;
        self.backend.submit(ticket, work, now);
    }

    /// Submits work that is neither counted nor timed.
    fn start_aside(
        &mut self,
        slots: &mut ClientSlots,
        ticket: SlotId,
        work: <B::Language as WorkType>::WorkItem<'_>,
        now: Timestamp,
    ) {
        let slot = &mut slots.slots[ticket.slot as usize];
        slot.under_way = SlotActivity::Background;
        self.busy += 1;
        self.backend.submit(ticket, work, now);
    }
}

/// Signals that reach a worker from outside while it runs.
#[derive(Debug, Clone, Copy)]
pub struct WorkerControl<'run> {
    /// Set when the run is stopped.
    pub stop: &'run AtomicBool,
    /// Set when the run is over: another worker has lost the server, or a search has its result.
    pub end_run: &'run AtomicBool,
    /// The offered load, if it is steered.
    pub offer: Option<&'run OfferedLoad>,
    /// Counts the workers that still have clients; `None` if there is only one worker.
    pub live_workers: Option<&'run LiveWorkers>,
}

impl<'run, B: Backend, W: Workload<B::Language>, K: SampleSink> Worker<'run, B, W, K> {
    /// Returns worker `index` of `plan` with these clients.
    pub fn new(
        plan: &Plan,
        index: u32,
        members: Vec<WorkerClient<W>>,
        backend: B,
        books: K,
        signals: WorkerControl<'run>,
    ) -> Self {
        let schedule = Schedule::of(plan);
        let counts = counts_of_clients(plan);
        let count = |client: u32| counts.as_ref()?.get(client as usize).copied();
        let orders = members
            .first()
            .and_then(|member| member.workload.control_epoch());
        let clients: Vec<WorkerClientState<W>> = members
            .into_iter()
            .map(|member| {
                let count = count(member.number);
                WorkerClientState::new(plan, count, member)
            })
            .collect();
        Self {
            due: BinaryHeap::with_capacity(clients.len() + 1),
            repeated: Vec::with_capacity(plan.in_flight as usize * clients.len()),
            clients,
            line: Line {
                backend,
                books,
                busy: 0,
            },
            schedule,
            measured_kind: plan.measured_kind(),
            next_boundary: schedule.boundary_after(schedule.window_start),
            end: None,
            last_done: schedule.window_start,
            is_interrupted: false,
            exhausted: 0,
            time: ThreadTime::default(),
            lost: LostClients::default(),
            cpu_mark: 0,
            spun_mark: 0,
            waited_mark: 0,
            late_mark: 0,
            is_window_open: false,
            in_flight_mark: schedule.window_start,
            in_flight_nanos: 0,
            held_nanos: 0,
            index,
            all_clients: plan.clients,
            orders,
            orders_mark: 0,
            signals,
        }
    }

    /// Returns the backend, before the run.
    pub fn backend_mut(&mut self) -> &mut B {
        &mut self.line.backend
    }

    /// Runs until the end: by time, by count, by interruption or by loss of the server.
    pub fn run(self) -> WorkerEnd {
        self.run_and_keep().end
    }

    /// Runs until the end; also returns the backend and the workloads.
    pub fn run_and_keep(mut self) -> WorkerResult<B, W> {
        let slots = self.clients.iter().map(|client| client.slots.slots.len());
        let mut completed = CompletionBatch::with_capacity(slots.sum());
        let mut now = self.line.backend.now();
        self.open_window(now);
        self.start(now);
        let lost = loop {
            if self.is_over(now) {
                break None;
            }
            self.apply_offered_load(now);
            self.apply_control(now);
            self.start_due(now);
            let until = self.wake_up_at(now);
            let waited = self.line.backend.wait(until, &mut completed);
            now = self.line.backend.recent();
            self.count_in_flight(now.min(self.next_boundary));
            let connected = match waited {
                Ok(()) => self.follow_connections(now),
                Err(error) => Err(error),
            };
            let connected = connected.or_else(|loss| self.take_loss(loss));
            // Completions after a boundary do not belong to the interval before it.
            if now > self.next_boundary && completed.run_count() > 0 {
                self.submit_interval(now);
            }
            self.complete_all(&completed);
            completed.clear();
            self.keep_time(now);
            if let Err(error) = connected {
                self.close(now);
                break Some(error);
            }
        };
        self.finish(now, lost)
    }

    /// Returns an error if the loss ends the run. A loss that began after the measurement does not;
    /// the ledger accounts for the outstanding operations.
    #[cold]
    fn take_loss(&self, loss: BackendError) -> Result<(), BackendError> {
        if self.end.is_none() || self.is_down_since_the_window() || loss.is_of_this_host() {
            return Err(loss);
        }
        Ok(())
    }

    /// Starts the slots: closed loops at once, open loops by their schedule. ClientSlots of an open loop
    /// that have something to prepare follow as they are needed, instead of all at one moment.
    fn start(&mut self, now: Timestamp) {
        for client in 0..self.clients.len() as u32 {
            let slots = &mut self.clients[client as usize].slots;
            if let Some(due) = slots.arrivals.next_due() {
                slots.next_due = due;
                self.due.push(Reverse((due, client)));
            }
            let first = slots.first_slots();
            (slots.begun, slots.begun_at) = (first, now);
            for slot in 0..first {
                self.clients[client as usize].slots.slots[slot as usize].free_at = now;
                self.advance_first(SlotId { client, slot }, now);
            }
        }
    }

    /// Starts the first work of a slot.
    fn advance_first(&mut self, ticket: SlotId, now: Timestamp) {
        self.advance(ticket, None, now);
    }

    /// Starts every due operation in a free slot of its client.
    #[inline]
    fn start_due(&mut self, now: Timestamp) {
        // Closed loops have no due operations.
        if !self.due.is_empty() {
            self.start_all_due(now);
        }
    }

    fn start_all_due(&mut self, now: Timestamp) {
        while let Some(Reverse((due, client))) = self.due.peek().copied() {
            if due > now {
                return;
            }
            self.due.pop();
            let slots = &mut self.clients[client as usize].slots;
            if let Some(slot) = slots.parked.take() {
                if self.end.is_none() && slots.remaining > 0 {
                    self.ask_again(SlotId { client, slot }, now);
                }
                continue;
            }
            match slots.free.pop_front() {
                Some(slot) => self.start_scheduled(SlotId { client, slot }, now),
                None => slots.is_starved = true,
            }
            self.begin_next(client, now);
        }
    }

    /// Starts one more slot of an open loop, if it is needed.
    #[inline]
    fn begin_next(&mut self, client: u32, now: Timestamp) {
        let slots = &mut self.clients[client as usize].slots;
        if let Some(slot) = slots.next_slot() {
            slots.slots[slot as usize].free_at = slots.begun_at;
            self.advance_first(SlotId { client, slot }, now);
        }
    }

    /// Starts the next due operation of this open-loop client.
    fn start_scheduled(&mut self, ticket: SlotId, now: Timestamp) {
        let WorkerClientState { workload, slots } = &mut self.clients[ticket.client as usize];
        let due = slots.next_due;
        slots.is_starved = false;
        if self.end.is_some() || due >= self.schedule.window_end || slots.remaining == 0 {
            slots.free.push_back(ticket.slot);
            return;
        }
        let ready = due.max(slots.slots[ticket.slot as usize].free_at);
        slots.next_due = slots.arrivals.next_due().unwrap_or(Timestamp::MAX);
        if let Some(work) = workload.next(ticket.slot, now).measured() {
            let start = Start {
                work,
                role: Role::Measured,
                due,
                ready,
            };
            self.line.start(slots, ticket, start, now);
        }
        if slots.next_due <= now && slots.free.is_empty() {
            slots.is_starved = true;
        } else {
            self.due.push(Reverse((slots.next_due, ticket.client)));
        }
    }

    /// Asks the workload of a closed loop for the next work of a free slot.
    ///
    /// Always inlined: otherwise the returned operation would be written to memory and read again.
    #[expect(clippy::inline_always, reason = "7 % of the instructions of a call")]
    #[inline(always)]
    fn ask(&mut self, ticket: SlotId, now: Timestamp) {
        let WorkerClientState { workload, slots } = &mut self.clients[ticket.client as usize];
        let start = match workload.next(ticket.slot, now) {
            Next::Measured(work) => Start::now(work, Role::Measured, now),
            Next::Due(due, work) => Start {
                work,
                role: Role::Measured,
                due,
                ready: due.max(slots.slots[ticket.slot as usize].free_at),
            },
            Next::Unmeasured(work) => Start::now(work, Role::Unmeasured, now),
            Next::Background(work) => return self.line.start_aside(slots, ticket, work, now),
            Next::NotBefore(moment) => {
                slots.parked = Some(ticket.slot);
                let later = moment.max(now.after_nanos(1));
                return self.due.push(Reverse((later, ticket.client)));
            }
            Next::Idle => {
                slots.remaining = 0;
                return;
            }
        };
        self.line.start(slots, ticket, start, now);
    }

    /// Calls [`Self::ask`] for a slot that had nothing to do until now.
    fn ask_again(&mut self, ticket: SlotId, now: Timestamp) {
        self.ask(ticket, now);
    }

    /// Handles completions run by run. Operations that can be repeated are sent before the
    /// completions are recorded, so that the server works in the meantime.
    #[inline]
    fn complete_all(&mut self, completed: &CompletionBatch) {
        self.repeated.clear();
        for index in 0..completed.run_count() {
            let run = completed.run(index);
            let is_repeated = run.is_some_and(|(completion, slots)| self.repeat(completion, slots));
            self.repeated.push(is_repeated);
        }
        if self.repeated.contains(&true) {
            self.line.backend.send();
        }
        for index in 0..completed.run_count() {
            let Some((completion, slots)) = completed.run(index) else {
                break;
            };
            if self.repeated.get(index) == Some(&true) {
                self.record_repeated(completion, slots);
            } else {
                for slot in slots {
                    self.complete(&for_slot(completion, *slot));
                }
            }
        }
    }

    /// Fast path for a closed loop that issues the same operation again and again: repeats the
    /// operation in all slots of a run. Returns whether it could.
    #[inline]
    fn repeat(&mut self, completion: &Completion, slots: &[u32]) -> bool {
        let (now, count) = (completion.done, slots.len() as u64);
        let Some(client) = self.clients.get_mut(completion.ticket.client as usize) else {
            return false;
        };
        // Failures and the end of the run take the slow path.
        let is_going_on = self.end.is_none() && now <= self.schedule.window_end;
        if !client.slots.is_constant
            || !is_going_on
            || client.slots.remaining < count
            || completion.outcome != Outcome::Ok
        {
            return false;
        }
        if self.line.books.is_measured(now) {
            client.slots.remaining -= count;
        }
        self.line.backend.repeat(completion.ticket.client, slots);
        true
    }

    /// Records a run whose slots have already been restarted.
    #[inline]
    fn record_repeated(&mut self, completion: &Completion, slots: &[u32]) {
        let (now, count) = (completion.done, slots.len() as u64);
        let (opens, closes) = self.counted_window();
        let Some(client) = self.clients.get_mut(completion.ticket.client as usize) else {
            return;
        };
        let (mut held_each, mut held_nanos) = (0, 0);
        let mut sample = Sample {
            kind: self.measured_kind,
            role: Role::Measured,
            due: Timestamp::MAX,
            ready: Timestamp::MAX,
            completion: *completion,
        };
        let mut run_len = 0;
        for slot in slots {
            let due = std::mem::replace(&mut client.slots.due[*slot as usize], now);
            if due != sample.due {
                self.line.books.record(&sample, run_len);
                run_len = 0;
                sample.due = due;
                sample.ready = due.max(completion.usable);
                held_each = completion.usable.min(closes).nanos_since(due.max(opens));
            }
            run_len += 1;
            held_nanos += held_each;
        }
        self.line.books.record(&sample, run_len);
        if self.line.books.is_measured(now) {
            let books = &mut self.line.books;
            books.schedule(self.measured_kind, Role::Measured, count);
        }
        self.held_nanos += u128::from(held_nanos);
        self.last_done = self.last_done.max(now);
    }

    /// Records a sample of a completion and lets its slot continue.
    #[inline]
    fn complete(&mut self, completion: &Completion) {
        self.end_operation(completion);
        self.advance(completion.ticket, Some(completion), completion.done);
    }

    /// Records a sample of a completion.
    #[inline]
    fn end_operation(&mut self, completion: &Completion) {
        let ticket = completion.ticket;
        let WorkerClientState { workload, slots } = &mut self.clients[ticket.client as usize];
        let due = slots.due[ticket.slot as usize];
        let slot = &mut slots.slots[ticket.slot as usize];
        let was = std::mem::replace(&mut slot.under_way, SlotActivity::Idle);
        slot.free_at = completion.done;
        self.line.busy -= 1;
        self.last_done = self.last_done.max(completion.done);
        if was == SlotActivity::Background {
            return;
        }
        let ready = if slots.is_constant { due } else { slot.ready };
        let sample = Sample {
            kind: slot.kind,
            role: slot.role,
            due,
            ready: ready.max(completion.usable),
            completion: *completion,
        };
        if slots.keeps_books {
            workload.ended(&sample);
        }
        self.line.books.record(&sample, 1);
        if completion.usable > ready {
            // Time in which the operation waited for the connection.
            let (opens, closes) = self.counted_window();
            let nanos = completion.usable.min(closes).nanos_since(ready.max(opens));
            self.held_nanos += u128::from(nanos);
        }
    }

    /// Returns the time range in which operations in flight are counted, as known so far.
    #[inline]
    fn counted_window(&self) -> (Timestamp, Timestamp) {
        let closes = self.schedule.window_end;
        let closes = closes.min(self.end.unwrap_or(closes));
        (self.schedule.window_start, closes)
    }

    /// Starts the next work of a slot that has become free.
    #[expect(clippy::inline_always, reason = "see `ask`")]
    #[inline(always)]
    fn advance(&mut self, ticket: SlotId, after: Option<&Completion>, now: Timestamp) {
        if self.end.is_some() {
            return;
        }
        let WorkerClientState { workload, slots } = &mut self.clients[ticket.client as usize];
        if slots.restores
            && !slots.is_given_up
            && let Some(work) = workload.prepare_slot(ticket.slot, after)
        {
            let start = Start::now(work, Role::Unmeasured, now);
            self.line.start(slots, ticket, start, now);
        } else if slots.is_starved {
            self.start_scheduled(ticket, now);
        } else if slots.arrivals.is_open() {
            slots.free.push_back(ticket.slot);
        } else if now <= self.schedule.window_end && slots.remaining > 0 {
            // A closed loop has no schedule: slots that become free at the very end still start,
            // but not after the run was stopped.
            self.ask(ticket, now);
        }
    }

    /// Starts counting the costs when the window opens.
    #[inline]
    fn open_window(&mut self, now: Timestamp) {
        if !self.is_window_open && now >= self.schedule.window_start {
            self.is_window_open = true;
            self.cpu_mark = self.line.backend.processor_nanos();
            self.spun_mark = self.line.backend.spun_nanos();
            self.waited_mark = self.line.backend.waited_nanos();
            self.late_mark = self.line.backend.late_replies();
        }
    }

    /// Opens and closes the window at their times, and submits complete intervals.
    #[inline]
    fn keep_time(&mut self, now: Timestamp) {
        self.open_window(now);
        if self.signals.stop.load(Ordering::Relaxed) {
            self.interrupt(now);
        } else if self.signals.end_run.load(Ordering::Relaxed) {
            // Another worker has lost the server, or the search has its result: nothing is left to
            // measure.
            let at = now.min(self.schedule.window_end);
            self.line.books.close_window(at);
            self.close(at);
        }
        if self.end.is_none() {
            if now > self.schedule.window_end {
                // Operations that became due while the worker slept until the end still start.
                self.start_due(self.schedule.window_end);
                self.close(self.schedule.window_end);
            } else if self.line.busy == 0 && self.is_exhausted() {
                self.close(self.last_done);
            }
        }
        if now >= self.next_boundary {
            self.submit_interval(now);
        }
    }

    /// Handles a stop: closes the window if it is open, and shortens the wait for operations in
    /// flight, even in a drain that has begun.
    fn interrupt(&mut self, now: Timestamp) {
        let is_over = self.end.is_some() && self.line.busy == 0;
        if self.is_interrupted || is_over {
            return;
        }
        self.is_interrupted = true;
        let at = now.min(self.schedule.window_end);
        self.line.books.close_window(at);
        self.close(at);
        let since_end = now.nanos_since(self.end.unwrap_or(at));
        let drain_nanos = since_end.saturating_add(INTERRUPTED_DRAIN_NANOS);
        self.schedule.drain_nanos = self.schedule.drain_nanos.min(drain_nanos);
    }

    /// Returns whether no client may start another operation.
    fn is_exhausted(&mut self) -> bool {
        let rest = self.clients.iter().skip(self.exhausted);
        let exhausted = rest.take_while(|client| client.slots.remaining == 0);
        self.exhausted += exhausted.count();
        self.exhausted == self.clients.len()
    }

    /// Closes the measured window. Operations that were due and never started count as skipped.
    fn close(&mut self, at: Timestamp) {
        if self.end.is_some() {
            return;
        }
        self.note_costs();
        self.end = Some(at);
        self.skip_due(at);
        self.give_up_lost();
    }

    /// Counts operations as skipped that were due before `end` and never started.
    fn skip_due(&mut self, end: Timestamp) {
        let opened = self.schedule.window_start;
        let books = &mut self.line.books;
        for client in &mut self.clients {
            client.skip_due(opened, end, |kind, times| {
                let kind = kind.unwrap_or(self.measured_kind);
                books.skip(kind, Role::Measured, times);
            });
        }
    }

    /// Adds the operations in flight since the last call, within the window.
    #[inline]
    fn count_in_flight(&mut self, now: Timestamp) {
        let to = now
            .min(self.schedule.window_end)
            .min(self.end.unwrap_or(now));
        let nanos = to.nanos_since(self.in_flight_mark);
        self.in_flight_mark = self.in_flight_mark.max(to);
        self.in_flight_nanos += u128::from(self.line.busy) * u128::from(nanos);
    }

    fn is_over(&self, now: Timestamp) -> bool {
        self.end.is_some_and(|end| {
            now > end.after_nanos(self.schedule.drain_nanos)
                || self.line.busy == 0 && !self.is_loss_open()
        })
    }

    /// Returns whether every connection was lost before the window closed and has not come back.
    fn is_down_since_the_window(&self) -> bool {
        let since = self.line.backend.down_since();
        since.is_some_and(|since| self.end.is_some_and(|end| since < end))
    }

    /// Returns whether the worker still has to find out if the server was lost in the window.
    fn is_loss_open(&self) -> bool {
        !self.is_interrupted && !self.lost.are_all(&self.clients) && self.is_down_since_the_window()
    }

    /// Returns when the loop must read the clock again.
    #[inline]
    fn wake_up_at(&self, now: Timestamp) -> WaitLimit {
        let attention = now.after_nanos(ATTENTION_NANOS).min(self.next_boundary);
        let mut due = Timestamp::MAX;
        if self.end.is_none() {
            if let Some(Reverse((next, _))) = self.due.peek() {
                due = *next;
            }
            due = due.min(self.schedule.window_end.after_nanos(1));
        }
        if !self.is_window_open {
            due = due.min(self.schedule.window_start);
        }
        WaitLimit {
            due: due.max(now),
            attention: attention.max(now),
        }
    }

    #[cold]
    fn submit_interval(&mut self, now: Timestamp) {
        let boundary = self.schedule.boundary_before(now);
        self.next_boundary = self.schedule.boundary_after(boundary);
        self.note_costs();
        self.line.books.submit_interval(boundary);
        // Operations in flight from here on belong to the next interval.
        self.count_in_flight(now);
    }

    /// Enters the costs of the interval into its buffer.
    fn note_costs(&mut self) {
        if !self.is_window_open {
            return;
        }
        let late = self.line.backend.late_replies();
        let mut costs = IntervalCounts {
            in_flight_nanos: std::mem::take(&mut self.in_flight_nanos),
            held_nanos: std::mem::take(&mut self.held_nanos),
            late_replies: late - self.late_mark,
            ..IntervalCounts::default()
        };
        self.late_mark = late;
        // The costs of the drain do not belong to the window.
        if self.end.is_none() {
            let backend = &mut self.line.backend;
            let (cpu, waited) = (backend.processor_nanos(), backend.waited_nanos());
            let spun = backend.spun_nanos();
            costs.cpu_nanos = cpu - self.cpu_mark;
            costs.spun_nanos = spun - self.spun_mark;
            costs.waited_nanos = waited - self.waited_mark;
            self.time.cpu_ns += costs.cpu_nanos;
            self.time.waited_ns += costs.waited_nanos;
            self.cpu_mark = cpu;
            self.spun_mark = spun;
            self.waited_mark = waited;
        }
        self.line.books.add(&costs);
    }
}

/// Returns a sample sink that belongs to one worker, for the run of `plan`.
pub fn own_books<S: IntervalSink>(plan: &Plan, mut sink: S) -> LocalSampleSink<S> {
    let schedule = Schedule::of(plan);
    let first = sink.empty().unwrap_or_else(|| Box::new(new_buffer(plan)));
    let recorder = Recorder::new(first, schedule.window_start, schedule.window_end);
    LocalSampleSink::new(recorder, sink)
}

/// Returns an empty interval buffer for the kinds of a plan.
pub fn new_buffer(plan: &Plan) -> IntervalBuffer {
    let schedule = Schedule::of(plan);
    let expected = plan.expect.iter().map(|expected| expected.status());
    IntervalBuffer::new(&plan.kinds(), schedule.ticks(), TICK_NANOS).expecting(expected)
}
