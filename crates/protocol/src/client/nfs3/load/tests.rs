//! A client of a load against a server with scripted replies, in virtual time.

use super::*;
use crate::client::nfs3::sequence::{NfsClientErrorKind, answer};
use crate::client::{Client, Output, ProtocolError};
use crate::session::rpc::Credentials;
use filestone_plan::made::MadeNames;
use filestone_plan::plan::{CreateModes, TransportKind};
use filestone_wire::nfs3::write::StableHow;
use filestone_wire::nfs3::{
    self, Fattr3, FileHandle, FileType, Handle, Nfstime3, Procedure, Specdata3, WccData, commit,
    create, getattr, lookup, read, readdir, write,
};
use filestone_wire::nlm;
use filestone_wire::pattern;
use filestone_wire::record::RecordMark;
use filestone_wire::rpc::{AcceptStatus, CallHeader, Gids, OpaqueAuth, ReplyBody, ReplyHeader};
use filestone_wire::xdr::{Decode, Encode, Reader, Writer};
use filestone_workload::completions::CompletionBatch;
use filestone_workload::load::action::Disposition;
use filestone_workload::load::{
    ActionStatus, Compiler, DataTable, Expected, Line, LineData, Load, LoadAction, LoadWork,
    Script, ScriptAction,
};
use filestone_workload::operation::{Completion, Failure, Outcome, SlotId};
use filestone_workload::payload::{
    BlockPosition, FileKey, Pattern, Payload, Payloads, ReadCheck, WriteBlock,
};
use filestone_workload::time::Timestamp;
use std::sync::Arc;

const MS: u64 = 1_000_000;
const TIMEOUT: u64 = 30_000 * MS;
/// Service time of the server.
const SERVICE: u64 = MS;
const TICKET: SlotId = SlotId { client: 5, slot: 0 };

/// A call that the server received.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Seen {
    xid: u32,
    program: u32,
    procedure: u32,
    arguments: Vec<u8>,
}

/// Reaction of the server to a call.
enum Reaction {
    /// Sends these results.
    Results(Vec<u8>),
    /// Sends these bytes.
    Bytes(Vec<u8>),
    /// Does not reply.
    Nothing,
    /// Closes the connection.
    Close,
    /// Closes the connection after these bytes of a reply.
    Cut(Vec<u8>),
}

/// A client with its connections, and a server.
struct Bench<S> {
    clients: Vec<LoadClient>,
    outputs: Vec<Output>,
    transport: TransportKind,
    pattern: Arc<[u8]>,
    now: Timestamp,
    seen: Vec<Seen>,
    server: S,
    completed: CompletionBatch,
    error: Option<ProtocolError>,
    /// Bytes that arrive at a time.
    piece: usize,
}

fn options(transport: TransportKind, has_lock_manager: bool) -> LoadClientOptions {
    let directory = |byte| Handle::new(&[byte]).expect("a handle");
    LoadClientOptions {
        actor: ActorOptions {
            client: 0,
            directories: RunDirectories {
                root: directory(1),
                clients: directory(2),
                transfers: NfsTransferLimits {
                    read: 65_536,
                    write: 65_536,
                },
            },
            options: LoadOptions {
                has_nfs_verbs: false,
                ignores_case: false,
                stable: false,
                modes: CreateModes::OWN,
            },
            made: Arc::new(MadeNames::any()),
            has_lock_manager,
            timeout_nanos: TIMEOUT,
        },
        credentials: Credentials {
            machine_name: "filestone-0".into(),
            uid: 1,
            gid: 2,
            gids: Gids::EMPTY,
            stamp: 3,
            modes: CreateModes::OWN,
        },
        transport,
        pattern: pattern::table().into(),
        first_xid: 100,
    }
}

impl<S: FnMut(&Seen, usize) -> Reaction> Bench<S> {
    fn new(transport: TransportKind, has_lock_manager: bool, server: S) -> Self {
        Self::with(options(transport, has_lock_manager), server)
    }

    fn with(options: LoadClientOptions, server: S) -> Self {
        let (transport, has_lock_manager) = (options.transport, options.actor.has_lock_manager);
        let mut clients = vec![LoadClient::new(&options)];
        if has_lock_manager {
            let locks = clients[0].lock_manager(&options, 0, 1);
            clients.extend(locks);
        }
        let mut outputs: Vec<Output> = clients.iter().map(|_| Output::default()).collect();
        for (client, output) in clients.iter_mut().zip(&mut outputs) {
            client.connected(Timestamp::ZERO, output);
        }
        Self {
            clients,
            outputs,
            transport,
            pattern: options.pattern,
            now: Timestamp::ZERO,
            seen: Vec::new(),
            server,
            completed: CompletionBatch::default(),
            error: None,
            piece: usize::MAX,
        }
    }

    /// Executes an action that should succeed.
    fn act(&mut self, action: LoadAction<'_>) -> Completion {
        self.expect(action, Expected::Success)
    }

    fn expect(&mut self, action: LoadAction<'_>, expected: Expected) -> Completion {
        self.work(LoadWork::Line(Line {
            number: 7,
            stamp: None,
            action,
            expected,
            payload: None,
            data: LineData::apart(b"x"),
        }))
    }

    fn work(&mut self, work: LoadWork<'_>) -> Completion {
        self.completed.clear();
        self.clients[0].submit(TICKET, work, &mut self.outputs[0]);
        self.clients[0].end_at_once(self.now, &mut self.completed);
        self.hand_over(0);
        while self.completed.is_empty() {
            self.step();
        }
        let ended: Vec<Completion> = self.completed.iter().collect();
        assert_eq!(ended.len(), 1);
        assert_eq!(ended[0].ticket, TICKET);
        ended[0]
    }

    /// Performs the next event: output is sent and answered, or time passes.
    fn step(&mut self) {
        match self.outputs.iter().position(|output| !output.is_empty()) {
            Some(end) => self.exchange(end),
            None => {
                let timeouts = self.clients.iter().map(Client::poll_timeout);
                let next = timeouts.min().expect("a client");
                assert_ne!(next, Timestamp::MAX, "it waits for nothing");
                self.now = self.now.max(next);
                for end in 0..self.clients.len() {
                    let (client, output) = (&mut self.clients[end], &mut self.outputs[end]);
                    client.handle_timeout(self.now, output, &mut self.completed);
                    self.hand_over(end);
                }
            }
        }
    }

    fn exchange(&mut self, end: usize) {
        self.clients[end].transmitted(self.now);
        let calls = self.take_calls(end);
        for call in calls {
            self.now = self.now.after_nanos(SERVICE);
            let reaction = (self.server)(&call, self.seen.len());
            self.seen.push(call.clone());
            match reaction {
                Reaction::Results(results) => {
                    let bytes = reply(self.transport, call.xid, &results);
                    self.receive(end, &bytes);
                }
                Reaction::Bytes(bytes) => self.receive(end, &bytes),
                Reaction::Nothing => {}
                Reaction::Close => self.connect_again(end),
                Reaction::Cut(bytes) => {
                    self.receive(end, &bytes);
                    self.connect_again(end);
                }
            }
        }
    }

    fn connect_again(&mut self, end: usize) {
        self.clients[end].disconnected(self.now, &mut self.completed);
        self.now = self.now.after_nanos(50 * MS);
        self.clients[end].connected(self.now, &mut self.outputs[end]);
    }

    fn receive(&mut self, end: usize, bytes: &[u8]) {
        for piece in bytes.chunks(self.piece) {
            let (client, output) = (&mut self.clients[end], &mut self.outputs[end]);
            if let Err(error) = client.handle_input(piece, self.now, &mut self.completed) {
                self.error = Some(error);
                return;
            }
            client.answer(output);
            self.hand_over(end);
        }
    }

    fn hand_over(&mut self, end: usize) {
        if let Some(other) = self.clients[end].hands_over() {
            let other = other as usize;
            self.clients[other].answer(&mut self.outputs[other]);
        }
    }

    /// Returns the calls in the output, decoded as by a server.
    fn take_calls(&mut self, end: usize) -> Vec<Seen> {
        let output = &mut self.outputs[end];
        let (mut stream, mut at) = (Vec::new(), 0);
        for splice in &output.splices {
            stream.extend_from_slice(&output.bytes[at..splice.at]);
            stream.extend_from_slice(&self.pattern[splice.start..splice.start + splice.len]);
            at = splice.at;
        }
        stream.extend_from_slice(&output.bytes[at..]);
        let mut calls = Vec::new();
        let mut rest = &stream[..];
        let mut datagrams = output.datagrams.iter();
        let mut begin = 0;
        while !rest.is_empty() {
            let (call, after) = match self.transport {
                TransportKind::Tcp => {
                    let (mark, after) = rest.split_first_chunk::<4>().expect("a mark");
                    let mark = RecordMark::from_bytes(*mark);
                    assert!(mark.last);
                    after.split_at(mark.len as usize)
                }
                TransportKind::Udp => {
                    let end = *datagrams.next().expect("a datagram");
                    let split = rest.split_at(end - begin);
                    begin = end;
                    split
                }
            };
            rest = after;
            let mut reader = Reader::new(call);
            let header = CallHeader::decode(&mut reader).expect("a call");
            calls.push(Seen {
                xid: header.xid,
                program: header.program,
                procedure: header.procedure,
                arguments: reader.rest().to_vec(),
            });
        }
        output.clear();
        calls
    }

    fn procedures(&self) -> Vec<Procedure> {
        let number = |seen: &Seen| Procedure::from_number(seen.procedure).expect("of NFS");
        self.seen.iter().map(number).collect()
    }
}

/// Returns a reply as sent.
fn reply(transport: TransportKind, xid: u32, results: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let start = (transport == TransportKind::Tcp).then(|| RecordMark::open(&mut out));
    let header = ReplyHeader {
        xid,
        verifier: OpaqueAuth::NONE,
        body: ReplyBody::Accepted(AcceptStatus::Success),
    };
    header.encode(&mut Writer::new(&mut out));
    out.extend_from_slice(results);
    if let Some(start) = start {
        RecordMark::close(&mut out, start, 0);
    }
    out
}

fn attributes(file_type: FileType) -> Fattr3 {
    let never = Nfstime3::default();
    Fattr3 {
        file_type,
        mode: 0o600,
        nlink: 1,
        uid: 1,
        gid: 2,
        size: 0,
        used: 0,
        rdev: Specdata3::default(),
        fsid: 1,
        fileid: 3,
        atime: never,
        mtime: never,
        ctime: never,
    }
}

/// A server with a directory `clients/client0` that contains a file for every name except `new`.
fn usual(call: &Seen) -> Vec<u8> {
    let file = Some(attributes(FileType::Regular));
    match Procedure::from_number(call.procedure).expect("of NFS") {
        Procedure::Lookup => {
            let arguments = lookup::Args::from_bytes(&call.arguments).expect("arguments");
            let name = arguments.name;
            if name == b"new" {
                return failed(nfs3::Status::NOENT);
            }
            let kind = match name {
                b"client0" => FileType::Directory,
                _ => FileType::Regular,
            };
            lookup::Reply::Ok(lookup::ReplyOk {
                object: FileHandle::new(name).expect("a handle"),
                obj_attributes: Some(attributes(kind)),
                dir_attributes: None,
            })
            .to_bytes()
        }
        Procedure::Create => create::Reply::Ok(create::ReplyOk {
            obj: FileHandle::new(b"made"),
            obj_attributes: file,
            dir_wcc: WccData::default(),
        })
        .to_bytes(),
        Procedure::Write => {
            let arguments = write::Args::from_bytes(&call.arguments).expect("arguments");
            assert_eq!(arguments.data.len(), arguments.count as usize);
            write::Reply::Ok(write::ReplyOk {
                file_wcc: WccData::default(),
                count: arguments.count,
                committed: StableHow::Unstable,
                verf: [9; 8],
            })
            .to_bytes()
        }
        Procedure::Commit => commit::Reply::Ok(commit::ReplyOk {
            file_wcc: WccData::default(),
            verf: [9; 8],
        })
        .to_bytes(),
        Procedure::Getattr => getattr::Reply::Ok(attributes(FileType::Regular)).to_bytes(),
        Procedure::Read => {
            let arguments = read::Args::from_bytes(&call.arguments).expect("arguments");
            read_of(arguments.count as usize, true)
        }
        other => panic!("{other:?} is not expected"),
    }
}

fn read_of(len: usize, eof: bool) -> Vec<u8> {
    read::Reply::Ok(read::ReplyOk {
        file_attributes: Some(attributes(FileType::Regular)),
        count: len as u32,
        eof,
        data: &vec![7; len],
    })
    .to_bytes()
}

/// Results that end a call of any procedure with this status.
fn failed(status: nfs3::Status) -> Vec<u8> {
    lookup::Reply::Err(status.into()).to_bytes()
}

fn ok(call: &Seen, _: usize) -> Reaction {
    Reaction::Results(usual(call))
}

const OPEN: LoadAction<'static> = LoadAction::NtCreateX {
    path: b"clients/client0/new",
    options: 0,
    disposition: Disposition::OpenIf,
    handle: 4,
};
const QUERY: LoadAction<'static> = LoadAction::QueryPathInformation {
    path: b"clients/client0/a",
    level: 1,
};

fn read_x(len: u64, expected_len: u64) -> LoadAction<'static> {
    LoadAction::ReadX {
        handle: 4,
        offset: 0,
        len,
        expected_len,
    }
}

fn write_x(len: u64) -> LoadAction<'static> {
    LoadAction::WriteX {
        handle: 4,
        offset: 10,
        len,
        expected_len: len,
    }
}

#[test]
fn verbs_become_the_calls_of_the_table() {
    use Procedure as P;
    let mut bench = Bench::new(TransportKind::Tcp, false, ok);
    let opened = bench.act(OPEN);
    assert_eq!(bench.procedures(), [P::Lookup, P::Lookup, P::Create]);
    assert_eq!((opened.outcome, opened.calls), (Outcome::Ok, 3));
    assert_eq!(opened.sent, Timestamp::ZERO);
    assert_eq!(opened.done, Timestamp::from_nanos(3 * SERVICE));
    bench.seen.clear();
    let written = bench.act(write_x(100_000));
    assert_eq!(bench.procedures(), [P::Write, P::Write]);
    assert_eq!((written.calls, written.data_bytes), (2, 100_000));
    assert!(written.bytes_sent > 100_000, "{}", written.bytes_sent);
    bench.seen.clear();
    assert_eq!(bench.act(LoadAction::Close { handle: 4 }).calls, 1);
    assert_eq!(bench.procedures(), [P::Commit]);
    let line = bench.clients[0].line_end().expect("a line");
    assert_eq!((line.line, line.status), (7, Some(ActionStatus::Ok)));
}

/// A load that writes 70,000 bytes, after these lines.
fn writing(before: &str) -> Arc<Load> {
    let mut compiler = Compiler::new("write.load");
    compiler.line(b"NTCreateX \"/clients/client1/new\" 0 2 4 NT_STATUS_OK");
    before
        .lines()
        .for_each(|line| compiler.line(line.as_bytes()));
    compiler.line(b"WriteX 4 0 70000 70000 NT_STATUS_OK");
    Arc::new(compiler.finish().expect("the load is right"))
}

/// Returns the data that the second of two loads writes.
fn written_by_the_second(loads: [Arc<Load>; 2]) -> Vec<u8> {
    let table = DataTable::of(&loads);
    let options = LoadClientOptions {
        pattern: Arc::clone(table.bytes()),
        ..options(TransportKind::Tcp, false)
    };
    let mut bench = Bench::with(options, ok);
    bench.act(OPEN);
    bench.seen.clear();
    let [_, load] = loads;
    let mut script = Script::new(load, 0, 1, 1).with_patterns_at(table.places_of(1));
    for _ in 0..2 {
        let Ok(ScriptAction::Operation(line)) = script.next() else {
            panic!("a line");
        };
        bench.work(LoadWork::Line(line));
    }
    // A call has some hundred bytes; the data are in the table.
    assert!(bench.outputs[0].bytes.capacity() < 2048);
    (bench.seen.iter().rev().take(2).rev())
        .flat_map(|call| {
            let arguments = write::Args::from_bytes(&call.arguments).expect("arguments");
            arguments.data.to_vec()
        })
        .collect()
}

#[test]
fn data_of_the_pattern_are_not_copied_and_arrive_whole() {
    let written = written_by_the_second([writing(""), writing("")]);
    assert_eq!(pattern::first_mismatch(0, &written), None);
    assert_eq!(written.len(), 70_000);
}

#[test]
fn data_of_a_pattern_of_the_load_are_not_copied_and_arrive_whole() {
    let other = "WRITEPATTERN x\nWRITEPATTERN other";
    let written =
        written_by_the_second([writing(other), writing("WRITEPATTERN zz\nWRITEPATTERN abc")]);
    assert!(written == b"abc".repeat(23_334)[..70_000]);
}

#[test]
fn what_needs_no_call_ends_at_once() {
    let mut bench = Bench::new(TransportKind::Tcp, false, ok);
    bench.act(OPEN);
    bench.seen.clear();
    let (handle, offset, len) = (4, 0, 1);
    let locked = bench.act(LoadAction::LockX {
        handle,
        offset,
        len,
    });
    assert_eq!((locked.outcome, locked.calls), (Outcome::Ok, 0));
    assert_eq!((locked.sent, locked.done), (Timestamp::MAX, bench.now));
    let refused = bench.expect(LoadAction::Close { handle: 5 }, Expected::Nt(0xc000_0008));
    assert_eq!(refused.outcome, Outcome::Ok);
    assert!(bench.seen.is_empty());
}

#[test]
fn what_differs_from_the_line_is_a_mismatch_and_can_be_asked_for() {
    let mut bench = Bench::new(TransportKind::Tcp, false, ok);
    let expected = Expected::Nt(0xc000_0034);
    let found = bench.expect(QUERY, expected);
    assert!(matches!(
        found.outcome,
        Outcome::Failed(Failure::Unexpected(_))
    ));
    let line = bench.clients[0].line_end().expect("a line");
    assert_eq!(
        (line.expected, line.status),
        (expected, Some(ActionStatus::Ok))
    );
    assert_eq!(bench.clients[0].take_lost(), None);
}

#[test]
fn data_that_are_read_are_counted_and_not_kept() {
    for piece in [1, 100, 4000, usize::MAX] {
        let mut bench = Bench::new(TransportKind::Tcp, false, ok);
        bench.act(OPEN);
        bench.piece = piece;
        let read = bench.act(read_x(60_001, 60_001));
        assert_eq!((read.outcome, read.data_bytes), (Outcome::Ok, 60_001));
        assert!(read.bytes_received > 60_001);
        let short = bench.act(read_x(100, 99));
        assert!(matches!(short.outcome, Outcome::Failed(_)), "{short:?}");
        let line = bench.clients[0].line_end().expect("a line");
        let (expected, got) = (99, 100);
        assert_eq!(
            line.status,
            Some(ActionStatus::WrongLength { expected, got })
        );
    }
}

#[test]
fn a_server_that_is_not_ready_is_asked_again_after_pauses() {
    let mut bench = Bench::new(
        TransportKind::Tcp,
        false,
        |call: &Seen, count| match count {
            1 | 2 => Reaction::Results(failed(nfs3::Status::JUKEBOX)),
            _ => Reaction::Results(usual(call)),
        },
    );
    let done = bench.act(QUERY);
    assert_eq!((done.outcome, done.calls), (Outcome::Ok, 4));
    assert_eq!(done.done.nanos(), 4 * SERVICE + 300 * MS);
    let busy = bench.clients[0].take_busy_pauses();
    assert_eq!((busy.calls, busy.pauses.as_millis()), (2, 300));
    let mut xids: Vec<u32> = bench.seen.iter().map(|call| call.xid).collect();
    xids.dedup();
    assert_eq!(xids.len(), 4, "each has a number of its own");
    assert_eq!(bench.seen[1].arguments, bench.seen[3].arguments);
}

#[test]
fn one_that_never_becomes_ready_is_answered_so() {
    let mut bench = Bench::new(TransportKind::Tcp, false, |_: &Seen, _| {
        Reaction::Results(failed(nfs3::Status::JUKEBOX))
    });
    let done = bench.act(QUERY);
    assert!(matches!(done.outcome, Outcome::Failed(_)), "{done:?}");
    assert!(done.done.nanos() <= TIMEOUT);
    let line = bench.clients[0].line_end().expect("a line");
    assert_eq!(line.status, Some(answer(nfs3::Status::JUKEBOX)));
}

#[test]
fn no_answer_in_time_ends_the_client() {
    let mut bench = Bench::new(TransportKind::Tcp, false, |_: &Seen, _| Reaction::Nothing);
    let done = bench.act(QUERY);
    assert_eq!(done.outcome, Outcome::Disconnected);
    assert_eq!((done.sent.nanos(), done.done.nanos()), (0, TIMEOUT));
    let lost = bench.clients[0].take_lost().expect("it is lost");
    assert_eq!(
        (lost.procedure.name, lost.reason),
        ("lookup", NfsClientErrorKind::TimedOut)
    );
    let line = bench.clients[0].line_end().expect("a line");
    assert_eq!(line.status, None);
}

#[test]
fn a_call_that_is_cut_off_goes_out_again_as_it_was() {
    let mut bench = Bench::new(
        TransportKind::Tcp,
        false,
        |call: &Seen, count| match count {
            1 => Reaction::Close,
            _ => Reaction::Results(usual(call)),
        },
    );
    let done = bench.act(QUERY);
    assert_eq!((done.outcome, done.retransmissions), (Outcome::Ok, 1));
    assert_eq!(bench.seen[1], bench.seen[2]);
}

/// A server whose file has these data, and which cuts off its reply to the call with that number
/// after `len` bytes.
fn cutting(data: &[u8], number: usize, len: usize) -> impl FnMut(&Seen, usize) -> Reaction {
    move |call: &Seen, count| {
        let results = match Procedure::from_number(call.procedure) {
            Some(Procedure::Read) => {
                let asked = read::Args::from_bytes(&call.arguments).expect("arguments");
                let from = asked.offset as usize;
                let data = &data[from..from + asked.count as usize];
                let file_attributes = Some(attributes(FileType::Regular));
                read::Reply::Ok(read::ReplyOk {
                    file_attributes,
                    count: asked.count,
                    eof: false,
                    data,
                })
                .to_bytes()
            }
            _ => usual(call),
        };
        if count == number {
            let reply = reply(TransportKind::Tcp, call.xid, &results);
            Reaction::Cut(reply[..len.min(reply.len() - 1)].to_vec())
        } else {
            Reaction::Results(results)
        }
    }
}

/// Two units of 150 bytes with checksums, read in two pieces that end in the middle of a unit.
#[test]
fn a_reply_that_is_cut_off_at_any_byte_leaves_nothing_behind() {
    let key = FileKey {
        run: 7,
        client: 0,
        file: 1,
        pass: 0,
    };
    let units = Payloads::new(&[Pattern::Prbs15], 4096);
    let (mut data, mut room) = (Vec::new(), Vec::new());
    for number in 0..2 {
        let (offset, len) = (u64::from(number) * 150, 150);
        let place = BlockPosition {
            number,
            offset,
            len,
        };
        let unit = WriteBlock::plain(units.region(0), Pattern::Prbs15.start(), place, 3);
        unit.with_checksum(key, place, units.table())
            .fill(150, units.table(), &mut room);
        data.extend_from_slice(&room);
    }
    let pieces = [(0, 200), (200, 100)].map(|(offset, len)| {
        Payload::Reading(ReadCheck {
            file: key,
            offset,
            number: 0,
            is_first: offset == 0,
            is_last: offset + len == 300,
        })
    });
    let reading = |piece: usize| Line {
        number: 7,
        stamp: None,
        action: LoadAction::ReadX {
            handle: 4,
            offset: [0, 200][piece],
            len: [200, 100][piece],
            expected_len: [200, 100][piece],
        },
        expected: Expected::Success,
        payload: Some(&pieces[piece]),
        data: LineData::apart(b"x"),
    };
    // LOOKUP, LOOKUP and CREATE open the file; two READs follow.
    for number in 0..5 {
        for (cut, piece) in (0..350).flat_map(|cut| [(cut, 1), (cut, 60), (cut, usize::MAX)]) {
            let mut bench = Bench::new(TransportKind::Tcp, false, cutting(&data, number, cut));
            bench.piece = piece;
            let opened = bench.act(OPEN).outcome;
            let done = [0, 1].map(|piece| bench.work(LoadWork::Line(reading(piece))).outcome);
            let what = format!("call {number} cut at {cut}, received by {piece}");
            assert_eq!((opened, done), (Outcome::Ok, [Outcome::Ok; 2]), "{what}");
        }
    }
}

#[test]
fn a_connection_that_is_given_up_loses_the_line() {
    let mut bench = Bench::new(TransportKind::Tcp, false, ok);
    let line = Line {
        number: 7,
        stamp: None,
        action: QUERY,
        expected: Expected::Success,
        payload: None,
        data: LineData::apart(b"x"),
    };
    let (client, output) = (&mut bench.clients[0], &mut bench.outputs[0]);
    client.submit(TICKET, LoadWork::Line(line), output);
    client.transmitted(bench.now);
    client.disconnected(bench.now, &mut bench.completed);
    assert!(bench.completed.is_empty());
    output.clear();
    client.break_off(
        NfsClientErrorKind::Disconnected,
        bench.now,
        &mut bench.completed,
    );
    let ended: Vec<Completion> = bench.completed.iter().collect();
    assert_eq!(ended[0].outcome, Outcome::Disconnected);
    let lost = client.take_lost().expect("it is lost");
    assert_eq!(lost.reason, NfsClientErrorKind::Disconnected);
    // The client accepts another action on the next connection.
    client.connected(bench.now, output);
    assert!(output.is_empty());
    assert_eq!(bench.act(QUERY).outcome, Outcome::Ok);
}

#[test]
fn what_was_never_sent_is_skipped() {
    let mut bench = Bench::new(TransportKind::Tcp, false, ok);
    let (client, output) = (&mut bench.clients[0], &mut bench.outputs[0]);
    client.disconnected(bench.now, &mut bench.completed);
    let line = Line {
        number: 7,
        stamp: None,
        action: QUERY,
        expected: Expected::Success,
        payload: None,
        data: LineData::apart(b"x"),
    };
    client.submit(TICKET, LoadWork::Line(line), output);
    assert!(output.is_empty());
    client.abort(bench.now, &mut bench.completed);
    let ended: Vec<Completion> = bench.completed.iter().collect();
    assert_eq!(ended[0].outcome, Outcome::Skipped);
    client.connected(bench.now, output);
    assert!(output.is_empty());
}

#[test]
fn a_lost_datagram_is_sent_again() {
    let mut bench = Bench::new(
        TransportKind::Udp,
        false,
        |call: &Seen, count| match count {
            0 => Reaction::Nothing,
            _ => Reaction::Results(usual(call)),
        },
    );
    let done = bench.act(QUERY);
    assert_eq!((done.outcome, done.retransmissions), (Outcome::Ok, 1));
    assert_eq!(done.done.nanos(), 1100 * MS + 2 * SERVICE);
    assert_eq!(bench.seen[0], bench.seen[1]);
    bench.act(OPEN);
    assert_eq!(bench.act(write_x(3000)).data_bytes, 3000);
    assert_eq!(bench.act(read_x(3000, 3000)).data_bytes, 3000);
}

#[test]
fn replies_to_other_calls_are_passed_over() {
    let mut bench = Bench::new(TransportKind::Tcp, false, |call: &Seen, _| {
        let other = reply(TransportKind::Tcp, call.xid ^ 1, &usual(call));
        let right = reply(TransportKind::Tcp, call.xid, &usual(call));
        Reaction::Bytes([other.clone(), right, other].concat())
    });
    assert_eq!(bench.act(QUERY).outcome, Outcome::Ok);
    assert!(bench.clients[0].late_replies() >= 3);
}

/// Returns the error of a client whose call with that number receives this reaction.
fn lost_by(
    at: usize,
    action: LoadAction<'_>,
    bytes: impl Fn(&Seen) -> Reaction,
) -> NfsClientErrorKind {
    let mut bench = Bench::new(TransportKind::Tcp, false, |call: &Seen, count| {
        if count == at {
            bytes(call)
        } else {
            Reaction::Results(usual(call))
        }
    });
    if !matches!(action, LoadAction::QueryPathInformation { .. }) {
        bench.act(OPEN);
    }
    let done = bench.act(action);
    assert_eq!(done.outcome, Outcome::Disconnected);
    assert_eq!((done.calls, done.data_bytes), (0, 0));
    bench.clients[0].take_lost().expect("it is lost").reason
}

#[test]
fn what_the_standard_forbids_ends_the_client() {
    let short = lost_by(0, QUERY, |call| {
        let mut results = usual(call);
        results.truncate(20);
        Reaction::Results(results)
    });
    assert!(matches!(short, NfsClientErrorKind::Decode(_)), "{short:?}");
    let long = lost_by(0, QUERY, |call| {
        Reaction::Results([usual(call), vec![0; 4]].concat())
    });
    assert!(matches!(long, NfsClientErrorKind::Decode(_)), "{long:?}");
    let too_much = lost_by(3, read_x(100, 100), |_| {
        Reaction::Results(read_of(50_000, false))
    });
    let NfsClientErrorKind::ProtocolViolation(what) = too_much else {
        panic!("{too_much:?}");
    };
    let said = "asked for 100 bytes, it says it sent 50000 and sent 50000";
    assert_eq!(what, said);
    let nothing = lost_by(3, read_x(100, 100), |_| {
        Reaction::Results(read_of(0, false))
    });
    assert!(
        matches!(nothing, NfsClientErrorKind::ProtocolViolation(_)),
        "{nothing:?}"
    );
    let cut = lost_by(3, read_x(100, 100), |_| {
        let mut results = read_of(100, true);
        results.truncate(150);
        Reaction::Results(results)
    });
    assert!(matches!(cut, NfsClientErrorKind::Decode(_)), "{cut:?}");
}

#[test]
fn what_is_no_rpc_ends_the_client_and_the_connection() {
    let mut bench = Bench::new(TransportKind::Tcp, false, |_: &Seen, _| {
        Reaction::Bytes(b"HTTP/1.1 400 Bad Request\r\n".to_vec())
    });
    let done = bench.act(QUERY);
    assert_eq!(done.outcome, Outcome::Disconnected);
    assert!(matches!(bench.error, Some(ProtocolError::Rpc(_))));
    let lost = bench.clients[0].take_lost().expect("it is lost");
    let NfsClientErrorKind::BadMessage(_, start) = lost.reason else {
        panic!("{lost:?}");
    };
    assert!(start.starts_with(b"HTTP/1.1"));
}

#[test]
fn a_listing_that_leads_in_a_circle_ends_the_client() {
    let mut bench = Bench::new(TransportKind::Tcp, false, |_: &Seen, count| {
        let cookie = 1 + count as u64 % 3;
        let entry = readdir::Entry {
            fileid: 1,
            name: b"a",
            cookie,
        };
        let page = readdir::ReplyOk {
            dir_attributes: None,
            cookieverf: [0; 8],
            entries: vec![entry],
            eof: false,
        };
        let fail = [nfs3::Status::NOENT.0.to_be_bytes(), [0; 4]].concat();
        match count {
            0 => Reaction::Results(fail),
            _ => Reaction::Results(readdir::Reply::Ok(page).to_bytes()),
        }
    });
    let mut options = options(TransportKind::Tcp, false);
    options.actor.options.ignores_case = true;
    bench.clients = vec![LoadClient::new(&options)];
    bench.clients[0].connected(Timestamp::ZERO, &mut bench.outputs[0]);
    let path = b"B";
    let done = bench.act(LoadAction::QueryPathInformation { path, level: 1 });
    assert_eq!(done.outcome, Outcome::Disconnected);
    let lost = bench.clients[0].take_lost().expect("it is lost");
    assert_eq!(lost.procedure.name, "readdir");
    let NfsClientErrorKind::ProtocolViolation(what) = lost.reason else {
        panic!("{lost:?}");
    };
    assert_eq!(what, "the listing leads in a circle");
}

#[test]
fn locks_go_over_a_connection_of_their_own() {
    let granted = |stat: nlm::Status| [&[0; 4][..], &stat.0.to_be_bytes()].concat();
    let mut blocked = 2;
    let mut bench = Bench::new(TransportKind::Tcp, true, move |call: &Seen, _| {
        if call.program != nlm::PROGRAM {
            return Reaction::Results(usual(call));
        }
        blocked -= i32::from(blocked > 0);
        let stat = match blocked {
            0 => nlm::Status::GRANTED,
            _ => nlm::Status::BLOCKED,
        };
        Reaction::Results(granted(stat))
    });
    bench.act(OPEN);
    let (handle, offset, len) = (4, 0, 1);
    let locked = bench.act(LoadAction::LockX {
        handle,
        offset,
        len,
    });
    assert_eq!((locked.outcome, locked.calls), (Outcome::Ok, 2));
    assert!(locked.done.nanos_since(locked.sent) >= MS + 2 * SERVICE);
    bench.act(write_x(100));
    bench.seen.clear();
    // The lock is released with the file, and the data are made stable.
    assert_eq!(bench.act(LoadAction::Close { handle }).calls, 2);
    let programs: Vec<u32> = bench.seen.iter().map(|call| call.program).collect();
    assert_eq!(programs, [nlm::PROGRAM, nfs3::PROGRAM]);
}

#[test]
fn a_pass_ends_with_what_it_left_open() {
    let mut bench = Bench::new(TransportKind::Tcp, false, ok);
    bench.act(OPEN);
    bench.act(write_x(100));
    bench.seen.clear();
    assert_eq!(bench.work(LoadWork::EndPass).outcome, Outcome::Ok);
    assert_eq!(bench.procedures(), [Procedure::Commit]);
}

#[test]
fn a_client_takes_little_memory() {
    let client = LoadClient::new(&options(TransportKind::Tcp, false));
    let len = size_of_val(&client) + client.shared_len();
    assert!(len <= 5 << 10, "{len}");
}
