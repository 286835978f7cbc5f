//! Where a server listens that sends back what it receives.

use super::target::{parse_port, split_host};

const EXPECTED: &str = "expected HOST:PORT, with an IPv6 address in brackets, such as [::1]:7";

/// A host, by name or address without brackets, and a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EchoAddress {
    /// The host.
    pub host: String,
    /// The port.
    pub port: u16,
}

/// Reads `HOST:PORT`.
pub fn parse(text: &str) -> Result<EchoAddress, String> {
    if text.contains(['@', '/']) {
        return Err(EXPECTED.into());
    }
    let (host, after) = split_host(text).map_err(|_| EXPECTED)?;
    Ok(EchoAddress {
        host: host.into(),
        port: parse_port(after.strip_prefix(':').ok_or(EXPECTED)?)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_has_a_port() {
        let known = |host: &str, port| {
            let host = host.into();
            Ok(EchoAddress { host, port })
        };
        assert_eq!(parse("server:7"), known("server", 7));
        assert_eq!(parse("[::1]:7"), known("::1", 7));
        for wrong in [
            "server",
            "server:",
            "server:0",
            ":7",
            "server:7/x",
            "a@server:7",
        ] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
