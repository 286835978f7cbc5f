//! State shared by the threads of a replay: the work directory, and the results of its clients.

use super::clients::ClientEnd;
use super::layer::{Layer, LayerLost};
use super::progress::Cancellations;
use super::site::{BlockingWorkDir, WorkDir};
use crate::run::{ConnectedClients, Recording};
use filestone_host::clock::Clock;
use filestone_host::control::RunContext;
use filestone_host::error::RunError;
use filestone_plan::plan::{Plan, ReplayPlan};
use filestone_protocol::workload::LineSource;
use filestone_workload::time::Timestamp;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Reason reported for the remains of a clean-up that was stopped.
pub const BROKEN_OFF: &str = "the clean-up was broken off: it was interrupted, or took much longer \
     than the run; --remove-leftover goes on with it";

/// State shared by the threads of a replay.
pub struct ReplayState<S, A> {
    pub site: S,
    /// Whether clients remove their trees.
    removes: bool,
    ends: Mutex<Vec<ClientEnd<A>>>,
    /// The first tree that could not be removed.
    left_behind: Mutex<Option<LeftTree>>,
    cleaned: Arc<AtomicU32>,
}

/// A tree that could not be removed.
pub struct LeftTree {
    /// The client.
    pub client: u32,
    /// The reason.
    pub reason: String,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // No code panics while holding the lock.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<S: WorkDir, A> ReplayState<S, A> {
    /// Returns the state of a replay on this site. `cleaned` counts the clients that have cleaned
    /// up.
    pub fn new(site: S, removes: bool, cleaned: Arc<AtomicU32>) -> Self {
        Self {
            site,
            removes,
            ends: Mutex::new(Vec::new()),
            left_behind: Mutex::default(),
            cleaned,
        }
    }

    /// Returns the results of all clients, and the first tree that could not be removed.
    pub fn take(&self) -> ThreadResults<A> {
        ThreadResults {
            ends: lock(&self.ends).drain(..).collect(),
            left_behind: lock(&self.left_behind).take(),
        }
    }

    /// Returns whether clients remove their trees.
    pub fn removes(&self) -> bool {
        self.removes
    }

    /// Counts `clients` more clients that have cleaned up, or will not.
    pub fn count_cleaned(&self, clients: u32) {
        self.cleaned.fetch_add(clients, Ordering::Release);
    }

    /// Stores the results of clients that have ended.
    pub fn note(&self, ends: Vec<ClientEnd<A>>) {
        lock(&self.ends).extend(ends);
    }
}

impl<S: BlockingWorkDir, A> ReplayState<S, A> {
    /// Removes the trees of one thread's clients, starting with client `first`.
    pub fn clean_up(&self, first: u32, mut layers: Vec<S::Layer>) {
        if self.removes && layers.len() > 1 {
            for layer in &mut layers {
                // One client's open file may be in another client's tree. A lost layer reports its
                // error again in the clean-up.
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

/// Creates the clients of a replay.
pub trait ClientSpawner<S: WorkDir, W: LineSource> {
    /// Returns the recording of `workers` workers.
    fn recording(&self, _plan: &Plan, _workers: usize) -> Recording {
        Recording::Own
    }

    /// Connects and returns the clients of each worker.
    fn connect(
        &self,
        wanted: &Wanted<'_, S, W>,
        context: &mut RunContext<'_>,
    ) -> Result<ConnectedClients, RunError>;
}

/// Parameters for creating the clients of a replay.
pub struct Wanted<'run, S, W: LineSource> {
    pub plan: &'run Plan,
    pub replay: &'run ReplayPlan,
    pub clock: &'run Clock,
    pub replaying: &'run Arc<ReplayState<S, W::ClientTotals>>,
    pub cancellations: &'run Cancellations,
    /// Returns the lines of a client.
    pub workload: &'run dyn Fn(u32) -> W,
    /// Table that contains the data of writes.
    pub table: &'run Arc<[u8]>,
    /// Connection time of each client, if the run can begin without the connections.
    pub first_connections: Option<Vec<Timestamp>>,
}

/// Results of a replay's threads.
pub struct ThreadResults<A> {
    pub ends: Vec<ClientEnd<A>>,
    pub left_behind: Option<LeftTree>,
}
