//! Replaying a load: its clients, the place that they work in, and how far they are.

mod clients;
pub mod layer;
mod progress;
mod record;
mod replaying;
pub(crate) mod round_robin;
pub mod site;
mod target;
mod thread;

pub use crate::control::{Progress, ProgressPhase};
pub use crate::workspace::Beside;
pub use layer::{Cancellation, Layer, LayerLost, Reply};
pub use site::{Site, Trees};
pub use target::replay_on;
