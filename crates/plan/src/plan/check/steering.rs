//! Rules of runs with a controlled load.

use super::error::{RuleMessage, wrong};
use super::{FieldName, PlanError, at_least_1, ensure, positive, within};
use crate::plan::limits::{OFFERED_MAX, POINTS_MAX, PRECISION_RANGE, STEP_MAX_NANOS};
use crate::plan::{
    ArrivalsPlan, CurvePlan, Field, Figure, Interface, ObjectivePlan, Plan, SteeringPlan,
};

/// Error returned when a curve or an objective cannot control the load of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SteeringPlanError {
    /// The workload is not a mix.
    OnlyMixes(Field),
    /// A closed loop has no offered load.
    Closed(Field),
    /// A number of operations ends the run.
    Count(Field),
    /// A mount reacts too slowly to load control.
    Mount(Field),
    /// The quantile is not between 0 and 1.
    Quantile(f64),
}

impl SteeringPlanError {
    pub(super) fn explanation(self, name: FieldName) -> RuleMessage {
        match self {
            SteeringPlanError::OnlyMixes(by) => {
                wrong(format!("{}: only mixes are steered", name(by)))
            }
            SteeringPlanError::Closed(by) => wrong(format!(
                "{} closed with {}: a closed loop has no offered load that could be steered",
                name(Field::Arrivals),
                name(by)
            ))
            .with_help(format!("use {} poisson or constant", name(Field::Arrivals))),
            SteeringPlanError::Count(by) => {
                let (limit, says) = match by {
                    Field::Curve => (Field::PointTime, "how long each load point is measured"),
                    _ => (Field::SearchTime, "how long the search may take"),
                };
                wrong(format!(
                    "{} with {}: what is found ends the run, not a number of operations",
                    name(Field::Count),
                    name(by)
                ))
                .with_help(format!("{} says {says}", name(limit)))
            }
            SteeringPlanError::Mount(by) => wrong(format!(
                "{} with {} local: the load through a mount is corrected every 2 s by what its \
                 counters show, too slowly to be steered",
                name(by),
                name(Field::Target)
            ))
            .with_help(format!(
                "name the server as TARGET, or run --layer local:DIR at several {}",
                name(Field::OfferedLoad)
            )),
            SteeringPlanError::Quantile(quantile) => wrong(format!(
                "{} {quantile}: expected a number between 0 and 1",
                name(Field::Quantile)
            )),
        }
    }
}

pub(super) fn check(plan: &Plan) -> Result<(), PlanError> {
    let Some(steering) = &plan.steering else {
        return Ok(());
    };
    let by = match steering {
        SteeringPlan::Curve(_) => Field::Curve,
        SteeringPlan::Objective(_) => Field::Objective,
    };
    let refused = [
        (plan.mix().is_none(), SteeringPlanError::OnlyMixes(by)),
        (
            plan.target.interface() != Interface::Calls,
            SteeringPlanError::Mount(by),
        ),
        (
            plan.arrivals == ArrivalsPlan::Closed,
            SteeringPlanError::Closed(by),
        ),
        (plan.count.is_some(), SteeringPlanError::Count(by)),
    ];
    for (is_refused, error) in refused {
        ensure(!is_refused, || PlanError::Steering(error))?;
    }
    match steering {
        SteeringPlan::Curve(curve) => check_curve(curve),
        SteeringPlan::Objective(objective) => check_objective(objective),
    }
}

fn check_curve(curve: &CurvePlan) -> Result<(), PlanError> {
    within(Field::Points, curve.points, 2..=POINTS_MAX)?;
    if let Some(load) = curve.peak_ops_per_s {
        positive(Field::Peak, load, OFFERED_MAX)?;
    }
    step(Field::PointTime, curve.point_ns)?;
    step(Field::PointWarmUp, curve.warm_up_max_ns)
}

fn check_objective(plan: &ObjectivePlan) -> Result<(), PlanError> {
    if let Figure::Quantile { quantile } = plan.objective.figure {
        ensure(quantile > 0.0 && quantile < 1.0, || {
            PlanError::Steering(SteeringPlanError::Quantile(quantile))
        })?;
    }
    at_least_1(Field::ThresholdTime, plan.objective.below_ns)?;
    step(Field::SearchTime, plan.search_max_ns)?;
    within(Field::Precision, plan.precision, PRECISION_RANGE)
}

/// Checks the length of a step: at most a day.
fn step(field: Field, nanos: u64) -> Result<(), PlanError> {
    within(field, nanos as f64, 1.0..=STEP_MAX_NANOS as f64)
}
