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
}

impl ConnectionPlanError {
    pub(super) fn explanation(self, name: FieldName) -> Explanation {
        match self {
            ConnectionPlanError::NotPaced => wrong(format!(
                "{}: only the connections of probes and mixes to a server are made at a pace",
                name(Field::ConnectRate)
            )),
        }
    }
}

pub(super) fn check(plan: &Plan) -> Result<(), PlanError> {
    let Some(rate) = plan.connections.connections_per_s else {
        return Ok(());
    };
    positive(Field::ConnectRate, rate, CONNECT_RATE_MAX)?;
    let is_called = plan.target.interface() == Interface::Calls;
    ensure(is_called && plan.replay().is_none(), || {
        PlanError::Connections(ConnectionPlanError::NotPaced)
    })
}
