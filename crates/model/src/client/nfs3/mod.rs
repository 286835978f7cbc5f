//! An NFSv3 client over TCP or UDP, without I/O (RFC 1813 over RFC 5531).
//!
//! Each slot carries one call. The xid holds the slot's index in its low bits
//! and the slot's generation above it, so a reply finds its call by array index,
//! and a late or repeated reply has a stale generation: it is counted, never
//! mistaken for another's.
//!
//! Over TCP a call is sent once; over UDP it is sent again when no reply comes,
//! with exponential back-off and the same xid, as RFC 1813 section 4.8 expects.

pub mod amounts;
mod calls;
mod checksum;
pub mod failure;
mod receive;
mod replies;

mod verify;

pub use calls::{Credentials, Templates};
pub use verify::Verify;

use crate::client::{Client, Output, ProtocolError, Unsupported};
use crate::completions::Completions;
use crate::operation::{Answer, Completion, Failure, OpKind, Operation, Outcome, Ticket};
use crate::plan::{ReadData, TransportKind};
use crate::time::Moment;
use crate::workload::FileTable;
use filestone_wire::record::Assembler;
use replies::Checked;
use std::sync::Arc;

/// When a datagram is sent again for the first time: the Linux client's default
/// for UDP (`timeo=11`, nfs(5)).
const RETRANSMIT_FIRST_NANOS: u64 = 1_100_000_000;
/// The longest pause between two transmissions.
const RETRANSMIT_MAX_NANOS: u64 = 30_000_000_000;

/// What all clients of a run share.
#[derive(Debug, Clone)]
pub struct Shared {
    /// Calls, encoded up to their arguments.
    pub templates: Arc<Templates>,
    /// Files and names.
    pub table: Arc<FileTable>,
    /// Two periods of the pattern that file data consist of.
    pub pattern: Arc<[u8]>,
    /// How long a call may stay unanswered.
    pub timeout_nanos: u64,
    /// Stream or datagrams.
    pub transport: TransportKind,
}

/// What a slot is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing.
    Idle,
    /// Has an operation and no connection.
    Waiting,
    /// Its call is in the output, with the operating system, or beyond.
    Sent,
}

/// One call in flight: what every reply touches, and no more, because a batch of
/// them should fit into the processor's first cache beside what the kernel needs.
#[derive(Debug, Clone, Copy)]
struct Slot {
    /// Of the call in the slot, or of its last one.
    xid: u32,
    bytes_sent: u32,
    state: State,
    kind: OpKind,
}

/// What only a call in trouble touches.
#[derive(Debug, Clone, Copy, Default)]
struct Trouble {
    /// When the connection could take it, if it was down.
    usable: Moment,
    /// When it is sent again, over UDP.
    deadline: Moment,
    /// Pause before the transmission after that.
    pause_nanos: u64,
    retransmissions: u32,
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

/// A READ reply whose head has been checked and whose data are coming in.
#[derive(Debug, Clone, Copy)]
struct Streaming {
    xid: u32,
    remaining: usize,
    checked: Checked,
    bytes_received: u32,
}

/// One simulated NFSv3 client.
#[derive(Debug)]
pub struct Nfs3Client {
    shared: Shared,
    slots: Box<[Slot]>,
    /// What each slot asks, or asked last.
    operations: Box<[Operation]>,
    /// When each slot's call was handed to the operating system: apart from the
    /// slots, because a batch of calls is stamped at once.
    sent: Box<[Moment]>,
    troubles: Box<[Trouble]>,
    /// Whether any call since the start has been in trouble.
    has_troubles: bool,
    /// Which client of its worker this is, as its tickets say.
    index: u32,
    /// Low bits of the xid, which hold the slot.
    slot_mask: u32,
    /// Slots whose calls are in the output and not stamped yet, in order.
    queued: Vec<u32>,
    is_connected: bool,
    assembler: Assembler,
    streaming: Option<Streaming>,
    reading: Reading,
    /// Whether READ data may be thrown away unread.
    discards: bool,
    /// The shortest record whose data are not waited for to be whole.
    streamed_min: usize,
    /// How much to receive at a time.
    receive_max: usize,
    /// No deadline is earlier than this.
    next_deadline: Moment,
    in_flight: u32,
    replies: u64,
    late_replies: u64,
}

impl Nfs3Client {
    /// A client with `slots` slots, not connected yet.
    ///
    /// Its calls are numbered from about `first_xid` on, which should be another one
    /// for each connection.
    pub fn new(shared: Shared, slots: u32, reading: Reading, first_xid: u32) -> Self {
        let slots = slots.max(1);
        let slot_bits = u32::BITS - (slots - 1).leading_zeros();
        let slot_mask = ((1u64 << slot_bits) - 1) as u32;
        let idle = |slot| Slot {
            xid: first_xid & !slot_mask | slot,
            bytes_sent: 0,
            state: State::Idle,
            kind: OpKind::Null,
        };
        let is_stream = shared.transport == TransportKind::Tcp;
        let (discards, streamed_min, receive_max) = match &reading {
            _ if !is_stream => (false, usize::MAX, usize::MAX),
            Reading::Nothing => (false, usize::MAX, usize::MAX),
            Reading::Discard => (true, ReadData::DISCARD_MIN_BYTES as usize, usize::MAX),
            Reading::Deliver | Reading::Verify(_) => {
                (false, receive::READ_HEAD_LEN, receive::DATA_AT_A_TIME)
            }
        };
        Self {
            shared,
            slots: (0..slots).map(idle).collect(),
            operations: vec![Operation::Null; slots as usize].into_boxed_slice(),
            sent: vec![Moment::ZERO; slots as usize].into_boxed_slice(),
            troubles: vec![Trouble::default(); slots as usize].into_boxed_slice(),
            has_troubles: false,
            index: 0,
            slot_mask,
            queued: Vec::with_capacity(slots as usize),
            is_connected: false,
            assembler: Assembler::new(receive::RECORD_MAX),
            streaming: None,
            reading,
            discards,
            streamed_min,
            receive_max,
            next_deadline: Moment::NEVER,
            in_flight: 0,
            replies: 0,
            late_replies: 0,
        }
    }

    /// The slot that is waiting for a reply with this xid.
    #[inline]
    fn slot_of(&self, xid: u32) -> Option<usize> {
        let index = (xid & self.slot_mask) as usize;
        let slot = self.slots.get(index)?;
        (slot.xid == xid && slot.state == State::Sent).then_some(index)
    }

    /// Puts the call of a slot into the output.
    #[inline]
    fn enqueue(&mut self, index: usize, out: &mut Output) {
        let slot = &mut self.slots[index];
        slot.bytes_sent = calls::encode(&self.shared, &self.operations[index], slot.xid, out);
        slot.state = State::Sent;
        self.queued.push(index as u32);
    }

    /// Ends a slot's operation.
    #[inline(always)]
    fn complete(
        &mut self,
        index: usize,
        checked: Checked,
        bytes_received: u32,
        now: Moment,
        completed: &mut Completions,
    ) {
        let slot = &mut self.slots[index];
        if slot.state == State::Sent {
            self.in_flight = self.in_flight.saturating_sub(1);
        }
        slot.state = State::Idle;
        let (mut usable, mut retransmissions) = (Moment::ZERO, 0);
        if self.has_troubles {
            let trouble = &self.troubles[index];
            (usable, retransmissions) = (trouble.usable, trouble.retransmissions);
        }
        completed.push(Completion {
            ticket: Ticket {
                client: self.index,
                slot: index as u32,
            },
            outcome: checked.outcome,
            answer: checked.answer,
            usable,
            sent: self.sent[index],
            done: now,
            calls: 1,
            retransmissions,
            bytes_sent: slot.bytes_sent,
            bytes_received,
            data_bytes: checked.data_bytes,
        });
    }

    /// Ends a slot's operation as the one before it ended, if both are plain
    /// successes that differ in nothing but the slot.
    #[inline(always)]
    fn complete_alike(
        &mut self,
        index: usize,
        bytes_received: u32,
        now: Moment,
        completed: &mut Completions,
    ) -> bool {
        let slot = &mut self.slots[index];
        let is_alike = !self.has_troubles
            && completed.extend_plain_run(
                Ticket {
                    client: self.index,
                    slot: index as u32,
                },
                self.sent[index],
                now,
                slot.bytes_sent,
                bytes_received,
            );
        if is_alike {
            self.in_flight = self.in_flight.saturating_sub(1);
            slot.state = State::Idle;
        }
        is_alike
    }

    /// Ends a slot's operation for want of a reply.
    fn give_up(
        &mut self,
        index: usize,
        outcome: Outcome,
        now: Moment,
        completed: &mut Completions,
    ) {
        let checked = Checked {
            outcome,
            answer: Answer::Plain,
            data_bytes: 0,
        };
        self.complete(index, checked, 0, now, completed);
    }

    /// Submits the operation that a slot had last.
    fn repeat_one(&mut self, slot: u32, out: &mut Output) {
        if let Some(operation) = self.operations.get(slot as usize).copied() {
            self.submit(
                Ticket {
                    client: self.index,
                    slot,
                },
                operation,
                out,
            );
        }
    }

    /// Takes calls back that were never handed over: they wait for a connection.
    fn take_back_queued(&mut self) {
        for index in self.queued.drain(..) {
            let slot = &mut self.slots[index as usize];
            slot.state = State::Waiting;
            slot.bytes_sent = 0;
        }
    }
}

impl Client for Nfs3Client {
    fn supports(&self, operation: &Operation) -> Result<(), Unsupported> {
        match operation.kind() {
            OpKind::Read | OpKind::Write if self.shared.transport == TransportKind::Udp => {
                let (Operation::Read { len, .. } | Operation::Write { len, .. }) = *operation
                else {
                    return Ok(());
                };
                if len > calls::UDP_DATA_MAX {
                    return Err(Unsupported(format!(
                        "a datagram holds at most {} bytes of file data, not {len}",
                        calls::UDP_DATA_MAX
                    )));
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    #[inline]
    fn submit(&mut self, ticket: Ticket, operation: Operation, out: &mut Output) {
        let index = ticket.slot as usize;
        let step = self.slot_mask.wrapping_add(1);
        let Some(slot) = self.slots.get_mut(index) else {
            return;
        };
        self.index = ticket.client;
        slot.kind = operation.kind();
        self.operations[index] = operation;
        // The next generation of the slot; the slot's own bits stay.
        slot.xid = slot.xid.wrapping_add(step);
        if self.has_troubles {
            self.troubles[index] = Trouble::default();
        }
        if self.is_connected {
            self.enqueue(index, out);
        } else {
            slot.state = State::Waiting;
            slot.bytes_sent = 0;
        }
    }

    #[inline]
    fn repeat(&mut self, slots: &[u32], out: &mut Output) {
        // The first call is encoded, the others are copies of it with their own
        // xid. Data that lie elsewhere, datagrams and trouble go the long way.
        let Some((first, others)) = slots.split_first() else {
            return;
        };
        let (start, splices) = (out.bytes.len(), out.splices.len());
        self.repeat_one(*first, out);
        let len = out.bytes.len() - start;
        let is_plain = out.splices.len() == splices && self.shared.transport == TransportKind::Tcp;
        if !is_plain || len == 0 || self.has_troubles {
            others.iter().for_each(|slot| self.repeat_one(*slot, out));
            return;
        }
        let step = self.slot_mask.wrapping_add(1);
        let copies = calls::copy(out, start, len, others.len());
        for (index, copy) in others.iter().zip(copies) {
            let Some(slot) = self.slots.get_mut(*index as usize) else {
                continue;
            };
            slot.xid = slot.xid.wrapping_add(step);
            slot.state = State::Sent;
            calls::set_xid(copy, slot.xid);
        }
        self.queued.extend_from_slice(others);
    }

    #[inline]
    fn transmitted(&mut self, now: Moment) {
        if self.queued.is_empty() {
            return;
        }
        for index in &self.queued {
            self.sent[*index as usize] = now;
        }
        let pause_nanos = match self.shared.transport {
            TransportKind::Tcp => self.shared.timeout_nanos,
            TransportKind::Udp => RETRANSMIT_FIRST_NANOS.min(self.shared.timeout_nanos),
        };
        let deadline = now.after_nanos(pause_nanos);
        if self.shared.transport == TransportKind::Udp {
            for index in &self.queued {
                let trouble = &mut self.troubles[*index as usize];
                trouble.pause_nanos = pause_nanos;
                trouble.deadline = deadline;
            }
        }
        self.in_flight += self.queued.len() as u32;
        self.next_deadline = self.next_deadline.min(deadline);
        self.queued.clear();
    }

    fn handle_input(
        &mut self,
        bytes: &[u8],
        now: Moment,
        completed: &mut Completions,
    ) -> Result<(), ProtocolError> {
        match self.shared.transport {
            TransportKind::Tcp => self.receive_stream(bytes, now, completed),
            TransportKind::Udp => self.receive_datagram(bytes, now, completed),
        }
    }

    #[inline]
    fn discardable(&self) -> usize {
        match &self.streaming {
            Some(streaming) if self.discards => streaming.remaining,
            _ => 0,
        }
    }

    #[inline]
    fn receive_len(&self, room: usize) -> usize {
        if self.discards && self.assembler.is_at_boundary() {
            receive::READ_HEAD_LEN.min(room)
        } else {
            room.min(self.receive_max)
        }
    }

    fn handle_discarded(&mut self, len: usize, now: Moment, completed: &mut Completions) {
        self.pass_over(len, now, completed);
    }

    fn handle_timeout(&mut self, now: Moment, out: &mut Output, completed: &mut Completions) {
        if now < self.next_deadline {
            return;
        }
        // What is queued has not been sent, so it cannot be late.
        let mut next = Moment::NEVER;
        for index in 0..self.slots.len() {
            if self.slots[index].state != State::Sent || self.queued.contains(&(index as u32)) {
                continue;
            }
            let end = self.sent[index].after_nanos(self.shared.timeout_nanos);
            if now >= end {
                self.give_up(index, Outcome::TimedOut, now, completed);
                continue;
            }
            if self.shared.transport == TransportKind::Udp {
                if now >= self.troubles[index].deadline {
                    self.retransmit(index, now, out);
                }
                next = next.min(self.troubles[index].deadline);
            }
            next = next.min(end);
        }
        self.next_deadline = next;
    }

    fn poll_timeout(&self) -> Moment {
        self.next_deadline
    }

    fn connected(&mut self, now: Moment, out: &mut Output) {
        self.is_connected = true;
        self.assembler = Assembler::new(receive::RECORD_MAX);
        self.streaming = None;
        for index in 0..self.slots.len() {
            if self.slots[index].state == State::Waiting {
                self.has_troubles = true;
                self.troubles[index].usable = now;
                self.enqueue(index, out);
            }
        }
    }

    fn disconnected(&mut self, now: Moment, completed: &mut Completions) {
        self.is_connected = false;
        self.streaming = None;
        self.take_back_queued();
        for index in 0..self.slots.len() {
            if self.slots[index].state == State::Sent {
                self.give_up(index, Outcome::Disconnected, now, completed);
            }
        }
    }

    fn abandon(&mut self, now: Moment, completed: &mut Completions) {
        self.take_back_queued();
        for index in 0..self.slots.len() {
            if self.slots[index].state == State::Waiting {
                self.give_up(index, Outcome::Skipped, now, completed);
            }
        }
    }

    fn in_flight(&self) -> u32 {
        self.in_flight
    }

    fn replies(&self) -> u64 {
        self.replies
    }

    fn late_replies(&self) -> u64 {
        self.late_replies
    }
}

impl Nfs3Client {
    /// Sends a datagram again, with the same xid, and waits twice as long.
    fn retransmit(&mut self, index: usize, now: Moment, out: &mut Output) {
        let slot = &mut self.slots[index];
        let len = calls::encode(&self.shared, &self.operations[index], slot.xid, out);
        slot.bytes_sent = slot.bytes_sent.saturating_add(len);
        self.has_troubles = true;
        let trouble = &mut self.troubles[index];
        trouble.retransmissions += 1;
        trouble.pause_nanos = trouble
            .pause_nanos
            .saturating_mul(2)
            .min(RETRANSMIT_MAX_NANOS);
        trouble.deadline = now.after_nanos(trouble.pause_nanos);
    }

    /// A reply that could not be understood still ends its operation.
    fn bad_reply(fault: crate::operation::ReplyFault) -> Checked {
        Checked {
            outcome: Outcome::Failed(Failure::BadReply(fault)),
            answer: Answer::Plain,
            data_bytes: 0,
        }
    }
}
