//! Computes the changes that create addresses.

use super::change::{AddressChange, AddressItem};
use super::group::{AddressGroup, AddressMethod, MacVlanMode};
use super::listing::{AddressListing, ListedAddress, ListedLink};
use super::network::Network;
use super::obstacle::AddressObstacle;
use super::{ALIASES_MAX, LOCAL_TABLE, MAC_VLANS_MAX, TABLE_FIRST};
use std::collections::{HashMap, HashSet};
use std::net::IpAddr;

/// Name prefix of filestone's MAC-VLANs, followed by a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MacVlanNaming(String);

/// Maximum length of an interface name in bytes (IFNAMSIZ without the terminator).
const NAME_LEN_MAX: usize = 15;
/// Digits of the number of a MAC-VLAN.
const DIGITS: usize = 5;

impl Default for MacVlanNaming {
    fn default() -> Self {
        Self("fsm".into())
    }
}

impl MacVlanNaming {
    /// Parses a name prefix.
    pub fn parse(text: &str) -> Result<Self, String> {
        let is_word = text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        let begins = text.starts_with(|first: char| first.is_ascii_alphabetic());
        let ends_well = !text.ends_with(|last: char| last.is_ascii_digit());
        if is_word && begins && ends_well && text.len() <= NAME_LEN_MAX - DIGITS {
            Ok(Self(text.into()))
        } else {
            Err(format!(
                "expected a letter, then up to {} letters, digits or hyphens, of which the last is no digit",
                NAME_LEN_MAX - DIGITS - 1
            ))
        }
    }

    fn name(&self, number: u32) -> String {
        format!("{}{number}", self.0)
    }

    fn is_of(&self, name: &str) -> bool {
        let number = name.strip_prefix(&self.0);
        number
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
    }
}

/// Returns the number at the end of the name of a MAC-VLAN of filestone.
fn number_of(name: &str) -> Option<u32> {
    let text = name.trim_end_matches(|last: char| last.is_ascii_digit());
    name.get(text.len()..)?.parse().ok()
}

/// Returns the changes that complete `group` on a host with this `listing`; empty if all of it
/// exists. Incomplete MAC-VLANs of an earlier attempt are removed first.
pub fn to_make(
    group: &AddressGroup,
    naming: &MacVlanNaming,
    listing: &AddressListing,
) -> Result<Vec<AddressChange>, AddressObstacle> {
    if group.method == AddressMethod::Route {
        check_subnets(group, listing)?;
    }
    check_gateways(group, listing)?;
    match &group.method {
        AddressMethod::Route => routes(group, listing),
        AddressMethod::Aliases { link } => aliases(group, link, listing),
        AddressMethod::MacVlans {
            parent,
            mode,
            gateway,
        } => {
            let wanted = Wanted {
                parent: link_of(parent, listing)?,
                mode: *mode,
                gateway: *gateway,
            };
            mac_vlans(group, &wanted, naming, listing)
        }
    }
}

/// Checks that no address of a gateway would become an address of this host.
fn check_gateways(group: &AddressGroup, listing: &AddressListing) -> Result<(), AddressObstacle> {
    let own = match &group.method {
        AddressMethod::MacVlans { gateway, .. } => *gateway,
        AddressMethod::Route | AddressMethod::Aliases { .. } => None,
    };
    let gateways = listing.routes.iter().filter_map(|route| route.gateway);
    let is_in = |gateway: &IpAddr| match &group.method {
        AddressMethod::Route => group
            .networks
            .iter()
            .any(|network| network.contains(*gateway)),
        AddressMethod::Aliases { .. } | AddressMethod::MacVlans { .. } => {
            group.addresses.iter().any(|range| range.contains(gateway))
        }
    };
    match gateways.chain(own).find(is_in) {
        Some(gateway) => Err(AddressObstacle::IsGateway { gateway }),
        None => Ok(()),
    }
}

/// Checks that no route would claim the whole network of a link, with the other hosts in it.
fn check_subnets(group: &AddressGroup, listing: &AddressListing) -> Result<(), AddressObstacle> {
    for network in &group.networks {
        let swallowed = listing.subnets().find(|(subnet, _)| network.holds(subnet));
        if let Some((subnet, link)) = swallowed {
            return Err(AddressObstacle::HoldsSubnet {
                network: *network,
                subnet,
                link: link.name.clone(),
            });
        }
    }
    Ok(())
}

fn link_of<'l>(name: &str, listing: &'l AddressListing) -> Result<&'l ListedLink, AddressObstacle> {
    match listing.link(name) {
        Some(link) if link.is_ours() => Err(AddressObstacle::OnOurOwn { name: name.into() }),
        Some(link) => Ok(link),
        None => Err(AddressObstacle::NoSuchLink {
            name: name.into(),
            there: names_of_others(listing),
        }),
    }
}

/// Returns the names of the links that filestone did not create.
fn names_of_others(listing: &AddressListing) -> Vec<String> {
    let others = listing.links.iter().filter(|link| !link.is_ours());
    others.map(|link| link.name.clone()).collect()
}

fn check_count(group: &AddressGroup, most: u32) -> Result<(), AddressObstacle> {
    let count = u64::try_from(group.addresses.count()).unwrap_or(u64::MAX);
    if count > u64::from(most) {
        return Err(AddressObstacle::TooMany { count, most });
    }
    Ok(())
}

fn routes(
    group: &AddressGroup,
    listing: &AddressListing,
) -> Result<Vec<AddressChange>, AddressObstacle> {
    let loopback = listing.links.iter().find(|link| link.is_loopback);
    let loopback = loopback.map_or("lo", |link| &link.name);
    let mut changes = vec![];
    for network in group
        .networks
        .iter()
        .filter(|network| !network.is_loopback())
    {
        if network.first().is_ipv6() {
            return Err(AddressObstacle::NoRouteOfIpv6 { network: *network });
        }
        let mut there = listing.routes.iter().filter(|route| {
            route.is_local && route.table == LOCAL_TABLE && route.destination == *network
        });
        match there.next() {
            Some(route) if route.is_ours() => {}
            Some(_) => return Err(AddressObstacle::RouteTaken { network: *network }),
            None => changes.push(AddressChange::Add(AddressItem::any_ip(*network, loopback))),
        }
    }
    Ok(changes)
}

/// Returns the existing addresses, keyed by address.
fn by_address(listing: &AddressListing) -> HashMap<IpAddr, &ListedAddress> {
    let listed = listing.addresses.iter();
    listed.map(|listed| (listed.address, listed)).collect()
}

fn aliases(
    group: &AddressGroup,
    link: &str,
    listing: &AddressListing,
) -> Result<Vec<AddressChange>, AddressObstacle> {
    check_count(group, ALIASES_MAX)?;
    let on = link_of(link, listing)?;
    if !listing.keeps_protocols {
        return Err(AddressObstacle::NoProtocols);
    }
    let there = by_address(listing);
    let mut changes = vec![];
    for address in wanted_of(group) {
        match there.get(&address) {
            Some(listed) if listed.link == on.index && listed.is_ours() => {}
            Some(listed) => return Err(in_the_way(listed, listing)),
            None => changes.push(AddressChange::Add(AddressItem::Address {
                link: link.into(),
                address,
            })),
        }
    }
    Ok(changes)
}

/// Returns the requested addresses that are not loopback addresses.
fn wanted_of(group: &AddressGroup) -> impl Iterator<Item = IpAddr> + '_ {
    let is_new = |address: &IpAddr| !Network::single(*address).is_loopback();
    group.addresses.values().filter(is_new)
}

/// Returns the obstacle for an address that exists already.
fn in_the_way(listed: &ListedAddress, listing: &AddressListing) -> AddressObstacle {
    let link = listing.link_of_index(listed.link);
    let name = listing.name_of(listed.link);
    let what = match link.filter(|link| link.is_ours()) {
        Some(_) => Some(format!("the MAC-VLAN {name}")),
        None if listed.is_ours() => Some(format!("an alias of {name}")),
        None => None,
    };
    match what {
        Some(what) => AddressObstacle::MadeOtherwise {
            address: listed.address,
            what,
        },
        None => AddressObstacle::AddressTaken {
            address: listed.address,
            link: name,
        },
    }
}

/// Requested MAC-VLANs, without their addresses.
struct Wanted<'l> {
    parent: &'l ListedLink,
    mode: MacVlanMode,
    gateway: Option<IpAddr>,
}

fn mac_vlans(
    group: &AddressGroup,
    wanted: &Wanted<'_>,
    naming: &MacVlanNaming,
    listing: &AddressListing,
) -> Result<Vec<AddressChange>, AddressObstacle> {
    check_mac_vlans(group, wanted, naming, listing)?;
    let lasting = listing
        .addresses
        .iter()
        .filter(|listed| !listed.is_link_local());
    let with_address: HashSet<u32> = lasting.map(|listed| listed.link).collect();
    // A MAC-VLAN gets its address as soon as it is up, so one without an address is incomplete.
    let is_left = |link: &&ListedLink| link.is_ours() && !with_address.contains(&link.index);
    let left = listing.links.iter().filter(is_left);
    let mut changes: Vec<AddressChange> = left
        .map(|link| AddressChange::RemoveMacVlan {
            name: link.name.clone(),
        })
        .collect();
    let kept = listing
        .links
        .iter()
        .filter(|link| link.is_ours() && !is_left(link));
    let of_links = kept.filter_map(|link| number_of(&link.name));
    let of_rules = listing.rules.iter().filter(|rule| rule.is_ours());
    let of_rules = of_rules.filter_map(|rule| rule.table.checked_sub(TABLE_FIRST));
    let taken: HashSet<u32> = of_links.chain(of_rules).collect();
    let mut free = (0..).filter(|number| !taken.contains(number));
    let there = by_address(listing);
    for address in wanted_of(group) {
        match there.get(&address) {
            Some(listed) => changes.extend(missing_of(listed, wanted, listing)?),
            None => {
                let number = free.next().unwrap_or_default();
                changes.extend(new_mac_vlan(address, number, wanted, naming));
                changes.extend(ways(address, &naming.name(number), number, wanted, listing));
            }
        }
    }
    Ok(changes)
}

fn check_mac_vlans(
    group: &AddressGroup,
    wanted: &Wanted<'_>,
    naming: &MacVlanNaming,
    listing: &AddressListing,
) -> Result<(), AddressObstacle> {
    check_count(group, MAC_VLANS_MAX)?;
    if wanted.parent.is_loopback {
        return Err(AddressObstacle::NoEthernet {
            name: wanted.parent.name.clone(),
        });
    }
    let count = u64::try_from(group.addresses.count()).unwrap_or(u64::MAX);
    if wanted.mode == MacVlanMode::Passthru && count > 1 {
        return Err(AddressObstacle::OnePassthru { count });
    }
    let mut others = names_of_others(listing).into_iter();
    match others.find(|name| naming.is_of(name)) {
        Some(name) => Err(AddressObstacle::NameTaken { name }),
        None => Ok(()),
    }
}

/// Returns the changes that create a link with its address. The address is added when the link is
/// up and ready, so a link with an address is complete.
fn new_mac_vlan(
    address: IpAddr,
    number: u32,
    wanted: &Wanted<'_>,
    naming: &MacVlanNaming,
) -> [AddressChange; 3] {
    let name = naming.name(number);
    let mac = (wanted.mode != MacVlanMode::Passthru).then(|| mac_of(address));
    [
        AddressChange::AddMacVlan {
            name: name.clone(),
            parent: wanted.parent.name.clone(),
            mode: wanted.mode,
            mac,
        },
        AddressChange::SetUp {
            link: name.clone(),
            has_ipv6: address.is_ipv6(),
        },
        AddressChange::Add(AddressItem::Address {
            link: name,
            address,
        }),
    ]
}

/// Returns the MAC address of the MAC-VLAN of an address: locally administered (bit 02 of the first
/// byte, IEEE 802-2014, 8.4), and derived from the address, so that cached neighbour entries remain
/// valid.
fn mac_of(address: IpAddr) -> [u8; 6] {
    let [a, b, c, d] = match address {
        IpAddr::V4(address) => address.octets(),
        IpAddr::V6(address) => (u128::from(address) as u32).to_be_bytes(),
    };
    [0x02, b'f', a, b, c, d]
}

/// Returns the changes that route packets from `address` through its own link and not the first
/// link with a matching route: a separate table and a rule that selects it.
fn ways(
    address: IpAddr,
    name: &str,
    number: u32,
    wanted: &Wanted<'_>,
    listing: &AddressListing,
) -> Vec<AddressChange> {
    let table = TABLE_FIRST + number;
    let route = |destination, gateway| {
        AddressChange::Add(AddressItem::Route {
            table,
            destination,
            link: name.into(),
            gateway,
        })
    };
    let everywhere = Network::all_like(address);
    let mut changes = vec![];
    let gateway = wanted
        .gateway
        .filter(|gateway| gateway.is_ipv4() == address.is_ipv4());
    if gateway.is_some() {
        let joined = listing.subnets().filter(|(subnet, link)| {
            link.index == wanted.parent.index && subnet.first().is_ipv4() == address.is_ipv4()
        });
        changes.extend(joined.map(|(subnet, _)| route(subnet, None)));
    }
    changes.push(route(everywhere, gateway));
    let source = address;
    changes.push(AddressChange::Add(AddressItem::Rule { source, table }));
    changes
}

/// Returns the changes that complete the MAC-VLAN of an address.
fn missing_of(
    listed: &ListedAddress,
    wanted: &Wanted<'_>,
    listing: &AddressListing,
) -> Result<Vec<AddressChange>, AddressObstacle> {
    let link = listing.link_of_index(listed.link);
    let fits = |link: &&ListedLink| {
        let of = link.mac_vlan;
        link.is_ours()
            && of.is_some_and(|of| of.parent == wanted.parent.index && of.mode == Some(wanted.mode))
    };
    let found = link.filter(fits);
    let found = found.and_then(|link| Some((link, number_of(&link.name)?)));
    let Some((link, number)) = found else {
        return Err(in_the_way(listed, listing));
    };
    let mut changes = vec![];
    if !link.is_up {
        changes.push(AddressChange::SetUp {
            link: link.name.clone(),
            has_ipv6: listed.address.is_ipv6(),
        });
    }
    let ways = ways(listed.address, &link.name, number, wanted, listing);
    changes.extend(
        ways.into_iter()
            .filter(|change| !exists(change, link, listing)),
    );
    Ok(changes)
}

/// Returns whether the route or rule that a change would add for `link` exists.
fn exists(change: &AddressChange, link: &ListedLink, listing: &AddressListing) -> bool {
    match change {
        AddressChange::Add(AddressItem::Route {
            table,
            destination,
            gateway,
            ..
        }) => listing.routes.iter().any(|route| {
            route.is_ours()
                && route.table == *table
                && route.destination == *destination
                && route.gateway == *gateway
                && route.link == Some(link.index)
        }),
        AddressChange::Add(AddressItem::Rule { source, table }) => {
            let source = Some(Network::single(*source));
            let mut ours = listing.rules.iter().filter(|rule| rule.is_ours());
            ours.any(|rule| rule.table == *table && rule.source == source)
        }
        _ => false,
    }
}
