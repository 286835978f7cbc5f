//! Backends execute operations: the engine's only interface to the outside world.

pub(crate) mod adaptive_spin;
pub mod blocking;
pub mod connection;
pub mod null;
pub mod sockets;
mod timestamping;
mod transmit;

use filestone_host::error::{AreaError, ErrorCategory};
use filestone_host::exhaustion::{EXHAUSTED_HELP, is_exhaustion};
use filestone_measure::measure::LossReasons;
use filestone_measure::measure::stamps::StampedCall;
use filestone_workload::completions::CompletionBatch;
use filestone_workload::language::WorkType;
use filestone_workload::operation::SlotId;
use filestone_workload::time::Timestamp;

/// Error after which a backend cannot continue.
#[derive(Debug, thiserror::Error)]
pub enum BackendError {
    /// The server closed the connection, or cannot be reached any more.
    #[error("{address} {what} after {replies} replies, with {in_flight} calls in flight")]
    Lost {
        /// Address of the connection.
        address: String,
        /// The event, as a predicate such as "closed the connection".
        what: String,
        /// Number of replies received.
        replies: u64,
        /// Number of outstanding calls.
        in_flight: u64,
    },
    /// All clients of a worker are lost; reports the first of them.
    #[error("{what}")]
    Clients {
        /// The event.
        what: String,
    },
    /// All clients were lost.
    #[error("every client has lost its connection")]
    AllLost,
    /// This host refused something.
    #[error("cannot {what}: {source}")]
    System {
        /// The attempted action.
        what: &'static str,
        /// Error of the operating system.
        source: std::io::Error,
    },
}

impl BackendError {
    /// Returns whether this host, not the loss of a server, is the cause.
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

/// Time limits of a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitLimit {
    /// An operation starts or ends at this moment: the wait must be over by then.
    pub due: Timestamp,
    /// The worker checks its flags at this moment: the wait ends then, or some tens of milliseconds
    /// later if that is cheaper.
    pub attention: Timestamp,
}

impl WaitLimit {
    /// Returns the limit of a wait until exactly `due`.
    pub fn sharp(due: Timestamp) -> Self {
        Self {
            due,
            attention: Timestamp::MAX,
        }
    }

    /// Returns the earlier of both.
    pub fn first(self) -> Timestamp {
        self.due.min(self.attention)
    }
}

/// Executes operations for all clients of one worker.
pub trait Backend {
    /// Operations of its clients.
    type Language: WorkType;

    /// Returns the current time.
    fn now(&mut self) -> Timestamp;

    /// Returns the last reading of the clock: from when [`Backend::wait`] returned, or a little
    /// before.
    fn recent(&self) -> Timestamp;

    /// Accepts a piece of work for a free slot.
    fn submit(
        &mut self,
        ticket: SlotId,
        work: <Self::Language as WorkType>::WorkItem<'_>,
        now: Timestamp,
    );

    /// Submits for each of these slots of a client its previous work again. Only called for clients
    /// with constant workloads.
    fn repeat(&mut self, _client: u32, _slots: &[u32]) {}

    /// Sends the submitted work now, if that is worthwhile, instead of at the next wait. Errors are
    /// reported at the next wait.
    fn send(&mut self) {}

    /// Sends the submitted work, then waits for completions, but not past `until.due`, and not long
    /// past `until.attention`.
    ///
    /// May return early and without completions. After an error, `completed` still contains the
    /// completions before it.
    fn wait(
        &mut self,
        until: WaitLimit,
        completed: &mut CompletionBatch,
    ) -> Result<(), BackendError>;

    /// Ends operations that were submitted and never sent, as skipped.
    fn abort(&mut self, _completed: &mut CompletionBatch) {}

    /// Returns the CPU time of this thread, in nanoseconds.
    fn processor_nanos(&self) -> u64 {
        0
    }

    /// Returns the CPU time spent spinning without success, in nanoseconds.
    fn spun_nanos(&self) -> u64 {
        0
    }

    /// Returns how long this thread was ready to run and had no processor, in nanoseconds.
    fn waited_nanos(&self) -> u64 {
        0
    }

    /// Returns the number of replies to calls already answered or given up.
    fn late_replies(&self) -> u64 {
        0
    }

    /// Returns the next client that was lost or came back since the last call.
    fn next_change(&mut self) -> Option<ConnectionEvent> {
        None
    }

    /// Gives up lost clients, now and from now on: no other work is left.
    fn give_up_lost(&mut self) {}

    /// Returns since when the backend has no connection at all; `None` if it has one or needs none.
    fn down_since(&self) -> Option<Timestamp> {
        None
    }

    /// Returns the reason of a client's loss. Called only if a client is lost.
    fn loss(&self) -> BackendError {
        BackendError::AllLost
    }

    /// Returns the calls with kernel timestamps.
    fn stamped(&self) -> Vec<StampedCall> {
        vec![]
    }

    /// Returns the counters of connections up to `end`.
    fn connection_counts(&self, _end: Timestamp) -> ConnectionCounts {
        ConnectionCounts::default()
    }
}

/// Change of a client's connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionEvent {
    /// Reconnecting failed for the whole retry time; attempts continue.
    Lost(u32),
    /// The client is given up.
    GivenUp(u32),
    /// A reply has arrived over the connection again.
    Back(u32),
    /// The first connection was established, in this many nanoseconds.
    Made(u32, u64),
}

/// Counters of connections.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ConnectionCounts {
    /// Number of reconnections.
    pub reconnections: u64,
    /// Time without a usable connection, summed over all, in nanoseconds.
    pub unusable_nanos: u64,
    /// Clients that were lost for good.
    pub lost_clients: u64,
    /// Reasons of disconnects.
    pub losses: LossReasons,
}
