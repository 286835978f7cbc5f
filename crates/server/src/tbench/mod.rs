//! The other end of bare TCP: the counterpart of dbench's `tbench_srv`.
//!
//! A thread per connection reads a request, discards its padding unread, and replies with the
//! requested number of bytes. The protocol has strictly one exchange at a time, so a thread that
//! blocks in the system call has the shortest latency, and a stalled connection delays no other.
//! [`filestone_wire::tbench`] describes the format.
//!
//! Lengths come from the peer: a length over the protocol's limits ends its connection and is
//! counted. No length determines the memory used.

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
use accept::{ConnectionAcceptor, TbenchSharedState};

/// Port that tbench connects to.
pub const PORT: u16 = filestone_wire::tbench::PORT;

/// Sets options of a listening socket, which accepted sockets inherit.
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
    /// As in dbench: TCP_NODELAY. Replies are sent whole; the kernel must not wait for more.
    fn default() -> Self {
        Self::new(|socket| Ok(rustix::net::sockopt::set_tcp_nodelay(socket, true)?))
    }
}

/// Options of [`TbenchServer::start`].
#[derive(Debug, Clone)]
pub struct TbenchOptions {
    /// Addresses to listen on; if empty, the loopback addresses of this host.
    pub addresses: Vec<IpAddr>,
    /// Port of all addresses; 0 selects a free one.
    pub port: u16,
    /// Options to set on the sockets.
    pub configure: Configure,
    /// Largest number of simultaneous connections; further ones are closed and counted.
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

/// A peer for tbench; it runs until it is stopped or dropped.
#[derive(Debug)]
pub struct TbenchServer {
    addresses: Vec<SocketAddr>,
    shared: Arc<TbenchSharedState>,
    acceptor: Option<JoinHandle<()>>,
}

impl TbenchServer {
    /// Starts a server. It accepts connections when this returns.
    ///
    /// An address that cannot be bound is an error that names the address.
    pub fn start(options: &TbenchOptions) -> io::Result<Self> {
        raise_descriptor_limit();
        let prepare = |socket: BorrowedFd<'_>| (options.configure.0)(socket);
        let addresses = listen::or_loopback(&options.addresses);
        let bound = listen::bind_streams(&addresses, options.port, &prepare)?;
        let (addresses, listeners): (Vec<SocketAddr>, Vec<OwnedFd>) = bound.into_iter().unzip();
        let shared = Arc::new(TbenchSharedState::new(options.connections_max)?);
        let acceptor = ConnectionAcceptor::new(listeners, Arc::clone(&shared));
        let acceptor = std::thread::Builder::new()
            .name("filestone-tbench".into())
            .spawn(move || acceptor.run())?;
        Ok(Self {
            addresses,
            shared,
            acceptor: Some(acceptor),
        })
    }

    /// Returns the addresses of the listeners.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Returns the first of the addresses.
    pub fn address(&self) -> SocketAddr {
        self.addresses
            .first()
            .copied()
            .unwrap_or_else(|| SocketAddr::from(([127, 0, 0, 1], 0)))
    }

    /// Returns the current counters.
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
            // A thread that panicked has printed the message.
            let _ = acceptor.join();
        }
    }
}

impl Drop for TbenchServer {
    fn drop(&mut self) {
        self.end();
    }
}
