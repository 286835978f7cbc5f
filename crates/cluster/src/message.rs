//! Messages between the coordinator and the ranks of a job, encoded as MessagePack with field
//! names.

use crate::hello::Hello;
use filestone_control::job::EncodedInterval;
use filestone_host::error::ErrorCategory;
use filestone_measure::measure::run_record::Target;
use filestone_measure::measure::{ConnectionsRecord, RunPhase, RunRecord};
use filestone_plan::plan::Plan;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A message from the coordinator to a rank.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum ToRank {
    /// Run your part of this job.
    Run(Box<JobSpec>),
    /// The coordinator is alive.
    #[serde(rename = "Alive")]
    KeepAlive,
    /// Report your clock.
    Ping,
    /// The ping series is over.
    #[serde(rename = "Pinged")]
    PingAck,
    /// Start when your clock shows `at_ns`.
    Start { at_ns: u64 },
    /// Offer this number of operations per second, summed over all clients of the job.
    Offer { load_ops_per_s: f64 },
    /// Finish as if the planned duration were over.
    Finish,
    /// The job ends early: stop, unless you are cleaning up.
    End,
    /// The user stops the job.
    Stop,
    /// No more jobs follow; do not wait for a rank that was lost.
    #[serde(rename = "Leave")]
    Shutdown { is_one_lost: bool },
    /// You have been silent for too long: the job continues without you, and your file set no
    /// longer belongs to you.
    #[serde(rename = "GivenUp")]
    Evicted,
}

/// Specification of a job for the ranks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JobSpec {
    /// Plan of the whole job.
    pub job: Plan,
    /// Rank that runs each part, in order of parts.
    pub makers: Vec<u32>,
    /// Whether each host first measures what filestone itself can do there.
    pub calibrates: bool,
    /// A rank that has received no message from the coordinator for this long aborts.
    pub silence_ms: u64,
}

/// A message from a rank to the coordinator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum FromRank {
    /// Description of the rank, sent after its start.
    Hello(Box<Hello>),
    /// The rank is alive.
    #[serde(rename = "Alive")]
    KeepAlive,
    /// Activity of the rank before or after the run.
    Preparing { what: String },
    /// The rank has reached the target.
    Found { target: Box<Target> },
    /// Connection statistics of the rank's clients.
    Connected { connections: Box<ConnectionsRecord> },
    /// All clients of the rank are connected.
    Ready,
    /// Clock and time of day of the rank on arrival of the `count`-th ping.
    Pong {
        count: u64,
        clock_ns: u64,
        wall_ns: u64,
    },
    /// The run has started, `late_ns` after the agreed time.
    #[serde(rename = "Began")]
    Started { late_ns: u64 },
    /// The run enters another phase.
    Phase { phase: RunPhase },
    /// An interval is complete.
    Interval(Box<IntervalReport>),
    /// The rank's part has ended.
    Ended(Box<RankResult>),
}

/// An interval of one rank.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IntervalReport {
    /// Measurements of the interval.
    pub interval: EncodedInterval,
    /// The rank's share of the offered load at the end of the interval.
    pub offered_load_ops_per_s: f64,
    /// Whether that load was offered during the whole interval.
    pub is_whole: bool,
}

/// Result of a rank's part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum RankResult {
    /// The part has a record.
    Measured(Box<RunRecord>),
    /// The part has no record.
    Failed(RankFailure),
}

/// Reason why a rank has no record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankFailure {
    /// Description of the failure.
    pub what: String,
    /// Suggested remedy.
    pub help: Option<String>,
    /// Category of the failure, for the exit code.
    pub category: ErrorCategory,
}

/// Encodes a message; `None` if it cannot be serialized, which does not occur.
pub fn encode(message: &impl Serialize) -> Option<Arc<[u8]>> {
    rmp_serde::to_vec_named(message).ok().map(Arc::from)
}

/// Decodes a message; `None` if the bytes are not a valid message.
pub fn decode<'bytes, M: Deserialize<'bytes>>(bytes: &'bytes [u8]) -> Option<M> {
    rmp_serde::from_slice(bytes).ok()
}
