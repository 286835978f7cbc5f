//! Counter of workers that still have live clients.

use std::sync::atomic::{AtomicU32, Ordering};

/// Counts the workers that have a client that is not lost. Changes only when a worker loses its
/// last client or gets its first one back, and is read only by workers without a client: no
/// operation uses it.
#[derive(Debug)]
pub struct LiveWorkers(AtomicU32);

impl LiveWorkers {
    /// Returns the counter of `workers` workers, all with clients.
    pub fn new(workers: u32) -> Self {
        Self(AtomicU32::new(workers))
    }

    /// Counts down: all clients of one worker are lost.
    pub(super) fn remove(&self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }

    /// Counts up: a client of such a worker has come back.
    pub(super) fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns whether all clients of all workers are lost.
    pub(super) fn is_empty(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 0
    }
}
