//! How jobs are made.

use std::time::Duration;

/// What becomes of a job whose rank is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnRankLost {
    /// It ends, with the record of the others.
    #[default]
    End,
    /// It goes on without it.
    Continue,
}

/// How jobs are made.
#[derive(Debug, Clone)]
pub struct JobOptions {
    /// What ranks must have, too: the version of filestone, and how it was built.
    pub version: String,
    /// Whether clients, load and count are those of each host.
    pub per_host: bool,
    /// Whether rank 0 makes no load.
    pub coordinator_only: bool,
    /// What the loss of a rank does.
    pub on_rank_lost: OnRankLost,
    /// A rank that is silent for so long is lost.
    pub watchdog: Duration,
    /// How long ranks may take to be there at the start.
    pub greeting: Duration,
}

impl JobOptions {
    /// Totals of the job, rank 0 included, and 10 s of silence.
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
