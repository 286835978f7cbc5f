//! The port mapper's answers, versions 2 to 4 (RFC 1833), on the port they are about.
//!
//! There is one port for everything, so a client that was told where to find the port mapper
//! finds the rest. Nothing can be registered.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use filestone_wire::portmap::rpcbind::{self, Rpcb};
use filestone_wire::portmap::{IPPROTO_TCP, IPPROTO_UDP, Mapping, Procedure, UniversalAddress};
use filestone_wire::rpc::{AcceptStatus, CallHeader};
use filestone_wire::xdr::{Encode, Reader, Writer};
use filestone_wire::{mount, nfs3, nlm, portmap};

use super::{Refusal, Service, with_arguments};
use crate::clock;

/// Program and version of all that is served.
const PROGRAMS: [(u32, u32); 6] = [
    (portmap::PROGRAM, portmap::VERSION),
    (portmap::PROGRAM, rpcbind::VERSION_3),
    (portmap::PROGRAM, rpcbind::VERSION_4),
    (nfs3::PROGRAM, nfs3::VERSION),
    (mount::PROGRAM, mount::VERSION),
    (nlm::PROGRAM, nlm::VERSION),
];

const ANY_V4: IpAddr = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
const ANY_V6: IpAddr = IpAddr::V6(Ipv6Addr::UNSPECIFIED);

/// Transports by their network identifier (RFC 5665, section 5.1).
const NETIDS: [(&[u8], IpAddr); 4] = [
    (b"tcp", ANY_V4),
    (b"udp", ANY_V4),
    (b"tcp6", ANY_V6),
    (b"udp6", ANY_V6),
];

const UNAVAILABLE: Refusal = Refusal::Accepted(AcceptStatus::ProcUnavail);

impl Service {
    pub(super) fn portmap(
        &self,
        header: &CallHeader<'_>,
        arguments: Reader<'_>,
        out: &mut Writer<'_>,
    ) -> Result<(), Refusal> {
        if header.version == portmap::VERSION {
            let procedure = Procedure::from_number(header.procedure).ok_or(UNAVAILABLE)?;
            self.portmap_2(procedure, arguments, out)
        } else {
            let procedure = rpcbind::Procedure::from_number(header.procedure, header.version);
            self.rpcbind(procedure.ok_or(UNAVAILABLE)?, arguments, out)
        }
    }

    fn portmap_2(
        &self,
        procedure: Procedure,
        arguments: Reader<'_>,
        out: &mut Writer<'_>,
    ) -> Result<(), Refusal> {
        match procedure {
            Procedure::Null => with_arguments(arguments, out, |(), _| {})?,
            Procedure::Getport => with_arguments(arguments, out, |asked: Mapping, out| {
                let is_served = is_served(asked.program, asked.version)
                    && matches!(asked.protocol, IPPROTO_TCP | IPPROTO_UDP);
                out.u32(if is_served { self.port.into() } else { 0 });
            })?,
            Procedure::Dump => with_arguments(arguments, out, |(), out| {
                let mappings: Vec<Mapping> = PROGRAMS
                    .iter()
                    .flat_map(|&(program, version)| {
                        [IPPROTO_TCP, IPPROTO_UDP].map(|protocol| Mapping {
                            program,
                            version,
                            protocol,
                            port: self.port.into(),
                        })
                    })
                    .collect();
                mappings.encode(out);
            })?,
            // Nobody but us registers anything: "false".
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
        out: &mut Writer<'_>,
    ) -> Result<(), Refusal> {
        use rpcbind::Procedure;
        match procedure {
            Procedure::Null => with_arguments(arguments, out, |(), _| {})?,
            Procedure::Getaddr | Procedure::Getversaddr => {
                with_arguments(arguments, out, |asked: Rpcb<'_>, out| {
                    let address = self.address_of(asked.program, asked.version, asked.netid);
                    out.opaque(address.unwrap_or_default().as_bytes());
                })?;
            }
            Procedure::Dump => with_arguments(arguments, out, |(), out| self.rpcbind_dump(out))?,
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

    /// The universal address of a program; the host in it is "any", for the caller knows where
    /// it has reached us.
    fn address_of(&self, program: u32, version: u32, netid: &[u8]) -> Option<String> {
        let (_, ip) = NETIDS.iter().find(|(known, _)| *known == netid)?;
        let address = UniversalAddress(SocketAddr::new(*ip, self.port));
        is_served(program, version).then(|| address.text())
    }

    fn rpcbind_dump(&self, out: &mut Writer<'_>) {
        for (program, version) in PROGRAMS {
            for (netid, _) in NETIDS {
                let address = self.address_of(program, version, netid).unwrap_or_default();
                let address = address.as_bytes();
                out.bool(true);
                Rpcb {
                    program,
                    version,
                    netid,
                    address,
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
