//! What the coordinator and the ranks of a job say to each other, as MessagePack with the names of all
//! fields.

use crate::hello::Hello;
use filestone_control::job::EncodedInterval;
use filestone_engine::ErrorCategory;
use filestone_measure::measure::run_record::Target;
use filestone_measure::measure::{ConnectionsRecord, RunPhase, RunRecord};
use filestone_plan::plan::Plan;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What the coordinator says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum ToRank {
    /// Make your part of this job.
    Run(Box<JobSpec>),
    /// The coordinator is there.
    #[serde(rename = "Alive")]
    KeepAlive,
    /// Say what your clock shows.
    Ping,
    /// No more pings for now.
    #[serde(rename = "Pinged")]
    PingAck,
    /// Begin when your clock shows this.
    Start { at_ns: u64 },
    /// Offer so many operations per second, all clients of the job together.
    Offer { load_ops_per_s: f64 },
    /// End as if time were over.
    Finish,
    /// The job ends early: stop, unless you are cleaning up.
    End,
    /// Somebody stops the job.
    Stop,
    /// There are no more jobs. If a rank was lost, it must not be waited for.
    #[serde(rename = "Leave")]
    Shutdown { is_one_lost: bool },
    /// You have been silent for too long: the job goes on without you, and your file set is no longer
    /// yours.
    #[serde(rename = "GivenUp")]
    Evicted,
}

/// A job for the ranks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JobSpec {
    /// The plan of the whole job.
    pub job: Plan,
    /// Which rank makes which part: the first one the first.
    pub makers: Vec<u32>,
    /// Whether each first measures what filestone itself can do on its host.
    pub calibrates: bool,
    /// A rank that has not heard of the coordinator for so long gives up.
    pub silence_ms: u64,
}

/// What a rank says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum FromRank {
    /// What it is, when it has been started.
    Hello(Box<Hello>),
    /// It is there.
    #[serde(rename = "Alive")]
    KeepAlive,
    /// What it is doing before or after the run.
    Preparing { what: String },
    /// It has found the target.
    Found { target: Box<Target> },
    /// How its clients were connected.
    Connected { connections: Box<ConnectionsRecord> },
    /// All its clients are connected.
    Ready,
    /// What its clock and its time of day showed when the `count`-th ping came.
    Pong {
        count: u64,
        clock_ns: u64,
        wall_ns: u64,
    },
    /// It has begun, so long after the moment that was agreed upon.
    #[serde(rename = "Began")]
    Started { late_ns: u64 },
    /// Another part of its run begins.
    Phase { phase: RunPhase },
    /// An interval is complete.
    Interval(Box<IntervalReport>),
    /// Its part is over.
    Ended(Box<Ending>),
}

/// An interval of a rank.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IntervalReport {
    /// What was measured in it.
    pub interval: EncodedInterval,
    /// The rank's part of the offered load at its end.
    pub offered_load_ops_per_s: f64,
    /// Whether that was offered during all of it.
    pub is_whole: bool,
}

/// How a rank's part ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Ending {
    /// With a record.
    Measured(Box<RunRecord>),
    /// Without one.
    Failed(Failure),
}

/// Why a rank has no record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// What happened.
    pub what: String,
    /// What to do about it.
    pub help: Option<String>,
    /// Whose fault it is.
    pub category: FailureCategory,
}

/// [`ErrorCategory`], as it is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum FailureCategory {
    Usage,
    Target,
    Environment,
    Internal,
    Interruption,
}

impl From<ErrorCategory> for FailureCategory {
    fn from(category: ErrorCategory) -> Self {
        match category {
            ErrorCategory::Usage => Self::Usage,
            ErrorCategory::Target => Self::Target,
            ErrorCategory::Environment => Self::Environment,
            ErrorCategory::Internal => Self::Internal,
            ErrorCategory::Interruption => Self::Interruption,
        }
    }
}

impl From<FailureCategory> for ErrorCategory {
    fn from(category: FailureCategory) -> Self {
        match category {
            FailureCategory::Usage => Self::Usage,
            FailureCategory::Target => Self::Target,
            FailureCategory::Environment => Self::Environment,
            FailureCategory::Internal => Self::Internal,
            FailureCategory::Interruption => Self::Interruption,
        }
    }
}

/// A message as bytes; `None` of one that cannot be written, which there is none of.
pub fn encode(message: &impl Serialize) -> Option<Arc<[u8]>> {
    rmp_serde::to_vec_named(message).ok().map(Arc::from)
}

/// A message of these bytes; `None` of anything else.
pub fn decode<'bytes, M: Deserialize<'bytes>>(bytes: &'bytes [u8]) -> Option<M> {
    rmp_serde::from_slice(bytes).ok()
}
