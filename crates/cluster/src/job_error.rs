//! Errors of jobs, by exit-code category.

use crate::message::RankFailure;
use filestone_control::job::{MergeError, PartitionError};
use filestone_host::error::ErrorCategory;
use filestone_plan::plan::{Field, PlanError};

/// Error of a job that has no record.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// The plan cannot be partitioned.
    #[error(transparent)]
    Deal(#[from] PartitionError),
    /// A part of the plan violates a rule.
    #[error("part {part} of {parts}: {source}")]
    Part {
        /// Number of the part, from 1.
        part: usize,
        /// Number of parts.
        parts: usize,
        /// The violated rule.
        source: Box<PlanError>,
    },
    /// No rank is left to generate load.
    #[error("there is no rank that makes load")]
    NoMakers,
    /// A rank has not reported at the start.
    #[error("rank {rank} has not been heard of for {seconds} s after the start")]
    NotThere {
        /// Number of the rank.
        rank: u32,
        /// Time waited, in seconds.
        seconds: u64,
    },
    /// A host differs too much from the coordinator's host.
    #[error("host {host} (rank {rank}): {what}")]
    Unlike {
        /// Name of the host.
        host: String,
        /// Rank on the host.
        rank: u32,
        /// The difference.
        what: String,
    },
    /// A host failed to run its part.
    #[error("host {host} (rank {rank}): {}", failure.what)]
    Failed {
        /// Name of the host.
        host: String,
        /// Rank on the host.
        rank: u32,
        /// The failure.
        failure: RankFailure,
    },
    /// A host was lost before the measurement began.
    #[error("host {host} (rank {rank}) was lost ({phase}): {reason}")]
    Lost {
        /// Name of the host.
        host: String,
        /// Rank on the host.
        rank: u32,
        /// Phase of the job.
        phase: String,
        /// Reason, if detected.
        reason: String,
    },
    /// The records of the hosts cannot be merged.
    #[error(transparent)]
    Merge(#[from] MergeError),
    /// The job was stopped before the measurement began.
    #[error("interrupted before anything was measured")]
    Interrupted,
}

impl JobError {
    /// Returns the category of the error.
    pub fn category(&self) -> ErrorCategory {
        match self {
            Self::Deal(_) | Self::Part { .. } | Self::NoMakers => ErrorCategory::Usage,
            Self::NotThere { .. } | Self::Unlike { .. } | Self::Lost { .. } => {
                ErrorCategory::Environment
            }
            Self::Failed { failure, .. } => failure.category,
            Self::Merge(_) => ErrorCategory::Internal,
            Self::Interrupted => ErrorCategory::Interruption,
        }
    }

    /// Returns the suggested remedy, if any.
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Deal(error) => Some(error.help().into()),
            Self::Part { source, .. } => source.help(Field::quoted_key),
            Self::NoMakers => Some("start more ranks, or leave out --coordinator-only".into()),
            Self::NotThere { .. } => {
                Some("see whether filestone was started there, with the same MPI".into())
            }
            Self::Unlike { .. } => Some(
                "hosts of a job have the same filestone, clocks that are kept (chrony), and the same limits"
                    .into(),
            ),
            Self::Failed { failure, .. } => failure.help.clone(),
            Self::Lost { .. } => {
                Some("nothing was measured; look for why in what the launcher says".into())
            }
            Self::Merge(_) => Some("please report this".into()),
            Self::Interrupted => None,
        }
    }
}
