//! Data that fleet-control requests operate on.

use crate::workload::stream::SharedFleet;
use filestone_measure::measure::fleet_record::GroupRecord;
use filestone_workload::time::Timestamp;

/// A fleet as its controller sees it at one time.
pub struct FleetState<'f> {
    /// State shared by the clients.
    pub shared: &'f SharedFleet,
    /// The current time.
    pub now: Timestamp,
    /// Whether the run is over, so that no operation starts.
    pub is_over: bool,
    /// Number of changes made until now.
    pub changes: u32,
    /// Bytes moved by each client some seconds ago, at most 20 s; `None` at the start.
    pub earlier: Option<&'f ByteSnapshot>,
    /// Returns the current group records.
    pub groups: &'f dyn Fn() -> Vec<GroupRecord>,
}

/// Bytes read and written by each client at one time.
#[derive(Debug, Clone)]
pub struct ByteSnapshot {
    /// The time.
    pub at: Timestamp,
    /// Bytes, by client number.
    pub of_clients: Box<[u64]>,
}

impl ByteSnapshot {
    /// Takes a snapshot.
    pub fn now(shared: &SharedFleet, now: Timestamp) -> Self {
        let bytes = shared.gauges().iter().map(|gauge| gauge.data_bytes());
        Self {
            at: now,
            of_clients: bytes.collect(),
        }
    }
}
