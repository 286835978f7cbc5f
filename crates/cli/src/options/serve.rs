//! The options of `filestone serve`.

use super::values::{address, file_size, port_or_any, seed, share_limit, within};
use crate::built_in;
use clap::{Args, ValueEnum};
use filestone_engine::protocols::tbench::replay::SocketOptionList;
use filestone_workload::quantity;
use std::path::PathBuf;

/// `filestone serve`.
#[derive(Debug, Args)]
#[command(after_help = "\
Faults:
  delay=5ms          delay=exp:2ms,proc=read      error=NFS3ERR_IO,p=0.01
  freeze=1s@4s       drop,p=0.001                 disconnect,proc=write,p=0.0001
  truncate=8         corrupt,p=0.001              conditions: proc= p= from= to=
  loop: listings repeat their first page and never end
  of SMB: error=STATUS_DISK_FULL  signature  credits  pending
          session-deleted  share-closed  session-expired
  what a call costs: burn=5us,proc=getattr  switches=1,proc=read

Examples:
  filestone serve
  filestone serve --port 2049 --bind 0.0.0.0 --threads 4
  filestone serve --discard --memory 4G
  filestone serve --fault delay=exp:2ms,proc=read --fault freeze=1s@10s
  filestone serve --threads 1 --service-time exp:1ms --service-workers 4
  filestone serve --smb-port 4450
  filestone serve --port 20490 --echo-port 20007
  filestone serve --smb-port 4450 --user anna --password-file pw --smb-encryption required
  filestone serve --tbench --bind 0.0.0.0")]
pub struct ServeOptions {
    /// Port of NFS, MOUNT and the port mapper's answers, by TCP and UDP; 0 takes any [default:
    /// 20490; with --tbench 7003; with --user NFS is off unless this option is given]
    #[arg(short, long, value_name = "PORT", value_parser = port_or_any)]
    pub port: Option<u16>,
    /// Serve SMB, too, at this port, over the same files: share export; 0 takes any
    #[arg(long, value_name = "PORT", value_parser = port_or_any)]
    pub smb_port: Option<u16>,
    /// Send back, at this port by TCP and UDP, what comes (RFC 862): what calls take without a
    /// protocol; 0 takes any
    #[arg(long, value_name = "PORT", value_parser = port_or_any)]
    pub echo_port: Option<u16>,
    /// User that SMB lets in [default: everybody, as a guest]. NFS cannot authenticate its callers
    /// and is off then, unless --port is given
    #[arg(long, value_name = "NAME", requires = "smb_port")]
    pub user: Option<String>,
    /// His password is the first line of FILE [default: what the environment variable
    /// FILESTONE_PASSWORD holds]
    #[arg(long, value_name = "FILE", requires = "user")]
    pub password_file: Option<PathBuf>,
    /// Whether messages of SMB are signed: offered or required [default: offered]
    #[arg(long, value_name = "WHEN", requires = "smb_port", value_parser = built_in::protection)]
    pub smb_signing: Option<built_in::Protection>,
    /// Whether messages of SMB are encrypted: refused, offered or required [default: offered]
    #[arg(long, value_name = "WHEN", requires = "smb_port", value_parser = built_in::protection)]
    pub smb_encryption: Option<built_in::Protection>,
    /// Credits that a client of SMB may have at once [default: 8192]
    #[arg(long, value_name = "N", requires = "smb_port", value_parser = within::<1, 65_535>)]
    pub smb_credits: Option<u32>,
    /// MaxTransactSize of SMB: bytes of a page of a directory, at most [default: 1M]
    #[arg(long, value_name = "SIZE", requires = "smb_port", value_parser = share_limit)]
    pub smb_max_transact: Option<u32>,
    /// MaxReadSize and MaxWriteSize of SMB [default: 1M]
    #[arg(long, value_name = "SIZE", requires = "smb_port", value_parser = share_limit)]
    pub smb_max_transfer: Option<u32>,
    /// Address to listen on, repeatable [default: 127.0.0.1 and ::1]
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    pub bind: Vec<std::net::IpAddr>,
    /// Threads that serve [default: one per processor]
    #[arg(long, value_name = "N", value_parser = within::<1, 1024>)]
    pub threads: Option<u32>,
    /// Memory for data and names; beyond it is NFS3ERR_NOSPC
    #[arg(long, value_name = "SIZE", default_value = "1G", value_parser = quantity::bytes)]
    pub memory: u64,
    /// Let every caller of NFS do everything, whatever owners and modes say
    #[arg(long)]
    pub no_permissions: bool,
    /// Keep no file data: as though storage were infinitely fast
    #[arg(long)]
    pub discard: bool,
    /// Let something go wrong, repeatable
    #[arg(long, value_name = "FAULT", value_parser = built_in::fault)]
    pub fault: Vec<built_in::Fault>,
    /// Let each call of NFS, and request of SMB, take TIME of a worker, or exp:MEAN, exponentially distributed: first
    /// come, first served, so that response times are known beforehand
    #[arg(long, value_name = "TIME", value_parser = built_in::service_time)]
    pub service_time: Option<built_in::ServiceTime>,
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
    pub listing_bound: ListingBoundArgument,
    /// Serve tbench's exchanges instead of NFS: the other end of bare TCP
    #[arg(long, conflicts_with_all = ["smb_port", "echo_port", "threads", "memory", "no_permissions", "discard", "fault", "service_time", "service_workers", "seed", "files", "file_size", "listing_bound"])]
    pub tbench: bool,
    /// Socket options, in dbench's words, such as SO_RCVBUF=65536 [default: TCP_NODELAY
    /// SO_REUSEADDR]
    #[arg(long, value_name = "LIST", requires = "tbench")]
    pub tcp_options: Option<SocketOptionList>,
}

/// What the count of a listing bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ListingBoundArgument {
    /// The whole reply
    Reply,
    /// The entries alone
    Entries,
    /// Nothing
    Nothing,
}

impl From<ListingBoundArgument> for built_in::ListingBound {
    fn from(bound: ListingBoundArgument) -> Self {
        match bound {
            ListingBoundArgument::Reply => Self::Reply,
            ListingBoundArgument::Entries => Self::Entries,
            ListingBoundArgument::Nothing => Self::Nothing,
        }
    }
}
