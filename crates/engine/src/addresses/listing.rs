//! Lists links, addresses, routes and rules of this host from the kernel.

use super::NetlinkError;
use super::netlink::Netlink;
use crate::host;
use filestone_measure::addresses::{
    AddressListing, ListedAddress, ListedLink, ListedRoute, ListedRule, MacVlanMode as Mode,
    MacVlanOf, Network,
};
use netlink_packet_route::address::{AddressAttribute, AddressMessage};
use netlink_packet_route::link::{
    InfoData, InfoKind, InfoMacVlan, LinkAttribute, LinkExtentMask, LinkFlags, LinkInfo,
    LinkMessage, MacVlanMode,
};
use netlink_packet_route::route::{RouteAddress, RouteAttribute, RouteMessage, RouteType};
use netlink_packet_route::rule::{RuleAttribute, RuleMessage};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Address families that filestone supports.
const FAMILIES: [AddressFamily; 2] = [AddressFamily::Inet, AddressFamily::Inet6];

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
    family: AddressFamily,
    listing: &mut AddressListing,
) -> Result<(), NetlinkError> {
    let mut addresses = AddressMessage::default();
    addresses.header.family = family;
    let addresses = RouteNetlinkMessage::GetAddress(addresses);
    for message in netlink.list("addresses", addresses)? {
        if let RouteNetlinkMessage::NewAddress(message) = message {
            listing.addresses.extend(address(&message));
        }
    }
    let mut routes = RouteMessage::default();
    routes.header.address_family = family;
    for message in netlink.list("routes", RouteNetlinkMessage::GetRoute(routes))? {
        if let RouteNetlinkMessage::NewRoute(message) = message {
            listing.routes.extend(route(&message));
        }
    }
    let mut rules = RuleMessage::default();
    rules.header.family = family;
    for message in netlink.list("rules", RouteNetlinkMessage::GetRule(rules))? {
        if let RouteNetlinkMessage::NewRule(message) = message {
            listing.rules.push(rule(&message));
        }
    }
    Ok(())
}

/// Returns the interfaces of this network namespace, as the kernel describes them.
pub(crate) fn interfaces(netlink: &mut Netlink) -> Result<Vec<LinkMessage>, NetlinkError> {
    let mut links = LinkMessage::default();
    // The counters would make the reply long.
    let mask = vec![LinkExtentMask::SkipStats];
    links.attributes.push(LinkAttribute::ExtMask(mask));
    let listed = netlink.list("interfaces", RouteNetlinkMessage::GetLink(links))?;
    let links = listed.into_iter().filter_map(|message| match message {
        RouteNetlinkMessage::NewLink(message) => Some(message),
        _ => None,
    });
    Ok(links.collect())
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

fn link(message: &LinkMessage) -> ListedLink {
    let flags = message.header.flags;
    let mut link = ListedLink {
        index: message.header.index,
        is_up: flags.contains(LinkFlags::Up),
        is_loopback: flags.contains(LinkFlags::Loopback),
        ..ListedLink::default()
    };
    let (mut parent, mut mac_vlan) = (0, None);
    for attribute in &message.attributes {
        match attribute {
            LinkAttribute::IfName(name) => link.name.clone_from(name),
            LinkAttribute::Group(group) => link.group = *group,
            LinkAttribute::Link(index) => parent = *index,
            LinkAttribute::LinkInfo(infos) => mac_vlan = mac_vlan_of(infos),
            _ => {}
        }
    }
    link.mac_vlan = mac_vlan.map(|mode| MacVlanOf { parent, mode });
    link
}

/// Returns the mode of a MAC-VLAN; `None` for another kind of link.
fn mac_vlan_of(infos: &[LinkInfo]) -> Option<Option<Mode>> {
    // A comparison by `==` would compile those of all kinds of links.
    let is_mac_vlan = infos
        .iter()
        .any(|info| matches!(info, LinkInfo::Kind(InfoKind::MacVlan)));
    let mode = infos.iter().find_map(|info| match info {
        LinkInfo::Data(InfoData::MacVlan(own)) => own.iter().find_map(|own| match own {
            InfoMacVlan::Mode(MacVlanMode::Bridge) => Some(Mode::Bridge),
            InfoMacVlan::Mode(MacVlanMode::Private) => Some(Mode::Private),
            InfoMacVlan::Mode(MacVlanMode::Passthrough) => Some(Mode::Passthru),
            _ => None,
        }),
        _ => None,
    });
    is_mac_vlan.then_some(mode)
}

fn address(message: &AddressMessage) -> Option<ListedAddress> {
    let (mut local, mut address, mut protocol) = (None, None, None);
    for attribute in &message.attributes {
        match attribute {
            // On a point-to-point link, the other attribute is the address of the peer.
            AddressAttribute::Local(own) => local = Some(*own),
            AddressAttribute::Address(own) => address = Some(*own),
            AddressAttribute::Protocol(number) => protocol = Some(u8::from(*number)),
            _ => {}
        }
    }
    Some(ListedAddress {
        link: message.header.index,
        address: local.or(address)?,
        prefix_len: message.header.prefix_len,
        protocol,
    })
}

fn ip_of(address: &RouteAddress) -> Option<IpAddr> {
    match address {
        RouteAddress::Inet(address) => Some((*address).into()),
        RouteAddress::Inet6(address) => Some((*address).into()),
        _ => None,
    }
}

fn route(message: &RouteMessage) -> Option<ListedRoute> {
    let header = &message.header;
    let any: IpAddr = match header.address_family {
        AddressFamily::Inet => Ipv4Addr::UNSPECIFIED.into(),
        AddressFamily::Inet6 => Ipv6Addr::UNSPECIFIED.into(),
        _ => return None,
    };
    let (mut table, mut to, mut link, mut gateway) = (u32::from(header.table), any, None, None);
    for attribute in &message.attributes {
        match attribute {
            RouteAttribute::Table(number) => table = *number,
            RouteAttribute::Destination(address) => to = ip_of(address)?,
            RouteAttribute::Oif(index) => link = Some(*index),
            RouteAttribute::Gateway(address) => gateway = ip_of(address),
            _ => {}
        }
    }
    Some(ListedRoute {
        table,
        destination: Network::of(to, header.destination_prefix_length)?,
        link,
        gateway,
        protocol: header.protocol.into(),
        is_local: header.kind == RouteType::Local,
    })
}

fn rule(message: &RuleMessage) -> ListedRule {
    let mut rule = ListedRule {
        source: None,
        table: message.header.table.into(),
        priority: 0,
        protocol: 0,
    };
    for attribute in &message.attributes {
        match attribute {
            RuleAttribute::Source(address) => {
                rule.source = Network::of(*address, message.header.src_len);
            }
            RuleAttribute::Table(number) => rule.table = *number,
            RuleAttribute::Priority(number) => rule.priority = *number,
            RuleAttribute::Protocol(protocol) => rule.protocol = (*protocol).into(),
            _ => {}
        }
    }
    rule
}

fn number(path: &str) -> Option<u32> {
    host::line_of(path)?.parse().ok()
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
