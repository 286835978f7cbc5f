//! Counters that a plan reads to determine the cost of an operation.

use crate::error::Error;
use crate::options::cost::CostOptions;
use filestone_plan::plan::{ArrivalsPlan, Plan};

/// Replaces the plan's counters by those of these options.
pub fn with_cost(mut plan: Plan, options: &CostOptions) -> Result<Plan, Error> {
    if let Some(option) = options.without_readings() {
        return Err(Error {
            help: Some("--server-local, --server-metrics and --server-command read a host".into()),
            ..Error::usage(format!("{option}: nothing is read that it is about"))
        });
    }
    if let Some(mut cost) = options.plan() {
        if let ArrivalsPlan::Levels(levels) = plan.arrivals {
            // A reading at each end of a load, so that the interval between them belongs to that
            // load alone.
            cost.interval_ns = levels.level_ns;
        }
        plan.cost = Some(cost);
        plan.check()?;
    }
    Ok(plan)
}

#[cfg(test)]
mod tests {
    use super::*;
    use filestone_report::fixtures;

    fn planned(options: &CostOptions) -> Result<Plan, String> {
        with_cost(fixtures::plain().plan, options).map_err(|error| error.message)
    }

    #[test]
    fn nothing_is_read_unless_it_is_asked_for() {
        assert_eq!(planned(&CostOptions::default()).unwrap().cost, None);
        let cost = CostOptions {
            server_pid: Some(7),
            ..CostOptions::default()
        };
        let found = planned(&cost).unwrap().cost.unwrap();
        assert_eq!((found.process, found.idle_ns), (Some(7), 3_000_000_000));
    }

    #[test]
    fn an_option_about_nothing_is_refused() {
        let error = planned(&CostOptions {
            cost: true,
            server_interface: Some("eth0".into()),
            ..CostOptions::default()
        });
        assert!(error.unwrap_err().starts_with("--server-interface: "));
        let error = planned(&CostOptions {
            cost: true,
            cost_interval: Some(1000),
            ..CostOptions::default()
        });
        assert!(error.unwrap_err().contains("--cost-interval"));
    }
}
