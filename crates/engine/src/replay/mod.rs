//! Replaying a load: one thread per client, one layer under each.

mod client;
pub mod layer;
mod mailbox;
mod mismatches;
mod pacing;
mod record;
pub(crate) mod round_robin;
mod run;
pub mod site;
mod watch;

pub use crate::control::{Progress, ProgressPhase};
pub use crate::workspace::Beside;
pub use layer::{Cancellation, Layer, LayerLost, Reply};
pub use run::replay_on;
pub use site::{Site, Trees};
