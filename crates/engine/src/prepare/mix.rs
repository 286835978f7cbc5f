//! What a mix needs of its server: the directories that clients use, and the file set in them.

use super::file_set::{self, Order};
use super::mount::{self, Caller, Mounted};
use super::{Prepared, Session, kind_of};
use crate::error::RunError;
use crate::run::Observer;
use filestone_model::file_set::Layout;
use filestone_model::measure::run_record::Target;
use filestone_model::operation::OpKind;
use filestone_model::plan::{MixPlan, NfsRun, NfsTarget, TargetPlan};
use filestone_model::workload::ObjectKind;
use std::net::SocketAddr;
use std::sync::atomic::AtomicBool;

/// Finds the directories of a mix, and makes or finds the file set in them.
pub fn prepare_mix(
    plan: &NfsRun<'_>,
    mix: &MixPlan,
    built_in: Option<SocketAddr>,
    (stop, observer): (&AtomicBool, &mut dyn Observer),
) -> Result<Prepared, RunError> {
    let layout = Layout::of(&mix.file_set, plan.clients).map_err(|refusal| {
        RunError::Unsuitable(refusal.to_string(), Some(refusal.help().into()))
    })?;
    observer.preparing(&format!("mounting {}", plan.target.path));
    let (session, mounted) = find(plan, plan.target, built_in)?;
    let mut roots = vec![(plan.target.path.clone(), mounted.handle)];
    for target in &mix.more_targets {
        let target = same_server(plan.target, target)?;
        observer.preparing(&format!("mounting {}", target.path));
        let (_, mounted) = find(plan, target, built_in)?;
        roots.push((target.path.clone(), mounted.handle));
    }
    let mut session = session.again()?;
    let (read_max, write_max) = session.transfer_limits(&mounted.handle);
    let kinds: Vec<OpKind> = mix.kinds().iter().map(|(kind, _)| *kind).collect();
    let order = Order {
        roots: &roots,
        layout: &layout,
        plan: &mix.file_set,
        kinds: &kinds,
        write_max_bytes: write_max,
    };
    let mut set = file_set::prepare(&session, &order, (stop, observer))?;
    let target = Target {
        address: session.dial().address.to_string(),
        built_in: built_in.is_some(),
        local: session.is_local(),
        export: mounted.export,
        walked: mounted.walked,
        object: ObjectKind::Directory.name().into(),
        object_bytes: mounted.attributes.size,
        files: set.record.files,
        read_max_bytes: read_max,
        write_max_bytes: write_max,
    };
    Ok(Prepared {
        dial: *session.dial(),
        table: std::mem::take(&mut set.table),
        target,
        session,
        own: None,
        file_set: Some((set, mix.remove_set)),
    })
}

/// Mounts one of the directories.
fn find(
    plan: &NfsRun<'_>,
    target: &NfsTarget,
    built_in: Option<SocketAddr>,
) -> Result<(Session, Mounted), RunError> {
    let (session, mounted) = mount::mount(&Caller::new(plan, target), built_in)?;
    let kind = kind_of(mounted.attributes.file_type);
    if kind != ObjectKind::Directory {
        return Err(RunError::Unsuitable(
            format!(
                "{}: a mix works in a directory, and this is a {}",
                target.path,
                kind.name()
            ),
            Some("it makes a file set of its own there; nothing else is touched".into()),
        ));
    }
    Ok((session, mounted))
}

/// The further target, if it is on the server of the first. A file handle is good on its own
/// server only, and so is a connection.
fn same_server<'t>(first: &NfsTarget, other: &'t TargetPlan) -> Result<&'t NfsTarget, RunError> {
    let same = other.nfs3().filter(|other| {
        (&other.host, other.port, other.transport) == (&first.host, first.port, first.transport)
    });
    same.ok_or_else(|| {
        RunError::Unsuitable(
            "the directories of a mix are on different servers".into(),
            Some("run filestone once for each server".into()),
        )
    })
}
