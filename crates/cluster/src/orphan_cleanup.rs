//! Clean-up after lost ranks: the coordinator removes or releases what they have left on the
//! target, as they would have done at their end.
//!
//! A lost rank has ended, or ends as soon as it is notified that the job has continued without it.
//! Until then it finds that its file set belongs to another process, and does not touch it.

use crate::rank_run::Runner;
use filestone_host::control::{Observer, RunContext};
use filestone_measure::measure::RunRecord;
use filestone_measure::measure::caveat::Caveat;
use filestone_plan::plan::Plan;
use filestone_setup::workspace::marker::ProcessIdentity;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Time limit of the whole clean-up.
const LIMIT: Duration = Duration::from_secs(120);
/// Time limit after a job that was stopped, unless the timeout of a call is shorter.
const LIMIT_AFTER_STOP: Duration = Duration::from_secs(10);

/// Part of a lost rank.
pub struct OrphanedPart {
    /// Index of the part in the job.
    pub part: u32,
    /// Host and rank, as text.
    pub whose: String,
    /// Plan of the part.
    pub plan: Plan,
    /// Process that ran the part.
    pub owner: ProcessIdentity,
}

/// Parts that could not be removed or released.
pub struct OrphanCleanUpFailure {
    abandoned: OrphanedPart,
    reason: String,
}

/// Removes or releases all orphaned parts, and returns what is left. Ends if `stop` is set.
pub fn reclaim(
    all: Vec<OrphanedPart>,
    runner: &dyn Runner,
    stop: &AtomicBool,
    observer: &mut dyn Observer,
) -> Vec<OrphanCleanUpFailure> {
    let begun = Instant::now();
    let was_stopped = stop.load(Ordering::Acquire);
    let mut remains = Vec::new();
    for abandoned in all {
        let plan = &abandoned.plan;
        let limit = if was_stopped {
            LIMIT_AFTER_STOP.min(Duration::from_nanos(plan.timeout_ns))
        } else {
            LIMIT
        };
        observer.preparing(&format!("cleaning up after {}", abandoned.whose));
        let mut context = RunContext::new(stop, &mut *observer);
        let left = limit.saturating_sub(begun.elapsed());
        let reclaimed = runner.reclaim(plan, &abandoned.owner, left, &mut context);
        if let Err(failure) = reclaimed {
            let reason = failure.what;
            remains.push(OrphanCleanUpFailure { abandoned, reason });
        }
    }
    remains
}

impl OrphanCleanUpFailure {
    /// Describes the remaining parts and the reason.
    pub fn describe(&self) -> String {
        let OrphanedPart { whose, .. } = &self.abandoned;
        format!(
            "{} of {whose} stays as it left it: {}",
            self.name(),
            self.reason
        )
    }

    fn name(&self) -> &str {
        let mix = self.abandoned.plan.mix();
        mix.map_or("", |mix| &mix.file_set.name)
    }

    /// Adds the failure to the record.
    pub fn record(self, record: &mut RunRecord) {
        let path = self.name().to_owned();
        let Self { abandoned, reason } = self;
        let lost = record.job.iter_mut().flat_map(|job| &mut job.lost);
        for lost in lost.filter(|lost| lost.part == abandoned.part) {
            lost.remains = Some(reason.clone());
        }
        let removes = abandoned.plan.mix().is_some_and(|mix| mix.remove_set);
        record.caveats.push(if removes {
            Caveat::Leftover { path, reason }
        } else {
            Caveat::FileSetStillClaimed { path, reason }
        });
    }
}
