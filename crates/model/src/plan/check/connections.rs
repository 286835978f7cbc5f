//! The rules of how clients are connected.

use super::error::{Explanation, wrong};
use super::{FieldName, PlanError, ensure, positive};
use crate::plan::limits::CONNECT_RATE_MAX;
use crate::plan::{Field, Interface, Plan};

/// Why clients cannot be connected as asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionPlanError {
    /// The connections are not made before the run, all together.
    NotPaced,
    /// The kernel, or a peer that answers bytes, has rules of its own for them.
    NotKept,
    /// Others make the connections: the kernel, or the options of sockets.
    NoSources,
    /// Addresses of two families: one of them cannot reach the server.
    MixedSources,
}

impl ConnectionPlanError {
    pub(super) fn explanation(self, name: FieldName) -> Explanation {
        match self {
            ConnectionPlanError::NotPaced => wrong(format!(
                "{}: only connections to NFS servers are made at a pace",
                name(Field::ConnectRate)
            )),
            ConnectionPlanError::NotKept => wrong(format!(
                "{}: only lost connections to NFS servers are made again",
                name(Field::OnLost)
            ))
            .with_help("on local: there are none, and a client on tcp: ends with its connection"),
            ConnectionPlanError::NoSources => wrong(format!(
                "{}: only connections to NFS servers can be made from given addresses",
                name(Field::Sources)
            )),
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
    let sources = &plan.connections.sources;
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

fn check_pace(plan: &Plan, are_calls: bool) -> Result<(), PlanError> {
    let Some(rate) = plan.connections.connections_per_s else {
        return Ok(());
    };
    positive(Field::ConnectRate, rate, CONNECT_RATE_MAX)?;
    ensure(are_calls, || wrong_with(ConnectionPlanError::NotPaced))
}
