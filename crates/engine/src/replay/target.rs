//! A replay as a run: a claimed work directory, clients with their lines, and the parts of the
//! record that only a replay has.

use super::clients::ClientEnd;
use super::piece::ReplayWorkload;
use super::progress::Cancellations;
use super::replaying::{BROKEN_OFF, ClientSpawner, LeftTree, ReplayState, Wanted};
use super::site::{TreeCleanup, WorkDir};
use crate::run::{ConnectedClients, OpenTarget, Recording, RunHook, run_on};
use filestone_host::clock::Clock;
use filestone_host::control::{RunContext, cancel_clean_up_on, clean_up_limits};
use filestone_host::error::RunError;
use filestone_measure::measure::Caveat;
use filestone_measure::measure::run_record::{RunRecord, Target};
use filestone_plan::plan::{Plan, ReplayPlan};
use filestone_protocol::workload::LineSource;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::{Duration, Instant};

/// Replays `piece` on `site` according to `plan`.
pub fn replay_on<S: WorkDir, P: ReplayWorkload>(
    plan: &Plan,
    replay: &ReplayPlan,
    piece: P,
    site: S,
    spawner: &dyn ClientSpawner<S, P::Client>,
    context: &mut RunContext<'_>,
) -> Result<RunRecord, RunError> {
    if let Some(remark) = site.note() {
        context.observer.note(&remark);
    }
    let target = OpenReplay::new(plan, replay, piece, site, spawner);
    run_on(plan, Box::new(target), context, None)
}

/// Totals of a client of this workload.
type AccountOf<P> = <<P as ReplayWorkload>::Client as LineSource>::ClientTotals;

/// An open replay: its work directory is claimed.
struct OpenReplay<'run, S, P: ReplayWorkload> {
    plan: &'run Plan,
    replay: &'run ReplayPlan,
    piece: P,
    spawner: &'run dyn ClientSpawner<S, P::Client>,
    target: Target,
    /// `None` after its release.
    replaying: Option<Arc<ReplayState<S, AccountOf<P>>>>,
    cleaned: Arc<AtomicU32>,
    cancellations: Cancellations,
    began: Instant,
    /// Number of threads of its clients.
    threads: u32,
    ends: Vec<ClientEnd<AccountOf<P>>>,
    left_behind: Option<LeftTree>,
}

impl<'run, S: WorkDir, P: ReplayWorkload> OpenReplay<'run, S, P> {
    fn new(
        plan: &'run Plan,
        replay: &'run ReplayPlan,
        piece: P,
        site: S,
        spawner: &'run dyn ClientSpawner<S, P::Client>,
    ) -> Self {
        let (mut site, cancellations) = (site, Cancellations::default());
        site.cancel_with(&cancellations.clean_up);
        let cleaned = Arc::new(AtomicU32::new(0));
        let removes = !replay.skip_cleanup && piece.cleans_client_by_client();
        Self {
            plan,
            replay,
            piece,
            spawner,
            target: site.target(),
            replaying: Some(Arc::new(ReplayState::new(
                site,
                removes,
                Arc::clone(&cleaned),
            ))),
            cleaned,
            cancellations,
            began: Instant::now(),
            threads: 0,
            ends: Vec::new(),
            left_behind: None,
        }
    }
}

impl<S: WorkDir, P: ReplayWorkload> OpenTarget for OpenReplay<'_, S, P> {
    fn describe(&self) -> &Target {
        &self.target
    }

    fn own_path(&self) -> Option<&str> {
        Some(filestone_workload::load::CLIENTS)
    }

    fn recording(&self, workers: usize) -> Recording {
        self.spawner.recording(self.plan, workers)
    }

    fn hook(&self) -> Option<Box<dyn RunHook>> {
        Some(self.piece.hook(&self.cleaned, &self.cancellations))
    }

    fn connect(
        &mut self,
        clock: &Clock,
        context: &mut RunContext<'_>,
    ) -> Result<ConnectedClients, RunError> {
        let replaying = self.replaying.as_ref().ok_or(RunError::Interrupted)?;
        let table = self.piece.table();
        let wanted = Wanted {
            plan: self.plan,
            replay: self.replay,
            clock,
            replaying,
            cancellations: &self.cancellations,
            workload: &|client| self.piece.client(client),
            table: &table,
            first_connections: self.piece.first_connections(),
        };
        let mut connected = self.spawner.connect(&wanted, context)?;
        self.piece
            .connected(std::mem::take(&mut connected.connect_times));
        self.threads = connected.workers.len() as u32;
        Ok(connected)
    }

    fn clean_up(&mut self, context: &mut RunContext<'_>) -> Result<(), RunError> {
        let Some(replaying) = self.replaying.take().and_then(Arc::into_inner) else {
            return Ok(());
        };
        let taken = replaying.take();
        (self.ends, self.left_behind) = (taken.ends, taken.left_behind);
        // A replay that did not begin has no trees worth keeping.
        let trees = if self.replay.skip_cleanup && !self.ends.is_empty() {
            TreeCleanup::Keep
        } else {
            TreeCleanup::Remove
        };
        let timeout = Duration::from_nanos(self.plan.timeout_ns);
        let limits = clean_up_limits(timeout, self.began.elapsed());
        let cancellation = &self.cancellations.clean_up;
        let site = replaying.site;
        if let Some(session) = &mut self.target.session {
            session.durable = site.durable();
        }
        cancel_clean_up_on(context.stop, limits, cancellation, || site.release(trees))?;
        if trees == TreeCleanup::Remove {
            // A client's tree can be in use by another one until all have ended.
            self.left_behind = None;
        }
        Ok(())
    }

    fn complete(&mut self, record: &mut RunRecord) {
        let ends = std::mem::take(&mut self.ends);
        self.piece.complete(record, self.threads, ends);
        record.target.session.clone_from(&self.target.session);
        if let Some(LeftTree { client, reason }) = self.left_behind.take() {
            let clients = filestone_workload::load::CLIENTS;
            record.caveats.push(Caveat::Leftover {
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
        Caveat::Leftover { path, reason }
    }
}
