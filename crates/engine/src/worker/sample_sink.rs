//! Sample sinks: destinations of a worker's measurements.

use filestone_workload::operation::OpKind;
use filestone_workload::recording::interval::IntervalCounts;
use filestone_workload::recording::{IntervalBuffer, Recorder, Role, Sample};
use filestone_workload::time::Timestamp;

/// Destination of full interval buffers, and source of empty ones.
pub trait IntervalSink {
    /// Returns an empty buffer, or `None` if none is free: then the worker continues with its
    /// current one.
    fn empty(&mut self) -> Option<Box<IntervalBuffer>>;
    /// Takes a full buffer.
    fn full(&mut self, buffer: Box<IntervalBuffer>);
}

/// Destination of a worker's samples.
pub trait SampleSink {
    /// Returns whether an operation due at `due` belongs to the measured window.
    fn is_measured(&self, due: Timestamp) -> bool;
    /// Counts `times` scheduled operations.
    fn schedule(&mut self, kind: OpKind, role: Role, times: u64);
    /// Counts the end of `times` operations that differ at most in their slot.
    fn record(&mut self, sample: &Sample, times: u32);
    /// Counts operations that were due and never sent.
    fn skip(&mut self, kind: OpKind, role: Role, times: u64);
    /// Counts an operation that is still outstanding at the end.
    fn leave_in_flight(&mut self, kind: OpKind, role: Role);
    /// Closes the measured window early, when a run is interrupted.
    fn close_window(&mut self, at: Timestamp);
    /// Adds the costs of the interval.
    fn add(&mut self, costs: &IntervalCounts);
    /// Submits the interval that has ended at `boundary`.
    fn submit_interval(&mut self, boundary: Timestamp);
    /// Ends the recording.
    fn finish(self, now: Timestamp);
}

/// Sample sink of one worker: nothing in it is shared, and full buffers are submitted whole.
#[derive(Debug)]
pub struct LocalSampleSink<S> {
    recorder: Recorder,
    sink: S,
}

impl<S> LocalSampleSink<S> {
    /// Returns a sink that records with `recorder` and submits its buffers to `sink`.
    pub fn new(recorder: Recorder, sink: S) -> Self {
        Self { recorder, sink }
    }
}

impl<S: IntervalSink> SampleSink for LocalSampleSink<S> {
    #[inline]
    fn is_measured(&self, due: Timestamp) -> bool {
        self.recorder.is_measured(due)
    }

    #[inline]
    fn schedule(&mut self, kind: OpKind, role: Role, times: u64) {
        self.recorder.schedule(kind, role, times);
    }

    #[inline]
    fn record(&mut self, sample: &Sample, times: u32) {
        self.recorder.record(sample, times);
    }

    fn skip(&mut self, kind: OpKind, role: Role, times: u64) {
        self.recorder.buffer().skip(kind, role, times);
    }

    fn leave_in_flight(&mut self, kind: OpKind, role: Role) {
        self.recorder.buffer().leave_in_flight(kind, role);
    }

    fn close_window(&mut self, at: Timestamp) {
        self.recorder.close_window(at);
    }

    fn add(&mut self, costs: &IntervalCounts) {
        self.recorder.buffer().counts.add(costs);
    }

    fn submit_interval(&mut self, boundary: Timestamp) {
        if let Some(empty) = self.sink.empty() {
            let full = self.recorder.submit_interval(empty, boundary);
            self.sink.full(full);
        }
    }

    fn finish(mut self, now: Timestamp) {
        self.sink.full(self.recorder.finish(now));
    }
}
