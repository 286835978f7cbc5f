//! `filestone merge`.

use clap::Args;
use std::path::PathBuf;

use super::run_report::{GateOptions, RunFormat};

/// `filestone merge`.
#[derive(Debug, Args)]
#[command(after_help = "\
The runs must have asked the same of one server at the same time, each with a seed of its own:
histograms are merged step by step, so percentiles are those of all operations together.
`filestone help cluster` says how to start them.

Examples:
  filestone merge run1 run2 --output both
  filestone merge run1/run.json run2/run.json --format json > both.json")]
pub struct MergeOptions {
    /// The records of the hosts, or the directories of their runs
    #[arg(value_name = "RECORD", required = true, num_args = 2..)]
    pub records: Vec<PathBuf>,
    /// Write the merged record and its reports into this directory
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// What to print
    #[arg(long, alias = "as", value_name = "FORMAT", default_value = "text")]
    pub format: RunFormat,
    #[command(flatten)]
    pub gates: GateOptions,
}
