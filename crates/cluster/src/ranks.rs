//! What the coordinator knows of the ranks that make parts of a job.

use crate::clocks::Offset;
use crate::message::Ending;
use filestone_control::job::HostRun;
use filestone_measure::measure::job_record::{HostClockRecord, LostHostRecord};
use filestone_measure::measure::run_record::RunRecord;
use std::time::{Duration, Instant};

/// How far a rank is with its part.
#[derive(Debug, Clone, PartialEq)]
pub enum Progress {
    /// It has been given its part.
    Preparing,
    /// It waits for the start.
    Ready,
    /// It has begun.
    Running,
    /// It has told how its part ended.
    Ended(Box<Ending>),
    /// It will not.
    Lost(LostHostRecord),
}

/// A rank that makes a part.
#[derive(Debug)]
pub struct LoadRank {
    /// Its number.
    pub rank: u32,
    /// Which part it makes.
    pub part: u32,
    /// The name of its host.
    pub host: String,
    /// How far it is.
    pub progress: Progress,
    /// When something came from it.
    pub heard: Instant,
    /// How far its clock is ahead, before the run and after it.
    pub offset: Option<Offset>,
    pub offset_at_end: Option<Offset>,
    /// How far its time of day is ahead.
    pub wall_ahead_ns: i64,
    /// How late it began.
    pub late_ns: u64,
}

impl LoadRank {
    /// Whether something is to come from it.
    pub const fn is_awaited(&self) -> bool {
        !matches!(self.progress, Progress::Ended(_) | Progress::Lost(_))
    }

    /// Whether it waits for the start, or will never come to it.
    pub const fn is_finished(&self) -> bool {
        !matches!(self.progress, Progress::Preparing)
    }

    /// Whether it has been silent for so long.
    pub fn is_silent(&self, now: Instant, watchdog: Duration) -> bool {
        self.is_awaited() && now.saturating_duration_since(self.heard) > watchdog
    }

    /// It is lost.
    pub fn mark_lost(&mut self, phase: &str, reason: String) {
        self.progress = Progress::Lost(LostHostRecord {
            name: self.host.clone(),
            part: self.part,
            phase: phase.into(),
            reason,
            remains: None,
        });
    }

    /// What is known of its clock.
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

    /// What it measured, if it told it.
    pub fn into_run(self) -> Result<HostRun, Option<LostHostRecord>> {
        let clock = Some(self.clock());
        match self.progress {
            Progress::Ended(ending) => match *ending {
                Ending::Measured(record) => Ok(HostRun {
                    name: self.host,
                    part: self.part,
                    record: RunRecord::clone(&record),
                    clock,
                }),
                Ending::Failed(failure) => Err(Some(LostHostRecord {
                    name: self.host,
                    part: self.part,
                    phase: "measuring".into(),
                    reason: failure.what,
                    remains: None,
                })),
            },
            Progress::Lost(lost) => Err(Some(lost)),
            Progress::Preparing | Progress::Ready | Progress::Running => Err(None),
        }
    }
}
