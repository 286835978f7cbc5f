//! Gates of a command line, and expected failures.

use crate::error::Error;
use crate::options::run_report::{ExpectOptions, GateOptions};
use filestone_plan::plan::{Plan, PlanError};

/// Adds these gates to those of the plan.
pub fn with_gates(mut plan: Plan, options: &GateOptions) -> Result<Plan, Error> {
    for text in &options.fail_if {
        let gate = text.parse().map_err(PlanError::Gate)?;
        plan.gates.fail_if.push(gate);
    }
    plan.gates.strict |= options.strict;
    plan.check_gates()?;
    Ok(plan)
}

/// Adds these statuses to the expected failures of the plan.
pub fn expecting(mut plan: Plan, options: &ExpectOptions) -> Result<Plan, Error> {
    plan.expect.extend(&options.expect);
    plan.check()?;
    Ok(plan)
}
