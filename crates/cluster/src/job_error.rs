//! Why a job has no record, sorted by whose fault it is.

use crate::message::Failure;
use filestone_control::job::{MergeError, PartitionError};
use filestone_engine::ErrorCategory;
use filestone_plan::plan::{Field, PlanError};

/// Why a job has no record.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// The plan cannot be dealt.
    #[error(transparent)]
    Deal(#[from] PartitionError),
    /// A part of it breaks a rule.
    #[error("part {part} of {parts}: {source}")]
    Part {
        /// Which one, from 1 on.
        part: usize,
        /// Of how many.
        parts: usize,
        /// Which rule.
        source: Box<PlanError>,
    },
    /// No rank is left to make load.
    #[error("there is no rank that makes load")]
    NoMakers,
    /// A rank has not said that it is there.
    #[error("rank {rank} has not been heard of for {seconds} s after the start")]
    NotThere {
        /// Which one.
        rank: u32,
        /// How long it was waited for.
        seconds: u64,
    },
    /// A host is too unlike the coordinator's.
    #[error("host {host} (rank {rank}): {what}")]
    Unlike {
        /// Its name.
        host: String,
        /// Its rank.
        rank: u32,
        /// In what.
        what: String,
    },
    /// A host could not make its part.
    #[error("host {host} (rank {rank}): {}", failure.what)]
    Failed {
        /// Its name.
        host: String,
        /// Its rank.
        rank: u32,
        /// What happened.
        failure: Failure,
    },
    /// A host was lost before anything was measured.
    #[error("host {host} (rank {rank}) was lost ({phase}): {reason}")]
    Lost {
        /// Its name.
        host: String,
        /// Its rank.
        rank: u32,
        /// What the job was doing.
        phase: String,
        /// What is known of it.
        reason: String,
    },
    /// The records of the hosts cannot be merged.
    #[error(transparent)]
    Merge(#[from] MergeError),
    /// It was stopped before anything was measured.
    #[error("interrupted before anything was measured")]
    Interrupted,
}

impl JobError {
    /// Whose fault it is.
    pub fn category(&self) -> ErrorCategory {
        match self {
            Self::Deal(_) | Self::Part { .. } | Self::NoMakers => ErrorCategory::Usage,
            Self::NotThere { .. } | Self::Unlike { .. } | Self::Lost { .. } => {
                ErrorCategory::Environment
            }
            Self::Failed { failure, .. } => failure.category.into(),
            Self::Merge(_) => ErrorCategory::Internal,
            Self::Interrupted => ErrorCategory::Interruption,
        }
    }

    /// What to do about it, if there is something.
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
