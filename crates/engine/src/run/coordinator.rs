//! The coordinator, on the calling thread: merges the workers' intervals and writes the record.

use super::{RunHook, RunSnapshot, Stage};
use crate::backend::BackendError;
use crate::worker::{IntervalSink, SharedRecorder, WorkerEnd, new_buffer};
use filestone_host::clock::Clock;
use filestone_host::control::{GeneratorUsage, Observer};
use filestone_host::processors::{self, Meter};
use filestone_host::system;
use filestone_measure::measure::absence::{GAP_MIN_NS, WakeUpGaps};
use filestone_measure::measure::mix_figures::figures;
use filestone_measure::measure::mix_record::FileSetRecord;
use filestone_measure::measure::processors::{ProcessorTime, ProcessorsRecord, ThreadTime};
use filestone_measure::measure::run_record::{RunOutcome, RunRecord, Target};
use filestone_measure::measure::stamps::{StampedCall, StampsRecord};
use filestone_measure::measure::{ConnectionsRecord, IntervalAggregator, LossReasons, RunPhase};
use filestone_plan::plan::{Plan, TICK_NANOS};
use filestone_workload::recording::IntervalBuffer;
use filestone_workload::time::Timestamp;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, SystemTime};

/// Interval buffers per worker: one being filled, the others in transit.
pub const BUFFERS_PER_WORKER: usize = 3;

/// Longest sleep of the coordinating thread.
const WAKE_UP_EVERY: Duration = Duration::from_millis(50);

/// Message of a worker to the coordinator.
pub enum FromWorker {
    Interval(usize, Box<IntervalBuffer>),
    Done(usize, WorkerEnd),
}

/// A worker's end of the exchange of buffers. Both channels have room for all existing buffers, so
/// no call waits or allocates.
pub struct BufferExchange {
    worker: usize,
    full: SyncSender<FromWorker>,
    empty: Receiver<Box<IntervalBuffer>>,
}

impl BufferExchange {
    /// Returns the sender of the worker's end.
    pub fn finisher(&self) -> DoneGuard {
        DoneGuard {
            worker: self.worker,
            full: self.full.clone(),
        }
    }
}

/// Reports the end of a worker.
pub struct DoneGuard {
    worker: usize,
    full: SyncSender<FromWorker>,
}

impl DoneGuard {
    /// Reports the worker's end to the coordinator.
    pub fn finish(&self, end: WorkerEnd) {
        // The coordinator outlives the workers; without it, the message is not needed.
        let _ = self.full.send(FromWorker::Done(self.worker, end));
    }
}

impl IntervalSink for BufferExchange {
    fn empty(&mut self) -> Option<Box<IntervalBuffer>> {
        self.empty.try_recv().ok()
    }

    fn full(&mut self, buffer: Box<IntervalBuffer>) {
        // The coordinator outlives the workers; without it, the message is not needed.
        let _ = self.full.send(FromWorker::Interval(self.worker, buffer));
    }
}

/// Facts of a run that do not come from its workers.
pub struct RunFacts<'run> {
    pub target: &'run Target,
    /// Name of the mechanism that waited for completions.
    pub driver: &'run str,
    /// Connections of the clients.
    pub connections: Option<ConnectionsRecord>,
    /// The file set of a mix.
    pub file_set: Option<FileSetRecord>,
    pub clock: &'run Clock,
    pub started_at: SystemTime,
}

/// Sample sinks of a run's workers.
pub enum Recording {
    /// Each worker has its own.
    Own,
    /// All workers share one recorder, because they may block in a call for a long time.
    Shared(SharedRecorder),
}

/// Merges the workers' intervals.
pub struct Coordinator<'run> {
    plan: &'run Plan,
    recording: &'run Recording,
    assembly: IntervalAggregator,
    /// For each worker the number of its empty buffers, and the sender for more; `None` after its
    /// end.
    spares: Vec<Option<(usize, SyncSender<Box<IntervalBuffer>>)>>,
    /// The next buffer of the shared recorder, and the start of its current interval.
    spare: Option<Box<IntervalBuffer>>,
    interval_start: Timestamp,
    ends: Vec<WorkerEnd>,
    /// CPU time meter since the window opened, and its result when the window closed.
    meter: Option<Meter>,
    used: Option<ProcessorTime>,
    /// Wake-ups of this thread that were much too late.
    gaps: WakeUpGaps,
    /// The last phase reported.
    told_phase: Option<RunPhase>,
}

/// Inputs of the coordinator, and the observers that it informs.
pub struct CoordinatorContext<'run, 'look> {
    pub clock: &'run Clock,
    pub stop: &'run AtomicBool,
    pub end_run: &'run AtomicBool,
    pub attendants: Vec<&'look mut dyn RunHook>,
    pub observer: &'look mut dyn Observer,
}

impl<'run> Coordinator<'run> {
    pub fn new(plan: &'run Plan, recording: &'run Recording) -> Self {
        let mut assembly = IntervalAggregator::new(plan);
        if let Recording::Shared(_) = recording {
            // There is one recorder, regardless of the number of workers in the plan.
            (1..plan.workers as usize).for_each(|worker| assembly.finish(worker));
        }
        Self {
            plan,
            recording,
            assembly,
            spares: Vec::new(),
            spare: None,
            interval_start: Timestamp::from_nanos(plan.warm_up_ns),
            ends: Vec::new(),
            meter: None,
            used: None,
            gaps: WakeUpGaps::default(),
            told_phase: None,
        }
    }

    /// Returns a worker's end of the exchange, with its first empty buffers.
    pub fn exchange(&mut self, worker: usize, full: SyncSender<FromWorker>) -> BufferExchange {
        let plan = self.plan;
        let (give, empty) = sync_channel(plan.workers as usize * BUFFERS_PER_WORKER);
        if let Recording::Own = self.recording {
            for _ in 0..BUFFERS_PER_WORKER {
                let _ = give.send(Box::new(new_buffer(plan)));
            }
        }
        self.spares.push(Some((BUFFERS_PER_WORKER, give)));
        BufferExchange {
            worker,
            full,
            empty,
        }
    }

    /// Processes messages until all workers have left.
    pub fn collect(
        &mut self,
        from_workers: &Receiver<FromWorker>,
        mut surveyed: CoordinatorContext<'_, '_>,
    ) {
        let mut next = Timestamp::ZERO;
        loop {
            let received = self.wait(next, from_workers, surveyed.clock);
            // Read before the messages: a stop of the clean-up comes after the worker has reported
            // its end.
            let is_stopped = surveyed.stop.load(Ordering::Acquire);
            let has_left = matches!(received, Err(RecvTimeoutError::Disconnected));
            for message in received.into_iter().chain(from_workers.try_iter()) {
                self.take(message, surveyed.end_run);
            }
            let stage = if has_left { Stage::Left } else { self.stage() };
            next = self.poll(stage, is_stopped, &mut surveyed);
            if stage == Stage::Left {
                return;
            }
        }
    }

    /// Waits for a message, but not past `next`. Wakes up regularly in between to measure late
    /// wake-ups: only these show that no thread of this process ran.
    fn wait(
        &mut self,
        next: Timestamp,
        from_workers: &Receiver<FromWorker>,
        clock: &Clock,
    ) -> Result<FromWorker, RecvTimeoutError> {
        let window = self.plan.window();
        loop {
            let due = next.min(clock.now().after(WAKE_UP_EVERY));
            let waited_ns = processors::waited_nanos();
            let left = Duration::from_nanos(due.nanos_since(clock.now()));
            let received = from_workers.recv_timeout(left);
            let came = clock.now();
            if self.used.is_none() && came.nanos_since(due) >= GAP_MIN_NS {
                // Waiting for a processor has its own caveats; a stopped process does not count as
                // waiting.
                let waited_ns = processors::waited_nanos().saturating_sub(waited_ns);
                let ready = due.after_nanos(waited_ns);
                self.gaps.note(ready, came, window.start, window.end);
            }
            if came >= next || !matches!(received, Err(RecvTimeoutError::Timeout)) {
                return received;
            }
        }
    }

    fn stage(&self) -> Stage {
        if self.ends.len() < self.spares.len() {
            Stage::Running
        } else {
            Stage::Done
        }
    }

    fn take(&mut self, message: FromWorker, end_run: &AtomicBool) {
        match message {
            FromWorker::Interval(worker, buffer) => {
                if let Some(Some((spares, _))) = self.spares.get_mut(worker) {
                    *spares = spares.saturating_sub(1);
                }
                let merged = self.assembly.take(worker, buffer);
                merged.into_iter().for_each(|buffer| self.give_back(buffer));
            }
            FromWorker::Done(worker, end) => {
                if let Recording::Own = self.recording {
                    // The intervals of other workers must not wait for one that has ended.
                    self.assembly.finish(worker);
                }
                if let Some(spares) = self.spares.get_mut(worker) {
                    *spares = None;
                }
                if end.lost.is_some() && end.ends_run {
                    end_run.store(true, Ordering::Relaxed);
                }
                self.ends.push(end);
            }
        }
    }

    /// Does everything that is due; returns the time of the next poll.
    fn poll(
        &mut self,
        stage: Stage,
        is_stopped: bool,
        surveyed: &mut CoordinatorContext<'_, '_>,
    ) -> Timestamp {
        let now = surveyed.clock.now();
        self.tell_phase(now, stage, surveyed.observer);
        let mut next = self.check_processors(now, stage);
        if let (Recording::Shared(recorder), Stage::Running) = (self.recording, stage) {
            while now >= self.next_boundary() {
                self.take_shared(recorder, self.next_boundary());
            }
            next = next.min(self.next_boundary());
        }
        while let Some((record, mut buffer)) = self.assembly.complete() {
            if surveyed.observer.wants_generator() {
                surveyed.observer.generator(&GeneratorUsage {
                    dispatch_delay_ns: buffer.dispatch_delay.to_record(),
                    waited_ns: buffer.counts.waited_nanos,
                });
            }
            surveyed.observer.counted(&mut buffer);
            surveyed.observer.interval(&record);
            for hook in &mut surveyed.attendants {
                hook.interval(&record, surveyed.end_run, surveyed.observer);
            }
            self.give_back(buffer);
        }
        let look = RunSnapshot {
            now,
            stage,
            is_stopped,
            was_stopped: self.ends.iter().any(|end| end.is_interrupted),
            end_run: surveyed.end_run,
        };
        for hook in &mut surveyed.attendants {
            next = next.min(hook.poll(&look, surveyed.observer));
        }
        next
    }

    fn tell_phase(&mut self, now: Timestamp, stage: Stage, observer: &mut dyn Observer) {
        let window = self.plan.window();
        let phase = match stage {
            Stage::Running if now < window.start => RunPhase::WarmUp,
            Stage::Running if now < window.end => RunPhase::Measure,
            Stage::Running => RunPhase::Drain,
            Stage::Done | Stage::Left => RunPhase::CleanUp,
        };
        if self.told_phase.replace(phase) != Some(phase) {
            observer.phase(phase);
        }
    }

    /// Measures the use of the processors while the window is open; returns the time of the next
    /// call.
    fn check_processors(&mut self, now: Timestamp, stage: Stage) -> Timestamp {
        let window = self.plan.window();
        if self.meter.is_none() {
            if now < window.start {
                return window.start;
            }
            self.meter = Some(Meter::start());
        }
        if self.used.is_none() && (now >= window.end || stage != Stage::Running) {
            self.used = self.meter.as_ref().map(Meter::used);
        }
        if self.used.is_some() {
            Timestamp::MAX
        } else {
            window.end
        }
    }

    /// Returns the end of the current interval, which never crosses the end of the window.
    fn next_boundary(&self) -> Timestamp {
        let interval_ns = self.plan.interval_ns.max(TICK_NANOS);
        let end = self.interval_start.after_nanos(interval_ns);
        let closes = self.plan.window().end;
        if self.interval_start < closes {
            end.min(closes)
        } else {
            end
        }
    }

    /// Takes the samples before `boundary` from the shared recorder.
    fn take_shared(&mut self, recorder: &SharedRecorder, boundary: Timestamp) {
        let next = match self.spare.take() {
            Some(buffer) => buffer,
            None => Box::new(new_buffer(self.plan)),
        };
        let full = recorder.submit_interval(next, boundary);
        self.interval_start = boundary;
        let merged = self.assembly.take(0, full);
        merged.into_iter().for_each(|buffer| self.give_back(buffer));
    }

    /// Returns an empty buffer to the worker that has the fewest.
    fn give_back(&mut self, mut buffer: Box<IntervalBuffer>) {
        buffer.reset(Timestamp::ZERO);
        if let Recording::Shared(_) = self.recording {
            self.spare = Some(buffer);
            return;
        }
        let running = self.spares.iter_mut().flatten();
        if let Some((spares, give)) = running.min_by_key(|(spares, _)| *spares) {
            *spares += 1;
            // A worker that has just finished does not need one.
            let _ = give.try_send(buffer);
        }
    }

    /// Returns the record of the run, without the parts of its kind and without caveats. Returns an
    /// error if this host refused a request of a worker: then there is nothing to record.
    pub fn into_record(mut self, facts: RunFacts<'_>) -> Result<RunRecord, BackendError> {
        let plan = self.plan;
        let mut ends = self.ends.iter_mut();
        let refused = ends.find_map(|end| end.lost.take_if(|lost| lost.is_of_this_host()));
        if let Some(refused) = refused {
            return Err(refused);
        }
        let window_start = Timestamp::from_nanos(plan.warm_up_ns);
        let ends = self.ends.iter().map(|end| end.window_end);
        let window_end = ends.max().unwrap_or(window_start).max(window_start);
        if let Recording::Shared(recorder) = self.recording {
            let end = window_end.max(self.interval_start);
            self.take_shared(recorder, end);
        }
        let (intervals, ticks, mut totals) = self.assembly.finalize(plan, window_end);
        if let Recording::Shared(_) = self.recording {
            // The load of threads that wait in system calls has no meaning.
            totals.workers.clear();
        }
        let mut losses = LossReasons::default();
        for counts in self.ends.iter().map(|end| &end.connections) {
            losses.add(&counts.losses);
            totals.reconnections += counts.reconnections;
            totals.disconnected_ns += counts.unusable_nanos;
            totals.lost_clients += counts.lost_clients;
        }
        totals.losses = losses.into_records();
        let window_ns = window_end.nanos_since(window_start);
        let mix = facts
            .file_set
            .map(|set| figures(plan, &totals, &ticks, window_ns, set));
        let stamped = self.ends.iter().flat_map(|end| &end.stamped);
        let stamped: Vec<StampedCall> = stamped.copied().collect();
        let gaps = self.gaps;
        let threads: Vec<ThreadTime> = self.ends.iter().map(|end| end.time).collect();
        let started_at = facts.started_at + Duration::from_nanos(plan.warm_up_ns);
        Ok(RunRecord {
            started_at: humantime::format_rfc3339_millis(started_at).to_string(),
            host: system::describe(facts.clock, facts.driver),
            target: facts.target.clone(),
            end: how_it_ended(&self.ends),
            window_ns,
            totals,
            intervals,
            ticks,
            connections: facts.connections,
            mix,
            stamps: StampsRecord::of(&stamped, window_start, window_end),
            processors: self
                .used
                .map(|used| ProcessorTime { gaps, ..used })
                .and_then(|used| ProcessorsRecord::of(used, window_ns, &threads)),
            ..RunRecord::new(plan.clone(), super::tool())
        })
    }
}

/// Returns the outcome: a run is lost if a worker's loss ended it, or if all workers lost the
/// server.
fn how_it_ended(ends: &[WorkerEnd]) -> RunOutcome {
    let is_lost = ends.iter().any(|end| end.lost.is_some() && end.ends_run)
        || ends.iter().all(|end| end.lost.is_some());
    match ends.iter().find_map(|end| end.lost.as_ref()) {
        Some(error) if is_lost => RunOutcome::TargetLost {
            message: error.to_string(),
        },
        _ if ends.iter().any(|end| end.is_interrupted) => RunOutcome::Interrupted,
        _ => RunOutcome::Finished,
    }
}
