//! Runs against the built-in server over real sockets.

use crate::support::entry::run;
use filestone_engine::protocols::BuiltIn;
use filestone_engine::{Job, Protocols};
use filestone_host::control::{NoObserver, RunContext};
use filestone_host::error::RunError;
use filestone_measure::measure::RunRecord;
use filestone_plan::plan::{ArrivalsPlan, Plan, TransportKind};
use filestone_server::{Options, Running, Server};
use filestone_setup::nfs3::Nfs3Error;
use filestone_wire::nfs3::Status;
use filestone_workload::load::Load;
use filestone_workload::operation::OpKind;
use filestone_workload::password::Password;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A small built-in server on a free port.
pub fn serve(change: impl FnOnce(&mut Options)) -> Running {
    let mut options = Options {
        threads: 1,
        ..Options::default()
    };
    change(&mut options);
    Server::start(options).expect("a free port on loopback")
}

/// Where an operation finds something to work on in the built-in server.
pub fn path_for(operation: OpKind) -> &'static str {
    match operation {
        OpKind::Read => "/export/file",
        OpKind::ReadLink => "/export/link",
        OpKind::GetAttr
        | OpKind::Access
        | OpKind::Lookup
        | OpKind::ReadDir
        | OpKind::ReadDirPlus => "/export/files",
        _ => "/export",
    }
}

pub fn probe(operation: OpKind, transport: TransportKind, count: u64) -> Plan {
    let mut plan = super::plan(ArrivalsPlan::Closed, 4, 1);
    plan.probe_mut().expect("a probe").operation = operation;
    plan.probe_mut().expect("a probe").files_max = 10_000;
    plan.probe_mut().expect("a probe").file_size_bytes = 1 << 20;
    plan.target.nfs3_mut().expect("an NFS target").path = path_for(operation).into();
    plan.target.nfs3_mut().expect("an NFS target").transport = transport;
    plan.duration_ns = None;
    plan.count = Some(count);
    plan.timeout_ns = 20 * super::SECOND;
    plan
}

pub fn run_against(plan: &Plan, server: &Running) -> Result<RunRecord, RunError> {
    run(
        plan,
        Some(server.address()),
        &AtomicBool::new(false),
        &mut NoObserver,
    )
}

/// Runs and checks everything that holds in every record.
pub fn checked(plan: &Plan, server: &Running) -> RunRecord {
    let record = run_against(plan, server).expect("the run is made");
    record.check().expect("the record agrees with itself");
    record
}

/// What the server answered a call of preparing, if that is what the error says.
pub fn status_of(error: &RunError) -> Option<Status> {
    match error.of_area()? {
        Nfs3Error::Answered { status, .. } => Some(*status),
        _ => None,
    }
}

/// Runs on a share of the built-in server, as a user with this password.
pub fn run_on_share(
    plan: &Plan,
    loads: &[Arc<Load>],
    server: &Running,
) -> Result<RunRecord, RunError> {
    let job = Job {
        loads,
        built_in: BuiltIn {
            smb: server.smb_addresses().first().copied(),
            ..BuiltIn::default()
        },
        ..Job::new(plan)
    };
    let (stop, password) = (AtomicBool::new(false), Password::new("mellon".into()));
    let mut silent = NoObserver;
    let context = RunContext::new(&stop, &mut silent);
    let mut context = context.with_password(Some(&password));
    filestone_engine::run(&job, &Protocols::default(), &mut context)
}
