//! The work directory of a replay, and its removal.
//!
//! Every layer that stores files claims a directory `clients` for the run
//! (`workspace::test_directory`). Client *i* works in `clients/client<i>`.

use super::layer::{Layer, LayerLost};
use filestone_host::control::Cancellation;
use filestone_host::error::RunError;
use filestone_measure::measure::run_record::{DurableHandles, Target};

/// A work directory claimed for one run.
pub trait WorkDir: Send + Sync + 'static {
    /// Returns the target for the record.
    fn target(&self) -> Target;

    /// Returns a note on the site for the user.
    fn note(&self) -> Option<String> {
        None
    }

    /// Returns the counters of durable handles, if the run requested them.
    fn durable(&self) -> Option<DurableHandles> {
        None
    }

    /// Sets the cancellation that ends a clean-up. A site without a server ignores it.
    fn cancel_with(&mut self, _cancellation: &Cancellation) {}

    /// Removes everything that claiming has made. With [`TreeCleanup::Keep`], only the claim is
    /// released.
    fn release(self, trees: TreeCleanup) -> Result<(), RunError>;
}

/// A work directory whose clients block, each on its layer.
pub trait BlockingWorkDir: WorkDir {
    /// Access of one client to the site.
    type Layer: Layer + Send + 'static;

    /// Creates one client's layer: connects, mounts, opens. Called before the clock starts.
    fn layer(&self, client: u32) -> Result<Self::Layer, RunError>;

    /// Removes the tree of one client, on that client's thread.
    fn clean_up(&self, client: u32, layer: &mut Self::Layer) -> Result<(), LayerLost>;
}

/// Treatment of the clients' trees at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TreeCleanup {
    /// The trees are removed now, if they still exist.
    Remove,
    /// The trees stay (`--skip-cleanup`).
    Keep,
}
