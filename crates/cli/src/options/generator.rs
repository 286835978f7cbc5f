//! The load generator itself.

use super::values::{Processors, processors, seed};
use crate::quantity;
use clap::Args;

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
