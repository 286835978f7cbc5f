//! Listening sockets of a server: one port for all addresses, by TCP and UDP.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use socket2::{Domain, Protocol, Socket, Type};

/// Number of ports that are tried if any port is acceptable and another program uses one of its
/// four sockets.
const ATTEMPTS: usize = 64;

/// Length of the accept queue; the kernel limits it to its own maximum.
const BACKLOG: i32 = 4096;

/// Receive buffer for datagrams, large enough for a burst of WRITEs.
const DATAGRAM_BUFFER: usize = 4 << 20;

/// Bound sockets, one pair per address.
#[derive(Debug, Default)]
pub struct BoundSockets {
    pub addresses: Vec<SocketAddr>,
    pub listeners: Vec<OwnedFd>,
    pub datagrams: Vec<OwnedFd>,
}

/// Error of binding a listening address.
#[derive(Debug, thiserror::Error)]
#[error("{transport} {address}: {source}")]
struct BindError {
    transport: &'static str,
    address: SocketAddr,
    source: io::Error,
}

impl BindError {
    fn at(transport: &'static str, address: SocketAddr) -> impl FnOnce(io::Error) -> Self {
        move |source| Self {
            transport,
            address,
            source,
        }
    }
}

impl From<BindError> for io::Error {
    fn from(error: BindError) -> Self {
        Self::new(error.source.kind(), error)
    }
}

/// The loopback addresses of IPv4 and IPv6.
const LOOPBACK: [IpAddr; 2] = [
    IpAddr::V4(Ipv4Addr::LOCALHOST),
    IpAddr::V6(Ipv6Addr::LOCALHOST),
];

/// Returns the addresses to listen on: the given ones, or else the loopback addresses of this host.
/// A host without IPv6 has only one of these, whether its kernel lacks IPv6 or it is disabled.
pub fn or_loopback(given: &[IpAddr]) -> Vec<IpAddr> {
    match given {
        [] => existing(&LOOPBACK, |ip| UdpSocket::bind((ip, 0)).map(drop)),
        given => given.to_vec(),
    }
}

/// Returns the candidates that this host has; all of them if it has none, so that binding reports
/// the reason.
fn existing(candidates: &[IpAddr], bind: impl Fn(IpAddr) -> io::Result<()>) -> Vec<IpAddr> {
    let exists = |ip: &IpAddr| bind(*ip).err().is_none_or(|error| !is_unknown(&error));
    let existing: Vec<IpAddr> = candidates.iter().copied().filter(exists).collect();
    if existing.is_empty() {
        return candidates.to_vec();
    }
    existing
}

/// Returns whether this host lacks an address, or the whole address family.
fn is_unknown(error: &io::Error) -> bool {
    let family = rustix::io::Errno::AFNOSUPPORT.raw_os_error();
    error.kind() == io::ErrorKind::AddrNotAvailable || error.raw_os_error() == Some(family)
}

/// Binds TCP sockets only, to `port`, or to any port that is free on all addresses if that is 0.
/// `prepare` is called for each before it listens.
pub fn bind_streams(
    addresses: &[IpAddr],
    port: u16,
    prepare: &dyn Fn(BorrowedFd<'_>) -> io::Result<()>,
) -> io::Result<Vec<(SocketAddr, OwnedFd)>> {
    at_one_port(addresses, port, || {
        let mut port = port;
        let mut bound = Vec::new();
        for ip in addresses {
            let address = SocketAddr::new(*ip, port);
            let (listener, address) =
                bind_stream(address, prepare).map_err(BindError::at("TCP", address))?;
            port = address.port();
            bound.push((address, listener.into()));
        }
        Ok(bound)
    })
}

/// Binds all sockets to `port`, or to any port that is free on all addresses if that is 0.
pub fn bind(addresses: &[IpAddr], port: u16) -> io::Result<BoundSockets> {
    at_one_port(addresses, port, || bind_all(addresses, port))
}

/// Retries while any port is acceptable and the chosen one is not free on all addresses.
fn at_one_port<T>(
    addresses: &[IpAddr],
    port: u16,
    bind_all: impl Fn() -> Result<T, BindError>,
) -> io::Result<T> {
    if addresses.is_empty() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "no address to listen on",
        ));
    }
    let mut attempt = 1;
    loop {
        match bind_all() {
            Err(error)
                if port == 0
                    && attempt < ATTEMPTS
                    && error.source.kind() == io::ErrorKind::AddrInUse =>
            {
                attempt += 1;
            }
            result => return Ok(result?),
        }
    }
}

fn bind_all(addresses: &[IpAddr], port: u16) -> Result<BoundSockets, BindError> {
    let mut port = port;
    let mut sockets = BoundSockets {
        addresses: Vec::new(),
        listeners: Vec::new(),
        datagrams: Vec::new(),
    };
    for ip in addresses {
        let address = SocketAddr::new(*ip, port);
        let (listener, bound) =
            bind_stream(address, &|_| Ok(())).map_err(BindError::at("TCP", address))?;
        port = bound.port();
        let address = SocketAddr::new(*ip, port);
        let datagram = bind_datagram(address).map_err(BindError::at("UDP", address))?;
        sockets.addresses.push(bound);
        sockets.listeners.push(listener.into());
        sockets.datagrams.push(datagram.into());
    }
    Ok(sockets)
}

fn bind_stream(
    address: SocketAddr,
    prepare: &dyn Fn(BorrowedFd<'_>) -> io::Result<()>,
) -> io::Result<(Socket, SocketAddr)> {
    let socket = open(address, Type::STREAM, Protocol::TCP)?;
    // Otherwise a killed server could not be restarted for a minute.
    socket.set_reuse_address(true)?;
    prepare(socket.as_fd())?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    let bound = socket.local_addr()?.as_socket();
    Ok((socket, bound.unwrap_or(address)))
}

fn bind_datagram(address: SocketAddr) -> io::Result<Socket> {
    let socket = open(address, Type::DGRAM, Protocol::UDP)?;
    // The kernel may grant less; then more datagrams are lost, which UDP permits.
    let _ = socket.set_recv_buffer_size(DATAGRAM_BUFFER);
    let _ = socket.set_send_buffer_size(DATAGRAM_BUFFER);
    socket.bind(&address.into())?;
    Ok(socket)
}

/// Returns the local address from which a datagram to `peer` would be sent: the best estimate of
/// the address that a caller has reached on a socket bound to "any".
pub fn local_towards(peer: SocketAddr) -> Option<IpAddr> {
    let any = match peer {
        SocketAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        SocketAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
    };
    // Connecting a datagram socket chooses the route and sends nothing.
    let socket = UdpSocket::bind((any, 0)).ok()?;
    socket.connect(peer).ok()?;
    socket.local_addr().ok().map(|local| local.ip())
}

fn open(address: SocketAddr, kind: Type, protocol: Protocol) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), kind, Some(protocol))?;
    socket.set_nonblocking(true)?;
    if address.is_ipv6() {
        // The same port of the IPv4 address has a separate socket.
        socket.set_only_v6(true)?;
    }
    Ok(socket)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_without_ipv6_has_one_loopback_address() {
        let [v4, v6] = LOOPBACK;
        let without_v6 = |error: fn() -> io::Error| {
            move |ip: IpAddr| {
                if ip.is_ipv6() { Err(error()) } else { Ok(()) }
            }
        };
        // The family is disabled, and unknown to the kernel.
        let off = || io::Error::from(io::ErrorKind::AddrNotAvailable);
        let unknown = || io::Error::from(rustix::io::Errno::AFNOSUPPORT);
        assert_eq!(existing(&LOOPBACK, without_v6(off)), [v4]);
        assert_eq!(existing(&LOOPBACK, without_v6(unknown)), [v4]);
        assert_eq!(existing(&LOOPBACK, |_| Ok(())), [v4, v6]);
        // Any other error concerns the address, and binding it will report the error.
        let refused = || io::Error::from(io::ErrorKind::PermissionDenied);
        assert_eq!(existing(&LOOPBACK, without_v6(refused)), [v4, v6]);
        assert_eq!(existing(&LOOPBACK, |_| Err(off())), [v4, v6]);
    }

    #[test]
    fn given_addresses_are_taken_as_they_are() {
        let given = ["192.0.2.1".parse().expect("an address")];
        assert_eq!(or_loopback(&given), given);
    }
}
