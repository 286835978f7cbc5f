//! A share as the target of a probe or a mix, with the objects prepared for a run.

use super::channels::interfaces_of;
use super::connection::ConnectedShare;
use super::error::SmbError;
use super::limits::limits_for;
use super::prepare::{self, FoundOnShare, kind_of};
use super::terms::{guest_remark, reach};
use crate::file_set::{self, FileSetRequest, OrphanedSet, SetFiles};
use crate::prepare::{ProbePreparation, RunObjects};
use crate::workspace::marker::ProcessIdentity;
use filestone_host::control::RunContext;
use filestone_host::error::RunError;
use filestone_measure::measure::run_record::{InterfaceRecord, Target};
use filestone_plan::file_set::Layout;
use filestone_plan::plan::{MixPlan, Plan, ProbePlan, SmbTarget};
use filestone_protocol::client::smb2::{ShareFiles, SharePath};
use filestone_protocol::session::smb2::SmbTransferLimits;
use filestone_protocol::workload::FileEntry;
use filestone_workload::operation::OpKind;
use std::net::SocketAddr;
use std::sync::Arc;

/// A share with the objects prepared for a run.
pub struct PreparedShare {
    /// Description of the target for the record.
    pub record: Target,
    /// A connection to the share.
    pub connection: ConnectedShare,
    /// Files and names.
    pub files: Arc<ShareFiles>,
    /// Objects that the run removes or releases at its end.
    pub objects: RunObjects<SharePath>,
}

/// The directories of a mix, and the connection to their share.
struct Directories {
    connection: ConnectedShare,
    /// Limits of the server.
    limits: SmbTransferLimits,
    first: FoundOnShare,
    interfaces: Vec<InterfaceRecord>,
    /// Directories with their names for error messages.
    roots: Vec<(String, SharePath)>,
}

impl PreparedShare {
    /// Finds the target of a probe, and finds or creates its objects.
    pub fn probe(
        plan: &Plan,
        target: &SmbTarget,
        probe: &ProbePlan,
        built_in: Option<SocketAddr>,
        context: &mut RunContext<'_>,
    ) -> Result<Self, RunError> {
        context.cancellable(|context| Self::prepare(plan, target, probe, built_in, context))
    }

    fn prepare(
        plan: &Plan,
        target: &SmbTarget,
        probe: &ProbePlan,
        built_in: Option<SocketAddr>,
        context: &mut RunContext<'_>,
    ) -> Result<Self, RunError> {
        context.preparing(&format!("connecting to {target}"));
        let mut connection = reach(plan, target, built_in, context)?;
        tell_of_guest(&connection, target, context);
        let interfaces = interfaces(&mut connection)?;
        let limits = limits_for(&mut connection, plan, target);
        let limits = limits.map_err(SmbError::into_run_error)?;
        let found = prepare::find(&mut connection, target)?;
        let object = FileEntry {
            len: found.opened.len,
            kind: kind_of(found.opened.is_directory()),
            has_pattern: target.host.is_none(),
        };
        let mut preparing = ProbePreparation {
            server: &mut connection,
            probe,
            clients: plan.clients,
            path: target.to_string(),
            has_pattern: object.has_pattern,
            write_max_bytes: limits.write.into(),
            files: SetFiles::default(),
            own: None,
        };
        let filled = preparing.fill(found.path.as_str().into(), object, context);
        let count = preparing.count();
        let ProbePreparation { files, own, .. } = preparing;
        let mut record = describe(&connection, target, &found, count);
        note_limits(&mut record, limits);
        note_interfaces(&mut record, interfaces);
        let mut prepared = Self {
            record,
            connection,
            files: Arc::new(files.into()),
            objects: RunObjects {
                own,
                file_set: None,
            },
        };
        match filled {
            Ok(()) => Ok(prepared),
            Err(error) => {
                Err(prepared
                    .objects
                    .fail(error, prepared.connection.reaching(), context))
            }
        }
    }

    /// Finds the target of a mix, and claims its file set.
    pub fn mix(
        plan: &Plan,
        target: &SmbTarget,
        mix: &MixPlan,
        built_in: Option<SocketAddr>,
        context: &mut RunContext<'_>,
    ) -> Result<Self, RunError> {
        let layout = Layout::of_numbered(&mix.file_set, plan.clients, plan.whole().numbering())?;
        let directories = context
            .cancellable(|context| Directories::find(plan, target, mix, built_in, context))?;
        let Directories {
            mut connection,
            limits,
            first,
            interfaces,
            roots,
        } = directories;
        let kinds: Vec<OpKind> = mix.kinds().iter().map(|(kind, _)| *kind).collect();
        let mut record = describe(&connection, target, &first, 0);
        note_limits(&mut record, limits);
        note_interfaces(&mut record, interfaces);
        // The file set is created over a separate connection.
        connection.leave().map_err(SmbError::into_run_error)?;
        let order = FileSetRequest {
            roots: &roots,
            layout: &layout,
            plan: &mix.file_set,
            kinds: &kinds,
            write_max_bytes: record.write_max_bytes,
            left_over: mix.left_over,
        };
        let reaching = connection.reaching();
        let mut set = file_set::prepare_run(reaching, &order, mix.remove_set, context)?;
        record.files = set.record.files;
        Ok(Self {
            record,
            connection,
            files: Arc::new(set.take_files().into()),
            objects: RunObjects {
                own: None,
                file_set: Some((set, mix.remove_set)),
            },
        })
    }

    /// Removes or releases the objects of the run.
    pub fn clean_up(&mut self, context: &mut RunContext<'_>) -> Result<(), RunError> {
        self.objects.clean_up(self.connection.reaching(), context)
    }
}

/// Removes or releases the file set of a mix whose process has ended.
pub fn reclaim_mix(
    plan: &Plan,
    target: &SmbTarget,
    mix: &MixPlan,
    owner: &ProcessIdentity,
    built_in: Option<SocketAddr>,
    context: &mut RunContext<'_>,
) -> Result<(), RunError> {
    let directories = Directories::find(plan, target, mix, built_in, context)?;
    let left = OrphanedSet {
        roots: &directories.roots,
        name: &mix.file_set.name,
        owner,
        removes: mix.remove_set,
    };
    file_set::reclaim(directories.connection.reaching(), &left, context)
}

impl Directories {
    fn find(
        plan: &Plan,
        first: &SmbTarget,
        mix: &MixPlan,
        built_in: Option<SocketAddr>,
        context: &mut RunContext<'_>,
    ) -> Result<Self, RunError> {
        context.preparing(&format!("connecting to {first}"));
        let mut connection = reach(plan, first, built_in, context)?;
        tell_of_guest(&connection, first, context);
        let interfaces = interfaces(&mut connection)?;
        let limits = limits_for(&mut connection, plan, first);
        let limits = limits.map_err(SmbError::into_run_error)?;
        let found = directory(&mut connection, first)?;
        let mut roots = vec![(first.to_string(), found.path.as_str().into())];
        // The rules of the plan require the same share.
        for target in mix.more_targets.iter().filter_map(|target| target.smb()) {
            let found = directory(&mut connection, target)?;
            roots.push((target.to_string(), found.path.into()));
        }
        Ok(Self {
            connection,
            limits,
            first: found,
            interfaces,
            roots,
        })
    }
}

/// Returns the network interfaces that the server reports, if clients may have several connections.
fn interfaces(connection: &mut ConnectedShare) -> Result<Vec<InterfaceRecord>, RunError> {
    if connection.reaching().way.terms.channels <= 1 {
        return Ok(Vec::new());
    }
    interfaces_of(connection).map_err(SmbError::into_run_error)
}

fn note_limits(record: &mut Target, limits: SmbTransferLimits) {
    record.read_max_bytes = limits.read.into();
    record.write_max_bytes = limits.write.into();
}

fn note_interfaces(record: &mut Target, interfaces: Vec<InterfaceRecord>) {
    if let Some(session) = &mut record.session {
        session.interfaces = interfaces;
    }
}

fn tell_of_guest(connection: &ConnectedShare, target: &SmbTarget, context: &mut RunContext<'_>) {
    if let Some(remark) = guest_remark(connection, target) {
        context.observer.note(&remark);
    }
}

/// Finds the object at the target's path, which must be a directory.
fn directory(
    connection: &mut ConnectedShare,
    target: &SmbTarget,
) -> Result<FoundOnShare, RunError> {
    let found = prepare::find(connection, target)?;
    if found.opened.is_directory() {
        return Ok(found);
    }
    let path = target.to_string();
    Err(SmbError::NotADirectory { path }.into())
}

/// Returns the description of the target for the record.
fn describe(
    connection: &ConnectedShare,
    target: &SmbTarget,
    found: &FoundOnShare,
    files: u64,
) -> Target {
    Target {
        mounts: vec![],
        address: connection.reaching().dial.address.to_string(),
        built_in: target.host.is_none(),
        local: connection.is_local(),
        export: target.share.clone(),
        walked: target.path.clone(),
        object: if found.opened.is_directory() {
            "directory".into()
        } else {
            "file".into()
        },
        object_bytes: found.opened.len,
        files,
        session: connection.session_record(),
        ..Target::default()
    }
}
