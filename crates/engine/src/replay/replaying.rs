//! What the threads of a replay share: the place, and how its clients have ended.

use super::clients::ClientEnd;
use super::layer::{Layer, LayerLost};
use super::progress::Cancellations;
use super::site::{BlockingWorkDir, WorkDir};
use crate::clock::Clock;
use crate::control::Context;
use crate::error::RunError;
use crate::run::{ConnectedClients, Recording};
use filestone_plan::plan::{Plan, ReplayPlan};
use filestone_protocol::workload::LineSource;
use filestone_workload::time::Timestamp;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Why a clean-up that was stopped left something.
pub const BROKEN_OFF: &str = "the clean-up was broken off: it was interrupted, or took much longer \
     than the run; --remove-leftover goes on with it";

/// What the threads of a replay share.
pub struct ReplayState<S, A> {
    pub site: S,
    /// Whether clients take their trees away.
    removes: bool,
    ends: Mutex<Vec<ClientEnd<A>>>,
    /// The first tree that could not be taken away.
    left_behind: Mutex<Option<LeftTree>>,
    cleaned: Arc<AtomicU32>,
}

/// A tree that could not be taken away.
pub struct LeftTree {
    /// Whose.
    pub client: u32,
    /// Why.
    pub reason: String,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing can panic while it is held.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<S: WorkDir, A> ReplayState<S, A> {
    /// On this site. `cleaned` counts the clients that have cleaned up.
    pub fn new(site: S, removes: bool, cleaned: Arc<AtomicU32>) -> Self {
        Self {
            site,
            removes,
            ends: Mutex::new(Vec::new()),
            left_behind: Mutex::default(),
            cleaned,
        }
    }

    /// How all clients have ended, and the first tree that could not be taken away.
    pub fn take(&self) -> ThreadResults<A> {
        ThreadResults {
            ends: lock(&self.ends).drain(..).collect(),
            left_behind: lock(&self.left_behind).take(),
        }
    }

    /// Whether clients take their trees away.
    pub fn removes(&self) -> bool {
        self.removes
    }

    /// So many more clients have cleaned up, or will not.
    pub fn count_cleaned(&self, clients: u32) {
        self.cleaned.fetch_add(clients, Ordering::Release);
    }

    /// These clients have come to their ends.
    pub fn note(&self, ends: Vec<ClientEnd<A>>) {
        lock(&self.ends).extend(ends);
    }
}

impl<S: BlockingWorkDir, A> ReplayState<S, A> {
    /// Takes the trees of one thread's clients away, the first of which is `first`.
    pub fn clean_up(&self, first: u32, mut layers: Vec<S::Layer>) {
        if self.removes && layers.len() > 1 {
            for layer in &mut layers {
                // What one of them has open may be in the tree of another. A layer that is
                // lost says so again when it is to clean up.
                layer.end_pass().ok();
            }
        }
        for (client, mut layer) in (first..).zip(layers) {
            if self.removes
                && let Err(lost) = self.site.clean_up(client, &mut layer)
            {
                let reason = match lost {
                    LayerLost::Stopped => BROKEN_OFF.into(),
                    lost => lost.to_string(),
                };
                lock(&self.left_behind).get_or_insert(LeftTree { client, reason });
            }
            self.count_cleaned(1);
        }
    }
}

/// What makes the clients of a replay.
pub trait ClientSpawner<S: WorkDir, W: LineSource> {
    /// Where their workers, so many, enter what they measure.
    fn recording(&self, plan: &Plan, workers: usize) -> Recording;

    /// The clients of each worker, connected.
    fn connect(
        &self,
        wanted: &Wanted<'_, S, W>,
        context: &mut Context<'_>,
    ) -> Result<ConnectedClients, RunError>;
}

/// The clients that a replay wants.
pub struct Wanted<'run, S, W: LineSource> {
    pub plan: &'run Plan,
    pub replay: &'run ReplayPlan,
    pub clock: &'run Clock,
    pub replaying: &'run Arc<ReplayState<S, W::ClientTotals>>,
    pub cancellations: &'run Cancellations,
    /// The lines of a client.
    pub workload: &'run dyn Fn(u32) -> W,
    /// What data are taken from that are written.
    pub table: &'run Arc<[u8]>,
    /// When each client is to have its connection, if the run can begin without it.
    pub first_connections: Option<Vec<Timestamp>>,
}

/// What the threads of a replay leave.
pub struct ThreadResults<A> {
    pub ends: Vec<ClientEnd<A>>,
    pub left_behind: Option<LeftTree>,
}
