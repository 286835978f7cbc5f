//! Records of the corrections.

use crate::JsonSchema;
use filestone_workload::kind::OpKind;
use serde::{Deserialize, Serialize};

/// Shortfall of a procedure that counts as impossible to cause: as a share of the load, and as a
/// share of the procedure's target.
const SHORT_OF_LOAD: f64 = 0.02;
const SHORT_OF_WANTED: f64 = 0.5;

/// A procedure that the client could not be made to call as often as the mix needs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WireLimitRecord {
    /// The procedure.
    pub operation: OpKind,
    /// Target rate: the procedure's share of the load, in calls per second.
    pub wanted_per_s: f64,
    /// Reached rate, or the highest rate that is possible without more calls of other procedures.
    pub at_most_per_s: f64,
}

impl WireLimitRecord {
    /// Whether the shortfall is too large at a load of `load_per_s` calls per second: more than 2 %
    /// of the load, or half of the procedure's target.
    pub fn is_short(&self, load_per_s: f64) -> bool {
        self.wanted_per_s - self.at_most_per_s > SHORT_OF_LOAD * load_per_s
            || self.at_most_per_s < SHORT_OF_WANTED * self.wanted_per_s
    }
}

/// A procedure that the mount's version of NFS replaces by another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CountedAsRecord {
    /// The procedure in the mix.
    pub operation: OpKind,
    /// The procedure under which it is counted, planned and called.
    pub counted_as: OpKind,
}

/// A correction from the kernel's counters.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CorrectionRecord {
    /// Time of the correction, in nanoseconds since the window opened.
    pub at_ns: u64,
    /// Calls on the wire until then.
    pub seen: u64,
    /// Planned calls until then.
    pub wanted: u64,
    /// Mean pause per client from then on.
    pub pause_ns: u64,
}
