//! What clients share: client i has number i of the loads and of the targets, modulo their number.

use super::error::{Explanation, wrong};
use super::{FieldName, PlanError, ensure};
use crate::plan::{Field, TargetPlan};
use filestone_workload::text::thousands;

/// Why loads or targets cannot be shared.
#[derive(Debug, Clone, PartialEq)]
pub enum SharingError {
    /// More of them than clients.
    Idle {
        /// Of what there are too many.
        what: SharedKind,
        /// How many.
        count: usize,
        /// How many share them.
        clients: u32,
    },
    /// A target that is named twice.
    Twice {
        /// For what.
        what: SharedKind,
        /// Which.
        target: String,
    },
    /// Targets of several layers.
    OtherLayer {
        /// Of the first.
        first: String,
        /// Of another.
        other: String,
    },
    /// Directories of several servers.
    OtherServer {
        /// The first target.
        first: String,
        /// One that is elsewhere.
        other: String,
    },
}

/// What clients share.
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
    pub(super) fn explanation(&self, name: FieldName) -> Explanation {
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
            .with_help("several layers run in turn: --on with commas"),
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

/// What no client would have was not meant.
pub(super) fn none_idle(what: SharedKind, count: usize, clients: u32) -> Result<(), PlanError> {
    ensure(count <= clients as usize, || {
        PlanError::Sharing(SharingError::Idle {
            what,
            count,
            clients,
        })
    })
}

/// Each is named once.
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

/// All are of the first one's layer.
pub(super) fn one_layer(first: &TargetPlan, more: &[TargetPlan]) -> Result<(), PlanError> {
    let stranger = more.iter().find(|other| other.layer() != first.layer());
    stranger.map_or(Ok(()), |other| {
        Err(PlanError::Sharing(SharingError::OtherLayer {
            first: first.layer().into(),
            other: other.layer().into(),
        }))
    })
}

/// All are on the first one's server.
pub(super) fn one_server(first: &TargetPlan, more: &[TargetPlan]) -> Result<(), PlanError> {
    let stranger = more.iter().find(|other| !other.is_beside(first));
    stranger.map_or(Ok(()), |other| {
        Err(PlanError::Sharing(SharingError::OtherServer {
            first: first.to_string(),
            other: other.to_string(),
        }))
    })
}
