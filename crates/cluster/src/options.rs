//! Options of jobs.

use std::time::Duration;

/// Policy of a job that loses a rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnRankLost {
    /// End the job with the record of the other ranks.
    #[default]
    End,
    /// Continue without the lost rank.
    Continue,
}

/// Options of jobs.
#[derive(Debug, Clone)]
pub struct JobOptions {
    /// Version and build of filestone, which all ranks must share.
    pub version: String,
    /// Whether clients, load and count are per host.
    pub per_host: bool,
    /// Whether rank 0 generates no load.
    pub coordinator_only: bool,
    /// Policy for lost ranks.
    pub on_rank_lost: OnRankLost,
    /// A rank that is silent for this long is lost.
    pub watchdog: Duration,
    /// Time limit for the ranks' reports at the start.
    pub greeting: Duration,
}

impl JobOptions {
    /// Returns the defaults: totals for the whole job, rank 0 generates load, watchdog 10 s.
    pub fn new(version: &str) -> Self {
        Self {
            version: version.into(),
            per_host: false,
            coordinator_only: false,
            on_rank_lost: OnRankLost::End,
            watchdog: Duration::from_secs(10),
            greeting: Duration::from_secs(60),
        }
    }
}
