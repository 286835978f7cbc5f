//! The options of `filestone explain`.

use super::run_report::RunFormat;
use clap::Args;
use std::path::PathBuf;

/// `filestone explain`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  filestone explain result
  filestone explain nightly/ --as json | jq '.[] | {record, ids: [.limits[].id]}'

The rules, their thresholds and what each rests on: docs/reference/explain.md")]
pub struct ExplainOptions {
    /// Run records, directories of runs, or directories with several runs below them
    #[arg(value_name = "RECORD", required = true)]
    pub records: Vec<PathBuf>,
    /// What to print
    #[arg(long = "as", value_name = "FORMAT", default_value = "text")]
    pub format: RunFormat,
}
