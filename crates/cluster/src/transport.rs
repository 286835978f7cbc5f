//! Message transport of a job.

use std::sync::Arc;
use std::time::{Duration, Instant};

/// Error when a message cannot be sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TransportError {
    /// The rank does not exist or has ended.
    #[error("rank {0} is gone")]
    Gone(u32),
    /// The coordinator has continued without this rank.
    #[error("it was silent for too long, and the job has gone on without it")]
    GivenUp,
    /// The message was not taken in time.
    #[error("rank {rank} took no message for {seconds} s")]
    TimedOut {
        /// Receiving rank.
        rank: u32,
        /// Time waited, in seconds.
        seconds: u64,
    },
}

/// Transports messages between the ranks of a job. Messages from one rank to another stay in order.
pub trait Transport {
    /// Returns the rank of this process.
    fn rank(&self) -> u32;

    /// Returns the number of ranks.
    fn size(&self) -> u32;

    /// Sends a message. The coordinator does not wait for the receiver; a rank may sleep until the
    /// coordinator takes the message, but not forever.
    fn send(&mut self, to: u32, message: &Arc<[u8]>) -> Result<(), TransportError>;

    /// Returns the next received message and its sender. Does not wait.
    fn receive(&mut self) -> Option<(u32, Vec<u8>)>;

    /// Returns the local clock for all times of this rank: nanoseconds since an arbitrary point.
    fn now_ns(&self) -> u64;

    /// Returns the instant when that clock shows `at_ns`.
    fn instant_of(&self, at_ns: u64) -> Instant;

    /// Sets how long a rank waits for the coordinator to take a message before it aborts.
    fn set_patience(&mut self, _patience: Duration) {}

    /// Ends the process's part in the job; if a rank was lost, without waiting for the others.
    fn leave(self: Box<Self>, is_one_lost: bool);
}
