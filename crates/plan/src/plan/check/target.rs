//! Rules of targets.

use super::error::{RuleMessage, wrong};
use super::{FieldName, PlanError};
use crate::plan::target::TargetPlanError;
use crate::plan::{CHANNELS_MAX, Field, Plan, TargetPlan};

impl TargetPlanError {
    pub(super) fn explanation(&self, name: FieldName) -> RuleMessage {
        match self {
            TargetPlanError::Place(place) => wrong(format!(
                "{}: {place} is no place on a server",
                name(Field::Target)
            ))
            .with_help("name a host, a share, and a path in it without . and .."),
            TargetPlanError::ConnectionsPerClient(count) => wrong(format!(
                "{} {count}: expected a number from 1 to {CHANNELS_MAX}",
                name(Field::ConnectionsPerClient)
            ))
            .with_help(format!(
                "{} gives more sessions, each with its own connections",
                name(Field::Clients)
            )),
            TargetPlanError::IdleConnections {
                in_flight,
                connections,
            } => wrong(format!(
                "{} {in_flight}: fewer than the {connections} connections of each client",
                name(Field::InFlight)
            ))
            .with_help(format!(
                "calls in flight are shared by a client's connections: {} {connections} or more",
                name(Field::InFlight)
            )),
            TargetPlanError::ReplayConnections(count) => wrong(format!(
                "{} {count}: a client of a replay or a fleet does one thing after the other, so that \
                 a second connection would have nothing to do",
                name(Field::ConnectionsPerClient)
            ))
            .with_help(format!("{} gives more of them", name(Field::Clients))),
            TargetPlanError::DurableWithoutOplock => wrong(format!(
                "{}: a server keeps no handle of a file that others may change meanwhile",
                name(Field::Durable)
            ))
            .with_help(format!(
                "{} lease or {} batch has it told before",
                name(Field::Oplock),
                name(Field::Oplock)
            )),
            TargetPlanError::DurableMix => wrong(format!(
                "{}: each operation of a mix opens its file for itself, and closes it",
                name(Field::Durable)
            ))
            .with_help("a probe holds its files open, and so does a load that is replayed"),
            TargetPlanError::Dialect {
                field,
                dialect,
                since,
            } => wrong(format!(
                "{}: {} {dialect} does not have that",
                name(*field),
                name(Field::Dialect)
            ))
            .with_help(format!(
                "{} {since} is the first that does",
                name(Field::Dialect)
            )),
        }
    }
}

pub(super) fn check(plan: &Plan) -> Result<(), PlanError> {
    let mut targets = plan.targets();
    targets.try_for_each(|target| {
        let checked = target
            .check()
            .and_then(|()| check_connections(plan, target))
            .and_then(|()| check_durable(plan, target));
        checked.map_err(PlanError::Target)
    })
}

/// Checks that the workload holds files open if it requests durable handles.
fn check_durable(plan: &Plan, target: &TargetPlan) -> Result<(), TargetPlanError> {
    if target.keeps_handles() && plan.mix().is_some() {
        return Err(TargetPlanError::DurableMix);
    }
    Ok(())
}

/// Checks that all connections of a client are used.
fn check_connections(plan: &Plan, target: &TargetPlan) -> Result<(), TargetPlanError> {
    let connections = target.connections_per_client();
    if connections > 1 && plan.has_lines() {
        return Err(TargetPlanError::ReplayConnections(connections));
    }
    if plan.in_flight < connections {
        return Err(TargetPlanError::IdleConnections {
            in_flight: plan.in_flight,
            connections,
        });
    }
    Ok(())
}
