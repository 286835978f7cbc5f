//! The addresses that clients connect from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// Addresses of this host that clients connect from: client i from number i modulo their number.
/// Written as `10.0.0.1-10.0.0.20`, `10.0.0.0/24`, `::1`, or a list of these with commas.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct SourceAddresses(Vec<AddressRange>);

/// Addresses of one family without a gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct AddressRange {
    first: IpAddr,
    last: IpAddr,
}

impl SourceAddresses {
    /// Whether there is none: the host chooses.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many there are.
    pub fn count(&self) -> u128 {
        let ranges = self.0.iter().map(AddressRange::count);
        ranges.fold(0, u128::saturating_add)
    }

    /// Where client `client` connects from.
    pub fn of_client(&self, client: u32) -> Option<IpAddr> {
        let mut place = u128::from(client).checked_rem(self.count())?;
        for range in &self.0 {
            let count = range.count();
            if place < count {
                return Some(range.nth(place));
            }
            place -= count;
        }
        None
    }

    /// Whether both IPv4 and IPv6 are among them.
    pub fn are_mixed(&self) -> bool {
        let first = self.0.first();
        first.is_some_and(|first| {
            let is_v4 = first.first.is_ipv4();
            self.0.iter().any(|range| range.first.is_ipv4() != is_v4)
        })
    }
}

/// An address as a number.
fn number(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => u32::from(address).into(),
        IpAddr::V6(address) => address.into(),
    }
}

/// The address with this number of the same family as `other`.
fn like(other: IpAddr, number: u128) -> IpAddr {
    match other {
        IpAddr::V4(_) => Ipv4Addr::from(number as u32).into(),
        IpAddr::V6(_) => Ipv6Addr::from(number).into(),
    }
}

impl AddressRange {
    fn count(&self) -> u128 {
        (number(self.last) - number(self.first)).saturating_add(1)
    }

    fn nth(&self, place: u128) -> IpAddr {
        like(self.first, number(self.first) + place)
    }

    /// The hosts of a network: of IPv4 without its first address, which names it, and without its
    /// last, which is for all of them, where it has others.
    fn of_network(address: IpAddr, prefix_len: u32) -> Option<Self> {
        let bits: u32 = if address.is_ipv4() { 32 } else { 128 };
        let host_bits = bits.checked_sub(prefix_len).filter(|bits| *bits < 128)?;
        let mask = (1u128 << host_bits) - 1;
        let first = number(address) & !mask;
        let spared = u128::from(address.is_ipv4() && host_bits > 1);
        Some(Self {
            first: like(address, first + spared),
            last: like(address, (first | mask) - spared),
        })
    }
}

impl FromStr for AddressRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "{text:?}: expected an address, a range such as 10.0.0.1-10.0.0.20, or a network \
                 such as 10.0.0.0/24"
            )
        };
        let address = |text: &str| text.trim().parse::<IpAddr>().map_err(|_| wrong());
        if let Some((network, prefix_len)) = text.split_once('/') {
            let prefix_len = prefix_len.trim().parse().map_err(|_| wrong())?;
            return Self::of_network(address(network)?, prefix_len).ok_or_else(wrong);
        }
        let (first, last) = match text.split_once('-') {
            Some((first, last)) => (address(first)?, address(last)?),
            None => (address(text)?, address(text)?),
        };
        let is_range = first.is_ipv4() == last.is_ipv4() && first <= last;
        is_range.then_some(Self { first, last }).ok_or_else(wrong)
    }
}

impl fmt::Display for AddressRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.first.fmt(f)?;
        if self.first != self.last {
            write!(f, "-{}", self.last)?;
        }
        Ok(())
    }
}

impl FromStr for SourceAddresses {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.split(',')
            .map(str::parse)
            .collect::<Result<_, _>>()
            .map(Self)
    }
}

impl fmt::Display for SourceAddresses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&texts.join(","))
    }
}

impl TryFrom<String> for SourceAddresses {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<SourceAddresses> for String {
    fn from(sources: SourceAddresses) -> Self {
        sources.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(text: &str) -> SourceAddresses {
        text.parse().expect(text)
    }

    #[test]
    fn clients_take_the_addresses_in_turn() {
        let three = sources("10.0.0.255-10.0.1.0,10.0.0.9");
        let of = |client| three.of_client(client).expect("there are some").to_string();
        let texts = [0, 1, 2, 3, 7].map(of);
        let expected = [
            "10.0.0.255",
            "10.0.1.0",
            "10.0.0.9",
            "10.0.0.255",
            "10.0.1.0",
        ];
        assert_eq!(texts, expected);
        assert_eq!(SourceAddresses::default().of_client(3), None);
    }

    #[test]
    fn the_hosts_of_a_network_are_meant() {
        for (text, count, range) in [
            ("127.1.0.1-127.1.39.16", 10_000, "127.1.0.1-127.1.39.16"),
            ("10.0.0.7/24", 254, "10.0.0.1-10.0.0.254"),
            ("10.0.0.6/31", 2, "10.0.0.6-10.0.0.7"),
            ("10.0.0.6/32", 1, "10.0.0.6"),
            ("fd00::/120", 256, "fd00::-fd00::ff"),
            ("::1", 1, "::1"),
        ] {
            let sources = sources(text);
            assert_eq!(
                (sources.count(), sources.to_string()),
                (count, range.into())
            );
        }
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for text in [
            "",
            "10.0.0",
            "10.0.0.2-10.0.0.1",
            "10.0.0.1-::1",
            "10.0.0.0/33",
            "::/0",
            "1.1.1.1,",
        ] {
            let error = text.parse::<SourceAddresses>().expect_err(text);
            assert!(error.contains("expected an address"), "{error}");
        }
        assert!(sources("10.0.0.1,::1").are_mixed());
        assert!(!sources("10.0.0.1,10.0.0.2").are_mixed());
    }

    #[test]
    fn they_are_stored_as_text() {
        let stored = serde_json::to_string(&sources("::1,::5-::9")).expect("text");
        assert_eq!(stored, "\"::1,::5-::9\"");
        let again: SourceAddresses = serde_json::from_str(&stored).expect("the same");
        assert_eq!(again, sources("::1,::5-::9"));
    }
}
