//! How often a run is made.

use super::mix_values::percent;
use super::values::within;
use clap::Args;
use filestone_workload::quantity;

/// Most runs of one command.
const RUNS_MAX: u32 = 999;

/// How often a run is made.
/// Stands among the options of what becomes of a result.
#[derive(Debug, Clone, Default, Args)]
pub struct RepeatOptions {
    /// Make N runs of the same, and print the spread
    #[arg(long, value_name = "N", value_parser = within::<2, RUNS_MAX>)]
    pub repeat: Option<u32>,
    /// Make runs, at least 5 and at most N of --repeat [default: 50], until the 95 % interval over runs
    /// is within PERCENT of their mean either way: of what a closed loop achieves, of an open loop's
    /// median response time
    #[arg(hide_short_help = true, long, value_name = "PERCENT", value_parser = percent)]
    pub repeat_until: Option<f64>,
    /// Wait this long between two runs [default: 500 ms]
    #[arg(hide_short_help = true, long, value_name = "TIME", value_parser = quantity::duration)]
    pub pause: Option<u64>,
}
