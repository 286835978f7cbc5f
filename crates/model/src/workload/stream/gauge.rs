//! What one client of a fleet shows while it runs, and what it is told. Only its worker writes what it
//! shows, and only who controls the fleet what it is told; plain loads and stores are enough.

use super::orders::Orders;
use crate::measure::fleet_record::{ClientState, FleetCounters};
use crate::time::Moment;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Count {
    Reads = 0,
    Writes = 1,
    BytesRead = 2,
    BytesWritten = 3,
    FilesRead = 4,
    FilesWritten = 5,
    ChecksumErrors = 6,
    Failures = 7,
    FailingNanos = 8,
    Late = 9,
}

/// What one client shows.
#[derive(Debug, Default)]
pub struct ClientGauge {
    counts: [AtomicU64; 10],
    /// Since when it has been failing, in nanoseconds; 0 if it is not.
    failing_since: AtomicU64,
    state: AtomicU8,
    orders: AtomicU64,
}

impl ClientGauge {
    /// Of a client that goes by these.
    pub(super) fn new(orders: Orders) -> Self {
        Self {
            orders: AtomicU64::new(orders.packed()),
            ..Self::default()
        }
    }

    /// What it is told.
    pub fn orders(&self) -> Orders {
        Orders::unpacked(self.orders.load(Ordering::Relaxed))
    }

    pub(super) fn order(&self, orders: Orders) {
        self.orders.store(orders.packed(), Ordering::Relaxed);
    }

    pub(super) fn add(&self, what: Count, count: u64) {
        if let Some(place) = self.counts.get(what as usize) {
            let before = place.load(Ordering::Relaxed);
            place.store(before.saturating_add(count), Ordering::Relaxed);
        }
    }

    pub(super) fn enter(&self, state: ClientState) {
        self.state.store(state as u8, Ordering::Relaxed);
    }

    pub(super) fn fail(&self, since: Option<Moment>) {
        let nanos = since.map_or(0, |since| since.nanos().max(1));
        self.failing_since.store(nanos, Ordering::Relaxed);
    }

    /// What it is doing.
    pub fn state(&self) -> ClientState {
        let state = self.state.load(Ordering::Relaxed);
        let known = ClientState::ALL.get(usize::from(state));
        known.copied().unwrap_or(ClientState::Failed)
    }

    /// What it has done by now, time that it has been failing included.
    pub fn counters(&self, now: Moment) -> FleetCounters {
        let count = |what: Count| {
            let place = self.counts.get(what as usize);
            place.map_or(0, |place| place.load(Ordering::Relaxed))
        };
        let failing = match self.failing_since.load(Ordering::Relaxed) {
            0 => 0,
            since => now.nanos().saturating_sub(since),
        };
        FleetCounters {
            reads: count(Count::Reads),
            writes: count(Count::Writes),
            bytes_read: count(Count::BytesRead),
            bytes_written: count(Count::BytesWritten),
            files_read: count(Count::FilesRead),
            files_written: count(Count::FilesWritten),
            checksum_errors: count(Count::ChecksumErrors),
            failures: count(Count::Failures),
            failing_ns: count(Count::FailingNanos).saturating_add(failing),
            late: count(Count::Late),
        }
    }
}
