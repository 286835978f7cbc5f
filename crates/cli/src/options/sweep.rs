//! The options of `filestone sweep`.

use super::figure::comparable;
use super::mix_values::percent;
use super::values::{seed, within};
use crate::quantity;
use clap::{Args, ValueEnum};
use filestone_model::measure::figures::RunFigure;
use std::path::PathBuf;

/// Most runs of a point.
const RUNS_MAX: u32 = 999;

/// `filestone sweep`.
#[derive(Debug, Args)]
#[command(
    override_usage = "filestone sweep --over KEY=VALUES [--over KEY=VALUES] [OPTIONS] -- COMMAND-LINE",
    after_help = "\
Examples:
  filestone sweep --over size=512..64K -o result -- probe read server:/export/file -d 2s
  filestone sweep --over in-flight=1..64 --until 1% -- probe getattr nfs://server/export -d 1s
  filestone sweep --over size=1..8K:+512 --over transport=tcp,udp -- probe read server:/export/file
  filestone report result --as svg > sweep.svg

VALUES is a list with commas of values and ranges: 512,4K,8K or 512..64K, of which each is twice
the one before. Behind a range :16 makes 16 values at equal distances, :+512 each 512 more, :x4
each four times the one before, :log16 16 values at equal ratios. Both ends are values.

The same command line with the same --output goes on where it was interrupted."
)]
pub struct SweepOptions {
    /// An option of COMMAND-LINE without its dashes, and the values that it takes in turn; once or twice
    #[arg(long, value_name = "KEY=VALUES", required = true, value_parser = over)]
    pub over: Vec<Over>,
    /// Make N runs of each point
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = within::<1, RUNS_MAX>)]
    pub repeat: u32,
    /// Make runs of each point, at least 5, until the 95 % interval over runs of --figure is within PERCENT
    /// of its mean either way
    #[arg(long, value_name = "PERCENT", value_parser = percent, conflicts_with = "repeat")]
    pub until: Option<f64>,
    /// With --until: runs of a point at most
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = within::<5, RUNS_MAX>, requires = "until")]
    pub repeat_max: u32,
    /// The figure that is drawn, and that --until is about, such as achieved or read.response_time.p99
    #[arg(long, value_name = "FIGURE", default_value = "response_time.mean", value_parser = comparable)]
    pub figure: RunFigure,
    /// Wait this long between two runs
    #[arg(long, value_name = "TIME", default_value = "500ms", value_parser = quantity::duration)]
    pub pause: u64,
    /// What the order of runs and their chance come from [default: a new one, recorded]
    #[arg(long, value_name = "N", value_parser = seed)]
    pub seed: Option<u64>,
    /// Write the record of each run, and what all come to, into this directory: sweep.json, sweep.csv,
    /// sweep.svg, 1-size=512/001/run.json and so on; what is there already is not measured again
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// What to print
    #[arg(long = "as", value_name = "FORMAT", default_value = "text")]
    pub format: SweepFormat,
    /// Print the points with their plans as JSON instead of measuring them
    #[arg(long)]
    pub dry_run: bool,
    /// What is measured: a command line of probe, mix, replay or fleet
    #[arg(value_name = "COMMAND-LINE", last = true, required = true)]
    pub words: Vec<String>,
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
    let (key, values) = both.ok_or("expected an option and its values, such as size=512..64K")?;
    Ok(Over {
        key: key.into(),
        values: values.into(),
    })
}
