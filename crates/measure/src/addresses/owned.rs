//! Objects of a listing that filestone created.

use super::group::{AddressGroup, AddressMethod, MacVlanMode};
use super::listing::{AddressListing, ListedAddress, ListedLink};
use super::network::Network;
use crate::JsonSchema;
use filestone_plan::plan::SourceAddresses;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::net::IpAddr;

/// Addresses that filestone created on a host and that still exist.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OwnedAddresses {
    /// Networks with an AnyIP route.
    pub routes: Vec<String>,
    /// Additional addresses of links.
    pub aliases: Vec<OwnedAliases>,
    /// MAC-VLANs, each with its own MAC address.
    pub mac_vlans: Vec<OwnedMacVlan>,
    /// Number of rules whose MAC-VLAN no longer exists.
    pub stray_rules: u32,
}

/// Additional addresses of a link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OwnedAliases {
    /// Name of the link.
    pub link: String,
    /// Addresses.
    pub addresses: SourceAddresses,
    /// Number of addresses.
    pub count: u64,
}

/// A MAC-VLAN.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OwnedMacVlan {
    /// Name of the MAC-VLAN.
    pub name: String,
    /// Name of its parent link.
    pub parent: String,
    /// Mode: which other MAC-VLANs of the link it can reach.
    pub mode: Option<MacVlanMode>,
    /// Address; `None` if the MAC-VLAN is incomplete.
    pub address: Option<IpAddr>,
    /// Whether the MAC-VLAN can be used as a source: it is up and has an address, a route and a
    /// rule.
    pub is_whole: bool,
}

impl OwnedAddresses {
    /// Returns the objects of `listing` that filestone created.
    pub fn of(listing: &AddressListing) -> Self {
        let ours: HashMap<u32, &ListedLink> = (listing.links.iter())
            .filter(|link| link.is_ours())
            .map(|link| (link.index, link))
            .collect();
        let any_ip = listing.routes.iter().filter(|route| route.is_our_any_ip());
        let mac_vlans = mac_vlans(&ours, listing);
        let with_rule: HashSet<IpAddr> = mac_vlans.iter().filter_map(|own| own.address).collect();
        let rules = listing.rules.iter().filter(|rule| rule.is_ours());
        let mut sources = rules.filter_map(|rule| rule.source);
        let is_stray = |source: &Network| !with_rule.contains(&source.first());
        Self {
            routes: any_ip.map(|route| route.destination.to_string()).collect(),
            aliases: aliases(&ours, listing),
            stray_rules: sources.by_ref().filter(is_stray).count() as u32,
            mac_vlans,
        }
    }

    /// Returns whether there are no such objects.
    pub fn is_empty(&self) -> bool {
        self.routes.is_empty()
            && self.aliases.is_empty()
            && self.mac_vlans.is_empty()
            && self.stray_rules == 0
    }

    /// Returns the objects as groups that would request them.
    pub fn groups(&self) -> Vec<AddressGroup> {
        let mut groups: Vec<AddressGroup> = vec![];
        let parts: Vec<&str> = self.routes.iter().map(String::as_str).collect();
        groups.extend(AddressGroup::parse(&parts.join(","), AddressMethod::Route).ok());
        let of_links = self.aliases.iter().map(|own| {
            let link = own.link.clone();
            group(own.addresses.clone(), AddressMethod::Aliases { link })
        });
        groups.extend(of_links);
        let parents: BTreeMap<&str, Vec<&OwnedMacVlan>> =
            self.mac_vlans
                .iter()
                .fold(BTreeMap::new(), |mut parents, own| {
                    parents.entry(own.parent.as_str()).or_default().push(own);
                    parents
                });
        groups.extend(parents.into_iter().map(|(parent, owned)| {
            let addresses = SourceAddresses::of(owned.iter().filter_map(|own| own.address));
            let mode = owned.iter().find_map(|own| own.mode);
            let method = AddressMethod::MacVlans {
                parent: parent.into(),
                mode: mode.unwrap_or(MacVlanMode::Bridge),
                gateway: None,
            };
            group(addresses, method)
        }));
        groups
    }
}

fn group(addresses: SourceAddresses, method: AddressMethod) -> AddressGroup {
    AddressGroup {
        networks: addresses.iter().flat_map(Network::covering).collect(),
        addresses,
        method,
    }
}

fn aliases(ours: &HashMap<u32, &ListedLink>, listing: &AddressListing) -> Vec<OwnedAliases> {
    let is_alias = |listed: &&ListedAddress| listed.is_ours() && !ours.contains_key(&listed.link);
    let mut links: BTreeMap<u32, Vec<IpAddr>> = BTreeMap::new();
    for listed in listing.addresses.iter().filter(is_alias) {
        links.entry(listed.link).or_default().push(listed.address);
    }
    let of_link = |(link, addresses): (u32, Vec<IpAddr>)| OwnedAliases {
        link: listing.name_of(link),
        count: addresses.len() as u64,
        addresses: SourceAddresses::of(addresses),
    };
    links.into_iter().map(of_link).collect()
}

fn mac_vlans(ours: &HashMap<u32, &ListedLink>, listing: &AddressListing) -> Vec<OwnedMacVlan> {
    let mut lasting: HashMap<u32, IpAddr> = HashMap::new();
    for listed in listing
        .addresses
        .iter()
        .filter(|listed| !listed.is_link_local())
    {
        lasting.entry(listed.link).or_insert(listed.address);
    }
    let rules = listing.rules.iter().filter(|rule| rule.is_ours());
    let ruled: HashSet<IpAddr> = rules
        .filter_map(|rule| rule.source)
        .map(|source| source.first())
        .collect();
    let links = listing
        .links
        .iter()
        .filter(|link| ours.contains_key(&link.index));
    let routes = listing.routes.iter().filter(|route| route.is_ours());
    let routed: HashSet<u32> = routes.filter_map(|route| route.link).collect();
    let own = links.filter_map(|link| {
        let of = link.mac_vlan?;
        let address = lasting.get(&link.index).copied();
        let is_ruled = address.is_some_and(|address| ruled.contains(&address));
        Some(OwnedMacVlan {
            name: link.name.clone(),
            parent: listing.name_of(of.parent),
            mode: of.mode,
            address,
            is_whole: link.is_up && is_ruled && routed.contains(&link.index),
        })
    });
    own.collect()
}
