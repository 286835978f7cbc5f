//! Results that only a mix has: requested and achieved operations, and the checks of the mix.

pub use filestone_plan::mix::feedback::record::{
    CorrectionRecord, CountedAsRecord, WireLimitRecord,
};

use crate::JsonSchema;
use filestone_plan::file_set::Layout;
use filestone_workload::operation::OpKind;
use serde::{Deserialize, Serialize};

/// Results of a mix in addition to the totals that every run has.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct MixRecord {
    /// The file set that the operations worked on.
    pub file_set: FileSetRecord,
    /// Rows of the kinds of the mix, in the order of the procedures.
    pub operations: Vec<MixOperationRecord>,
    /// Sum of |got − want| over all operations, in percent: nhfsstone's measure, whose limit is 10.
    #[serde(alias = "off_by_percent")]
    pub deviation_percent: f64,
    /// Operations in flight, averaged over the window's time, as the load generator counted them.
    pub in_flight_mean: f64,
    /// Operations in flight by Little's law: achieved load times the mean time in flight.
    pub in_flight_by_littles_law: f64,
    /// The window in three parts, by the end of operations.
    pub thirds: Vec<ThirdRecord>,
    /// Requested calls of a mix through a kernel mount whose counters were not read, including
    /// calls that are not part of the mix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_calls: Option<u64>,
    /// Calls on the network, of a mix through a kernel mount.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wire: Option<WireRecord>,
}

/// Requested and achieved operations of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MixOperationRecord {
    /// Kind of operation.
    pub operation: OpKind,
    /// Requested share of the mix, in percent.
    #[serde(alias = "want_percent")]
    pub expected_percent: f64,
    /// Achieved share, in percent.
    #[serde(alias = "got_percent")]
    pub actual_percent: f64,
    /// Number of operations.
    pub count: u64,
}

/// The file set of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct FileSetRecord {
    /// Directories of the file set.
    pub paths: Vec<String>,
    /// Data files of all clients.
    pub files: u64,
    /// Total length of the data files in bytes.
    pub bytes: u64,
    /// Number of data files that operations use.
    pub working_files: u64,
    /// Total length of the used files in bytes.
    pub working_bytes: u64,
    /// Number of other directories, links and names.
    pub other_objects: u64,
    /// Objects that already existed in the required state.
    pub found: u64,
    /// Objects that were created or repaired.
    pub made: u64,
    /// Time to check and create the file set, in nanoseconds.
    pub prepared_ns: u64,
    /// Whether the file set was removed at the end.
    pub removed: bool,
}

impl FileSetRecord {
    /// Creates the record of a file set with this layout in these directories, before anything is
    /// checked or created.
    pub fn of(layout: &Layout, kinds: &[OpKind], paths: Vec<String>) -> Self {
        let totals = layout.totals();
        Self {
            paths,
            files: totals.files,
            bytes: totals.bytes,
            working_files: totals.working_files,
            working_bytes: totals.working_bytes,
            other_objects: layout.other_objects(kinds),
            ..Self::default()
        }
    }
}

/// A third of the window.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ThirdRecord {
    /// Measured operations that ended in this third.
    pub ended: u64,
    /// Mean response time of the operations that ended in this third, in nanoseconds.
    pub response_time_mean_ns: f64,
    /// Standard error of that mean, from the means of the batches of 100 ms in the third: ± 1.96 of
    /// it is the 95 % confidence interval. 0 with fewer than two batches.
    pub standard_error_ns: f64,
    /// Number of batches of 100 ms with ended operations. 0 in older records.
    #[serde(default)]
    pub batches: u64,
}

impl MixRecord {
    /// Returns the sum of |got − want|, in percent: over all calls on the network if they were
    /// counted, including unrequested ones; otherwise over the achieved operations.
    pub fn off_by(&self) -> f64 {
        match &self.wire {
            Some(wire) => {
                let rows = wire.operations.iter();
                let off: f64 = rows
                    .map(|row| (row.actual_percent - row.expected_percent).abs())
                    .sum();
                off + wire
                    .others
                    .iter()
                    .map(|row| row.actual_percent)
                    .sum::<f64>()
            }
            None => {
                let rows = self.operations.iter();
                rows.map(|row| (row.actual_percent - row.expected_percent).abs())
                    .sum()
            }
        }
    }
}

/// Calls of a mix through a kernel mount, from the kernel's client counters.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct WireRecord {
    /// Source of the counters.
    pub source: String,
    /// Rows of the procedures that were requested or counted.
    pub operations: Vec<WireOperationRecord>,
    /// Rows of the kinds of calls without an equivalent procedure of NFSv3. Together with
    /// `operations`, these are all calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<WireOtherRecord>,
    /// Procedures that the client could not be made to call as often as requested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<WireLimitRecord>,
    /// Procedures that the NFS version of the mount replaces by another one, which counts them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counted_as: Vec<CountedAsRecord>,
    /// Calls of all kinds on the network.
    pub calls: u64,
    /// NFS calls per second of this host before the run.
    pub background_calls_per_s: f64,
    /// Corrections that were made, one per feedback.
    pub corrections: Vec<CorrectionRecord>,
}

/// Requested and counted calls of one procedure.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WireOperationRecord {
    /// Procedure.
    pub operation: OpKind,
    /// System calls that should have caused it.
    pub asked: u64,
    /// Number of calls on the network.
    pub seen: u64,
    /// Total time from call to processed reply, as counted by the kernel in milliseconds; `None` if
    /// the kernel does not count it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_ns: Option<u64>,
    /// Requested share of the mix, in percent.
    #[serde(alias = "want_percent")]
    pub expected_percent: f64,
    /// Share of the calls on the network, in percent.
    #[serde(alias = "got_percent")]
    pub actual_percent: f64,
}

/// Calls on the network without an equivalent procedure of NFSv3.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WireOtherRecord {
    /// Name used by the client.
    pub name: String,
    /// Number of calls.
    pub seen: u64,
    /// Total time of the calls; `None` if it was not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_ns: Option<u64>,
    /// Share of the calls on the network, in percent.
    #[serde(alias = "got_percent")]
    pub actual_percent: f64,
}
