//! State shared by all clients of a load, and the counters that each publishes.

use filestone_plan::plan::{OnMismatch, Plan, ReplayPlan};
use filestone_workload::time::Timestamp;
use std::sync::atomic::{AtomicU64, Ordering};

/// State shared by all clients of a load.
#[derive(Debug)]
pub struct SharedLoad {
    /// Start of the measured window.
    pub window_start: Timestamp,
    /// Whether clients end after one iteration.
    pub run_once: bool,
    /// Action on a mismatch.
    pub on_mismatch: OnMismatch,
    /// Whether modifying lines are skipped.
    pub read_only: bool,
    /// Maximum length of reads and writes, in bytes; longer ones are truncated.
    pub trunc_io_bytes: Option<u64>,
    /// Sequence points, by client (SETSP, WAITSP); `u64::MAX` once the client has finished.
    points: Box<[AtomicU64]>,
    gauges: Box<[ReplayClientStats]>,
}

impl SharedLoad {
    /// Creates the shared state for the clients of `plan`.
    pub fn new(plan: &Plan, replay: &ReplayPlan) -> Self {
        let clients = 0..plan.clients;
        Self {
            window_start: Timestamp::from_nanos(plan.warm_up_ns),
            run_once: replay.run_once,
            on_mismatch: replay.on_mismatch,
            read_only: replay.read_only,
            trunc_io_bytes: replay.trunc_io_bytes,
            points: clients.clone().map(|_| AtomicU64::new(0)).collect(),
            gauges: clients.map(|_| ReplayClientStats::default()).collect(),
        }
    }

    /// Returns the number of clients.
    pub fn clients(&self) -> u32 {
        self.points.len() as u32
    }

    /// Returns the counters of each client.
    pub fn gauges(&self) -> &[ReplayClientStats] {
        &self.gauges
    }

    pub(super) fn gauge(&self, client: u32) -> &ReplayClientStats {
        &self.gauges[client as usize]
    }

    /// Publishes the sequence point of a client.
    pub(super) fn publish(&self, client: u32, point: u64) {
        if let Some(own) = self.points.get(client as usize) {
            own.store(point, Ordering::Relaxed);
        }
    }

    /// Returns whether that client has reached or passed the point, or finished.
    pub(super) fn has_come(&self, client: u32, point: u64) -> bool {
        let other = self.points.get(client as usize);
        other.is_none_or(|other| other.load(Ordering::Relaxed) >= point)
    }
}

/// Counters that one client publishes while it runs. Only its worker writes; a plain load and store
/// are enough.
#[derive(Debug, Default)]
pub struct ReplayClientStats {
    /// Executed lines.
    lines: AtomicU64,
    /// File data moved in bytes, warm-up included.
    data_bytes: AtomicU64,
    /// Due time of the current line, in nanoseconds; 0 if there is no current line.
    busy_since: AtomicU64,
    /// Longest response time since the last query, in nanoseconds.
    worst: AtomicU64,
}

impl ReplayClientStats {
    /// Begins a line that was due at `due`.
    #[inline]
    pub(super) fn start(&self, due: Timestamp) {
        self.busy_since.store(due.nanos().max(1), Ordering::Relaxed);
    }

    /// Ends the line, `response_time` nanoseconds after it was due.
    #[inline]
    pub(super) fn end(&self, data_bytes: u64, response_time: u64) {
        self.busy_since.store(0, Ordering::Relaxed);
        if response_time > self.worst.load(Ordering::Relaxed) {
            self.worst.store(response_time, Ordering::Relaxed);
        }
        let lines = self.lines.load(Ordering::Relaxed);
        self.lines.store(lines + 1, Ordering::Relaxed);
        if data_bytes > 0 {
            let moved = self.data_bytes.load(Ordering::Relaxed);
            let moved = moved.saturating_add(data_bytes);
            self.data_bytes.store(moved, Ordering::Relaxed);
        }
    }

    /// Returns the number of executed lines.
    pub fn lines(&self) -> u64 {
        self.lines.load(Ordering::Relaxed)
    }

    /// Returns the file data moved in bytes, warm-up included.
    pub fn data_bytes(&self) -> u64 {
        self.data_bytes.load(Ordering::Relaxed)
    }

    /// Returns the longest response time in nanoseconds since the last query, including a line
    /// still running at `now`.
    pub fn worst(&self, now: Timestamp) -> u64 {
        let stuck = match self.busy_since.load(Ordering::Relaxed) {
            0 => 0,
            since => now.nanos().saturating_sub(since),
        };
        self.worst.swap(0, Ordering::Relaxed).max(stuck)
    }
}
