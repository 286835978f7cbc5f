//! Universal addresses: "h1.h2.h3.h4.p1.p2" (RFC 5665, section 5.2.3).
//!
//! RFC 1833 leaves their form to the transport; RFC 5665 defines it for IPv4 and IPv6. The last two
//! numbers are the bytes of the port.

use alloc::string::String;
use core::fmt::{self, Write as _};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use core::str::FromStr;

/// A host and a port, displayed and parsed as a universal address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct UniversalAddress(pub SocketAddr);

/// Text that is not a universal address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a universal address, which is \"h1.h2.h3.h4.p1.p2\" or \"x:x::x.p1.p2\"")]
pub struct NotUniversalAddress;

impl UniversalAddress {
    /// Parses an address from bytes. An empty one, with which rpcbind reports that the program is
    /// not registered, is not an address.
    pub fn parse(bytes: &[u8]) -> Result<Self, NotUniversalAddress> {
        core::str::from_utf8(bytes)
            .map_err(|_| NotUniversalAddress)?
            .parse()
    }

    /// The port of the address.
    pub const fn port(&self) -> u16 {
        self.0.port()
    }

    /// Returns the address as text for a message.
    pub fn text(&self) -> String {
        let mut text = String::new();
        // Writing into a string cannot fail.
        let _ = write!(text, "{self}");
        text
    }

    /// Returns the network identifier for this address: "tcp", "udp", "tcp6" or "udp6" (RFC 5665,
    /// section 5.2.3).
    pub const fn netid(&self, tcp: bool) -> &'static str {
        match (self.0, tcp) {
            (SocketAddr::V4(_), true) => "tcp",
            (SocketAddr::V4(_), false) => "udp",
            (SocketAddr::V6(_), true) => "tcp6",
            (SocketAddr::V6(_), false) => "udp6",
        }
    }
}

impl fmt::Display for UniversalAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [high, low] = self.0.port().to_be_bytes();
        write!(f, "{}.{high}.{low}", self.0.ip())
    }
}

impl FromStr for UniversalAddress {
    type Err = NotUniversalAddress;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parts(text).ok_or(NotUniversalAddress)
    }
}

fn parts(text: &str) -> Option<UniversalAddress> {
    let (rest, low) = text.rsplit_once('.')?;
    let (host, high) = rest.rsplit_once('.')?;
    let port = u16::from_be_bytes([port_byte(high)?, port_byte(low)?]);
    let ip = if host.contains(':') {
        IpAddr::V6(host.parse::<Ipv6Addr>().ok()?)
    } else {
        IpAddr::V4(host.parse::<Ipv4Addr>().ok()?)
    };
    Some(UniversalAddress(SocketAddr::new(ip, port)))
}

/// Parses a number up to 255 of digits only; `u8::from_str` would accept a sign.
fn port_byte(text: &str) -> Option<u8> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        text.parse().ok()
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_shown_and_read_with_the_port_as_two_bytes() {
        for (text, address) in [
            ("127.0.0.1.8.1", "127.0.0.1:2049"),
            ("0.0.0.0.0.111", "0.0.0.0:111"),
            ("10.1.2.3.255.255", "10.1.2.3:65535"),
            ("::1.8.1", "[::1]:2049"),
            ("::.78.80", "[::]:20048"),
            ("fe80::1:2.0.111", "[fe80::1:2]:111"),
            ("::ffff:10.0.0.1.8.1", "[::ffff:10.0.0.1]:2049"),
        ] {
            let expected = UniversalAddress(address.parse().unwrap());
            assert_eq!(
                UniversalAddress::parse(text.as_bytes()),
                Ok(expected),
                "{text}"
            );
            assert_eq!(expected.text(), text);
        }
    }

    #[test]
    fn what_is_not_an_address_is_refused() {
        for text in [
            "",
            ".",
            "1.2",
            "1.2.3.4",
            "1.2.3.4.5",
            "1.2.3.4.5.256",
            "1.2.3.4.+5.6",
            "::1.8",
            "a.b",
        ] {
            assert_eq!(
                UniversalAddress::parse(text.as_bytes()),
                Err(NotUniversalAddress),
                "{text}"
            );
        }
        assert_eq!(
            UniversalAddress::parse(&[0xff, 0xfe]),
            Err(NotUniversalAddress)
        );
    }
}
