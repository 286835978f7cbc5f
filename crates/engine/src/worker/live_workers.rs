//! Whether any client of the run still has its server.

use std::sync::atomic::{AtomicU32, Ordering};

/// How many workers have a client that is not lost. Written when a worker's last client is lost,
/// or its first one comes back, and read by workers without a client: no operation comes past it.
#[derive(Debug)]
pub struct LiveWorkers(AtomicU32);

impl LiveWorkers {
    /// All of `workers` workers begin with clients.
    pub fn new(workers: u32) -> Self {
        Self(AtomicU32::new(workers))
    }

    /// All clients of one worker are lost.
    pub(super) fn remove(&self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }

    /// A client of such a worker has come back.
    pub(super) fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether all clients of all workers are lost.
    pub(super) fn is_empty(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 0
    }
}
