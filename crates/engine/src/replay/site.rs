//! The place that a replay works in, and how it is left as it was found.
//!
//! Every layer that keeps files has one directory under test, and in it one
//! directory `clients`, which the run makes, marks as its own and takes away
//! again. Client *i* lives in `clients/client<i>`. Whatever else is in the
//! directory under test is never changed and never deleted; links are never
//! followed while deleting. Where another program has a `clients` there, the run's own is in
//! a directory `filestone` beside it.

use super::layer::{Layer, LayerLost};
use crate::control::Cancellation;
use crate::error::RunError;
use filestone_model::measure::run_record::Target;

/// The directory in the directory under test that belongs to the run.
pub const CLIENTS: &str = "clients";

/// The file in it that says so.
pub const MARKER: &str = ".filestone";

/// The directory in the directory under test in which a run makes its own `clients` where
/// there is one of another program's.
pub const BESIDE: &str = "filestone";

/// When a run works beside a `clients` that filestone has not made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Beside {
    /// If there is nothing in it: then there is nothing that the user could have meant.
    #[default]
    IfEmpty,
    /// Whatever it is: dbench leaves it behind, and runs there again.
    Always,
}

/// What whoever asked should know of a run that works beside a `clients`.
pub(super) fn beside_remark(under_test: &str) -> String {
    let under_test = under_test.trim_end_matches('/');
    format!(
        "{under_test}/{CLIENTS} was not made by filestone and stays as it is; \
         working beside it, in {under_test}/{BESIDE}"
    )
}

/// A place to replay in, claimed for one run.
pub trait Site: Sync {
    /// One client's way to it.
    type Layer: Layer + Send;

    /// What the record says of the target.
    fn target(&self) -> Target;

    /// What whoever asked should know of the place.
    fn remark(&self) -> Option<String> {
        None
    }

    /// Hands it the signs at which it stops preparing and cleaning up. A site without a server
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
