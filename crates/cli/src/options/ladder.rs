//! The options of `filestone ladder`.

use super::cost::CostOptions;
use super::echo_address::{self, EchoAddress};
use super::live::LiveOptions;
use super::probe::{LoadArguments, TargetOptions};
use super::rounds::RoundsOptions;
use super::run_report::CalibrationOptions;
use super::smb::SmbArguments;
use super::sweep::SweepFormat;
use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use filestone_measure::sweep::{RUNGS, Rung};
use std::path::PathBuf;

/// `filestone ladder`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  filestone ladder nfs://server/export
  filestone ladder server:/export --transport udp --repeat 10 -o result
  filestone ladder nfs://127.0.0.1:20490/export --server-pid 4711 --rungs null,getattr
  filestone ladder nfs://server/export --server-metrics http://server:9100/metrics --offered 3k --load-levels 3
  filestone ladder nfs://127.0.0.1:20490/export --echo 127.0.0.1:20007
  filestone report result --format svg > ladder.svg
  filestone compare before after

By default each run takes 2 s (-d), after 200 ms (--warm-up) and 1 s without load (--idle-baseline),
with readings every 200 ms (--cost-interval) and one call in flight (-j).
It makes what it works on in a directory of its own below TARGET, and cleans up.
The same command line with the same --output goes on where it was interrupted.")]
pub struct LadderOptions {
    #[command(flatten)]
    pub target: TargetOptions,
    #[command(flatten)]
    pub share: SmbArguments,
    /// Measure these rungs only: null, getattr, lookup, access, read-1, read-4K, read-128K,
    /// write-unstable, write-stable, commit, create, remove, readdirplus
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', value_parser = rung_parser(), hide_possible_values = true, help_heading = "Operation")]
    pub rungs: Vec<&'static str>,
    /// Below null, measure a rung echo: as many bytes as a null, there and back, by a server at
    /// HOST:PORT that sends back what it receives (RFC 862), as filestone serve can
    #[arg(long, value_name = "HOST:PORT", value_parser = echo_address::parse, help_heading = "Operation")]
    pub echo: Option<EchoAddress>,
    #[command(flatten)]
    pub load: LoadArguments,
    #[command(flatten, next_help_heading = "Rounds")]
    pub rounds: RoundsOptions,
    #[command(flatten)]
    pub cost: CostOptions,
    /// Write the record of each run, and what all come to, into this directory: ladder.json, ladder.csv,
    /// ladder.svg, report.html, 01-rung=null/001/run.json and so on; what is there already is not measured again
    #[arg(short, long, value_name = "DIR", help_heading = "Report")]
    pub output: Option<PathBuf>,
    /// What to print
    #[arg(
        long,
        alias = "as",
        value_name = "FORMAT",
        default_value = "text",
        help_heading = "Report"
    )]
    pub format: LadderFormat,
    /// Print the rungs with their plans as JSON instead of measuring them
    #[arg(long, help_heading = "Report")]
    pub dry_run: bool,
    #[command(flatten)]
    pub calibration: CalibrationOptions,
    #[command(flatten)]
    pub live: LiveOptions,
}

/// What can be made of a ladder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LadderFormat {
    /// Tables for people, a row per rung
    Text,
    /// All figures with their intervals, as one document
    Json,
    /// A row per rung
    Csv,
    /// A picture
    Svg,
    /// A page that opens offline: what text, csv and svg show
    Html,
}

impl From<LadderFormat> for SweepFormat {
    fn from(format: LadderFormat) -> Self {
        match format {
            LadderFormat::Text => Self::Text,
            LadderFormat::Json => Self::Json,
            LadderFormat::Csv => Self::Csv,
            LadderFormat::Svg => Self::Svg,
            LadderFormat::Html => Self::Html,
        }
    }
}

/// Reads the name of a rung.
fn rung_parser() -> impl clap::builder::TypedValueParser<Value = &'static str> {
    use clap::builder::TypedValueParser as _;
    let names = PossibleValuesParser::new(RUNGS.iter().map(|rung| rung.name));
    names.map(|name| Rung::named(&name).map_or("", |rung| rung.name))
}

impl LadderOptions {
    /// The rungs that are asked for, from the lowest.
    pub fn rungs(&self) -> Vec<&'static Rung> {
        let is_asked = |rung: &&Rung| self.rungs.is_empty() || self.rungs.contains(&rung.name);
        RUNGS.iter().filter(is_asked).collect()
    }
}
