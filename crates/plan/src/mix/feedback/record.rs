//! What a record says of the corrections.

use filestone_workload::kind::OpKind;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A procedure cannot be caused if more than so much of the load is missing of it, or more than
/// so much of what is wanted of it.
const SHORT_OF_LOAD: f64 = 0.02;
const SHORT_OF_WANTED: f64 = 0.5;

/// A procedure that the client could not be made to call as often as was wanted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct WireLimitRecord {
    /// Which procedure.
    pub operation: OpKind,
    /// Its share of the load.
    pub wanted_per_s: f64,
    /// What came of it, or could have been had without more of other calls.
    pub at_most_per_s: f64,
}

impl WireLimitRecord {
    /// Whether more is missing than can be put up with, of so many calls per second in all: 2 %
    /// of these, or half of what is wanted of the procedure.
    pub fn is_short(&self, load_per_s: f64) -> bool {
        self.wanted_per_s - self.at_most_per_s > SHORT_OF_LOAD * load_per_s
            || self.at_most_per_s < SHORT_OF_WANTED * self.wanted_per_s
    }
}

/// A procedure that the mount's version of NFS has another one for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct CountedAsRecord {
    /// What the mix wants.
    pub operation: OpKind,
    /// With which procedure it is counted, wanted and asked.
    pub counted_as: OpKind,
}

/// One feedback from the kernel's counters.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct CorrectionRecord {
    /// When, in nanoseconds since the window opened.
    pub at_ns: u64,
    /// Calls on the wire by then.
    pub seen: u64,
    /// Calls that should have been made by then.
    pub wanted: u64,
    /// Mean pause per client from then on.
    pub pause_ns: u64,
}
