//! The options of `filestone mix`; those that other commands have, too, mean the same here.

use crate::options::call_target::CallTarget;
use crate::options::choice::choice;
use crate::options::generator::GeneratorOptions;
use crate::options::layer_targets::{self, LayerList};
use crate::options::mix_values::{
    file_sizes, objective, percent, popularity, server_directory, set_name,
};
use crate::options::nfs::NfsOptions;
use crate::options::run_report::{CalibrationOptions, ExpectOptions, RunReportOptions};
use crate::options::smb::SmbArguments;
use crate::options::values::{count, file_size, size, within};
use clap::{Args, ValueEnum};
use filestone_plan::plan::limits::{CLIENTS_MAX, IN_FLIGHT_MAX, POINTS_MAX};
use filestone_plan::plan::{Access, FileSizes, Objective, Popularity, ReadData, TransportKind};
use filestone_workload::operation::Stability;
use filestone_workload::quantity;

/// Most data files of one client.
const FILES_MAX: u32 = 1_000_000;

/// `filestone mix`.
#[derive(Debug, Args)]
#[command(
    after_help = "\
Examples:
  filestone mix                                 sfs2008, built-in server
  filestone mix server:/export --mix nhfsstone --offered 2k -c 16
  filestone mix server:/export --curve          the load-response curve
  filestone mix server:/export --slo 'p99<2ms'  the highest load that keeps it
  nfsstat -s | filestone mix server:/export --mix -",
    after_long_help = "\
Examples:
  filestone mix
      SPECsfs2008's mix at 1,000 operations/s against the built-in server for 10 seconds
  filestone mix nfs://server/export --mix nhfsstone --offered 2k -c 16 -d 1m
      2,000 operations/s of nhfsstone's mix by 16 clients, for a minute
  filestone mix server:/a server:/b -c 8
      clients in turn in two directories of one server
  filestone mix server:/export --curve -o result
      ten load points up to the peak and down again: table, curve.csv, curve.svg
  filestone mix server:/export --slo 'p99<2ms'
      the highest load at which 99 % of all operations take less than 2 ms
  filestone mix server:/export --files 10000 --file-size 1K..1M --popularity zipf
      a larger set of files, some of which are asked for more often
  nfsstat -s | filestone mix server:/export --mix -
      the mix that a server has been asked for so far
  filestone mix --layer local:/mnt/test
      the same through this host's NFS client, as nhfsstone did
  filestone mix smb://user@server/share --password-file pw
      the mix on a share, without what shares have not

The files are made in a directory of TARGET (--file-set) that belongs to filestone, checked and used
again by the next run, and removed only with --remove-file-set. Operations are due whether or not the
server keeps up. `filestone help mix --page` says what every number means."
)]
pub struct MixOptions {
    #[command(flatten)]
    pub load: MixLoadOptions,
    #[command(flatten)]
    pub target: MixTargetOptions,
    #[command(flatten)]
    pub share: SmbArguments,
    #[command(flatten)]
    pub mix: MixChoice,
    #[command(flatten)]
    pub steering: SteeringOptions,
    #[command(flatten)]
    pub set: FileSetOptions,
    #[command(flatten)]
    pub access: AccessOptions,
    #[command(flatten)]
    pub report: RunReportOptions,
    #[command(flatten)]
    pub expect: ExpectOptions,
    #[command(flatten)]
    pub calibration: CalibrationOptions,
    /// Also print nhfsstone's table: want, got, calls, time per call and share of the time
    #[arg(short, long, help_heading = "Report")]
    pub verbose: bool,
}

/// Where the operations go.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Target")]
pub struct MixTargetOptions {
    /// nfs://host[:port]/path or host:/path, or smb://[[domain;]user@]host[:port]/share[/path]; of
    /// several directories on one server or share client i uses number i modulo their number;
    /// without any, the built-in server
    #[arg(value_name = "TARGET", value_parser = server_directory, help_heading = None::<&str>)]
    pub targets: Vec<CallTarget>,
    /// Go through this host's own NFS client: local:DIR, a directory on an NFS mount; several are
    /// joined by +
    #[arg(long, alias = "on", value_name = "local:DIR", value_parser = layer_targets::parse, conflicts_with = "targets")]
    pub layer: Option<LayerList>,
    /// Where the kernel's client counters are [default: /proc]
    #[arg(hide_short_help = true, long, value_name = "DIR")]
    pub proc: Option<String>,
    /// Do not correct the mix and the load by what the kernel's counters show on the wire
    #[arg(hide_short_help = true, long)]
    pub no_feedback: bool,
    /// How operations travel [default: tcp]
    #[arg(hide_short_help = true, long, value_name = "PROTOCOL", value_parser = choice::<TransportKind>())]
    pub transport: Option<TransportKind>,
    #[command(flatten)]
    pub nfs: NfsOptions,
}

/// Which mix.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Mix")]
pub struct MixChoice {
    /// A mix of filestone's own, or a file: nfsstat's output, the kernel's counters or Samba's, or
    /// lines such as `read 18`; - is standard input [default: sfs2008]
    #[arg(long, value_name = "NAME|FILE")]
    pub mix: Option<String>,
    /// Of /proc/self/mountstats take only the mount at DIR [default: all together]
    #[arg(hide_short_help = true, long, value_name = "DIR", requires = "mix")]
    pub mount: Option<String>,
    /// List the mixes that filestone has, with their sources
    #[arg(long)]
    pub list: bool,
}

/// How much is asked, when, for how long and by whom.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Load")]
pub struct MixLoadOptions {
    /// Operations due per second, of all clients together, whatever the server does [default:
    /// 1000/s; nhfsstone's was 30/s]
    #[arg(long, alias = "ops-rate", value_name = "RATE", value_parser = quantity::rate)]
    pub offered: Option<f64>,
    /// When operations are due [default: poisson]
    #[arg(hide_short_help = true, long, value_name = "PROCESS")]
    pub arrivals: Option<MixArrivals>,
    /// Measure N operations, of all clients together
    #[arg(hide_short_help = true, long, value_name = "N", value_parser = count)]
    pub count: Option<u64>,
    /// How long to measure [default: 10 s; with --count, until all are done]
    #[arg(short, long, value_name = "TIME", value_parser = quantity::positive_duration)]
    pub duration: Option<u64>,
    /// Simulated clients, each with its own files and connection, or --connections-per-client
    /// [default: 8]
    #[arg(short, long, value_name = "N", value_parser = within::<1, { CLIENTS_MAX }>)]
    pub clients: Option<u32>,
    /// Calls in flight per client at most, shared by its connections [default: 1024 shared by all
    /// clients, 16 each at least; with --arrivals closed 1, or as many as it has connections]
    #[arg(hide_short_help = true, short = 'j', long, value_name = "N", value_parser = within::<1, { IN_FLIGHT_MAX }>)]
    pub in_flight: Option<u32>,
    /// Threads of the load generator [default: one per processor, but not more than clients; half
    /// the processors for the built-in server]
    #[arg(hide_short_help = true, short, long, value_name = "N", value_parser = within::<1, 1024>)]
    pub workers: Option<u32>,
    /// Run this long before measuring [default: 1 s]
    #[arg(hide_short_help = true, long, value_name = "TIME", value_parser = quantity::duration)]
    pub warm_up: Option<u64>,
    #[command(flatten)]
    pub generator: GeneratorOptions,
}

/// When operations are due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum MixArrivals {
    /// At exponentially distributed distances, as from many users
    #[default]
    Poisson,
    /// At equal distances
    Constant,
    /// Each as soon as the one before it has ended
    Closed,
}

/// What is looked for instead of measuring one load.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Looking for a load")]
pub struct SteeringOptions {
    /// Measure load points from low to the peak and down again: the load-response curve
    #[arg(long, conflicts_with = "slo")]
    pub curve: bool,
    /// Load points of the curve, evenly spaced up to the peak [default: 10]
    #[arg(hide_short_help = true, long, value_name = "N", value_parser = within::<2, { POINTS_MAX }>, requires = "curve")]
    pub points: Option<u32>,
    /// The highest load point [default: what the server is found to take]
    #[arg(hide_short_help = true, long, value_name = "RATE", value_parser = quantity::rate, requires = "curve")]
    pub peak: Option<f64>,
    /// How long each load point is measured after its warm-up [default: 5 s]
    #[arg(hide_short_help = true, long, value_name = "TIME", value_parser = quantity::positive_duration, requires = "curve")]
    pub point_duration: Option<u64>,
    /// A test ends the warm-up of a load point, or this time does [default: 10 s]
    #[arg(hide_short_help = true, long, value_name = "TIME", value_parser = quantity::positive_duration, requires = "curve")]
    pub point_warm_up: Option<u64>,
    /// Visit the load points upwards only
    #[arg(hide_short_help = true, long, alias = "no-down", requires = "curve")]
    pub ascending_only: bool,
    /// Look for the highest load that keeps an objective, such as 'p99<2ms' or 'mean<500us'
    #[arg(long, value_name = "OBJECTIVE", value_parser = objective)]
    pub slo: Option<Objective>,
    /// The search ends when the load is known within this share of itself [default: 2%]
    #[arg(hide_short_help = true, long, value_name = "PERCENT", value_parser = percent, requires = "slo")]
    pub precision: Option<f64>,
    /// How long the search may take [default: 90 s]
    #[arg(hide_short_help = true, long, alias = "search-time", value_name = "TIME", value_parser = quantity::positive_duration, requires = "slo")]
    pub search_timeout: Option<u64>,
}

/// What the operations work on.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "File set")]
pub struct FileSetOptions {
    /// Data files of each client [default: 40]
    #[arg(long, value_name = "N", value_parser = within::<1, { FILES_MAX }>)]
    pub files: Option<u32>,
    /// How long they are: nhfsstone (three classes of 1 KiB to 256 KiB), a length, or a
    /// distribution as in `filestone help mix --page` [default: nhfsstone]
    #[arg(hide_short_help = true, long, value_name = "DIST", value_parser = file_sizes)]
    pub file_size: Option<FileSizes>,
    /// Work only on the first files whose lengths sum to so much, of all clients together; 64M
    /// are 64 MiB [default: on all]
    #[arg(hide_short_help = true, long, value_name = "BYTES", value_parser = file_size)]
    pub working_set: Option<u64>,
    /// Which files are chosen how often: uniform, or zipf[:EXPONENT] [default: uniform]
    #[arg(hide_short_help = true, long, value_name = "HOW", value_parser = popularity)]
    pub popularity: Option<Popularity>,
    /// Name of the set's directory in TARGET; it is used again if it is there and right
    /// [default: filestone-set]
    #[arg(hide_short_help = true, long, alias = "set", value_name = "NAME", value_parser = set_name)]
    pub file_set: Option<String>,
    /// Remove the file set when the run ends
    #[arg(long, alias = "remove-set")]
    pub remove_file_set: bool,
    /// Take away first what an earlier run of filestone has left over in the target: a file set of that
    /// name, also if its run may go on on another host
    #[arg(hide_short_help = true, long)]
    pub remove_leftover: bool,
}

/// How files are read and written.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Access")]
pub struct AccessOptions {
    /// Bytes per read and write at most; 64K is 65,536 [default: 32K; nhfsstone's were 8K]
    #[arg(hide_short_help = true, long, alias = "transfer", value_name = "BYTES", value_parser = size)]
    pub io_size: Option<u32>,
    /// What becomes of the data read [default: discard, where --io-size is 16K or more and calls go
    /// by TCP; else deliver]
    #[arg(hide_short_help = true, long, value_name = "HOW", value_parser = choice::<ReadData>())]
    pub data: Option<ReadData>,
    /// How a file is read and written [default: whole]
    #[arg(hide_short_help = true, long, value_name = "HOW", value_parser = choice::<Access>())]
    pub access: Option<Access>,
    /// How safely the server must have stored written data before it answers [default: unstable]
    #[arg(hide_short_help = true, long, value_name = "HOW", value_parser = choice::<Stability>())]
    pub stable: Option<Stability>,
}
