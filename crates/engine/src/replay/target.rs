//! A replay as a run: a place that is claimed, clients with their lines, and what only a replay
//! has to tell.

use super::clients::ClientEnd;
use super::progress::{Cancellations, ReplayProgress, clean_up_limits};
use super::record;
use super::replaying::{BROKEN_OFF, Crew, LeftTree, Replaying, Wanted};
use super::site::{Site, Trees};
use crate::clock::Clock;
use crate::control::{Context, cancel_clean_up_on};
use crate::error::RunError;
use crate::run::{Attendant, ConnectedClients, OpenTarget, Recording, run_on};
use filestone_model::load::{Load, Script};
use filestone_model::measure::Caveat;
use filestone_model::measure::run_record::{RunRecord, Target};
use filestone_model::plan::{Plan, ReplayPlan};
use filestone_model::workload::LoadFile;
use filestone_model::workload::load_file::SharedLoad;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::{Duration, Instant};

/// Replays `loads` on `site` as `plan` says.
pub fn replay_on<S: Site>(
    plan: &Plan,
    replay: &ReplayPlan,
    loads: &[Arc<Load>],
    site: S,
    crew: &dyn Crew<S>,
    context: &mut Context<'_>,
) -> Result<RunRecord, RunError> {
    if let Some(remark) = site.remark() {
        context.observer.remark(&remark);
    }
    let target = OpenReplay::new(plan, replay, loads, site, crew);
    run_on(plan, Box::new(target), context, None)
}

/// A place that has been claimed for a replay.
struct OpenReplay<'run, S> {
    plan: &'run Plan,
    replay: &'run ReplayPlan,
    loads: &'run [Arc<Load>],
    crew: &'run dyn Crew<S>,
    target: Target,
    /// `None` once it has been given up.
    replaying: Option<Arc<Replaying<S>>>,
    shared: Arc<SharedLoad>,
    cleaned: Arc<AtomicU32>,
    cancellations: Cancellations,
    began: Instant,
    /// How many threads its clients have.
    threads: u32,
    ends: Vec<ClientEnd>,
    left_behind: Option<LeftTree>,
}

impl<'run, S: Site> OpenReplay<'run, S> {
    fn new(
        plan: &'run Plan,
        replay: &'run ReplayPlan,
        loads: &'run [Arc<Load>],
        site: S,
        crew: &'run dyn Crew<S>,
    ) -> Self {
        let (mut site, cancellations) = (site, Cancellations::default());
        site.cancel_with(&cancellations.clean_up);
        let cleaned = Arc::new(AtomicU32::new(0));
        Self {
            plan,
            replay,
            loads,
            crew,
            target: site.target(),
            replaying: Some(Arc::new(Replaying::new(
                site,
                !replay.skip_cleanup,
                Arc::clone(&cleaned),
            ))),
            shared: Arc::new(SharedLoad::new(plan, replay)),
            cleaned,
            cancellations,
            began: Instant::now(),
            threads: 0,
            ends: Vec::new(),
            left_behind: None,
        }
    }

    fn workload(&self, client: u32) -> LoadFile {
        let load = &self.loads[client as usize % self.loads.len()];
        let script = Script::new(Arc::clone(load), client, self.plan.clients, self.plan.seed);
        let script = script.counted_from(self.replay.first_number);
        LoadFile::new(client, script, self.replay.pacing, Arc::clone(&self.shared))
    }
}

impl<S: Site> OpenTarget for OpenReplay<'_, S> {
    fn describe(&self) -> &Target {
        &self.target
    }

    fn own_path(&self) -> Option<&str> {
        Some(crate::workspace::test_directory::CLIENTS)
    }

    fn recording(&self, workers: usize) -> Recording {
        self.crew.recording(self.plan, workers)
    }

    fn attendant(&self) -> Option<Box<dyn Attendant>> {
        Some(Box::new(ReplayProgress::new(
            self.plan,
            Arc::clone(&self.shared),
            Arc::clone(&self.cleaned),
            self.cancellations.clone(),
        )))
    }

    fn connect(
        &mut self,
        clock: &Clock,
        context: &mut Context<'_>,
    ) -> Result<ConnectedClients, RunError> {
        let replaying = self.replaying.as_ref().ok_or(RunError::Interrupted)?;
        let wanted = Wanted {
            plan: self.plan,
            replay: self.replay,
            clock,
            replaying,
            cancellations: &self.cancellations,
            workload: &|client| self.workload(client),
        };
        let connected = self.crew.connect(&wanted, context)?;
        self.threads = connected.workers.len() as u32;
        Ok(connected)
    }

    fn clean_up(&mut self, context: &mut Context<'_>) -> Result<(), RunError> {
        let Some(replaying) = self.replaying.take().and_then(Arc::into_inner) else {
            return Ok(());
        };
        let taken = replaying.take();
        (self.ends, self.left_behind) = (taken.ends, taken.left_behind);
        // What could not even begin has nothing that is worth keeping.
        let trees = if self.replay.skip_cleanup && !self.ends.is_empty() {
            Trees::Keep
        } else {
            Trees::Remove
        };
        let timeout = Duration::from_nanos(self.plan.timeout_ns);
        let limits = clean_up_limits(timeout, self.began.elapsed());
        let cancellation = &self.cancellations.clean_up;
        let site = replaying.site;
        if let Some(session) = &mut self.target.session {
            session.durable = site.durable();
        }
        cancel_clean_up_on(context.stop, limits, cancellation, || site.release(trees))?;
        if trees == Trees::Remove {
            // A client's tree can be in use by another one until all have ended.
            self.left_behind = None;
        }
        Ok(())
    }

    fn complete(&mut self, record: &mut RunRecord) {
        let ends = std::mem::take(&mut self.ends);
        record::complete(record, self.threads, ends);
        record.target.session.clone_from(&self.target.session);
        if let Some(LeftTree { client, reason }) = self.left_behind.take() {
            let clients = crate::workspace::test_directory::CLIENTS;
            record.caveats.push(Caveat::LeftBehind {
                path: format!("{clients}/client{client}"),
                reason,
            });
        }
    }

    fn left(&self, _plan: &Plan, path: String, error: RunError) -> Caveat {
        let reason = match error {
            RunError::Interrupted => BROKEN_OFF.into(),
            error => error.to_string(),
        };
        Caveat::LeftBehind { path, reason }
    }
}
