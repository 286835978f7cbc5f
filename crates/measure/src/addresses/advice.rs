//! Advice for created addresses: routes that servers need, and settings of this host that prevent
//! use.

use super::group::{AddressGroup, AddressMethod};
use super::listing::{AddressListing, ListedLink};
use super::network::Network;
use crate::JsonSchema;
use filestone_workload::text::{counted, thousands};
use serde::Serialize;
use std::collections::BTreeSet;

/// A setting of this host that prevents created addresses from working.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(tag = "warning", rename_all = "snake_case")]
pub enum AddressWarning {
    /// A link that the addresses need is down.
    LinkDown {
        /// Name of the link.
        link: String,
    },
    /// A link does not answer ARP for the created addresses.
    NoArpAnswers {
        /// Name of the link.
        link: String,
        /// Value of net.ipv4.conf.LINK.arp_ignore, or of net.ipv4.conf.all.arp_ignore if that is
        /// greater.
        arp_ignore: u32,
        /// Greatest value that still works.
        most: u32,
    },
    /// No link answers ARP for an address outside the networks of the links.
    NoArpAnswersAtAll {
        /// Value of net.ipv4.conf.all.arp_ignore.
        arp_ignore: u32,
    },
    /// A link answers ARP in place of the MAC-VLANs, and drops the packets it then receives.
    WrongLinkAnswers {
        /// Name of the link.
        link: String,
    },
    /// The MAC-VLANs need more neighbour entries than the kernel keeps, since each has its own.
    ManyNeighbours {
        /// Number of MAC-VLANs.
        mac_vlans: u64,
        /// Value of net.ipv4.neigh.default.gc_thresh3.
        most: u32,
    },
}

impl AddressWarning {
    /// Returns a description of the warning and its remedy.
    pub fn sentence(&self) -> (String, String) {
        match self {
            AddressWarning::LinkDown { link } => (
                format!("{link} is down"),
                format!("`ip link set {link} up`"),
            ),
            AddressWarning::NoArpAnswers {
                link,
                arp_ignore,
                most,
            } => (
                format!(
                    "{link} does not answer ARP for these addresses (arp_ignore is {arp_ignore}): servers \
                     of its network do not find them"
                ),
                format!(
                    "`sysctl -w net.ipv4.conf.{link}.arp_ignore={most}`, and the same of net.ipv4.conf.all; or a \
                     route on the servers"
                ),
            ),
            AddressWarning::NoArpAnswersAtAll { arp_ignore } => (
                format!(
                    "this host does not answer ARP for addresses of MAC-VLANs (net.ipv4.conf.all.arp_ignore is \
                     {arp_ignore}): servers do not find them"
                ),
                "`sysctl -w net.ipv4.conf.all.arp_ignore=1`".into(),
            ),
            AddressWarning::WrongLinkAnswers { link } => (
                format!(
                    "{link} answers ARP in the place of its MAC-VLANs (arp_ignore is 0), and drops what is sent \
                     there then (rp_filter is 1)"
                ),
                format!("`sysctl -w net.ipv4.conf.{link}.arp_ignore=1`"),
            ),
            AddressWarning::ManyNeighbours { mac_vlans, most } => (
                format!(
                    "each of {} MAC-VLANs has an ARP entry of its own for each server, and the kernel keeps {} \
                     (net.ipv4.neigh.default.gc_thresh3)",
                    thousands(*mac_vlans),
                    thousands((*most).into())
                ),
                format!(
                    "`sysctl -w net.ipv4.neigh.default.gc_thresh3={}`, here and on a server of the same network",
                    mac_vlans.saturating_mul(4)
                ),
            ),
        }
    }
}

/// Returns the warnings for `groups` on a host with this `listing`.
pub fn warnings(groups: &[AddressGroup], listing: &AddressListing) -> Vec<AddressWarning> {
    let each = groups.iter().flat_map(|group| match &group.method {
        AddressMethod::Route => of_route(group, listing),
        AddressMethod::Aliases { link } => listing
            .link(link)
            .map_or_else(Vec::new, |link| of_aliases(group, link, listing)),
        AddressMethod::MacVlans { parent, .. } => listing
            .link(parent)
            .map_or_else(Vec::new, |parent| of_mac_vlans(group, parent, listing)),
    });
    let once: BTreeSet<AddressWarning> = each.collect();
    once.into_iter().collect()
}

/// Returns the links whose networks contain addresses of a group, or are contained in the group.
fn links_around<'l>(
    group: &'l AddressGroup,
    listing: &'l AddressListing,
) -> impl Iterator<Item = &'l ListedLink> {
    let subnets = listing.subnets();
    let around = subnets.filter(|(subnet, _)| {
        let mut networks = group.networks.iter();
        networks.any(|network| network.holds(subnet) || subnet.holds(network))
    });
    around.map(|(_, link)| link)
}

fn is_ipv4(group: &AddressGroup) -> bool {
    group
        .networks
        .iter()
        .any(|network| network.first().is_ipv4())
}

fn down(link: &ListedLink) -> Option<AddressWarning> {
    (!link.is_up).then(|| AddressWarning::LinkDown {
        link: link.name.clone(),
    })
}

/// A link answers ARP for addresses of other links only if arp_ignore is 0. With 2 or more, it
/// answers only senders in the subnet of one of its addresses.
fn arp(link: &ListedLink, most: u32) -> Option<AddressWarning> {
    (link.arp_ignore > most).then(|| AddressWarning::NoArpAnswers {
        link: link.name.clone(),
        arp_ignore: link.arp_ignore,
        most,
    })
}

fn of_route(group: &AddressGroup, listing: &AddressListing) -> Vec<AddressWarning> {
    let loopback = listing.links.iter().find(|link| link.is_loopback);
    let answers = links_around(group, listing).filter_map(|link| arp(link, 0));
    loopback.and_then(down).into_iter().chain(answers).collect()
}

fn of_aliases(
    group: &AddressGroup,
    link: &ListedLink,
    listing: &AddressListing,
) -> Vec<AddressWarning> {
    let is_around = links_around(group, listing).any(|around| around.index == link.index);
    let answers = arp(link, 1).filter(|_| is_around && is_ipv4(group));
    down(link).into_iter().chain(answers).collect()
}

fn of_mac_vlans(
    group: &AddressGroup,
    parent: &ListedLink,
    listing: &AddressListing,
) -> Vec<AddressWarning> {
    let mut warnings: Vec<AddressWarning> = down(parent).into_iter().collect();
    if !is_ipv4(group) {
        return warnings;
    }
    if listing.arp_ignore_all > 1 {
        let arp_ignore = listing.arp_ignore_all;
        warnings.push(AddressWarning::NoArpAnswersAtAll { arp_ignore });
    }
    if parent.arp_ignore == 0 && parent.rp_filter == 1 {
        warnings.push(AddressWarning::WrongLinkAnswers {
            link: parent.name.clone(),
        });
    }
    let mac_vlans = u64::try_from(group.addresses.count()).unwrap_or(u64::MAX);
    let most = listing
        .neighbours_max
        .filter(|most| mac_vlans > u64::from(*most));
    warnings.extend(most.map(|most| AddressWarning::ManyNeighbours { mac_vlans, most }));
    warnings
}

/// Returns what servers need so that their replies reach the addresses of `group`.
pub fn for_servers(group: &AddressGroup, listing: &AddressListing) -> String {
    let destinations: Vec<String> = group
        .destinations()
        .iter()
        .map(Network::to_string)
        .collect();
    let destinations = destinations.join(", ");
    let around: BTreeSet<&str> = links_around(group, listing)
        .map(|link| link.name.as_str())
        .collect();
    match &group.method {
        AddressMethod::MacVlans { parent, .. } if around.contains(parent.as_str()) => {
            format!("servers on the network of {parent} find these addresses as they are")
        }
        AddressMethod::MacVlans { parent, .. } => format!(
            "servers on the network of {parent} need a route to {destinations} by their interface there, as \
             {parent} has no address of that network"
        ),
        AddressMethod::Route | AddressMethod::Aliases { .. } => {
            let by_route = format!(
                "servers need a route to {destinations} by way of this host: `{}`",
                routes(group, listing)
            );
            if around.is_empty() {
                return by_route;
            }
            let links: Vec<&str> = around.into_iter().collect();
            format!(
                "servers on the network of {} find these addresses by ARP, others by their route to it",
                links.join(", ")
            )
        }
    }
}

/// Returns the commands to run on the servers.
fn routes(group: &AddressGroup, listing: &AddressListing) -> String {
    let via = |network: &Network| {
        let own: Vec<String> = own_addresses(network, listing);
        match own.as_slice() {
            [one] => one.clone(),
            [] => "ADDRESS-OF-THIS-HOST".into(),
            several => format!("({})", several.join(" or ")),
        }
    };
    let each = group.destinations();
    let each = each.iter().map(|network| {
        let ip = if network.first().is_ipv4() {
            "ip"
        } else {
            "ip -6"
        };
        format!("{ip} route add {network} via {}", via(network))
    });
    each.collect::<Vec<_>>().join("; ")
}

/// Returns the addresses under which other hosts reach this one.
fn own_addresses(network: &Network, listing: &AddressListing) -> Vec<String> {
    let subnets = listing.addresses.iter().filter(|listed| {
        let link = listing.link_of_index(listed.link);
        let is_foreign = link.is_some_and(|link| !link.is_ours() && !link.is_loopback);
        is_foreign
            && !listed.is_ours()
            && !listed.is_link_local()
            && listed.address.is_ipv4() == network.first().is_ipv4()
    });
    subnets.map(|listed| listed.address.to_string()).collect()
}

/// Summarizes a group: `500 addresses, 10.9.0.1-10.9.1.244, as MAC-VLANs of eth0`.
pub fn summary(group: &AddressGroup) -> String {
    let count = u64::try_from(group.addresses.count()).unwrap_or(u64::MAX);
    let how = match &group.method {
        AddressMethod::Route => {
            let networks: Vec<String> = group.networks.iter().map(Network::to_string).collect();
            return format!(
                "{}: all of {} is this host",
                counted(networks.len() as u64, "local route"),
                networks.join(", ")
            );
        }
        AddressMethod::Aliases { link } => format!("aliases of {link}"),
        AddressMethod::MacVlans { parent, mode, .. } => format!("MAC-VLANs ({mode}) of {parent}"),
    };
    let noun = if count == 1 { "address" } else { "addresses" };
    format!("{} {noun} as {how}: {}", thousands(count), group.addresses)
}
