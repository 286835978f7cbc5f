//! What a host has of links, addresses, routes and rules.

use super::group::MacVlanMode;
use super::network::Network;
use super::{LINK_GROUP, LOCAL_TABLE, PROTOCOL, RULE_PRIORITY, TABLE_FIRST};
use std::net::IpAddr;

/// What a host has, as its kernel lists it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AddressListing {
    /// Network interfaces.
    pub links: Vec<ListedLink>,
    /// Their addresses.
    pub addresses: Vec<ListedAddress>,
    /// Routes of all tables.
    pub routes: Vec<ListedRoute>,
    /// Rules that choose a table.
    pub rules: Vec<ListedRule>,
    /// Whether this kernel keeps what protocol an address is of (since Linux 5.18).
    pub keeps_protocols: bool,
    /// What all links do with ARP at least, as `arp_ignore` of a link.
    pub arp_ignore_all: u32,
    /// How many neighbours the kernel remembers at most, of IPv4, of all links together.
    pub neighbours_max: Option<u32>,
}

/// A network interface.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListedLink {
    /// Its number.
    pub index: u32,
    /// Its name.
    pub name: String,
    /// Whether it was set up.
    pub is_up: bool,
    /// Whether it is the loopback interface.
    pub is_loopback: bool,
    /// Its group.
    pub group: u32,
    /// What it is, if it is a MAC-VLAN.
    pub mac_vlan: Option<MacVlanOf>,
    /// Whether it answers ARP for addresses of other links (0), for its own alone (1), or less (2
    /// to 8): the greater of its own setting and that for all.
    pub arp_ignore: u32,
    /// Whether it takes packets from where it would not send to (0), not (1), or from where any
    /// link would (2): the greater of its own setting and that for all.
    pub rp_filter: u32,
}

/// A MAC-VLAN's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MacVlanOf {
    /// The number of the link that it is on; it may be in another network namespace.
    pub parent: u32,
    /// How it is joined to others; `None` for one that is not ours to make.
    pub mode: Option<MacVlanMode>,
}

/// An address of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListedAddress {
    /// The number of its link.
    pub link: u32,
    /// The address.
    pub address: IpAddr,
    /// How many bits the addresses of its network begin with.
    pub prefix_len: u8,
    /// Who made it, where that is said.
    pub protocol: Option<u8>,
}

/// A route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListedRoute {
    /// The number of its table.
    pub table: u32,
    /// Where it leads to.
    pub destination: Network,
    /// The number of the link that it goes by.
    pub link: Option<u32>,
    /// The next host on the way.
    pub gateway: Option<IpAddr>,
    /// Who made it.
    pub protocol: u8,
    /// Whether what it leads to is this host.
    pub is_local: bool,
}

/// A rule that chooses a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListedRule {
    /// For packets from here; `None` for all.
    pub source: Option<Network>,
    /// The table.
    pub table: u32,
    /// Where it stands among the others.
    pub priority: u32,
    /// Who made it.
    pub protocol: u8,
}

impl ListedLink {
    /// Whether we made it.
    pub fn is_ours(&self) -> bool {
        self.group == LINK_GROUP && self.mac_vlan.is_some()
    }
}

impl ListedRoute {
    /// Whether we made it.
    pub const fn is_ours(&self) -> bool {
        self.protocol == PROTOCOL
    }

    /// Whether it is one of ours that says that a network is this host.
    pub const fn is_our_any_ip(&self) -> bool {
        self.is_ours() && self.is_local && self.table == LOCAL_TABLE
    }
}

impl ListedAddress {
    /// Whether it has our mark. Those of our MAC-VLANs are ours with their links.
    pub fn is_ours(&self) -> bool {
        self.protocol == Some(PROTOCOL)
    }

    /// Whether the kernel gave it to its link by itself, as it does with IPv6.
    pub fn is_link_local(&self) -> bool {
        match self.address {
            IpAddr::V4(_) => false,
            IpAddr::V6(address) => address.is_unicast_link_local(),
        }
    }
}

impl ListedRule {
    /// Whether we made it.
    pub const fn is_ours(&self) -> bool {
        self.protocol == PROTOCOL && self.priority == RULE_PRIORITY && self.table >= TABLE_FIRST
    }
}

impl AddressListing {
    /// The link of this name.
    pub fn link(&self, name: &str) -> Option<&ListedLink> {
        self.links.iter().find(|link| link.name == name)
    }

    /// The link of this number.
    pub fn link_of_index(&self, index: u32) -> Option<&ListedLink> {
        self.links.iter().find(|link| link.index == index)
    }

    /// The name of the link of this number, or the number where there is no such link here.
    pub fn name_of(&self, index: u32) -> String {
        let link = self.link_of_index(index);
        link.map_or_else(|| format!("if{index}"), |link| link.name.clone())
    }

    /// The networks that are joined to links which are not ours: whoever is in one is reached without
    /// a gateway.
    pub fn subnets(&self) -> impl Iterator<Item = (Network, &ListedLink)> {
        self.addresses.iter().filter_map(|listed| {
            let link = self.link_of_index(listed.link)?;
            let subnet = Network::of(listed.address, listed.prefix_len)?;
            let is_joined = !link.is_ours() && !link.is_loopback && !subnet.is_single();
            is_joined.then_some((subnet, link))
        })
    }
}
