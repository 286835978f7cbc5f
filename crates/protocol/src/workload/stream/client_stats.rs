//! Counters that one client of a fleet publishes while it runs, and its control word. Only its
//! worker writes the counters, and only the fleet controller writes the control word; plain loads
//! and stores are enough.

use super::client_control::{ClientControl, DesiredState};
use super::times::{ClientHistogram, TimesCounted};
use filestone_measure::measure::fleet_record::{ClientState, ConnectStatus, FleetCounters};
use filestone_plan::fleet::EffectiveFrom;
use filestone_workload::time::Timestamp;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};

/// Counters of a client.
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
    /// Scheduled time: duration of its transfers at their rate, in nanoseconds.
    ScheduledNanos = 10,
    /// Lateness that it does not make up for, in nanoseconds.
    ForgivenNanos = 11,
}

/// Value for: no connection, or connected before connection times were recorded.
const WITHOUT: u64 = 0;
/// Value for: connection pending.
const NOT_YET: u64 = u64::MAX;
/// Value for: between two files.
const NO_FILE: u32 = u32::MAX;

/// Counters that a client publishes while it runs.
#[derive(Debug, Default)]
pub struct ClientStats {
    counts: [AtomicU64; 12],
    /// Due time of its next transfer by its rate, in nanoseconds; 0 if there is no due time.
    next_due: AtomicU64,
    /// Start of its current failing period, in nanoseconds; 0 if it does not fail.
    failing_since: AtomicU64,
    /// End of the retry period after a failure, in nanoseconds; 0 if nothing has failed.
    retries_until: AtomicU64,
    /// Connection time in nanoseconds.
    connect_nanos: AtomicU64,
    state: AtomicU8,
    orders: AtomicU64,
    /// Control word that the client has applied.
    taken_up: AtomicU64,
    /// Index of the settings used at the start of its current file.
    of_file: AtomicU32,
    /// Response times of its reads and writes, once it has begun.
    times: OnceLock<Box<ClientHistogram>>,
}

impl ClientStats {
    /// Creates the counters of a client with this control word.
    pub(super) fn new(orders: ClientControl) -> Self {
        Self {
            orders: AtomicU64::new(orders.packed()),
            taken_up: AtomicU64::new(orders.packed()),
            of_file: AtomicU32::new(NO_FILE),
            ..Self::default()
        }
    }

    /// Returns the control word.
    pub fn orders(&self) -> ClientControl {
        ClientControl::unpacked(self.orders.load(Ordering::Relaxed))
    }

    pub(super) fn order(&self, orders: ClientControl) {
        self.orders.store(orders.packed(), Ordering::Relaxed);
    }

    /// Records that the client applies this control word from its next operation on.
    pub(super) fn take_up(&self, orders: ClientControl) {
        self.taken_up.store(orders.packed(), Ordering::Relaxed);
    }

    /// Records that the client began a file with the settings of this index, or is between two
    /// files.
    pub(super) fn begin_file(&self, settings: Option<u32>) {
        self.of_file
            .store(settings.unwrap_or(NO_FILE), Ordering::Relaxed);
    }

    /// Returns whether all further requests of the client follow its control word, for changes that
    /// take effect no later than `up_to`.
    pub(super) fn is_applied(&self, up_to: EffectiveFrom) -> bool {
        match self.state() {
            // These move no data, and apply the control word before they do.
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

    /// Starts recording response times of reads and writes, when the client begins.
    pub(super) fn count_times(&self) {
        self.times.get_or_init(Box::default);
    }

    /// Records the response time of a read or write.
    pub(super) fn took(&self, nanos: u64) {
        if let Some(times) = self.times.get() {
            times.add(nanos);
        }
    }

    /// Adds the response times of its reads and writes to `sum`.
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

    /// Records the end of the retry period after a failure.
    pub(super) fn retry_until(&self, end: Timestamp) {
        self.retries_until.store(end.nanos(), Ordering::Relaxed);
    }

    /// Returns the end of the retry period, if something has failed.
    pub fn retries_until(&self) -> Option<Timestamp> {
        match self.retries_until.load(Ordering::Relaxed) {
            0 => None,
            nanos => Some(Timestamp::from_nanos(nanos)),
        }
    }

    /// Records the due time of its next transfer, if it has a rate and does not wait for something
    /// else.
    pub(super) fn due_next(&self, due: Option<Timestamp>) {
        let nanos = due.map_or(0, |due| due.nanos().max(1));
        self.next_due.store(nanos, Ordering::Relaxed);
    }

    /// Sets the status of its first connection.
    pub fn connect(&self, connection: ConnectStatus) {
        let nanos = match connection {
            ConnectStatus::None => WITHOUT,
            ConnectStatus::Pending => NOT_YET,
            ConnectStatus::Connected(nanos) => nanos.clamp(WITHOUT + 1, NOT_YET - 1),
        };
        self.connect_nanos.store(nanos, Ordering::Relaxed);
    }

    /// Returns the status of its first connection.
    pub fn connection(&self) -> ConnectStatus {
        match self.connect_nanos.load(Ordering::Relaxed) {
            WITHOUT => ConnectStatus::None,
            NOT_YET => ConnectStatus::Pending,
            nanos => ConnectStatus::Connected(nanos),
        }
    }

    /// Returns the state of the client.
    pub fn state(&self) -> ClientState {
        let state = self.state.load(Ordering::Relaxed);
        let known = ClientState::ALL.get(usize::from(state));
        known.copied().unwrap_or(ClientState::Failed)
    }

    /// Returns the bytes read and written until now.
    pub fn data_bytes(&self) -> u64 {
        self.count(Count::BytesRead)
            .saturating_add(self.count(Count::BytesWritten))
    }

    fn count(&self, what: Count) -> u64 {
        let place = self.counts.get(what as usize);
        place.map_or(0, |place| place.load(Ordering::Relaxed))
    }

    /// Returns the current counters, time in the current failing period included.
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
