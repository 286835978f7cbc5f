//! Readings of the server and of this host around and during a run.
//!
//! Before the run, while nothing is sent, the calling thread reads; during the run a separate
//! thread does, since a server may take long to reply and no operation may wait for that.

mod book;
mod command;
mod exporter;
mod host;
mod path;
mod process;
mod source;

pub use book::{ReadingLog, Sources, open};

use crate::error::{AreaError, ErrorCategory};

/// Maximum length of a source's reply: hosts with many processors send some hundred KiB.
const ANSWER_MAX: u64 = 8 << 20;

/// Error of a reading.
#[derive(Debug, thiserror::Error)]
pub enum ReadingError {
    /// A file of this host could not be read.
    #[error("{path}: {source}")]
    File {
        /// Path of the file.
        path: String,
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// The text contains no known counter.
    #[error("{name}: there are no counters in what was read, which begins with {begin:?}")]
    Nothing {
        /// Name of the source.
        name: String,
        /// Start of the text.
        begin: String,
    },
    /// The exporter did not reply, or its reply is invalid.
    #[error("{url}: {what}")]
    Exporter {
        /// URL of the exporter.
        url: String,
        /// The problem.
        what: String,
    },
    /// The command failed.
    #[error("{line}: {what}")]
    Command {
        /// The command line.
        line: String,
        /// The problem.
        what: String,
    },
}

impl AreaError for ReadingError {
    fn category(&self) -> ErrorCategory {
        match self {
            Self::File { .. } => ErrorCategory::Environment,
            Self::Nothing { .. } | Self::Exporter { .. } | Self::Command { .. } => {
                ErrorCategory::Target
            }
        }
    }

    fn help(&self) -> Option<String> {
        let help = match self {
            Self::File { .. } => "is the process there, and may this user look at it?",
            Self::Nothing { .. } => {
                "files such as /proc/stat, /proc/uptime and /proc/net/dev are understood, and the \
                 metrics of a Prometheus node_exporter"
            }
            Self::Exporter { .. } => "nothing has been measured; try it with curl",
            Self::Command { .. } => "nothing has been measured; try it in a shell",
        };
        Some(help.into())
    }
}
