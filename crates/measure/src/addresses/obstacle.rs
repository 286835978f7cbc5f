//! Why addresses cannot be made as they were asked for.

use super::network::Network;
use filestone_workload::text::thousands;
use std::net::IpAddr;

/// Why addresses cannot be made as they were asked for. Nothing has been changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressObstacle {
    /// There is no such link.
    #[error("{name}: this host has no such interface")]
    NoSuchLink {
        /// What was asked for.
        name: String,
        /// What there is.
        there: Vec<String>,
    },
    /// The loopback interface has no MAC address.
    #[error(
        "{name}: MAC-VLANs are made on an Ethernet interface, and this is the loopback interface"
    )]
    NoEthernet {
        /// Its name.
        name: String,
    },
    /// It is one that we made.
    #[error("{name} is a MAC-VLAN that filestone made itself")]
    OnOurOwn {
        /// Its name.
        name: String,
    },
    /// What IPv6 does not do.
    #[error(
        "{network}: a route alone does not let connections come from an address of IPv6: an interface must have it"
    )]
    NoRouteOfIpv6 {
        /// What was asked for.
        network: Network,
    },
    /// This host has that address already.
    #[error("{address} is an address of {link} already, and filestone did not make it")]
    AddressTaken {
        /// The address.
        address: IpAddr,
        /// Whose it is.
        link: String,
    },
    /// It is there, as something else.
    #[error("{address} is there already as {what}")]
    MadeOtherwise {
        /// The address.
        address: IpAddr,
        /// As what.
        what: String,
    },
    /// The network is this host's already.
    #[error("a local route to {network} is there already, and filestone did not make it")]
    RouteTaken {
        /// The network.
        network: Network,
    },
    /// An interface has the name of one that would be made.
    #[error("{name} is there already, and filestone did not make it")]
    NameTaken {
        /// Its name.
        name: String,
    },
    /// Packets to other hosts go by way of it.
    #[error("{gateway} is a gateway of this host, and would become this host itself")]
    IsGateway {
        /// The gateway.
        gateway: IpAddr,
    },
    /// Other hosts are in it.
    #[error(
        "{network} has the whole network {subnet} of {link} in it, whose hosts could not be reached any more"
    )]
    HoldsSubnet {
        /// What was asked for.
        network: Network,
        /// The network of a link.
        subnet: Network,
        /// The link.
        link: String,
    },
    /// A link has room for one in this mode.
    #[error("passthru: an interface has one MAC-VLAN in this mode, and {} are asked for", thousands(*count))]
    OnePassthru {
        /// How many there would be.
        count: u64,
    },
    /// Too many.
    #[error("{} addresses are too many: {} can be made in this way", thousands(*count), thousands((*most).into()))]
    TooMany {
        /// How many.
        count: u64,
        /// How many could be.
        most: u32,
    },
    /// The kernel is too old.
    #[error(
        "this kernel does not keep who made an address (Linux does since 5.18), so that it could not be told from others"
    )]
    NoProtocols,
}

impl AddressObstacle {
    /// Whether something else should have been asked for; otherwise it is this host that is in the
    /// way.
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

    /// What to do.
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
