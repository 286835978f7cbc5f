//! What becomes of data that are read, and how safely data are written.

use clap::ValueEnum;
use filestone_plan::plan::ReadData;
use filestone_workload::operation::Stability;

/// What becomes of the data that READ brings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReadDataOption {
    /// The kernel throws them away unread
    Discard,
    /// They are received into memory, as by other load generators, and not looked at
    Deliver,
    /// They are received and compared with what they should be
    Verify,
}

impl From<ReadDataOption> for ReadData {
    fn from(option: ReadDataOption) -> Self {
        match option {
            ReadDataOption::Discard => ReadData::Discard,
            ReadDataOption::Deliver => ReadData::Deliver,
            ReadDataOption::Verify => ReadData::Verify,
        }
    }
}

/// How safely written data must be kept (stable_how, RFC 1813 section 3.3.7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Stable {
    /// The server may answer before anything is on stable storage
    Unstable,
    /// The data and what is needed to find them
    DataSync,
    /// The data and all metadata
    FileSync,
}

impl From<Stable> for Stability {
    fn from(stable: Stable) -> Self {
        match stable {
            Stable::Unstable => Stability::Unstable,
            Stable::DataSync => Stability::DataSync,
            Stable::FileSync => Stability::FileSync,
        }
    }
}
