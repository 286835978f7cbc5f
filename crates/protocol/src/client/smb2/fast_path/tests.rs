//! A client of a share with scripted responses: every result of an operation must be reported alike
//! by the fast path and the general path.

use crate::client::handles::ServerHandles;
use crate::client::smb2::tests::terms;
use crate::client::smb2::{
    ChannelPosition, ClientState, ConnectionSetup, HandlePolicy, OpenKey, OperationOptions,
    ShareFiles, Smb2Client, Smb2ClientOptions, SmbHandle, operating,
};
use crate::client::{Client, Output};
use crate::session::smb2::{Established, KeyMaterial, SessionKeys, Smb2Session};
use crate::workload::{FileEntry, FileTable, ObjectKind};
use filestone_wire::smb2::codec::{Decode, Encode};
use filestone_wire::smb2::compound::{self, Message};
use filestone_wire::smb2::frame::FrameMark;
use filestone_wire::smb2::negotiate::SigningAlgorithm;
use filestone_wire::smb2::{
    self, Command, Dialect, ErrorResponse, Header, HeaderFlags, Route, Status, echo, read,
};
use filestone_workload::completions::CompletionBatch;
use filestone_workload::language::Operations;
use filestone_workload::operation::{
    Completion, Failure, FileId, Operation, Outcome, ReplyFault, SlotId,
};
use filestone_workload::time::Timestamp;
use std::sync::Arc;

const SESSION: u64 = 0x77;
const TREE: u32 = 5;
const FILE: FileId = FileId(0);
const FILE_LEN: u64 = 300;
const TIMEOUT: u64 = 1_000_000;
const OPENED: smb2::FileId = smb2::FileId {
    persistent: 3,
    volatile: 4,
};

fn keys() -> Arc<SessionKeys> {
    let keys = SessionKeys::derive(&KeyMaterial {
        session_key: &[7; 16],
        dialect: Dialect::SMB_3_0,
        signing: SigningAlgorithm::AES_CMAC,
        cipher: None,
        preauth: None,
    });
    Arc::new(keys.expect("keys"))
}

/// A client of two slots, and the completions of its operations.
struct Bench {
    client: Smb2Client<Operations>,
    out: Output,
    completed: CompletionBatch,
    keys: Option<Arc<SessionKeys>>,
    now: u64,
}

impl Bench {
    fn new(keys: Option<Arc<SessionKeys>>) -> Self {
        let way = Arc::new(ConnectionSetup::new(terms()));
        let state = ClientState::new(Arc::clone(&way));
        let held = OpenKey::Held(FILE);
        state.opens.insert(held, SmbHandle::plain(OPENED));
        let mut table = FileTable::default();
        table.add(FileEntry {
            len: FILE_LEN,
            kind: ObjectKind::File,
            has_pattern: true,
        });
        let mut paths = ServerHandles::default();
        paths.add("file".into());
        let options = OperationOptions {
            files: Arc::new(ShareFiles {
                table: Arc::new(table),
                paths,
            }),
            holds_files: true,
            keeping: HandlePolicy::default(),
        };
        let client_options = Smb2ClientOptions {
            way,
            pattern: Vec::new().into(),
            timeout_nanos: TIMEOUT,
            lane: ChannelPosition::ALONE,
        };
        let session = Smb2Client::<Operations>::session_options(2, TIMEOUT, 1 << 20);
        let mut session = Smb2Session::new(session);
        session.establish(Established::of_tests(SESSION, TREE, keys.clone()));
        let actors = operating(&options, 0..2, &state);
        Self {
            client: Smb2Client::over(session, client_options, actors),
            out: Output::default(),
            completed: CompletionBatch::default(),
            keys,
            now: 0,
        }
    }

    /// Creates a client that has executed each of these operations before, so that repetitions use
    /// the fast path.
    fn after(asked: &[Operation], keys: Option<Arc<SessionKeys>>) -> Self {
        let mut bench = Self::new(keys);
        for operation in asked {
            let id = bench.ask(0, *operation);
            bench.succeed(id, operation);
            bench.end();
        }
        bench
    }

    fn ticket(slot: u32) -> SlotId {
        SlotId { client: 0, slot }
    }

    /// Submits an operation; returns the MessageId of its request.
    fn ask(&mut self, slot: u32, operation: Operation) -> u64 {
        let ticket = Self::ticket(slot);
        self.client.submit(ticket, operation, &mut self.out);
        self.asked().expect("it goes out").message_id
    }

    /// Returns the header of the only request in the output, and sends it.
    fn asked(&mut self) -> Option<Header> {
        self.now += 10;
        self.client.transmitted(Timestamp::from_nanos(self.now));
        let bytes = std::mem::take(&mut self.out.bytes);
        let header = Header::from_bytes(bytes.get(4..)?).ok()?;
        assert_eq!(header.session_id, SESSION);
        Some(header)
    }

    fn receive(&mut self, message: &[u8]) {
        let mut frame = Vec::new();
        let start = FrameMark::open(&mut frame);
        frame.extend_from_slice(message);
        FrameMark::close(&mut frame, start, 0);
        self.now += 100;
        let now = Timestamp::from_nanos(self.now);
        let heard = self.client.handle_input(&frame, now, &mut self.completed);
        heard.expect("it is a message of SMB2");
        self.client.answer(&mut self.out);
    }

    fn answer(&mut self, id: u64, command: Command, status: Status, body: &impl Encode) {
        let header = header(id, command, status);
        let mut message = Vec::new();
        compound::append(&mut message, &header, body);
        if let Some(keys) = &self.keys {
            message[16] |= HeaderFlags::SIGNED.0 as u8;
            keys.signer.sign(&mut message);
        }
        self.receive(&message);
    }

    fn succeed(&mut self, id: u64, operation: &Operation) {
        match *operation {
            Operation::Read { len, .. } => self.read(id, len as usize),
            _ => self.answer(id, Command::Echo, Status::SUCCESS, &echo::Response {}),
        }
    }

    /// Delivers a READ response with this number of bytes.
    fn read(&mut self, id: u64, len: usize) {
        let data = vec![9; len];
        let body = read::Response {
            data_remaining: 0,
            flags: 0,
            data: &data,
        };
        self.answer(id, Command::Read, Status::SUCCESS, &body);
    }

    /// Returns the only completion since the last call.
    fn end(&mut self) -> Completion {
        let ended: Vec<_> = self.completed.iter().collect();
        self.completed.clear();
        let [end] = ended[..] else {
            panic!("one operation has ended: {ended:?}");
        };
        end
    }
}

fn header(id: u64, command: Command, status: Status) -> Header {
    Header {
        status,
        credits: 8,
        flags: HeaderFlags::RESPONSE,
        session_id: SESSION,
        ..Header::request(command, id)
    }
}

const ECHO: Operation = Operation::Null;

const fn reading(offset: u64) -> Operation {
    Operation::Read {
        file: FILE,
        offset,
        len: 100,
    }
}

/// Runs the check on the general path, used by the first operation, and on the fast path, used by
/// the second.
fn both(mut check: impl FnMut(Bench)) {
    check(Bench::new(None));
    check(Bench::after(&[ECHO], None));
}

#[test]
fn the_same_bytes_go_out_but_for_their_numbers() {
    for operation in [ECHO, reading(100)] {
        let mut bench = Bench::new(None);
        let mut frames = Vec::new();
        for _ in 0..3 {
            let ticket = Bench::ticket(0);
            bench.client.submit(ticket, operation, &mut bench.out);
            frames.push(bench.out.bytes.clone());
            let id = bench.asked().expect("a request").message_id;
            bench.succeed(id, &operation);
            bench.end();
        }
        let numbers = |frame: &mut Vec<u8>| {
            let credits = frame[18..20].to_vec();
            let id = frame[28];
            frame[18..20].fill(0);
            frame[28] = 0;
            (u16::from_le_bytes([credits[0], credits[1]]), id)
        };
        let own: Vec<_> = frames.iter_mut().map(numbers).collect();
        // A total of 64 credits is useful: one is available, and the first request asks for all
        // others and for its own.
        assert_eq!(own, [(64, 0), (57, 1), (50, 2)], "{operation:?}");
        assert!(frames.iter().all(|frame| frame == &frames[0]));
    }
}

#[test]
fn a_success_is_told_alike() {
    both(|mut bench| {
        let before = bench.now;
        let id = bench.ask(1, ECHO);
        bench.succeed(id, &ECHO);
        let end = bench.end();
        assert_eq!((end.ticket, end.outcome), (Bench::ticket(1), Outcome::Ok));
        assert_eq!((end.calls, end.bytes_sent, end.bytes_received), (1, 72, 72));
        assert_eq!(end.sent, Timestamp::from_nanos(before + 10));
        assert_eq!(end.done, Timestamp::from_nanos(before + 110));
    });
}

#[test]
fn what_is_repeated_goes_the_short_way_for_all_slots() {
    let mut bench = Bench::after(&[ECHO], None);
    let id = bench.ask(1, ECHO);
    bench.succeed(id, &ECHO);
    bench.end();
    bench.client.repeat(&[0, 1], &mut bench.out);
    let len = bench.out.bytes.len();
    assert_eq!(len, 2 * 72);
    let ids = [0, 72].map(|at| {
        let message = Message::from_bytes(&bench.out.bytes[at + 4..at + 72]);
        message.expect("a request").header.message_id
    });
    assert_eq!(ids, [2, 3]);
    bench.asked();
    assert_eq!(bench.client.in_flight(), 2);
    for id in [3, 2] {
        bench.succeed(id, &ECHO);
        assert_eq!(bench.end().ticket.slot, id as u32 - 2);
    }
    assert_eq!(bench.client.in_flight(), 0);
}

#[test]
fn a_read_goes_out_for_another_offset_and_says_what_it_has_moved() {
    let mut bench = Bench::after(&[reading(0)], None);
    let ticket = Bench::ticket(0);
    bench.client.submit(ticket, reading(200), &mut bench.out);
    let message = Message::from_bytes(&bench.out.bytes[4..]).expect("a request");
    let request: read::Request<'_> = message.body().expect("a READ");
    assert_eq!((request.offset, request.length), (200, 100));
    assert_eq!(request.file_id, OPENED);
    let id = bench.asked().expect("a request").message_id;
    bench.read(id, 100);
    let end = bench.end();
    assert_eq!((end.outcome, end.data_bytes), (Outcome::Ok, 100));
}

#[test]
fn less_than_was_asked_for_is_the_end_of_the_file_or_a_fault() {
    // A file of 300 bytes has 50 bytes from offset 250 on, and 100 from 200 on.
    let short = Outcome::Failed(Failure::BadReply(ReplyFault::Short));
    for (offset, outcome) in [(250, Outcome::Ok), (200, short)] {
        let mut bench = Bench::after(&[reading(0)], None);
        let id = bench.ask(0, reading(offset));
        bench.read(id, 50);
        let end = bench.end();
        assert_eq!((end.outcome, end.data_bytes), (outcome, 50), "{offset}");
    }
}

#[test]
fn a_refusal_is_told_alike() {
    both(|mut bench| {
        let id = bench.ask(0, ECHO);
        let (refused, error) = (Status::ACCESS_DENIED, ErrorResponse::default());
        bench.answer(id, Command::Echo, refused, &error);
        let end = bench.end();
        assert!(matches!(end.outcome, Outcome::Failed(Failure::Status(_))));
        assert_eq!((end.calls, end.bytes_sent), (1, 72));
        // The slot continues.
        let id = bench.ask(0, ECHO);
        bench.succeed(id, &ECHO);
        assert_eq!(bench.end().outcome, Outcome::Ok);
    });
}

#[test]
fn an_answer_to_something_else_is_told_alike() {
    both(|mut bench| {
        let id = bench.ask(0, ECHO);
        bench.answer(id, Command::Flush, Status::SUCCESS, &echo::Response {});
        let fault = Failure::BadReply(ReplyFault::Inconsistent);
        assert_eq!(bench.end().outcome, Outcome::Failed(fault));
    });
}

#[test]
fn an_answer_that_takes_its_time_is_waited_for() {
    both(|mut bench| {
        let id = bench.ask(0, ECHO);
        let pending = Header {
            route: Route::Async(7),
            ..header(id, Command::Echo, Status::PENDING)
        };
        let mut message = pending.to_bytes();
        message.extend(ErrorResponse::default().to_bytes());
        bench.receive(&message);
        assert!(bench.completed.is_empty());
        bench.succeed(id, &ECHO);
        assert_eq!(bench.end().outcome, Outcome::Ok);
    });
}

#[test]
fn what_is_not_answered_in_time_is_told_alike_and_its_answer_is_late() {
    both(|mut bench| {
        let id = bench.ask(0, ECHO);
        let sent = Timestamp::from_nanos(bench.now);
        let late = Timestamp::from_nanos(bench.now + TIMEOUT);
        let Bench {
            client,
            out,
            completed,
            ..
        } = &mut bench;
        client.handle_timeout(late, out, completed);
        let end = bench.end();
        assert_eq!((end.outcome, end.sent), (Outcome::TimedOut, sent));
        bench.succeed(id, &ECHO);
        assert!(bench.completed.is_empty());
        assert_eq!(bench.client.late_replies(), 1);
        let id = bench.ask(0, ECHO);
        bench.succeed(id, &ECHO);
        assert_eq!(bench.end().outcome, Outcome::Ok);
    });
}

#[test]
fn what_is_lost_with_its_connection_is_told_alike() {
    both(|mut bench| {
        bench.ask(0, ECHO);
        let sent = Timestamp::from_nanos(bench.now);
        let now = Timestamp::from_nanos(bench.now + 1);
        bench.client.disconnected(now, &mut bench.completed);
        let end = bench.end();
        assert_eq!((end.outcome, end.sent), (Outcome::Disconnected, sent));
        // No request is sent before there is another connection.
        let ticket = Bench::ticket(0);
        bench.client.submit(ticket, ECHO, &mut bench.out);
        assert!(bench.out.bytes.is_empty());
    });
}

#[test]
fn what_waits_for_credits_is_not_overtaken() {
    let mut bench = Bench::new(None);
    let first = bench.ask(0, ECHO);
    // A single credit was available.
    let ticket = Bench::ticket(1);
    bench.client.submit(ticket, ECHO, &mut bench.out);
    assert!(bench.out.bytes.is_empty());
    bench.succeed(first, &ECHO);
    bench.end();
    let second = bench.asked().expect("it had waited").message_id;
    bench.succeed(second, &ECHO);
    assert_eq!(bench.end().ticket.slot, 1);
}

#[test]
fn a_session_that_signs_signs_and_takes_nothing_forged() {
    let mut bench = Bench::after(&[ECHO], Some(keys()));
    let ticket = Bench::ticket(0);
    bench.client.submit(ticket, ECHO, &mut bench.out);
    let request = bench.out.bytes[4..].to_vec();
    assert!(keys().signer.verify(&request, &mut Vec::new()));
    let id = bench.asked().expect("a request").message_id;
    bench.succeed(id, &ECHO);
    assert_eq!(bench.end().outcome, Outcome::Ok);
    let id = bench.ask(0, ECHO);
    bench.keys = None;
    bench.succeed(id, &ECHO);
    let forged = Failure::BadReply(ReplyFault::Forged);
    assert_eq!(bench.end().outcome, Outcome::Failed(forged));
}
