//! Rules of connection settings.

use super::error::{RuleMessage, wrong};
use super::{FieldName, PlanError, ensure, positive};
use crate::plan::limits::CONNECT_RATE_MAX;
use crate::plan::{
    CLIENT_NUMBER, Field, GroupPlan, Identities, Interface, Plan, SourceAddresses, TargetPlan,
};
use filestone_wire::rpc::GIDS_MAX;

/// Maximum length of a pattern of machine names: AUTH_SYS allows 255 bytes, and client numbers need
/// some of them.
const MACHINE_NAME_MAX: usize = 64;

/// Error returned when clients cannot be connected as requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionPlanError {
    /// The rate of connections is not supported, because they are not all made before the run.
    NotPaced,
    /// The policy for lost connections is set by the kernel, or by a peer that replies with bytes.
    NotKept,
    /// Source addresses are not supported: the kernel makes the connections, or socket options
    /// choose the address.
    NoSources,
    /// The calls do not contain the identity, or the kernel makes them.
    NoIdentities(Field),
    /// Preparation uses a different identity than the first one.
    FirstIsAnother(Field),
    /// The number of groups exceeds the limit of AUTH_SYS.
    TooManyGroups,
    /// The machine name is not valid.
    MachineName,
    /// The addresses belong to two families; the server is reachable from only one.
    MixedSources,
}

impl ConnectionPlanError {
    pub(super) fn explanation(self, name: FieldName) -> RuleMessage {
        match self {
            ConnectionPlanError::NotPaced => wrong(format!(
                "{}: only connections to servers of NFS and SMB are made at a pace",
                name(Field::ConnectRate)
            )),
            ConnectionPlanError::NotKept => wrong(format!(
                "{}: only lost connections to servers of NFS and SMB are made again",
                name(Field::OnLost)
            ))
            .with_help("on local: there are none, and a client on tcp: ends with its connection"),
            ConnectionPlanError::NoSources => wrong(format!(
                "{}: only connections to servers of NFS and SMB can be made from given addresses",
                name(Field::Sources)
            )),
            ConnectionPlanError::NoIdentities(field) => {
                wrong(format!("{}: only calls to NFS servers carry it", name(field)))
                    .with_help(
                        "elsewhere all clients are the user of this process, or the one who logs on",
                    )
            }
            ConnectionPlanError::FirstIsAnother(field) => wrong(format!(
                "{}: the first of them is not the one of the target",
                name(field)
            ))
            .with_help("the first client is the one of the target, which also prepares and cleans up"),
            ConnectionPlanError::TooManyGroups => wrong(format!(
                "{}: a call carries {GIDS_MAX} supplementary groups at most",
                name(Field::SupplementaryGids)
            ))
            .with_help("name the groups that the server checks"),
            ConnectionPlanError::MachineName => wrong(format!(
                "{}: expected 1 to {MACHINE_NAME_MAX} visible characters of ASCII, with %d for the number of the client",
                name(Field::MachineName)
            ))
            .with_help("such as client%d or host%d.example.com"),
            ConnectionPlanError::MixedSources => wrong(format!(
                "{}: IPv4 and IPv6 addresses do not reach the same server",
                name(Field::Sources)
            ))
            .with_help("name addresses of the server's family"),
        }
    }
}

pub(super) fn check(plan: &Plan) -> Result<(), PlanError> {
    let are_calls = plan.target.interface() == Interface::Calls;
    check_pace(plan, are_calls)?;
    ensure(are_calls || plan.connections.on_lost.is_none(), || {
        wrong_with(ConnectionPlanError::NotKept)
    })?;
    check_identities(plan)?;
    let of_groups = groups(plan).iter().map(|group| &group.sources);
    let mut sources = std::iter::once(&plan.connections.sources).chain(of_groups);
    sources.try_for_each(|sources| check_sources(sources, are_calls))
}

/// Returns the groups, which may have separate source addresses and identities.
fn groups(plan: &Plan) -> &[GroupPlan] {
    plan.fleet().map_or(&[], |fleet| &fleet.groups)
}

fn check_sources(sources: &SourceAddresses, are_calls: bool) -> Result<(), PlanError> {
    if sources.is_empty() {
        return Ok(());
    }
    ensure(are_calls, || wrong_with(ConnectionPlanError::NoSources))?;
    ensure(!sources.are_mixed(), || {
        wrong_with(ConnectionPlanError::MixedSources)
    })
}

fn wrong_with(error: ConnectionPlanError) -> PlanError {
    PlanError::Connections(error)
}

fn check_identities(plan: &Plan) -> Result<(), PlanError> {
    let are_carried = plan.targets().all(TargetPlan::carries_identities);
    let identities = &plan.connections.identities;
    let has_name = identities.machine_name.is_some();
    let (uid, gid) = (identities.uids.of_client(0), identities.gids.of_client(0));
    let uids = || plan.targets().filter_map(TargetPlan::uid);
    let gids = || plan.targets().filter_map(TargetPlan::gid);
    let is_first_uid = uid.is_none_or(|first| uids().all(|uid| uid == first));
    let is_first_gid = gid.is_none_or(|first| gids().all(|gid| gid == first));
    for (field, is_given, is_first) in [
        (Field::Uids, uid.is_some(), is_first_uid),
        (Field::Gids, gid.is_some(), is_first_gid),
        (
            Field::SupplementaryGids,
            identities.supplementary_gids.is_some(),
            true,
        ),
        (Field::MachineName, has_name, true),
    ] {
        ensure(are_carried || !is_given, || {
            wrong_with(ConnectionPlanError::NoIdentities(field))
        })?;
        ensure(is_first, || {
            wrong_with(ConnectionPlanError::FirstIsAnother(field))
        })?;
    }
    let mut of_groups = groups(plan).iter().map(|group| &group.identities);
    of_groups.try_for_each(|of_group| {
        ensure(are_carried || of_group.is_empty(), || {
            wrong_with(ConnectionPlanError::NoIdentities(first_field(of_group)))
        })
    })?;
    let of_targets = plan.targets().filter_map(TargetPlan::supplementary_gids);
    let of_fleet = groups(plan)
        .iter()
        .filter_map(|group| group.identities.supplementary_gids.as_ref());
    let mut lists = of_targets
        .chain(&identities.supplementary_gids)
        .chain(of_fleet);
    ensure(lists.all(|gids| gids.count() <= GIDS_MAX as u128), || {
        wrong_with(ConnectionPlanError::TooManyGroups)
    })?;
    let name = identities.machine_name.as_deref();
    ensure(name.is_none_or(is_machine_name), || {
        wrong_with(ConnectionPlanError::MachineName)
    })
}

/// Returns the first field that is set.
fn first_field(identities: &Identities) -> Field {
    if !identities.uids.is_empty() {
        Field::Uids
    } else if !identities.gids.is_empty() {
        Field::Gids
    } else if identities.supplementary_gids.is_some() {
        Field::SupplementaryGids
    } else {
        Field::MachineName
    }
}

/// Whether a text is valid as a pattern of machine names.
fn is_machine_name(pattern: &str) -> bool {
    let visible = pattern.bytes().all(|byte| byte.is_ascii_graphic());
    let is_other_pattern = pattern.replace(CLIENT_NUMBER, "").contains('%');
    visible && !is_other_pattern && (1..=MACHINE_NAME_MAX).contains(&pattern.len())
}

fn check_pace(plan: &Plan, are_calls: bool) -> Result<(), PlanError> {
    let Some(rate) = plan.connections.connections_per_s else {
        return Ok(());
    };
    positive(Field::ConnectRate, rate, CONNECT_RATE_MAX)?;
    ensure(are_calls, || wrong_with(ConnectionPlanError::NotPaced))
}
