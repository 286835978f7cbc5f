//! What only a mix has to tell: what was asked for, what came out, and whether it counts.

pub use filestone_plan::mix::feedback::record::{
    CorrectionRecord, CountedAsRecord, WireLimitRecord,
};

use filestone_plan::file_set::Layout;
use filestone_workload::operation::OpKind;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a mix did, besides what every run has in its totals.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct MixRecord {
    /// The file set that the operations worked on.
    pub file_set: FileSetRecord,
    /// One row for each kind of the mix, in the order of the procedures.
    pub operations: Vec<MixOperationRecord>,
    /// Sum of |got − want| over all operations, in percent: nhfsstone's measure, whose limit is 10.
    pub off_by_percent: f64,
    /// Operations in flight, averaged over the window's time, as the load generator counted them.
    pub in_flight_mean: f64,
    /// The same by Little's law: achieved load times the mean time in flight.
    pub in_flight_by_littles_law: f64,
    /// The window in three parts, by when operations ended.
    pub thirds: Vec<ThirdRecord>,
    /// Calls that were asked for, of a mix through a kernel mount whose counters were not looked
    /// at: also those that are none of the mix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_calls: Option<u64>,
    /// What was seen on the wire, of a mix through a kernel mount.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wire: Option<WireRecord>,
}

/// What was asked for of one kind, and what came out.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct MixOperationRecord {
    /// Which kind.
    pub operation: OpKind,
    /// Its share of the mix, in percent.
    pub want_percent: f64,
    /// Its share of what was done, in percent.
    pub got_percent: f64,
    /// How often it was done.
    pub count: u64,
}

/// The file set of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct FileSetRecord {
    /// Where it is.
    pub paths: Vec<String>,
    /// Data files of all clients.
    pub files: u64,
    /// Their lengths together.
    pub bytes: u64,
    /// Of these, how many are worked on.
    pub working_files: u64,
    /// Lengths of those together.
    pub working_bytes: u64,
    /// Directories, links and names besides.
    pub other_objects: u64,
    /// Objects that were there already, and right.
    pub found: u64,
    /// Objects that had to be made or mended.
    pub made: u64,
    /// How long checking and making took.
    pub prepared_ns: u64,
    /// Whether it was removed at the end.
    pub removed: bool,
}

impl FileSetRecord {
    /// A set of this layout in these directories, before anything is looked for or made.
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

/// One third of the window.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ThirdRecord {
    /// Measured operations that ended in it.
    pub ended: u64,
    /// Their mean response time.
    pub response_time_mean_ns: f64,
    /// Standard error of that mean, from the means of the stretches of 100 ms in the third: 1.96 of
    /// them on either side hold it with 95 % confidence. 0 where there are fewer than two.
    pub standard_error_ns: f64,
    /// Stretches of 100 ms in which something ended. 0 in records of before it was kept.
    #[serde(default)]
    pub batches: u64,
}

impl MixRecord {
    /// Sum of |got − want|, in percent: over all calls on the wire where they were seen, those
    /// included that nobody asked for, else over the operations that were done.
    pub fn off_by(&self) -> f64 {
        match &self.wire {
            Some(wire) => {
                let rows = wire.operations.iter();
                let off: f64 = rows
                    .map(|row| (row.got_percent - row.want_percent).abs())
                    .sum();
                off + wire.others.iter().map(|row| row.got_percent).sum::<f64>()
            }
            None => {
                let rows = self.operations.iter();
                rows.map(|row| (row.got_percent - row.want_percent).abs())
                    .sum()
            }
        }
    }
}

/// What the kernel's client counters saw of a mix through a kernel mount.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct WireRecord {
    /// Where the counters come from.
    pub source: String,
    /// One row per procedure that was asked or seen.
    pub operations: Vec<WireOperationRecord>,
    /// One row per kind of call that is like no procedure of NFSv3. With `operations`, these are
    /// all calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<WireOtherRecord>,
    /// Procedures that the client could not be made to call as often as was wanted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<WireLimitRecord>,
    /// Procedures that the version of the mount has another one for, which counts them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counted_as: Vec<CountedAsRecord>,
    /// Calls of all kinds on the wire.
    pub calls: u64,
    /// NFS calls per second of this host before the run.
    pub background_calls_per_s: f64,
    /// The corrections that were made, one per feedback.
    pub corrections: Vec<CorrectionRecord>,
}

/// One procedure, asked and seen.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct WireOperationRecord {
    /// Which procedure.
    pub operation: OpKind,
    /// System calls that ought to have called it.
    pub asked: u64,
    /// How often it was called on the wire.
    pub seen: u64,
    /// From when its calls were made to when their replies were taken, all together, as the
    /// kernel counts it in milliseconds; `None` where it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_ns: Option<u64>,
    /// Its share of the mix, in percent.
    pub want_percent: f64,
    /// Its share of the calls on the wire, in percent.
    pub got_percent: f64,
}

/// Calls on the wire that are like no procedure of NFSv3.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct WireOtherRecord {
    /// What the client calls them.
    pub name: String,
    /// How many there were.
    pub seen: u64,
    /// Their times together; `None` where they were not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_ns: Option<u64>,
    /// Their share of the calls on the wire, in percent.
    pub got_percent: f64,
}
