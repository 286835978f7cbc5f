//! What ranks that were lost have left on the target: the coordinator removes it, or gives it up, as they
//! would have done at their end.
//!
//! A rank that is lost is over, or will be as soon as it hears that the job has gone on without it. Until
//! then it finds that its file set is another's, and leaves it alone.

use crate::rank_run::Runner;
use filestone_engine::control::{Context, Observer};
use filestone_engine::workspace::ProcessIdentity;
use filestone_measure::measure::RunRecord;
use filestone_measure::measure::caveat::Caveat;
use filestone_plan::plan::Plan;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long that may take in all.
const LIMIT: Duration = Duration::from_secs(120);
/// The same after a job that was stopped, if a call's time-out is not less.
const LIMIT_AFTER_STOP: Duration = Duration::from_secs(10);

/// What a rank that was lost has left.
pub struct OrphanedPart {
    /// Its part of the job.
    pub part: u32,
    /// Its host and its rank, in words.
    pub whose: String,
    /// The plan of its part.
    pub plan: Plan,
    /// Its process.
    pub owner: ProcessIdentity,
}

/// What could not be removed or given up.
pub struct CleanUpFailure {
    abandoned: OrphanedPart,
    reason: String,
}

/// Removes all that was abandoned, or gives it up; what is left then. Ends when somebody stops it.
pub fn reclaim(
    all: Vec<OrphanedPart>,
    runner: &dyn Runner,
    stop: &AtomicBool,
    observer: &mut dyn Observer,
) -> Vec<CleanUpFailure> {
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
        let mut context = Context::new(stop, &mut *observer);
        let left = limit.saturating_sub(begun.elapsed());
        let reclaimed = runner.reclaim(plan, &abandoned.owner, left, &mut context);
        if let Err(failure) = reclaimed {
            let reason = failure.what;
            remains.push(CleanUpFailure { abandoned, reason });
        }
    }
    remains
}

impl CleanUpFailure {
    /// What it is, and why it is there.
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

    /// Enters it into the record.
    pub fn record(self, record: &mut RunRecord) {
        let path = self.name().to_owned();
        let Self { abandoned, reason } = self;
        let lost = record.job.iter_mut().flat_map(|job| &mut job.lost);
        for lost in lost.filter(|lost| lost.part == abandoned.part) {
            lost.remains = Some(reason.clone());
        }
        let removes = abandoned.plan.mix().is_some_and(|mix| mix.remove_set);
        record.caveats.push(if removes {
            Caveat::LeftBehind { path, reason }
        } else {
            Caveat::FileSetStillClaimed { path, reason }
        });
    }
}
