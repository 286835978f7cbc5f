//! Replaying a load: one thread per client, one layer under each.

mod board;
mod client;
pub mod layer;
pub mod local;
mod mismatches;
pub mod nfs3;
mod open;
mod pacing;
mod record;
mod round_robin;
mod run;
pub mod site;
pub mod tcp;
pub(crate) mod time;
mod watch;

pub use layer::{Layer, LayerLost, Reply, StopSign};
pub use local::{LocalLayer, LocalOptions, LocalSite};
pub use nfs3::{Nfs3Layer, Nfs3Options, Nfs3Site};
pub use open::{BuiltIn, replay};
pub use run::replay_on;
pub use site::{Beside, Site, Trees};
pub use tcp::{TcpOptions, TcpSite};

/// Which part of a replay is going on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgressPhase {
    /// Nothing is measured yet.
    WarmUp,
    /// The measured window is open, or its last lines are ending.
    Execute,
    /// Clients take their trees away.
    CleanUp,
}

/// How far a replay is: dbench's row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Which part of it is going on.
    pub phase: ProgressPhase,
    /// All clients; in the clean-up, those that are not clean.
    pub clients: u32,
    /// Lines that a client has carried out, on average, over all passes.
    pub line: u64,
    /// File data moved since the phase began, per second of it.
    pub bytes_per_s: f64,
    /// Seconds since the phase began; in the clean-up, as in dbench, since the window opened.
    pub seconds: f64,
    /// Longest response time of an operation that ended since the last row, or
    /// that is still going on.
    pub latency_max_ns: u64,
}
