//! Listing of a host's links, addresses, routes and rules.

use super::group::MacVlanMode;
use super::network::Network;
use super::{LINK_GROUP, LOCAL_TABLE, PROTOCOL, RULE_PRIORITY, TABLE_FIRST};
use std::net::IpAddr;

/// Network configuration of a host, as listed by its kernel.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AddressListing {
    /// Network interfaces.
    pub links: Vec<ListedLink>,
    /// Addresses of the interfaces.
    pub addresses: Vec<ListedAddress>,
    /// Routes of all tables.
    pub routes: Vec<ListedRoute>,
    /// Rules that choose a table.
    pub rules: Vec<ListedRule>,
    /// Whether this kernel stores the protocol of an address (since Linux 5.18).
    pub keeps_protocols: bool,
    /// Value of net.ipv4.conf.all.arp_ignore, a minimum for all links.
    pub arp_ignore_all: u32,
    /// Maximum number of IPv4 neighbour entries of the kernel, over all links.
    pub neighbours_max: Option<u32>,
}

/// A network interface.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListedLink {
    /// Interface index.
    pub index: u32,
    /// Interface name.
    pub name: String,
    /// Whether the interface is up.
    pub is_up: bool,
    /// Whether the interface is the loopback interface.
    pub is_loopback: bool,
    /// Interface group.
    pub group: u32,
    /// MAC-VLAN properties, if the interface is a MAC-VLAN.
    pub mac_vlan: Option<MacVlanOf>,
    /// Effective `arp_ignore`: the greater of the link's value and that for all. 0 answers ARP for
    /// addresses of other links, 1 for those of the link only, 2 to 8 for fewer.
    pub arp_ignore: u32,
    /// Effective `rp_filter`: the greater of the link's value and that for all. 0 accepts any
    /// source, 1 only sources that the host would reach by this link, 2 sources that it would reach
    /// by any link.
    pub rp_filter: u32,
}

/// Properties of a MAC-VLAN.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MacVlanOf {
    /// Index of the parent link, which may be in another network namespace.
    pub parent: u32,
    /// Mode; `None` for a mode that filestone does not create.
    pub mode: Option<MacVlanMode>,
}

/// An address of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListedAddress {
    /// Index of its link.
    pub link: u32,
    /// The address.
    pub address: IpAddr,
    /// Prefix length of its network in bits.
    pub prefix_len: u8,
    /// Protocol number of its creator, if the kernel reports one.
    pub protocol: Option<u8>,
}

/// A route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListedRoute {
    /// Routing table.
    pub table: u32,
    /// Destination network.
    pub destination: Network,
    /// Index of the outgoing link.
    pub link: Option<u32>,
    /// Gateway.
    pub gateway: Option<IpAddr>,
    /// Protocol number of its creator.
    pub protocol: u8,
    /// Whether the route is local: its destination is this host.
    pub is_local: bool,
}

/// A rule that selects a routing table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListedRule {
    /// Source of the packets that the rule applies to; `None` for all.
    pub source: Option<Network>,
    /// Routing table.
    pub table: u32,
    /// Priority among the rules.
    pub priority: u32,
    /// Protocol number of its creator.
    pub protocol: u8,
}

impl ListedLink {
    /// Returns whether filestone created the link.
    pub fn is_ours(&self) -> bool {
        self.group == LINK_GROUP && self.mac_vlan.is_some()
    }
}

impl ListedRoute {
    /// Returns whether filestone created the route.
    pub const fn is_ours(&self) -> bool {
        self.protocol == PROTOCOL
    }

    /// Returns whether the route is an AnyIP route that filestone created.
    pub const fn is_our_any_ip(&self) -> bool {
        self.is_ours() && self.is_local && self.table == LOCAL_TABLE
    }
}

impl ListedAddress {
    /// Returns whether the address has the protocol number of filestone. Addresses of filestone's
    /// MAC-VLANs belong to their links instead.
    pub fn is_ours(&self) -> bool {
        self.protocol == Some(PROTOCOL)
    }

    /// Returns whether the address is an IPv6 link-local one, which the kernel assigns by itself.
    pub fn is_link_local(&self) -> bool {
        match self.address {
            IpAddr::V4(_) => false,
            IpAddr::V6(address) => address.is_unicast_link_local(),
        }
    }
}

impl ListedRule {
    /// Returns whether filestone created the rule.
    pub const fn is_ours(&self) -> bool {
        self.protocol == PROTOCOL && self.priority == RULE_PRIORITY && self.table >= TABLE_FIRST
    }
}

impl AddressListing {
    /// Returns the link with this name.
    pub fn link(&self, name: &str) -> Option<&ListedLink> {
        self.links.iter().find(|link| link.name == name)
    }

    /// Returns the link with this index.
    pub fn link_of_index(&self, index: u32) -> Option<&ListedLink> {
        self.links.iter().find(|link| link.index == index)
    }

    /// Returns the name of the link with this index, or the index if there is no such link here.
    pub fn name_of(&self, index: u32) -> String {
        let link = self.link_of_index(index);
        link.map_or_else(|| format!("if{index}"), |link| link.name.clone())
    }

    /// Returns the networks of links that filestone did not create. Hosts in them are reached
    /// without a gateway.
    pub fn subnets(&self) -> impl Iterator<Item = (Network, &ListedLink)> {
        self.addresses.iter().filter_map(|listed| {
            let link = self.link_of_index(listed.link)?;
            let subnet = Network::of(listed.address, listed.prefix_len)?;
            let is_joined = !link.is_ours() && !link.is_loopback && !subnet.is_single();
            is_joined.then_some((subnet, link))
        })
    }
}
