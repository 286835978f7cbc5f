//! One definition per option, shared by the commands; clap makes help, man page
//! and completions of them. What the values mean together is `planning`'s.

pub mod layer_targets;
pub mod mix;
pub mod mix_values;
pub mod replay;
pub mod target;
pub mod values;

use crate::built_in;
use crate::options::mix::MixOptions;
use crate::options::replay::ReplayOptions;
use crate::options::values::{
    Processors, address, count, file_size, mark, operation_parser, port, port_or_any, processors,
    seed, size, within,
};
use crate::quantity;
use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand, ValueEnum};
use filestone_engine::replay::tcp::SocketOptions;
use filestone_model::operation::{OpKind, Stability};
use filestone_model::plan::{ReadData, TransportKind};
use std::path::PathBuf;
use target::Target;

/// Most calls in flight per connection.
pub const IN_FLIGHT_MAX: u32 = 65_536;
/// Most simulated clients.
pub const CLIENTS_MAX: u32 = 1_000_000;
/// Most clients of a replay: each has a thread, or a share of one.
pub const CLIENTS_OF_REPLAY_MAX: u32 = 65_536;
/// Most bytes of one READ or WRITE: more than servers take.
pub const SIZE_MAX: u32 = 1 << 20;

/// Longest time between rows: an interval's ticks are held in memory.
pub const MARK_MAX_NANOS: u64 = 3_600_000_000_000;

const ABOUT: &str = "A benchmark for file servers whose numbers can be trusted";

const EXIT_CODES: &str = "\
Exit codes:
  0    measured
  1    measured, but with a caveat that --fail-on-caveat names
  2    the command line or a file named in it is wrong
  3    the target could not be measured, was lost in the middle, or nothing succeeded
  4    this host refused something (a file, a socket, a full disk)
  70   a bug of filestone
  130  interrupted by ^C; what was measured up to then is reported
A second ^C ends filestone at once.

Units, in what is asked and in what is printed:
  K, M, G, T and KiB, MiB, GiB, TiB   powers of 1024: 64K = 64KiB = 65,536 bytes
  kB, MB, GB, TB                      powers of 1000: 64kB = 64,000 bytes
The tables of `as nct` have nct's megabytes, which were 2^20 bytes; dbench's were 10^6.";

/// The command line.
#[derive(Debug, Parser)]
#[command(
    name = "filestone",
    version,
    about = ABOUT,
    after_help = "Try first:\n  filestone demo\n  filestone probe getattr nfs://SERVER/EXPORT",
    after_long_help = EXIT_CODES,
    max_term_width = 100
)]
pub struct CommandLine {
    /// What to do.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show what filestone does, in under 20 seconds, with nothing installed
    Demo(DemoOptions),
    /// Measure one NFSv3 operation, repeated
    Probe(Box<ProbeOptions>),
    /// Replay a load file on a local file system, bare TCP or NFSv3, or on each in turn
    Replay(Box<ReplayOptions>),
    /// Measure a mix of NFSv3 operations at an offered load, its load-response curve, or the
    /// highest load that keeps an objective
    Mix(Box<MixOptions>),
    /// Carry out a plan that --dry-run printed, or that a run record holds
    Run(RunOptions),
    /// Say what load files and mixes contain, and what each layer would refuse of loads
    Check(CheckOptions),
    /// Serve NFSv3 from memory, or be the other end of bare TCP
    Serve(ServeOptions),
    /// Measure what filestone itself can do on this host
    Calibrate(CalibrateOptions),
    /// Make a report of a run record
    Report(ReportOptions),
    /// Take an ancestor's own command line
    As(AsOptions),
    /// Print a completion script for a shell
    Completions(CompletionsOptions),
    /// Print the JSON schema of the run record
    Schema,
}

/// `filestone probe`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  filestone probe null
  filestone probe getattr nfs://server/export --in-flight 32
  filestone probe read server:/export/file --size 128K -j 8 -m 1
  filestone probe lookup server:/export/dir --offered 10k --random
  filestone probe write nfs://server/export --clients 16 --output result

Operations that change things work in a directory of their own below TARGET and clean up.")]
pub struct ProbeOptions {
    /// Any NFSv3 procedure, in lower case
    #[arg(value_name = "OP", value_parser = operation_parser(), ignore_case = true, hide_possible_values = true)]
    pub operation: OpKind,
    #[command(flatten)]
    pub target: TargetOptions,
    #[command(flatten)]
    pub workload: WorkloadOptions,
    #[command(flatten)]
    pub load: LoadOptions,
    #[command(flatten)]
    pub report: RunReportOptions,
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
    /// nfs://host[:port]/path or host:/path; without it, the built-in server
    #[arg(value_name = "TARGET", value_parser = target::parse, help_heading = None::<&str>)]
    pub target: Option<Target>,
    /// How operations travel
    #[arg(long, value_name = "PROTOCOL", default_value = "tcp")]
    pub transport: Transport,
    #[command(flatten)]
    pub nfs: NfsOptions,
}

/// How an NFS server is found and spoken to.
#[derive(Debug, Clone, Default, Args)]
pub struct NfsOptions {
    /// Port of the NFS server [default: what the port mapper says, or 2049]
    #[arg(hide_short_help = true, long, value_name = "PORT", value_parser = port)]
    pub port: Option<u16>,
    /// Port of the MOUNT server [default: what the port mapper says]
    #[arg(hide_short_help = true, long, value_name = "PORT", value_parser = port)]
    pub mount_port: Option<u16>,
    /// Connect from ports below 1024, for exports that are not "insecure"; needs privileges
    #[arg(hide_short_help = true, long)]
    pub reserved_port: bool,
    /// User id that calls carry [default: the effective one]
    #[arg(hide_short_help = true, long, value_name = "ID", value_parser = within::<0, { u32::MAX }>)]
    pub uid: Option<u32>,
    /// Group id that calls carry [default: the effective one]
    #[arg(hide_short_help = true, long, value_name = "ID", value_parser = within::<0, { u32::MAX }>)]
    pub gid: Option<u32>,
}

/// How operations travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Transport {
    /// ONC RPC with record marking
    Tcp,
    /// One datagram per message, sent again when no reply comes
    Udp,
}

impl From<Transport> for TransportKind {
    fn from(transport: Transport) -> Self {
        match transport {
            Transport::Tcp => TransportKind::Tcp,
            Transport::Udp => TransportKind::Udp,
        }
    }
}

/// What is asked.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Operation")]
pub struct WorkloadOptions {
    /// Bytes per read, write, commit or page of a listing; 64K is 65,536, 64kB 64,000 [default:
    /// 4096; listings 32K]
    #[arg(short, long, value_name = "BYTES", value_parser = size)]
    pub size: Option<u32>,
    /// Choose offsets and files at random instead of one after the other
    #[arg(long)]
    pub random: bool,
    /// What becomes of the data read [default: discard, where calls are of 16K or more and go by
    /// TCP; else deliver]
    #[arg(long, value_name = "HOW")]
    pub data: Option<ReadDataOption>,
    /// Compare the data read with what they should be: the same as --data verify
    #[arg(long, conflicts_with = "data")]
    pub verify: bool,
    /// How safely the server must have stored written data before it answers
    #[arg(long, value_name = "HOW")]
    pub stable: Option<Stable>,
    /// Length of the file that write and commit work on, one per client; 64M are 64 MiB [default:
    /// 64M]
    #[arg(long, value_name = "BYTES", value_parser = file_size)]
    pub file_size: Option<u64>,
    /// Visit at most N entries of a directory; 0 visits the directory itself [default: 10000]
    #[arg(long, value_name = "N", value_parser = within::<0, 10_000_000>)]
    pub files: Option<u32>,
}

/// What becomes of the data that READ brings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReadDataOption {
    /// The kernel throws them away unread
    Discard,
    /// They are received into memory, as by other load generators, and not looked at
    Deliver,
    /// They are received and compared with what they should be
    Verify,
}

impl From<ReadDataOption> for ReadData {
    fn from(option: ReadDataOption) -> Self {
        match option {
            ReadDataOption::Discard => ReadData::Discard,
            ReadDataOption::Deliver => ReadData::Deliver,
            ReadDataOption::Verify => ReadData::Verify,
        }
    }
}

/// How safely written data must be kept (stable_how, RFC 1813 section 3.3.7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Stable {
    /// The server may answer before anything is on stable storage
    Unstable,
    /// The data and what is needed to find them
    DataSync,
    /// The data and all metadata
    FileSync,
}

impl From<Stable> for Stability {
    fn from(stable: Stable) -> Self {
        match stable {
            Stable::Unstable => Stability::Unstable,
            Stable::DataSync => Stability::DataSync,
            Stable::FileSync => Stability::FileSync,
        }
    }
}

/// How much is asked, when, for how long and by whom.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Load")]
pub struct LoadOptions {
    /// Calls in flight per client at most [default: 1; with --offered 1024 shared by all
    /// clients, 16 each at least]
    #[arg(short = 'j', long, value_name = "N", value_parser = within::<1, { IN_FLIGHT_MAX }>)]
    pub in_flight: Option<u32>,
    /// Simulated clients, each with its own connection [default: 1]
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
    #[arg(long, value_name = "RATE", value_parser = quantity::rate)]
    pub offered: Option<f64>,
    /// Distances between operations of an open loop [default: constant]
    #[arg(long, value_name = "PROCESS", requires = "offered")]
    pub arrivals: Option<ArrivalProcess>,
    /// Run this long before measuring [default: 0]
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    pub warm_up: Option<u64>,
    #[command(flatten)]
    pub generator: GeneratorOptions,
}

/// How the load generator behaves, whatever is asked.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Load")]
pub struct GeneratorOptions {
    /// How long a call may stay unanswered [default: 60 s]
    #[arg(hide_short_help = true, long, value_name = "TIME", value_parser = quantity::positive_duration)]
    pub timeout: Option<u64>,
    /// How long to try to get a lost connection back before giving up [default: 10 s]
    #[arg(hide_short_help = true, long, value_name = "TIME", value_parser = quantity::duration)]
    pub reconnect: Option<u64>,
    /// Where all randomness comes from; the same seed asks the same [default: a new one, recorded]
    #[arg(hide_short_help = true, long, value_name = "N", value_parser = seed)]
    pub seed: Option<u64>,
    /// Spin instead of sleeping: less dispatch delay, whole processors used
    #[arg(hide_short_help = true, long)]
    pub busy_poll: bool,
    /// Bind workers to these processors, in turn, such as 0,2 or 0-3
    #[arg(hide_short_help = true, long, value_name = "CPUS", value_parser = processors)]
    pub pin: Option<Processors>,
}

/// When operations of an open loop are due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ArrivalProcess {
    /// At equal distances
    Constant,
    /// At exponentially distributed distances
    Poisson,
}

/// What becomes of the result of a run.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Report")]
pub struct RunReportOptions {
    /// Print a row per TIME, a multiple of 100 ms, 0 prints none; TXMB and RXMB are 10^6 bytes
    #[arg(short, long, value_name = "TIME", value_parser = mark)]
    pub mark: Option<u64>,
    /// Write the full record into this directory: run.json, raw, histograms, plots
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// What to print on standard output; json is the run record
    #[arg(long = "as", value_name = "FORMAT", default_value = "text")]
    pub format: RunFormat,
    /// Print the plan as JSON instead of carrying it out
    #[arg(hide_short_help = true, long)]
    pub dry_run: bool,
    /// Exit with 1 if the result has a caveat: any, or one of these kinds, such as
    /// generator-was-the-limit,dispatch-delay
    #[arg(hide_short_help = true, long, value_name = "KINDS", num_args = 0..=1, require_equals = true, default_missing_value = "any")]
    pub fail_on_caveat: Option<String>,
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
    pub report: RunReportOptions,
    #[command(flatten)]
    pub calibration: CalibrationOptions,
}

/// `filestone check`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  filestone check client.txt
  filestone check office --layers
  filestone check *.load --as json | jq '.[].contents.tree.live_set_bytes'

  filestone check sfs2008
  filestone check /proc/net/rpc/nfsd
  nfsstat -s | filestone check -

Nothing is sent and nothing is written. Exit code 2 if a file cannot be used.")]
pub struct CheckOptions {
    /// Load files of dbench 1 to 5, tbench or smbtorture, plain or gzip; mix files; names of
    /// filestone's own loads and mixes; or - for a mix on standard input
    #[arg(value_name = "FILE", required = true)]
    pub loads: Vec<PathBuf>,
    /// What to print; json is a list with an object per load
    #[arg(long = "as", value_name = "FORMAT", default_value = "text")]
    pub format: CheckFormat,
    /// Print only what each layer would refuse or answer without a call, verb by verb
    #[arg(long)]
    pub layers: bool,
}

/// What `filestone check` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum CheckFormat {
    /// Tables for people
    #[default]
    Text,
    /// Everything, for programs
    Json,
}

/// `filestone demo`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  filestone demo
  filestone demo --duration 500ms --as json")]
pub struct DemoOptions {
    /// How long to measure each step
    #[arg(short, long, value_name = "TIME", default_value = "1s", value_parser = quantity::positive_duration)]
    pub duration: u64,
    /// What to print; json is the list of run records
    #[arg(long = "as", value_name = "FORMAT", default_value = "text")]
    pub format: RunFormat,
}

/// `filestone serve`.
#[derive(Debug, Args)]
#[command(after_help = "\
Faults:
  delay=5ms          delay=exp:2ms,proc=read      error=NFS3ERR_IO,p=0.01
  freeze=1s@4s       drop,p=0.001                 disconnect,proc=write,p=0.0001
  truncate=8         corrupt,p=0.001              conditions: proc= p= from= to=

Examples:
  filestone serve
  filestone serve --port 2049 --bind 0.0.0.0 --threads 4
  filestone serve --discard --memory 4G
  filestone serve --fault delay=exp:2ms,proc=read --fault freeze=1s@10s
  filestone serve --threads 1 --service-time exp:1ms --service-workers 4
  filestone serve --tbench --bind 0.0.0.0")]
pub struct ServeOptions {
    /// Port of NFS, MOUNT and the port mapper's answers, by TCP and UDP; 0 takes any [default:
    /// 20490; with --tbench 7003]
    #[arg(short, long, value_name = "PORT", value_parser = port_or_any)]
    pub port: Option<u16>,
    /// Address to listen on, repeatable [default: 127.0.0.1 and ::1]
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    pub bind: Vec<std::net::IpAddr>,
    /// Threads that serve [default: one per processor]
    #[arg(long, value_name = "N", value_parser = within::<1, 1024>)]
    pub threads: Option<u32>,
    /// Memory for data and names; beyond it is NFS3ERR_NOSPC
    #[arg(long, value_name = "SIZE", default_value = "1G", value_parser = quantity::bytes)]
    pub memory: u64,
    /// Keep no file data: as though storage were infinitely fast
    #[arg(long)]
    pub discard: bool,
    /// Let something go wrong, repeatable
    #[arg(long, value_name = "FAULT", value_parser = crate::built_in::fault)]
    pub fault: Vec<crate::built_in::Fault>,
    /// Let each call of NFS take TIME of a worker, or exp:MEAN, exponentially distributed: first
    /// come, first served, so that response times are known beforehand
    #[arg(long, value_name = "TIME", value_parser = crate::built_in::service_time)]
    pub service_time: Option<crate::built_in::ServiceTime>,
    /// Workers that serve calls in that time, of the whole server
    #[arg(long, value_name = "K", default_value_t = 1, requires = "service_time", value_parser = within::<1, 1_000_000>)]
    pub service_workers: u32,
    /// Seed of the faults' and the service times' chance
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = seed)]
    pub seed: u64,
    /// Files in /export/files [default: 1000]
    #[arg(long, value_name = "N", value_parser = within::<0, 10_000_000>)]
    pub files: Option<u32>,
    /// Length of /export/file [default: 256M]
    #[arg(long, value_name = "BYTES", value_parser = file_size)]
    pub file_size: Option<u64>,
    /// What the count of READDIR and READDIRPLUS bounds: reply (all of it, as RFC 1813 has it),
    /// entries (alone, as Linux's server has it) or nothing
    #[arg(
        long,
        value_name = "WHAT",
        default_value = "reply",
        hide_possible_values = true
    )]
    pub listing_bound: ListingBound,
    /// Serve tbench's exchanges instead of NFS: the other end of bare TCP
    #[arg(long, conflicts_with_all = ["threads", "memory", "discard", "fault", "service_time", "service_workers", "seed", "files", "file_size", "listing_bound"])]
    pub tbench: bool,
    /// Socket options, in dbench's words, such as SO_RCVBUF=65536 [default: TCP_NODELAY
    /// SO_REUSEADDR]
    #[arg(long, value_name = "LIST", requires = "tbench")]
    pub tcp_options: Option<SocketOptions>,
}

/// What the count of a listing bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ListingBound {
    /// The whole reply
    Reply,
    /// The entries alone
    Entries,
    /// Nothing
    Nothing,
}

impl From<ListingBound> for built_in::ListingBound {
    fn from(bound: ListingBound) -> Self {
        match bound {
            ListingBound::Reply => Self::Reply,
            ListingBound::Entries => Self::Entries,
            ListingBound::Nothing => Self::Nothing,
        }
    }
}

/// `filestone calibrate`.
#[derive(Debug, Args)]
pub struct CalibrateOptions {
    /// Take a second instead of ten
    #[arg(long)]
    pub quick: bool,
    /// What to print
    #[arg(long = "as", value_name = "FORMAT", default_value = "text")]
    pub format: RunFormat,
}

/// `filestone report`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  filestone report result
  filestone report result/run.json --as csv > intervals.csv
  filestone report result --as gnuplot | gnuplot -persist
  filestone report result --as hdr > intervals.hlog")]
pub struct ReportOptions {
    /// A run record, or the directory of a run
    #[arg(value_name = "RECORD")]
    pub record: PathBuf,
    /// What to make of it
    #[arg(long = "as", value_name = "FORMAT", default_value = "text", value_parser = PossibleValuesParser::new(crate::report::REPORTS.iter().map(|report| clap::builder::PossibleValue::new(report.name).help(report.about))))]
    pub format: String,
}

/// `filestone as`.
#[derive(Debug, Args)]
pub struct AsOptions {
    /// Whose command line follows.
    #[command(subcommand)]
    pub ancestor: Ancestor,
}

/// The ancestors.
#[derive(Debug, Subcommand)]
pub enum Ancestor {
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

/// `filestone completions`.
#[derive(Debug, Args)]
pub struct CompletionsOptions {
    /// Whose script
    #[arg(value_name = "SHELL")]
    pub shell: clap_complete::Shell,
}
