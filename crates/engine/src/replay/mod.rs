//! Replaying a load: one thread per client, one layer under each.

mod board;
mod client;
pub mod layer;
pub mod local;
mod mismatches;
pub mod nfs3;
mod pacing;
mod record;
pub(crate) mod round_robin;
mod run;
pub mod site;
pub mod tcp;
mod watch;

pub use crate::control::{Progress, ProgressPhase};
pub use crate::workspace::Beside;
pub use layer::{Cancellation, Layer, LayerLost, Reply};
pub use local::{LocalLayer, LocalOptions, LocalSite};
pub use nfs3::{Nfs3Layer, Nfs3Options, Nfs3Site};
pub use run::replay_on;
pub use site::{Site, Trees};
pub use tcp::{TcpOptions, TcpSite};
