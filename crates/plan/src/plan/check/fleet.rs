//! Rules of fleets.

use super::replay::check_pacing_of_lines;
use super::sharing::{SharedKind, none_twice, one_layer};
use super::{PlanError, ensure, within};
use crate::plan::limits::CLIENTS_MAX;
use crate::plan::{Field, FleetPlan, FleetPlanError, Interface, Plan, TargetPlan};

pub(super) fn check(plan: &Plan, fleet: &FleetPlan) -> Result<(), PlanError> {
    within(Field::Clients, plan.clients, 1..=CLIENTS_MAX)?;
    // Clients that block have separate threads; one worker keeps their counters.
    let workers_max = if plan.target.blocks_loads() {
        1
    } else {
        plan.clients
    };
    within(Field::Workers, plan.workers, 1..=workers_max)?;
    let per_thread = fleet.clients_per_thread;
    within(Field::ClientsPerThread, per_thread, 1..=u32::MAX)?;
    let targets: Vec<&TargetPlan> = plan.targets().collect();
    one_layer(&plan.target, &fleet.more_targets)?;
    none_twice(SharedKind::Targets, &targets)?;
    let refuse = |error| PlanError::Fleet(Box::new(error));
    ensure(plan.target.interface() != Interface::Bytes, || {
        refuse(FleetPlanError::NoFiles)
    })?;
    ensure(plan.warm_up_ns == 0, || refuse(FleetPlanError::WarmUp))?;
    fleet.check(plan.clients, targets.len()).map_err(refuse)?;
    check_pacing_of_lines(plan)
}
