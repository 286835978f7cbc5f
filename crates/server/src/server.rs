//! Starting and stopping: sockets, the tree, the threads.

use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, RwLock, Weak};
use std::thread::JoinHandle;
use std::time::Instant;

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{CpuSet, sched_setaffinity};

use crate::clock;
use crate::counters::{ServerCounters, ThreadCounters};
use crate::dispatch::{GrantSink, Service, ServiceOptions};
use crate::faults::FaultSource;
use crate::granting::GrantDispatcher;
use crate::listen::{self, BoundSockets};
use crate::options::Options;
use crate::queue::Queue;
use crate::responder::{DelayedPath, Responder};
use crate::smb2::SmbService;
use crate::tree::Tree;
use crate::worker::connection::ListenerProtocol;
use crate::worker::mailbox::Mailbox;
use crate::worker::{ServerWorker, WorkerSockets};

/// The built-in server.
#[derive(Debug)]
pub struct Server;

/// A running server; it runs until it is stopped or dropped.
#[derive(Debug)]
pub struct Running {
    addresses: Vec<SocketAddr>,
    smb_addresses: Vec<SocketAddr>,
    echo_addresses: Vec<SocketAddr>,
    mailboxes: Arc<[Mailbox]>,
    tallies: Vec<Arc<ThreadCounters>>,
    threads: Vec<JoinHandle<()>>,
}

impl Server {
    /// Starts a server. It accepts connections when this returns.
    ///
    /// An address that cannot be bound is an error that names the address.
    pub fn start(options: Options) -> io::Result<Running> {
        raise_descriptor_limit();
        let addresses = listen::or_loopback(&options.addresses);
        let sockets = if options.has_nfs {
            listen::bind(&addresses, options.port)?
        } else {
            BoundSockets::default()
        };
        let smb_listeners = match &options.smb {
            Some(smb) => listen::bind_streams(&addresses, smb.port, &|_| Ok(()))?,
            None => Vec::new(),
        };
        let echo = options
            .echo_port
            .map(|port| listen::bind(&addresses, port))
            .transpose()?;
        let start = Instant::now();
        let now = clock::now();
        let unique = unique_number(&options, &sockets.addresses, now);
        let tree = Arc::new(RwLock::new(new_tree(&options, unique, now)));
        let smb = options.smb.clone();
        let smb = smb.map(|smb| Arc::new(SmbService::new(Arc::clone(&tree), smb, now)));
        let service = nfs_service(&options, tree, unique, sockets.addresses.clone());
        let queue = options.queue.map(|queue| Queue::new(queue, options.seed));
        let queue = queue.map(|queue| Arc::new(Mutex::new(queue)));
        let thread_count = options.threads.max(1);
        let mailboxes: Arc<[Mailbox]> = (0..thread_count)
            .map(|_| Mailbox::new())
            .collect::<io::Result<_>>()?;
        let mut running = Running {
            addresses: sockets.addresses.clone(),
            smb_addresses: smb_listeners.iter().map(|(address, _)| *address).collect(),
            echo_addresses: echo
                .as_ref()
                .map_or_else(Vec::new, |echo| echo.addresses.clone()),
            mailboxes: Arc::clone(&mailboxes),
            tallies: Vec::new(),
            threads: Vec::new(),
        };
        let mut bound = vec![(sockets, ListenerProtocol::Rpc)];
        bound.extend(echo.map(|sockets| (sockets, ListenerProtocol::Echo)));
        for (index, sockets) in deal(bound, smb_listeners, thread_count)
            .into_iter()
            .enumerate()
        {
            let tally = Arc::new(ThreadCounters::default());
            running.tallies.push(Arc::clone(&tally));
            let faults = FaultSource::new(&options.faults, options.seed + index as u64);
            let delayed_path = DelayedPath::new(faults, queue.clone());
            let responder = Responder::new(
                Arc::clone(&service),
                smb.clone(),
                tally,
                delayed_path,
                start,
            );
            let patience = options.record_patience;
            let worker =
                ServerWorker::new(index, Arc::clone(&mailboxes), sockets, responder, patience)?;
            let processor = options.pin.get(index % options.pin.len().max(1)).copied();
            running.threads.push(spawn(index, worker, processor)?);
        }
        Ok(running)
    }
}

/// Makes the NFS service, which grants locks through a dispatcher that knows it.
fn nfs_service(
    options: &Options,
    tree: Arc<RwLock<Tree>>,
    unique: u64,
    addresses: Vec<SocketAddr>,
) -> Arc<Service> {
    Arc::new_cyclic(|service| {
        let granter = GrantDispatcher::new(Weak::clone(service), options.client_portmapper_port);
        let verifier = SplitMix64::seed_from_u64(!unique).next_u64().to_be_bytes();
        let grants: Box<dyn GrantSink> = Box::new(granter);
        Service::new(
            tree,
            verifier,
            addresses,
            ServiceOptions::new(options),
            grants,
        )
    })
}

impl Running {
    /// Returns the addresses for NFS, by TCP and UDP; empty if NFS is disabled.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Returns the addresses for SMB, by TCP; empty unless SMB is enabled.
    pub fn smb_addresses(&self) -> &[SocketAddr] {
        &self.smb_addresses
    }

    /// Returns the addresses of the Echo service, by TCP and UDP; empty unless it is enabled.
    pub fn echo_addresses(&self) -> &[SocketAddr] {
        &self.echo_addresses
    }

    /// Returns the first of the addresses.
    pub fn address(&self) -> SocketAddr {
        self.addresses
            .first()
            .copied()
            .unwrap_or_else(|| SocketAddr::from(([127, 0, 0, 1], 0)))
    }

    /// Returns the common port of all addresses.
    pub fn port(&self) -> u16 {
        self.address().port()
    }

    /// Returns the current counters.
    pub fn counters(&self) -> ServerCounters {
        let mut sum = ServerCounters::default();
        for tally in &self.tallies {
            tally.add_to(&mut sum);
        }
        sum
    }

    /// Stops serving and waits for the threads to end. Connections are closed.
    pub fn stop(mut self) -> ServerCounters {
        self.end();
        self.counters()
    }

    fn end(&mut self) {
        for mailbox in self.mailboxes.iter() {
            mailbox.stop();
        }
        for thread in self.threads.drain(..) {
            // A thread that panicked has printed the message; the others still have to be joined.
            let _ = thread.join();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}

/// Returns a number that differs between servers, even if they start in the same nanosecond.
fn unique_number(options: &Options, addresses: &[SocketAddr], now: u64) -> u64 {
    let port = addresses.first().map_or(0, SocketAddr::port);
    now ^ u64::from(std::process::id()) << 40 ^ u64::from(port) << 24 ^ options.seed
}

fn new_tree(options: &Options, unique: u64, now: u64) -> Tree {
    options.initial_tree.plant(
        SplitMix64::seed_from_u64(unique).next_u64(),
        options.memory_limit,
        options.discard,
        now,
    )
}

/// Assigns sockets to threads: the first thread accepts connections for all; datagram sockets are
/// assigned round robin.
fn deal(
    bound: Vec<(BoundSockets, ListenerProtocol)>,
    smb: Vec<(SocketAddr, OwnedFd)>,
    thread_count: usize,
) -> Vec<WorkerSockets> {
    let mut dealt: Vec<WorkerSockets> = Vec::new();
    dealt.resize_with(thread_count, WorkerSockets::default);
    for (sockets, listener_protocol) in bound {
        let datagrams = sockets.datagrams.into_iter().zip(sockets.addresses);
        for (index, (datagram, address)) in datagrams.enumerate() {
            if let Some(worker) = dealt.get_mut(index % thread_count) {
                worker.datagrams.push((datagram, listener_protocol));
                worker.datagram_addresses.push(address);
            }
        }
        if let Some(first) = dealt.first_mut() {
            let listeners = sockets.listeners.into_iter();
            first
                .listeners
                .extend(listeners.map(|listener| (listener, listener_protocol)));
        }
    }
    if let Some(first) = dealt.first_mut() {
        let smb = smb.into_iter();
        first
            .listeners
            .extend(smb.map(|(_, listener)| (listener, ListenerProtocol::Smb)));
    }
    dealt
}

fn spawn(
    index: usize,
    worker: ServerWorker,
    processor: Option<usize>,
) -> io::Result<JoinHandle<()>> {
    let (report, reported) = std::sync::mpsc::sync_channel(1);
    let thread = std::thread::Builder::new()
        .name(format!("filestone-srv-{index}"))
        .spawn(move || {
            let pinned = processor.map_or(Ok(()), pin);
            let is_ready = pinned.is_ok();
            // The starting thread waits for this and is still alive.
            let _ = report.send(pinned);
            if is_ready {
                worker.run();
            }
        })?;
    reported.recv().unwrap_or(Ok(()))?;
    Ok(thread)
}

fn pin(processor: usize) -> io::Result<()> {
    let message = format!("processor {processor}: this thread cannot be bound to it");
    if processor >= CpuSet::MAX_CPU {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    let mut processors = CpuSet::new();
    processors.set(processor);
    sched_setaffinity(None, &processors)
        .map_err(|errno| io::Error::new(io::Error::from(errno).kind(), message))
}

/// Number of descriptors that a privileged process requests: the kernel's default maximum.
const DESCRIPTORS: u64 = 1 << 20;

/// Raises the descriptor limit as much as possible: every connection is a descriptor. Only a
/// privileged process may raise the hard limit, others only the soft limit up to it. A limit that
/// stays too low leads to refused connections later.
pub fn raise_descriptor_limit() {
    let limit = getrlimit(Resource::Nofile);
    let hard = limit.maximum.map(|maximum| maximum.max(DESCRIPTORS));
    let raised = Rlimit {
        current: hard,
        maximum: hard,
    };
    if setrlimit(Resource::Nofile, raised).is_err() {
        let _ = setrlimit(
            Resource::Nofile,
            Rlimit {
                current: limit.maximum,
                ..limit
            },
        );
    }
}
