//! What a client's thread shows to the coordinator while it runs.
//!
//! Samples wait in a short queue of the client's own, behind a lock that nobody
//! else wants but once per interval; numbers for the progress row are atomic.

use filestone_model::measure::Sample;
use filestone_model::time::Moment;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Samples that wait at most before the client enters them itself.
pub const QUEUE_LEN: usize = 128;

/// One client's board.
#[derive(Debug)]
pub struct Board {
    queue: Mutex<Vec<Sample>>,
    /// Line of the load file that it is at.
    pub line: AtomicU64,
    /// Lines carried out.
    pub lines: AtomicU64,
    /// File data moved, warm-up included.
    pub data_bytes: AtomicU64,
    /// When the operation that it is in was due, in nanoseconds; 0 for none.
    busy_since: AtomicU64,
    /// Longest response time since it was last asked for, in nanoseconds.
    worst: AtomicU64,
    /// Processor time of its thread, in nanoseconds.
    pub cpu_nanos: AtomicU64,
    /// Whether it will carry out no more lines.
    pub is_done: AtomicBool,
    /// Whether its tree has been taken away, too.
    pub is_clean: AtomicBool,
}

impl Board {
    /// An empty board.
    pub fn new() -> Self {
        Self {
            queue: Mutex::new(Vec::with_capacity(QUEUE_LEN)),
            line: AtomicU64::new(0),
            lines: AtomicU64::new(0),
            data_bytes: AtomicU64::new(0),
            busy_since: AtomicU64::new(0),
            worst: AtomicU64::new(0),
            cpu_nanos: AtomicU64::new(0),
            is_done: AtomicBool::new(false),
            is_clean: AtomicBool::new(false),
        }
    }

    /// Says that an operation begins that was due at `due`.
    #[inline]
    pub fn begin(&self, due: u64) {
        self.busy_since.store(due.max(1), Ordering::Relaxed);
    }

    /// Says that it has ended, `response_time` after it was due. Only the client's
    /// thread writes; a plain load and store are enough.
    #[inline]
    pub fn end(&self, line: u32, data_bytes: u64, response_time: u64) {
        self.busy_since.store(0, Ordering::Relaxed);
        if response_time > self.worst.load(Ordering::Relaxed) {
            self.worst.store(response_time, Ordering::Relaxed);
        }
        self.line.store(line.into(), Ordering::Relaxed);
        self.lines
            .store(self.lines.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        if data_bytes > 0 {
            let moved = self.data_bytes.load(Ordering::Relaxed);
            self.data_bytes
                .store(moved.saturating_add(data_bytes), Ordering::Relaxed);
        }
    }

    /// The longest response time since this was last asked, an operation that
    /// has not ended by `now` included.
    pub fn worst(&self, now: u64) -> u64 {
        let since = self.busy_since.load(Ordering::Relaxed);
        let stuck = match since {
            0 => 0,
            since => now.saturating_sub(since),
        };
        self.worst.swap(0, Ordering::Relaxed).max(stuck)
    }

    /// Puts a sample into the queue; says whether it is full now.
    #[inline]
    pub fn push(&self, sample: Sample) -> bool {
        let mut queue = self.lock();
        queue.push(sample);
        queue.len() >= QUEUE_LEN
    }

    /// Takes the samples that ended before `until`, in the order in which they did.
    pub fn drain(&self, until: Moment, mut enter: impl FnMut(Sample)) {
        let mut queue = self.lock();
        let count = queue.partition_point(|sample| sample.completion.done < until);
        queue.drain(..count).for_each(&mut enter);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Sample>> {
        // Nothing can panic while it is held.
        self.queue
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Default for Board {
    fn default() -> Self {
        Self::new()
    }
}
