//! What one client of a fleet shows while it runs, and what it is told. Only its worker writes what it
//! shows, and only who controls the fleet what it is told; plain loads and stores are enough.

use super::orders::Orders;
use crate::measure::fleet_record::{ClientState, FirstConnection, FleetCounters};
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

/// It has no connection, or had it before it was asked how long that took.
const WITHOUT: u64 = 0;
/// Its connection is not there yet.
const NOT_YET: u64 = u64::MAX;

/// What one client shows.
#[derive(Debug, Default)]
pub struct ClientGauge {
    counts: [AtomicU64; 10],
    /// Since when it has been failing, in nanoseconds; 0 if it is not.
    failing_since: AtomicU64,
    /// How long it took to connect it, in nanoseconds.
    connect_nanos: AtomicU64,
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

    /// How far its first connection is from now on.
    pub fn connect(&self, connection: FirstConnection) {
        let nanos = match connection {
            FirstConnection::None => WITHOUT,
            FirstConnection::Awaited => NOT_YET,
            FirstConnection::Made(nanos) => nanos.clamp(WITHOUT + 1, NOT_YET - 1),
        };
        self.connect_nanos.store(nanos, Ordering::Relaxed);
    }

    /// How far its first connection is.
    pub fn connection(&self) -> FirstConnection {
        match self.connect_nanos.load(Ordering::Relaxed) {
            WITHOUT => FirstConnection::None,
            NOT_YET => FirstConnection::Awaited,
            nanos => FirstConnection::Made(nanos),
        }
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
