//! The coordinator's state of the ranks that run parts of a job.

use crate::clocks::Offset;
use crate::message::RankResult;
use filestone_control::job::HostRun;
use filestone_measure::measure::job_record::{HostClockRecord, LostHostRecord};
use filestone_measure::measure::run_record::RunRecord;
use std::time::{Duration, Instant};

/// Progress of a rank's part.
#[derive(Debug, Clone, PartialEq)]
pub enum RankProgress {
    /// The rank has received its part.
    Preparing,
    /// The rank waits for the start.
    Ready,
    /// The run has started.
    Running,
    /// The rank has reported the result of its part.
    Ended(Box<RankResult>),
    /// The rank is lost and will not finish its part.
    Lost(LostHostRecord),
}

/// A rank that runs a part.
#[derive(Debug)]
pub struct LoadRank {
    /// Number of the rank.
    pub rank: u32,
    /// Index of its part.
    pub part: u32,
    /// Name of its host.
    pub host: String,
    /// Progress of its part.
    pub progress: RankProgress,
    /// Time of its last message.
    pub heard: Instant,
    /// Offset of its clock, before the run and after it.
    pub offset: Option<Offset>,
    pub offset_at_end: Option<Offset>,
    /// Offset of its time of day, in nanoseconds.
    pub wall_ahead_ns: i64,
    /// Delay of its start, in nanoseconds.
    pub late_ns: u64,
}

impl LoadRank {
    /// Returns whether more messages are expected from the rank.
    pub const fn is_awaited(&self) -> bool {
        !matches!(
            self.progress,
            RankProgress::Ended(_) | RankProgress::Lost(_)
        )
    }

    /// Returns whether the preparation is over: the rank waits for the start, has started, has
    /// ended or is lost.
    pub const fn is_finished(&self) -> bool {
        !matches!(self.progress, RankProgress::Preparing)
    }

    /// Returns whether messages are expected from the rank and it has been silent for longer than
    /// `watchdog`.
    pub fn is_silent(&self, now: Instant, watchdog: Duration) -> bool {
        self.is_awaited() && now.saturating_duration_since(self.heard) > watchdog
    }

    /// Marks the rank as lost.
    pub fn mark_lost(&mut self, phase: &str, reason: String) {
        self.progress = RankProgress::Lost(LostHostRecord {
            name: self.host.clone(),
            part: self.part,
            phase: phase.into(),
            reason,
            remains: None,
        });
    }

    /// Returns the clock record of the rank.
    fn clock(&self) -> HostClockRecord {
        let drift = |after: Offset| {
            let before = self.offset.map_or(after.ahead_ns, |offset| offset.ahead_ns);
            after.ahead_ns.saturating_sub(before)
        };
        HostClockRecord {
            ahead_ns: self.wall_ahead_ns,
            uncertainty_ns: self.offset.map_or(0, |offset| offset.uncertainty_ns),
            drift_ns: self.offset_at_end.map_or(0, drift),
            late_ns: self.late_ns,
        }
    }

    /// Returns the measured run, if the rank reported one.
    pub fn into_run(self) -> Result<HostRun, Option<LostHostRecord>> {
        let clock = Some(self.clock());
        match self.progress {
            RankProgress::Ended(ending) => match *ending {
                RankResult::Measured(record) => Ok(HostRun {
                    name: self.host,
                    part: self.part,
                    record: RunRecord::clone(&record),
                    clock,
                }),
                RankResult::Failed(failure) => Err(Some(LostHostRecord {
                    name: self.host,
                    part: self.part,
                    phase: "measuring".into(),
                    reason: failure.what,
                    remains: None,
                })),
            },
            RankProgress::Lost(lost) => Err(Some(lost)),
            RankProgress::Preparing | RankProgress::Ready | RankProgress::Running => Err(None),
        }
    }
}
