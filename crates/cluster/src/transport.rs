//! What a job needs of whatever carries its messages.

use std::sync::Arc;
use std::time::{Duration, Instant};

/// Why a message cannot be sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TransportError {
    /// There is no such rank, or it is gone.
    #[error("rank {0} is gone")]
    Gone(u32),
    /// The coordinator has gone on without this rank.
    #[error("it was silent for too long, and the job has gone on without it")]
    GivenUp,
    /// The message was not taken in time.
    #[error("rank {rank} took no message for {seconds} s")]
    TimedOut {
        /// Who did not.
        rank: u32,
        /// How long it was waited for.
        seconds: u64,
    },
}

/// Carries messages between the ranks of a job. Those from one rank to another stay in order.
pub trait Transport {
    /// Which rank this process is.
    fn rank(&self) -> u32;

    /// How many there are.
    fn size(&self) -> u32;

    /// Sends a message. The coordinator's go out without waiting for who gets them; a rank's may
    /// wait, at rest, until the coordinator takes them, but not for ever.
    fn send(&mut self, to: u32, message: &Arc<[u8]>) -> Result<(), TransportError>;

    /// The next message that has come, and whom from. Does not wait.
    fn receive(&mut self) -> Option<(u32, Vec<u8>)>;

    /// The local clock that this rank's moments are read from: nanoseconds since any moment.
    fn now_ns(&self) -> u64;

    /// When that clock shows `at_ns`.
    fn instant_of(&self, at_ns: u64) -> Instant;

    /// For how long a rank waits for the coordinator to take what it says, before it gives up.
    fn set_patience(&mut self, _patience: Duration) {}

    /// Ends the process's part in the job; if a rank was lost, without waiting for the others.
    fn leave(self: Box<Self>, is_one_lost: bool);
}
