//! What only a replay has to tell: its lines, its mismatches, its clients.

use filestone_workload::load::Mismatch;
use filestone_workload::operation::OpKind;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a replay did, besides what every run has in its totals.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ReplayRecord {
    /// Lines carried out by all clients, warm-up included.
    pub lines: u64,
    /// Passes of their load files that clients began.
    pub passes: u64,
    /// Threads that the clients ran on.
    pub threads: u32,
    /// File data written in the measured window, by operations that ended as expected.
    pub bytes_written: u64,
    /// File data read in the measured window, likewise.
    pub bytes_read: u64,
    /// Results other than the load file expects, the whole run long.
    pub mismatch_count: u64,
    /// The same by kind of operation and of result, most frequent first. A client
    /// tells only so many kinds apart, so that their counts may sum to less than
    /// `mismatch_count`, never to more.
    pub mismatches: Vec<MismatchRecord>,
    /// Calls made again, after a pause, because the server answered NFS3ERR_JUKEBOX; warm-up
    /// included. The pauses are in the response times.
    #[serde(default)]
    pub jukebox_calls: u64,
    /// Those pauses, summed over all clients.
    #[serde(default)]
    pub jukebox_pauses_ns: u64,
    /// Lines that were left out because they change something and the plan is `read_only`, warm-up
    /// included.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<SkippedLinesRecord>,
    /// One entry per client.
    pub clients: Vec<ClientRecord>,
}

/// How many lines of one kind a run left out that only reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SkippedLinesRecord {
    /// Which kind of operation.
    pub operation: OpKind,
    /// How many lines.
    pub count: u64,
}

impl SkippedLinesRecord {
    /// Adds lines of a kind to a list of a dozen kinds at most.
    pub fn add(list: &mut Vec<Self>, operation: OpKind, count: u64) {
        match list.iter_mut().find(|known| known.operation == operation) {
            Some(known) => known.count += count,
            None => list.push(Self { operation, count }),
        }
    }
}

/// How often one kind of operation ended in one unexpected way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct MismatchRecord {
    /// Which kind of operation.
    pub operation: OpKind,
    /// How the result differed.
    pub mismatch: Mismatch,
    /// What the load file expected, in its own or the standard's words; of lengths
    /// and permissions, which differ from line to line, what was seen first.
    pub expected: String,
    /// What came instead, such as `NFS3ERR_NOSPC (28)`; likewise.
    pub got: String,
    /// How often.
    pub count: u64,
    /// Lines of the load file where it was seen first, a few of them.
    pub lines: Vec<u32>,
}

/// One client's share.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ClientRecord {
    /// Its number.
    pub client: u32,
    /// Lines that it carried out, warm-up included.
    pub lines: u64,
    /// File data that it moved, warm-up included.
    pub data_bytes: u64,
    /// File data that it moved in the measured window.
    pub data_bytes_in_window: u64,
    /// Its mismatches.
    pub mismatch_count: u64,
    /// Why it ended early, if it did.
    pub lost: Option<String>,
    /// What it did in the measured window, by kind of operation.
    pub kinds: Vec<ClientKindRecord>,
}

/// One kind of operation of one client in the measured window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ClientKindRecord {
    /// Which kind.
    pub operation: OpKind,
    /// How many ended.
    pub count: u64,
    /// Mean service time, in nanoseconds.
    pub service_time_mean_ns: f64,
    /// Longest service time, in nanoseconds.
    pub service_time_max_ns: u64,
}
