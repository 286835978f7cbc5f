//! What is made and removed, in the words of `ip`.

use super::group::MacVlanMode;
use super::network::Network;
use super::{LINK_GROUP, LOCAL_TABLE, PROTOCOL, RULE_PRIORITY};
use std::fmt;
use std::net::IpAddr;

/// A change of this host. Its text is the command that would do the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AddressChange {
    /// Makes a MAC-VLAN.
    AddMacVlan {
        /// Its name.
        name: String,
        /// The name of the link that it is on.
        parent: String,
        /// How it is joined to others.
        mode: MacVlanMode,
        /// Its MAC address; `None` if that is its parent's.
        mac: Option<[u8; 6]>,
    },
    /// Sets a MAC-VLAN of ours up, which answers ARP for its own address alone.
    SetUp {
        /// Its name.
        link: String,
        /// Whether it needs IPv6.
        has_ipv6: bool,
    },
    /// Makes it.
    Add(AddressItem),
    /// Removes it.
    Remove(AddressItem),
    /// Removes a MAC-VLAN of ours, with its address and its routes.
    RemoveMacVlan {
        /// Its name.
        name: String,
    },
    /// Removes all MAC-VLANs of ours at once: one by one, each takes the kernel some 20 ms.
    RemoveAllMacVlans {
        /// How many there are.
        count: u32,
    },
}

/// Something that is made and removed in the same words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AddressItem {
    /// An address.
    Address {
        /// The name of its link.
        link: String,
        /// The address.
        address: IpAddr,
    },
    /// A route.
    Route {
        /// Its table.
        table: u32,
        /// Where it leads to.
        destination: Network,
        /// The name of the link that it goes by.
        link: String,
        /// The next host on the way.
        gateway: Option<IpAddr>,
    },
    /// A rule: packets from an address go by a table.
    Rule {
        /// The address.
        source: IpAddr,
        /// The table.
        table: u32,
    },
}

impl AddressItem {
    /// A route that says that a network is this host.
    pub fn any_ip(destination: Network, loopback: &str) -> Self {
        AddressItem::Route {
            table: LOCAL_TABLE,
            destination,
            link: loopback.into(),
            gateway: None,
        }
    }

    /// The command that does `verb` with it.
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

/// `address 02:66:0a:09:00:01 `; nothing where the kernel gives it.
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
