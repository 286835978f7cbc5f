//! An NFSv3 client over TCP or UDP, without I/O (RFC 1813 over RFC 5531).
//!
//! Each slot carries one call. The xid holds the slot's index in its low bits
//! and the slot's generation above it, so a reply finds its call by array index,
//! and a late or repeated reply has a stale generation: it is counted, never
//! mistaken for another's.
//!
//! Over TCP a call is sent once; over UDP it is sent again when no reply comes,
//! with exponential back-off and the same xid, as RFC 1813 section 4.8 expects.

mod calls;
pub mod failure;
mod receive;
mod replies;

mod verify;

pub use calls::{Credentials, Templates};
pub use verify::Verify;

use crate::client::{Client, Output, ProtocolError, Unsupported};
use crate::operation::{Answer, Completion, Failure, OpKind, Operation, Outcome, Ticket};
use crate::plan::TransportKind;
use crate::random::{Generator, RngExt};
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
    /// Its call is in the output.
    Queued,
    /// Its call is with the operating system, or beyond.
    Sent,
}

/// One call in flight.
#[derive(Debug, Clone, Copy)]
struct Slot {
    state: State,
    operation: Operation,
    ticket: Ticket,
    /// Counts the slot's calls; part of the xid.
    generation: u32,
    /// When the connection could take it, if it was down.
    usable: Moment,
    sent: Moment,
    /// When something must happen if there is no reply.
    deadline: Moment,
    /// Pause before the next transmission, over UDP.
    pause_nanos: u64,
    retransmissions: u32,
    bytes_sent: u32,
}

/// A READ reply whose data are being thrown away.
#[derive(Debug, Clone, Copy)]
struct Discarding {
    slot: usize,
    remaining: usize,
    checked: Checked,
    bytes_received: u32,
}

/// One simulated NFSv3 client.
#[derive(Debug)]
pub struct Nfs3Client {
    shared: Shared,
    slots: Box<[Slot]>,
    /// Low bits of the xid that hold the slot.
    slot_bits: u32,
    /// Slots whose calls are in the output, in order.
    queued: Vec<u32>,
    is_connected: bool,
    assembler: Assembler,
    discarding: Option<Discarding>,
    /// Whether READ data may be thrown away unread, and replies are large enough
    /// for that to pay.
    discards: bool,
    verify: Option<Box<Verify>>,
    /// No deadline is earlier than this.
    next_deadline: Moment,
    in_flight: u32,
    replies: u64,
    late_replies: u64,
}

impl Nfs3Client {
    /// A client with `slots` slots, not connected yet.
    ///
    /// `generator` gives the first xid: a server's duplicate-request cache may
    /// remember those of the last run. `read_len` is the size of the plan's
    /// READs, if it has any.
    pub fn new(
        shared: Shared,
        slots: u32,
        read_len: u32,
        verify: Option<Box<Verify>>,
        generator: &mut Generator,
    ) -> Self {
        let slots = slots.max(1);
        let generation: u32 = generator.random();
        let idle = Slot {
            state: State::Idle,
            operation: Operation::Null,
            ticket: Ticket { client: 0, slot: 0 },
            generation,
            usable: Moment::ZERO,
            sent: Moment::ZERO,
            deadline: Moment::NEVER,
            pause_nanos: 0,
            retransmissions: 0,
            bytes_sent: 0,
        };
        Self {
            discards: verify.is_none()
                && shared.transport == TransportKind::Tcp
                && read_len >= receive::DISCARD_MIN as u32,
            shared,
            slots: vec![idle; slots as usize].into_boxed_slice(),
            slot_bits: u32::BITS - (slots - 1).leading_zeros(),
            queued: Vec::with_capacity(slots as usize),
            is_connected: false,
            assembler: Assembler::new(receive::RECORD_MAX),
            discarding: None,
            verify,
            next_deadline: Moment::NEVER,
            in_flight: 0,
            replies: 0,
            late_replies: 0,
        }
    }

    #[inline]
    fn xid_of(&self, slot: usize) -> u32 {
        let generation = self.slots[slot].generation;
        // With one slot there are no low bits to spare for it.
        generation.checked_shl(self.slot_bits).unwrap_or(0) | slot as u32
    }

    /// The slot that is waiting for a reply with this xid.
    #[inline]
    fn slot_of(&self, xid: u32) -> Option<usize> {
        let index = (xid & ((1u64 << self.slot_bits) - 1) as u32) as usize;
        let slot = self.slots.get(index)?;
        (slot.state == State::Sent && self.xid_of(index) == xid).then_some(index)
    }

    /// Puts the call of a slot into the output.
    #[inline]
    fn enqueue(&mut self, index: usize, out: &mut Output) {
        let xid = self.xid_of(index);
        let slot = &mut self.slots[index];
        let len = calls::encode(&self.shared, &slot.operation, xid, out);
        slot.bytes_sent = slot.bytes_sent.saturating_add(len);
        slot.state = State::Queued;
        self.queued.push(index as u32);
    }

    /// Ends a slot's operation.
    #[inline]
    fn complete(
        &mut self,
        index: usize,
        checked: Checked,
        bytes_received: u32,
        now: Moment,
        completed: &mut Vec<Completion>,
    ) {
        let slot = &mut self.slots[index];
        if slot.state == State::Sent {
            self.in_flight -= 1;
        }
        slot.state = State::Idle;
        completed.push(Completion {
            ticket: slot.ticket,
            outcome: checked.outcome,
            answer: checked.answer,
            usable: slot.usable,
            sent: slot.sent,
            done: now,
            calls: 1,
            retransmissions: slot.retransmissions,
            bytes_sent: slot.bytes_sent,
            bytes_received,
            data_bytes: checked.data_bytes,
        });
    }

    /// Ends a slot's operation for want of a reply.
    fn give_up(
        &mut self,
        index: usize,
        outcome: Outcome,
        now: Moment,
        completed: &mut Vec<Completion>,
    ) {
        let checked = Checked {
            outcome,
            answer: Answer::Plain,
            data_bytes: 0,
        };
        self.complete(index, checked, 0, now, completed);
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
        let Some(slot) = self.slots.get_mut(index) else {
            return;
        };
        slot.operation = operation;
        slot.ticket = ticket;
        slot.generation = slot.generation.wrapping_add(1);
        slot.usable = Moment::ZERO;
        slot.retransmissions = 0;
        slot.bytes_sent = 0;
        if self.is_connected {
            self.enqueue(index, out);
        } else {
            slot.state = State::Waiting;
        }
    }

    #[inline]
    fn transmitted(&mut self, now: Moment) {
        let first_pause = match self.shared.transport {
            TransportKind::Tcp => self.shared.timeout_nanos,
            TransportKind::Udp => RETRANSMIT_FIRST_NANOS.min(self.shared.timeout_nanos),
        };
        for index in self.queued.drain(..) {
            let slot = &mut self.slots[index as usize];
            slot.state = State::Sent;
            slot.sent = now;
            slot.pause_nanos = first_pause;
            slot.deadline = now.after_nanos(first_pause);
            self.in_flight += 1;
        }
        self.next_deadline = self.next_deadline.min(now.after_nanos(first_pause));
    }

    fn handle_input(
        &mut self,
        bytes: &[u8],
        now: Moment,
        completed: &mut Vec<Completion>,
    ) -> Result<(), ProtocolError> {
        match self.shared.transport {
            TransportKind::Tcp => self.receive_stream(bytes, now, completed),
            TransportKind::Udp => self.receive_datagram(bytes, now, completed),
        }
    }

    #[inline]
    fn discardable(&self) -> usize {
        self.discarding.map_or(0, |discarding| discarding.remaining)
    }

    #[inline]
    fn receive_len(&self, room: usize) -> usize {
        if self.discards && self.assembler.pending() == 0 {
            receive::READ_HEAD_LEN.min(room)
        } else {
            room
        }
    }

    fn handle_discarded(&mut self, len: usize, now: Moment, completed: &mut Vec<Completion>) {
        self.discard(len, now, completed);
    }

    fn handle_timeout(&mut self, now: Moment, out: &mut Output, completed: &mut Vec<Completion>) {
        if now < self.next_deadline {
            return;
        }
        let mut next = Moment::NEVER;
        for index in 0..self.slots.len() {
            let slot = self.slots[index];
            if slot.state != State::Sent {
                continue;
            }
            if now < slot.deadline {
                next = next.min(slot.deadline);
            } else if now >= slot.sent.after_nanos(self.shared.timeout_nanos) {
                self.give_up(index, Outcome::TimedOut, now, completed);
            } else {
                self.retransmit(index, now, out);
                next = next.min(self.slots[index].deadline);
            }
        }
        self.next_deadline = next;
    }

    fn poll_timeout(&self) -> Moment {
        self.next_deadline
    }

    fn connected(&mut self, now: Moment, out: &mut Output) {
        self.is_connected = true;
        self.assembler = Assembler::new(receive::RECORD_MAX);
        self.discarding = None;
        for index in 0..self.slots.len() {
            if self.slots[index].state == State::Waiting {
                self.slots[index].usable = now;
                self.enqueue(index, out);
            }
        }
    }

    fn disconnected(&mut self, now: Moment, completed: &mut Vec<Completion>) {
        self.is_connected = false;
        self.discarding = None;
        self.queued.clear();
        for index in 0..self.slots.len() {
            match self.slots[index].state {
                State::Sent => self.give_up(index, Outcome::Disconnected, now, completed),
                // Its call was never handed over: it waits for the next connection.
                State::Queued => {
                    self.slots[index].state = State::Waiting;
                    self.slots[index].bytes_sent = 0;
                }
                State::Idle | State::Waiting => {}
            }
        }
    }

    fn abandon(&mut self, now: Moment, completed: &mut Vec<Completion>) {
        for index in 0..self.slots.len() {
            if matches!(self.slots[index].state, State::Waiting | State::Queued) {
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
        let xid = self.xid_of(index);
        let timeout = self.shared.timeout_nanos;
        let slot = &mut self.slots[index];
        let len = calls::encode(&self.shared, &slot.operation, xid, out);
        slot.bytes_sent = slot.bytes_sent.saturating_add(len);
        slot.retransmissions += 1;
        slot.pause_nanos = slot.pause_nanos.saturating_mul(2).min(RETRANSMIT_MAX_NANOS);
        slot.deadline = now
            .after_nanos(slot.pause_nanos)
            .min(slot.sent.after_nanos(timeout));
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
