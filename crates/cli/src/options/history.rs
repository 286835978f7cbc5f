//! The options of `filestone history`.

use super::figure::figure;
use clap::{Args, ValueEnum};
use filestone_measure::measure::figures::RunFigure;
use std::path::PathBuf;

/// `filestone history`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  filestone history nightly
  filestone history nightly --figure read.response_time.p99 --format svg > p99.svg
  filestone history nightly --format json | jq '.changes | last'

Exit codes:
  0    the newest level is not worse than the one before it, or there is only one
  1    it is worse
  2    the command line or a record is wrong")]
pub struct HistoryOptions {
    /// Directories with runs of one plan below them, or records; the newest says which plan
    #[arg(value_name = "DIR", required = true)]
    pub runs: Vec<PathBuf>,
    /// Which figure, such as read.response_time.p99 [default: of those of a run, the one that
    /// repeats best]
    #[arg(long, value_name = "FIGURE", value_parser = figure)]
    pub figure: Option<RunFigure>,
    /// What to print
    #[arg(long, alias = "as", value_name = "FORMAT", default_value = "text")]
    pub format: HistoryFormat,
}

/// What is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum HistoryFormat {
    /// A picture in characters, and a table
    Text,
    /// Everything, with a schema
    Json,
    /// A row per run
    Csv,
    /// A picture
    Svg,
}
