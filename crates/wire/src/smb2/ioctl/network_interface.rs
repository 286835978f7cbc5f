//! NETWORK_INTERFACE_INFO Response (section 2.2.32.5): addresses of the server for additional
//! channels of a session.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::smb2::codec::{Decode, DecodeError, Encode, Linked, Reader, Writer};

flags! {
    /// Capability.
    pub struct InterfaceCapability(u32) {
        /// RSS_CAPABLE.
        RSS = 0x1;
        /// RDMA_CAPABLE.
        RDMA = 0x2;
    }
}

/// SockAddr_Storage: 128 bytes, mostly unused by an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InterfaceAddress {
    /// An IP address. Its port is unused.
    Ip(IpAddr),
    /// Address of another family.
    Other(u16),
}

/// Numbers of address families in Windows.
mod family {
    pub const INET: u16 = 0x0002;
    pub const INET6: u16 = 0x0017;
}

/// Length of SockAddr_Storage after its family, in bytes.
const ADDRESS_LEN: usize = 126;

impl Encode for InterfaceAddress {
    fn encode(&self, out: &mut Writer<'_>) {
        let start = out.position();
        match self {
            Self::Ip(IpAddr::V4(address)) => {
                out.u16(family::INET);
                out.u16(0);
                out.bytes(&address.octets());
            }
            Self::Ip(IpAddr::V6(address)) => {
                out.u16(family::INET6);
                // The port and FlowInfo.
                out.zeros(6);
                out.bytes(&address.octets());
            }
            Self::Other(family) => out.u16(*family),
        }
        out.pad_from(start, 2 + ADDRESS_LEN);
    }
}

impl<'a> Decode<'a> for InterfaceAddress {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let family = reader.u16()?;
        let mut address = Reader::new(reader.take(ADDRESS_LEN)?);
        Ok(match family {
            family::INET => {
                address.skip(2)?;
                Self::Ip(Ipv4Addr::from(*address.array()?).into())
            }
            family::INET6 => {
                address.skip(6)?;
                Self::Ip(Ipv6Addr::from(*address.array()?).into())
            }
            family => Self::Other(family),
        })
    }
}

/// NETWORK_INTERFACE_INFO, without its link to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NetworkInterface {
    /// IfIndex.
    pub index: u32,
    /// Capability.
    pub capability: InterfaceCapability,
    /// LinkSpeed in bits per second.
    pub link_speed: u64,
    /// SockAddr_Storage.
    pub address: InterfaceAddress,
}

const LINKED: Linked = Linked {
    field: "Next",
    at: 0,
    least: 152,
    align: 8,
};

/// The interfaces in the output of a response.
pub fn interfaces(output: &[u8]) -> impl Iterator<Item = Result<NetworkInterface, DecodeError>> {
    LINKED.members(output).map(|member| {
        let mut reader = Reader::new(member?);
        reader.skip(4)?;
        let index = reader.u32()?;
        let capability = InterfaceCapability::decode(&mut reader)?;
        reader.skip(4)?;
        Ok(NetworkInterface {
            index,
            capability,
            link_speed: reader.u64()?,
            address: InterfaceAddress::decode(&mut reader)?,
        })
    })
}

/// Appends interfaces in the format of a response's output.
pub fn encode_interfaces(interfaces: &[NetworkInterface], out: &mut Writer<'_>) {
    let mut last = None;
    for interface in interfaces {
        if let Some(last) = last {
            LINKED.link(out, last);
        }
        last = Some(out.position());
        out.u32(0);
        out.u32(interface.index);
        interface.capability.encode(out);
        out.u32(0);
        out.u64(interface.link_speed);
        interface.address.encode(out);
    }
}
