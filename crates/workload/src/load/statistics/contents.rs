//! Statistics of a load, as data.

use crate::load::ScriptError;
use crate::operation::OpKind;
use serde::Serialize;

/// Statistics of one iteration of a load.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LoadStatisticsData {
    /// Number of operations in one iteration, including loops and repetitions.
    pub operations: u64,
    /// Reason why counting ended before the iteration; `None` if it did not.
    pub cut_off: Option<TruncationReason>,
    /// One row per kind of operation, in the order of dbench's table.
    pub kinds: Vec<KindContents>,
    /// Operations that are expected to fail, by status, most frequent first.
    pub expected_failures: Vec<ExpectedFailureCount>,
    /// Reads that are expected to succeed.
    pub reads: TransferTotals,
    /// Writes that are expected to succeed.
    pub writes: TransferTotals,
    /// The files and directories.
    pub tree: TreeContents,
    /// Handles of open files.
    pub handles: HandleContents,
    /// Operations with a time stamp; `None` if there are none.
    pub stamps: Option<StampContents>,
    /// Pauses and sequence points.
    pub pacing: PacingContents,
    /// CreateDisposition of the opens, in the order of their numbers.
    pub dispositions: Vec<DispositionCount>,
    /// Information levels, by kind of operation.
    pub levels: Vec<LevelCount>,
}

/// Reason why counting ended before the iteration.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TruncationReason {
    /// The iteration exceeds the limit of steps.
    Steps,
    /// The names, handles and sizes exceed the memory limit.
    Memory,
    /// A line cannot be executed.
    Line {
        /// Line number in the file.
        line: u32,
        /// Description of the error.
        what: String,
    },
}

impl From<ScriptError> for TruncationReason {
    fn from(error: ScriptError) -> Self {
        TruncationReason::Line {
            line: error.line,
            what: error.message,
        }
    }
}

/// A kind of operation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KindContents {
    /// Name in the load file.
    pub verb: &'static str,
    /// Name in records.
    pub operation: OpKind,
    /// Number of operations.
    pub count: u64,
    /// Number of operations with any outcome (`*`).
    pub any_outcome: u64,
    /// Operations that are expected to fail, by status, most frequent first.
    pub expected_failures: Vec<ExpectedFailureCount>,
}

/// Operations that are expected to fail with one status.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExpectedFailureCount {
    /// Name of the status in its standard.
    pub status: String,
    /// Number of operations.
    pub count: u64,
}

/// Reads or writes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TransferTotals {
    /// Number of operations.
    pub operations: u64,
    /// Requested bytes, which dbench counts.
    pub bytes_asked: u64,
    /// Returned bytes according to the load file.
    pub bytes_returned: u64,
    /// Operations that start at the end of the previous one with the same handle; in an NFS load,
    /// of the same file.
    pub sequential: u64,
    /// The minimum size.
    pub size_min: u64,
    /// The median size.
    pub size_median: u64,
    /// The maximum size.
    pub size_max: u64,
    /// Number of different sizes.
    pub sizes_distinct: u64,
    /// The most frequent sizes, most frequent first.
    pub sizes_frequent: Vec<SizeCount>,
}

/// Frequency of a size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct SizeCount {
    /// The size in bytes.
    pub bytes: u64,
    /// Number of operations.
    pub count: u64,
}

/// Files, directories and their content, if the iteration starts with an empty directory.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct TreeContents {
    /// Maximum sum of the lengths of all files at any time, in bytes.
    pub live_set_bytes: u64,
    /// Maximum length of any file at any time, in bytes.
    pub largest_file_bytes: u64,
    /// Number of different names of files that are created, opened, read or written.
    pub files: u64,
    /// Number of different names of directories that exist at some time.
    pub directories: u64,
    /// Number of different names that are used, with or without an object.
    pub names: u64,
    /// Number of components of the deepest name of a file or directory.
    pub depth: u64,
    /// Number of files that are opened, read or renamed without being created in the load.
    pub files_presumed: u64,
    /// Number of files at the end of the iteration.
    pub files_left: u64,
}

/// Handles of open files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct HandleContents {
    /// Maximum number of open handles at any time.
    pub open_max: u64,
    /// Number of open handles at the end of the iteration.
    pub left_open: u64,
}

/// Time stamps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct StampContents {
    /// Number of operations with a time stamp.
    pub operations: u64,
    /// First time stamp of the iteration.
    pub first_ns: u64,
    /// Last time stamp of the iteration.
    pub last_ns: u64,
    /// Difference of the largest and smallest time stamps.
    pub span_ns: u64,
}

/// Pauses and waits of a load file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct PacingContents {
    /// Number of pauses (SLEEP).
    pub pauses: u64,
    /// Sum of all pauses.
    pub pauses_ns: u64,
    /// Number of published sequence points (SETSP).
    pub sequence_points: u64,
    /// Number of waits for another client's sequence point (WAITSP).
    pub waits: u64,
}

/// Frequency of a disposition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct DispositionCount {
    /// Number of the disposition in the standard (MS-CIFS 2.2.4.64.1).
    pub disposition: u32,
    /// Number of opens.
    pub count: u64,
}

/// Frequency of an information level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct LevelCount {
    /// The verb.
    pub verb: &'static str,
    /// The level.
    pub level: u64,
    /// Number of operations.
    pub count: u64,
}

impl LoadStatisticsData {
    /// Returns the number of operations that are expected to fail.
    pub fn expected_failures_total(&self) -> u64 {
        self.expected_failures.iter().map(|row| row.count).sum()
    }
}
