//! The options of `filestone sweep`.

use super::cost::CostOptions;
use super::figure::swept;
use super::live::LiveOptions;
use super::rounds::RoundsOptions;
use super::values::seed;
use clap::{Args, ValueEnum};
use filestone_plan::gate::GateFigure;
use std::path::PathBuf;

/// `filestone sweep`.
#[derive(Debug, Args)]
#[command(
    override_usage = "filestone sweep --param KEY=VALUES [--param KEY=VALUES] [OPTIONS] -- COMMAND-LINE\n       \
                      filestone sweep --read-study TARGET [OPTIONS] [-- OPTIONS-OF-PROBE]",
    after_help = "\
Examples:
  filestone sweep --param io-size=512..64K -o result -- probe read server:/export/file -d 2s
  filestone sweep --param in-flight=1..64 --repeat-until 1% -- probe getattr nfs://server/export -d 1s
  filestone sweep --param io-size=1..8K:+512 --param transport=tcp,udp -- probe read server:/export/file
  filestone sweep --param io-size=512..64K --figure wire_bytes_per_operation -- probe read server:/export/file --cost
  filestone sweep --read-study server:/export/file --server-metrics http://server:9100/metrics -o study
  filestone report result --format svg > sweep.svg

VALUES is a list with commas of values and ranges: 512,4K,8K or 512..64K, of which each is twice
the one before. Behind a range :16 makes 16 values at equal distances, :+512 each 512 more, :x4
each four times the one before, :log16 16 values at equal ratios. Both ends are values.

The same command line with the same --output goes on where it was interrupted."
)]
pub struct SweepOptions {
    /// An option of COMMAND-LINE without its dashes, and the values that it takes in turn; once or twice
    #[arg(long, alias = "over", value_name = "KEY=VALUES", required_unless_present = "read_study", value_parser = over)]
    pub param: Vec<Over>,
    /// The read study, of a file of 1 MiB or more: NULL, GETATTR, and READ of 1 byte to what the server takes,
    /// over UDP and TCP, with response times, packets and bytes, and what the server's side costs where one
    /// of the options below says how to read it; 3 runs of each, 100 ms between two, unless said otherwise
    #[arg(long, value_name = "TARGET", conflicts_with = "param")]
    pub read_study: Option<String>,
    #[command(flatten)]
    pub rounds: RoundsOptions,
    /// The figure that is drawn, and that --repeat-until is about, such as achieved, read.response_time.p99, or
    /// server_cpu_per_operation of runs that read costs
    #[arg(long, value_name = "FIGURE", default_value = "response_time.mean", value_parser = swept)]
    pub figure: GateFigure,
    /// What the order of runs and their chance come from [default: a new one, recorded]
    #[arg(long, value_name = "N", value_parser = seed)]
    pub seed: Option<u64>,
    /// Write the record of each run, and what all come to, into this directory: sweep.json, sweep.csv,
    /// sweep.svg, 1-size=512/001/run.json and so on; what is there already is not measured again
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// What to print
    #[arg(long, alias = "as", value_name = "FORMAT", default_value = "text")]
    pub format: SweepFormat,
    /// Print the points with their plans as JSON instead of measuring them; of the read study what it does
    /// and how long it takes, with --format json the plans
    #[arg(long)]
    pub dry_run: bool,
    #[command(flatten, next_help_heading = "Watch")]
    pub live: LiveOptions,
    /// What is measured: a command line of probe, mix, replay or fleet; of the read study further options
    /// of probe
    #[arg(
        value_name = "COMMAND-LINE",
        last = true,
        required_unless_present = "read_study"
    )]
    pub words: Vec<String>,
    #[command(flatten)]
    pub cost: CostOptions,
}

/// An option and its values, as they were written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Over {
    /// The option without its dashes.
    pub key: String,
    /// The values.
    pub values: String,
}

/// What can be made of a sweep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SweepFormat {
    /// A table for people, a row per point
    Text,
    /// All figures with their intervals, as one document
    Json,
    /// A row per point
    Csv,
    /// A script with its data
    Gnuplot,
    /// A picture of the figure over the points
    Svg,
    /// One page that any browser opens offline
    Html,
}

/// Reads `KEY=VALUES`.
fn over(text: &str) -> Result<Over, String> {
    let both = text.trim_start_matches('-').split_once('=');
    let both = both.filter(|(key, _)| !key.is_empty());
    let (key, values) =
        both.ok_or("expected an option and its values, such as io-size=512..64K")?;
    Ok(Over {
        key: key.into(),
        values: values.into(),
    })
}
