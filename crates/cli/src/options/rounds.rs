//! How often each of several things is measured, in rounds.

use super::mix_values::percent;
use super::values::within;
use clap::Args;
use filestone_measure::comparison::repeats::RepeatPlan;
use filestone_workload::quantity;

/// Most runs of each.
const RUNS_MAX: u32 = 999;
/// Runs of each, and nanoseconds between two, where nothing is said.
const RUNS: u32 = 5;
const PAUSE: u64 = 500_000_000;

/// How often each of several things is measured, in rounds.
#[derive(Debug, Clone, Args)]
pub struct RoundsOptions {
    /// Make N runs of each [default: 5]
    #[arg(long, value_name = "N", value_parser = within::<1, RUNS_MAX>)]
    pub repeat: Option<u32>,
    /// Make runs of each, at least 5, until the 95 % interval over runs is within PERCENT of the mean
    /// either way
    #[arg(long, alias = "until", value_name = "PERCENT", value_parser = percent, conflicts_with = "repeat")]
    pub repeat_until: Option<f64>,
    /// With --repeat-until: runs of each at most
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = within::<5, RUNS_MAX>, requires = "repeat_until")]
    pub repeat_max: u32,
    /// Wait this long between two runs [default: 500 ms]
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    pub pause: Option<u64>,
}

impl RoundsOptions {
    /// What they say, and what is usual where they say nothing.
    pub fn plan_by_default(&self) -> RepeatPlan {
        self.plan(RUNS, PAUSE)
    }

    /// What they say, and this where they say nothing: so many runs of each, and nanoseconds between two.
    pub fn plan(&self, runs: u32, pause_ns: u64) -> RepeatPlan {
        let runs = self.repeat.unwrap_or(runs);
        RepeatPlan {
            most: self.repeat_until.map_or(runs, |_| self.repeat_max),
            until: self.repeat_until,
            pause_ns: self.pause.unwrap_or(pause_ns),
        }
    }
}
