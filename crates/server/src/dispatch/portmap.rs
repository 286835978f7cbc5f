//! The port mapper, versions 2 to 4 (RFC 1833), on the same port as the services that it lists.
//!
//! There is one port for all services, so a client that has the port of the port mapper finds the
//! rest. Registration is not possible.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use filestone_wire::portmap::rpcbind::{self, Rpcb};
use filestone_wire::portmap::{IPPROTO_TCP, IPPROTO_UDP, Mapping, Procedure, UniversalAddress};
use filestone_wire::rpc::{AcceptStatus, CallHeader};
use filestone_wire::xdr::{Encode, Reader, Writer};
use filestone_wire::{mount, nfs3, nlm, portmap};

use super::{CallRejection, Endpoints, Service, with_arguments};
use crate::{clock, listen};

/// Program and version of all services.
const PROGRAMS: [(u32, u32); 6] = [
    (portmap::PROGRAM, portmap::VERSION),
    (portmap::PROGRAM, rpcbind::VERSION_3),
    (portmap::PROGRAM, rpcbind::VERSION_4),
    (nfs3::PROGRAM, nfs3::VERSION),
    (mount::PROGRAM, mount::VERSION),
    (nlm::PROGRAM, nlm::VERSION),
];

/// An address family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Family {
    V4,
    V6,
}

impl Family {
    fn has(self, ip: IpAddr) -> bool {
        ip.is_ipv4() == (self == Self::V4)
    }

    fn loopback(self) -> IpAddr {
        match self {
            Self::V4 => Ipv4Addr::LOCALHOST.into(),
            Self::V6 => Ipv6Addr::LOCALHOST.into(),
        }
    }
}

/// Transports by network identifier (RFC 5665, section 5.1).
const NETIDS: [(&[u8], Family); 4] = [
    (b"tcp", Family::V4),
    (b"udp", Family::V4),
    (b"tcp6", Family::V6),
    (b"udp6", Family::V6),
];

const UNAVAILABLE: CallRejection = CallRejection::Accepted(AcceptStatus::ProcUnavail);

impl Service {
    pub(super) fn portmap(
        &self,
        header: &CallHeader<'_>,
        arguments: Reader<'_>,
        ends: &Endpoints,
        out: &mut Writer<'_>,
    ) -> Result<(), CallRejection> {
        if header.version == portmap::VERSION {
            let procedure = Procedure::from_number(header.procedure).ok_or(UNAVAILABLE)?;
            self.portmap_2(procedure, arguments, out)
        } else {
            let procedure = rpcbind::Procedure::of_version(header.procedure, header.version);
            self.rpcbind(procedure.ok_or(UNAVAILABLE)?, arguments, ends, out)
        }
    }

    fn portmap_2(
        &self,
        procedure: Procedure,
        arguments: Reader<'_>,
        out: &mut Writer<'_>,
    ) -> Result<(), CallRejection> {
        match procedure {
            Procedure::Null => with_arguments(arguments, out, |(), _| {})?,
            Procedure::Getport => with_arguments(arguments, out, |asked: Mapping, out| {
                let is_served = is_served(asked.program, asked.version)
                    && matches!(asked.protocol, IPPROTO_TCP | IPPROTO_UDP);
                out.u32(if is_served { self.port().into() } else { 0 });
            })?,
            Procedure::Dump => with_arguments(arguments, out, |(), out| {
                let mappings: Vec<Mapping> = PROGRAMS
                    .iter()
                    .flat_map(|&(program, version)| {
                        [IPPROTO_TCP, IPPROTO_UDP].map(|protocol| Mapping {
                            program,
                            version,
                            protocol,
                            port: self.port().into(),
                        })
                    })
                    .collect();
                mappings.encode(out);
            })?,
            // Only this server registers programs: "false".
            Procedure::Set | Procedure::Unset => {
                with_arguments(arguments, out, |_: Mapping, out| out.bool(false))?;
            }
            Procedure::Callit => return Err(UNAVAILABLE),
        }
        Ok(())
    }

    fn rpcbind(
        &self,
        procedure: rpcbind::Procedure,
        arguments: Reader<'_>,
        ends: &Endpoints,
        out: &mut Writer<'_>,
    ) -> Result<(), CallRejection> {
        use rpcbind::Procedure;
        match procedure {
            Procedure::Null => with_arguments(arguments, out, |(), _| {})?,
            Procedure::Getaddr | Procedure::Getversaddr => {
                with_arguments(arguments, out, |asked: Rpcb<'_>, out| {
                    let address = self.address_of(asked.program, asked.version, asked.netid, ends);
                    out.opaque(address.unwrap_or_default().as_bytes());
                })?;
            }
            Procedure::Dump => with_arguments(arguments, out, |(), out| {
                self.rpcbind_dump(ends, out);
            })?,
            Procedure::Gettime => with_arguments(arguments, out, |(), out| {
                out.u32((clock::now() / 1_000_000_000) as u32);
            })?,
            Procedure::Set | Procedure::Unset => {
                with_arguments(arguments, out, |_: Rpcb<'_>, out| out.bool(false))?;
            }
            Procedure::Bcast
            | Procedure::Uaddr2taddr
            | Procedure::Taddr2uaddr
            | Procedure::Indirect
            | Procedure::Getaddrlist
            | Procedure::Getstat => return Err(UNAVAILABLE),
        }
        Ok(())
    }

    /// Returns the universal address of a program that this caller can reach.
    fn address_of(
        &self,
        program: u32,
        version: u32,
        netid: &[u8],
        ends: &Endpoints,
    ) -> Option<String> {
        let (_, family) = NETIDS.iter().find(|(known, _)| *known == netid)?;
        let ip = self.reachable(*family, ends)?;
        let address = UniversalAddress(SocketAddr::new(ip, self.port()));
        is_served(program, version).then(|| address.text())
    }

    /// Returns the server's address of this family for a caller: the one that it has reached, or
    /// another that it could reach. `None` if there is none, or if it cannot be determined.
    fn reachable(&self, family: Family, ends: &Endpoints) -> Option<IpAddr> {
        let reached = if ends.local.ip().is_unspecified() {
            listen::local_towards(ends.peer)?
        } else {
            ends.local.ip()
        };
        if family.has(reached) {
            return Some(reached);
        }
        let listening = self.addresses.iter().map(SocketAddr::ip);
        let ip = listening.into_iter().find(|ip| family.has(*ip))?;
        if ip.is_unspecified() {
            reached.is_loopback().then_some(family.loopback())
        } else {
            Some(ip)
        }
    }

    fn port(&self) -> u16 {
        self.addresses.first().map_or(0, SocketAddr::port)
    }

    fn rpcbind_dump(&self, ends: &Endpoints, out: &mut Writer<'_>) {
        for (program, version) in PROGRAMS {
            for (netid, _) in NETIDS {
                let Some(address) = self.address_of(program, version, netid, ends) else {
                    continue;
                };
                out.bool(true);
                Rpcb {
                    program,
                    version,
                    netid,
                    address: address.as_bytes(),
                    owner: b"filestone",
                }
                .encode(out);
            }
        }
        out.bool(false);
    }
}

fn is_served(program: u32, version: u32) -> bool {
    PROGRAMS.contains(&(program, version))
}
