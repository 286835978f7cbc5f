//! The calling thread's part of a run: it merges what the workers hand over, and makes
//! the record.

use super::RunHeader;
use super::steered::Steered;
use crate::clock::Clock;
use crate::control::Observer;
use crate::worker::{IntervalSink, WorkerEnd, new_buffer};
use filestone_model::measure::mix_figures::figures;
use filestone_model::measure::mix_record::FileSetRecord;
use filestone_model::measure::processors::{ProcessorTime, ProcessorsRecord, ThreadTime};
use filestone_model::measure::run_record::{RunEnd, RunRecord, Target};
use filestone_model::measure::verdict::caveats;
use filestone_model::measure::{Assembly, ConnectionsRecord, IntervalBuffer};
use filestone_model::plan::Plan;
use filestone_model::time::Moment;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::SystemTime;

/// Interval buffers per worker: one being filled, the others on their way.
pub const BUFFERS_PER_WORKER: usize = 3;

/// What a worker sends to the coordinator.
pub enum FromWorker {
    Interval(usize, Box<IntervalBuffer>),
    Done(usize, WorkerEnd),
}

/// A worker's side of the exchange of buffers. Both channels have room for all
/// buffers there are, so nothing here waits or allocates.
pub struct Exchange {
    worker: usize,
    full: SyncSender<FromWorker>,
    empty: Receiver<Box<IntervalBuffer>>,
}

impl IntervalSink for Exchange {
    fn empty(&mut self) -> Option<Box<IntervalBuffer>> {
        self.empty.try_recv().ok()
    }

    fn full(&mut self, buffer: Box<IntervalBuffer>) {
        // The coordinator outlives the workers; were it gone, nobody would want it.
        let _ = self.full.send(FromWorker::Interval(self.worker, buffer));
    }
}

/// What the calling thread knows of a run, besides what its workers say.
pub struct RunFacts<'run> {
    pub target: &'run Target,
    /// What waited for completions.
    pub driver: &'run str,
    /// How the clients were connected.
    pub connections: Option<ConnectionsRecord>,
    /// The file set of a mix.
    pub file_set: Option<FileSetRecord>,
    /// Processor time while the workers ran.
    pub used: ProcessorTime,
    pub clock: &'run Clock,
    pub started_at: SystemTime,
}

/// Merges what the workers hand over.
pub struct Coordinator {
    assembly: Assembly,
    /// Empty buffers that each worker has, and how to give it more; `None` when it
    /// has finished.
    spares: Vec<Option<(usize, SyncSender<Box<IntervalBuffer>>)>>,
    ends: Vec<WorkerEnd>,
}

impl Coordinator {
    pub fn new(plan: &Plan) -> Self {
        Self {
            assembly: Assembly::new(plan),
            spares: Vec::new(),
            ends: Vec::new(),
        }
    }

    /// A worker's side of the exchange, with its first empty buffers.
    pub fn exchange(
        &mut self,
        plan: &Plan,
        worker: usize,
        full: SyncSender<FromWorker>,
    ) -> Exchange {
        let (give, empty) = sync_channel(plan.workers as usize * BUFFERS_PER_WORKER);
        for _ in 0..BUFFERS_PER_WORKER {
            let _ = give.send(Box::new(new_buffer(plan)));
        }
        self.spares.push(Some((BUFFERS_PER_WORKER, give)));
        Exchange {
            worker,
            full,
            empty,
        }
    }

    pub fn collect(
        &mut self,
        from_workers: &Receiver<FromWorker>,
        workers: usize,
        halt: &AtomicBool,
        mut steered: Option<&mut Steered<'_>>,
        observer: &mut dyn Observer,
    ) {
        while self.ends.len() < workers {
            let Ok(message) = from_workers.recv() else {
                return;
            };
            match message {
                FromWorker::Interval(worker, buffer) => {
                    if let Some(Some((spares, _))) = self.spares.get_mut(worker) {
                        *spares = spares.saturating_sub(1);
                    }
                    let merged = self.assembly.take(worker, buffer);
                    merged.into_iter().for_each(|buffer| self.give_back(buffer));
                }
                FromWorker::Done(worker, end) => {
                    // The others' intervals must not wait for one that has
                    // nothing more to say.
                    self.assembly.finish(worker);
                    if let Some(spares) = self.spares.get_mut(worker) {
                        *spares = None;
                    }
                    if end.lost.is_some() {
                        halt.store(true, Ordering::Relaxed);
                    }
                    self.ends.push(end);
                }
            }
            while let Some((record, buffer)) = self.assembly.complete() {
                observer.interval(&record);
                if let Some(steered) = &mut steered {
                    steered.take(&record, halt, observer);
                }
                self.give_back(buffer);
            }
        }
    }

    /// Gives an empty buffer to the worker that has the fewest.
    fn give_back(&mut self, mut buffer: Box<IntervalBuffer>) {
        buffer.reset(Moment::ZERO);
        let running = self.spares.iter_mut().flatten();
        if let Some((spares, give)) = running.min_by_key(|(spares, _)| *spares) {
            *spares += 1;
            // A worker that finishes meanwhile needs none.
            let _ = give.try_send(buffer);
        }
    }

    pub fn into_record(self, plan: &Plan, facts: RunFacts<'_>) -> RunRecord {
        let window_start = Moment::from_nanos(plan.warm_up_ns);
        let window_end = self
            .ends
            .iter()
            .map(|end| end.window_end)
            .max()
            .unwrap_or(window_start);
        let (intervals, ticks, mut totals) = self.assembly.conclude(plan, window_end);
        totals.reconnections = self.ends.iter().map(|end| end.reconnections).sum();
        totals.unusable_ns = self.ends.iter().map(|end| end.unusable_nanos).sum();
        let lost = self.ends.iter().find_map(|end| end.lost.as_ref());
        let end = match lost {
            Some(error) => RunEnd::TargetLost {
                message: error.to_string(),
            },
            None if self.ends.iter().any(|end| end.is_interrupted) => RunEnd::Interrupted,
            None => RunEnd::Finished,
        };
        let window_ns = window_end.nanos_since(window_start);
        let mix = facts
            .file_set
            .map(|set| figures(plan, &totals, &ticks, window_ns, set));
        let header = RunHeader {
            plan,
            target: facts.target.clone(),
            clock: facts.clock,
            driver: facts.driver,
            started_at: facts.started_at,
            window_ns,
            end,
        };
        let threads = totals.workers.iter().map(|worker| worker.time(window_ns));
        let threads: Vec<ThreadTime> = threads.collect();
        let mut record = RunRecord {
            connections: facts.connections,
            mix,
            processors: ProcessorsRecord::of(facts.used, window_ns, &threads),
            ..header.record(intervals, ticks, totals)
        };
        record.caveats = caveats::find(&record);
        record
    }
}
