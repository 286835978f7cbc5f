//! Addresses that are made together, and how.

use super::network::Network;
use filestone_plan::plan::SourceAddresses;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt;
use std::net::IpAddr;

/// Addresses that are made together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddressGroup {
    /// The addresses.
    pub addresses: SourceAddresses,
    /// The networks that together are all that was asked for: of a network its first and its last
    /// address, too.
    pub networks: Vec<Network>,
    /// How.
    pub method: AddressMethod,
}

/// How addresses become this host's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AddressMethod {
    /// By a route that says that all of a network is this host (AnyIP).
    Route,
    /// As further addresses of a link.
    Aliases {
        /// Its name.
        link: String,
    },
    /// Each with a link and a MAC address of its own, on a link.
    MacVlans {
        /// The name of the link that they are on.
        parent: String,
        /// How they are joined.
        mode: MacVlanMode,
        /// The next host on the way to servers that are not on that link.
        gateway: Option<IpAddr>,
    },
}

/// How MAC-VLANs of one link are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum MacVlanMode {
    /// They reach each other.
    Bridge,
    /// They do not.
    Private,
    /// There is one alone, which takes the link over.
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
    /// The addresses that a text names as `--source` does.
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

    /// Whether it is this host's without anything being made.
    pub fn is_loopback(&self) -> bool {
        self.networks.iter().all(Network::is_loopback)
    }

    /// What servers reach all of it by: for each range the network around it, unless that is much
    /// larger; then the networks that the range consists of.
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
