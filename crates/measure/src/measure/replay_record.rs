//! Results that only a replay has: lines, mismatches, clients.

use crate::JsonSchema;
use filestone_workload::load::Mismatch;
use filestone_workload::operation::OpKind;
use serde::{Deserialize, Serialize};

/// Results of a replay in addition to the totals that every run has.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ReplayRecord {
    /// Lines executed by all clients, warm-up included.
    pub lines: u64,
    /// Iterations of their load files that clients began.
    pub passes: u64,
    /// Number of threads that the clients ran on.
    pub threads: u32,
    /// File data written in the measured window, by operations that ended as expected.
    pub bytes_written: u64,
    /// File data read in the measured window, by operations that ended as expected.
    pub bytes_read: u64,
    /// Number of results that differ from those in the load file, over the whole run.
    pub mismatch_count: u64,
    /// Mismatches by kind of operation and result, most frequent first. Each client distinguishes a
    /// limited number of kinds, so that the sum of the counts may be less than `mismatch_count`,
    /// but never more.
    pub mismatches: Vec<MismatchRecord>,
    /// Calls repeated after a pause because the server returned NFS3ERR_JUKEBOX; warm-up included.
    /// The pauses are part of the response times.
    #[serde(default)]
    pub jukebox_calls: u64,
    /// Total length of the pauses after NFS3ERR_JUKEBOX over all clients, in nanoseconds.
    #[serde(default)]
    pub jukebox_pauses_ns: u64,
    /// Lines skipped because they would change something and the plan is `read_only`; warm-up
    /// included.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[serde(alias = "left_out")]
    pub skipped_operations: Vec<SkippedLinesRecord>,
    /// Results of each client.
    pub clients: Vec<ClientRecord>,
}

/// Number of skipped lines of one kind in a read-only run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkippedLinesRecord {
    /// Kind of operation.
    pub operation: OpKind,
    /// Number of lines.
    pub count: u64,
}

impl SkippedLinesRecord {
    /// Adds lines of a kind to a list of at most a dozen kinds.
    pub fn add(list: &mut Vec<Self>, operation: OpKind, count: u64) {
        match list.iter_mut().find(|known| known.operation == operation) {
            Some(known) => known.count += count,
            None => list.push(Self { operation, count }),
        }
    }
}

/// Number of operations of one kind with one unexpected result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MismatchRecord {
    /// Kind of operation.
    pub operation: OpKind,
    /// Kind of the difference.
    pub mismatch: Mismatch,
    /// Result expected by the load file, in its wording or that of the standard; for lengths and
    /// permissions, which vary from line to line, the first one.
    pub expected: String,
    /// Actual result, such as `NFS3ERR_NOSPC (28)`; for lengths and permissions the first one.
    pub got: String,
    /// Number of operations.
    pub count: u64,
    /// First few lines of the load file with this mismatch.
    pub lines: Vec<u32>,
}

/// Part of one client.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ClientRecord {
    /// Number of the client.
    pub client: u32,
    /// Lines executed by the client, warm-up included.
    pub lines: u64,
    /// File data moved by the client, warm-up included.
    pub data_bytes: u64,
    /// File data moved by the client in the measured window.
    pub data_bytes_in_window: u64,
    /// Number of its mismatches.
    pub mismatch_count: u64,
    /// Reason why the client ended early, if it did.
    pub lost: Option<String>,
    /// Operations in the measured window, by kind.
    pub kinds: Vec<ClientKindRecord>,
}

/// Operations of one kind of one client in the measured window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClientKindRecord {
    /// Kind of operation.
    pub operation: OpKind,
    /// Number of operations that ended.
    pub count: u64,
    /// Mean service time, in nanoseconds.
    pub service_time_mean_ns: f64,
    /// Longest service time, in nanoseconds.
    pub service_time_max_ns: u64,
}
