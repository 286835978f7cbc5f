//! Groups of addresses that are created together, and the method.

use super::network::Network;
use crate::JsonSchema;
use filestone_plan::plan::SourceAddresses;
use serde::Serialize;
use std::fmt;
use std::net::IpAddr;

/// Addresses that are created together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddressGroup {
    /// Addresses of the group.
    pub addresses: SourceAddresses,
    /// Networks that together cover all requested addresses, including first and last of each
    /// network.
    pub networks: Vec<Network>,
    /// Method that creates the addresses.
    pub method: AddressMethod,
}

/// Method that makes addresses addresses of this host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AddressMethod {
    /// A local route for a whole network (AnyIP).
    Route,
    /// Additional addresses of a link.
    Aliases {
        /// Name of the link.
        link: String,
    },
    /// A MAC-VLAN on a link for each address, each with its own MAC address.
    MacVlans {
        /// Name of the parent link.
        parent: String,
        /// Mode of the MAC-VLANs.
        mode: MacVlanMode,
        /// Gateway to servers that are not on that link.
        gateway: Option<IpAddr>,
    },
}

/// Mode of the MAC-VLANs of one link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MacVlanMode {
    /// The MAC-VLANs reach each other.
    Bridge,
    /// The MAC-VLANs do not reach each other.
    Private,
    /// A single MAC-VLAN, which takes the link over.
    Passthru,
}

impl fmt::Display for MacVlanMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            MacVlanMode::Bridge => "bridge",
            MacVlanMode::Private => "private",
            MacVlanMode::Passthru => "passthru",
        })
    }
}

impl AddressGroup {
    /// Parses a list of addresses in the syntax of `--source`.
    pub fn parse(text: &str, method: AddressMethod) -> Result<Self, String> {
        let addresses: SourceAddresses = text.parse()?;
        let parts = text.split(',').zip(addresses.iter());
        let networks = parts.flat_map(|(part, range)| match part.parse() {
            Ok(network) => vec![network],
            Err(()) => Network::covering(range),
        });
        Ok(Self {
            networks: networks.collect(),
            addresses,
            method,
        })
    }

    /// Returns whether all addresses are loopback addresses, which this host has without any
    /// change.
    pub fn is_loopback(&self) -> bool {
        self.networks.iter().all(Network::is_loopback)
    }

    /// Returns the destinations of the routes that servers need. For each range this is the network
    /// around it, or the networks that the range consists of if the network around it has more than
    /// four times as many addresses.
    pub fn destinations(&self) -> Vec<Network> {
        const MUCH: u128 = 4;
        let of_range = |range| {
            let networks = Network::covering(range);
            let count: u128 = networks
                .iter()
                .map(Network::count)
                .fold(0, u128::saturating_add);
            let around = Network::around(*range.start(), *range.end());
            match around.filter(|around| around.count() <= count.saturating_mul(MUCH)) {
                Some(around) => vec![around],
                None => networks,
            }
        };
        self.addresses.iter().flat_map(of_range).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(text: &str) -> AddressGroup {
        AddressGroup::parse(text, AddressMethod::Route).expect(text)
    }

    fn destinations(text: &str) -> String {
        let all = group(text).destinations();
        let texts: Vec<String> = all.iter().map(Network::to_string).collect();
        texts.join(" ")
    }

    #[test]
    fn a_network_is_whole_as_a_route_and_its_hosts_as_sources() {
        let network = group("10.9.0.0/24");
        assert_eq!(
            network.networks,
            ["10.9.0.0/24".parse().expect("a network")]
        );
        assert_eq!(network.addresses.count(), 254);
        assert!(group("127.1.0.1-127.1.0.9,127.2.0.0/16").is_loopback());
        assert!(!group("127.1.0.1,10.0.0.1").is_loopback());
        let error = AddressGroup::parse("10.9.0", AddressMethod::Route).expect_err("no address");
        assert!(error.contains("expected an address"), "{error}");
    }

    #[test]
    fn servers_need_a_route_to_what_is_around_a_range() {
        assert_eq!(destinations("10.9.0.0/16,10.7.0.1"), "10.9.0.0/16 10.7.0.1");
        assert_eq!(destinations("10.9.0.1-10.9.1.244"), "10.9.0.0/23");
        assert_eq!(
            destinations("10.9.0.7,fd00::1-fd00::6"),
            "10.9.0.7 fd00::/125"
        );
        // 10.8.0.0/14 would be around it.
        assert_eq!(
            destinations("10.9.255.252-10.10.0.3"),
            "10.9.255.252/30 10.10.0.0/30"
        );
    }
}
