//! A conversation with an NFSv3 client that the bytes of an input describe:
//! which client, and then one step after the other.

use std::sync::{Arc, LazyLock};

use filestone_plan::plan::{CreateModes, TransportKind};
use filestone_protocol::client::handles::ServerHandles;
use filestone_protocol::client::nfs3::{NfsSharedState, ReadHandling, Templates};
use filestone_protocol::client::{Client, Nfs3Client, Output, Verify};
use filestone_protocol::session::rpc::Credentials;
use filestone_protocol::workload::{FileEntry, FileTable, ObjectKind};
use filestone_wire::nfs3::Handle;
use filestone_wire::record::RecordMark;
use filestone_wire::rpc::{Gids, ReplyHeader};
use filestone_wire::xdr::Encode;
use filestone_workload::completions::CompletionBatch;
use filestone_workload::operation::{
    AttributeChange, DirectoryCursor, FileId, ObjectName, OpKind, Operation, SlotId, Stability,
};
use filestone_workload::time::Timestamp;

/// First byte of an input: datagrams instead of a stream.
pub const UDP: u8 = 1;
/// First byte of an input: READ data are verified, so they are never thrown away.
pub const VERIFY: u8 = 2;
/// First byte of an input: READs are as large as those that may be thrown away.
pub const LARGE: u8 = 4;

/// A step: these bytes come from the server as they are.
pub const RAW: u8 = 0;
/// A step: a reply to a slot's call, with these bytes for results.
pub const REPLY: u8 = 1;
/// A step: a READ reply to a slot's call, with as many bytes of data.
pub const READ_REPLY: u8 = 2;

const TIMEOUT_NANOS: u64 = 1_000_000_000;
/// Sizes of pieces that the beginning of a message comes in.
const PIECES: [usize; 4] = [1, 4, 132, usize::MAX];
/// Bytes that belong to the beginning; the others come in few pieces.
const BEGINNING: usize = 140;
/// Steps of one input at most: more of them find nothing else.
const STEPS_MAX: usize = 16;

static PATTERN: LazyLock<Arc<[u8]>> = LazyLock::new(|| filestone_wire::pattern::table().into());

/// A client and what must be true of it.
pub struct Conversation {
    client: Nfs3Client,
    out: Output,
    completed: CompletionBatch,
    now: Timestamp,
    is_stream: bool,
    read_len: u32,
    /// Of each slot: whether an operation is in it, and the xid of its last call.
    slots: Vec<(bool, u32)>,
    busy: u32,
}

fn table() -> FileTable {
    let mut table = FileTable::default();
    for has_pattern in [true, false] {
        table.add(FileEntry {
            len: 1 << 20,
            kind: ObjectKind::File,
            has_pattern,
        });
    }
    table.add_name(b"name");
    table
}

fn handles() -> ServerHandles<Handle> {
    let mut handles = ServerHandles::default();
    for _ in 0..2 {
        handles.add(Handle::new(&[7; 32]).unwrap_or(Handle::EMPTY));
    }
    handles
}

/// The slot's kind of operation: all procedures of NFSv3 in turn.
pub fn kind_of(slot: usize) -> OpKind {
    OpKind::STATELESS[slot % OpKind::STATELESS.len()]
}

fn operation(slot: usize, len: u32) -> Operation {
    let (directory, name) = (FileId(0), ObjectName::Listed(0));
    let file = FileId(slot as u32 / 22 % 2);
    let cursor = DirectoryCursor::default();
    let stability = Stability::DataSync;
    match kind_of(slot) {
        OpKind::Null => Operation::Null,
        OpKind::GetAttr => Operation::GetAttr { file },
        OpKind::SetAttr => Operation::SetAttr {
            file,
            change: AttributeChange::Touch,
        },
        OpKind::Lookup => Operation::Lookup { directory, name },
        OpKind::Access => Operation::Access { file, wanted: 0x3f },
        OpKind::ReadLink => Operation::ReadLink { link: file },
        OpKind::Read => Operation::Read {
            file,
            offset: 0,
            len,
        },
        OpKind::Write => Operation::Write {
            file,
            offset: 0,
            len: 2000,
            stability,
        },
        OpKind::Create => Operation::Create { directory, name },
        OpKind::MkDir => Operation::MakeDirectory { directory, name },
        OpKind::SymLink => Operation::MakeSymlink {
            directory,
            name,
            target: name,
        },
        OpKind::MkNod => Operation::MakeNode { directory, name },
        OpKind::Remove => Operation::Remove { directory, name },
        OpKind::RmDir => Operation::RemoveDirectory { directory, name },
        OpKind::Rename => Operation::Rename {
            from_directory: directory,
            from: name,
            to_directory: directory,
            to: name,
        },
        OpKind::Link => Operation::Link {
            file,
            directory,
            name,
        },
        OpKind::ReadDir => Operation::ReadDirectory {
            directory,
            cursor,
            len,
        },
        OpKind::ReadDirPlus => Operation::ReadDirectoryPlus {
            directory,
            cursor,
            len,
        },
        OpKind::FsStat => Operation::FileSystemStatus { file },
        OpKind::FsInfo => Operation::FileSystemInfo { file },
        OpKind::PathConf => Operation::PathConfiguration { file },
        OpKind::Commit => Operation::Commit {
            file,
            offset: 0,
            len,
        },
        filestone_workload::only_in_loads!() | filestone_workload::only_in_probes!() => {
            unreachable!("slots have procedures of NFSv3")
        }
    }
}

impl Conversation {
    /// A connected client with calls in all of its slots.
    pub fn new([flags, slots]: [u8; 2]) -> Self {
        let slots = 1 + u32::from(slots) % 44;
        let transport = match flags & UDP {
            0 => TransportKind::Tcp,
            _ => TransportKind::Udp,
        };
        let read_len = if flags & LARGE == 0 { 500 } else { 16_500 };
        let table = Arc::new(table());
        let verify = (flags & VERIFY != 0).then(|| {
            Box::new(Verify::new(
                Arc::clone(&table),
                Arc::clone(&PATTERN),
                read_len,
            ))
        });
        let reading = match verify {
            Some(verify) => ReadHandling::Verify(verify),
            None if flags & LARGE == 0 => ReadHandling::Deliver,
            None => ReadHandling::Discard,
        };
        let credentials = Credentials {
            machine_name: "fuzz".into(),
            uid: 0,
            gid: 0,
            gids: Gids::EMPTY,
            stamp: 0,
            modes: CreateModes::OWN,
        };
        let shared = NfsSharedState {
            templates: Arc::new(Templates::new(&credentials)),
            table,
            handles: Arc::new(handles()),
            pattern: Arc::clone(&PATTERN),
            timeout_nanos: TIMEOUT_NANOS,
            transport,
        };
        // Any bits will do, others for other flags.
        let first_xid = u32::from(flags >> 3).wrapping_mul(0x9e37_79b9);
        let mut conversation = Self {
            client: Nfs3Client::new(shared, slots, reading, first_xid),
            out: Output::default(),
            completed: CompletionBatch::default(),
            now: Timestamp::ZERO,
            is_stream: transport == TransportKind::Tcp,
            read_len,
            slots: vec![(false, 0); slots as usize],
            busy: 0,
        };
        conversation
            .client
            .connected(Timestamp::ZERO, &mut conversation.out);
        conversation.ask_all();
        conversation
    }

    /// Takes the steps of a script.
    pub fn follow(&mut self, mut script: &[u8]) {
        for _ in 0..STEPS_MAX {
            let Some(([step, detail], rest)) = script.split_first_chunk::<2>() else {
                return;
            };
            script = rest;
            let slot = usize::from(*detail) % self.slots.len();
            match step % 8 {
                RAW | 3 => {
                    let (bytes, rest) = script.split_at(usize::from(*detail).min(script.len()));
                    script = rest;
                    self.hear(bytes, step >> 3);
                }
                REPLY => {
                    let Some((len, rest)) = script.split_first_chunk::<2>() else {
                        return;
                    };
                    let len = usize::from(u16::from_be_bytes(*len)).min(rest.len());
                    let (results, rest) = rest.split_at(len);
                    script = rest;
                    self.reply(slot, results, step >> 3);
                }
                READ_REPLY => self.reply_read(slot, *detail, step >> 3),
                4 => self.wait(u64::from(*detail) * 10_000_000),
                5 => self.reconnect(),
                6 => {
                    self.client.abort(self.now, &mut self.completed);
                    self.check_completed();
                }
                _ => self.ask_all(),
            }
        }
    }

    /// Puts an operation into every slot that has none, and sends the calls.
    fn ask_all(&mut self) {
        for slot in 0..self.slots.len() {
            if !self.slots[slot].0 {
                self.slots[slot].0 = true;
                self.busy += 1;
                let ticket = SlotId {
                    client: 0,
                    slot: slot as u32,
                };
                self.out.clear();
                // A slot that had an operation may be told to repeat it.
                match self.slots[slot].1 {
                    0 => self
                        .client
                        .submit(ticket, operation(slot, self.read_len), &mut self.out),
                    _ => self.client.repeat(&[slot as u32], &mut self.out),
                }
                let xid_at = if self.is_stream { 4 } else { 0 };
                let bytes = self.out.bytes.get(xid_at..).and_then(<[u8]>::first_chunk);
                self.slots[slot].1 =
                    u32::from_be_bytes(*bytes.expect("a call begins with its xid"));
            }
        }
        self.out.clear();
        self.client.transmitted(self.now);
        assert_eq!(self.client.in_flight() as usize, self.slots.len());
    }

    fn reply(&mut self, slot: usize, results: &[u8], pieces: u8) {
        let message = [
            &ReplyHeader::success(self.slots[slot].1).to_bytes(),
            results,
        ]
        .concat();
        let mark = RecordMark {
            last: true,
            len: message.len() as u32,
        };
        if self.is_stream {
            self.hear(&[&mark.to_bytes(), message.as_slice()].concat(), pieces);
        } else {
            self.hear(&message, pieces);
        }
    }

    /// A READ reply, right or nearly so.
    fn reply_read(&mut self, slot: usize, detail: u8, pieces: u8) {
        let len = self.read_len as usize - usize::from(detail >> 5);
        let count = len as u32 + u32::from(detail == 77);
        let head = [0, 0, count, u32::from(detail & 1), len as u32];
        let mut results: Vec<u8> = head.iter().flat_map(|word| word.to_be_bytes()).collect();
        results.extend_from_slice(&PATTERN[..len.next_multiple_of(4)]);
        self.reply(slot, &results, pieces);
    }

    /// Bytes from the server, in pieces of one size, or one datagram.
    fn hear(&mut self, bytes: &[u8], pieces: u8) {
        let piece = if self.is_stream {
            PIECES[usize::from(pieces) % PIECES.len()]
        } else {
            usize::MAX
        };
        let mut rest = bytes;
        while !rest.is_empty() {
            let discardable = self.client.discardable();
            let piece = match bytes.len() - rest.len() {
                0..BEGINNING => piece,
                _ => piece.max(bytes.len() / 4),
            };
            let (input, after) = rest.split_at(piece.min(rest.len()));
            // As the engine does, or against its advice: both must do.
            if discardable > 0 && pieces & 4 == 0 {
                let len = discardable.min(input.len());
                self.client
                    .handle_discarded(len, self.now, &mut self.completed);
                rest = &rest[len..];
            } else {
                let result = self
                    .client
                    .handle_input(input, self.now, &mut self.completed);
                rest = after;
                if result.is_err() {
                    assert!(self.is_stream, "no datagram ends a connection");
                    self.reconnect();
                    return;
                }
            }
            self.check_completed();
        }
    }

    fn wait(&mut self, nanos: u64) {
        self.now = self.now.after_nanos(nanos);
        self.client
            .handle_timeout(self.now, &mut self.out, &mut self.completed);
        self.client.transmitted(self.now);
        self.out.clear();
        self.check_completed();
        assert!(self.client.poll_timeout() > self.now);
    }

    fn reconnect(&mut self) {
        self.client.disconnected(self.now, &mut self.completed);
        self.check_completed();
        assert_eq!(self.client.in_flight(), 0);
        assert_eq!(self.client.discardable(), 0);
        self.client.connected(self.now, &mut self.out);
        self.ask_all();
    }

    /// Each operation ends once.
    fn check_completed(&mut self) {
        for completion in self.completed.iter() {
            let (is_busy, _) = &mut self.slots[completion.ticket.slot as usize];
            assert!(*is_busy, "{completion:?}");
            *is_busy = false;
            self.busy -= 1;
        }
        self.completed.clear();
        assert_eq!(self.client.in_flight(), self.busy);
        assert!(self.client.late_replies() <= self.client.replies() || !self.is_stream);
    }
}
