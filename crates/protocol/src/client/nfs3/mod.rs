//! An NFSv3 client over TCP or UDP, without I/O (RFC 1813 over RFC 5531).
//!
//! What an operation's call says and what its reply may say is here; which reply answers
//! which call, and when a call is given up or sent again, is [`RpcSession`]'s.

mod calls;
pub mod load;
pub mod procedures;
pub mod read_counts;
mod receive;
mod replies;
pub mod sequence;

pub use calls::Templates;

use crate::client::handles::Handles;
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

/// What all clients of a run share.
#[derive(Debug, Clone)]
pub struct Shared {
    /// Calls, encoded up to their arguments.
    pub templates: Arc<Templates>,
    /// Files and names.
    pub table: Arc<FileTable>,
    /// What the server knows those files by.
    pub handles: Arc<Handles<Handle>>,
    /// Two periods of the pattern that file data consist of.
    pub pattern: Arc<[u8]>,
    /// How long a call may stay unanswered.
    pub timeout_nanos: u64,
    /// Stream or datagrams.
    pub transport: TransportKind,
}

/// What a client does with the data of its READs.
#[derive(Debug, Default)]
pub enum Reading {
    /// It does not read.
    #[default]
    Nothing,
    /// It lets the engine throw away what need not be looked at, over TCP.
    Discard,
    /// It takes them and does not look at them.
    Deliver,
    /// It looks at them.
    Verify(Box<Verify>),
}

/// One simulated NFSv3 client.
#[derive(Debug)]
pub struct Nfs3Client {
    /// The calls; of each, its slot keeps the kind.
    session: RpcSession<OpKind>,
    asked: Asked,
    /// Whether READ data may be thrown away unread.
    discards: bool,
    /// How much to receive at a time.
    receive_max: usize,
}

/// What was asked, and what a reply to it may say: apart from the session, which lends
/// replies.
#[derive(Debug)]
struct Asked {
    shared: Shared,
    /// What each slot asks, or asked last.
    operations: Box<[Operation]>,
    /// Which client of its worker this is, as its tickets say.
    index: u32,
    /// What the head of a READ reply said whose data are coming in.
    streaming: Option<ReplySummary>,
    reading: Reading,
}

impl Nfs3Client {
    /// A client with `slots` slots, not connected yet.
    ///
    /// Its calls are numbered from about `first_xid` on, which should be another one
    /// for each connection.
    pub fn new(shared: Shared, slots: u32, reading: Reading, first_xid: u32) -> Self {
        let slots = slots.max(1);
        let is_stream = shared.transport == TransportKind::Tcp;
        let (discards, streamed_min, receive_max) = match &reading {
            _ if !is_stream => (false, None, usize::MAX),
            Reading::Nothing => (false, None, usize::MAX),
            Reading::Discard => (true, Some(ReadData::DISCARD_MIN_BYTES as usize), usize::MAX),
            Reading::Deliver | Reading::Verify(_) => {
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

    /// Submits the operation that a slot had last.
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
        // The first call is encoded, the others are copies of it with their own
        // xid. Data that lie elsewhere, datagrams and recovery go the long way.
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
    /// Puts the call of a slot's operation out, and says how long it is.
    fn encoder(&self, out: &mut Output) -> impl FnMut(RpcCall<OpKind>) -> u32 {
        move |call| {
            let operation = self.operations.get(call.slot as usize);
            operation.map_or(0, |operation| {
                calls::encode(&self.shared, operation, call.xid, out)
            })
        }
    }

    /// Ends operations for want of a reply.
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

    /// Ends the operation of a call that is over.
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

    /// Ends an operation as the one before it ended, if both are plain successes that
    /// differ in nothing but the slot.
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

/// A reply that could not be understood still ends its operation.
fn bad_reply(fault: ReplyFault) -> ReplySummary {
    ReplySummary {
        outcome: Outcome::Failed(Failure::BadReply(fault)),
        answer: ReplyInfo::Plain,
        data_bytes: 0,
    }
}
