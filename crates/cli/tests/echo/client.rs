//! A simulated client of echo, without I/O.
//!
//! Requests wait until the server has assigned a token. A reply is matched by its sequence number,
//! which contains the slot in its low half and the slot's generation in its high half.

use crate::wire::{self, Kind, Request, Verb, Welcome};
use filestone_protocol::client::handles::ServerHandles;
use filestone_protocol::client::{Client, Output, ProtocolError, Unsupported};
use filestone_workload::failure::{Failure, ReplyFault, StatusSpace};
use filestone_workload::language::Operations;
use filestone_workload::operation::{
    Completion, FileId, OpKind, Operation, Outcome, ReplyInfo, SlotId,
};
use filestone_workload::{CompletionBatch, Timestamp};
use std::sync::Arc;

/// State shared by all clients of a run.
#[derive(Debug, Clone)]
pub struct Shared {
    /// The server's numbers of the files in the run's table.
    pub files: Arc<ServerHandles<u32>>,
    /// Pattern of the file data.
    pub pattern: Arc<[u8]>,
    /// Timeout of a request, in nanoseconds.
    pub timeout_nanos: u64,
}

/// Checks that echo has operations of this kind.
pub fn supports(kind: OpKind) -> Result<(), Unsupported> {
    match kind {
        OpKind::Null | OpKind::Read | OpKind::Write => Ok(()),
        _ => Err(Unsupported(format!(
            "echo has no {}: it has null, read and write",
            kind.name()
        ))),
    }
}

/// Echo request for an operation.
enum Asked {
    Null,
    Read { file: FileId, offset: u64, len: u32 },
    Write { file: FileId, offset: u64, len: u32 },
    Unknown,
}

fn asked(operation: &Operation) -> Asked {
    match *operation {
        Operation::Null => Asked::Null,
        Operation::Read { file, offset, len } => Asked::Read { file, offset, len },
        Operation::Write {
            file, offset, len, ..
        } => Asked::Write { file, offset, len },
        Operation::GetAttr { .. }
        | Operation::SetAttr { .. }
        | Operation::Lookup { .. }
        | Operation::Access { .. }
        | Operation::ReadLink { .. }
        | Operation::Create { .. }
        | Operation::MakeDirectory { .. }
        | Operation::MakeSymlink { .. }
        | Operation::MakeNode { .. }
        | Operation::Remove { .. }
        | Operation::RemoveDirectory { .. }
        | Operation::Rename { .. }
        | Operation::Link { .. }
        | Operation::ReadDirectory { .. }
        | Operation::ReadDirectoryPlus { .. }
        | Operation::FileSystemStatus { .. }
        | Operation::FileSystemInfo { .. }
        | Operation::PathConfiguration { .. }
        | Operation::Commit { .. }
        | Operation::Open { .. }
        | Operation::Close { .. }
        | Operation::Lock { .. }
        | Operation::Unlock { .. }
        | Operation::SessionSetup
        | Operation::TreeConnect
        | Operation::Notify { .. }
        | Operation::Copy { .. } => Asked::Unknown,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Idle,
    /// Has an operation that is not in the output yet.
    Waiting,
    Sent,
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    state: State,
    operation: Operation,
    sequence: u32,
    sent: Timestamp,
    bytes_sent: u32,
}

/// Received data that has not been processed.
#[derive(Debug, Default)]
struct Input {
    bytes: Vec<u8>,
}

/// A simulated client of echo.
#[derive(Debug)]
pub struct EchoClient {
    shared: Shared,
    index: u32,
    slots: Box<[Slot]>,
    /// Slots whose requests are in the output but have no send time yet.
    queued: Vec<u32>,
    input: Input,
    /// Token that requests contain; `None` while there is no session.
    token: Option<u64>,
    /// Whether a TokenKnown for the new token is still due.
    owes_answer: bool,
    next_deadline: Timestamp,
    in_flight: u32,
    replies: u64,
    late_replies: u64,
}

impl EchoClient {
    /// Creates an unconnected client with `slots` slots.
    pub fn new(shared: Shared, slots: u32) -> Self {
        let idle = |slot| Slot {
            state: State::Idle,
            operation: Operation::Null,
            sequence: slot,
            sent: Timestamp::ZERO,
            bytes_sent: 0,
        };
        Self {
            shared,
            index: 0,
            slots: (0..slots.clamp(1, 1 << 16)).map(idle).collect(),
            queued: Vec::with_capacity(slots as usize),
            input: Input::default(),
            token: None,
            owes_answer: false,
            next_deadline: Timestamp::MAX,
            in_flight: 0,
            replies: 0,
            late_replies: 0,
        }
    }

    fn file(&self, file: FileId) -> u32 {
        self.shared.files.get(file).copied().unwrap_or(u32::MAX)
    }

    /// Appends the request of a slot to the output.
    fn enqueue(&mut self, index: usize, token: u64, out: &mut Output) {
        let Some(slot) = self.slots.get(index) else {
            return;
        };
        // Operations that echo lacks are refused before the run; otherwise they would be sent as
        // NULL.
        let (verb, file, offset, len) = match asked(&slot.operation) {
            Asked::Read { file, offset, len } => (Verb::Read, self.file(file), offset, len),
            Asked::Write { file, offset, len } => (Verb::Write, self.file(file), offset, len),
            Asked::Null | Asked::Unknown => (Verb::Null, 0, 0, 0),
        };
        let request = Request {
            token,
            sequence: slot.sequence,
            verb,
            file,
            offset,
            len,
        };
        let data = match verb {
            Verb::Write => data_at(&self.shared.pattern, offset, len),
            Verb::Null | Verb::Read => &[],
        };
        let bytes = wire::put(&mut out.bytes, Kind::Request, &[&request.to_bytes(), data]);
        if let Some(slot) = self.slots.get_mut(index) {
            slot.state = State::Sent;
            slot.bytes_sent = bytes as u32;
        }
        self.queued.push(index as u32);
    }

    fn end(&mut self, index: usize, end: End, now: Timestamp, completed: &mut CompletionBatch) {
        let Some(slot) = self.slots.get_mut(index) else {
            return;
        };
        if slot.state == State::Sent {
            self.in_flight = self.in_flight.saturating_sub(1);
        }
        slot.state = State::Idle;
        completed.push(Completion {
            ticket: SlotId {
                client: self.index,
                slot: index as u32,
            },
            outcome: end.outcome,
            answer: ReplyInfo::Plain,
            usable: Timestamp::ZERO,
            sent: slot.sent,
            done: now,
            calls: 1,
            retransmissions: 0,
            bytes_sent: slot.bytes_sent,
            bytes_received: end.bytes_received,
            data_bytes: end.data_bytes,
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
        for index in 0..self.slots.len() {
            if self.slots[index].state == state {
                self.end(index, End::without_reply(outcome), now, completed);
            }
        }
    }

    fn take_reply(
        &mut self,
        body: &[u8],
        now: Timestamp,
        completed: &mut CompletionBatch,
    ) -> Option<()> {
        let (sequence, body) = wire::read_u32(body)?;
        let (status, data) = wire::read_u32(body)?;
        self.replies += 1;
        let index = (sequence & 0xffff) as usize;
        let slot = self.slots.get(index);
        let Some(slot) = slot.filter(|slot| slot.sequence == sequence && slot.state == State::Sent)
        else {
            self.late_replies += 1;
            return Some(());
        };
        let (outcome, data_bytes) = self.check(&slot.operation, status, data);
        let bytes_received = (wire::HEAD_LEN + 8 + data.len()) as u32;
        let end = End {
            outcome,
            bytes_received,
            data_bytes,
        };
        self.end(index, end, now, completed);
        Some(())
    }

    /// Checks a reply against its request.
    fn check(&self, operation: &Operation, status: u32, data: &[u8]) -> (Outcome, u32) {
        if status != 0 {
            return (Outcome::Failed(StatusSpace::Unnamed.failure(status)), 0);
        }
        let bad = |fault| (Outcome::Failed(Failure::BadReply(fault)), 0);
        match asked(operation) {
            Asked::Read { len, .. } if data.len() > len as usize => bad(ReplyFault::TooMuchData),
            Asked::Read { len, .. } if data.len() < len as usize => bad(ReplyFault::Short),
            Asked::Read { offset, len, .. } => {
                if data == data_at(&self.shared.pattern, offset, len) {
                    (Outcome::Ok, len)
                } else {
                    bad(ReplyFault::WrongData)
                }
            }
            Asked::Null | Asked::Write { .. } | Asked::Unknown if !data.is_empty() => {
                bad(ReplyFault::Inconsistent)
            }
            Asked::Write { len, .. } => (Outcome::Ok, len),
            Asked::Null | Asked::Unknown => (Outcome::Ok, 0),
        }
    }

    fn take_message(
        &mut self,
        kind: Kind,
        body: &[u8],
        now: Timestamp,
        completed: &mut CompletionBatch,
    ) -> Result<(), ProtocolError> {
        let wrong = ProtocolError::Message("a message with other fields than it should have");
        match kind {
            Kind::Welcome => {
                self.token = Some(Welcome::read(body).ok_or(wrong)?.token);
                Ok(())
            }
            Kind::NewToken => {
                let (token, _) = wire::read_u64(body).ok_or(wrong)?;
                self.token = Some(token);
                self.owes_answer = true;
                Ok(())
            }
            Kind::Reply => self.take_reply(body, now, completed).ok_or(wrong),
            Kind::Hello | Kind::Request | Kind::TokenKnown => {
                Err(ProtocolError::Message("a message that only clients send"))
            }
        }
    }
}

/// Outcome of an operation.
#[derive(Debug, Clone, Copy)]
struct End {
    outcome: Outcome,
    bytes_received: u32,
    data_bytes: u32,
}

impl End {
    const fn without_reply(outcome: Outcome) -> Self {
        Self {
            outcome,
            bytes_received: 0,
            data_bytes: 0,
        }
    }
}

/// Period of the data of every file, which is prime: data at a wrong offset differs.
const PERIOD: usize = 251;
/// Maximum bytes of one transfer.
const TRANSFER_MAX: usize = 1 << 20;

/// Returns the table that the data of files is read from.
pub fn pattern() -> Arc<[u8]> {
    let period = 0..PERIOD as u8;
    period.cycle().take(PERIOD + TRANSFER_MAX).collect()
}

/// Returns the data of a file from `offset` on.
pub fn data_at(pattern: &[u8], offset: u64, len: u32) -> &[u8] {
    let start = (offset % PERIOD as u64) as usize;
    pattern.get(start..start + len as usize).unwrap_or_default()
}

impl Client for EchoClient {
    type Language = Operations;

    fn submit(&mut self, ticket: SlotId, operation: Operation, out: &mut Output) {
        self.index = ticket.client;
        let index = ticket.slot as usize;
        let Some(slot) = self.slots.get_mut(index) else {
            return;
        };
        slot.operation = operation;
        slot.sequence = slot.sequence.wrapping_add(1 << 16);
        slot.state = State::Waiting;
        slot.bytes_sent = 0;
        if let Some(token) = self.token {
            self.enqueue(index, token, out);
        }
    }

    fn repeat(&mut self, slots: &[u32], out: &mut Output) {
        let client = self.index;
        for slot in slots {
            let last = self.slots.get(*slot as usize).map(|slot| slot.operation);
            if let Some(operation) = last {
                let slot = *slot;
                self.submit(SlotId { client, slot }, operation, out);
            }
        }
    }

    fn transmitted(&mut self, now: Timestamp) {
        for index in self.queued.drain(..) {
            if let Some(slot) = self.slots.get_mut(index as usize) {
                slot.sent = now;
                self.in_flight += 1;
            }
            let deadline = now.after_nanos(self.shared.timeout_nanos);
            self.next_deadline = self.next_deadline.min(deadline);
        }
    }

    fn handle_input(
        &mut self,
        bytes: &[u8],
        now: Timestamp,
        completed: &mut CompletionBatch,
    ) -> Result<(), ProtocolError> {
        let mut input = std::mem::take(&mut self.input.bytes);
        input.extend_from_slice(bytes);
        let mut taken = 0;
        while let Some((kind, body, len)) =
            wire::take(&input[taken..]).map_err(ProtocolError::Message)?
        {
            self.take_message(kind, body, now, completed)?;
            taken += len;
        }
        input.drain(..taken);
        self.input.bytes = input;
        Ok(())
    }

    fn answer(&mut self, out: &mut Output) -> bool {
        let before = out.bytes.len();
        if std::mem::take(&mut self.owes_answer) {
            wire::put(&mut out.bytes, Kind::TokenKnown, &[]);
        }
        if let Some(token) = self.token {
            for index in 0..self.slots.len() {
                if self.slots[index].state == State::Waiting {
                    self.enqueue(index, token, out);
                }
            }
        }
        out.bytes.len() > before
    }

    fn handle_timeout(
        &mut self,
        now: Timestamp,
        _out: &mut Output,
        completed: &mut CompletionBatch,
    ) {
        let timeout = self.shared.timeout_nanos;
        self.next_deadline = Timestamp::MAX;
        for index in 0..self.slots.len() {
            let slot = self.slots[index];
            if slot.state != State::Sent {
                continue;
            }
            let deadline = slot.sent.after_nanos(timeout);
            if deadline <= now {
                let end = End::without_reply(Outcome::TimedOut);
                self.end(index, end, now, completed);
            } else {
                self.next_deadline = self.next_deadline.min(deadline);
            }
        }
    }

    fn poll_timeout(&self) -> Timestamp {
        self.next_deadline
    }

    fn connected(&mut self, _now: Timestamp, out: &mut Output) {
        wire::put(&mut out.bytes, Kind::Hello, &[]);
    }

    fn disconnected(&mut self, now: Timestamp, completed: &mut CompletionBatch) {
        self.token = None;
        self.owes_answer = false;
        self.input.bytes.clear();
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

pub mod tests {
    use super::*;

    fn client(slots: u32) -> EchoClient {
        let mut files = ServerHandles::default();
        files.add(5);
        let shared = Shared {
            files: Arc::new(files),
            pattern: pattern(),
            timeout_nanos: 1000,
        };
        EchoClient::new(shared, slots)
    }

    fn message(kind: Kind, parts: &[&[u8]]) -> Vec<u8> {
        let mut bytes = Vec::new();
        wire::put(&mut bytes, kind, parts);
        bytes
    }

    fn welcome(token: u64) -> Vec<u8> {
        let welcome = Welcome {
            token,
            files: 8,
            file_len: 100,
        };
        message(Kind::Welcome, &[&welcome.to_bytes()])
    }

    /// Returns the messages in an output.
    fn sent(out: &mut Output) -> Vec<(Kind, Option<Request>)> {
        let (mut messages, mut bytes) = (Vec::new(), &out.bytes[..]);
        while let Some((kind, body, len)) = wire::take(bytes).expect("messages") {
            messages.push((kind, Request::read(body).map(|(request, _)| request)));
            bytes = &bytes[len..];
        }
        out.clear();
        messages
    }

    const READ: Operation = Operation::Read {
        file: FileId(0),
        offset: 10,
        len: 4,
    };

    pub fn requests_wait_for_a_session_and_carry_its_token() {
        let (mut client, mut out) = (client(2), Output::default());
        let mut completed = CompletionBatch::default();
        client.connected(Timestamp::ZERO, &mut out);
        client.submit(SlotId { client: 0, slot: 1 }, READ, &mut out);
        assert_eq!(sent(&mut out), [(Kind::Hello, None)]);
        let now = Timestamp::from_nanos(5);
        client
            .handle_input(&welcome(77), now, &mut completed)
            .expect("a welcome");
        assert!(client.answer(&mut out) && !client.answer(&mut Output::default()));
        let request = sent(&mut out)[0].1.expect("a request");
        assert_eq!(
            (request.token, request.file, request.verb),
            (77, 5, Verb::Read)
        );
        client.transmitted(now);
        assert_eq!(client.in_flight(), 1);
        let data = data_at(&client.shared.pattern, 10, 4).to_vec();
        let reply = message(
            Kind::Reply,
            &[&request.sequence.to_le_bytes(), &[0; 4], &data],
        );
        for byte in &reply {
            client
                .handle_input(&[*byte], Timestamp::from_nanos(9), &mut completed)
                .expect("part of a reply");
        }
        let ended: Vec<_> = completed.iter().collect();
        assert_eq!((ended.len(), ended[0].outcome), (1, Outcome::Ok));
        assert_eq!(ended[0].data_bytes, 4);
        // A duplicate of the reply matches no request.
        client
            .handle_input(&reply, Timestamp::from_nanos(10), &mut completed)
            .expect("a reply");
        assert_eq!((client.late_replies(), completed.len()), (1, 1));
    }

    pub fn a_new_token_comes_unasked_is_answered_and_holds_from_then_on() {
        let (mut client, mut out) = (client(1), Output::default());
        let mut completed = CompletionBatch::default();
        let slot = SlotId { client: 0, slot: 0 };
        client
            .handle_input(&welcome(1), Timestamp::ZERO, &mut completed)
            .expect("a welcome");
        let notice = message(Kind::NewToken, &[&2_u64.to_le_bytes()]);
        client
            .handle_input(&notice, Timestamp::ZERO, &mut completed)
            .expect("a notice");
        assert!(client.answer(&mut out));
        client.submit(slot, Operation::Null, &mut out);
        let messages = sent(&mut out);
        assert_eq!(messages[0].0, Kind::TokenKnown);
        assert_eq!(messages[1].1.map(|request| request.token), Some(2));
    }

    pub fn what_is_lost_or_late_is_accounted_for() {
        let (mut client, mut out) = (client(3), Output::default());
        let mut completed = CompletionBatch::default();
        let slot = |slot| SlotId { client: 0, slot };
        client
            .handle_input(&welcome(1), Timestamp::ZERO, &mut completed)
            .expect("a welcome");
        client.submit(slot(0), Operation::Null, &mut out);
        client.transmitted(Timestamp::ZERO);
        assert_eq!(client.poll_timeout(), Timestamp::from_nanos(1000));
        client.handle_timeout(Timestamp::from_nanos(1000), &mut out, &mut completed);
        client.submit(slot(1), Operation::Null, &mut out);
        client.transmitted(Timestamp::from_nanos(1001));
        client.disconnected(Timestamp::from_nanos(1002), &mut completed);
        client.submit(slot(2), Operation::Null, &mut out);
        client.abort(Timestamp::from_nanos(1003), &mut completed);
        let outcomes: Vec<_> = completed.iter().map(|ended| ended.outcome).collect();
        let expected = [Outcome::TimedOut, Outcome::Disconnected, Outcome::Skipped];
        assert_eq!(
            (outcomes.as_slice(), client.in_flight()),
            (&expected[..], 0)
        );
    }

    pub fn what_is_no_message_ends_the_connection() {
        let mut completed = CompletionBatch::default();
        for bytes in [
            message(Kind::Request, &[]),
            message(Kind::Reply, &[&[0; 7]]),
            vec![0xff; 8],
        ] {
            let result = client(1).handle_input(&bytes, Timestamp::ZERO, &mut completed);
            assert!(result.is_err(), "{bytes:?}");
        }
    }
}
