//! How often each of several things is measured, in rounds.

use super::mix_values::percent;
use super::values::within;
use crate::quantity;
use clap::Args;
use filestone_model::comparison::repeats::RepeatPlan;

/// Most runs of each.
const RUNS_MAX: u32 = 999;

/// How often each of several things is measured, in rounds.
#[derive(Debug, Clone, Args)]
pub struct RoundsOptions {
    /// Make N runs of each
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = within::<1, RUNS_MAX>)]
    pub repeat: u32,
    /// Make runs of each, at least 5, until the 95 % interval over runs is within PERCENT of the mean
    /// either way
    #[arg(long, value_name = "PERCENT", value_parser = percent, conflicts_with = "repeat")]
    pub until: Option<f64>,
    /// With --until: runs of each at most
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = within::<5, RUNS_MAX>, requires = "until")]
    pub repeat_max: u32,
    /// Wait this long between two runs
    #[arg(long, value_name = "TIME", default_value = "500ms", value_parser = quantity::duration)]
    pub pause: u64,
}

impl RoundsOptions {
    /// What they say.
    pub fn plan(&self) -> RepeatPlan {
        RepeatPlan {
            most: self.until.map_or(self.repeat, |_| self.repeat_max),
            until: self.until,
            pause_ns: self.pause,
        }
    }
}
