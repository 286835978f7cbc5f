//! What becomes of the result of a run; what is measured before it.

use super::cost::CostOptions;
use super::live::LiveOptions;
use super::repeat::RepeatOptions;
use super::values::mark;
use clap::{Args, ValueEnum};
use filestone_plan::plan::ExpectedStatus;
use std::path::PathBuf;

/// What becomes of the result of a run.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Report")]
pub struct RunReportOptions {
    /// Print a row per TIME, a multiple of 100 ms, 0 prints none; TXMB and RXMB are 10^6 bytes
    #[arg(short = 'm', long, alias = "mark", value_name = "TIME", value_parser = mark)]
    pub report_interval: Option<u64>,
    /// Write the full record into this directory: run.json, raw, histograms, plots
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Format of standard output; json is the record
    #[arg(long, alias = "as", value_name = "FORMAT", default_value = "text")]
    pub format: RunFormat,
    /// Print the plan as JSON instead of carrying it out
    #[arg(hide_short_help = true, long)]
    pub dry_run: bool,
    /// Exit with 1 if the result has a caveat: any, or one of these kinds, such as
    /// generator-was-the-limit,dispatch-delay
    #[arg(hide_short_help = true, long, value_name = "KINDS", num_args = 0..=1, require_equals = true, default_missing_value = "any")]
    pub fail_on_caveat: Option<String>,
    #[command(flatten)]
    pub cost: CostOptions,
    #[command(flatten)]
    pub gates: GateOptions,
    #[command(flatten)]
    pub repeat: RepeatOptions,
    #[command(flatten)]
    pub live: LiveOptions,
}

/// What a run is held to.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Report")]
pub struct GateOptions {
    /// Exit with 1 if this is so, such as 'read.response_time.p99 > 2ms', 'achieved < 0.98 *
    /// offered', errors or caveats; may be given several times
    #[arg(hide_short_help = true, long, value_name = "GATE")]
    pub fail_if: Vec<String>,
    /// Exit with 1 also if a gate's figure is not known well enough to tell
    #[arg(hide_short_help = true, long)]
    pub strict: bool,
}

/// How operations may fail.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Report")]
pub struct ExpectOptions {
    /// Operations that fail with this status do so as expected, such as NFS3ERR_NOENT,
    /// STATUS_DISK_FULL or ENOENT; several are joined by commas. Failures of other kinds that are more
    /// than 5 % of the operations keep the run from counting
    #[arg(
        hide_short_help = true,
        long,
        value_name = "STATUS",
        value_delimiter = ','
    )]
    pub expect: Vec<ExpectedStatus>,
}

/// What is measured before the run.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Report")]
pub struct CalibrationOptions {
    /// Do not measure first, for half a second, what filestone itself can do on this host
    #[arg(hide_short_help = true, long)]
    pub no_calibrate: bool,
}

/// Reports that a run can print itself; `filestone report` makes the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum RunFormat {
    /// Tables for people
    #[default]
    Text,
    /// The run record
    Json,
}

/// Reports of what is found out without a run of its own, or over several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum DocumentFormat {
    /// A page for people
    #[default]
    Text,
    /// The same for programs, as one document
    Json,
}
