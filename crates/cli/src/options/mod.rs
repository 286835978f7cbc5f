//! One definition per option, shared by the commands; clap makes help, man page
//! and completions of them. What the values mean together is `planning`'s.

pub mod ab;
pub mod call_target;
pub mod check;
pub mod choice;
pub mod compare;
pub mod cost;
pub mod doctor;
pub mod echo_address;
pub mod explain;
pub mod figure;
pub mod fleet;
pub mod fleet_addresses;
pub mod fleet_ctl;
pub mod generator;
pub mod help;
pub mod history;
#[cfg(feature = "mpi")]
pub mod hosts;
pub mod ladder;
pub mod layer_targets;
pub mod live;
pub mod merge;
pub mod mix;
pub mod mix_values;
pub mod nfs;
pub mod password;
pub mod probe;
pub mod repeat;
pub mod replay;
pub mod rounds;
pub mod run_report;
pub mod serve;
pub mod smb;
pub mod sweep;
pub mod target;
pub mod values;

use crate::topics;
use ab::AbOptions;
use check::CheckOptions;
use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand, ValueEnum};
use compare::CompareOptions;
use doctor::DoctorOptions;
use explain::ExplainOptions;
use filestone_workload::quantity;
use fleet::FleetOptions;
use help::HelpOptions;
use history::HistoryOptions;
use ladder::LadderOptions;
use merge::MergeOptions;
use mix::MixOptions;
use password::PasswordOptions;
use probe::ProbeOptions;
use replay::ReplayOptions;
use run_report::{CalibrationOptions, DocumentFormat, GateOptions, RunFormat, RunReportOptions};
use serve::ServeOptions;
use std::path::PathBuf;
use sweep::SweepOptions;

const ABOUT: &str = "A benchmark for file servers whose numbers can be trusted";

/// The command line.
#[derive(Debug, Parser)]
#[command(
    name = "filestone",
    version,
    about = ABOUT,
    after_help = "Try first:\n  filestone demo\n  filestone probe getattr nfs://SERVER/EXPORT",
    after_long_help = topics::ending::text(),
    disable_help_subcommand = true,
    max_term_width = 100
)]
pub struct CommandLine {
    /// What to do.
    #[command(subcommand)]
    pub command: Option<FilestoneCommand>,
    /// How a job of many hosts is made.
    #[cfg(feature = "mpi")]
    #[command(flatten)]
    pub hosts: hosts::HostsOptions,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum FilestoneCommand {
    /// Show what filestone does, in under 20 seconds, with nothing installed
    Demo(DemoOptions),
    /// Measure one operation of NFSv3 or SMB2, repeated
    Probe(Box<ProbeOptions>),
    /// Replay a load file on a local file system, bare TCP, NFSv3 or SMB2, or on each in turn
    Replay(Box<ReplayOptions>),
    /// Measure a mix of operations of NFSv3 or SMB2 at an offered load, its load-response curve, or the
    /// highest load that keeps an objective
    Mix(Box<MixOptions>),
    /// Let many clients write files and read them, by a plan, step by step
    Fleet(Box<FleetOptions>),
    /// Carry out a plan that --dry-run printed, or that a run record holds
    Run(Box<RunOptions>),
    /// Say what load files and mixes contain, and what each layer would refuse of loads
    Check(CheckOptions),
    /// Serve NFSv3 from memory, or be the other end of bare TCP
    Serve(ServeOptions),
    /// Measure what filestone itself can do on this host
    Calibrate(CalibrateOptions),
    /// Say what on this host, or at a target, will spoil a measurement
    Doctor(Box<DoctorOptions>),
    /// Say whether runs are better or worse than others, and how well that is known
    Compare(CompareOptions),
    /// Say what limited a run, with the evidence, and what to change to learn more
    Explain(ExplainOptions),
    /// Measure two servers, or two settings of one, in turn until it is clear which is better
    Ab(Box<AbOptions>),
    /// Measure over the values of one or two options, and show what each point comes to
    Sweep(Box<SweepOptions>),
    /// Measure operations from NULL to READDIRPLUS: what each takes and costs, and adds to the one before
    Ladder(Box<LadderOptions>),
    /// Show a figure over many runs of one plan, and where it changed
    History(HistoryOptions),
    /// Merge the records of runs that several hosts made at the same time into one
    Merge(MergeOptions),
    /// Make a report of a run record
    Report(ReportOptions),
    /// Take an ancestor's own command line
    #[command(alias = "as")]
    Compat(CompatOptions),
    /// Print a completion script for a shell
    Completions(CompletionsOptions),
    /// Print the JSON schema of the run record
    Schema(SchemaOptions),
    /// Print the help of a command, or a page, a section or a term of the reference
    Help(HelpOptions),
}

/// `filestone run`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  filestone probe read server:/export/file --dry-run > plan.json
  filestone run plan.json
  filestone run result/run.json        repeats what that record's plan says")]
pub struct RunOptions {
    /// A plan, a run record, or the directory of a run
    #[arg(value_name = "PLAN")]
    pub plan: PathBuf,
    #[command(flatten)]
    pub password: PasswordOptions,
    #[command(flatten)]
    pub report: RunReportOptions,
    #[command(flatten)]
    pub calibration: CalibrationOptions,
}

/// `filestone demo`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  filestone demo
  filestone demo --duration 500ms --format json")]
pub struct DemoOptions {
    /// How long to measure each step
    #[arg(short, long, value_name = "TIME", default_value = "1s", value_parser = quantity::positive_duration)]
    pub duration: u64,
    /// What to print; json is the list of run records
    #[arg(long, alias = "as", value_name = "FORMAT", default_value = "text")]
    pub format: RunFormat,
}

/// `filestone calibrate`.
#[derive(Debug, Args)]
pub struct CalibrateOptions {
    /// Take a second instead of twenty-five
    #[arg(long)]
    pub quick: bool,
    /// What to print
    #[arg(long, alias = "as", value_name = "FORMAT", default_value = "text")]
    pub format: DocumentFormat,
}

/// `filestone report`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  filestone report result
  filestone report result/run.json --format csv > intervals.csv
  filestone report result --format gnuplot | gnuplot -persist
  filestone report result --format hdr > intervals.hlog
  filestone report result --fail-if 'response_time.p99 > 2ms'")]
pub struct ReportOptions {
    /// A run record, or the directory of a run
    #[arg(value_name = "RECORD")]
    pub record: PathBuf,
    /// What to make of it
    #[arg(long, alias = "as", value_name = "FORMAT", default_value = "text", value_parser = PossibleValuesParser::new(filestone_report::REPORTS.iter().map(|report| clap::builder::PossibleValue::new(report.name).help(report.about))))]
    pub format: String,
    #[command(flatten)]
    pub gates: GateOptions,
}

/// `filestone compat`.
#[derive(Debug, Args)]
pub struct CompatOptions {
    /// Whose command line follows.
    #[command(subcommand)]
    pub ancestor: CompatTool,
}

/// The ancestors.
#[derive(Debug, Subcommand)]
pub enum CompatTool {
    /// NFS client tool: nct [options] command [args...]
    #[command(
        disable_help_flag = true,
        after_help = "\
nct's megabytes (TXMB, RXMB, its graphs) are 2^20 bytes, and the extremes of rates in its summary \
are those of every second, wherever it begins; filestone probe has 10^6 bytes, and its rows' extremes."
    )]
    Nct(AncestorArguments),
    /// dbench 4.0 and 5.0: dbench [options] nprocs
    #[command(disable_help_flag = true)]
    Dbench(AncestorArguments),
    /// tbench 4.0: tbench [options] nprocs [server]
    #[command(disable_help_flag = true)]
    Tbench(AncestorArguments),
    /// The other end of tbench, on port 7003: tbench_srv [options]
    #[command(name = "tbench_srv", disable_help_flag = true)]
    TbenchSrv(AncestorArguments),
    /// nhfsstone 1.22: nhfsstone [options] [dir]...
    #[command(disable_help_flag = true)]
    Nhfsstone(AncestorArguments),
    /// smbtorture's BENCH-NBENCH, over SMB2 and SMB3: smbtorture [options] //host/share bench.nbench
    #[command(disable_help_flag = true)]
    Smbtorture(AncestorArguments),
}

/// What an ancestor's command line holds.
#[derive(Debug, Args)]
pub struct AncestorArguments {
    /// The ancestor's own options and arguments
    #[arg(
        value_name = "ARGS",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub arguments: Vec<String>,
}

/// `filestone schema`.
#[derive(Debug, Args)]
pub struct SchemaOptions {
    /// Which document
    #[arg(value_name = "DOCUMENT", default_value = "record")]
    pub document: SchemaDocument,
}

/// A document that is made for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SchemaDocument {
    /// The record of a run: run.json
    Record,
    /// What `filestone doctor --format json` prints
    Doctor,
    /// What `filestone compare --format json` prints
    Compare,
    /// What `filestone ab --format json` prints, and leaves beside the runs: ab.json
    Ab,
    /// What `--repeat` leaves beside the runs: repeats.json
    Repeats,
    /// What `filestone sweep --format json` prints, and leaves beside the runs: sweep.json
    Sweep,
    /// What `filestone ladder --format json` prints, and leaves beside the runs: ladder.json
    Ladder,
    /// What `filestone explain --format json` prints
    Explain,
    /// What `filestone history --format json` prints
    History,
    /// The lines on the socket of a fleet: requests and answers
    FleetCtl,
    /// What the live page asks and is told, over HTTP
    Live,
    /// What `filestone fleet addresses show --format json` prints
    Addresses,
}

/// `filestone completions`.
#[derive(Debug, Args)]
pub struct CompletionsOptions {
    /// Whose script
    #[arg(value_name = "SHELL")]
    pub shell: clap_complete::Shell,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn former_names_of_options_are_accepted() {
        for (former, present) in [
            ("as nct null h", "compat nct null h"),
            ("report r --as json", "report r --format json"),
            ("probe read h:/f --size 4K", "probe read h:/f --io-size 4K"),
            (
                "probe write h:/f --own-files",
                "probe write h:/f --create-files",
            ),
            (
                "probe null h:/f --offered 9 --levels 3",
                "probe null h:/f --ops-rate 9 --load-levels 3",
            ),
            (
                "probe null h:/f --stamps --mark 1s",
                "probe null h:/f --kernel-timestamps --report-interval 1s",
            ),
            (
                "probe null h:/f --cost --server-here --server-proc x --cost-idle 1s",
                "probe null h:/f --cost --server-local --server-command x --idle-baseline 1s",
            ),
            ("fleet h:/ --size 4K", "fleet h:/ --io-size 4K"),
            (
                "replay office --on local:/x --no-stamps",
                "replay office --layer local:/x --ignore-timestamps",
            ),
            (
                "mix --on local:/x --transfer 4K --set s --remove-set",
                "mix --layer local:/x --io-size 4K --file-set s --remove-file-set",
            ),
            (
                "mix h:/x --slo p99<1ms --search-time 9s",
                "mix h:/x --slo p99<1ms --search-timeout 9s",
            ),
            (
                "mix h:/x --curve --no-down",
                "mix h:/x --curve --ascending-only",
            ),
            (
                "sweep --over size=1 --until 5% --as csv -- probe read h:/f",
                "sweep --param size=1 --repeat-until 5% --format csv -- probe read h:/f",
            ),
            (
                "compare a b --judge response_time.p99 --detect 3% --despite plan",
                "compare a b --decide-by response_time.p99 --min-effect 3% --ignore plan",
            ),
        ] {
            let parsed = |line: &str| {
                let words = line.split(' ');
                CommandLine::try_parse_from(["filestone"].into_iter().chain(words))
                    .map(|parsed| format!("{parsed:?}"))
                    .map_err(|error| error.to_string())
            };
            let of_former = parsed(former);
            assert!(of_former.is_ok(), "{former}: {of_former:?}");
            assert_eq!(of_former, parsed(present), "{former}");
        }
    }
}
