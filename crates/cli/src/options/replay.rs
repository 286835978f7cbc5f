//! The options of `filestone replay`, named as dbench's where dbench has them.

use crate::options::choice::choice;
use crate::options::layer_targets::{self, LayerList};
use crate::options::nfs::NfsOptions;
use crate::options::run_report::RunReportOptions;
use crate::options::smb::SmbArguments;
use crate::options::values::{
    Processors, clients_of_replay, connect_rate, per_second, port, processors, seed, speed,
    truncated_io, within,
};
use clap::Args;
use filestone_plan::plan::limits::CLIENTS_OF_REPLAY_MAX;
use filestone_plan::plan::{OnLost, OnMismatch, TransportKind};
use filestone_workload::quantity;
use std::path::PathBuf;

/// `filestone replay`.
#[derive(Debug, Args)]
#[command(
    after_help = "\
Examples:
  filestone replay                                   office in a temporary directory
  filestone replay client.txt --layer local:/mnt/test -c 4
  filestone replay office --layer local:/srv/test,tcp:server,nfs://server/export
  filestone replay trace.load --layer nfs://a/x+nfs://b/x -c 100 --speed 2",
    after_long_help = "\
Examples:
  filestone replay
      the load `office` in a fresh temporary directory, one client, 10 seconds
  filestone replay client.txt --layer local:/mnt/test -c 4 -d 1m
      dbench's load file on a mounted file system, as `dbench -D /mnt/test -t 60 4`
  filestone replay client.txt --layer tcp:server -c 4
      the same bytes to `filestone serve --tbench` or `tbench_srv` on another host
  filestone replay client.txt --layer smb://user@server/share --password-file pw -c 4
      the same verb for verb on a share
  filestone replay office --layer local:/srv/test,tcp:server,nfs://server/export
      the same load three times, and a table of what each layer costs
  filestone replay trace.load --layer nfs://a/x+nfs://b/x -c 100 --speed 2
      a time-stamped load twice as fast, clients in turn on two servers
  filestone replay office --run-once --layer nfs: --format json
      one pass against the built-in server; the run record on standard output

Everything happens in a directory `clients`, which is made in the target, marked and
taken away again; nothing else in the target is changed. What a load does is shown by
`filestone check LOAD`; `filestone help replay --page` says what every number means."
)]
pub struct ReplayOptions {
    /// Load files of dbench 1 to 5, tbench or smbtorture, plain or gzip, or names of filestone's own
    /// loads; client i replays load i modulo their number [default: office]
    #[arg(value_name = "LOAD[,LOAD…]")]
    pub loads: Option<String>,
    /// Layers to replay on, one after the other: local:DIR, tcp:HOST[:PORT],
    /// nfs://host[:port]/path, smb://[[domain;]user@]host[:port]/share[/path]; several of one layer
    /// for clients in turn are joined by + [default: local:, a temporary directory]
    #[arg(long, alias = "on", value_name = "LAYER[,LAYER…]", value_parser = layer_targets::parse)]
    pub layer: Vec<LayerList>,
    /// Replay on the targets in FILE, clients in turn: one a line, all of one layer; //server/share,
    /// as in smbtorture's list, is a share
    #[arg(long, value_name = "FILE", conflicts_with = "layer")]
    pub targets: Option<PathBuf>,
    #[command(flatten)]
    pub course: ReplayRunOptions,
    #[command(flatten)]
    pub pacing: PacingOptions,
    #[command(flatten)]
    pub local: LocalArguments,
    #[command(flatten)]
    pub tcp: TcpArguments,
    #[command(flatten)]
    pub nfs: NfsReplayOptions,
    #[command(flatten)]
    pub share: SmbArguments,
    #[command(flatten)]
    pub report: RunReportOptions,
    /// Also show every client's operations by itself
    #[arg(long, help_heading = "Report")]
    pub per_client_results: bool,
    /// With several layers, show the whole report of each before the table of them all
    #[arg(short, long, help_heading = "Report")]
    pub verbose: bool,
}

/// By whom, for how long, and what happens at the end.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Load")]
pub struct ReplayRunOptions {
    /// Simulated clients, each with its own directory and connection [default: 1]
    #[arg(short, long, value_name = "N", value_parser = clients_of_replay)]
    pub clients: Option<u32>,
    /// How long to measure [default: 10 s; with --run-once, until all are done]
    #[arg(short, long, value_name = "TIME", value_parser = quantity::positive_duration)]
    pub duration: Option<u64>,
    /// Run this long before measuring [default: a fifth of the duration]
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    pub warm_up: Option<u64>,
    /// End each client after one pass of its load
    #[arg(long)]
    pub run_once: bool,
    /// Threads that serve the clients over NFS or SMB, any number of them each [default: one per processor,
    /// but not more than clients; half the processors for the built-in server]
    #[arg(long, value_name = "N", value_parser = within::<1, 1024>)]
    pub workers: Option<u32>,
    /// Let N clients share a thread and take turns, line by line, where their work blocks [default: 1]
    #[arg(long, value_name = "N", value_parser = within::<1, { CLIENTS_OF_REPLAY_MAX }>)]
    pub clients_per_thread: Option<u32>,
    /// What a client does after a result other than the load file expects; each is counted
    #[arg(long, value_name = "WHAT", default_value = "count", value_parser = choice::<OnMismatch>())]
    pub on_mismatch: OnMismatch,
    /// Cut reads and writes to this many bytes; 64K is 65,536, 64kB 64,000
    #[arg(long, value_name = "BYTES", value_parser = truncated_io)]
    pub trunc_io: Option<u64>,
    /// Leave out what changes something, and read the tree that an earlier run has left with
    /// --skip-cleanup, or anyone has made: nothing is made, written or removed
    #[arg(long, conflicts_with = "remove_leftover")]
    pub read_only: bool,
    /// Take away first what an earlier run of filestone has left over in the target
    #[arg(long)]
    pub remove_leftover: bool,
    /// Leave the clients' trees in the target
    #[arg(long)]
    pub skip_cleanup: bool,
    /// How long an exchange may stay unanswered [default: 60 s]
    #[arg(long, value_name = "TIME", value_parser = quantity::positive_duration)]
    pub timeout: Option<u64>,
    /// How long to try to get a lost connection to a server back before its client counts as
    /// lost [default: 10 s]
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    pub reconnect: Option<u64>,
    /// How often a line over SMB is tried again whose connection was lost, after what was open has
    /// been opened and locked again [default: 1]
    #[arg(long, value_name = "N", value_parser = within::<0, 1000>)]
    pub retries: Option<u32>,
    /// What happens when a client over NFS or SMB could not be connected again for that long [default: end
    /// with one client, retry with more]; a call that has waited for --timeout ends its client
    #[arg(long, value_name = "WHAT", value_parser = choice::<OnLost>())]
    pub on_lost: Option<OnLost>,
    /// Connect so many clients over NFS or SMB per second before the run [default: as fast as the server
    /// takes them]
    #[arg(long, value_name = "RATE", value_parser = connect_rate)]
    pub connect_rate: Option<f64>,
    /// Where all randomness comes from; the same seed asks the same [default: a new one, recorded]
    #[arg(long, value_name = "N", value_parser = seed)]
    pub seed: Option<u64>,
    /// Bind the clients' threads to these processors, in turn, such as 0,2 or 0-3
    #[arg(long, value_name = "CPUS", value_parser = processors)]
    pub pin: Option<Processors>,
}

/// When lines are due.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Pacing")]
pub struct PacingOptions {
    /// File data per second that each client moves, such as 10MB or 1MiB/s; time stamps are ignored
    #[arg(short = 'R', long, value_name = "BYTES", value_parser = per_second, conflicts_with_all = ["total_rate", "speed", "ignore_timestamps"])]
    pub rate: Option<f64>,
    /// The same, of all clients together
    #[arg(long, value_name = "BYTES", value_parser = per_second, conflicts_with_all = ["speed", "ignore_timestamps"])]
    pub total_rate: Option<f64>,
    /// Replay the time stamps of the load so many times as fast, 0.5 to 100 [default: 1, if the
    /// load has stamps]
    #[arg(long, value_name = "FACTOR", value_parser = speed, conflicts_with = "ignore_timestamps")]
    pub speed: Option<f64>,
    /// Replay as fast as the target answers, whatever the time stamps say
    #[arg(long, alias = "no-stamps")]
    pub ignore_timestamps: bool,
}

/// How `local:` works.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "On local")]
pub struct LocalArguments {
    /// Open files with O_SYNC
    #[arg(short = 's', long)]
    pub sync: bool,
    /// Synchronise the directory after unlink, rmdir and rename
    #[arg(short = 'S', long)]
    pub sync_dir: bool,
    /// fsync after every write
    #[arg(short = 'F', long)]
    pub fsync: bool,
    /// Keep Samba's DOS attributes in extended attributes
    #[arg(short = 'x', long)]
    pub xattr: bool,
    /// Do not look for names without regard to case when the exact name is not there
    #[arg(long)]
    pub no_resolve: bool,
    /// Make one-byte writes that only extend a file an ftruncate
    #[arg(long)]
    pub one_byte_write_fix: bool,
    /// Ask with stat before calls that it may make pointless
    #[arg(long)]
    pub stat_check: bool,
    /// Count reads and writes instead of making them
    #[arg(long)]
    pub fake_io: bool,
    /// Open files with O_DIRECT
    #[arg(long)]
    pub direct: bool,
}

/// How `tcp:` works.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "On tcp")]
pub struct TcpArguments {
    /// Socket options in dbench's words [default: TCP_NODELAY SO_REUSEADDR]
    #[arg(short = 'T', long, value_name = "LIST")]
    pub tcp_options: Option<String>,
    /// What stands before names and lengthens messages, as dbench's directory [default: .]
    #[arg(long, value_name = "PREFIX")]
    pub prefix: Option<String>,
}

/// How `nfs:` works.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "On nfs")]
pub struct NfsReplayOptions {
    /// Write FILE_SYNC instead of UNSTABLE with COMMIT on Flush and Close
    #[arg(long)]
    pub stable: bool,
    /// Ask the server's lock manager for locks (NLM version 4)
    #[arg(long)]
    pub enable_nlm: bool,
    /// Port of the lock manager [default: the NFS port if it is there, or what the port mapper
    /// says]
    #[arg(long, value_name = "PORT", value_parser = port, requires = "enable_nlm")]
    pub nlm_port: Option<u16>,
    /// How calls travel [default: tcp]
    #[arg(long, value_name = "PROTOCOL", value_parser = choice::<TransportKind>())]
    pub transport: Option<TransportKind>,
    #[command(flatten)]
    pub nfs: NfsOptions,
}
