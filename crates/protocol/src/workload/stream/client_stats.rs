//! What one client of a fleet shows while it runs, and what it is told. Only its worker writes what it
//! shows, and only who controls the fleet what it is told; plain loads and stores are enough.

use super::client_control::{ClientControl, DesiredState};
use super::times::{Times, TimesCounted};
use filestone_measure::measure::fleet_record::{ClientState, ConnectStatus, FleetCounters};
use filestone_plan::fleet::EffectiveFrom;
use filestone_workload::time::Timestamp;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};

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
    /// Of its schedule, what its transfers take by their rate.
    ScheduledNanos = 10,
    /// What it was late by and did not make up for.
    ForgivenNanos = 11,
}

/// It has no connection, or had it before it was asked how long that took.
const WITHOUT: u64 = 0;
/// Its connection is not there yet.
const NOT_YET: u64 = u64::MAX;
/// It is between two files.
const NO_FILE: u32 = u32::MAX;

/// What one client shows.
#[derive(Debug, Default)]
pub struct ClientStats {
    counts: [AtomicU64; 12],
    /// When its next transfer is due by its rate, in nanoseconds; 0 if none is.
    next_due: AtomicU64,
    /// Since when it has been failing, in nanoseconds; 0 if it is not.
    failing_since: AtomicU64,
    /// Until when it tries again what has failed, in nanoseconds; 0 if nothing has.
    retries_until: AtomicU64,
    /// How long it took to connect it, in nanoseconds.
    connect_nanos: AtomicU64,
    state: AtomicU8,
    orders: AtomicU64,
    /// What it has taken up of these.
    taken_up: AtomicU64,
    /// The place of the settings by which it began the file that it is at.
    of_file: AtomicU32,
    /// How long its reads and writes took, once it has begun.
    times: OnceLock<Box<Times>>,
}

impl ClientStats {
    /// Of a client that goes by these.
    pub(super) fn new(orders: ClientControl) -> Self {
        Self {
            orders: AtomicU64::new(orders.packed()),
            taken_up: AtomicU64::new(orders.packed()),
            of_file: AtomicU32::new(NO_FILE),
            ..Self::default()
        }
    }

    /// What it is told.
    pub fn orders(&self) -> ClientControl {
        ClientControl::unpacked(self.orders.load(Ordering::Relaxed))
    }

    pub(super) fn order(&self, orders: ClientControl) {
        self.orders.store(orders.packed(), Ordering::Relaxed);
    }

    /// It goes by these from its next operation on.
    pub(super) fn take_up(&self, orders: ClientControl) {
        self.taken_up.store(orders.packed(), Ordering::Relaxed);
    }

    /// It has begun a file by the settings at this place, or is between two.
    pub(super) fn begin_file(&self, settings: Option<u32>) {
        self.of_file
            .store(settings.unwrap_or(NO_FILE), Ordering::Relaxed);
    }

    /// Whether it asks for nothing any more but by what it was told, as far as that holds no later than
    /// `up_to`.
    pub(super) fn is_applied(&self, up_to: EffectiveFrom) -> bool {
        match self.state() {
            // These move no data, and take up what they were told before they do.
            ClientState::Waiting
            | ClientState::Connecting
            | ClientState::Stopped
            | ClientState::Failed => return true,
            ClientState::Starting
            | ClientState::Running
            | ClientState::Quiescing
            | ClientState::Failing => {}
        }
        let orders = self.orders();
        let has_taken_up = self.taken_up.load(Ordering::Relaxed) == orders.packed();
        let of_file = self.of_file.load(Ordering::Relaxed);
        let is_of_file = match up_to {
            EffectiveFrom::NextTransfer => true,
            EffectiveFrom::NextFile => of_file == NO_FILE || of_file == orders.settings,
        };
        has_taken_up && is_of_file && orders.command == DesiredState::Run
    }

    /// It begins: from now on it is counted how long its reads and writes take.
    pub(super) fn count_times(&self) {
        self.times.get_or_init(Box::default);
    }

    /// A read or write took so long.
    pub(super) fn took(&self, nanos: u64) {
        if let Some(times) = self.times.get() {
            times.add(nanos);
        }
    }

    /// Adds how long its reads and writes took.
    pub fn add_times(&self, sum: &mut TimesCounted) {
        if let Some(times) = self.times.get() {
            sum.add(times);
        }
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

    pub(super) fn fail(&self, since: Option<Timestamp>) {
        let nanos = since.map_or(0, |since| since.nanos().max(1));
        self.failing_since.store(nanos, Ordering::Relaxed);
        if since.is_none() {
            self.retries_until.store(0, Ordering::Relaxed);
        }
    }

    /// It tries again what has failed until then.
    pub(super) fn retry_until(&self, end: Timestamp) {
        self.retries_until.store(end.nanos(), Ordering::Relaxed);
    }

    /// Until when it tries again what has failed, if something has.
    pub fn retries_until(&self) -> Option<Timestamp> {
        match self.retries_until.load(Ordering::Relaxed) {
            0 => None,
            nanos => Some(Timestamp::from_nanos(nanos)),
        }
    }

    /// When its next transfer is due by its rate, if it has one and does not wait for something else.
    pub(super) fn due_next(&self, due: Option<Timestamp>) {
        let nanos = due.map_or(0, |due| due.nanos().max(1));
        self.next_due.store(nanos, Ordering::Relaxed);
    }

    /// How far its first connection is from now on.
    pub fn connect(&self, connection: ConnectStatus) {
        let nanos = match connection {
            ConnectStatus::None => WITHOUT,
            ConnectStatus::Pending => NOT_YET,
            ConnectStatus::Connected(nanos) => nanos.clamp(WITHOUT + 1, NOT_YET - 1),
        };
        self.connect_nanos.store(nanos, Ordering::Relaxed);
    }

    /// How far its first connection is.
    pub fn connection(&self) -> ConnectStatus {
        match self.connect_nanos.load(Ordering::Relaxed) {
            WITHOUT => ConnectStatus::None,
            NOT_YET => ConnectStatus::Pending,
            nanos => ConnectStatus::Connected(nanos),
        }
    }

    /// What it is doing.
    pub fn state(&self) -> ClientState {
        let state = self.state.load(Ordering::Relaxed);
        let known = ClientState::ALL.get(usize::from(state));
        known.copied().unwrap_or(ClientState::Failed)
    }

    /// Bytes that it has read and written by now.
    pub fn data_bytes(&self) -> u64 {
        self.count(Count::BytesRead)
            .saturating_add(self.count(Count::BytesWritten))
    }

    fn count(&self, what: Count) -> u64 {
        let place = self.counts.get(what as usize);
        place.map_or(0, |place| place.load(Ordering::Relaxed))
    }

    /// What it has done by now, time that it has been failing included.
    pub fn counters(&self, now: Timestamp) -> FleetCounters {
        let count = |what: Count| self.count(what);
        let failing = match self.failing_since.load(Ordering::Relaxed) {
            0 => 0,
            since => now.nanos().saturating_sub(since),
        };
        let late = match self.next_due.load(Ordering::Relaxed) {
            0 => 0,
            due => now.nanos().saturating_sub(due),
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
            scheduled_ns: count(Count::ScheduledNanos),
            behind_ns: count(Count::ForgivenNanos).saturating_add(late),
        }
    }
}
