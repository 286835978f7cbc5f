//! Rules of loads and targets that clients share: client i has number i modulo their number.

use super::error::{RuleMessage, wrong};
use super::{FieldName, PlanError, ensure};
use crate::plan::{Field, TargetPlan};
use filestone_workload::text::thousands;

/// Error returned when loads or targets cannot be shared.
#[derive(Debug, Clone, PartialEq)]
pub enum SharingError {
    /// There are more of them than clients.
    Idle {
        /// The kind of objects.
        what: SharedKind,
        /// Number of objects.
        count: usize,
        /// Number of clients.
        clients: u32,
    },
    /// A target is named twice.
    Twice {
        /// The purpose of the target.
        what: SharedKind,
        /// The target.
        target: String,
    },
    /// Targets of different layers.
    OtherLayer {
        /// Layer of the first target.
        first: String,
        /// Layer of another target.
        other: String,
    },
    /// Directories of different servers.
    OtherServer {
        /// The first target.
        first: String,
        /// A target on another server.
        other: String,
    },
}

/// Kind of objects that clients share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SharedKind {
    /// Loads of a replay.
    Loads,
    /// Targets of a replay.
    Targets,
    /// Directories of a mix.
    Directories,
}

impl SharingError {
    pub(super) fn explanation(&self, name: FieldName) -> RuleMessage {
        match self {
            SharingError::Idle {
                what,
                count,
                clients,
            } => wrong(idle(*what, *count, *clients))
                .with_help(format!("use {} {count}, or more", name(Field::Clients))),
            SharingError::Twice {
                what: SharedKind::Directories,
                target,
            } => wrong(format!("{target} is named twice")).with_help(format!(
                "{} alone makes more clients in one directory",
                name(Field::Clients)
            )),
            SharingError::Twice { target, .. } => wrong(format!(
                "{}: {target} is named twice for the same run",
                name(Field::MoreTargets)
            ))
            .with_help(format!(
                "+ joins different targets; {} alone makes more clients of one",
                name(Field::Clients)
            )),
            SharingError::OtherLayer { first, other } => wrong(format!(
                "{}: the targets of one run are of the layers {first}: and {other}:",
                name(Field::MoreTargets)
            ))
            .with_help("several layers run in turn: --layer with commas"),
            SharingError::OtherServer { first, other } => wrong(format!(
                "{first} and {other} are different servers: what a mix finds out is about one"
            ))
            .with_help(
                "name directories of the same server, in the same spelling and with one port",
            ),
        }
    }
}

fn idle(what: SharedKind, count: usize, clients: u32) -> String {
    let (what, takes) = match what {
        SharedKind::Loads => ("loads", "takes"),
        SharedKind::Targets => ("targets", "takes"),
        SharedKind::Directories => ("directories", "uses"),
    };
    let plural = if clients == 1 { "" } else { "s" };
    format!(
        "{count} {what}, but only {} client{plural}: client i {takes} number i of them",
        thousands(clients.into())
    )
}

/// Checks that there are not more objects than clients.
pub(super) fn none_idle(what: SharedKind, count: usize, clients: u32) -> Result<(), PlanError> {
    ensure(count <= clients as usize, || {
        PlanError::Sharing(SharingError::Idle {
            what,
            count,
            clients,
        })
    })
}

/// Checks that no target is named twice.
pub(super) fn none_twice(what: SharedKind, targets: &[&TargetPlan]) -> Result<(), PlanError> {
    let again = (1..targets.len()).find(|index| targets[..*index].contains(&targets[*index]));
    match again {
        None => Ok(()),
        Some(index) => Err(PlanError::Sharing(SharingError::Twice {
            what,
            target: targets[index].to_string(),
        })),
    }
}

/// Checks that all targets have the layer of the first one.
pub(super) fn one_layer(first: &TargetPlan, more: &[TargetPlan]) -> Result<(), PlanError> {
    let stranger = more.iter().find(|other| other.layer() != first.layer());
    stranger.map_or(Ok(()), |other| {
        Err(PlanError::Sharing(SharingError::OtherLayer {
            first: first.layer().into(),
            other: other.layer().into(),
        }))
    })
}

/// Checks that all targets are on the server of the first one.
pub(super) fn one_server(first: &TargetPlan, more: &[TargetPlan]) -> Result<(), PlanError> {
    let stranger = more.iter().find(|other| !other.is_beside(first));
    stranger.map_or(Ok(()), |other| {
        Err(PlanError::Sharing(SharingError::OtherServer {
            first: first.to_string(),
            other: other.to_string(),
        }))
    })
}
