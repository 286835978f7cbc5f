//! The seam between a load and what carries it out.
//!
//! A layer is one client's way to the local file system, to a peer over bare
//! TCP, or to an NFS server. One action at a time, on the client's own thread:
//! dbench's clients are sequential, and a thread that blocks in the system call
//! has nothing between the call and its end. Layers measure nothing and decide
//! nothing; they say what was answered and what it took.

use filestone_workload::load::{Action, Status};
use filestone_workload::payload::DataVerifier;

pub use crate::control::Cancellation;

/// What one action came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reply {
    /// What the layer answered.
    pub status: Status,
    /// Exchanges with a server; system calls are not counted.
    pub calls: u32,
    /// Bytes sent to a server, framing included.
    pub bytes_sent: u32,
    /// Bytes received from a server, framing included.
    pub bytes_received: u32,
    /// File data that came or went, whether or not it is what was asked for.
    pub data_bytes: u64,
}

impl Reply {
    /// An answer that took no exchange and moved no data.
    pub const fn of(status: Status) -> Self {
        Self {
            status,
            calls: 0,
            bytes_sent: 0,
            bytes_received: 0,
            data_bytes: 0,
        }
    }
}

/// Why a client cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum LayerLost {
    /// Its connection is gone, its directory vanished: what happened, where, as a sentence for the
    /// report. It costs that client, not the run.
    #[error("{0}")]
    Lost(String),
    /// An action was broken off between two of its pieces by a [`Cancellation`]: nothing is wrong
    /// with the layer.
    #[error("stopped")]
    Stopped,
    /// This host has run out of what the action needs, which ends the run.
    #[error("{0}")]
    Exhausted(std::io::Error),
}

/// One client's way to what is under test.
pub trait Layer {
    /// Hands it the cancellation at which long actions break off with
    /// [`LayerLost::Stopped`]. Taking trees away goes on: what is left must be
    /// nothing. A layer whose actions are short has no use for it.
    fn cancel_with(&mut self, _cancellation: &Cancellation) {}

    /// Carries out one action. `data` are the bytes that writes take their data
    /// from, over and over; never empty.
    fn execute(&mut self, action: &Action<'_>, data: &[u8]) -> Result<Reply, LayerLost>;

    /// The same, and shows what is read to somebody who looks at it. Who has no data to show has none
    /// that are asked for: whoever reads files overrides it.
    fn carry_out_seen(
        &mut self,
        action: &Action<'_>,
        _inspector: &mut DataVerifier,
    ) -> Result<Reply, LayerLost> {
        self.execute(action, &[0])
    }

    /// Forgets handles left open by a pass of the load file, closing them, so that
    /// the next pass begins as the first one did. Not measured.
    fn end_pass(&mut self) -> Result<(), LayerLost>;
}
