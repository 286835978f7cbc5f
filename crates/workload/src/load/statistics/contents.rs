//! What a load contains: its statistics, as data.

use crate::load::ScriptError;
use crate::operation::OpKind;
use serde::Serialize;

/// What one pass of a load contains.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LoadStatisticsData {
    /// Operations in one pass, loops and repetitions counted as often as they run.
    pub operations: u64,
    /// Why counting ended before the pass did; `None` when it did not.
    pub cut_off: Option<TruncationReason>,
    /// A row per kind of operation, in the order of dbench's own table.
    pub kinds: Vec<KindContents>,
    /// Operations that are expected to fail, by status, most frequent first.
    pub expected_failures: Vec<OutcomeCount>,
    /// Reads that are expected to succeed.
    pub reads: Transfers,
    /// Writes that are expected to succeed.
    pub writes: Transfers,
    /// The files and directories.
    pub tree: TreeContents,
    /// Handles of open files.
    pub handles: HandleContents,
    /// Operations that have a time stamp; `None` when no operation has one.
    pub stamps: Option<StampContents>,
    /// Pauses and sequence points.
    pub pacing: PacingContents,
    /// CreateDisposition of the opens, in the order of their numbers.
    pub dispositions: Vec<DispositionCount>,
    /// Information levels, by kind of operation.
    pub levels: Vec<LevelCount>,
}

/// Why counting ended before the pass did.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TruncationReason {
    /// The pass is longer than is counted.
    Steps,
    /// It has more names, handles or sizes than are kept.
    Memory,
    /// A line cannot be carried out.
    Line {
        /// Its number in the file.
        line: u32,
        /// What is wrong with it.
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

/// One kind of operation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KindContents {
    /// As the load file calls it.
    pub verb: &'static str,
    /// As records call it.
    pub operation: OpKind,
    /// How many there are.
    pub count: u64,
    /// Those whose outcome the load file leaves open (`*`).
    pub any_outcome: u64,
    /// Those that are expected to fail, by status, most frequent first.
    pub expected_failures: Vec<OutcomeCount>,
}

/// Operations that are expected to fail in one way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OutcomeCount {
    /// The status by its standard's name.
    pub status: String,
    /// How many there are.
    pub count: u64,
}

/// Reads, or writes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Transfers {
    /// How many there are.
    pub operations: u64,
    /// Bytes that they ask for: what dbench counts.
    pub bytes_asked: u64,
    /// Bytes that came back, as the load file says.
    pub bytes_returned: u64,
    /// Those that begin where the previous one of the same handle ended; of an
    /// NFS load, of the same file.
    pub sequential: u64,
    /// The smallest.
    pub size_min: u64,
    /// The smallest that half of them do not exceed.
    pub size_median: u64,
    /// The largest.
    pub size_max: u64,
    /// How many different sizes there are.
    pub sizes_distinct: u64,
    /// The most frequent sizes, most frequent first.
    pub sizes_frequent: Vec<SizeCount>,
}

/// How often a size is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct SizeCount {
    /// The size in bytes.
    pub bytes: u64,
    /// How often.
    pub count: u64,
}

/// Files, directories and what they hold, if the pass begins with nothing.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct TreeContents {
    /// Largest sum of the lengths of all files at any moment.
    pub live_set_bytes: u64,
    /// Greatest length of any file at any moment.
    pub largest_file_bytes: u64,
    /// Different names under which a file is made, opened, read or written.
    pub files: u64,
    /// Different names under which a directory is there at some moment.
    pub directories: u64,
    /// Different names that are asked for, whether anything is there or not.
    pub names: u64,
    /// Components of the deepest name of a file or directory.
    pub depth: u64,
    /// Files that are opened, read or renamed though nothing in the load makes them.
    pub files_presumed: u64,
    /// Files that are still there at the end of the pass.
    pub files_left: u64,
}

/// Handles of open files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct HandleContents {
    /// Most that are open at any moment.
    pub open_max: u64,
    /// Those that the pass leaves open.
    pub left_open: u64,
}

/// Time stamps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct StampContents {
    /// Operations that have one.
    pub operations: u64,
    /// The first of the pass.
    pub first_ns: u64,
    /// The last of the pass.
    pub last_ns: u64,
    /// From the smallest to the largest.
    pub span_ns: u64,
}

/// What a load file says of waiting.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct PacingContents {
    /// Pauses (SLEEP).
    pub pauses: u64,
    /// All of them together.
    pub pauses_ns: u64,
    /// Sequence points published (SETSP).
    pub sequence_points: u64,
    /// Waits for another client's sequence point (WAITSP).
    pub waits: u64,
}

/// How often a disposition is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct DispositionCount {
    /// Its number in the standard (MS-CIFS 2.2.4.64.1).
    pub disposition: u32,
    /// How often.
    pub count: u64,
}

/// How often an information level is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct LevelCount {
    /// By which verb.
    pub verb: &'static str,
    /// The level.
    pub level: u64,
    /// How often.
    pub count: u64,
}

impl LoadStatisticsData {
    /// Operations that are expected to fail.
    pub fn expected_failures_total(&self) -> u64 {
        self.expected_failures.iter().map(|row| row.count).sum()
    }
}
