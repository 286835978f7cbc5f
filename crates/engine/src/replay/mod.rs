//! Replay of a load: its clients, their work directory, and their progress.

pub(crate) mod clients;
pub(crate) mod fleet;
pub mod layer;
pub(crate) mod over_sockets;
pub(crate) mod piece;
pub(crate) mod progress;
mod record;
pub(crate) mod replaying;
pub(crate) mod round_robin;
pub mod site;
mod target;
pub(crate) mod thread;

pub use layer::{Cancellation, Layer, LayerLost, LayerReply};
pub use site::{BlockingWorkDir, TreeCleanup, WorkDir};
pub use target::replay_on;
