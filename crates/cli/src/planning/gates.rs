//! The gates of a command line.

use crate::error::Error;
use crate::options::run_report::GateOptions;
use filestone_model::plan::{Plan, PlanError};

/// The plan, held to these gates besides its own.
pub fn with_gates(mut plan: Plan, options: &GateOptions) -> Result<Plan, Error> {
    for text in &options.fail_if {
        let gate = text.parse().map_err(PlanError::Gate)?;
        plan.gates.fail_if.push(gate);
    }
    plan.gates.strict |= options.strict;
    plan.check_gates()?;
    Ok(plan)
}
