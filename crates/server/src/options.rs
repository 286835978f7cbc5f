//! What a server can be told before it starts.

use std::net::IpAddr;
use std::time::Duration;

use crate::faults::Rule;
use crate::queue::QueueOptions;
use crate::smb2::SmbOptions;
use crate::tree::InitialTree;

/// Options of [`Server::start`](crate::Server::start).
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Where to listen, by TCP and UDP; without any, at the loopback addresses of this host.
    pub addresses: Vec<IpAddr>,
    /// The port, the same for all addresses and both transports; 0 is any that is free.
    pub port: u16,
    /// Serve NFSv3, MOUNT, NLM and the port mapper's answers, which anyone who can connect may use.
    pub has_nfs: bool,
    /// Threads that serve; connections are dealt to them in turn.
    pub threads: usize,
    /// Processors that the threads are bound to, in turn; none binds none.
    pub pin: Vec<usize>,
    /// Serve SMB, too, over the same tree.
    pub smb: Option<SmbOptions>,
    /// Send back, at this port by TCP and UDP, what comes (RFC 862); 0 is any that is free.
    pub echo_port: Option<u16>,
    /// Memory for data, names and inodes, in bytes; beyond it is NFS3ERR_NOSPC.
    pub memory_limit: u64,
    /// Keep no file data: WRITE changes size and times only, READ answers the pattern.
    pub discard: bool,
    /// What goes wrong on purpose.
    pub faults: Vec<Rule>,
    /// Let calls of NFS wait for workers, so that response times are known beforehand.
    ///
    /// What a call changes, it changes when it arrives; only its reply has to wait.
    pub queue: Option<QueueOptions>,
    /// Seed of the faults' and the queue's chance. The write verifier also depends on the time of the start.
    pub seed: u64,
    /// What is there at the start.
    pub initial_tree: InitialTree,
    /// Refuse MOUNT of anything but the exports themselves, with MNT3ERR_ACCES.
    pub strict_mount: bool,
    /// Let every caller of NFS do everything, whatever owners and modes say.
    pub ignores_permissions: bool,
    /// How long a record or a frame that has begun to arrive may stand still: a connection whose
    /// peer sends less than 4 KiB of it in that time is closed.
    pub record_patience: Duration,
    /// What the count of READDIR and READDIRPLUS bounds.
    pub listing_bound: ListingBound,
    /// Where the port mapper of a client's host listens, which knows the lock manager to be told
    /// when a lock that its client waits for is free. 111, unless that is a double's.
    pub client_portmapper_port: u16,
}

/// What `count` of READDIR and `maxcount` of READDIRPLUS bound.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ListingBound {
    /// The whole of READDIR3resok or READDIRPLUS3resok (RFC 1813, sections 3.3.16 and 3.3.17).
    #[default]
    Reply,
    /// The list of entries alone, as Linux's server has it: `dir_attributes` and `cookieverf`
    /// come on top of it, 96 bytes at most.
    Entries,
    /// Nothing: a page holds as many entries as any reply could.
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
