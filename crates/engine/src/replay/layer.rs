//! Interface between a load and the layer that executes it.
//!
//! A layer gives one client access to the local file system, to a peer over bare TCP, or to an NFS
//! server. It executes one action at a time, on the client's own thread: dbench's clients are
//! sequential, and a thread that blocks in the system call has no delay between the call and its
//! end. Layers measure nothing and decide nothing; they return the result and its costs.

use filestone_workload::load::{ActionStatus, LoadAction};
use filestone_workload::payload::DataVerifier;

pub use filestone_host::control::Cancellation;

/// Result of one action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LayerReply {
    /// Status returned by the layer.
    pub status: ActionStatus,
    /// Exchanges with a server; system calls are not counted.
    pub calls: u32,
    /// Bytes sent to a server, framing included.
    pub bytes_sent: u32,
    /// Bytes received from a server, framing included.
    pub bytes_received: u32,
    /// Bytes of file data transferred, whether or not they are the requested data.
    pub data_bytes: u64,
}

impl LayerReply {
    /// Returns a reply without exchange and data.
    pub const fn of(status: ActionStatus) -> Self {
        Self {
            status,
            calls: 0,
            bytes_sent: 0,
            bytes_received: 0,
            data_bytes: 0,
        }
    }
}

/// Error after which a client cannot continue.
#[derive(Debug, thiserror::Error)]
pub enum LayerLost {
    /// The connection is lost or the directory vanished: a sentence for the report that names the
    /// event and the object. The client is lost, the run continues.
    #[error("{0}")]
    Lost(String),
    /// An action was aborted between two of its parts by a [`Cancellation`]: the layer is intact.
    #[error("stopped")]
    Stopped,
    /// This host has run out of a resource that the action needs, which ends the run.
    #[error("{0}")]
    Exhausted(std::io::Error),
}

/// Access of one client to the target.
pub trait Layer {
    /// Sets the cancellation that aborts long actions with [`LayerLost::Stopped`]. The removal of
    /// trees is not aborted: nothing must be left. A layer with short actions ignores it.
    fn cancel_with(&mut self, _cancellation: &Cancellation) {}

    /// Executes one action. Writes take their bytes from `data`, repeatedly; `data` is not empty.
    fn execute(&mut self, action: &LoadAction<'_>, data: &[u8]) -> Result<LayerReply, LayerLost>;

    /// Executes one action and passes the data read to the verifier. Layers that read files
    /// override it; others have no data to check.
    fn execute_verified(
        &mut self,
        action: &LoadAction<'_>,
        _inspector: &mut DataVerifier,
    ) -> Result<LayerReply, LayerLost> {
        self.execute(action, &[0])
    }

    /// Closes the handles that an iteration of the load file left open, so that the next iteration
    /// starts in the same state as the first. This is not part of the measurement.
    fn end_pass(&mut self) -> Result<(), LayerLost>;
}
