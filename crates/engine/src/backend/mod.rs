//! What carries operations out: the engine's one door to the outside world.

pub(crate) mod adaptive_spin;
pub mod blocking;
pub mod connection;
pub mod null;
pub mod simulated;
pub mod sockets;
mod timestamping;
mod transmit;

use crate::error::{AreaError, ErrorCategory};
use crate::exhaustion::{EXHAUSTED_HELP, is_exhaustion};
use filestone_measure::measure::LossReasons;
use filestone_measure::measure::stamps::StampedCall;
use filestone_workload::completions::CompletionBatch;
use filestone_workload::language::WorkType;
use filestone_workload::operation::SlotId;
use filestone_workload::time::Timestamp;

/// Why a backend cannot go on at all.
#[derive(Debug, thiserror::Error)]
pub enum BackendError {
    /// The server closed the connection, or cannot be reached any more.
    #[error("{address} {what} after {replies} replies, with {in_flight} calls in flight")]
    Lost {
        /// Whose connection.
        address: String,
        /// What it did.
        what: String,
        /// How many replies had come.
        replies: u64,
        /// How many calls were unanswered.
        in_flight: u64,
    },
    /// All clients of a worker are lost, the first of them so.
    #[error("{what}")]
    Clients {
        /// What happened to it.
        what: String,
    },
    /// All clients were lost.
    #[error("every client has lost its connection")]
    AllLost,
    /// This host refused something.
    #[error("cannot {what}: {source}")]
    System {
        /// What was tried.
        what: &'static str,
        /// What the operating system said.
        source: std::io::Error,
    },
}

impl BackendError {
    /// Whether it is no loss of a server.
    pub fn is_of_this_host(&self) -> bool {
        self.category() == ErrorCategory::Environment
    }
}

impl AreaError for BackendError {
    fn category(&self) -> ErrorCategory {
        match self {
            BackendError::Lost { .. } | BackendError::Clients { .. } | BackendError::AllLost => {
                ErrorCategory::Target
            }
            BackendError::System { .. } => ErrorCategory::Environment,
        }
    }

    fn help(&self) -> Option<String> {
        match self {
            BackendError::System { source, .. } if is_exhaustion(source) => {
                Some(EXHAUSTED_HELP.into())
            }
            _ => None,
        }
    }
}

/// How long a wait may last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitLimit {
    /// Something begins or ends at this moment: by then the wait is over.
    pub due: Timestamp,
    /// Somebody looks after things from this moment on: the wait is over then, or some tens of
    /// milliseconds later if that is cheaper.
    pub attention: Timestamp,
}

impl WaitLimit {
    /// Until this moment sharp.
    pub fn sharp(due: Timestamp) -> Self {
        Self {
            due,
            attention: Timestamp::MAX,
        }
    }

    /// The earlier of both.
    pub fn first(self) -> Timestamp {
        self.due.min(self.attention)
    }
}

/// Carries operations out for all clients of one worker.
pub trait Backend {
    /// What its clients can be asked.
    type Language: WorkType;

    /// The present moment.
    fn now(&mut self) -> Timestamp;

    /// The moment of the last look at the clock: when [`Backend::wait`] returned,
    /// or a little before.
    fn recent(&self) -> Timestamp;

    /// Takes a piece of work for a slot that has none.
    fn submit(
        &mut self,
        ticket: SlotId,
        work: <Self::Language as WorkType>::WorkItem<'_>,
        now: Timestamp,
    );

    /// Submits for each of these slots of a client the work that it had last. Only asked of
    /// clients whose workloads are constant.
    fn repeat(&mut self, _client: u32, _slots: &[u32]) {}

    /// Sends what was submitted now, if that is worth it, and not when the worker
    /// waits next. What goes wrong is told then.
    fn send(&mut self) {}

    /// Sends what was submitted, then waits for completions, but not past what is due, and not long past what needs
    /// attention.
    ///
    /// May return early and with nothing. On an error `completed` still holds
    /// what was completed before it.
    fn wait(
        &mut self,
        until: WaitLimit,
        completed: &mut CompletionBatch,
    ) -> Result<(), BackendError>;

    /// Ends operations that were submitted and never sent, as skipped.
    fn abort(&mut self, _completed: &mut CompletionBatch) {}

    /// Processor time that this thread has used, in nanoseconds.
    fn processor_nanos(&self) -> u64 {
        0
    }

    /// How much of it was spent looking for what had not come, in nanoseconds.
    fn spun_nanos(&self) -> u64 {
        0
    }

    /// How long this thread was ready to run and had no processor, in nanoseconds.
    fn waited_nanos(&self) -> u64 {
        0
    }

    /// Replies that came for calls already answered or given up.
    fn late_replies(&self) -> u64 {
        0
    }

    /// A client that was lost, or has come back, since the last time.
    fn next_change(&mut self) -> Option<ConnectionEvent> {
        None
    }

    /// Gives up the clients that are lost, and from now on those that will be: nothing else is
    /// left to do.
    fn give_up_lost(&mut self) {}

    /// Since when it has no connection at all; `None` if it has one, or needs none.
    fn down_since(&self) -> Option<Timestamp> {
        None
    }

    /// Why a client was lost, of which there is one.
    fn loss(&self) -> BackendError {
        BackendError::AllLost
    }

    /// The calls that the kernel has stamped on their way.
    fn stamped(&self) -> Vec<StampedCall> {
        vec![]
    }

    /// What has happened to connections up to `end`.
    fn connection_counts(&self, _end: Timestamp) -> ConnectionCounts {
        ConnectionCounts::default()
    }
}

/// What has become of a client's connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionEvent {
    /// It could not be made again for as long as a lost one is tried, and is tried further.
    Lost(u32),
    /// It is not tried any more.
    GivenUp(u32),
    /// A reply has come over it again.
    Back(u32),
    /// The first has been made, in so many nanoseconds.
    Made(u32, u64),
}

/// What has happened to connections.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ConnectionCounts {
    /// How often one was made again.
    pub reconnections: u64,
    /// How long they were unusable, summed over all, in nanoseconds.
    pub unusable_nanos: u64,
    /// Clients that were lost for good.
    pub lost_clients: u64,
    /// Why connections were lost.
    pub losses: LossReasons,
}
