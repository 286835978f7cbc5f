//! An NFSv3 client over TCP or UDP, without I/O (RFC 1813 over RFC 5531).
//!
//! This module encodes calls and checks replies; [`RpcSession`] matches replies to calls, and
//! aborts or retransmits calls.

mod calls;
pub mod load;
pub mod procedures;
pub mod read_counts;
mod receive;
mod replies;
pub mod sequence;

pub use calls::Templates;

use crate::client::handles::ServerHandles;
use crate::client::{Client, Output, ProtocolError, Verify};
use crate::session::rpc::{Retransmission, RpcCall, RpcExchange, RpcOptions, RpcSession};
use crate::workload::FileTable;
use filestone_plan::plan::{ReadData, TransportKind};
use filestone_wire::nfs3::Handle;
use filestone_workload::completions::CompletionBatch;
use filestone_workload::language::Operations;
use filestone_workload::operation::{
    Completion, Failure, OpKind, Operation, Outcome, ReplyFault, ReplyInfo, SlotId,
};
use filestone_workload::time::Timestamp;
use replies::ReplySummary;
use std::sync::Arc;

/// State shared by all clients of a run.
#[derive(Debug, Clone)]
pub struct NfsSharedState {
    /// Calls, encoded up to their arguments.
    pub templates: Arc<Templates>,
    /// Files and names.
    pub table: Arc<FileTable>,
    /// The server's handles of those files.
    pub handles: Arc<ServerHandles<Handle>>,
    /// Two periods of the pattern that file data consist of.
    pub pattern: Arc<[u8]>,
    /// Time limit for a reply, in nanoseconds.
    pub timeout_nanos: u64,
    /// Stream or datagrams.
    pub transport: TransportKind,
}

/// Handling of the data that READ returns.
#[derive(Debug, Default)]
pub enum ReadHandling {
    /// The client does not read.
    #[default]
    Nothing,
    /// The engine discards data that need no processing, over TCP.
    Discard,
    /// The client receives data and ignores their content.
    Deliver,
    /// The client verifies data.
    Verify(Box<Verify>),
}

/// Simulated NFSv3 client.
#[derive(Debug)]
pub struct Nfs3Client {
    /// The calls; the tag of a call is its kind.
    session: RpcSession<OpKind>,
    asked: Asked,
    /// Whether READ data may be discarded unread.
    discards: bool,
    /// Maximum number of bytes to receive at a time.
    receive_max: usize,
}

/// State of requests, and checks of their replies: separate from the session, which lends replies.
#[derive(Debug)]
struct Asked {
    shared: NfsSharedState,
    /// Current or last operation of each slot.
    operations: Box<[Operation]>,
    /// Index of this client in its worker, as in its slot ids.
    index: u32,
    /// Checked head of the READ reply whose data are arriving.
    streaming: Option<ReplySummary>,
    reading: ReadHandling,
}

impl Nfs3Client {
    /// Creates a client with `slots` slots that is not connected yet.
    ///
    /// Xids start near `first_xid`, which should differ for each connection.
    pub fn new(shared: NfsSharedState, slots: u32, reading: ReadHandling, first_xid: u32) -> Self {
        let slots = slots.max(1);
        let is_stream = shared.transport == TransportKind::Tcp;
        let (discards, streamed_min, receive_max) = match &reading {
            _ if !is_stream => (false, None, usize::MAX),
            ReadHandling::Nothing => (false, None, usize::MAX),
            ReadHandling::Discard => (true, Some(ReadData::DISCARD_MIN_BYTES as usize), usize::MAX),
            ReadHandling::Deliver | ReadHandling::Verify(_) => {
                (false, Some(receive::READ_HEAD_LEN), receive::DATA_AT_A_TIME)
            }
        };
        let options = RpcOptions {
            transport: shared.transport,
            slots,
            first_xid,
            timeout_nanos: shared.timeout_nanos,
            retransmission: Retransmission::LINUX,
            record_max: receive::RECORD_MAX,
            streamed_min,
            head_len: receive::READ_HEAD_LEN,
        };
        Self {
            session: RpcSession::new(&options, OpKind::Null),
            asked: Asked {
                shared,
                operations: vec![Operation::Null; slots as usize].into_boxed_slice(),
                index: 0,
                streaming: None,
                reading,
            },
            discards,
            receive_max,
        }
    }

    /// Submits the last operation of a slot again.
    fn repeat_one(&mut self, slot: u32, out: &mut Output) {
        if let Some(operation) = self.asked.operations.get(slot as usize).copied() {
            let client = self.asked.index;
            self.submit(SlotId { client, slot }, operation, out);
        }
    }
}

impl Client for Nfs3Client {
    type Language = Operations;

    #[inline]
    fn submit(&mut self, ticket: SlotId, operation: Operation, out: &mut Output) {
        let Some(place) = self.asked.operations.get_mut(ticket.slot as usize) else {
            return;
        };
        *place = operation;
        self.asked.index = ticket.client;
        if let Some(xid) = self.session.start(ticket.slot, operation.kind()) {
            let bytes = calls::encode(&self.asked.shared, &operation, xid, out);
            self.session.enqueued(ticket.slot, bytes);
        }
    }

    #[inline]
    fn repeat(&mut self, slots: &[u32], out: &mut Output) {
        // The first call is encoded, the others are copies of it with other xids. Spliced data,
        // datagrams and recovery use the general path.
        let Some((first, others)) = slots.split_first() else {
            return;
        };
        let (start, splices) = (out.bytes.len(), out.splices.len());
        self.repeat_one(*first, out);
        let len = out.bytes.len() - start;
        let is_plain =
            out.splices.len() == splices && self.asked.shared.transport == TransportKind::Tcp;
        if !is_plain || len == 0 || self.session.has_recoveries() {
            others.iter().for_each(|slot| self.repeat_one(*slot, out));
            return;
        }
        let copies = calls::copy(out, start, len, others.len());
        for (slot, copy) in others.iter().zip(copies) {
            if let Some(xid) = self.session.restart(*slot) {
                calls::set_xid(copy, xid);
            }
        }
        self.session.enqueued_again(others);
    }

    #[inline]
    fn transmitted(&mut self, now: Timestamp) {
        self.session.transmitted(now);
    }

    fn handle_input(
        &mut self,
        bytes: &[u8],
        now: Timestamp,
        completed: &mut CompletionBatch,
    ) -> Result<(), ProtocolError> {
        match self.asked.shared.transport {
            TransportKind::Tcp => self.receive_stream(bytes, now, completed)?,
            TransportKind::Udp => self.receive_datagram(bytes, now, completed),
        }
        Ok(())
    }

    #[inline]
    fn discardable(&self) -> usize {
        if self.discards {
            self.session.streamed_len()
        } else {
            0
        }
    }

    #[inline]
    fn receive_len(&self, room: usize) -> usize {
        if self.discards && self.session.is_at_boundary() {
            receive::READ_HEAD_LEN.min(room)
        } else {
            room.min(self.receive_max)
        }
    }

    #[inline]
    fn handle_discarded(&mut self, len: usize, now: Timestamp, completed: &mut CompletionBatch) {
        if let Some(end) = self.session.passed_over(len) {
            self.asked.end_data(end.exchange, now, completed);
        }
    }

    fn handle_timeout(
        &mut self,
        now: Timestamp,
        out: &mut Output,
        completed: &mut CompletionBatch,
    ) {
        let give_up = self.asked.end_unanswered(Outcome::TimedOut, now, completed);
        let send = self.asked.encoder(out);
        self.session.handle_timeout(now, give_up, send);
    }

    fn poll_timeout(&self) -> Timestamp {
        self.session.poll_timeout()
    }

    fn connected(&mut self, now: Timestamp, out: &mut Output) {
        let send = self.asked.encoder(out);
        self.session.connected(now, send);
    }

    fn disconnected(&mut self, now: Timestamp, completed: &mut CompletionBatch) {
        self.asked.streaming = None;
        let give_up = self
            .asked
            .end_unanswered(Outcome::Disconnected, now, completed);
        self.session.disconnected(give_up);
    }

    fn abort(&mut self, now: Timestamp, completed: &mut CompletionBatch) {
        let give_up = self.asked.end_unanswered(Outcome::Skipped, now, completed);
        self.session.abort(give_up);
    }

    fn in_flight(&self) -> u32 {
        self.session.in_flight()
    }

    fn replies(&self) -> u64 {
        self.session.replies()
    }

    fn late_replies(&self) -> u64 {
        self.session.late_replies()
    }
}

impl Asked {
    /// Returns an encoder that appends the call of a slot's operation and returns its length.
    fn encoder(&self, out: &mut Output) -> impl FnMut(RpcCall<OpKind>) -> u32 {
        move |call| {
            let operation = self.operations.get(call.slot as usize);
            operation.map_or(0, |operation| {
                calls::encode(&self.shared, operation, call.xid, out)
            })
        }
    }

    /// Returns a function that ends operations without a reply.
    fn end_unanswered(
        &self,
        outcome: Outcome,
        now: Timestamp,
        completed: &mut CompletionBatch,
    ) -> impl FnMut(RpcExchange<OpKind>) {
        let checked = ReplySummary {
            outcome,
            answer: ReplyInfo::Plain,
            data_bytes: 0,
        };
        move |exchange| self.complete(&exchange, checked, now, completed)
    }

    /// Ends the operation of a completed call.
    #[inline(always)]
    fn complete(
        &self,
        exchange: &RpcExchange<OpKind>,
        checked: ReplySummary,
        now: Timestamp,
        completed: &mut CompletionBatch,
    ) {
        completed.push(Completion {
            ticket: self.ticket(exchange),
            outcome: checked.outcome,
            answer: checked.answer,
            usable: exchange.usable,
            sent: exchange.sent,
            done: now,
            calls: 1,
            retransmissions: exchange.retransmissions,
            bytes_sent: exchange.bytes_sent,
            bytes_received: exchange.bytes_received,
            data_bytes: checked.data_bytes,
        });
    }

    #[inline(always)]
    fn ticket(&self, exchange: &RpcExchange<OpKind>) -> SlotId {
        SlotId {
            client: self.index,
            slot: exchange.slot,
        }
    }

    /// Ends an operation with the completion of the one before, if both are plain successes that
    /// differ only in the slot.
    #[inline(always)]
    fn complete_alike(
        &self,
        exchange: &RpcExchange<OpKind>,
        now: Timestamp,
        completed: &mut CompletionBatch,
    ) -> bool {
        exchange.usable == Timestamp::ZERO
            && exchange.retransmissions == 0
            && completed.extend_plain_run(
                self.ticket(exchange),
                exchange.sent,
                now,
                exchange.bytes_sent,
                exchange.bytes_received,
            )
    }
}

/// A malformed reply also ends its operation.
fn bad_reply(fault: ReplyFault) -> ReplySummary {
    ReplySummary {
        outcome: Outcome::Failed(Failure::BadReply(fault)),
        answer: ReplyInfo::Plain,
        data_bytes: 0,
    }
}
