//! Preparation and clean-up of a run: finds the server, mounts, looks up the objects of the
//! operations, creates a scratch directory if the run changes files, and removes it at the end.

mod error;
pub mod file_set;
mod listing;
mod mix;
mod probe;

pub use crate::nfs3::calls::NfsConnection;
pub use error::PrepareError;
pub use mix::{prepare_mix, reclaim_mix};

use crate::file_set::SetFiles;
use crate::nfs3::mount::{self, MountCaller};
use crate::prepare::{ProbePreparation, RunObjects};
use filestone_host::connect::Dial;
use filestone_host::control::RunContext;
use filestone_host::error::RunError;
use filestone_measure::measure::run_record::Target;
use filestone_plan::plan::ProbeRun;
use filestone_protocol::workload::{FileEntry, ObjectKind};
use filestone_wire::nfs3::{FileType, Handle};
use filestone_workload::operation::OpKind;
use std::net::SocketAddr;
use std::time::Duration;

/// The prepared target of a run.
pub struct Prepared {
    /// Address and parameters for the clients' connections.
    pub dial: Dial,
    /// Files and names.
    pub files: SetFiles<Handle>,
    /// Description of the target for the record.
    pub target: Target,
    session: NfsConnection,
    /// Objects that the run removes or releases at its end.
    pub objects: RunObjects<Handle>,
}

/// Finds the target of a plan and looks up the objects of its operations.
pub fn prepare(
    plan: &ProbeRun<'_>,
    built_in: Option<SocketAddr>,
    context: &mut RunContext<'_>,
) -> Result<Prepared, RunError> {
    context.cancellable(|context| prepare_probe(plan, built_in, context))
}

fn prepare_probe(
    plan: &ProbeRun<'_>,
    built_in: Option<SocketAddr>,
    context: &mut RunContext<'_>,
) -> Result<Prepared, RunError> {
    context.preparing(&format!("mounting {}", plan.target.path));
    let caller = MountCaller {
        wants_link: plan.probe.operation == OpKind::ReadLink,
        ..MountCaller::new(plan, plan.target)
    };
    let (mut session, mounted) = mount::mount_until(&caller, built_in, &context.cancellation)?;
    if !asks_of_any_object(plan.probe.operation) {
        mounted.refuse_link(&mut session, plan.target)?;
    }
    session
        .connection
        .reconnect_for(Duration::from_nanos(plan.reconnect_ns));
    let object = FileEntry {
        len: mounted.attributes.size,
        kind: kind_of(mounted.attributes.file_type),
        has_pattern: built_in.is_some(),
    };
    let mut prepared = Prepared {
        dial: *session.dial(),
        files: SetFiles::default(),
        target: Target {
            address: session.dial().address.to_string(),
            built_in: built_in.is_some(),
            local: session.connection.is_local(),
            export: mounted.export,
            walked: mounted.walked,
            object: object.kind.name().into(),
            object_bytes: object.len,
            ..Target::default()
        },
        objects: RunObjects {
            own: None,
            file_set: None,
        },
        session: session.again()?,
    };
    let (read_max, write_max) = session.transfer_limits(&mounted.handle);
    prepared.target.read_max_bytes = read_max;
    prepared.target.write_max_bytes = write_max;
    drop(session);
    let mut preparing = ProbePreparation {
        server: &mut prepared.session,
        probe: plan.probe,
        clients: plan.clients,
        path: plan.target.path.clone(),
        has_pattern: built_in.is_some(),
        write_max_bytes: write_max,
        files: SetFiles::default(),
        own: None,
    };
    let filled = preparing.fill(mounted.handle, object, context);
    prepared.target.files = preparing.count();
    (prepared.files, prepared.objects.own) = (preparing.files, preparing.own);
    match filled {
        Ok(()) => Ok(prepared),
        Err(error) => Err(prepared.objects.fail(error, &prepared.session, context)),
    }
}

/// Whether an operation accepts any object, including a symbolic link.
const fn asks_of_any_object(operation: OpKind) -> bool {
    matches!(
        operation,
        OpKind::Null
            | OpKind::GetAttr
            | OpKind::Access
            | OpKind::ReadLink
            | OpKind::FsStat
            | OpKind::FsInfo
            | OpKind::PathConf
    )
}

/// Converts ftype3 to the types that operations distinguish.
fn kind_of(file_type: FileType) -> ObjectKind {
    match file_type {
        FileType::Regular => ObjectKind::File,
        FileType::Directory => ObjectKind::Directory,
        FileType::Symlink => ObjectKind::SymbolicLink,
        FileType::BlockDevice | FileType::CharacterDevice | FileType::Socket | FileType::Fifo => {
            ObjectKind::Other
        }
    }
}

impl Prepared {
    /// Removes or releases the objects of the run.
    pub fn clean_up(&mut self, context: &mut RunContext<'_>) -> Result<(), RunError> {
        self.objects.clean_up(&self.session, context)
    }
}
