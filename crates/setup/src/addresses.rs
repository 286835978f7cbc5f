//! Resolution of host names.

use filestone_host::error::RunError;
use std::net::{SocketAddr, ToSocketAddrs};

/// Resolves a host name to at least one address.
pub fn resolve(host: &str, port: u16) -> Result<Vec<SocketAddr>, RunError> {
    let error = |source| RunError::Resolve {
        host: host.into(),
        source,
    };
    let addresses: Vec<SocketAddr> = (host, port).to_socket_addrs().map_err(error)?.collect();
    if addresses.is_empty() {
        return Err(error(std::io::ErrorKind::NotFound.into()));
    }
    Ok(addresses)
}
