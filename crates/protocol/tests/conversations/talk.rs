//! One client, its output taken as a server would, and replies for it.

use filestone_plan::plan::{CreateModes, ReadData, TransportKind};
use filestone_protocol::client::handles::ServerHandles;
use filestone_protocol::client::nfs3::{NfsSharedState, ReadHandling, Templates};
use filestone_protocol::client::{Client, Nfs3Client, Output, ProtocolError, Verify};
use filestone_protocol::session::rpc::Credentials;
use filestone_protocol::workload::{FileEntry, FileTable, ObjectKind};
use filestone_wire::nfs3::Handle;
use filestone_wire::pattern;
use filestone_wire::record::RecordMark;
use filestone_wire::rpc::{Gids, ReplyHeader};
use filestone_wire::xdr::Encode;
use filestone_workload::CompletionBatch;
use filestone_workload::operation::{Completion, FileId, Operation, SlotId};
use filestone_workload::time::Timestamp;
use std::sync::{Arc, LazyLock};

pub const SECOND: u64 = 1_000_000_000;
/// How long a call may take in these conversations.
pub const TIMEOUT: u64 = 60 * SECOND;

/// A directory.
pub const DIRECTORY: FileId = FileId(0);
/// A file that consists of the pattern.
pub const PATTERNED: FileId = FileId(1);
/// A file of which nothing is known.
pub const UNKNOWN: FileId = FileId(2);

static PATTERN: LazyLock<Arc<[u8]>> = LazyLock::new(|| pattern::table().into());

/// The file data that are right at `offset`.
pub fn pattern_at(offset: u64, len: usize) -> Vec<u8> {
    let mut data = vec![0; len];
    pattern::fill(offset, &mut data);
    data
}

/// Handles of the three files, of three lengths.
pub fn handle(file: FileId) -> Handle {
    let bytes = [7 + file.0 as u8; 64];
    let len = [32, 64, 5][file.0 as usize];
    Handle::new(&bytes[..len]).expect("a handle of at most 64 bytes")
}

pub fn table() -> FileTable {
    let mut table = FileTable::default();
    for (kind, has_pattern) in [
        (ObjectKind::Directory, false),
        (ObjectKind::File, true),
        (ObjectKind::File, false),
    ] {
        table.add(FileEntry {
            len: 1 << 30,
            kind,
            has_pattern,
        });
    }
    table.add_name(b"alpha");
    table.add_name(b"beta.tx");
    table
}

fn handles() -> ServerHandles<Handle> {
    let mut handles = ServerHandles::default();
    for file in 0..3 {
        handles.add(handle(FileId(file)));
    }
    handles
}

pub fn credentials() -> Credentials {
    Credentials {
        machine_name: "tests".into(),
        uid: 1000,
        gid: 100,
        gids: Gids::EMPTY,
        stamp: 99,
        modes: CreateModes::OWN,
    }
}

pub fn at(nanos: u64) -> Timestamp {
    Timestamp::from_nanos(nanos)
}

/// What kind of client to talk to.
#[derive(Debug, Clone)]
pub struct Setup {
    pub slots: u32,
    pub transport: TransportKind,
    /// Size of READs whose data may be thrown away.
    pub read_len: u32,
    pub verify: bool,
    pub first_xid: u32,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            slots: 1,
            transport: TransportKind::Tcp,
            read_len: 0,
            verify: false,
            first_xid: 0x1fd7_59a3,
        }
    }
}

impl Setup {
    pub fn slots(slots: u32) -> Self {
        Self {
            slots,
            ..Self::default()
        }
    }

    /// Many slots, whose first xids look like marks of records that are as long as
    /// the slot's number: 0x80000000 and up.
    pub fn treacherous() -> Self {
        Self {
            slots: 4096,
            first_xid: 0x7fff_f123,
            ..Self::default()
        }
    }

    pub fn udp(slots: u32) -> Self {
        Self {
            slots,
            transport: TransportKind::Udp,
            ..Self::default()
        }
    }
}

/// A client and what it wants sent.
pub struct Talk {
    pub client: Nfs3Client,
    pub out: Output,
}

impl Talk {
    /// A client that is not connected.
    pub fn unconnected(setup: &Setup) -> Self {
        let table = Arc::new(table());
        let shared = NfsSharedState {
            templates: Arc::new(Templates::new(&credentials())),
            table: Arc::clone(&table),
            handles: Arc::new(handles()),
            pattern: Arc::clone(&PATTERN),
            timeout_nanos: TIMEOUT,
            transport: setup.transport,
        };
        let reading = match (setup.verify, setup.read_len) {
            (true, _) => {
                ReadHandling::Verify(Box::new(Verify::new(table, Arc::clone(&PATTERN), 4096)))
            }
            (false, ReadData::DISCARD_MIN_BYTES..) => ReadHandling::Discard,
            (false, 1..) => ReadHandling::Deliver,
            (false, 0) => ReadHandling::Nothing,
        };
        Self {
            client: Nfs3Client::new(shared, setup.slots, reading, setup.first_xid),
            out: Output::default(),
        }
    }

    /// A client that is connected.
    pub fn new(setup: &Setup) -> Self {
        let mut talk = Self::unconnected(setup);
        talk.client.connected(Timestamp::ZERO, &mut talk.out);
        talk
    }

    /// Asks for an operation, sends its call at `now`, and gives the call
    /// without record mark.
    pub fn ask(&mut self, slot: u32, operation: Operation, now: Timestamp) -> Vec<u8> {
        self.submit(slot, operation);
        self.client.transmitted(now);
        let mut sent = self.take_messages();
        assert_eq!(sent.len(), 1, "one operation is one call");
        sent.pop().expect("a call")
    }

    /// Asks and gives the xid only.
    pub fn ask_xid(&mut self, slot: u32, operation: Operation, now: Timestamp) -> u32 {
        xid_of(&self.ask(slot, operation, now))
    }

    pub fn submit(&mut self, slot: u32, operation: Operation) {
        self.client
            .submit(SlotId { client: 5, slot }, operation, &mut self.out);
    }

    /// All bytes to be sent, with the data that lie elsewhere.
    pub fn take_bytes(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut from = 0;
        for splice in &self.out.splices {
            bytes.extend_from_slice(&self.out.bytes[from..splice.at]);
            bytes.extend_from_slice(&PATTERN[splice.start..splice.start + splice.len]);
            from = splice.at;
        }
        bytes.extend_from_slice(&self.out.bytes[from..]);
        assert_eq!(bytes.len(), self.out.total_len());
        bytes
    }

    /// The messages to be sent, without record marks.
    pub fn take_messages(&mut self) -> Vec<Vec<u8>> {
        let bytes = self.take_bytes();
        let mut messages = Vec::new();
        if self.out.datagrams.is_empty() {
            let mut rest = bytes.as_slice();
            while let Some((mark, after)) = rest.split_first_chunk::<4>() {
                let mark = RecordMark::from_bytes(*mark);
                assert!(mark.last, "a call is one fragment");
                let (message, after) = after.split_at(mark.len as usize);
                messages.push(message.to_vec());
                rest = after;
            }
            assert!(rest.is_empty());
        } else {
            let mut from = 0;
            for end in &self.out.datagrams {
                messages.push(bytes[from..*end].to_vec());
                from = *end;
            }
            assert_eq!(from, bytes.len(), "datagrams are all there is");
        }
        self.out.clear();
        messages
    }

    /// Gives the client bytes of a stream, or one datagram.
    pub fn hear(&mut self, bytes: &[u8], now: Timestamp) -> Result<Vec<Completion>, ProtocolError> {
        let mut completed = CompletionBatch::default();
        self.client.handle_input(bytes, now, &mut completed)?;
        Ok(completed.iter().collect())
    }

    /// The same, of a client that must not complain and end one operation.
    pub fn hear_one(&mut self, bytes: &[u8], now: Timestamp) -> Completion {
        let completed = self.hear(bytes, now).expect("it is the protocol");
        assert_eq!(completed.len(), 1, "{completed:?}");
        completed[0]
    }

    pub fn time_out(&mut self, now: Timestamp) -> Vec<Completion> {
        let mut completed = CompletionBatch::default();
        self.client
            .handle_timeout(now, &mut self.out, &mut completed);
        completed.iter().collect()
    }
}

pub fn xid_of(message: &[u8]) -> u32 {
    u32::from_be_bytes(*message.first_chunk().expect("four bytes of xid"))
}

/// A message as a record of one fragment.
pub fn record(message: &[u8]) -> Vec<u8> {
    fragments(&[message])
}

/// A record of these fragments.
pub fn fragments(parts: &[&[u8]]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        let mark = RecordMark {
            last: index + 1 == parts.len(),
            len: part.len() as u32,
        };
        bytes.extend_from_slice(&mark.to_bytes());
        bytes.extend_from_slice(part);
    }
    bytes
}

/// A reply that was executed, with these results.
pub fn success(xid: u32, results: &[u8]) -> Vec<u8> {
    [&ReplyHeader::success(xid).to_bytes(), results].concat()
}

/// The same as a record.
pub fn success_record(xid: u32, results: &[u8]) -> Vec<u8> {
    record(&success(xid, results))
}

/// What a client completes while `act` is done with it.
pub fn collected(act: impl FnOnce(&mut CompletionBatch)) -> Vec<Completion> {
    let mut completed = CompletionBatch::default();
    act(&mut completed);
    completed.iter().collect()
}
