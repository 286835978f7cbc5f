//! Finds the port of a program through the port mapper (RFC 1833), or through rpcbind for IPv6.

use crate::driver::{CallFailed, Program, RpcConnection};
use filestone_wire::portmap::rpcbind::{self, Rpcb};
use filestone_wire::portmap::{self, Mapping, UniversalAddress};
use std::net::SocketAddr;

const PORTMAPPER: Program = Program::new(portmap::PROGRAM, portmap::VERSION);
const RPCBIND: Program = Program {
    version: rpcbind::VERSION_4,
    ..PORTMAPPER
};

/// Error of a port lookup.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PortmapError {
    /// The port mapper does not answer.
    #[error("no port mapper answers at port {0}")]
    NoPortmapper(u16),
    /// The program is not registered.
    #[error("the port mapper at port {0} does not know where it is")]
    NotRegistered(u16),
}

/// Program and transport to look up.
#[derive(Debug, Clone, Copy)]
pub struct ProgramQuery {
    /// The program.
    pub program: Program,
    /// Whether the transport is TCP rather than UDP.
    pub is_tcp: bool,
}

/// Returns the port of a program from the port mapper at the other end of `connection`.
pub fn ask(connection: &mut RpcConnection, wanted: ProgramQuery) -> Result<u16, PortmapError> {
    let address = connection.dial().address;
    if address.is_ipv6()
        && let Some(port) = ask_rpcbind(connection, address, wanted)
    {
        return Ok(port);
    }
    let mapping = Mapping {
        program: wanted.program.number,
        version: wanted.program.version,
        protocol: if wanted.is_tcp {
            portmap::IPPROTO_TCP
        } else {
            portmap::IPPROTO_UDP
        },
        port: 0,
    };
    let getport = PORTMAPPER.procedure(portmap::Procedure::Getport.number(), "getport");
    let port: Result<u32, CallFailed> = connection.call(getport, &mapping);
    let port = port.map_err(|_| PortmapError::NoPortmapper(address.port()))?;
    let port = u16::try_from(port).ok().filter(|port| *port != 0);
    port.ok_or(PortmapError::NotRegistered(address.port()))
}

/// Returns all registrations of the port mapper at the other end of `connection`; `None` if it does
/// not answer.
pub fn dump(connection: &mut RpcConnection) -> Option<Vec<Mapping>> {
    let dump = PORTMAPPER.procedure(portmap::Procedure::Dump.number(), "dump");
    connection.call::<portmap::DumpReply>(dump, &()).ok()
}

/// Asks rpcbind version 4, which supports IPv6.
fn ask_rpcbind(
    connection: &mut RpcConnection,
    server: SocketAddr,
    wanted: ProgramQuery,
) -> Option<u16> {
    let address = UniversalAddress(server);
    let text = address.text();
    let rpcb = Rpcb {
        program: wanted.program.number,
        version: wanted.program.version,
        netid: address.netid(wanted.is_tcp).as_bytes(),
        address: text.as_bytes(),
        owner: b"",
    };
    let getaddr = RPCBIND.procedure(rpcbind::Procedure::Getaddr.number(), "getaddr");
    let text: &[u8] = connection.call(getaddr, &rpcb).ok()?;
    let address = UniversalAddress::parse(text).ok()?;
    Some(address.port()).filter(|port| *port != 0)
}
