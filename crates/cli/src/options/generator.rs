//! The load generator itself.

use super::values::{Processors, connect_rate, processors, seed};
use crate::options::choice::choice;
use clap::Args;
use filestone_plan::plan::{ConnectionPlan, OnLost, Plan};
use filestone_workload::quantity;

/// How the load generator behaves, whatever is asked.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Load")]
pub struct GeneratorOptions {
    /// How long a call may stay unanswered [default: 60 s]
    #[arg(hide_short_help = true, long, value_name = "TIME", value_parser = quantity::positive_duration)]
    pub timeout: Option<u64>,
    /// How long to try to get a lost connection back before giving up [default: 10 s]
    #[arg(hide_short_help = true, long, value_name = "TIME", value_parser = quantity::duration)]
    pub reconnect: Option<u64>,
    /// What happens when a client could not be connected again for that long [default: end with one
    /// client, retry with more]
    #[arg(hide_short_help = true, long, value_name = "WHAT", value_parser = choice::<OnLost>())]
    pub on_lost: Option<OnLost>,
    /// Connect so many clients per second before the run [default: as fast as the server takes
    /// them]
    #[arg(hide_short_help = true, long, value_name = "RATE", value_parser = connect_rate)]
    pub connect_rate: Option<f64>,
    /// Where all randomness comes from; the same seed asks the same [default: a new one, recorded]
    #[arg(hide_short_help = true, long, value_name = "N", value_parser = seed)]
    pub seed: Option<u64>,
    /// Spin instead of sleeping: less dispatch delay, whole processors used
    #[arg(hide_short_help = true, long)]
    pub busy_poll: bool,
    /// Bind workers to these processors, in turn, such as 0,2 or 0-3
    #[arg(hide_short_help = true, long, value_name = "CPUS", value_parser = processors)]
    pub pin: Option<Processors>,
}

impl GeneratorOptions {
    /// The plan with what is asked of the load generator; what is not asked stays.
    pub fn applied_to(&self, plan: Plan) -> Plan {
        Plan {
            timeout_ns: self.timeout.unwrap_or(plan.timeout_ns),
            reconnect_ns: self.reconnect.unwrap_or(plan.reconnect_ns),
            connections: ConnectionPlan {
                connections_per_s: self.connect_rate,
                on_lost: self.on_lost,
                ..plan.connections
            },
            seed: self.seed.unwrap_or(plan.seed),
            busy_poll: self.busy_poll,
            pin: self.pin.clone().map_or(plan.pin, |list| list.0),
            ..plan
        }
    }
}
