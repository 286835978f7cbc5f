//! A replay as a run: a place that is claimed, clients with their lines, and what only a replay
//! has to tell.

use super::clients::ClientEnd;
use super::progress::{Cancellations, ReplayProgress, clean_up_limits};
use super::record;
use super::replaying::{BROKEN_OFF, LeftTree, Replaying};
use super::site::{Site, Trees};
use super::thread::LayerThread;
use crate::clock::Clock;
use crate::control::{Context, Observer, cancel_clean_up_on, cancel_on, go_on};
use crate::error::RunError;
use crate::run::{Attendant, ConnectedClients, OpenTarget, Recording, WorkerBody, run_on};
use crate::worker::SharedRecorder;
use filestone_model::load::{Load, Script};
use filestone_model::measure::Caveat;
use filestone_model::measure::run_record::{RunRecord, Target};
use filestone_model::plan::{Plan, ReplayPlan};
use filestone_model::workload::LoadFile;
use filestone_model::workload::load_file::SharedLoad;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::time::{Duration, Instant};

/// Replays `loads` on `site` as `plan` says.
pub fn replay_on<S: Site>(
    plan: &Plan,
    replay: &ReplayPlan,
    loads: &[Arc<Load>],
    site: S,
    context: &mut Context<'_>,
) -> Result<RunRecord, RunError> {
    if let Some(remark) = site.remark() {
        context.observer.remark(&remark);
    }
    let target = OpenReplay::new(plan, replay, loads, site);
    run_on(plan, Box::new(target), context, None)
}

/// A place that has been claimed for a replay.
struct OpenReplay<'run, S> {
    plan: &'run Plan,
    replay: &'run ReplayPlan,
    loads: &'run [Arc<Load>],
    target: Target,
    /// `None` once it has been given up.
    replaying: Option<Arc<Replaying<S>>>,
    shared: Arc<SharedLoad>,
    cleaned: Arc<AtomicU32>,
    cancellations: Cancellations,
    began: Instant,
    ends: Vec<ClientEnd>,
    left_behind: Option<LeftTree>,
}

impl<'run, S: Site> OpenReplay<'run, S> {
    fn new(plan: &'run Plan, replay: &'run ReplayPlan, loads: &'run [Arc<Load>], site: S) -> Self {
        let (mut site, cancellations) = (site, Cancellations::default());
        site.cancel_with(&cancellations.work, &cancellations.clean_up);
        let cleaned = Arc::new(AtomicU32::new(0));
        Self {
            plan,
            replay,
            loads,
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
            ends: Vec::new(),
            left_behind: None,
        }
    }

    fn workload(&self, client: u32) -> LoadFile {
        let load = &self.loads[client as usize % self.loads.len()];
        let script = Script::new(Arc::clone(load), client, self.plan.clients, self.plan.seed);
        LoadFile::new(client, script, self.replay.pacing, Arc::clone(&self.shared))
    }

    /// All clients' ways to the site, made one after the other.
    fn layers(
        &self,
        site: &S,
        stop: &AtomicBool,
        observer: &mut dyn Observer,
    ) -> Result<Vec<S::Layer>, RunError> {
        if self.plan.clients > 1 {
            observer.preparing(&format!("preparing {} clients", self.plan.clients));
        }
        let layer = |client| {
            go_on(stop)?;
            site.layer(client)
        };
        (0..self.plan.clients).map(layer).collect()
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
        Recording::Shared(SharedRecorder::new(self.plan, workers))
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
        _clock: &Clock,
        context: &mut Context<'_>,
    ) -> Result<ConnectedClients, RunError> {
        let replaying = self.replaying.as_ref();
        let replaying = replaying.ok_or(RunError::Interrupted)?;
        let (stop, observer) = (context.stop, &mut *context.observer);
        let work = &self.cancellations.work;
        let layers = cancel_on(stop, work, || self.layers(&replaying.site, stop, observer))?;
        let mut layers = layers.into_iter();
        let per_thread = self.replay.clients_per_thread.max(1) as usize;
        let mut workers: Vec<Box<dyn WorkerBody>> = Vec::new();
        while let first = workers.len() * per_thread
            && first < self.plan.clients as usize
        {
            let mut layers: Vec<S::Layer> = layers.by_ref().take(per_thread).collect();
            let cancel_with = |layer| super::Layer::cancel_with(layer, work);
            layers.iter_mut().for_each(cancel_with);
            let first = first as u32;
            let members = first..first + layers.len() as u32;
            workers.push(Box::new(LayerThread {
                first,
                workloads: members.map(|client| self.workload(client)).collect(),
                layers,
                replaying: Arc::clone(replaying),
            }));
        }
        Ok(ConnectedClients {
            workers,
            record: None,
        })
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
        cancel_clean_up_on(context.stop, limits, cancellation, || site.release(trees))?;
        if trees == Trees::Remove {
            // A client's tree can be in use by another one until all have ended.
            self.left_behind = None;
        }
        Ok(())
    }

    fn complete(&mut self, record: &mut RunRecord) {
        let ends = std::mem::take(&mut self.ends);
        record::complete(record, self.plan, self.replay, ends);
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
