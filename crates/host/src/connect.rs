//! Connects to servers over IPv4 and IPv6, blocking or in the background.

use crate::control::Cancellation;
use crate::error::SourceRefused;
use filestone_plan::plan::TransportKind;
use nix::sys::socket::sockopt::IpBindAddressNoPort;
use socket2::{Domain, Protocol, SockAddr, SockRef, Socket, Type};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

/// Source ports that servers accept as a sign of root (RFC 1813, section 4.4), tried from the
/// highest down, as the kernel's client does.
pub const RESERVED_PORTS: std::ops::RangeInclusive<u16> = 600..=1023;

/// Address of a server, and options for connecting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dial {
    /// Address of the server.
    pub address: SocketAddr,
    /// Stream or datagrams.
    pub transport: TransportKind,
    /// Whether the source port must be below 1024.
    pub reserved_port: bool,
    /// Source address; `None` leaves the choice to the host.
    pub source: Option<IpAddr>,
}

/// Longest single sleep while connecting.
const CONNECT_SLICE: Duration = crate::control::LOOK_EVERY;

/// A connection attempt in progress.
#[derive(Debug)]
pub struct PendingConnection(Socket);

impl Dial {
    /// Connects within `timeout`. The socket blocks; the engine passes a non-blocking flag with
    /// each call.
    pub fn connect(&self, timeout: Duration) -> io::Result<OwnedFd> {
        let socket = self.socket()?;
        match self.transport {
            TransportKind::Tcp => socket.connect_timeout(&self.address.into(), timeout)?,
            TransportKind::Udp => socket.connect(&self.address.into())?,
        }
        Ok(socket.into())
    }

    /// Connects within `timeout`; aborts on `cancellation` with an error of the kind `Interrupted`.
    pub fn connect_until(
        &self,
        timeout: Duration,
        cancellation: &Cancellation,
    ) -> io::Result<OwnedFd> {
        wait_for(self.start()?, timeout, cancellation)
    }

    /// Reconnects in place of `lost`, from the same port if it is available: some servers identify
    /// a retransmitted call by its source port, too.
    pub fn connect_again(
        &self,
        lost: OwnedFd,
        timeout: Duration,
        cancellation: &Cancellation,
    ) -> io::Result<OwnedFd> {
        let pending = self.restart(leave(lost))?;
        wait_for(pending, timeout, cancellation)
    }

    /// Starts to reconnect from `local`, the address of a lost connection; from another port if
    /// that one is not available.
    pub fn restart(&self, local: Option<SocketAddr>) -> io::Result<PendingConnection> {
        match local.map(|local| self.begin_from(&local.into())) {
            Some(Err(error)) if is_taken(&error) => self.start(),
            Some(begun) => begun,
            None => self.start(),
        }
    }

    /// Starts to connect without waiting.
    pub fn start(&self) -> io::Result<PendingConnection> {
        self.begin_on(self.socket()?)
    }

    fn begin_from(&self, local: &SockAddr) -> io::Result<PendingConnection> {
        let any = Self {
            reserved_port: false,
            source: None,
            ..*self
        };
        let socket = any.socket()?;
        socket.set_reuse_address(true)?;
        socket.bind(local)?;
        self.begin_on(socket)
    }

    fn begin_on(&self, socket: Socket) -> io::Result<PendingConnection> {
        socket.set_nonblocking(true)?;
        match socket.connect(&self.address.into()) {
            Err(error)
                if error.raw_os_error() != Some(rustix::io::Errno::INPROGRESS.raw_os_error()) =>
            {
                Err(error)
            }
            _ => Ok(PendingConnection(socket)),
        }
    }

    fn socket(&self) -> io::Result<Socket> {
        let (kind, protocol) = match self.transport {
            TransportKind::Tcp => (Type::STREAM, Protocol::TCP),
            TransportKind::Udp => (Type::DGRAM, Protocol::UDP),
        };
        let socket = Socket::new(Domain::for_address(self.address), kind, Some(protocol))?;
        match self.transport {
            // A call must not wait for the acknowledgement of the previous one.
            TransportKind::Tcp => socket.set_tcp_nodelay(true)?,
            // Room for a burst of large replies. The kernel clamps the size; a smaller buffer only
            // means more losses and retransmissions.
            TransportKind::Udp => {
                let _ = socket.set_recv_buffer_size(4 << 20);
                let _ = socket.set_send_buffer_size(4 << 20);
            }
        }
        match self.source {
            Some(source) => {
                let bound = self.bind_to(&socket, source);
                bound.map_err(|error| refused(source, error))?;
            }
            None if self.reserved_port => bind_reserved(&socket, any_towards(self.address))?,
            None => {}
        }
        Ok(socket)
    }

    fn bind_to(&self, socket: &Socket, source: IpAddr) -> io::Result<()> {
        let source = from(source, self.address);
        if self.reserved_port {
            return bind_reserved(socket, source);
        }
        // The kernel chooses the port for this server's address: connections to other servers may
        // use the same port. Without this option, all servers together would share one range of
        // ports for each address.
        nix::sys::socket::setsockopt(socket, IpBindAddressNoPort, &true)?;
        socket.bind(&SockAddr::from(source))
    }
}

/// Closes a lost connection without a closing handshake, which would block its port for a while.
/// Returns its local address.
pub fn leave(lost: OwnedFd) -> Option<SocketAddr> {
    let socket = SockRef::from(&lost);
    // If the option fails, the port is only free a little later.
    let _ = socket.set_linger(Some(Duration::ZERO));
    socket.local_addr().ok()?.as_socket()
}

fn wait_for(
    begun: PendingConnection,
    timeout: Duration,
    cancellation: &Cancellation,
) -> io::Result<OwnedFd> {
    let end = Instant::now() + timeout;
    let mut pending = begun;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        match pending.wait(left.min(CONNECT_SLICE))? {
            Ok(socket) => return Ok(socket),
            Err(_) if cancellation.is_cancelled() => return Err(io::ErrorKind::Interrupted.into()),
            Err(_) if left.is_zero() => return Err(io::ErrorKind::TimedOut.into()),
            Err(again) => pending = again,
        }
    }
}

/// Returns whether a port cannot be used again.
fn is_taken(error: &io::Error) -> bool {
    use io::ErrorKind::{AddrInUse, AddrNotAvailable, InvalidInput, PermissionDenied};
    let taken = [AddrInUse, AddrNotAvailable, InvalidInput, PermissionDenied];
    taken.contains(&error.kind())
}

/// Returns the same server at another port. A link-local address keeps its scope, since it is
/// unreachable without it.
pub fn at_port(server: SocketAddr, port: u16) -> SocketAddr {
    let mut address = server;
    address.set_port(port);
    address
}

/// Returns the address to bind a socket to that connects from `source` to `peer`: any port. A
/// link-local source gets the scope of the peer.
pub fn from(source: IpAddr, peer: SocketAddr) -> SocketAddr {
    match (source, peer) {
        (IpAddr::V6(ip), SocketAddr::V6(peer)) if ip.is_unicast_link_local() => {
            SocketAddrV6::new(ip, 0, 0, peer.scope_id()).into()
        }
        _ => SocketAddr::new(source, 0),
    }
}

/// Returns the unspecified address of the family of `peer`, with any port.
pub fn any_towards(peer: SocketAddr) -> SocketAddr {
    match peer {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    }
}

/// Adds the source address to an error.
fn refused(address: IpAddr, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), SourceRefused { address, error })
}

/// Returns whether this process may connect from ports that servers accept as a sign of root;
/// `None` if that cannot be determined.
pub fn may_use_reserved_ports() -> Option<bool> {
    let address = Ipv4Addr::LOCALHOST;
    let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP)).ok()?;
    match bind_reserved(&socket, (address, 0).into()) {
        Ok(()) => Some(true),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Some(false),
        Err(_) => None,
    }
}

/// Returns whether `there`, reached from `here`, is this host: then both ends have the same
/// address.
pub fn is_this_host(there: IpAddr, here: Option<IpAddr>) -> bool {
    there.is_loopback() || here == Some(there)
}

/// Returns whether the server that a socket is connected to is on this host.
pub fn is_local(server: SocketAddr, socket: Option<&OwnedFd>) -> bool {
    let here = socket.and_then(|socket| SockRef::from(socket).local_addr().ok()?.as_socket());
    is_this_host(server.ip(), here.map(|here| here.ip()))
}

fn bind_reserved(socket: &Socket, address: SocketAddr) -> io::Result<()> {
    let mut last = io::Error::from(io::ErrorKind::AddrInUse);
    for port in RESERVED_PORTS.rev() {
        match socket.bind(&SockAddr::from(at_port(address, port))) {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => last = error,
            Err(error) => return Err(error),
        }
    }
    Err(last)
}

impl AsFd for PendingConnection {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl PendingConnection {
    /// Returns the connection if it is established; an error if it failed; otherwise the attempt.
    pub fn check(self) -> io::Result<Result<OwnedFd, PendingConnection>> {
        self.wait(Duration::ZERO)
    }

    /// Returns the same as `check`, after waiting for up to `most`.
    fn wait(self, most: Duration) -> io::Result<Result<OwnedFd, PendingConnection>> {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let ready = {
            let mut fds = [PollFd::new(&self.0, PollFlags::OUT)];
            poll(
                &mut fds,
                Some(&Timespec {
                    tv_sec: i64::try_from(most.as_secs()).unwrap_or(i64::MAX),
                    tv_nsec: most.subsec_nanos().into(),
                }),
            )
        };
        let ready = match ready {
            Err(rustix::io::Errno::INTR) => 0,
            ready => ready?,
        };
        if ready == 0 {
            return Ok(Err(self));
        }
        if let Some(error) = self.0.take_error()? {
            return Err(error);
        }
        self.0.set_nonblocking(false)?;
        Ok(Ok(self.0.into()))
    }
}

/// Limits of open files of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenFileLimits {
    /// Current limit.
    pub soft: u64,
    /// Highest limit that the process may set.
    pub hard: u64,
}

/// Returns the limits of open files of this process.
pub fn open_file_limits() -> OpenFileLimits {
    use rustix::process::{Resource, getrlimit};
    let limit = getrlimit(Resource::Nofile);
    OpenFileLimits {
        soft: limit.current.unwrap_or(u64::MAX),
        hard: limit.maximum.unwrap_or(u64::MAX),
    }
}

/// Raises the limit of open files to `wanted` if the system allows it. Returns the resulting limit.
pub fn allow_open_files(wanted: u64) -> u64 {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let current = limit.current.unwrap_or(u64::MAX);
    let maximum = limit.maximum.unwrap_or(u64::MAX);
    if current >= wanted {
        return current;
    }
    if maximum < wanted {
        // Only a privileged process may raise the hard limit.
        let raised = Rlimit {
            current: Some(wanted),
            maximum: Some(wanted),
        };
        if setrlimit(Resource::Nofile, raised).is_ok() {
            return wanted;
        }
    }
    let soft = wanted.min(maximum);
    match setrlimit(
        Resource::Nofile,
        Rlimit {
            current: Some(soft),
            maximum: limit.maximum,
        },
    ) {
        Ok(()) => soft,
        Err(_) => current,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_local_server_keeps_its_scope() {
        let server: SocketAddr = "[fe80::1%3]:2049".parse().expect("an address");
        assert_eq!(at_port(server, 111).to_string(), "[fe80::1%3]:111");
        let shown = |source: &str| from(source.parse().expect("an address"), server).to_string();
        assert_eq!(shown("fe80::2"), "[fe80::2%3]:0");
        assert_eq!(shown("2001:db8::2"), "[2001:db8::2]:0");
    }
}
