//! What all clients of a load share, and what each shows while it runs.

use filestone_plan::plan::{OnMismatch, Plan, ReplayPlan};
use filestone_workload::time::Timestamp;
use std::sync::atomic::{AtomicU64, Ordering};

/// What all clients of a load share.
#[derive(Debug)]
pub struct SharedLoad {
    /// When the measured window opens.
    pub window_start: Timestamp,
    /// Whether clients end after one pass.
    pub run_once: bool,
    /// What a mismatch does.
    pub on_mismatch: OnMismatch,
    /// Whether what changes something is left out.
    pub read_only: bool,
    /// Reads and writes are cut to so many bytes.
    pub trunc_io_bytes: Option<u64>,
    /// Sequence points, by client (SETSP, WAITSP); `u64::MAX` once it has ended.
    points: Box<[AtomicU64]>,
    gauges: Box<[ReplayClientStats]>,
}

impl SharedLoad {
    /// What the clients of `plan` share.
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

    /// How many clients there are.
    pub fn clients(&self) -> u32 {
        self.points.len() as u32
    }

    /// What each client shows.
    pub fn gauges(&self) -> &[ReplayClientStats] {
        &self.gauges
    }

    pub(super) fn gauge(&self, client: u32) -> &ReplayClientStats {
        &self.gauges[client as usize]
    }

    /// Says that a client has come to a sequence point.
    pub(super) fn publish(&self, client: u32, point: u64) {
        if let Some(own) = self.points.get(client as usize) {
            own.store(point, Ordering::Relaxed);
        }
    }

    /// Whether that client has come to the point, or beyond, or to its end.
    pub(super) fn has_come(&self, client: u32, point: u64) -> bool {
        let other = self.points.get(client as usize);
        other.is_none_or(|other| other.load(Ordering::Relaxed) >= point)
    }
}

/// What one client shows while it runs. Only its worker writes; a plain load and store are enough.
#[derive(Debug, Default)]
pub struct ReplayClientStats {
    /// Lines carried out.
    lines: AtomicU64,
    /// File data moved, warm-up included.
    data_bytes: AtomicU64,
    /// When the line that it is in was due, in nanoseconds; 0 for none.
    busy_since: AtomicU64,
    /// Longest response time since it was last asked for, in nanoseconds.
    worst: AtomicU64,
}

impl ReplayClientStats {
    /// A line begins that was due at `due`.
    #[inline]
    pub(super) fn start(&self, due: Timestamp) {
        self.busy_since.store(due.nanos().max(1), Ordering::Relaxed);
    }

    /// It has ended, `response_time` after it was due.
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

    /// Lines carried out.
    pub fn lines(&self) -> u64 {
        self.lines.load(Ordering::Relaxed)
    }

    /// File data moved, warm-up included.
    pub fn data_bytes(&self) -> u64 {
        self.data_bytes.load(Ordering::Relaxed)
    }

    /// The longest response time in nanoseconds since this was last asked, a line that has not
    /// ended by `now` included.
    pub fn worst(&self, now: Timestamp) -> u64 {
        let stuck = match self.busy_since.load(Ordering::Relaxed) {
            0 => 0,
            since => now.nanos().saturating_sub(since),
        };
        self.worst.swap(0, Ordering::Relaxed).max(stuck)
    }
}
