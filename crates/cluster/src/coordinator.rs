//! Rank 0: assigns jobs to the ranks and releases them at the end.

use crate::job_error::JobError;
use crate::job_run::JobRun;
use crate::members::Members;
use crate::message::{JobSpec, ToRank};
use crate::options::JobOptions;
use crate::rank_run::Runner;
use crate::steered::JobLoadController;
use crate::transport::Transport;
use filestone_control::job::{deal, on_each_of};
use filestone_host::control::Observer;
use filestone_measure::measure::RunRecord;
use filestone_plan::plan::Plan;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The ranks of a job and the job's options.
pub struct Cluster {
    members: Members,
    runner: Arc<dyn Runner>,
}

impl Cluster {
    /// Creates a cluster from the ranks of `transport`. Each rank executes its runs as `runner`
    /// does here.
    pub fn new(
        transport: Box<dyn Transport>,
        runner: Arc<dyn Runner>,
        options: JobOptions,
    ) -> Self {
        Self {
            members: Members::new(transport, options),
            runner,
        }
    }

    /// Sets the options of all later jobs.
    pub fn set_options(&mut self, options: JobOptions) {
        self.members.options = options;
    }

    /// Runs `plan` as one job and returns one record for all hosts. With `calibrates`, each host
    /// first measures what filestone itself can do there.
    pub fn run(
        &mut self,
        plan: &Plan,
        calibrates: bool,
        stop: &AtomicBool,
        observer: &mut dyn Observer,
    ) -> Result<RunRecord, JobError> {
        self.members.greet()?;
        let makers = self.members.makers();
        let parts = u32::try_from(makers.len()).unwrap_or(u32::MAX);
        if parts == 0 {
            return Err(JobError::NoMakers);
        }
        let whole = self.whole(plan, parts);
        let steered = JobLoadController::of(&whole);
        let mut begun = whole.clone();
        if let Some(steered) = &steered {
            begun.arrivals = whole.arrivals.offering(steered.offered_load_ops_per_s());
        }
        check_parts(&begun, parts)?;
        let order = JobSpec {
            job: begun,
            makers,
            calibrates,
            silence_ms: self.members.options.watchdog.saturating_mul(3).as_millis() as u64,
        };
        JobRun::new(&mut self.members, &whole, &order, steered, observer).make(
            order,
            &self.runner,
            stop,
        )
    }

    /// Returns the plan of all hosts together, with the threads of all of them, for observers.
    pub fn plan_of_all(&self, plan: &Plan) -> Plan {
        let parts = u32::try_from(self.members.makers().len()).unwrap_or(u32::MAX);
        let mut all = self.whole(plan, parts);
        // A plan that cannot be partitioned is refused when it is run.
        if let Ok(parts) = deal(&all, parts) {
            all.workers = parts.iter().map(|part| part.workers).sum();
        }
        all
    }

    fn whole(&self, plan: &Plan, parts: u32) -> Plan {
        if self.members.options.per_host {
            on_each_of(plan, parts)
        } else {
            plan.clone()
        }
    }

    /// Releases the ranks.
    pub fn leave(mut self) {
        let is_one_lost = !self.members.lost.is_empty();
        self.members.tell_all(&ToRank::Shutdown { is_one_lost });
        self.members.transport.leave(is_one_lost);
    }
}

/// Checks that each part is a valid plan.
fn check_parts(job: &Plan, parts: u32) -> Result<(), JobError> {
    for (index, part) in deal(job, parts)?.iter().enumerate() {
        part.check().map_err(|source| JobError::Part {
            part: index + 1,
            parts: parts as usize,
            source: Box::new(source),
        })?;
    }
    Ok(())
}
