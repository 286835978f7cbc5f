//! One simulated client's side of one connection, per protocol, without I/O.
//!
//! The engine owns sockets and clocks. It hands a client what came in and when,
//! and sends what the client leaves in its [`Output`]. The order of calls:
//!
//! ```text
//!   connected ─▶ submit… ─▶ (engine sends Output) ─▶ transmitted
//!        ▲                                              │
//!        │   answer ◀─ handle_input / handle_discarded ◀┤
//!        └── disconnected ◀── handle_timeout ◀──────────┘
//! ```
//!
//! Completions go into a vector of the caller's, so a batch of replies costs no
//! queue of its own.

pub mod actor;
pub mod call_slot;
mod checksum;
pub mod echo;
pub mod handles;
pub mod inspection;
pub mod line_results;
pub mod nfs3;
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

/// An operation that this protocol has no words for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unsupported(pub String);

/// Why a connection cannot be used any longer: what came in is not the protocol.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProtocolError {
    /// It is not ONC RPC, or not what an RPC server sends.
    #[error(transparent)]
    Rpc(#[from] RpcStreamError),
    /// It is not what the protocol, or what was agreed upon, allows.
    #[error("{0}")]
    Refused(String),
    /// It is no message of the protocol, for this reason.
    #[error("sent what is no message of its protocol: {0}")]
    Message(&'static str),
    /// The server has ended the session, or the way to what it exports, with this status. The
    /// connection itself is as it was.
    #[error("ended the session or its connection to the share ({0})")]
    SessionEnded(String),
    /// No session could be set up over a connection, for this reason.
    #[error("did not set up a session: {0}")]
    NotSetUp(String),
}

/// Over which connections of its worker a client goes, whose slots are dealt to them in turn: the
/// first to the client's own, which is the one that tickets name, and the next to as many others as
/// there are, which stand side by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionSet {
    others: u32,
    first: u32,
}

impl ConnectionSet {
    /// The client's own connection carries all.
    pub const ITSELF: Self = Self {
        others: 0,
        first: 0,
    };

    /// So many others beside the client's own, from the worker's connection `first` on.
    pub const fn with_others(others: u32, first: u32) -> Self {
        Self { others, first }
    }

    /// Whether the client's own connection carries all.
    #[inline]
    pub const fn is_itself(self) -> bool {
        self.others == 0
    }

    /// Which connection of the worker carries what has this ticket.
    #[inline]
    pub const fn of(self, ticket: SlotId) -> u32 {
        match ticket.slot % (self.others + 1) {
            0 => ticket.client,
            other => self.first + other - 1,
        }
    }
}

/// One simulated client's side of one connection.
pub trait Client {
    /// What it can be asked.
    type Language: WorkType;

    /// Over which connections it goes. What a ticket names is submitted to the one that carries it.
    #[inline]
    fn carriers(&self) -> ConnectionSet {
        ConnectionSet::ITSELF
    }

    /// The client's own connection, of one that stands beside it, among those of the worker.
    fn beside(&self) -> Option<u32> {
        None
    }

    /// Takes a piece of work for a slot that is free, and puts its call into `out`
    /// if the connection is up; else it waits for [`Client::connected`].
    fn submit(
        &mut self,
        ticket: SlotId,
        work: <Self::Language as WorkType>::WorkItem<'_>,
        out: &mut Output,
    );

    /// Ends what was submitted and needs no call: nothing will ever come in for it. Asked
    /// after [`Client::submit`].
    #[inline]
    fn end_at_once(&mut self, _now: Timestamp, _completed: &mut CompletionBatch) {}

    /// Takes for each of these slots, all of them free, the work that it had
    /// last. The same work for all of them. Only asked of clients whose workloads are constant.
    fn repeat(&mut self, _slots: &[u32], _out: &mut Output) {}

    /// What was put into the output since the last time has been handed to the
    /// operating system at `now`.
    fn transmitted(&mut self, now: Timestamp);

    /// Bytes from the server: any part of a stream, or one whole datagram.
    fn handle_input(
        &mut self,
        bytes: &[u8],
        now: Timestamp,
        completed: &mut CompletionBatch,
    ) -> Result<(), ProtocolError>;

    /// Puts into `out` what is to be said of what came in: answers to messages that came
    /// unasked, and calls that waited for the server's word. Says whether there was any.
    fn answer(&mut self, _out: &mut Output) -> bool {
        false
    }

    /// Which other connection of the worker has something to send now: a client may have
    /// two. Asked after all that may let one go on.
    #[inline]
    fn hands_over(&mut self) -> Option<u32> {
        None
    }

    /// How many of the next bytes need not be looked at: file data of a READ
    /// that is not verified. The engine may throw them away unread.
    fn discardable(&self) -> usize {
        0
    }

    /// How many bytes to receive at a time, so that what can be thrown away is
    /// not copied first.
    fn receive_len(&self, room: usize) -> usize {
        room
    }

    /// `len` of the discardable bytes have been thrown away.
    fn handle_discarded(&mut self, _len: usize, _now: Timestamp, _completed: &mut CompletionBatch) {
    }

    /// Gives up, or sends again, what has waited too long.
    fn handle_timeout(&mut self, now: Timestamp, out: &mut Output, completed: &mut CompletionBatch);

    /// Why the connection cannot be used any longer, if that has shown with the time: asked after
    /// [`Client::handle_timeout`]. The engine closes the connection then, and makes another one.
    fn take_defect(&mut self) -> Option<ProtocolError> {
        None
    }

    /// When [`Client::handle_timeout`] should be called next.
    fn poll_timeout(&self) -> Timestamp;

    /// The connection is up: calls that waited for it go into `out`.
    fn connected(&mut self, now: Timestamp, out: &mut Output);

    /// Whether what is submitted can go out over a connection that is up: some have to come to an
    /// agreement with the server first.
    fn is_ready(&self) -> bool {
        true
    }

    /// The connection was lost: what was sent is lost with it.
    fn disconnected(&mut self, now: Timestamp, completed: &mut CompletionBatch);

    /// The run is over: what was never sent is given back as skipped.
    fn abort(&mut self, now: Timestamp, completed: &mut CompletionBatch);

    /// The connection will not be made again: what waits for it ends.
    fn mark_failed(&mut self, now: Timestamp, completed: &mut CompletionBatch) {
        self.abort(now, completed);
    }

    /// Calls sent and unanswered.
    fn in_flight(&self) -> u32;

    /// Replies received.
    fn replies(&self) -> u64;

    /// Replies whose call was already answered or given up, or never made.
    fn late_replies(&self) -> u64;
}
