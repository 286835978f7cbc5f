//! Simulated client side of one connection, per protocol, without I/O.
//!
//! The engine owns sockets and clocks. It passes received data with their time to a client, and
//! sends the contents of the client's [`Output`]. The order of calls:
//!
//! ```text
//!   connected ─▶ submit… ─▶ (engine sends Output) ─▶ transmitted
//!        ▲                                              │
//!        │   answer ◀─ handle_input / handle_discarded ◀┤
//!        └── disconnected ◀── handle_timeout ◀──────────┘
//! ```
//!
//! Completions are appended to the caller's batch, so a batch of replies needs no separate queue.

pub mod actor;
pub mod call_slot;
mod checksum;
pub mod echo;
pub mod handles;
pub mod inspection;
pub mod line_results;
pub mod nfs3;
mod open_files;
pub mod own_paths;
pub mod owned_action;
pub mod smb2;
mod verify;

pub use filestone_workload::output::{self, Output};
pub use nfs3::Nfs3Client;
pub use verify::Verify;

use crate::session::rpc::RpcStreamError;
use filestone_workload::completions::CompletionBatch;
use filestone_workload::language::WorkType;
use filestone_workload::operation::SlotId;
use filestone_workload::time::Timestamp;

/// An operation that this protocol does not have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unsupported(pub String);

/// Reason why a connection is unusable: the received data violates the protocol.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProtocolError {
    /// The data is not valid ONC RPC from a server.
    #[error(transparent)]
    Rpc(#[from] RpcStreamError),
    /// The data violates the protocol or the negotiated parameters.
    #[error("{0}")]
    Refused(String),
    /// The data is not a message of the protocol, for this reason.
    #[error("sent an invalid message: {0}")]
    Message(&'static str),
    /// The server has ended the session, or the access to its export or share, with this status.
    /// The connection itself still works.
    #[error("ended the session or its connection to the share ({0})")]
    SessionEnded(String),
    /// Setup of a session over a connection failed, for this reason.
    #[error("did not set up a session: {0}")]
    NotSetUp(String),
}

/// The connections of a client among those of its worker. Slots are assigned to them round robin,
/// starting with the client's own connection, which the slot ids name; the others have consecutive
/// numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionSet {
    others: u32,
    first: u32,
}

impl ConnectionSet {
    /// The client's own connection carries all slots.
    pub const ITSELF: Self = Self {
        others: 0,
        first: 0,
    };

    /// Creates a set of the client's own connection and `others` more, from the worker's connection
    /// `first` on.
    pub const fn with_others(others: u32, first: u32) -> Self {
        Self { others, first }
    }

    /// Returns whether the client's own connection carries all slots.
    #[inline]
    pub const fn is_itself(self) -> bool {
        self.others == 0
    }

    /// Returns the worker's connection that carries this slot id.
    #[inline]
    pub const fn of(self, ticket: SlotId) -> u32 {
        match ticket.slot % (self.others + 1) {
            0 => ticket.client,
            other => self.first + other - 1,
        }
    }
}

/// Simulated client side of one connection.
pub trait Client {
    /// Type of its requests.
    type Language: WorkType;

    /// Returns its connections. Work is submitted to the connection that carries the slot id.
    #[inline]
    fn carriers(&self) -> ConnectionSet {
        ConnectionSet::ITSELF
    }

    /// Returns the index of the client's own connection in the worker, if this is one of the
    /// others.
    fn beside(&self) -> Option<u32> {
        None
    }

    /// Takes a work item for a free slot, and puts its call into `out` if the connection is up;
    /// otherwise the call waits for [`Client::connected`].
    fn submit(
        &mut self,
        ticket: SlotId,
        work: <Self::Language as WorkType>::WorkItem<'_>,
        out: &mut Output,
    );

    /// Ends submitted work that needs no call and will never receive a reply. Called after
    /// [`Client::submit`].
    #[inline]
    fn end_at_once(&mut self, _now: Timestamp, _completed: &mut CompletionBatch) {}

    /// Repeats the last work item in each of these free slots; all items are equal. Only called for
    /// clients with constant workloads.
    fn repeat(&mut self, _slots: &[u32], _out: &mut Output) {}

    /// Records that the output since the last call has been handed to the operating system at
    /// `now`.
    fn transmitted(&mut self, now: Timestamp);

    /// Handles bytes from the server: any part of a stream, or one whole datagram.
    fn handle_input(
        &mut self,
        bytes: &[u8],
        now: Timestamp,
        completed: &mut CompletionBatch,
    ) -> Result<(), ProtocolError>;

    /// Puts responses to received data into `out`: answers to unsolicited messages, and calls that
    /// waited for data from the server. Returns whether there were any.
    fn answer(&mut self, _out: &mut Output) -> bool {
        false
    }

    /// Returns another connection of the worker that now has data to send: a client may have two.
    /// Called after each function that may unblock one.
    #[inline]
    fn hands_over(&mut self) -> Option<u32> {
        None
    }

    /// Returns the number of the next bytes that need no processing: file data of a READ that is
    /// not verified. The engine may discard them unread.
    fn discardable(&self) -> usize {
        0
    }

    /// Returns the number of bytes to receive at a time, so that discardable data is not copied
    /// first.
    fn receive_len(&self, room: usize) -> usize {
        room
    }

    /// Records that `len` of the discardable bytes have been discarded.
    fn handle_discarded(&mut self, _len: usize, _now: Timestamp, _completed: &mut CompletionBatch) {
    }

    /// Aborts or retransmits calls that have waited too long.
    fn handle_timeout(&mut self, now: Timestamp, out: &mut Output, completed: &mut CompletionBatch);

    /// Returns the reason why the connection is unusable, if a timeout revealed it: called after
    /// [`Client::handle_timeout`]. The engine then closes the connection and opens another one.
    fn take_defect(&mut self) -> Option<ProtocolError> {
        None
    }

    /// Returns the time of the next call of [`Client::handle_timeout`].
    fn poll_timeout(&self) -> Timestamp;

    /// Handles a new connection: calls that waited for it are put into `out`.
    fn connected(&mut self, now: Timestamp, out: &mut Output);

    /// Returns whether submitted work can be sent over a connection that is up: some protocols must
    /// negotiate with the server first.
    fn is_ready(&self) -> bool {
        true
    }

    /// Handles the loss of the connection, including all calls sent over it.
    fn disconnected(&mut self, now: Timestamp, completed: &mut CompletionBatch);

    /// Handles the end of the run: unsent calls are returned as skipped.
    fn abort(&mut self, now: Timestamp, completed: &mut CompletionBatch);

    /// Handles the final loss of the connection: calls that wait for it end.
    fn mark_failed(&mut self, now: Timestamp, completed: &mut CompletionBatch) {
        self.abort(now, completed);
    }

    /// Aborts the current work and logs off from the server; returns whether one completion reports
    /// the end.
    fn log_off(&mut self, _now: Timestamp, _out: &mut Output) -> bool {
        false
    }

    /// Returns the number of calls sent and unanswered.
    fn in_flight(&self) -> u32;

    /// Returns the number of replies received.
    fn replies(&self) -> u64;

    /// Returns the number of replies whose call was already answered or aborted, or never made.
    fn late_replies(&self) -> u64;
}
