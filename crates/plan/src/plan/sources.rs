//! Source addresses of the clients.

use super::ranges::{RangeItem, Ranges, hyphenated};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ops::RangeInclusive;

/// Addresses of this host that clients connect from: client i uses number i modulo their number;
/// the host chooses if there are none. Written as `10.0.0.1-10.0.0.20`, `10.0.0.0/24`, `::1`, or a
/// list of these with commas.
pub type SourceAddresses = Ranges<IpAddr>;

impl SourceAddresses {
    /// Whether the addresses include both IPv4 and IPv6.
    pub fn are_mixed(&self) -> bool {
        let mut are_v4 = self.0.iter().map(|range| range.start().is_ipv4());
        are_v4
            .next()
            .is_some_and(|first| are_v4.any(|is_v4| is_v4 != first))
    }
}

impl RangeItem for IpAddr {
    const EXPECTED: &str = "an address, a range such as 10.0.0.1-10.0.0.20, or a network such as \
                            10.0.0.0/24";

    fn number(self) -> u128 {
        match self {
            IpAddr::V4(address) => u32::from(address).into(),
            IpAddr::V6(address) => address.into(),
        }
    }

    fn like(self, number: u128) -> Self {
        match self {
            IpAddr::V4(_) => Ipv4Addr::from(number as u32).into(),
            IpAddr::V6(_) => Ipv6Addr::from(number).into(),
        }
    }

    fn range(text: &str) -> Option<RangeInclusive<Self>> {
        if let Some((network, prefix_len)) = text.split_once('/') {
            return hosts_of(
                network.trim().parse().ok()?,
                prefix_len.trim().parse().ok()?,
            );
        }
        hyphenated(text)
            .filter(|range: &RangeInclusive<Self>| range.start().is_ipv4() == range.end().is_ipv4())
    }
}

/// Returns the host addresses of a network. For IPv4, the first address (the network) and the last
/// one (broadcast) are excluded if there are others.
fn hosts_of(network: IpAddr, prefix_len: u32) -> Option<RangeInclusive<IpAddr>> {
    let bits: u32 = if network.is_ipv4() { 32 } else { 128 };
    let host_bits = bits.checked_sub(prefix_len).filter(|bits| *bits < 128)?;
    let mask = (1u128 << host_bits) - 1;
    let first = network.number() & !mask;
    let spared = u128::from(network.is_ipv4() && host_bits > 1);
    Some(network.like(first + spared)..=network.like((first | mask) - spared))
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
