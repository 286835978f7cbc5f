//! One worker's recorder: the buffer being filled, and the moments that decide
//! what is measured.

use crate::measure::interval::IntervalBuffer;
use crate::measure::sample::{Role, Sample};
use crate::operation::OpKind;
use crate::time::Moment;

/// Fills interval buffers. Belongs to one worker; nothing in it is shared.
#[derive(Debug)]
pub struct Recorder {
    buffer: Box<IntervalBuffer>,
    /// Operations due before this are warm-up: neither counted nor timed.
    window_start: Moment,
    /// When the measured window closes.
    window_end: Moment,
}

impl Recorder {
    /// Begins with `buffer`. Operations due before `window_start` are not counted.
    pub fn new(mut buffer: Box<IntervalBuffer>, window_start: Moment, window_end: Moment) -> Self {
        buffer.reset(window_start);
        Self {
            buffer,
            window_start,
            window_end,
        }
    }

    /// Whether an operation due at `due` belongs to the measured window.
    #[inline]
    pub fn is_measured(&self, due: Moment) -> bool {
        due >= self.window_start
    }

    /// Closes the measured window early, when a run is interrupted.
    pub fn close_window(&mut self, at: Moment) {
        self.window_end = self.window_end.min(at);
    }

    /// Counts the birth of an operation.
    #[inline]
    pub fn schedule(&mut self, kind: OpKind, role: Role, due: Moment) {
        if self.is_measured(due) {
            self.buffer.schedule(kind, role);
        }
    }

    /// Counts the end of an operation.
    #[inline]
    pub fn record(&mut self, sample: &Sample) {
        if self.is_measured(sample.due) {
            self.buffer.record(sample, self.window_end);
        }
    }

    /// The buffer being filled.
    pub fn buffer(&mut self) -> &mut IntervalBuffer {
        &mut self.buffer
    }

    /// Takes the full buffer away and goes on with `next`, from `now` on.
    pub fn hand_over(&mut self, mut next: Box<IntervalBuffer>, now: Moment) -> Box<IntervalBuffer> {
        next.start = now;
        next.end = now;
        self.buffer.end = now;
        std::mem::replace(&mut self.buffer, next)
    }

    /// Takes the last buffer.
    pub fn finish(mut self, now: Moment) -> Box<IntervalBuffer> {
        self.buffer.end = now;
        self.buffer
    }
}
