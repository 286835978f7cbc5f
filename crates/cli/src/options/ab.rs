//! The options of `filestone ab`.

use super::compare::{detected, tolerated};
use super::figure::comparable;
use super::live::LiveOptions;
use super::run_report::DocumentFormat;
use super::values::{seed, within};
use clap::Args;
use filestone_measure::measure::figures::RunFigure;
use filestone_workload::quantity;
use std::path::PathBuf;

/// Most runs of a trial.
const BLOCKS_MAX: u32 = 10_000;

/// `filestone ab`.
#[derive(Debug, Args)]
#[command(
    override_usage = "filestone ab [OPTIONS] --a COMMAND --b COMMAND -- COMMAND-LINE",
    after_help = "\
Examples:
  filestone ab --a './old' --b './new' -- probe getattr nfs://localhost:20490/export -d 2s
  filestone ab --switch --a './threads 8' --b './threads 64' -o result -- mix server:/export
  git bisect run ./bisect.sh       builds a server and ends with: filestone ab ...

Exit codes:
  0    B is not worse than A
  1    B is worse, by more than is tolerated
  2    the command line is wrong
  125  these runs do not tell, or a server did not start or ended; git bisect run skips it
  130  interrupted by ^C; what was measured up to then is judged as far as it goes"
)]
pub struct AbOptions {
    /// Starts the base's server and stays, or with --switch sets it up and ends; a line for sh
    #[arg(long = "a", value_name = "COMMAND")]
    pub base: String,
    /// The same of what is held against it
    #[arg(long = "b", value_name = "COMMAND")]
    pub new: String,
    /// The commands end by themselves, and the server goes on
    #[arg(long)]
    pub switch: bool,
    /// What both serve, as the last word of COMMAND-LINE
    #[arg(long, value_name = "TARGET")]
    pub target: Option<String>,
    /// How long a server may take until it answers, or a command of --switch until it ends
    #[arg(long, alias = "ready-within", value_name = "TIME", default_value = "30s", value_parser = quantity::positive_duration)]
    pub ready_timeout: u64,
    /// The figures that decide, such as read.response_time.p99
    #[arg(long, alias = "judge", value_name = "FIGURE,...", value_delimiter = ',', default_value = "response_time.p50", value_parser = comparable)]
    pub decide_by: Vec<RunFigure>,
    /// So much worse is good enough
    #[arg(long, value_name = "PERCENT", default_value = "0%", value_parser = tolerated)]
    pub tolerance: f64,
    /// A difference of this size is to be seen; what does not matter is --tolerance
    #[arg(long, alias = "detect", value_name = "PERCENT", default_value = "2%", value_parser = detected)]
    pub min_effect: f64,
    /// With this probability
    #[arg(long, value_name = "PERCENT", default_value = "80%", value_parser = power)]
    pub power: f64,
    /// Runs of both together at most
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = within::<16, BLOCKS_MAX>)]
    pub blocks: u32,
    /// Wait this long between two runs
    #[arg(long, value_name = "TIME", default_value = "200ms", value_parser = quantity::duration)]
    pub pause: u64,
    /// What the order of runs and their chance come from [default: a new one, recorded]
    #[arg(long, value_name = "N", value_parser = seed)]
    pub seed: Option<u64>,
    /// Write the record of each run into this directory: a/001/run.json, b/001/run.json, and so on
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// What to print
    #[arg(long, alias = "as", value_name = "FORMAT", default_value = "text")]
    pub format: DocumentFormat,
    #[command(flatten, next_help_heading = "Watch")]
    pub live: LiveOptions,
    /// What is measured: a command line of probe, mix, replay or run
    #[arg(value_name = "COMMAND-LINE", last = true, required = true)]
    pub words: Vec<String>,
}

/// A probability that can be asked for.
fn power(text: &str) -> Result<f64, String> {
    let share = tolerated(text)
        .ok()
        .filter(|share| (0.5..=0.999).contains(share));
    share.ok_or_else(|| "expected a percentage from 50% to 99.9%".into())
}
