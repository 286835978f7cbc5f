//! Network path to an address, from the facts that this host has. No packet is sent.

mod namespaces;

use crate::connect::{any_towards, from, is_this_host};
use crate::system::line_of;
use filestone_measure::doctor::facts::{NetworkPathFacts, SameHostEvidence};
use nix::sys::socket::sockopt::IpMtu;
use nix::sys::socket::{SockaddrStorage, getsockopt};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::path::Path;

const INTERFACES: &str = "/sys/class/net";
/// RTF_GATEWAY of a route.
const THROUGH_GATEWAY: u16 = 2;

/// Returns the facts of the network path to `address`, from `source` if given.
pub fn to(address: SocketAddr, source: Option<IpAddr>) -> NetworkPathFacts {
    let local = source.map_or_else(|| any_towards(address), |source| from(source, address));
    // Connecting a UDP socket sends no packet, but chooses the route.
    let socket = UdpSocket::bind(local);
    let socket = socket.and_then(|socket| socket.connect(address).map(|()| socket));
    let socket = socket.ok();
    let here = socket.as_ref().and_then(|socket| socket.local_addr().ok());
    let here = here.map(|here| here.ip());
    let interface = here.and_then(interface_of);
    let of_interface = |name: &str| of_interface(interface.as_deref()?, name);
    let path_mtu = socket.and_then(|socket| getsockopt(&socket, IpMtu).ok());
    let gateway = gateway(address.ip());
    let namespace_link = interface
        .as_deref()
        .filter(|_| gateway.is_none())
        .filter(|name| namespaces::leads_to_one(name));
    let is_in_namespace = namespace_link.is_some() && namespaces::have(address.ip());
    NetworkPathFacts {
        address: address.ip().to_string(),
        is_this_host: is_this_host(address.ip(), here),
        place: match (namespace_link, is_in_namespace) {
            (Some(_), true) => SameHostEvidence::NamespaceOfThisHost,
            // Routers to an IPv6 address are not read.
            (Some(_), false) if address.is_ipv4() => SameHostEvidence::PerhapsThisHost,
            (Some(_), false) | (None, _) => SameHostEvidence::NotKnownHere,
        },
        mtu_bytes: of_interface("mtu").and_then(|text| text.parse().ok()),
        path_mtu_bytes: path_mtu.and_then(|mtu| u64::try_from(mtu).ok()),
        gateway: gateway.map(|gateway| gateway.to_string()),
        // Interfaces without a speed return -1, or nothing.
        link_mbit_per_s: of_interface("speed").and_then(|text| text.parse().ok()),
        is_wireless: interface.as_ref().is_some_and(|name| {
            let folder = Path::new(INTERFACES).join(name);
            folder.join("wireless").exists() || folder.join("phy80211").exists()
        }),
        interface,
    }
}

/// Reads a value of an interface from `/sys`; `None` if `/sys` shows another network namespace.
fn of_interface(interface: &str, name: &str) -> Option<String> {
    let of = |name: &str| line_of(&format!("{INTERFACES}/{interface}/{name}"));
    let index = nix::net::if_::if_nametoindex(interface).ok()?;
    (of("ifindex")?.parse() == Ok(index)).then(|| of(name))?
}

/// Returns the name of the interface that has this address.
fn interface_of(here: IpAddr) -> Option<String> {
    let ip = |address: SockaddrStorage| match (address.as_sockaddr_in(), address.as_sockaddr_in6())
    {
        (Some(address), _) => Some(IpAddr::V4(address.ip())),
        (_, Some(address)) => Some(IpAddr::V6(address.ip())),
        _ => None,
    };
    let mut interfaces = nix::ifaddrs::getifaddrs().ok()?;
    interfaces
        .find(|interface| interface.address.and_then(ip) == Some(here))
        .map(|interface| interface.interface_name)
}

/// Returns the first router on the path to an IPv4 address; the kernel's IPv6 table is not read.
fn gateway(there: IpAddr) -> Option<Ipv4Addr> {
    let IpAddr::V4(there) = there else {
        return None;
    };
    if there.is_loopback() {
        return None;
    }
    let routes = procfs::net::route().ok()?;
    let is_on_it = |route: &&procfs::net::RouteEntry| {
        u32::from(there) & u32::from(route.mask) == u32::from(route.destination)
    };
    // The longest prefix, and of these the lowest metric.
    let route = routes
        .iter()
        .filter(is_on_it)
        .max_by_key(|route| (u32::from(route.mask), std::cmp::Reverse(route.metrics)))?;
    (route.flags & THROUGH_GATEWAY != 0).then_some(route.gateway)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_this_host_and_has_no_router() {
        let way = to(SocketAddr::from(([127, 0, 0, 1], 2049)), None);
        assert!(way.is_this_host, "{way:?}");
        assert_eq!(way.address, "127.0.0.1");
        assert_eq!(way.gateway, None);
        assert!(!way.is_wireless);
    }
}
