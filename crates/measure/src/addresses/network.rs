//! Networks, and conversion of address ranges to networks.

use filestone_plan::plan::RangeItem;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::ops::RangeInclusive;
use std::str::FromStr;

/// A network: all addresses with the same prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Network {
    first: IpAddr,
    prefix_len: u8,
}

/// Returns the number of bits of an address.
const fn bits(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

/// Returns a number with the lowest `count` bits set.
const fn ones(count: u8) -> u128 {
    match count {
        128.. => u128::MAX,
        count => (1 << count) - 1,
    }
}

impl Network {
    /// Returns the network of `address`; `None` if `prefix_len` exceeds the bits of an address.
    pub fn of(address: IpAddr, prefix_len: u8) -> Option<Self> {
        let host_bits = bits(address).checked_sub(prefix_len)?;
        let first = address.like(address.number() & !ones(host_bits));
        Some(Self { first, prefix_len })
    }

    /// Returns the network that consists of this address.
    pub const fn single(address: IpAddr) -> Self {
        Self {
            first: address,
            prefix_len: bits(address),
        }
    }

    /// Returns the network of all addresses of the family of `address`.
    pub fn all_like(address: IpAddr) -> Self {
        Self {
            first: address.like(0),
            prefix_len: 0,
        }
    }

    /// Returns the first address, which names the network.
    pub const fn first(&self) -> IpAddr {
        self.first
    }

    /// Returns the last address.
    pub fn last(&self) -> IpAddr {
        let host_bits = bits(self.first) - self.prefix_len;
        self.first.like(self.first.number() | ones(host_bits))
    }

    /// Returns the prefix length in bits.
    pub const fn prefix_len(&self) -> u8 {
        self.prefix_len
    }

    /// Returns the number of addresses.
    pub const fn count(&self) -> u128 {
        ones(bits(self.first) - self.prefix_len).saturating_add(1)
    }

    /// Returns whether the network is a single address.
    pub const fn is_single(&self) -> bool {
        self.prefix_len == bits(self.first)
    }

    /// Returns whether `address` is in this network.
    pub fn contains(&self, address: IpAddr) -> bool {
        self.first.is_ipv4() == address.is_ipv4() && (self.first..=self.last()).contains(&address)
    }

    /// Returns whether all of `other` is in this network.
    pub fn holds(&self, other: &Self) -> bool {
        self.prefix_len <= other.prefix_len && self.contains(other.first)
    }

    /// Returns whether all addresses are loopback addresses, which this host has without any
    /// change.
    pub fn is_loopback(&self) -> bool {
        let loopback = Self {
            first: Ipv4Addr::new(127, 0, 0, 0).into(),
            prefix_len: 8,
        };
        loopback.holds(self)
    }

    /// Returns the networks that together cover a range exactly.
    pub fn covering(range: &RangeInclusive<IpAddr>) -> Vec<Self> {
        let (first, last) = (range.start().number(), range.end().number());
        let mut networks = vec![];
        let mut next = Some(first);
        while let Some(begin) = next.filter(|begin| *begin <= last) {
            let address = range.start().like(begin);
            // At most the trailing zero bits of the start, and at most what fits before the last
            // address.
            let aligned = begin.trailing_zeros().min(u32::from(bits(address)));
            let room = (last - begin).checked_add(1).map_or(128, u128::ilog2);
            let host_bits = aligned.min(room) as u8;
            networks.push(Self {
                first: address,
                prefix_len: bits(address) - host_bits,
            });
            next = begin
                .checked_add(ones(host_bits))
                .and_then(|end| end.checked_add(1));
        }
        networks
    }

    /// Returns the smallest network that contains both addresses; `None` if their families differ.
    pub fn around(one: IpAddr, other: IpAddr) -> Option<Self> {
        if one.is_ipv4() != other.is_ipv4() {
            return None;
        }
        let different = one.number() ^ other.number();
        let host_bits = 128 - different.leading_zeros() as u8;
        Self::of(one, bits(one) - host_bits)
    }
}

impl FromStr for Network {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (address, prefix_len) = text.split_once('/').ok_or(())?;
        let address = address.trim().parse().map_err(|_| ())?;
        Self::of(address, prefix_len.trim().parse().map_err(|_| ())?).ok_or(())
    }
}

/// Prints `10.9.0.0/16`; a single address without prefix length.
impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.first)?;
        if !self.is_single() {
            write!(f, "/{}", self.prefix_len)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().expect(text)
    }

    fn network(text: &str) -> Network {
        text.parse().expect(text)
    }

    #[test]
    fn a_network_is_what_begins_with_the_same_bits() {
        let given = network("10.9.3.7/22");
        assert_eq!(given.to_string(), "10.9.0.0/22");
        assert_eq!(given.last(), address("10.9.3.255"));
        assert!(given.contains(address("10.9.2.1")) && !given.contains(address("10.9.4.0")));
        assert!(given.holds(&network("10.9.3.0/24")) && !network("10.9.3.0/24").holds(&given));
        assert!(!network("::/0").contains(address("1.2.3.4")));
        assert!(network("127.9.0.0/16").is_loopback() && !network("126.0.0.0/7").is_loopback());
        assert_eq!(Network::single(address("::5")).to_string(), "::5");
        for wrong in ["10.0.0.0", "10.0.0.0/33", "x/8", "::/129"] {
            assert!(wrong.parse::<Network>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_range_is_covered_by_the_fewest_networks() {
        for (first, last, expected) in [
            ("10.9.0.0", "10.9.255.255", "10.9.0.0/16"),
            ("10.9.0.5", "10.9.0.5", "10.9.0.5"),
            (
                "10.9.0.1",
                "10.9.0.6",
                "10.9.0.1 10.9.0.2/31 10.9.0.4/31 10.9.0.6",
            ),
            ("10.9.0.254", "10.9.1.3", "10.9.0.254/31 10.9.1.0/30"),
            ("0.0.0.0", "255.255.255.255", "0.0.0.0/0"),
            ("::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "::/0"),
            ("fd00::fffe", "fd00::1:0", "fd00::fffe/127 fd00::1:0"),
        ] {
            let networks = Network::covering(&(address(first)..=address(last)));
            let texts: Vec<String> = networks.iter().map(Network::to_string).collect();
            assert_eq!(texts.join(" "), expected);
        }
    }

    #[test]
    fn the_smallest_network_around_two_addresses() {
        let around = |one, other| Network::around(address(one), address(other));
        let text = |one, other| around(one, other).map(|network| network.to_string());
        assert_eq!(
            text("10.9.0.1", "10.9.1.244").as_deref(),
            Some("10.9.0.0/23")
        );
        assert_eq!(text("10.9.0.1", "10.9.0.1").as_deref(), Some("10.9.0.1"));
        assert_eq!(text("0.0.0.0", "255.0.0.1").as_deref(), Some("0.0.0.0/0"));
        assert_eq!(text("::", "ffff::").as_deref(), Some("::/0"));
        assert_eq!(text("::1", "1.1.1.1"), None);
    }
}
