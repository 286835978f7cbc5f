//! Options of a server.

use std::net::IpAddr;
use std::time::Duration;

use crate::faults::FaultRule;
use crate::queue::QueueOptions;
use crate::smb2::SmbOptions;
use crate::tree::InitialTree;

/// Options of [`Server::start`](crate::Server::start).
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Addresses to listen on, by TCP and UDP; if empty, the loopback addresses of this host.
    pub addresses: Vec<IpAddr>,
    /// Port of all addresses and both transports; 0 selects a free one.
    pub port: u16,
    /// Serve NFSv3, MOUNT, NLM and the port mapper, without restriction of clients.
    pub has_nfs: bool,
    /// Number of serving threads; connections are assigned round robin.
    pub threads: usize,
    /// CPUs that the threads are pinned to, round robin; empty: no pinning.
    pub pin: Vec<usize>,
    /// Serve SMB in addition, over the same tree.
    pub smb: Option<SmbOptions>,
    /// Port of the Echo service by TCP and UDP (RFC 862); 0 selects a free one.
    pub echo_port: Option<u16>,
    /// Memory limit for data, names and inodes, in bytes; beyond it operations fail with
    /// NFS3ERR_NOSPC.
    pub memory_limit: u64,
    /// Store no file data: WRITE changes size and times only, READ returns the pattern.
    pub discard: bool,
    /// Fault injection rules.
    pub faults: Vec<FaultRule>,
    /// Queue calls of NFS for simulated workers, for known response times.
    ///
    /// A call takes effect when it arrives; only its reply is delayed.
    pub queue: Option<QueueOptions>,
    /// Seed of the random streams of faults and queue. The write verifier also depends on the start
    /// time.
    pub seed: u64,
    /// The initial tree.
    pub initial_tree: InitialTree,
    /// Refuse MOUNT of paths other than the exports, with MNT3ERR_ACCES.
    pub strict_mount: bool,
    /// Ignore owners and modes for all callers of NFS.
    pub ignores_permissions: bool,
    /// Stall limit of an incomplete record or frame: a connection whose peer sends less than 4 KiB
    /// of it in that time is closed.
    pub record_patience: Duration,
    /// Part of the reply that the count of READDIR and READDIRPLUS limits.
    pub listing_bound: ListingBound,
    /// Port of the port mapper on clients' hosts, which returns the lock manager to notify when an
    /// awaited lock is granted. 111, except in tests.
    pub client_portmapper_port: u16,
}

/// Part of the reply that `count` of READDIR and `maxcount` of READDIRPLUS limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ListingBound {
    /// The whole of READDIR3resok or READDIRPLUS3resok (RFC 1813, sections 3.3.16 and 3.3.17).
    #[default]
    Reply,
    /// Only the list of entries, as in Linux's server: `dir_attributes` and `cookieverf` are added
    /// to it, at most 96 bytes.
    Entries,
    /// No limit: a page contains as many entries as any reply can.
    Nothing,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            addresses: Vec::new(),
            port: 0,
            has_nfs: true,
            threads: 1,
            pin: Vec::new(),
            smb: None,
            echo_port: None,
            memory_limit: 1 << 30,
            discard: false,
            faults: Vec::new(),
            queue: None,
            seed: 1,
            initial_tree: InitialTree::default(),
            strict_mount: false,
            ignores_permissions: false,
            record_patience: Duration::from_secs(30),
            listing_bound: ListingBound::default(),
            client_portmapper_port: filestone_wire::portmap::PORT,
        }
    }
}
