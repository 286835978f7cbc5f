//! Rules of replays.

use super::error::{RuleMessage, wrong};
use super::sharing::{SharedKind, none_idle, none_twice, one_layer};
use super::{FieldName, PlanError, at_least_1, ensure, positive, within};
use crate::plan::limits::{CLIENTS_OF_REPLAY_MAX, LOADS_MAX, RATE_MAX, SPEED_RANGE};
use crate::plan::{ArrivalsPlan, Field, LeftoverPolicy, Pacing, Plan, ReplayPlan, TargetPlan};
use filestone_workload::load::{Generation, is_left_out_of_reading};

/// Error returned when a replay is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplayPlanError {
    /// There are more clients per thread than clients.
    MorePerThreadThanClients {
        /// Clients of each thread.
        clients_per_thread: u32,
        /// Number of clients.
        clients: u32,
    },
    /// Arrivals are set, but a replay has its own pacing.
    Arrivals,
    /// A count is set, but iterations of a load are not counted.
    Count,
    /// A read-only run is to remove objects.
    ReadOnlyTakesAway,
    /// A read-only run executes no line of the loads, because all lines modify objects or open
    /// modified ones: a load of dbench 1 creates the files that it reads.
    NothingToRead,
}

impl ReplayPlanError {
    pub(super) fn explanation(self, name: FieldName) -> RuleMessage {
        match self {
            ReplayPlanError::MorePerThreadThanClients {
                clients_per_thread,
                clients,
            } => wrong(format!(
                "{} {clients_per_thread}: expected at most the number of clients, {clients}",
                name(Field::ClientsPerThread)
            ))
            .with_help(format!(
                "{} says how many there are altogether",
                name(Field::Clients)
            )),
            ReplayPlanError::Arrivals => wrong(format!(
                "{}: a replay has a pacing of its own",
                name(Field::Arrivals)
            )),
            ReplayPlanError::ReadOnlyTakesAway => wrong(format!(
                "{}: a run that changes nothing leaves the clients' trees, and what an earlier run \
                 has left over",
                name(Field::ReadOnly)
            )),
            ReplayPlanError::NothingToRead => wrong(format!(
                "{}: there is nothing in the load that could be done without changing something",
                name(Field::ReadOnly)
            ))
            .with_help("loads of dbench 1 make each file as they open it"),
            ReplayPlanError::Count => wrong(format!(
                "{}: it is for probes and mixes",
                name(Field::Count)
            )),
        }
    }
}

pub(super) fn check(plan: &Plan, replay: &ReplayPlan) -> Result<(), PlanError> {
    within(Field::Clients, plan.clients, 1..=CLIENTS_OF_REPLAY_MAX)?;
    // Clients that block have separate threads; one worker keeps their counters.
    let workers_max = if plan.target.blocks_loads() {
        1
    } else {
        plan.clients
    };
    within(Field::Workers, plan.workers, 1..=workers_max)?;
    let loads = replay.loads.len() as f64;
    within(Field::Loads, loads, 1.0..=LOADS_MAX as f64)?;
    none_idle(SharedKind::Loads, replay.loads.len(), plan.clients)?;
    check_threads(plan, replay)?;
    check_targets(plan, replay)?;
    check_reading(replay)?;
    check_pacing(plan, replay)
}

fn check_reading(replay: &ReplayPlan) -> Result<(), PlanError> {
    if !replay.read_only {
        return Ok(());
    }
    let takes_nothing = replay.skip_cleanup && replay.left_over == LeftoverPolicy::Refuse;
    ensure(takes_nothing, || {
        PlanError::Replay(ReplayPlanError::ReadOnlyTakesAway)
    })?;
    let mut loads = replay.loads.iter();
    let makes_files = loads.any(|load| load.generation == Generation::Dbench1);
    let only_changes = replay.kinds.iter().copied().all(is_left_out_of_reading);
    ensure(!makes_files && !only_changes, || {
        PlanError::Replay(ReplayPlanError::NothingToRead)
    })
}

fn check_threads(plan: &Plan, replay: &ReplayPlan) -> Result<(), PlanError> {
    let clients_per_thread = replay.clients_per_thread;
    within(Field::ClientsPerThread, clients_per_thread, 1..=u32::MAX)?;
    ensure(clients_per_thread <= plan.clients, || {
        PlanError::Replay(ReplayPlanError::MorePerThreadThanClients {
            clients_per_thread,
            clients: plan.clients,
        })
    })
}

fn check_targets(plan: &Plan, replay: &ReplayPlan) -> Result<(), PlanError> {
    let targets: Vec<&TargetPlan> = plan.targets().collect();
    one_layer(&plan.target, &replay.more_targets)?;
    none_twice(SharedKind::Targets, &targets)?;
    none_idle(SharedKind::Targets, targets.len(), plan.clients)
}

fn check_pacing(plan: &Plan, replay: &ReplayPlan) -> Result<(), PlanError> {
    match replay.pacing {
        Pacing::Closed => {}
        Pacing::Stamps { speed } => within(Field::Speed, speed, SPEED_RANGE)?,
        Pacing::Rate { bytes_per_s } => positive(Field::BytesPerSecond, bytes_per_s, RATE_MAX)?,
    }
    if let Some(bytes) = replay.trunc_io_bytes {
        at_least_1(Field::TruncatedIo, bytes)?;
    }
    check_pacing_of_lines(plan)
}

/// Checks that workloads with lines have no other arrivals.
pub(super) fn check_pacing_of_lines(plan: &Plan) -> Result<(), PlanError> {
    ensure(plan.arrivals == ArrivalsPlan::Closed, || {
        PlanError::Replay(ReplayPlanError::Arrivals)
    })?;
    ensure(plan.count.is_none(), || {
        PlanError::Replay(ReplayPlanError::Count)
    })
}
