//! The options of `filestone compare`.

use super::figure::comparable;
use clap::{Args, ValueEnum};
use filestone_measure::comparison::ComparabilityCheck;
use filestone_measure::measure::figures::RunFigure;
use std::path::PathBuf;

/// `filestone compare`.
#[derive(Debug, Args)]
#[command(
    override_usage = "filestone compare [OPTIONS] BASE NEW\n       \
                      filestone compare [OPTIONS] BASE... -- NEW...",
    after_help = "\
Examples:
  filestone compare before after
  filestone compare before/ after/ --tolerance 1% --decide-by response_time.p99
  filestone compare a1 a2 a3 -- b1 b2 b3 --format json | jq .verdict
  git bisect run ./bisect.sh      builds, measures, and ends with: filestone compare base new

Exit codes:
  0    not worse
  1    worse, by more than is tolerated
  2    the command line or a record is wrong, or the runs are not alike
  125  these runs do not tell; git bisect run skips such a commit"
)]
pub struct CompareOptions {
    /// A run record, the directory of a run, or a directory with several runs of the same below it;
    /// the base first
    #[arg(value_name = "BASE", required = true)]
    pub base: Vec<PathBuf>,
    /// What is held against the base, if there are several of either
    #[arg(value_name = "NEW", last = true)]
    pub new: Vec<PathBuf>,
    /// The figures that decide, such as read.response_time.p99
    #[arg(
        long, alias = "judge",
        value_name = "FIGURE,...",
        value_delimiter = ',',
        default_value = "achieved,response_time.p50",
        value_parser = comparable
    )]
    pub decide_by: Vec<RunFigure>,
    /// So much worse is good enough
    #[arg(long, value_name = "PERCENT", default_value = "0%", value_parser = tolerated)]
    pub tolerance: f64,
    /// A difference of this size is to be seen; what does not matter is --tolerance
    #[arg(long, alias = "detect", value_name = "PERCENT", default_value = "2%", value_parser = detected)]
    pub min_effect: f64,
    /// Compare although runs are not sound or not alike in this: validity, method, plan, durability,
    /// path, host, or all
    #[arg(long, alias = "despite", value_name = "ASPECT,...", value_delimiter = ',', value_parser = despite)]
    pub ignore: Vec<IgnoredCheck>,
    /// What to print
    #[arg(long, alias = "as", value_name = "FORMAT", default_value = "text")]
    pub format: CompareFormat,
}

/// What runs may differ in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IgnoredCheck {
    /// Everything.
    All,
    /// This.
    One(ComparabilityCheck),
}

impl IgnoredCheck {
    /// Whether a difference in this is allowed.
    pub fn allows(self, aspect: ComparabilityCheck) -> bool {
        self == Self::All || self == Self::One(aspect)
    }
}

/// What is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CompareFormat {
    /// Tables for people
    Text,
    /// Everything, with a schema
    Json,
    /// A row per figure
    Csv,
    /// A picture of the response-time percentiles of both sides
    Svg,
    /// One page that any browser opens offline, with both sides in one picture
    Html,
}

pub(super) fn tolerated(text: &str) -> Result<f64, String> {
    percent(text).ok_or_else(|| "expected a percentage such as 1% or 0.5%, below 1000%".into())
}

pub(super) fn detected(text: &str) -> Result<f64, String> {
    let known = percent(text).filter(|share| *share >= 0.0001);
    known.ok_or_else(|| "expected a percentage such as 2%, from 0.01% to 1000%".into())
}

/// A percentage as a share.
fn percent(text: &str) -> Option<f64> {
    let number = text.trim().trim_end_matches('%').trim_end();
    let number: f64 = number.parse().ok()?;
    (0.0..1000.0).contains(&number).then_some(number / 100.0)
}

fn despite(name: &str) -> Result<IgnoredCheck, String> {
    if name == "all" {
        return Ok(IgnoredCheck::All);
    }
    name.parse().map(IgnoredCheck::One).map_err(|_| {
        let names = ComparabilityCheck::ALL
            .map(ComparabilityCheck::name)
            .join(", ");
        format!("expected {names} or all")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_are_shares() {
        assert_eq!(percent("2%"), Some(0.02));
        assert_eq!(percent("0.5 %"), Some(0.005));
        assert_eq!(percent("3"), Some(0.03));
        for wrong in ["", "%", "-1%", "nan", "inf", "1000%"] {
            assert_eq!(percent(wrong), None, "{wrong}");
        }
        assert!(detected("0%").is_err() && tolerated("0%").is_ok());
    }

    #[test]
    fn what_is_allowed_is_named() {
        assert!(despite("host").is_ok_and(|host| host.allows(ComparabilityCheck::Host)));
        assert!(despite("host").is_ok_and(|host| !host.allows(ComparabilityCheck::Plan)));
        assert!(despite("all").is_ok_and(|all| all.allows(ComparabilityCheck::Plan)));
        assert!(despite("hosts").is_err());
    }
}
