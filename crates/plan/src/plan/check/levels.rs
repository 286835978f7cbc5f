//! Rules of runs at several loads in turn.

use super::error::{RuleMessage, wrong};
use super::{FieldName, PlanError, positive, within};
use crate::plan::limits::{LEVELS_MAX, OFFERED_MAX, STEP_MAX_NANOS};
use crate::plan::{ArrivalsPlan, Field, LevelsPlan, Plan, TICK_NANOS};
use filestone_workload::quantity;

/// Error returned when a run cannot be made at several loads in turn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LevelsPlanError {
    /// The workload is not a probe, or the load is controlled.
    OnlyProbes,
    /// A count ends the run, but the operations in it would depend on the order of the loads.
    Count,
    /// A duration is not a whole number of cycles.
    Cycles {
        /// The field of the duration.
        field: Field,
        /// Length of a cycle.
        cycle_ns: u64,
    },
    /// The length of a step is not a whole number of ticks.
    Step(u64),
    /// A client has no operation in a step of the lowest load.
    Rare {
        /// The lowest load.
        lowest_load_ops_per_s: f64,
    },
}

impl LevelsPlanError {
    pub(super) fn explanation(self, name: FieldName) -> RuleMessage {
        let levels = name(Field::Levels);
        match self {
            LevelsPlanError::OnlyProbes => {
                wrong(format!("{levels}: only probes have several loads in turn"))
                    .with_help("a curve measures a mix at several loads")
            }
            LevelsPlanError::Count => wrong(format!(
                "{} with {levels}: a time ends the run, so that each load has as much of it",
                name(Field::Count)
            ))
            .with_help(format!("use {}", name(Field::Duration))),
            LevelsPlanError::Cycles { field, cycle_ns } => wrong(format!(
                "{} with {levels}: expected whole cycles of {} ms, in which each load comes twice",
                name(field),
                cycle_ns / 1_000_000
            )),
            LevelsPlanError::Step(nanos) => wrong(format!(
                "{levels}: a load for {}: expected a multiple of 100 ms",
                quantity::duration_text(nanos)
            )),
            LevelsPlanError::Rare {
                lowest_load_ops_per_s,
            } => wrong(format!(
                "{levels}: at the lowest load, {lowest_load_ops_per_s} operations/s of all clients, \
                 some client has none in its time"
            ))
            .with_help(format!(
                "use a higher {} or fewer {}",
                name(Field::OfferedLoad),
                name(Field::Clients)
            )),
        }
    }
}

pub(super) fn check(plan: &Plan) -> Result<(), PlanError> {
    let ArrivalsPlan::Levels(levels) = plan.arrivals else {
        return Ok(());
    };
    within(Field::Levels, levels.levels, 2..=LEVELS_MAX)?;
    positive(
        Field::OfferedLoad,
        levels.highest_load_ops_per_s,
        OFFERED_MAX,
    )?;
    rules(plan, levels).map_err(PlanError::Levels)
}

fn rules(plan: &Plan, levels: LevelsPlan) -> Result<(), LevelsPlanError> {
    let holds = |holds: bool, error| if holds { Ok(()) } else { Err(error) };
    let is_paced_probe = plan.probe().is_some() && plan.steering.is_none();
    holds(is_paced_probe, LevelsPlanError::OnlyProbes)?;
    holds(plan.count.is_none(), LevelsPlanError::Count)?;
    let step = levels.level_ns;
    let is_step = (TICK_NANOS..=STEP_MAX_NANOS).contains(&step) && step.is_multiple_of(TICK_NANOS);
    holds(is_step, LevelsPlanError::Step(step))?;
    let cycle_ns = levels.cycle_ns();
    let duration_ns = plan.duration_ns.unwrap_or(cycle_ns);
    for (field, nanos) in [
        (Field::WarmUp, plan.warm_up_ns),
        (Field::Duration, duration_ns),
    ] {
        let is_whole = nanos.is_multiple_of(cycle_ns);
        holds(is_whole, LevelsPlanError::Cycles { field, cycle_ns })?;
    }
    let rare = LevelsPlanError::Rare {
        lowest_load_ops_per_s: levels.load_ops_per_s(1),
    };
    holds(levels.has_operations(plan.clients), rare)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn message(change: impl Fn(&mut Plan, &mut LevelsPlan)) -> String {
        let mut levels = LevelsPlan {
            highest_load_ops_per_s: 3000.0,
            levels: 3,
            level_ns: 200 * MS,
        };
        let mut plan = crate::examples::example();
        (plan.clients, plan.workers, plan.count) = (1, 1, None);
        (plan.warm_up_ns, plan.duration_ns) = (1600 * MS, Some(8000 * MS));
        change(&mut plan, &mut levels);
        plan.arrivals = ArrivalsPlan::Levels(levels);
        plan.check()
            .map_or_else(|error| error.to_string(), |()| String::new())
    }

    #[test]
    fn each_rule_is_held_by_a_plan_that_breaks_it() {
        assert_eq!(message(|_, _| ()), "");
        for (found, expected) in [
            (message(|plan, _| plan.count = Some(7)), "\"count\""),
            (message(|plan, _| plan.warm_up_ns = MS), "cycles of 1600 ms"),
            (
                message(|plan, _| plan.duration_ns = Some(MS)),
                "cycles of 1600 ms",
            ),
            (message(|_, levels| levels.level_ns = MS), "100 ms"),
            (message(|_, levels| levels.levels = 1), "\"levels\" 1"),
            (
                message(|_, levels| levels.highest_load_ops_per_s = 1.0),
                "some client",
            ),
        ] {
            assert!(found.contains(expected), "{found}");
        }
    }
}
