//! The options of `filestone fleet`.

use super::fleet_addresses::AddressesOptions;
use super::fleet_ctl::{CtlOptions, socket_choice};
use super::generator::GeneratorOptions;
use super::nfs::NfsOptions;
use super::run_report::DocumentFormat;
use super::run_report::{ExpectOptions, RunReportOptions};
use super::smb::SmbArguments;
use super::values::within;
use crate::options::choice::choice;
use clap::{Args, Subcommand};
use filestone_host::control_socket::SocketChoice;
use filestone_plan::fleet;
use filestone_plan::plan::limits::CLIENTS_MAX;
use filestone_plan::plan::{RatePlan, TransportKind};
use filestone_workload::payload::Pattern;
use filestone_workload::quantity;

/// `filestone fleet`.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  filestone fleet --readers 250 --writers 250 nfs://server/export
  filestone fleet --example > plan.toml
  filestone fleet plan.toml
  filestone fleet plan.toml nfs://other/export        the same on another target
  filestone fleet cookbook nfs://server/export        100, 250 and 500 clients, and what they take
  filestone fleet addresses up 10.9.0.0/16            addresses of this host for --source

Files are made in a directory `clients` in the target, which is marked and taken away again; nothing
else there is changed. `filestone help fleet --page` has every key of a plan and every figure."
)]
pub struct FleetOptions {
    /// What else there is.
    #[command(subcommand)]
    pub command: Option<FleetCommand>,
    /// A plan in TOML; with --readers or --writers, the target
    #[arg(value_name = "PLAN")]
    pub plan: Option<String>,
    /// Where files are, instead of the plan's own targets: nfs://host[:port]/path,
    /// smb://[user@]host/share, local:DIR; nfs: and smb: alone are the built-in servers
    #[arg(value_name = "TARGET")]
    pub target: Option<String>,
    /// Print a plan that explains itself
    #[arg(long)]
    pub example: bool,
    #[command(flatten)]
    pub common: CommonOptions,
    /// How long to run; after a ramp, how long its last step lasts [default: the plan's, or 10 s]
    #[arg(short, long, value_name = "TIME", value_parser = quantity::positive_duration, help_heading = "Load")]
    pub duration: Option<u64>,
    /// Threads of the load generator [default: one per processor, but not more than clients; half the
    /// processors for the built-in server]
    #[arg(short, long, value_name = "N", value_parser = within::<1, 1024>, help_heading = "Load")]
    pub workers: Option<u32>,
    /// Let N clients share a thread and take turns, where their work blocks; elsewhere as many a worker
    /// [default: 1]
    #[arg(hide_short_help = true, long, value_name = "N", value_parser = within::<1, { CLIENTS_MAX }>, help_heading = "Load")]
    pub clients_per_thread: Option<u32>,
    #[command(flatten)]
    pub generator: GeneratorOptions,
    /// Take away first what an earlier run of filestone has left over in the target
    #[arg(long, help_heading = "Load")]
    pub remove_leftover: bool,
    /// Leave the files in the target
    #[arg(long, help_heading = "Load")]
    pub keep_files: bool,
    /// Serve `filestone fleet ctl` at this path, or not at all: none [default: a socket in a directory of
    /// this user's alone, named by the process]
    #[arg(hide_short_help = true, long, value_name = "PATH", value_parser = socket_choice, help_heading = "Load")]
    pub ctl: Option<SocketChoice>,
    /// How calls travel over NFS
    #[arg(
        hide_short_help = true,
        long,
        value_name = "PROTOCOL",
        default_value = "tcp",
        help_heading = "Target", value_parser = choice::<TransportKind>())]
    pub transport: TransportKind,
    #[command(flatten, next_help_heading = "Target")]
    pub nfs: NfsOptions,
    #[command(flatten)]
    pub share: SmbArguments,
    #[command(flatten)]
    pub report: RunReportOptions,
    #[command(flatten)]
    pub expect: ExpectOptions,
}

/// What `filestone fleet` does besides carrying out a plan.
#[derive(Debug, Subcommand)]
pub enum FleetCommand {
    /// Measure 100, 250 and 500 clients at 4 KiB, at 1 MiB and at 4 KiB again, and what they take of memory
    Cookbook(CookbookOptions),
    /// Make addresses of this host that clients connect from, show and remove them
    Addresses(AddressesOptions),
    /// Look at a fleet that runs, and change it: list, show, start, stop, quiesce, set
    Ctl(CtlOptions),
}

/// `filestone fleet cookbook`.
#[derive(Debug, Args)]
pub struct CookbookOptions {
    /// Where files are: nfs://host[:port]/path, smb://[user@]host/share, local:DIR [default: the
    /// built-in server, in a process of its own]
    #[arg(value_name = "TARGET")]
    pub target: Option<String>,
    /// Go on to so many clients, each time twice as many
    #[arg(long, value_name = "N", value_parser = within::<1, { CLIENTS_MAX }>)]
    pub to: Option<u32>,
    /// How long each size of transfers is used [default: 5 s]
    #[arg(short, long, value_name = "TIME", value_parser = quantity::positive_duration)]
    pub duration: Option<u64>,
    /// What each client moves at most [default: 100Mbit/s]
    #[arg(long, value_name = "RATE")]
    pub rate: Option<String>,
    /// Let clients connect from these addresses of this host, such as those of MAC-VLANs that `fleet
    /// addresses up` makes
    #[arg(long, value_name = "ADDRESSES")]
    pub source: Option<String>,
    /// Print the commands that would be run, and run none
    #[arg(long)]
    pub plan: bool,
    /// Format of standard output; json is the records
    #[arg(long, alias = "as", value_name = "FORMAT", default_value = "text")]
    pub format: DocumentFormat,
}

/// Two groups without a plan.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Without a plan")]
pub struct CommonOptions {
    /// So many clients read what the writers write, and wait until it is there; without writers they
    /// read files of their own
    #[arg(long, value_name = "N", value_parser = within::<1, { CLIENTS_MAX }>)]
    pub readers: Option<u32>,
    /// So many clients write whole files, one after the other
    #[arg(long, value_name = "N", value_parser = within::<1, { CLIENTS_MAX }>)]
    pub writers: Option<u32>,
    /// Bytes of each read and write [default: 4K]
    #[arg(short = 's', long, alias = "size", value_name = "BYTES", value_parser = quantity::bytes)]
    pub io_size: Option<u64>,
    /// Bytes of each file [default: 1MB]
    #[arg(long, value_name = "BYTES", value_parser = quantity::bytes)]
    pub file_size: Option<u64>,
    /// Files of each client, which it writes or reads in turn [default: 2]
    #[arg(long, value_name = "N", value_parser = within::<1, 1_000_000>)]
    pub files: Option<u32>,
    /// What each client moves at most, such as 100Mbit/s, 10..20Mbit/s or 100ops/s [default: as much
    /// as it can]
    #[arg(long, value_name = "RATE", value_parser = fleet::rate)]
    pub rate: Option<RatePlan>,
    /// What data consist of: increasing, decreasing, random, random-fixed, zeros, ones, prbs-4-0-3,
    /// prbs-7-0-6, prbs-11-8-10, prbs-15-0-14, incompressible or hex:BYTES [default: increasing]
    #[arg(long, value_name = "PATTERN", value_parser = Pattern::parse)]
    pub pattern: Option<Pattern>,
    /// Let clients begin so many at a time
    #[arg(long, value_name = "N", value_parser = within::<1, { CLIENTS_MAX }>)]
    pub step: Option<u32>,
    /// How long a step lasts, a multiple of 100 ms [default: 5 s]
    #[arg(long, value_name = "TIME", value_parser = quantity::positive_duration, requires = "step")]
    pub every: Option<u64>,
}

impl CommonOptions {
    /// The first of them that is given.
    pub fn first_given(&self) -> Option<&'static str> {
        let given = [
            ("--readers", self.readers.is_some()),
            ("--writers", self.writers.is_some()),
            ("--io-size", self.io_size.is_some()),
            ("--file-size", self.file_size.is_some()),
            ("--files", self.files.is_some()),
            ("--rate", self.rate.is_some()),
            ("--pattern", self.pattern.is_some()),
            ("--step", self.step.is_some()),
        ];
        let first = given.iter().find(|(_, is_given)| *is_given);
        first.map(|(name, _)| *name)
    }

    /// Whether the groups are those of the command line.
    pub const fn are_groups(&self) -> bool {
        self.readers.is_some() || self.writers.is_some()
    }
}
