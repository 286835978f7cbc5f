//! Sample sink of threads that may block in a call: their samples wait in short queues, from which
//! one recorder takes them.
//!
//! The histograms, which are large, exist once and not per thread; and an interval contains its
//! samples even while a thread blocks, because the coordinator empties the queues.

use super::{SampleSink, new_buffer};
use filestone_plan::plan::Plan;
use filestone_workload::operation::OpKind;
use filestone_workload::recording::interval::IntervalCounts;
use filestone_workload::recording::{IntervalBuffer, Recorder, Role, Sample};
use filestone_workload::time::Timestamp;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Longest queue before the thread records its samples itself.
const QUEUE_LEN: usize = 128;

/// The shared recorder of a run's threads.
#[derive(Debug)]
pub struct SharedRecorder {
    recorder: Mutex<Recorder>,
    window_start: Timestamp,
    queues: Box<[Mutex<Queue>]>,
}

/// Samples and costs of one thread that are not recorded yet.
#[derive(Debug, Default)]
struct Queue {
    /// Samples in the order of their ends.
    samples: Vec<Sample>,
    costs: IntervalCounts,
}

/// Access of one thread to the recorder.
#[derive(Debug)]
pub struct SharedSampleSink<'run> {
    recorder: &'run SharedRecorder,
    queue: &'run Mutex<Queue>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // No code panics while holding the lock.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl SharedRecorder {
    /// Returns the recorder of `threads` threads of the run of `plan`.
    pub fn new(plan: &Plan, threads: usize) -> Self {
        let schedule = super::Schedule::of(plan);
        let (start, end) = (schedule.window_start, schedule.window_end);
        Self {
            recorder: Mutex::new(Recorder::new(Box::new(new_buffer(plan)), start, end)),
            window_start: start,
            queues: (0..threads).map(|_| Mutex::default()).collect(),
        }
    }

    /// Returns the sample sink of a thread.
    pub fn books(&self, thread: u32) -> SharedSampleSink<'_> {
        SharedSampleSink {
            recorder: self,
            queue: &self.queues[thread as usize],
        }
    }

    /// Returns the interval that ended at `boundary`, and continues with the buffer `next`.
    pub fn submit_interval(
        &self,
        next: Box<IntervalBuffer>,
        boundary: Timestamp,
    ) -> Box<IntervalBuffer> {
        for queue in &self.queues {
            self.record(queue, boundary);
        }
        lock(&self.recorder).submit_interval(next, boundary)
    }

    /// Records the samples that ended before `until`.
    fn record(&self, queue: &Mutex<Queue>, until: Timestamp) {
        let (mut recorder, mut queue) = (lock(&self.recorder), lock(queue));
        let costs = std::mem::take(&mut queue.costs);
        recorder.buffer().counts.add(&costs);
        let samples = &mut queue.samples;
        let count = samples.partition_point(|sample| sample.completion.done < until);
        for sample in samples.drain(..count) {
            if sample.due >= self.window_start {
                recorder.schedule(sample.kind, sample.role, 1);
            }
            recorder.record_one(&sample);
        }
    }
}

impl SampleSink for SharedSampleSink<'_> {
    #[inline]
    fn is_measured(&self, due: Timestamp) -> bool {
        due >= self.recorder.window_start
    }

    /// Scheduled operations are counted together with their outcomes.
    #[inline]
    fn schedule(&mut self, _kind: OpKind, _role: Role, _times: u64) {}

    #[inline]
    fn record(&mut self, sample: &Sample, times: u32) {
        let mut queue = lock(self.queue);
        (0..times).for_each(|_| queue.samples.push(*sample));
        if queue.samples.len() >= QUEUE_LEN {
            drop(queue);
            self.recorder.record(self.queue, Timestamp::MAX);
        }
    }

    fn skip(&mut self, kind: OpKind, role: Role, times: u64) {
        let mut recorder = lock(&self.recorder.recorder);
        recorder.buffer().skip(kind, role, times);
    }

    fn leave_in_flight(&mut self, kind: OpKind, role: Role) {
        let mut recorder = lock(&self.recorder.recorder);
        recorder.schedule(kind, role, 1);
        recorder.buffer().leave_in_flight(kind, role);
    }

    fn close_window(&mut self, at: Timestamp) {
        lock(&self.recorder.recorder).close_window(at);
    }

    fn add(&mut self, costs: &IntervalCounts) {
        lock(self.queue).costs.add(costs);
    }

    /// The coordinator takes the intervals.
    fn submit_interval(&mut self, _boundary: Timestamp) {}

    fn finish(self, _now: Timestamp) {
        self.recorder.record(self.queue, Timestamp::MAX);
    }
}
