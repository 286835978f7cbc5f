//! What requests are about.

use crate::measure::fleet_record::GroupRecord;
use crate::time::Moment;
use crate::workload::stream::SharedFleet;

/// A fleet as its controller sees it at a moment.
pub struct Controlled<'f> {
    /// Its clients.
    pub shared: &'f SharedFleet,
    /// The moment.
    pub now: Moment,
    /// Whether nothing begins any more.
    pub is_over: bool,
    /// How often it was changed.
    pub changes: u32,
    /// Its groups at this moment.
    pub groups: &'f dyn Fn() -> Vec<GroupRecord>,
}
