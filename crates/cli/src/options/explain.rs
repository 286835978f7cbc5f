//! The options of `filestone explain`.

use super::run_report::DocumentFormat;
use clap::Args;
use std::path::PathBuf;

/// `filestone explain`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  filestone explain result
  filestone explain nightly/ --format json | jq '.[] | {record, ids: [.limits[].id]}'

Exit codes:
  0    whatever limited the runs, and where that cannot be told
  2    the command line is wrong, or a record cannot be read

The rules, their thresholds and what each rests on: `filestone help explain --page`")]
pub struct ExplainOptions {
    /// Run records, directories of runs, or directories with several runs below them
    #[arg(value_name = "RECORD", required = true)]
    pub records: Vec<PathBuf>,
    /// What to print
    #[arg(long, alias = "as", value_name = "FORMAT", default_value = "text")]
    pub format: DocumentFormat,
}
