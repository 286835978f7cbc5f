//! Readings of the server and of this host around and during a run.
//!
//! Before the run, while nothing is sent, they are made on the calling thread; while it lasts, on a
//! thread of their own, since a server may take long to answer and nobody's operations may wait for
//! that.

mod book;
mod command;
mod exporter;
mod host;
mod path;
mod process;
mod source;
mod watch;

pub use book::open;
pub use watch::Sampler;

use crate::error::{AreaError, ErrorCategory};

/// The most bytes that a source may answer: hosts with many processors have some hundred KiB.
const ANSWER_MAX: u64 = 8 << 20;

/// Why there is no reading.
#[derive(Debug, thiserror::Error)]
pub enum ReadingError {
    /// A file of this host could not be read.
    #[error("{path}: {source}")]
    File {
        /// Which.
        path: String,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// What was read has nothing in it that is known.
    #[error("{name}: there are no counters in what was read, which begins with {begin:?}")]
    Nothing {
        /// Where from.
        name: String,
        /// The beginning of it.
        begin: String,
    },
    /// The exporter did not answer, or not so.
    #[error("{url}: {what}")]
    Exporter {
        /// Where.
        url: String,
        /// What was wrong.
        what: String,
    },
    /// The command failed.
    #[error("{line}: {what}")]
    Command {
        /// The line of sh.
        line: String,
        /// What was wrong.
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
