//! Lists links, addresses, routes and rules of this host from the kernel.

use super::NetlinkError;
use super::message::{self, Attributes, RouteMessage, kind};
use super::netlink::Netlink;
use crate::system;
use filestone_measure::addresses::{
    AddressListing, ListedAddress, ListedLink, ListedRoute, ListedRule, MacVlanMode as Mode,
    MacVlanOf, Network,
};
use linux_raw_sys::netlink::rtattr_type_t::{RTA_DST, RTA_GATEWAY, RTA_OIF, RTA_TABLE};
use linux_raw_sys::netlink::{
    FRA_PRIORITY, FRA_PROTOCOL, FRA_SRC, FRA_TABLE, IFA_ADDRESS, IFA_LOCAL, IFA_PROTO,
    IFLA_EXT_MASK, IFLA_GROUP, IFLA_IFNAME, IFLA_INFO_DATA, IFLA_INFO_KIND, IFLA_LINK,
    IFLA_LINKINFO, IFLA_MACVLAN_MODE, RTEXT_FILTER_SKIP_STATS, RTN_LOCAL, macvlan_mode,
};
use nix::libc::{self, AF_INET, AF_INET6, IFF_LOOPBACK, IFF_UP};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The kernel's name of MAC-VLANs.
pub(super) const MAC_VLAN: &str = "macvlan";
/// Address families that filestone supports.
const FAMILIES: [u8; 2] = [AF_INET as u8, AF_INET6 as u8];

/// Returns links, addresses, routes and rules of this host.
pub fn list() -> Result<AddressListing, NetlinkError> {
    let mut netlink = Netlink::open()?;
    let mut listing = AddressListing {
        links: links(&mut netlink)?,
        arp_ignore_all: setting("all", "arp_ignore"),
        neighbours_max: number("/proc/sys/net/ipv4/neigh/default/gc_thresh3"),
        ..AddressListing::default()
    };
    for family in FAMILIES {
        list_family(&mut netlink, family, &mut listing)?;
    }
    let release = rustix::system::uname();
    listing.keeps_protocols = keeps_protocols(&release.release().to_string_lossy());
    Ok(listing)
}

/// Returns whether a kernel of this release stores the protocol of an address. Example of a
/// release: `6.1.0-13-amd64`.
fn keeps_protocols(release: &str) -> bool {
    let numbers = release.split(|text: char| !text.is_ascii_digit());
    let mut numbers = numbers.map(|number| number.parse::<u32>().unwrap_or(0));
    let version = [numbers.next(), numbers.next()].map(Option::unwrap_or_default);
    version >= [5, 18]
}

fn list_family(
    netlink: &mut Netlink,
    family: u8,
    listing: &mut AddressListing,
) -> Result<(), NetlinkError> {
    let get = |kind| RouteMessage::new(kind).byte(message::FAMILY, family);
    let addresses = netlink.list("addresses", get(kind::RTM_GETADDR))?;
    listing
        .addresses
        .extend(addresses.iter().filter_map(address));
    let routes = netlink.list("routes", get(kind::RTM_GETROUTE))?;
    listing.routes.extend(routes.iter().filter_map(route));
    let rules = netlink.list("rules", get(kind::RTM_GETRULE))?;
    listing.rules.extend(rules.iter().map(rule));
    Ok(())
}

/// Returns the interfaces of this network namespace, as the kernel describes them.
pub(crate) fn interfaces(netlink: &mut Netlink) -> Result<Vec<RouteMessage>, NetlinkError> {
    // The counters would make the reply long.
    let mask = RTEXT_FILTER_SKIP_STATS.to_ne_bytes();
    let links = RouteMessage::new(kind::RTM_GETLINK).with(IFLA_EXT_MASK as u32, mask);
    netlink.list("interfaces", links)
}

fn links(netlink: &mut Netlink) -> Result<Vec<ListedLink>, NetlinkError> {
    let listed = interfaces(netlink)?;
    Ok(listed.iter().map(link).map(with_settings).collect())
}

/// Adds the settings that may get in the way. The settings of filestone's links are known.
fn with_settings(mut link: ListedLink) -> ListedLink {
    if !link.is_ours() {
        let strictest = |name| setting(&link.name, name).max(setting("all", name));
        (link.arp_ignore, link.rp_filter) = (strictest("arp_ignore"), strictest("rp_filter"));
    }
    link
}

fn link(message: &RouteMessage) -> ListedLink {
    let flags = message.number_at(message::LINK_FLAGS);
    let attributes = &message.attributes;
    let parent = attributes.number(IFLA_LINK as u32).unwrap_or(0);
    let infos = attributes.nested(IFLA_LINKINFO as u32);
    let mode = infos.as_ref().and_then(mac_vlan_mode);
    ListedLink {
        index: message.number_at(message::LINK_INDEX),
        name: attributes.text(IFLA_IFNAME as u32).unwrap_or_default(),
        is_up: flags & IFF_UP as u32 != 0,
        is_loopback: flags & IFF_LOOPBACK as u32 != 0,
        group: attributes.number(IFLA_GROUP as u32).unwrap_or(0),
        mac_vlan: mode.map(|mode| MacVlanOf { parent, mode }),
        ..ListedLink::default()
    }
}

/// Returns the mode of a MAC-VLAN, if it is known; `None` for another kind of link.
fn mac_vlan_mode(infos: &Attributes) -> Option<Option<Mode>> {
    let kind = infos.text(IFLA_INFO_KIND as u32)?;
    let data = infos.nested(IFLA_INFO_DATA as u32);
    let mode = data.and_then(|data| data.number(IFLA_MACVLAN_MODE as u32));
    let known = [Mode::Bridge, Mode::Private, Mode::Passthru].into_iter();
    let named = known
        .into_iter()
        .find(|own| Some(mode_number(*own)) == mode);
    (kind == MAC_VLAN).then_some(named)
}

/// Returns the number of a mode in messages.
pub(super) const fn mode_number(mode: Mode) -> u32 {
    match mode {
        Mode::Bridge => macvlan_mode::MACVLAN_MODE_BRIDGE as u32,
        Mode::Private => macvlan_mode::MACVLAN_MODE_PRIVATE as u32,
        Mode::Passthru => macvlan_mode::MACVLAN_MODE_PASSTHRU as u32,
    }
}

fn address(message: &RouteMessage) -> Option<ListedAddress> {
    // On a point-to-point link, the other attribute is the address of the peer.
    let local = message.attributes.address(IFA_LOCAL as u32);
    Some(ListedAddress {
        link: message.number_at(message::ADDRESS_LINK),
        address: local.or_else(|| message.attributes.address(IFA_ADDRESS as u32))?,
        prefix_len: message.byte_at(message::ADDRESS_PREFIX_LEN),
        protocol: message.attributes.byte(IFA_PROTO as u32),
    })
}

fn route(message: &RouteMessage) -> Option<ListedRoute> {
    let any: IpAddr = match libc::c_int::from(message.byte_at(message::FAMILY)) {
        AF_INET => Ipv4Addr::UNSPECIFIED.into(),
        AF_INET6 => Ipv6Addr::UNSPECIFIED.into(),
        _ => return None,
    };
    let attributes = &message.attributes;
    let to = attributes.address(RTA_DST as u32).unwrap_or(any);
    Some(ListedRoute {
        table: table_of(message, RTA_TABLE as u32),
        destination: Network::of(to, message.byte_at(message::DESTINATION_LEN))?,
        link: attributes.number(RTA_OIF as u32),
        gateway: attributes.address(RTA_GATEWAY as u32),
        protocol: message.byte_at(message::ROUTE_PROTOCOL),
        is_local: u32::from(message.byte_at(message::ROUTE_TYPE)) == RTN_LOCAL as u32,
    })
}

/// Returns the table of a route or rule. The header has no space for large numbers.
fn table_of(message: &RouteMessage, attribute: u32) -> u32 {
    let large = message.attributes.number(attribute);
    large.unwrap_or_else(|| message.byte_at(message::TABLE).into())
}

fn rule(message: &RouteMessage) -> ListedRule {
    let attributes = &message.attributes;
    let source = attributes.address(FRA_SRC as u32);
    ListedRule {
        source: source.and_then(|source| Network::of(source, message.byte_at(message::SOURCE_LEN))),
        table: table_of(message, FRA_TABLE as u32),
        priority: attributes.number(FRA_PRIORITY as u32).unwrap_or(0),
        protocol: attributes.byte(FRA_PROTOCOL as u32).unwrap_or(0),
    }
}

fn number(path: &str) -> Option<u32> {
    system::line_of(path)?.parse().ok()
}

/// Returns an IPv4 setting of a link, or of all; 0 if it cannot be read.
fn setting(link: &str, name: &str) -> u32 {
    number(&format!("/proc/sys/net/ipv4/conf/{link}/{name}")).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_keep_protocols_of_addresses_since_5_18() {
        for (release, keeps) in [
            ("5.17.15-amd64", false),
            ("5.18.0", true),
            ("6.1.0-13-amd64", true),
            ("4.19", false),
            ("", false),
        ] {
            assert_eq!(keeps_protocols(release), keeps, "{release}");
        }
    }
}
