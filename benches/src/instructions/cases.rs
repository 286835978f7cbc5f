//! The code whose instructions are counted: the hot path of a run, without sockets and clocks.
//!
//! Each case is set up, which is not counted, and then runs [`OPERATIONS`] operations.

#[path = "canned.rs"]
mod canned;
#[path = "share.rs"]
mod share;

use canned::{ReplayServer, Reply};
use filestone_engine::backend::Backend;
use filestone_engine::protocols::local::replay::{LocalLayer, LocalOptions, LocalSite};
use filestone_engine::replay::{BlockingWorkDir, Layer, TreeCleanup, WorkDir};
use filestone_engine::worker::{
    IntervalSink, LocalSampleSink, Worker, WorkerClient, WorkerControl, new_buffer, own_books,
};
use filestone_host::load_file::read_text;
use filestone_plan::plan::{
    CreateModes, NfsTarget, Plan, ProbePlan, TargetPlan, TransportKind, WorkloadPlan,
};
use filestone_protocol::client::Nfs3Client;
use filestone_protocol::client::handles::ServerHandles;
use filestone_protocol::client::nfs3::{NfsSharedState, ReadHandling, Templates};
use filestone_protocol::session::rpc::Credentials;
use filestone_protocol::workload::{self, FileEntry, FileTable, ObjectKind, Workload};
use filestone_wire::nfs3::{Fattr3, FileType, Handle, Nfstime3, Specdata3, getattr, read};
use filestone_wire::pattern;
use filestone_wire::record::RecordMark;
use filestone_wire::rpc::Gids;
use filestone_wire::rpc::ReplyHeader;
use filestone_wire::xdr::Encode;
use filestone_workload::language::Operations;
use filestone_workload::load::{Script, ScriptAction};
use filestone_workload::operation::{
    Completion, FileId, OpKind, Operation, Outcome, ReplyInfo, SlotId,
};
use filestone_workload::recording::{IntervalBuffer, Recorder, Role, Sample};
use filestone_workload::time::Timestamp;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Large enough that start and end of a run are negligible.
pub const OPERATIONS: u64 = 12_800;

/// Data of a READ over NFS.
const READ_LEN: u32 = 128 << 10;
const SECOND: u64 = 1_000_000_000;
const FILE: FileId = FileId(0);
/// Position of the transaction ID, after the record mark.
const XID: std::ops::Range<usize> = 4..8;

static NEVER: AtomicBool = AtomicBool::new(false);

/// A worker of one client with a number of calls in flight, on canned replies.
type AnyProbe<C> = Worker<'static, ReplayServer<C>, Box<dyn Workload>, LocalSampleSink<Spare>>;
/// A worker over NFS.
pub type ProbeWorker = AnyProbe<Nfs3Client>;
/// A worker over SMB.
pub type ShareProbe = AnyProbe<share::Operator>;

/// Sets up a probe of one operation.
pub fn probe(kind: OpKind, in_flight: u32) -> ProbeWorker {
    let backend = ReplayServer::new(client(in_flight), reply(kind));
    let always = Always {
        operation: operation(kind, READ_LEN),
        is_constant: false,
    };
    worker(&plan(kind, in_flight), backend, always)
}

/// Sets up a probe of one operation over SMB: ECHO, or READ of a file that is held open.
pub fn share_probe(kind: OpKind, in_flight: u32) -> ShareProbe {
    let backend = ReplayServer::new(share::client(in_flight), share::reply(kind));
    let always = Always {
        operation: operation(kind, share::READ_LEN),
        is_constant: kind == OpKind::Null,
    };
    worker(&plan(kind, in_flight), backend, always)
}

fn worker<C>(plan: &Plan, backend: ReplayServer<C>, always: Always) -> AnyProbe<C>
where
    ReplayServer<C>: Backend<Language = Operations>,
{
    let sink = Spare(Some(Box::new(new_buffer(plan))));
    let signals = WorkerControl {
        stop: &NEVER,
        end_run: &NEVER,
        offer: None,
        live_workers: None,
    };
    let always = |_| Box::new(always) as Box<dyn Workload>;
    let members = WorkerClient::of_worker(plan, 0, always);
    Worker::new(plan, 0, members, backend, own_books(plan, sink), signals)
}

fn plan(operation: OpKind, in_flight: u32) -> Plan {
    let target = TargetPlan::Nfs3(NfsTarget::built_in("/"));
    let workload = WorkloadPlan::Probe(ProbePlan {
        size_bytes: READ_LEN,
        file_size_bytes: READ_LEN.into(),
        ..ProbePlan::new(operation)
    });
    Plan {
        in_flight,
        count: Some(OPERATIONS),
        ..Plan::new("probe", target, workload, 1)
    }
}

fn operation(kind: OpKind, len: u32) -> Operation {
    match kind {
        OpKind::GetAttr => Operation::GetAttr { file: FILE },
        OpKind::Read => Operation::Read {
            file: FILE,
            offset: 0,
            len,
        },
        _ => Operation::Null,
    }
}

/// Returns a file table with one file of `len` bytes.
fn table(len: u32) -> FileTable {
    let mut table = FileTable::default();
    table.add(FileEntry {
        len: len.into(),
        kind: ObjectKind::File,
        has_pattern: true,
    });
    table
}

fn client(in_flight: u32) -> Nfs3Client {
    let mut handles = ServerHandles::default();
    handles.add(Handle::new(&[7; 32]).expect("a handle of at most 64 bytes"));
    let credentials = Credentials {
        machine_name: "filestone".into(),
        uid: 0,
        gid: 0,
        gids: Gids::default(),
        stamp: 1,
        modes: CreateModes::OWN,
    };
    let shared = NfsSharedState {
        templates: Arc::new(Templates::new(&credentials)),
        table: Arc::new(table(READ_LEN)),
        handles: Arc::new(handles),
        pattern: pattern::table().into(),
        timeout_nanos: 60 * SECOND,
        transport: TransportKind::Tcp,
    };
    Nfs3Client::new(shared, in_flight, ReadHandling::Discard, 1)
}

/// Returns a reply as an RPC record, without the data that the client discards.
fn reply(kind: OpKind) -> Reply {
    let data = vec![0; READ_LEN as usize];
    let mut message = ReplyHeader::success(0).to_bytes();
    let mut discarded = 0;
    match kind {
        OpKind::GetAttr => message.extend(getattr::Reply::Ok(ATTRIBUTES).to_bytes()),
        OpKind::Read => {
            discarded = data.len();
            message.extend(
                read::Reply::Ok(read::ReplyOk {
                    file_attributes: Some(ATTRIBUTES),
                    count: READ_LEN,
                    eof: true,
                    data: &data,
                })
                .to_bytes(),
            );
        }
        _ => {}
    }
    let mark = RecordMark {
        last: true,
        len: message.len() as u32,
    };
    message.truncate(message.len() - discarded);
    Reply {
        bytes: [&mark.to_bytes(), message.as_slice()].concat(),
        taken_over: const { &[XID] },
    }
}

const TIME: Nfstime3 = Nfstime3 {
    seconds: 1,
    nseconds: 2,
};

const ATTRIBUTES: Fattr3 = Fattr3 {
    file_type: FileType::Regular,
    mode: 0o644,
    nlink: 1,
    uid: 0,
    gid: 0,
    size: READ_LEN as u64,
    used: READ_LEN as u64,
    rdev: Specdata3 { major: 0, minor: 0 },
    fsid: 1,
    fileid: 2,
    atime: TIME,
    mtime: TIME,
    ctime: TIME,
};

/// A workload that repeats one request forever.
#[derive(Clone, Copy)]
struct Always {
    operation: Operation,
    /// Whether the workload reports itself as constant, so that the worker repeats the request.
    is_constant: bool,
}

impl Workload for Always {
    fn is_constant(&self) -> bool {
        self.is_constant
    }

    fn next(&mut self, _slot: u32, _now: Timestamp) -> workload::Next<Operation> {
        workload::Next::Measured(self.operation)
    }
}

/// Gives the worker its buffer and keeps the full one.
pub struct Spare(Option<Box<IntervalBuffer>>);

impl IntervalSink for Spare {
    fn empty(&mut self) -> Option<Box<IntervalBuffer>> {
        self.0.take()
    }

    fn full(&mut self, buffer: Box<IntervalBuffer>) {
        self.0 = Some(buffer);
    }
}

/// A client of a replay that reads a file and only counts the bytes.
pub struct Lines {
    script: Script,
    site: LocalSite,
    layer: LocalLayer,
    recorder: Recorder,
    pub carried_out: u64,
}

/// Sets up the load; the file is open.
pub fn lines() -> Lines {
    let open = "NTCreateX \"\\clients\\client1\\a\" 0x40 0x2 1 NT_STATUS_OK\n";
    let make = "Mkdir \"\\clients\\client1\" NT_STATUS_OK\n";
    let read = "ReadX 1 4096 4096 4096 NT_STATUS_OK\n";
    let text = format!("{make}{open}{}", read.repeat(OPERATIONS as usize));
    let load = read_text("read.load", &text).expect("the load is right");
    let options = LocalOptions {
        fake_io: true,
        ..LocalOptions::default()
    };
    let site = LocalSite::temporary(options).expect("a temporary directory");
    let layer = site.layer(0).expect("a client");
    let mut lines = Lines {
        script: Script::new(Arc::new(load), 0, 1, 1),
        site,
        layer,
        recorder: recorder(),
        carried_out: 0,
    };
    lines.execute(2);
    lines.carried_out = 0;
    lines
}

impl Lines {
    /// Executes, compares and records `count` lines.
    pub fn execute(&mut self, count: u64) {
        for _ in 0..count {
            let Ok(ScriptAction::Operation(line)) = self.script.next() else {
                return;
            };
            let reply = self.layer.execute(&line.action, line.data.bytes);
            let reply = reply.expect("the directory is there");
            if line.expected.mismatch(&reply.status).is_none() {
                self.carried_out += 1;
            }
            let sample = sample(
                line.action.kind(),
                self.carried_out,
                reply.data_bytes as u32,
            );
            self.recorder.record_one(&sample);
        }
    }

    /// Removes the directory.
    pub fn clean_up(self) {
        drop(self.layer);
        self.site
            .release(TreeCleanup::Remove)
            .expect("its own directory");
    }
}

/// Sets up the recorder of samples.
pub fn recorder() -> Recorder {
    let ticks = 10;
    let kinds = [OpKind::NtCreateX, OpKind::ReadX, OpKind::MkDir];
    let kinds = kinds.map(|kind| (kind, Role::Measured));
    let buffer = Box::new(IntervalBuffer::new(&kinds, ticks, SECOND / 10));
    Recorder::new(buffer, Timestamp::ZERO, Timestamp::MAX)
}

/// Records as many samples as there are operations, all different.
pub fn record(mut recorder: Recorder) -> Recorder {
    for number in 0..OPERATIONS {
        recorder.record_one(&sample(OpKind::ReadX, number, 4096));
    }
    recorder
}

fn sample(kind: OpKind, number: u64, data_bytes: u32) -> Sample {
    let due = Timestamp::from_nanos(number * 10_000);
    Sample {
        kind,
        role: Role::Measured,
        due,
        ready: due,
        completion: Completion {
            ticket: SlotId { client: 0, slot: 0 },
            outcome: Outcome::Ok,
            answer: ReplyInfo::Plain,
            usable: Timestamp::ZERO,
            sent: due,
            // From a microsecond to a millisecond, in no particular order.
            done: due.after_nanos(1000 + number * 7919 % 1_000_000),
            calls: 1,
            retransmissions: 0,
            bytes_sent: 0,
            bytes_received: 0,
            data_bytes,
        },
    }
}
