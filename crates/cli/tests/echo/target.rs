//! A server of echo as the target of runs of calls.

use crate::client::{EchoClient, Shared, pattern, supports};
use crate::wire::{self, Kind, Welcome};
use filestone_engine::Protocol;
use filestone_engine::backend::sockets::SocketOptions;
use filestone_engine::protocols::{BuiltIn, clients};
use filestone_engine::run::{ConnectedClients, OpenTarget, TargetObjects};
use filestone_host::clock::Clock;
use filestone_host::connect::Dial;
use filestone_host::control::RunContext;
use filestone_host::error::RunError;
use filestone_measure::measure::mix_record::FileSetRecord;
use filestone_measure::measure::run_record::Target;
use filestone_plan::file_set::{ChangingDirectories, ClientSet};
use filestone_plan::plan::{OtherTarget, Plan, TransportKind, WorkloadPlan};
use filestone_protocol::client::Unsupported;
use filestone_protocol::client::handles::ServerHandles;
use filestone_protocol::workload::{FileEntry, FileTable, ObjectKind};
use filestone_setup::TargetError;
use filestone_workload::operation::{FileId, OpKind};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// Name in plans, and the scheme before `://`.
pub const NAME: &str = "echo";

/// Time limit for opening a session.
const PATIENCE: Duration = Duration::from_secs(5);

/// The protocol.
#[derive(Debug, Clone, Copy, Default)]
pub struct Echo;

impl Protocol for Echo {
    fn name(&self) -> &str {
        NAME
    }

    fn supports(&self, kind: OpKind) -> Result<(), Unsupported> {
        supports(kind)
    }

    fn open<'plan>(
        &self,
        plan: &'plan Plan,
        _built_in: BuiltIn,
        context: &mut RunContext<'_>,
    ) -> Result<Box<dyn OpenTarget + 'plan>, RunError> {
        let target = plan.target.other().ok_or(TargetError::NoCalls)?;
        context.preparing(&format!("greeting {}", plan.target));
        let address = resolve(target)?;
        let welcome = greet(address).map_err(|source| RunError::Connect { address, source })?;
        Ok(Box::new(OpenEcho::new(plan, address, welcome)))
    }
}

fn resolve(target: &OtherTarget) -> Result<SocketAddr, RunError> {
    let host = target.host.as_str();
    let found = (host, target.port).to_socket_addrs();
    let mut found = found.map_err(|source| RunError::Resolve {
        host: host.into(),
        source,
    })?;
    found
        .next()
        .ok_or_else(|| TargetError::NoAddress(host.into()).into())
}

/// Requests a session and returns the server's Welcome.
fn greet(address: SocketAddr) -> io::Result<Welcome> {
    let mut socket = TcpStream::connect_timeout(&address, PATIENCE)?;
    socket.set_read_timeout(Some(PATIENCE))?;
    let mut hello = Vec::new();
    wire::put(&mut hello, Kind::Hello, &[]);
    socket.write_all(&hello)?;
    let mut answer = [0; wire::HEAD_LEN + 20];
    socket.read_exact(&mut answer)?;
    let wrong = || io::Error::new(io::ErrorKind::InvalidData, "it is no server of echo");
    match wire::take(&answer) {
        Ok(Some((Kind::Welcome, body, _))) => Welcome::read(body).ok_or_else(wrong),
        Ok(_) | Err(_) => Err(wrong()),
    }
}

/// A server that has answered with a Welcome.
struct OpenEcho<'plan> {
    plan: &'plan Plan,
    options: SocketOptions,
    subjects: TargetObjects,
    files: Arc<ServerHandles<u32>>,
    target: Target,
    file_set: Option<FileSetRecord>,
}

impl<'plan> OpenEcho<'plan> {
    fn new(plan: &'plan Plan, address: SocketAddr, welcome: Welcome) -> Self {
        let (table, files) = files_of(plan, welcome);
        let sets = sets_of(plan, &table);
        let count = u64::from(table.len());
        let (files_len, path) = (count * welcome.file_len, plan.target.to_string());
        let dial = Dial {
            address,
            transport: TransportKind::Tcp,
            reserved_port: false,
            source: plan.connections.sources.of_client(0),
        };
        Self {
            plan,
            options: SocketOptions::of(plan, dial, pattern()),
            subjects: TargetObjects {
                table: Arc::new(table),
                sets: sets.into(),
            },
            files: Arc::new(files),
            target: Target {
                address: address.to_string(),
                built_in: false,
                local: address.ip().is_loopback(),
                export: "/".into(),
                walked: String::new(),
                object: ObjectKind::File.name().into(),
                object_bytes: welcome.file_len,
                files: count,
                read_max_bytes: wire::MESSAGE_MAX as u64,
                write_max_bytes: wire::MESSAGE_MAX as u64,
                ..Target::default()
            },
            file_set: plan.mix().map(|_| FileSetRecord {
                paths: vec![path],
                files: count,
                bytes: files_len,
                working_files: count,
                working_bytes: files_len,
                found: count,
                ..FileSetRecord::default()
            }),
        }
    }
}

/// Returns the server's files, which are virtual: each number up to the count is valid.
fn files_of(plan: &Plan, welcome: Welcome) -> (FileTable, ServerHandles<u32>) {
    let wanted = match &plan.workload {
        WorkloadPlan::Probe(probe) => probe.files_max.max(plan.clients),
        WorkloadPlan::Mix(mix) => mix.file_set.files_per_client.saturating_mul(plan.clients),
        WorkloadPlan::LoadFile(_) | WorkloadPlan::Fleet(_) => 0,
    };
    let (mut table, mut files) = (FileTable::default(), ServerHandles::default());
    for number in 0..wanted.min(welcome.files).max(1) {
        table.add(FileEntry {
            len: welcome.file_len,
            kind: ObjectKind::File,
            has_pattern: true,
        });
        files.add(number);
    }
    table.subjects = 0..table.len();
    table.own_files = 0..table.len();
    (table, files)
}

/// Returns each client's part of the files; with more clients than files, some share one.
fn sets_of(plan: &Plan, table: &FileTable) -> Vec<ClientSet> {
    let of_client = (table.len() / plan.clients.max(1)).max(1);
    let set = |client: u32| {
        let first = client.saturating_mul(of_client) % table.len();
        set_of(first..(first + of_client).min(table.len()))
    };
    (0..plan.clients).map(set).collect()
}

fn set_of(files: Range<u32>) -> ClientSet {
    let root = FileId(files.start);
    ClientSet {
        root,
        directories: 0..0,
        names: 0..0,
        working_files: files.end - files.start,
        files,
        symbolic_links: 0..0,
        changing: ChangingDirectories {
            created: root,
            links: root,
            symbolic_links: root,
            nodes: root,
            directories: root,
        },
        spare_names: 0,
    }
}

impl OpenTarget for OpenEcho<'_> {
    fn describe(&self) -> &Target {
        &self.target
    }

    fn file_set(&self) -> Option<FileSetRecord> {
        self.file_set.clone()
    }

    fn connect(
        &mut self,
        clock: &Clock,
        context: &mut RunContext<'_>,
    ) -> Result<ConnectedClients, RunError> {
        let shared = Shared {
            files: Arc::clone(&self.files),
            pattern: Arc::clone(&self.options.pattern),
            timeout_nanos: self.plan.timeout_ns,
        };
        let make = |_| EchoClient::new(shared.clone(), self.plan.in_flight);
        let (plan, options, subjects) = (self.plan, &self.options, &self.subjects);
        clients::connect(plan, options, subjects, clock, context, make)
    }
}
