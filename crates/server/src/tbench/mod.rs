//! The other end of bare TCP: what dbench's `tbench_srv` is to its `tbench`.
//!
//! A thread for each connection reads a request, throws its padding away unread,
//! and answers with as many bytes as the request wants. The protocol is strictly
//! one exchange at a time, so a thread that blocks in the system call is the
//! shortest way between them, and a connection that stalls holds up nothing else.
//! What the bytes mean is in [`filestone_wire::tbench`].
//!
//! Lengths come from the peer: what is over the protocol's bounds ends its
//! connection and is counted. No length decides how much memory is taken.

mod accept;
mod connection;
mod counters;
#[cfg(test)]
mod tests;

pub use counters::TbenchCounters;

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::thread::JoinHandle;

use crate::listen;
use crate::server::raise_descriptor_limit;
use accept::{Acceptor, Shared};

/// The port that tbench connects to.
pub const PORT: u16 = filestone_wire::tbench::PORT;

/// Sets options of a listening socket, which those it accepts inherit.
#[derive(Clone)]
pub struct Configure(Arc<dyn Fn(BorrowedFd<'_>) -> io::Result<()> + Send + Sync>);

impl Configure {
    /// Calls `configure` for every listening socket.
    pub fn new(
        configure: impl Fn(BorrowedFd<'_>) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(configure))
    }
}

impl fmt::Debug for Configure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Configure(..)")
    }
}

impl Default for Configure {
    /// As dbench: TCP_NODELAY. Replies are sent whole; the kernel must not wait for more.
    fn default() -> Self {
        Self::new(|socket| Ok(rustix::net::sockopt::set_tcp_nodelay(socket, true)?))
    }
}

/// Options of [`TbenchServer::start`].
#[derive(Debug, Clone)]
pub struct TbenchOptions {
    /// Where to listen; without any, at the loopback addresses of this host.
    pub addresses: Vec<IpAddr>,
    /// The port, the same for all addresses; 0 is any that is free.
    pub port: u16,
    /// What is set on the sockets.
    pub configure: Configure,
    /// Connections that are served at the same time; more are closed and counted.
    pub connections_max: usize,
}

impl Default for TbenchOptions {
    fn default() -> Self {
        Self {
            addresses: Vec::new(),
            port: 0,
            configure: Configure::default(),
            connections_max: 10_000,
        }
    }
}

/// A peer for tbench, until it is stopped or dropped.
#[derive(Debug)]
pub struct TbenchServer {
    addresses: Vec<SocketAddr>,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

impl TbenchServer {
    /// Starts a server. When this returns, it can be connected to.
    ///
    /// An address that cannot be bound is an error that names it.
    pub fn start(options: &TbenchOptions) -> io::Result<Self> {
        raise_descriptor_limit();
        let prepare = |socket: BorrowedFd<'_>| (options.configure.0)(socket);
        let addresses = listen::or_loopback(&options.addresses);
        let bound = listen::bind_streams(&addresses, options.port, &prepare)?;
        let (addresses, listeners): (Vec<SocketAddr>, Vec<OwnedFd>) = bound.into_iter().unzip();
        let shared = Arc::new(Shared::new(options.connections_max)?);
        let acceptor = Acceptor::new(listeners, Arc::clone(&shared));
        let acceptor = std::thread::Builder::new()
            .name("filestone-tbench".into())
            .spawn(move || acceptor.run())?;
        Ok(Self {
            addresses,
            shared,
            acceptor: Some(acceptor),
        })
    }

    /// Where it listens.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// The first of the addresses.
    pub fn address(&self) -> SocketAddr {
        self.addresses
            .first()
            .copied()
            .unwrap_or_else(|| SocketAddr::from(([127, 0, 0, 1], 0)))
    }

    /// What was counted up to now.
    pub fn counters(&self) -> TbenchCounters {
        self.shared.tally.counters()
    }

    /// Stops serving and waits for the threads to end. Connections are closed.
    pub fn stop(mut self) -> TbenchCounters {
        self.end();
        self.counters()
    }

    fn end(&mut self) {
        self.shared.stop();
        if let Some(acceptor) = self.acceptor.take() {
            // A thread that panicked has said so already.
            let _ = acceptor.join();
        }
    }
}

impl Drop for TbenchServer {
    fn drop(&mut self) {
        self.end();
    }
}
