//! Changes that create and remove addresses, written as `ip` commands.

use super::group::MacVlanMode;
use super::network::Network;
use super::{LINK_GROUP, LOCAL_TABLE, PROTOCOL, RULE_PRIORITY};
use std::fmt;
use std::net::IpAddr;

/// A change of this host. `Display` prints the equivalent `ip` command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AddressChange {
    /// Creates a MAC-VLAN.
    AddMacVlan {
        /// Name of the MAC-VLAN.
        name: String,
        /// Name of its parent link.
        parent: String,
        /// Mode: which other MAC-VLANs of the link it can reach.
        mode: MacVlanMode,
        /// MAC address; `None` if it has that of its parent.
        mac: Option<[u8; 6]>,
    },
    /// Sets a MAC-VLAN of filestone up. It answers ARP for its own address only.
    SetUp {
        /// Name of the MAC-VLAN.
        link: String,
        /// Whether the MAC-VLAN needs IPv6.
        has_ipv6: bool,
    },
    /// Adds an address, route or rule.
    Add(AddressItem),
    /// Removes an address, route or rule.
    Remove(AddressItem),
    /// Removes a MAC-VLAN of filestone with its address and its routes.
    RemoveMacVlan {
        /// Name of the MAC-VLAN.
        name: String,
    },
    /// Removes all MAC-VLANs of filestone at once. One at a time, each takes the kernel some 20 ms.
    RemoveAllMacVlans {
        /// Number of MAC-VLANs.
        count: u32,
    },
}

/// An object that `ip` adds and deletes with the same arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AddressItem {
    /// An address of a link.
    Address {
        /// Name of its link.
        link: String,
        /// The address.
        address: IpAddr,
    },
    /// A route.
    Route {
        /// Routing table.
        table: u32,
        /// Destination network.
        destination: Network,
        /// Name of the outgoing link.
        link: String,
        /// Gateway.
        gateway: Option<IpAddr>,
    },
    /// A rule that sends packets from an address to a routing table.
    Rule {
        /// The address.
        source: IpAddr,
        /// The routing table.
        table: u32,
    },
}

impl AddressItem {
    /// Returns the AnyIP route: a local route for a whole network.
    pub fn any_ip(destination: Network, loopback: &str) -> Self {
        AddressItem::Route {
            table: LOCAL_TABLE,
            destination,
            link: loopback.into(),
            gateway: None,
        }
    }

    /// Returns the command that applies `verb` to this item.
    fn words(&self, verb: &str) -> String {
        match self {
            AddressItem::Address { link, address } => {
                let len = Network::single(*address).prefix_len();
                format!("ip address {verb} {address}/{len} dev {link}")
            }
            AddressItem::Route {
                table,
                destination,
                link,
                gateway,
            } => {
                let ip = ip_of(destination.first());
                let local = if *table == LOCAL_TABLE { "local " } else { "" };
                let (via, onlink) = gateway.map_or_else(Default::default, |gateway| {
                    (format!(" via {gateway}"), " onlink")
                });
                format!(
                    "{ip} route {verb} {local}{destination}{via} dev {link} table {table} proto {PROTOCOL}{onlink}"
                )
            }
            AddressItem::Rule { source, table } => {
                let ip = ip_of(*source);
                format!(
                    "{ip} rule {verb} from {source} lookup {table} priority {RULE_PRIORITY} protocol {PROTOCOL}"
                )
            }
        }
    }
}

/// Formats a MAC address: `address 02:66:0a:09:00:01 `; empty if the kernel assigns it.
fn mac_words(mac: Option<&[u8; 6]>) -> String {
    let octets = mac.map(|mac| mac.map(|octet| format!("{octet:02x}")).join(":"));
    octets.map_or_else(String::new, |octets| format!("address {octets} "))
}

const fn ip_of(address: IpAddr) -> &'static str {
    if address.is_ipv4() { "ip" } else { "ip -6" }
}

impl fmt::Display for AddressChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AddressChange::AddMacVlan {
                name,
                parent,
                mode,
                mac,
            } => {
                let mac = mac_words(mac.as_ref());
                write!(
                    f,
                    "ip link add {name} link {parent} {mac}group {LINK_GROUP} type macvlan mode {mode}"
                )
            }
            AddressChange::Add(item) => {
                f.write_str(&item.words("add"))?;
                match item {
                    AddressItem::Address { .. } => write!(f, " proto {PROTOCOL}"),
                    AddressItem::Route { .. } | AddressItem::Rule { .. } => Ok(()),
                }
            }
            AddressChange::Remove(item) => f.write_str(&item.words("del")),
            AddressChange::RemoveMacVlan { name } => write!(f, "ip link del {name}"),
            AddressChange::SetUp { link, has_ipv6 } => {
                write!(f, "sysctl -q net.ipv4.conf.{link}.arp_ignore=1")?;
                if !has_ipv6 {
                    write!(f, " net.ipv6.conf.{link}.disable_ipv6=1")?;
                }
                write!(f, " && ip link set {link} up")
            }
            AddressChange::RemoveAllMacVlans { .. } => write!(f, "ip link del group {LINK_GROUP}"),
        }
    }
}
