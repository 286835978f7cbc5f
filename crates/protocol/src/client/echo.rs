//! Simulated client of the Echo protocol (RFC 862), without I/O: a server returns the data it
//! receives.
//!
//! An echo exercises only sockets, so it gives the minimum cost of exchanges of the same size.
//! Messages have one common length. The first four bytes are a number with the slot in its low half
//! and the slot's generation above it; the others are zero. A datagram is one message, and a stream
//! is cut into messages.

use crate::client::{Client, Output, ProtocolError, Unsupported};
use filestone_plan::plan::TransportKind;
use filestone_workload::completions::CompletionBatch;
use filestone_workload::language::Operations;
use filestone_workload::operation::{Completion, OpKind, Operation, Outcome, ReplyInfo, SlotId};
use filestone_workload::time::Timestamp;

/// Minimum message length: that of its number.
pub const MESSAGE_MIN: u32 = NUMBER_LEN as u32;
/// Maximum message length, which still fits into a datagram.
pub const MESSAGE_MAX: u32 = 63 << 10;

const NUMBER_LEN: usize = 4;
const SLOTS_MAX: u32 = 1 << 16;

/// Returns an error if there are no operations of this kind.
pub fn supports(kind: OpKind) -> Result<(), Unsupported> {
    match kind {
        OpKind::Null => Ok(()),
        _ => Err(Unsupported(format!(
            "an echo has no {}: all that it does is null",
            kind.name()
        ))),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Idle,
    /// Has an operation that has not been put into the output.
    Waiting,
    Sent,
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    state: State,
    number: u32,
    sent: Timestamp,
}

/// Parameters of the messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EchoMessages {
    /// Length of each message in bytes.
    pub bytes: u32,
    /// Stream or datagrams.
    pub transport: TransportKind,
    /// Time limit for a reply, in nanoseconds.
    pub timeout_nanos: u64,
}

/// Simulated Echo client.
#[derive(Debug)]
pub struct EchoClient {
    message_len: usize,
    are_datagrams: bool,
    timeout_nanos: u64,
    index: u32,
    slots: Box<[Slot]>,
    /// Slots whose messages are in the output and not stamped yet.
    queued: Vec<u32>,
    /// Received part of a message.
    input: Vec<u8>,
    is_up: bool,
    next_deadline: Timestamp,
    in_flight: u32,
    replies: u64,
    late_replies: u64,
}

impl EchoClient {
    /// Creates a client with `slots` slots that is not connected yet.
    pub fn new(messages: EchoMessages, slots: u32) -> Self {
        let idle = |number| Slot {
            state: State::Idle,
            number,
            sent: Timestamp::ZERO,
        };
        let slots = slots.clamp(1, SLOTS_MAX);
        let message_len = messages.bytes.clamp(MESSAGE_MIN, MESSAGE_MAX) as usize;
        Self {
            message_len,
            are_datagrams: messages.transport == TransportKind::Udp,
            timeout_nanos: messages.timeout_nanos,
            index: 0,
            slots: (0..slots).map(idle).collect(),
            queued: Vec::with_capacity(slots as usize),
            input: Vec::with_capacity(message_len),
            is_up: false,
            next_deadline: Timestamp::MAX,
            in_flight: 0,
            replies: 0,
            late_replies: 0,
        }
    }

    fn enqueue(&mut self, index: u32, out: &mut Output) {
        let Some(slot) = self.slots.get_mut(index as usize) else {
            return;
        };
        slot.state = State::Sent;
        out.bytes.extend_from_slice(&slot.number.to_le_bytes());
        let end = out.bytes.len() + self.message_len - NUMBER_LEN;
        out.bytes.resize(end, 0);
        if self.are_datagrams {
            out.datagrams.push(end);
        }
        self.queued.push(index);
    }

    fn end(
        &mut self,
        index: u32,
        outcome: Outcome,
        now: Timestamp,
        completed: &mut CompletionBatch,
    ) {
        let Some(slot) = self.slots.get_mut(index as usize) else {
            return;
        };
        let was_sent = slot.state == State::Sent;
        slot.state = State::Idle;
        self.in_flight = self.in_flight.saturating_sub(u32::from(was_sent));
        let bytes = self.message_len as u32;
        completed.push(Completion {
            ticket: SlotId {
                client: self.index,
                slot: index,
            },
            outcome,
            answer: ReplyInfo::Plain,
            usable: Timestamp::ZERO,
            sent: slot.sent,
            done: now,
            calls: 1,
            retransmissions: 0,
            bytes_sent: if was_sent { bytes } else { 0 },
            bytes_received: if outcome == Outcome::Ok { bytes } else { 0 },
            data_bytes: 0,
        });
    }

    /// Ends all slots in a state.
    fn end_all(
        &mut self,
        state: State,
        outcome: Outcome,
        now: Timestamp,
        completed: &mut CompletionBatch,
    ) {
        for index in 0..self.slots.len() as u32 {
            let slot = self.slots.get(index as usize);
            if slot.is_some_and(|slot| slot.state == state) {
                self.end(index, outcome, now, completed);
            }
        }
    }

    /// Handles a complete returned message.
    fn take(
        &mut self,
        message: &[u8],
        now: Timestamp,
        completed: &mut CompletionBatch,
    ) -> Result<(), ProtocolError> {
        let wrong = ProtocolError::Message("what came back is not what was sent");
        let (number, rest) = message.split_first_chunk().ok_or(wrong.clone())?;
        if rest.iter().any(|byte| *byte != 0) {
            return Err(wrong);
        }
        let number = u32::from_le_bytes(*number);
        self.replies += 1;
        let index = number % SLOTS_MAX;
        let slot = self.slots.get(index as usize);
        match slot.filter(|slot| slot.number == number && slot.state == State::Sent) {
            Some(_) => self.end(index, Outcome::Ok, now, completed),
            None => self.late_replies += 1,
        }
        Ok(())
    }

    /// Completes a partially received message, if there is one; returns the bytes after it.
    fn complete<'bytes>(
        &mut self,
        bytes: &'bytes [u8],
        now: Timestamp,
        completed: &mut CompletionBatch,
    ) -> Result<&'bytes [u8], ProtocolError> {
        if self.input.is_empty() {
            return Ok(bytes);
        }
        let missing = self.message_len.saturating_sub(self.input.len());
        let (part, rest) = bytes.split_at(missing.min(bytes.len()));
        self.input.extend_from_slice(part);
        if self.input.len() == self.message_len {
            let mut message = std::mem::take(&mut self.input);
            self.take(&message, now, completed)?;
            message.clear();
            self.input = message;
        }
        Ok(rest)
    }
}

impl Client for EchoClient {
    type Language = Operations;

    fn submit(&mut self, ticket: SlotId, _operation: Operation, out: &mut Output) {
        self.index = ticket.client;
        let Some(slot) = self.slots.get_mut(ticket.slot as usize) else {
            return;
        };
        slot.number = slot.number.wrapping_add(SLOTS_MAX);
        slot.state = State::Waiting;
        if self.is_up {
            self.enqueue(ticket.slot, out);
        }
    }

    fn repeat(&mut self, slots: &[u32], out: &mut Output) {
        let client = self.index;
        for slot in slots {
            let slot = *slot;
            self.submit(SlotId { client, slot }, Operation::Null, out);
        }
    }

    fn transmitted(&mut self, now: Timestamp) {
        for index in self.queued.drain(..) {
            if let Some(slot) = self.slots.get_mut(index as usize) {
                slot.sent = now;
                self.in_flight += 1;
            }
            let deadline = now.after_nanos(self.timeout_nanos);
            self.next_deadline = self.next_deadline.min(deadline);
        }
    }

    fn handle_input(
        &mut self,
        bytes: &[u8],
        now: Timestamp,
        completed: &mut CompletionBatch,
    ) -> Result<(), ProtocolError> {
        if self.are_datagrams && bytes.len() != self.message_len {
            // Datagrams can come from any sender.
            self.late_replies += 1;
            return Ok(());
        }
        let rest = self.complete(bytes, now, completed)?;
        let mut messages = rest.chunks_exact(self.message_len);
        for message in &mut messages {
            self.take(message, now, completed)?;
        }
        self.input.extend_from_slice(messages.remainder());
        Ok(())
    }

    fn handle_timeout(
        &mut self,
        now: Timestamp,
        _out: &mut Output,
        completed: &mut CompletionBatch,
    ) {
        self.next_deadline = Timestamp::MAX;
        for index in 0..self.slots.len() as u32 {
            let slot = self.slots.get(index as usize).copied();
            let Some(slot) = slot.filter(|slot| slot.state == State::Sent) else {
                continue;
            };
            let deadline = slot.sent.after_nanos(self.timeout_nanos);
            if deadline <= now {
                self.end(index, Outcome::TimedOut, now, completed);
            } else {
                self.next_deadline = self.next_deadline.min(deadline);
            }
        }
    }

    fn poll_timeout(&self) -> Timestamp {
        self.next_deadline
    }

    fn connected(&mut self, _now: Timestamp, out: &mut Output) {
        self.is_up = true;
        for index in 0..self.slots.len() as u32 {
            let slot = self.slots.get(index as usize);
            if slot.is_some_and(|slot| slot.state == State::Waiting) {
                self.enqueue(index, out);
            }
        }
    }

    fn disconnected(&mut self, now: Timestamp, completed: &mut CompletionBatch) {
        self.is_up = false;
        self.input.clear();
        self.queued.clear();
        self.end_all(State::Sent, Outcome::Disconnected, now, completed);
    }

    fn abort(&mut self, now: Timestamp, completed: &mut CompletionBatch) {
        self.end_all(State::Waiting, Outcome::Skipped, now, completed);
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

#[cfg(test)]
mod tests {
    use super::*;

    const LEN: u32 = 10;
    const MESSAGES: EchoMessages = EchoMessages {
        bytes: LEN,
        transport: TransportKind::Tcp,
        timeout_nanos: 1000,
    };

    /// A connected client that has sent a message from each of its slots.
    fn client(slots: u32) -> (EchoClient, Vec<u8>) {
        let mut client = EchoClient::new(MESSAGES, slots);
        let mut out = Output::default();
        client.connected(Timestamp::ZERO, &mut out);
        for slot in 0..slots {
            let ticket = SlotId { client: 7, slot };
            client.submit(ticket, Operation::Null, &mut out);
        }
        client.transmitted(Timestamp::from_nanos(5));
        (client, out.bytes)
    }

    fn outcomes(completed: &CompletionBatch) -> Vec<(u32, Outcome)> {
        let all = completed.iter();
        all.map(|one| (one.ticket.slot, one.outcome)).collect()
    }

    /// Wherever the stream is cut, two messages of ten bytes each end two operations.
    #[test]
    fn a_stream_is_cut_into_messages() {
        let bytes = client(2).1;
        assert_eq!(bytes.len(), 20);
        for cut in 0..=bytes.len() {
            let (mut client, bytes) = client(2);
            let mut completed = CompletionBatch::default();
            let (first, second) = bytes.split_at(cut);
            for part in [first, second] {
                let now = Timestamp::from_nanos(9);
                client.handle_input(part, now, &mut completed).unwrap();
            }
            let expected = [(0, Outcome::Ok), (1, Outcome::Ok)];
            assert_eq!(outcomes(&completed), expected, "cut at {cut}");
            assert_eq!((client.in_flight(), client.replies()), (0, 2));
            let one = completed.iter().next().unwrap();
            assert_eq!((one.bytes_sent, one.bytes_received), (LEN, LEN));
            assert_eq!((one.sent.nanos(), one.done.nanos()), (5, 9));
        }
    }

    #[test]
    fn what_does_not_come_back_times_out_and_may_come_later() {
        let (mut client, bytes) = client(1);
        let (mut completed, mut out) = (CompletionBatch::default(), Output::default());
        assert_eq!(client.poll_timeout(), Timestamp::from_nanos(1005));
        client.handle_timeout(Timestamp::from_nanos(1005), &mut out, &mut completed);
        assert_eq!(outcomes(&completed), [(0, Outcome::TimedOut)]);
        completed.clear();
        let now = Timestamp::from_nanos(2000);
        client.handle_input(&bytes, now, &mut completed).unwrap();
        assert_eq!((client.late_replies(), outcomes(&completed).len()), (1, 0));
    }

    #[test]
    fn what_is_not_what_was_sent_ends_the_connection() {
        let (mut client, mut bytes) = client(1);
        bytes[9] = 1;
        let mut completed = CompletionBatch::default();
        let now = Timestamp::from_nanos(9);
        assert!(client.handle_input(&bytes, now, &mut completed).is_err());
        client.disconnected(now, &mut completed);
        assert_eq!(outcomes(&completed), [(0, Outcome::Disconnected)]);
    }

    #[test]
    fn a_datagram_is_a_message() {
        let messages = EchoMessages {
            transport: TransportKind::Udp,
            ..MESSAGES
        };
        let mut client = EchoClient::new(messages, 2);
        let (mut completed, mut out) = (CompletionBatch::default(), Output::default());
        client.connected(Timestamp::ZERO, &mut out);
        for slot in [0, 1] {
            let ticket = SlotId { client: 0, slot };
            client.submit(ticket, Operation::Null, &mut out);
        }
        assert_eq!(out.datagrams, [10, 20]);
        client.transmitted(Timestamp::ZERO);
        let now = Timestamp::from_nanos(9);
        for datagram in [&out.bytes[..3], &out.bytes[10..], &out.bytes[..10]] {
            client.handle_input(datagram, now, &mut completed).unwrap();
        }
        let expected = [(1, Outcome::Ok), (0, Outcome::Ok)];
        assert_eq!(outcomes(&completed), expected);
        assert_eq!(client.late_replies(), 1);
    }

    #[test]
    fn what_waits_for_a_connection_goes_with_it() {
        let mut client = EchoClient::new(MESSAGES, 1);
        let (mut completed, mut out) = (CompletionBatch::default(), Output::default());
        let ticket = SlotId { client: 0, slot: 0 };
        client.submit(ticket, Operation::Null, &mut out);
        assert!(out.bytes.is_empty());
        client.connected(Timestamp::ZERO, &mut out);
        assert_eq!(out.bytes.len(), LEN as usize);
        let mut other = EchoClient::new(MESSAGES, 1);
        other.submit(ticket, Operation::Null, &mut out);
        other.abort(Timestamp::ZERO, &mut completed);
        assert_eq!(outcomes(&completed), [(0, Outcome::Skipped)]);
        assert!(supports(OpKind::GetAttr).is_err());
    }
}
