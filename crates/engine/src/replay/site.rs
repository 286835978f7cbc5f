//! The place that a replay works in, and how it is left as it was found.
//!
//! Every layer that keeps files claims a directory `clients` for the run
//! (`workspace::test_directory`). Client *i* lives in `clients/client<i>`.

use super::layer::{Layer, LayerLost};
use crate::control::Cancellation;
use crate::error::RunError;
use filestone_model::measure::run_record::Target;

/// A place to replay in, claimed for one run.
pub trait Site: Send + Sync + 'static {
    /// One client's way to it.
    type Layer: Layer + Send + 'static;

    /// What the record says of the target.
    fn target(&self) -> Target;

    /// What whoever asked should know of the place.
    fn remark(&self) -> Option<String> {
        None
    }

    /// Hands it the cancellations at which it stops preparing and cleaning up. A site without a server
    /// has no use for them.
    fn cancel_with(&mut self, _preparing: &Cancellation, _cleaning_up: &Cancellation) {}

    /// Makes one client's way: connects, mounts, opens. Before the clock starts.
    fn layer(&self, client: u32) -> Result<Self::Layer, RunError>;

    /// Takes away the tree of one client, on that client's thread.
    fn clean_up(&self, client: u32, layer: &mut Self::Layer) -> Result<(), LayerLost>;

    /// Takes away what claiming it made. If trees of clients are to be kept, only
    /// the claim is given up.
    fn release(self, trees: Trees) -> Result<(), RunError>;
}

/// What becomes of the clients' trees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trees {
    /// They are gone already, or go now.
    Remove,
    /// They stay (`--skip-cleanup`).
    Keep,
}
