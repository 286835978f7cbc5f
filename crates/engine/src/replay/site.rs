//! The place that a replay works in, and how it is left as it was found.
//!
//! Every layer that keeps files claims a directory `clients` for the run
//! (`workspace::test_directory`). Client *i* lives in `clients/client<i>`.

use super::layer::{Layer, LayerLost};
use crate::control::Cancellation;
use crate::error::RunError;
use filestone_measure::measure::run_record::{DurableHandles, Target};

/// A place to replay in, claimed for one run.
pub trait WorkDir: Send + Sync + 'static {
    /// What the record says of the target.
    fn target(&self) -> Target;

    /// What whoever asked should know of the place.
    fn note(&self) -> Option<String> {
        None
    }

    /// What came of handles that were to outlive their connections, if any were.
    fn durable(&self) -> Option<DurableHandles> {
        None
    }

    /// Hands it the cancellation at which it stops cleaning up. A site without a server has no
    /// use for it.
    fn cancel_with(&mut self, _cancellation: &Cancellation) {}

    /// Takes away what claiming it made. If trees of clients are to be kept, only
    /// the claim is given up.
    fn release(self, trees: TreeCleanup) -> Result<(), RunError>;
}

/// A place whose clients block, each on its layer.
pub trait BlockingWorkDir: WorkDir {
    /// One client's way to it.
    type Layer: Layer + Send + 'static;

    /// Makes one client's way: connects, mounts, opens. Before the clock starts.
    fn layer(&self, client: u32) -> Result<Self::Layer, RunError>;

    /// Takes away the tree of one client, on that client's thread.
    fn clean_up(&self, client: u32, layer: &mut Self::Layer) -> Result<(), LayerLost>;
}

/// What becomes of the clients' trees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TreeCleanup {
    /// They are gone already, or go now.
    Remove,
    /// They stay (`--skip-cleanup`).
    Keep,
}
