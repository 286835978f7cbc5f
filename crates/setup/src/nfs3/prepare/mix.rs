//! Prepares a mix on an NFS server: the clients' directories and the file set in them.

use super::file_set::NfsFileSetRequest;
use super::{NfsConnection, Prepared, RunObjects, kind_of};
use crate::file_set::{self, OrphanedSet};
use crate::nfs3::mount::{self, MountCaller, MountedObject};
use crate::nfs3::prepare::PrepareError;
use crate::workspace::marker::ProcessIdentity;
use filestone_host::control::{Cancellation, RunContext};
use filestone_host::error::RunError;
use filestone_measure::measure::run_record::Target;
use filestone_plan::file_set::Layout;
use filestone_plan::plan::{MixPlan, NfsTarget, Plan, TargetPlan};
use filestone_protocol::workload::ObjectKind;
use filestone_wire::nfs3::Handle;
use filestone_workload::operation::OpKind;
use std::net::SocketAddr;
use std::time::Duration;

/// Finds the directories of a mix, and creates or finds its file set.
pub fn prepare_mix(
    plan: &Plan,
    target: &NfsTarget,
    mix: &MixPlan,
    built_in: Option<SocketAddr>,
    context: &mut RunContext<'_>,
) -> Result<Prepared, RunError> {
    let layout = Layout::of_numbered(&mix.file_set, plan.clients, plan.whole().numbering())?;
    let (mut session, mounted, roots) =
        context.cancellable(|context| find_all(plan, target, mix, built_in, context))?;
    let (read_max, write_max) = context.cancellable(|_| session.transfer_limits(&mounted.handle));
    let kinds: Vec<OpKind> = mix.kinds().iter().map(|(kind, _)| *kind).collect();
    let order = NfsFileSetRequest {
        roots: &roots,
        layout: &layout,
        plan: &mix.file_set,
        kinds: &kinds,
        write_max_bytes: write_max,
        left_over: mix.left_over,
    };
    let mut set = file_set::prepare_run(&session, &order, mix.remove_set, context)?;
    let target = Target {
        address: session.dial().address.to_string(),
        built_in: built_in.is_some(),
        local: session.connection.is_local(),
        export: mounted.export,
        walked: mounted.walked,
        object: ObjectKind::Directory.name().into(),
        object_bytes: mounted.attributes.size,
        files: set.record.files,
        read_max_bytes: read_max,
        write_max_bytes: write_max,
        ..Target::default()
    };
    Ok(Prepared {
        dial: *session.dial(),
        files: set.take_files(),
        target,
        session,
        objects: RunObjects {
            own: None,
            file_set: Some((set, mix.remove_set)),
        },
    })
}

/// Removes or releases the file set of a mix whose process has ended.
pub fn reclaim_mix(
    plan: &Plan,
    target: &NfsTarget,
    mix: &MixPlan,
    owner: &ProcessIdentity,
    built_in: Option<SocketAddr>,
    context: &mut RunContext<'_>,
) -> Result<(), RunError> {
    let (session, _, roots) = find_all(plan, target, mix, built_in, context)?;
    let left = OrphanedSet {
        roots: &roots,
        name: &mix.file_set.name,
        owner,
        removes: mix.remove_set,
    };
    file_set::reclaim(&session, &left, context)
}

/// All directories, and a new session of the first.
type FoundAll = (NfsConnection, MountedObject, Vec<(String, Handle)>);

/// Mounts all directories.
fn find_all(
    plan: &Plan,
    first: &NfsTarget,
    mix: &MixPlan,
    built_in: Option<SocketAddr>,
    context: &mut RunContext<'_>,
) -> Result<FoundAll, RunError> {
    context.preparing(&format!("mounting {}", first.path));
    let (mut session, mounted) = find(plan, first, built_in, &context.cancellation)?;
    let mut roots = vec![(first.path.clone(), mounted.handle)];
    for target in &mix.more_targets {
        let target = same_server(first, target)?;
        context.preparing(&format!("mounting {}", target.path));
        let (_, mounted) = find(plan, target, built_in, &context.cancellation)?;
        roots.push((target.path.clone(), mounted.handle));
    }
    session
        .connection
        .reconnect_for(Duration::from_nanos(plan.reconnect_ns));
    Ok((session.again()?, mounted, roots))
}

/// Mounts one of the directories.
fn find(
    plan: &Plan,
    target: &NfsTarget,
    built_in: Option<SocketAddr>,
    cancellation: &Cancellation,
) -> Result<(NfsConnection, MountedObject), RunError> {
    let (mut session, mounted) =
        mount::mount_until(&MountCaller::new(plan, target), built_in, cancellation)?;
    mounted.refuse_link(&mut session, target)?;
    let kind = kind_of(mounted.attributes.file_type);
    if kind != ObjectKind::Directory {
        return Err(PrepareError::NotADirectory {
            path: target.path.clone(),
            kind: kind.name(),
        }
        .into());
    }
    Ok((session, mounted))
}

/// Returns the additional target if it is on the server of the first. File handles and connections
/// are valid for one server only.
fn same_server<'t>(first: &NfsTarget, other: &'t TargetPlan) -> Result<&'t NfsTarget, RunError> {
    let same = other.nfs3().filter(|other| {
        (&other.host, other.port, other.transport) == (&first.host, first.port, first.transport)
    });
    same.ok_or_else(|| PrepareError::DifferentServers.into())
}
