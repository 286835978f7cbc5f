//! The options of `filestone probe`.

use super::call_target::{self, CallTarget};
use super::generator::GeneratorOptions;
use super::nfs::NfsOptions;
use super::run_report::{CalibrationOptions, ExpectOptions, RunReportOptions};
use super::smb::SmbArguments;
use super::values::{count, file_size, operation_parser, operation_size, within};
use crate::options::choice::choice;
use clap::{Args, ValueEnum};
use filestone_plan::plan::limits::{CLIENTS_MAX, IN_FLIGHT_MAX, LEVELS_MAX};
use filestone_plan::plan::{ReadData, TransportKind};
use filestone_workload::operation::OpKind;
use filestone_workload::operation::Stability;
use filestone_workload::quantity;

/// `filestone probe`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  filestone probe null
  filestone probe getattr nfs://server/export --in-flight 32
  filestone probe read server:/export/file --io-size 128K -j 8 -m 1
  filestone probe lookup server:/export/dir --offered 10k --random
  filestone probe write nfs://server/export --clients 16 --output result
  filestone probe read smb://user@server/share/file --password-file pw -j 8
  filestone probe copy smb://user@server/share --password-file pw --io-size 16M

Operations that change things work in a directory of their own below TARGET and clean up.")]
pub struct ProbeOptions {
    /// Any NFSv3 procedure, in lower case; of SMB2 also lock, copy, session-setup, tree-connect and
    /// notify, and echo (null), query-info (getattr), set-info (setattr), query-directory (readdir)
    /// and flush (commit)
    #[arg(value_name = "OP", value_parser = operation_parser(), ignore_case = true, hide_possible_values = true)]
    pub operation: OpKind,
    #[command(flatten)]
    pub target: TargetOptions,
    #[command(flatten)]
    pub share: SmbArguments,
    #[command(flatten)]
    pub workload: WorkloadOptions,
    #[command(flatten)]
    pub load: LoadArguments,
    #[command(flatten)]
    pub report: RunReportOptions,
    #[command(flatten)]
    pub expect: ExpectOptions,
    #[command(flatten)]
    pub calibration: CalibrationOptions,
    /// Also print nct's table: MIN, AVG, MAX and TOTAL of bytes, latency and requests. MIN and MAX
    /// of rates are those of the rows that -m prints, of 1 s without it
    #[arg(short, long, help_heading = "Report")]
    pub verbose: bool,
}

/// Where the operations go.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Target")]
pub struct TargetOptions {
    /// nfs://host[:port]/path or host:/path, or smb://[[domain;]user@]host[:port]/share[/path];
    /// without it, the built-in server
    #[arg(value_name = "TARGET", value_parser = call_target::parse, help_heading = None::<&str>)]
    pub target: Option<CallTarget>,
    /// How operations travel
    #[arg(long, value_name = "PROTOCOL", default_value = "tcp", value_parser = choice::<TransportKind>())]
    pub transport: TransportKind,
    #[command(flatten)]
    pub nfs: NfsOptions,
}

/// What is asked.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Operation")]
pub struct WorkloadOptions {
    /// Bytes per read, write, commit or page of a listing, and per copy, 1G at most, 1M of the
    /// others; 64K is 65,536, 64kB 64,000 [default: 4096; listings 32K; copies 1M]
    #[arg(short = 's', long, alias = "size", value_name = "BYTES", value_parser = operation_size)]
    pub io_size: Option<u32>,
    /// Choose offsets and files at random instead of one after the other
    #[arg(long)]
    pub random: bool,
    /// What becomes of the data read [default: discard, where calls are of 16K or more and go by
    /// TCP; else deliver]
    #[arg(long, value_name = "HOW", value_parser = choice::<ReadData>())]
    pub data: Option<ReadData>,
    /// Compare the data read with what they should be: the same as --data verify
    #[arg(long, conflicts_with = "data")]
    pub verify: bool,
    /// How safely the server must have stored written data before it answers
    #[arg(long, value_name = "HOW", value_parser = choice::<Stability>())]
    pub stable: Option<Stability>,
    /// Length of the file that write, commit and copy work on, one per client; of copies, there is
    /// one more to copy from; 64M are 64 MiB [default: 64M; of copies not less than --io-size]
    #[arg(long, value_name = "BYTES", value_parser = file_size)]
    pub file_size: Option<u64>,
    /// Default of `file_size`, where that of the command differs.
    #[arg(skip)]
    pub file_size_default: Option<u64>,
    /// Work on files in a directory of its own, of --file-size each where they are read, instead of
    /// what is at TARGET: of getattr, lookup, access, read, readdir and readdirplus
    #[arg(hide_short_help = true, long, alias = "own-files")]
    pub create_files: bool,
    /// Take away first what earlier runs of filestone have left over in the target: directories of probes
    /// that were killed
    #[arg(hide_short_help = true, long)]
    pub remove_leftover: bool,
    /// Visit at most N entries of a directory; 0 visits the directory itself [default: 10000]
    #[arg(long, value_name = "N", value_parser = within::<0, 10_000_000>)]
    pub files: Option<u32>,
}

/// How much is asked, when, for how long and by whom.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Load")]
pub struct LoadArguments {
    /// Calls in flight per client at most, shared by its connections [default: 1, or as many as it has
    /// connections; with --offered 1024 shared by all clients, 16 each at least]
    #[arg(short = 'j', long, value_name = "N", value_parser = within::<1, { IN_FLIGHT_MAX }>)]
    pub in_flight: Option<u32>,
    /// Simulated clients, each with its own connection, or --connections-per-client [default: 1]
    #[arg(short, long, value_name = "N", value_parser = within::<1, { CLIENTS_MAX }>)]
    pub clients: Option<u32>,
    /// Threads of the load generator [default: one per processor, but not more than clients; half
    /// the processors for the built-in server]
    #[arg(short, long, value_name = "N", value_parser = within::<1, 1024>)]
    pub workers: Option<u32>,
    /// How long to measure [default: 10 s; with --count, until all are done]
    #[arg(short, long, value_name = "TIME", value_parser = quantity::positive_duration)]
    pub duration: Option<u64>,
    /// Measure N operations, of all clients together
    #[arg(long, value_name = "N", value_parser = count)]
    pub count: Option<u64>,
    /// Operations due per second, of all clients together, whatever the server does (open loop)
    #[arg(long, alias = "ops-rate", value_name = "RATE", value_parser = quantity::rate)]
    pub offered: Option<f64>,
    /// Distances between operations of an open loop [default: constant]
    #[arg(long, value_name = "PROCESS", requires = "offered")]
    pub arrivals: Option<ArrivalProcess>,
    /// Go through none and N loads up to --offered in turn, in random order and back, each for
    /// --cost-interval [default of that: 100 ms]: for what operations cost; takes whole cycles of that
    #[arg(long, alias = "levels", value_name = "N", value_parser = within::<2, { LEVELS_MAX }>, requires = "offered", conflicts_with_all = ["arrivals", "count"])]
    pub load_levels: Option<u32>,
    /// Run this long before measuring [default: 0]
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    pub warm_up: Option<u64>,
    /// Have the kernel stamp a sample of the calls on their way, one in 2 ms of each worker: how long
    /// they are in this host's kernel, and how long in the network and at the server
    #[arg(hide_short_help = true, long, alias = "stamps")]
    pub kernel_timestamps: bool,
    #[command(flatten)]
    pub generator: GeneratorOptions,
}

/// When operations of an open loop are due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ArrivalProcess {
    /// At equal distances
    Constant,
    /// At exponentially distributed distances
    Poisson,
}
