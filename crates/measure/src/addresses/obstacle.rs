//! Reasons why requested addresses cannot be created.

use super::network::Network;
use filestone_workload::text::thousands;
use std::net::IpAddr;

/// Reason why requested addresses cannot be created. The host was not changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressObstacle {
    /// No link has this name.
    #[error("{name}: this host has no such interface")]
    NoSuchLink {
        /// Requested link.
        name: String,
        /// Names of the existing links.
        there: Vec<String>,
    },
    /// The loopback interface has no MAC address.
    #[error(
        "{name}: MAC-VLANs are made on an Ethernet interface, and this is the loopback interface"
    )]
    NoEthernet {
        /// Name of the link.
        name: String,
    },
    /// The requested parent link is a MAC-VLAN of filestone.
    #[error("{name} is a MAC-VLAN that filestone made itself")]
    OnOurOwn {
        /// Name of the link.
        name: String,
    },
    /// AnyIP is not possible with IPv6: an interface must have the address.
    #[error(
        "{network}: a route alone does not let connections come from an address of IPv6: an interface must have it"
    )]
    NoRouteOfIpv6 {
        /// Requested network.
        network: Network,
    },
    /// The host has that address already.
    #[error("{address} is an address of {link} already, and filestone did not make it")]
    AddressTaken {
        /// The address.
        address: IpAddr,
        /// Name of the link that has it.
        link: String,
    },
    /// filestone created the address already, by another method.
    #[error("{address} is there already as {what}")]
    MadeOtherwise {
        /// The address.
        address: IpAddr,
        /// Description of the existing object.
        what: String,
    },
    /// The network is local to this host already.
    #[error("a local route to {network} is there already, and filestone did not make it")]
    RouteTaken {
        /// The network.
        network: Network,
    },
    /// An interface has a name that filestone would use.
    #[error("{name} is there already, and filestone did not make it")]
    NameTaken {
        /// Name of the interface.
        name: String,
    },
    /// A requested address is a gateway of this host.
    #[error("{gateway} is a gateway of this host, and would become this host itself")]
    IsGateway {
        /// The gateway.
        gateway: IpAddr,
    },
    /// The requested network contains the network of a link, with other hosts.
    #[error(
        "{network} has the whole network {subnet} of {link} in it, whose hosts could not be reached any more"
    )]
    HoldsSubnet {
        /// Requested network.
        network: Network,
        /// Network of the link.
        subnet: Network,
        /// Name of the link.
        link: String,
    },
    /// A link can have only one MAC-VLAN in mode passthru.
    #[error("passthru: an interface has one MAC-VLAN in this mode, and {} are asked for", thousands(*count))]
    OnePassthru {
        /// Number of requested MAC-VLANs.
        count: u64,
    },
    /// The number of addresses exceeds the maximum of the method.
    #[error("{} addresses are too many: {} can be made in this way", thousands(*count), thousands((*most).into()))]
    TooMany {
        /// Requested number.
        count: u64,
        /// Maximum number.
        most: u32,
    },
    /// The kernel is older than Linux 5.18 and does not store the protocol of an address.
    #[error(
        "this kernel does not keep who made an address (Linux does since 5.18), so that it could not be told from others"
    )]
    NoProtocols,
}

impl AddressObstacle {
    /// Returns whether the request is wrong; otherwise the state of this host is the obstacle.
    pub const fn is_usage(&self) -> bool {
        match self {
            AddressObstacle::NoSuchLink { .. }
            | AddressObstacle::NoEthernet { .. }
            | AddressObstacle::OnOurOwn { .. }
            | AddressObstacle::NoRouteOfIpv6 { .. }
            | AddressObstacle::IsGateway { .. }
            | AddressObstacle::HoldsSubnet { .. }
            | AddressObstacle::OnePassthru { .. }
            | AddressObstacle::TooMany { .. } => true,
            AddressObstacle::AddressTaken { .. }
            | AddressObstacle::MadeOtherwise { .. }
            | AddressObstacle::RouteTaken { .. }
            | AddressObstacle::NameTaken { .. }
            | AddressObstacle::NoProtocols => false,
        }
    }

    /// Returns the text of the `help:` line.
    pub fn help(&self) -> String {
        match self {
            AddressObstacle::NoSuchLink { there, .. } => format!("there are {}", there.join(", ")),
            AddressObstacle::NoEthernet { .. } | AddressObstacle::OnOurOwn { .. } => {
                "name the interface that servers are reached by".into()
            }
            AddressObstacle::NoRouteOfIpv6 { network } => {
                format!("`filestone fleet addresses up {network} --aliases lo`")
            }
            AddressObstacle::AddressTaken { .. } => {
                "clients can connect from it as it is; ask for the others".into()
            }
            AddressObstacle::MadeOtherwise { .. } => {
                "`filestone fleet addresses down` removes what filestone made".into()
            }
            AddressObstacle::RouteTaken { .. } => {
                "clients can connect from it as it is; nothing needs to be made".into()
            }
            AddressObstacle::NameTaken { .. } => "--name chooses other names".into(),
            AddressObstacle::IsGateway { .. } => "ask for addresses that no host has".into(),
            AddressObstacle::HoldsSubnet { .. } => {
                "ask for a part of it that no host is in, or for another network".into()
            }
            AddressObstacle::OnePassthru { .. } => "--mode bridge or private".into(),
            AddressObstacle::TooMany { .. } => {
                "a route makes any number of addresses (no --aliases, no --mac-vlans)".into()
            }
            AddressObstacle::NoProtocols => {
                "without --aliases it is a route, with --mac-vlans interfaces: both can be told"
                    .into()
            }
        }
    }
}
