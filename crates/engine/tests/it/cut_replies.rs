//! Connections that are lost inside a reply, at any byte of it: clients of SMB against the built-in
//! server, without sockets. What has come in of the reply must leave nothing behind. NFS has the
//! same tests beside its clients, in the model.

use filestone_plan::made::MadeNames;
use filestone_plan::plan::SmbProtection;
use filestone_protocol::client::handles::ServerHandles;
use filestone_protocol::client::smb2::{
    ChannelPosition, ClientState, ConnectOptions, ConnectionSetup, HandlePolicy, OperationOptions,
    ShareFiles, ShareLoadOptions, ShareTransfers, Smb2Client, Smb2ClientOptions, Smb2Language,
    operating, replaying,
};
use filestone_protocol::client::{Client, Output, ProtocolError, Verify};
use filestone_protocol::session::smb2::Smb2Session;
use filestone_protocol::workload::{FileEntry, FileTable, ObjectKind};
use filestone_server::{SessionEnd, SmbConversation};
use filestone_setup::smb2::ntlm::Ntlm;
use filestone_wire::pattern;
use filestone_wire::smb2::negotiate::Cipher;
use filestone_workload::completions::CompletionBatch;
use filestone_workload::language::{Operations, WorkType};
use filestone_workload::load::action::Disposition;
use filestone_workload::load::{Expected, Line, LineData, Lines, LoadAction, LoadWork};
use filestone_workload::operation::{
    AttributeChange, DirectoryCursor, FileId, ObjectName, OpenAccess, OpenId, Operation, Outcome,
    SlotId, Stability,
};
use filestone_workload::payload::{
    BlockPosition, FileKey, Pattern, Payload, Payloads, ReadCheck, WriteBlock,
};
use filestone_workload::time::Timestamp;
use std::sync::Arc;

const TICKET: SlotId = SlotId { client: 0, slot: 0 };
const TIMEOUT_NANOS: u64 = 10_000_000_000;
const FRAME_MAX: usize = 1 << 20;

/// What goes wrong with which send of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cut {
    send: usize,
    trouble: Trouble,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trouble {
    /// The connection is lost after so many bytes of the reply.
    LostAt(usize),
    /// The session ends before there is a reply. The connection stays.
    Ended(SessionEnd),
}

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Met {
    /// It happened.
    Cut,
    /// It is shorter than that.
    ShortReply,
    /// There was no such send.
    NoSend,
}

/// A client, its server and the bytes between them.
struct Bench<L> {
    client: Smb2Client<L>,
    out: Output,
    server: SmbConversation,
    pattern: Arc<[u8]>,
    nanos: u64,
    completed: CompletionBatch,
}

fn way() -> Arc<ConnectionSetup> {
    Arc::new(ConnectionSetup::new(ConnectOptions {
        dialects: ConnectOptions::DIALECTS.to_vec(),
        ciphers: vec![Cipher::AES_128_GCM],
        client_guid: [7; 16],
        salt: [9; 32],
        signing: SmbProtection::IfRequired,
        encryption: SmbProtection::Off,
        mechanisms: Arc::new(Ntlm::user("guest", "", "")),
        share: "\\\\server\\export".into(),
        server: "server".into(),
        channels: 1,
    }))
}

impl<L: Smb2Language> Bench<L> {
    fn new(
        way: Arc<ConnectionSetup>,
        pattern: Arc<[u8]>,
        actors: Vec<
            filestone_protocol::client::actor::Actor<filestone_protocol::client::smb2::SmbCalls>,
        >,
    ) -> Self {
        let slots = actors.len() as u32;
        let options = Smb2Client::<L>::session_options(slots, TIMEOUT_NANOS, FRAME_MAX);
        let options_of_client = Smb2ClientOptions {
            way,
            pattern: Arc::clone(&pattern),
            timeout_nanos: TIMEOUT_NANOS,
            lane: ChannelPosition::ALONE,
        };
        let session = Smb2Session::new(options);
        let mut bench = Self {
            client: Smb2Client::over(session, options_of_client, actors),
            out: Output::default(),
            server: SmbConversation::new(true),
            pattern,
            nanos: 0,
            completed: CompletionBatch::default(),
        };
        bench.connect();
        bench
    }

    fn now(&mut self) -> Timestamp {
        self.nanos += 1000;
        Timestamp::from_nanos(self.nanos)
    }

    /// Comes to an agreement with the server.
    fn connect(&mut self) {
        let now = self.now();
        self.client.connected(now, &mut self.out);
        while !self.client.is_ready() {
            self.exchange(None);
        }
    }

    /// What the server answers to all that is in the output.
    fn answer(&mut self) -> Vec<u8> {
        let (mut sent, mut from) = (Vec::new(), 0);
        for splice in &self.out.splices {
            sent.extend_from_slice(&self.out.bytes[from..splice.at]);
            sent.extend_from_slice(&self.pattern[splice.start..splice.start + splice.len]);
            from = splice.at;
        }
        sent.extend_from_slice(&self.out.bytes[from..]);
        self.out.clear();
        let now = self.now();
        self.client.transmitted(now);
        let (mut rest, mut answer) = (&sent[..], Vec::new());
        while let Some((mark, after)) = rest.split_first_chunk::<4>() {
            let (frame, after) = after.split_at(u32::from_be_bytes(*mark) as usize);
            answer.extend(self.server.frame(false, frame).expect("an answer"));
            rest = after;
        }
        answer
    }

    /// Sends what is in the output, and receives the answer, up to the cut if there is one.
    fn exchange(&mut self, trouble: Option<Trouble>) -> Met {
        assert!(!self.out.is_empty(), "it waits for nothing");
        if let Some(Trouble::Ended(end)) = trouble {
            self.server.end_session(end);
        }
        let answer = self.answer();
        let (received, is_lost) = match trouble {
            Some(Trouble::LostAt(at)) if at < answer.len() => (&answer[..at], true),
            _ => (&answer[..], false),
        };
        let now = self.now();
        let heard = self.client.handle_input(received, now, &mut self.completed);
        if let Err(error) = &heard {
            let is_ended = matches!(error, ProtocolError::SessionEnded(_));
            assert!(is_ended, "{error}");
        } else if !is_lost {
            self.client.answer(&mut self.out);
            return Met::ShortReply;
        }
        self.client.disconnected(now, &mut self.completed);
        self.out.clear();
        self.server.connect_again(false);
        self.connect();
        Met::Cut
    }

    /// Does a piece of work, whose reply may be cut.
    fn work(&mut self, work: <L as WorkType>::WorkItem<'_>, cut: Option<Cut>) -> (Outcome, Met) {
        self.completed.clear();
        self.client.submit(TICKET, work, &mut self.out);
        let now = self.now();
        self.client.end_at_once(now, &mut self.completed);
        let (mut met, mut sends) = (Met::NoSend, 0);
        while self.completed.is_empty() {
            let here = cut.filter(|cut| cut.send == sends);
            let exchanged = self.exchange(here.map(|cut| cut.trouble));
            if here.is_some() || exchanged == Met::Cut {
                met = exchanged;
            }
            sends += 1;
        }
        let ended: Vec<Outcome> = self.completed.iter().map(|done| done.outcome).collect();
        assert_eq!(ended.len(), 1, "{ended:?}");
        (ended[0], met)
    }
}

/// Cuts every reply of some work at every byte, as long as `work` says that it met one.
fn at_every_byte(mut work: impl FnMut(Cut) -> Met) -> u32 {
    let (mut send, mut at, mut count) = (0, 0, 0);
    loop {
        let trouble = Trouble::LostAt(at);
        match work(Cut { send, trouble }) {
            Met::Cut => (at, count) = (at + 1, count + 1),
            Met::ShortReply => (send, at) = (send + 1, 0),
            Met::NoSend => return count,
        }
    }
}

/// Ends the session in each way, at each send of some work; how often the client has noticed.
fn with_each_end(mut work: impl FnMut(Cut) -> Met) -> u32 {
    let mut count = 0;
    for end in [
        SessionEnd::Deleted,
        SessionEnd::ShareClosed,
        SessionEnd::Expired,
    ] {
        for send in 0.. {
            let trouble = Trouble::Ended(end);
            match work(Cut { send, trouble }) {
                Met::Cut => count += 1,
                // A CLOSE is answered in a session that has expired, and an ECHO in none.
                Met::ShortReply => {}
                Met::NoSend => break,
            }
        }
    }
    count
}

const KEY: FileKey = FileKey {
    run: 7,
    client: 0,
    file: 1,
    pass: 0,
};
const UNIT: u32 = 150;

fn line<'l>(action: LoadAction<'l>, payload: Option<&'l Payload>) -> LoadWork<'l> {
    LoadWork::Line(Line {
        number: 1,
        stamp: None,
        action,
        expected: Expected::Success,
        payload,
        data: LineData::apart(b"x"),
    })
}

/// A client of a load whose file is open: two units with checksums.
fn replayer(units: &Payloads) -> Bench<Lines> {
    let way = way();
    let actor = replaying(ShareLoadOptions {
        client: 0,
        root: "".into(),
        clients: "files".into(),
        // Each READ and WRITE of a line takes several requests.
        transfers: ShareTransfers {
            read: 100,
            write: 100,
        },
        keeping: HandlePolicy::default(),
        made: Arc::new(MadeNames::any()),
        way: Arc::clone(&way),
        // A session that expired at a CLOSE ends with the first request of the next line, which may then be cut.
        retries: 2,
    });
    let mut bench = Bench::new(way, Arc::clone(units.table()), vec![actor]);
    let directory = LoadAction::Mkdir {
        path: b"clients/client0",
    };
    let file = LoadAction::NtCreateX {
        path: b"clients/client0/file",
        options: 0,
        disposition: Disposition::OpenIf,
        handle: 4,
    };
    for action in [directory, file] {
        assert_eq!(bench.work(line(action, None), None).0, Outcome::Ok);
    }
    for number in 0..2 {
        let place = BlockPosition {
            number,
            offset: u64::from(number * UNIT),
            len: UNIT,
        };
        let unit = WriteBlock::plain(units.region(0), Pattern::Prbs15.start(), place, 3);
        let unit = unit.with_checksum(KEY, place, units.table());
        let write = LoadAction::WriteX {
            handle: 4,
            offset: place.offset,
            len: UNIT.into(),
            expected_len: UNIT.into(),
        };
        let written = bench.work(line(write, Some(&Payload::Unit(unit))), None);
        assert_eq!(written.0, Outcome::Ok);
    }
    bench
}

#[test]
fn lines_of_a_load_are_done_once_more_from_their_beginning() {
    let units = Payloads::new(&[Pattern::Prbs15], 4096);
    let mut bench = replayer(&units);
    // It begins in the middle of the units, and is read in four requests.
    let reading = Payload::Reading(ReadCheck {
        file: KEY,
        offset: 0,
        number: 0,
        is_first: true,
        is_last: true,
    });
    let read = LoadAction::ReadX {
        handle: 4,
        offset: 0,
        len: 2 * u64::from(UNIT),
        expected_len: 2 * u64::from(UNIT),
    };
    let actions = [
        (read, Some(&reading)),
        (LoadAction::Flush { handle: 4 }, None),
        (
            LoadAction::QueryPathInformation {
                path: b"clients/client0/file",
                level: 0x101,
            },
            None,
        ),
        (
            LoadAction::FindFirst {
                pattern: b"clients/client0/*",
                level: 1,
                max: 10,
                expected: 0,
            },
            None,
        ),
        (
            LoadAction::ReadDirectoryPlus {
                path: b"clients/client0",
            },
            None,
        ),
    ];
    for (action, payload) in actions {
        let cuts = at_every_byte(|cut| {
            let (outcome, met) = bench.work(line(action, payload), Some(cut));
            assert_eq!(outcome, Outcome::Ok, "{action:?} at {cut:?}");
            met
        });
        assert!(cuts > 60, "{action:?}: {cuts}");
        let ended = with_each_end(|cut| {
            let (outcome, met) = bench.work(line(action, payload), Some(cut));
            assert_eq!(outcome, Outcome::Ok, "{action:?} at {cut:?}");
            met
        });
        assert!(ended >= 3, "{action:?}: {ended}");
    }
}

const ROOT: FileId = FileId(0);
const FILE: FileId = FileId(1);
const SMALL: FileId = FileId(2);

fn operator() -> Bench<Operations> {
    let mut table = FileTable::default();
    let mut paths = ServerHandles::default();
    for (path, len, kind) in [
        ("", 0, ObjectKind::Directory),
        ("file", 1 << 20, ObjectKind::File),
        ("files\\file0001", 4096, ObjectKind::File),
    ] {
        table.add(FileEntry {
            len,
            kind,
            has_pattern: kind == ObjectKind::File,
        });
        paths.add(Arc::from(path));
    }
    let way = way();
    let pattern: Arc<[u8]> = pattern::table().into();
    let table = Arc::new(table);
    let options = OperationOptions {
        files: Arc::new(ShareFiles {
            table: Arc::clone(&table),
            paths,
        }),
        holds_files: true,
        keeping: HandlePolicy::default(),
    };
    let verify = Verify::new(table, Arc::clone(&pattern), 200);
    let state = ClientState::new(Arc::clone(&way)).verifying(Some(verify));
    let actors = operating(&options, 0..1, &state);
    Bench::new(way, pattern, actors)
}

/// Every operation that can be done twice, however often it was done.
fn operations() -> Vec<Operation> {
    let made = ObjectName::Numbered {
        letter: b'f',
        number: 1,
    };
    vec![
        Operation::Null,
        Operation::GetAttr { file: FILE },
        Operation::SetAttr {
            file: SMALL,
            change: AttributeChange::Touch,
        },
        Operation::Lookup {
            directory: ROOT,
            name: made,
        },
        Operation::Access {
            file: FILE,
            wanted: 0x3f,
        },
        Operation::Read {
            file: FILE,
            offset: 300,
            len: 200,
        },
        Operation::Write {
            file: SMALL,
            offset: 0,
            len: 100,
            stability: Stability::Unstable,
        },
        Operation::Commit {
            file: SMALL,
            offset: 0,
            len: 0,
        },
        Operation::ReadDirectory {
            directory: ROOT,
            cursor: DirectoryCursor::default(),
            len: 4096,
        },
        Operation::FileSystemStatus { file: ROOT },
        Operation::FileSystemInfo { file: ROOT },
        Operation::Open {
            file: FILE,
            open: OpenId(0),
            access: OpenAccess::Read,
        },
        Operation::SessionSetup,
        Operation::TreeConnect,
    ]
}

#[test]
fn operations_are_lost_with_their_connection_and_the_next_are_right() {
    let mut bench = operator();
    let made = Operation::Create {
        directory: ROOT,
        name: ObjectName::Numbered {
            letter: b'f',
            number: 1,
        },
    };
    assert_eq!(bench.work(made, None).0, Outcome::Ok);
    for operation in operations() {
        let cuts = at_every_byte(|cut| {
            let (outcome, met) = bench.work(operation, Some(cut));
            let expected = match met {
                Met::Cut => Outcome::Disconnected,
                Met::ShortReply | Met::NoSend => Outcome::Ok,
            };
            assert_eq!(outcome, expected, "{operation:?} at {cut:?}");
            assert_eq!(bench.work(operation, None).0, Outcome::Ok, "{operation:?}");
            met
        });
        assert!(cuts > 60, "{operation:?}: {cuts}");
        // What these end is a session or a tree beside the client's own.
        if matches!(
            operation,
            Operation::Null | Operation::SessionSetup | Operation::TreeConnect
        ) {
            continue;
        }
        let ended = with_each_end(|cut| {
            let (outcome, met) = bench.work(operation, Some(cut));
            let expected = match met {
                Met::Cut => Outcome::Disconnected,
                Met::ShortReply | Met::NoSend => Outcome::Ok,
            };
            assert_eq!(outcome, expected, "{operation:?} at {cut:?}");
            assert_eq!(bench.work(operation, None).0, Outcome::Ok, "{operation:?}");
            met
        });
        assert!(ended >= 3, "{operation:?}: {ended}");
    }
}

#[test]
fn a_time_out_while_a_session_is_set_up_never_negotiates_again_over_the_same_connection() {
    let mut bench = operator();
    let now = bench.now();
    bench.client.disconnected(now, &mut bench.completed);
    bench.client.connected(now, &mut bench.out);
    bench.client.transmitted(now);
    assert!(!bench.out.is_empty(), "NEGOTIATE");
    bench.out.clear();
    let late = now.after_nanos(2 * TIMEOUT_NANOS);
    let completed = &mut bench.completed;
    bench.client.handle_timeout(late, &mut bench.out, completed);
    assert!(bench.out.is_empty());
    let defect = bench.client.take_defect();
    assert!(
        matches!(defect, Some(ProtocolError::NotSetUp(_))),
        "{defect:?}"
    );
}
