//! What requests are about.

use crate::workload::stream::SharedFleet;
use filestone_measure::measure::fleet_record::GroupRecord;
use filestone_workload::time::Timestamp;

/// A fleet as its controller sees it at a moment.
pub struct FleetState<'f> {
    /// Its clients.
    pub shared: &'f SharedFleet,
    /// The moment.
    pub now: Timestamp,
    /// Whether nothing begins any more.
    pub is_over: bool,
    /// How often it was changed.
    pub changes: u32,
    /// What clients had moved some seconds ago, 20 at most; none at the begin.
    pub earlier: Option<&'f ByteSnapshot>,
    /// Its groups at this moment.
    pub groups: &'f dyn Fn() -> Vec<GroupRecord>,
}

/// What each client had read and written at a moment.
#[derive(Debug, Clone)]
pub struct ByteSnapshot {
    /// The moment.
    pub at: Timestamp,
    /// Bytes, by the number of the client.
    pub of_clients: Box<[u64]>,
}

impl ByteSnapshot {
    /// What they have by now.
    pub fn now(shared: &SharedFleet, now: Timestamp) -> Self {
        let bytes = shared.gauges().iter().map(|gauge| gauge.data_bytes());
        Self {
            at: now,
            of_clients: bytes.collect(),
        }
    }
}
