//! Messages of rtnetlink: a fixed header and attributes (RFC 3549; rtnetlink(7)).
//!
//! Fields are accessed by offset, and attributes by type: a library with a Rust type for each message and attribute
//! takes longer to compile than most of the engine.

use linux_raw_sys::netlink::{RTM_DELADDR, RTM_DELLINK, RTM_DELROUTE, RTM_DELRULE};
use linux_raw_sys::netlink::{RTM_GETADDR, RTM_GETLINK, RTM_GETROUTE, RTM_GETRULE};
use linux_raw_sys::netlink::{RTM_NEWADDR, RTM_NEWLINK, RTM_NEWROUTE, RTM_NEWRULE, RTM_SETLINK};
use netlink_packet_core::{
    DecodeError, Emitable as _, NetlinkDeserializable, NetlinkHeader, NetlinkSerializable, Nla,
    NlasIterator, parse_ip, parse_string, parse_u8, parse_u32,
};
use std::net::IpAddr;

/// Offset of the address family, in every header.
pub const FAMILY: usize = 0;
// In `struct ifinfomsg`.
pub const LINK_INDEX: usize = 4;
pub const LINK_FLAGS: usize = 8;
pub const LINK_CHANGE_MASK: usize = 12;
// In `struct ifaddrmsg`.
pub const ADDRESS_PREFIX_LEN: usize = 1;
pub const ADDRESS_FLAGS: usize = 2;
pub const ADDRESS_LINK: usize = 4;
// In `struct rtmsg`, and in `struct fib_rule_hdr`, which has the action in place of the type.
pub const DESTINATION_LEN: usize = 1;
pub const SOURCE_LEN: usize = 2;
pub const TABLE: usize = 4;
pub const ROUTE_PROTOCOL: usize = 5;
pub const ROUTE_SCOPE: usize = 6;
pub const ROUTE_TYPE: usize = 7;
pub const RULE_ACTION: usize = 7;
pub const ROUTE_FLAGS: usize = 8;

/// Types of messages.
pub mod kind {
    macro_rules! kinds {
        ($($name:ident)*) => { $(pub const $name: u16 = super::$name as u16;)* };
    }
    kinds! {
        RTM_NEWLINK RTM_DELLINK RTM_GETLINK RTM_SETLINK RTM_NEWADDR RTM_DELADDR RTM_GETADDR
        RTM_NEWROUTE RTM_DELROUTE RTM_GETROUTE RTM_NEWRULE RTM_DELRULE RTM_GETRULE
    }
}

/// A message of rtnetlink.
#[derive(Debug, Clone, PartialEq)]
pub struct RouteMessage {
    kind: u16,
    header: Vec<u8>,
    pub attributes: Attributes,
}

/// Returns the length of the fixed header of messages of this type; `None` for types that filestone does not use.
fn header_len(kind: u16) -> Option<usize> {
    Some(match kind {
        kind::RTM_NEWLINK..=kind::RTM_SETLINK => 16,
        kind::RTM_NEWADDR..=kind::RTM_GETADDR => 8,
        kind::RTM_NEWROUTE..=kind::RTM_GETROUTE | kind::RTM_NEWRULE..=kind::RTM_GETRULE => 12,
        _ => return None,
    })
}

impl RouteMessage {
    /// Creates a message whose header is zero.
    pub fn new(kind: u16) -> Self {
        Self {
            kind,
            header: vec![0; header_len(kind).unwrap_or_default()],
            attributes: Attributes::default(),
        }
    }

    /// Sets a byte of the header.
    pub fn byte(mut self, offset: usize, value: u8) -> Self {
        self.header.splice(offset..=offset, [value]);
        self
    }

    /// Sets a number of four bytes in the header.
    pub fn number(mut self, offset: usize, value: u32) -> Self {
        self.header.splice(offset..offset + 4, value.to_ne_bytes());
        self
    }

    /// Adds an attribute. `kind` is the number of its type.
    pub fn with(mut self, kind: u32, value: impl Into<Vec<u8>>) -> Self {
        self.attributes = self.attributes.with(kind, value);
        self
    }

    /// Returns a byte of the header.
    pub fn byte_at(&self, offset: usize) -> u8 {
        self.header.get(offset).copied().unwrap_or_default()
    }

    /// Returns a number of four bytes in the header.
    pub fn number_at(&self, offset: usize) -> u32 {
        let bytes = self.header.get(offset..offset + 4);
        bytes
            .and_then(|bytes| parse_u32(bytes).ok())
            .unwrap_or_default()
    }

    /// Returns whether this is an object of the list that a request of this type asks for. For each kind of object,
    /// the types have the order new, delete, get.
    pub fn is_listed_by(&self, get: u16) -> bool {
        self.kind + 2 == get
    }

    /// Returns the type.
    pub const fn kind(&self) -> u16 {
        self.kind
    }
}

/// The attributes of a message, or those within an attribute.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Attributes(Vec<Attribute>);

#[derive(Debug, Clone, PartialEq)]
struct Attribute {
    kind: u16,
    value: Vec<u8>,
}

impl Nla for Attribute {
    fn value_len(&self) -> usize {
        self.value.len()
    }

    fn kind(&self) -> u16 {
        self.kind
    }

    fn emit_value(&self, buffer: &mut [u8]) {
        buffer.copy_from_slice(&self.value);
    }
}

impl Attributes {
    fn parse(bytes: &[u8]) -> Result<Self, DecodeError> {
        let attributes = NlasIterator::new(bytes).map(|attribute| {
            let attribute = attribute?;
            Ok(Attribute {
                kind: attribute.kind(),
                value: attribute.value().to_vec(),
            })
        });
        attributes.collect::<Result<_, _>>().map(Self)
    }

    /// Adds an attribute.
    pub fn with(mut self, kind: u32, value: impl Into<Vec<u8>>) -> Self {
        self.0.push(Attribute {
            kind: kind as u16,
            value: value.into(),
        });
        self
    }

    /// Returns the value of an attribute, if it exists.
    pub fn get(&self, kind: u32) -> Option<&[u8]> {
        let named = self.0.iter().find(|own| u32::from(own.kind) == kind);
        named.map(|own| own.value.as_slice())
    }

    pub fn byte(&self, kind: u32) -> Option<u8> {
        parse_u8(self.get(kind)?).ok()
    }

    pub fn number(&self, kind: u32) -> Option<u32> {
        parse_u32(self.get(kind)?).ok()
    }

    pub fn address(&self, kind: u32) -> Option<IpAddr> {
        parse_ip(self.get(kind)?).ok()
    }

    pub fn text(&self, kind: u32) -> Option<String> {
        parse_string(self.get(kind)?).ok()
    }

    /// Returns the attributes within an attribute.
    pub fn nested(&self, kind: u32) -> Option<Self> {
        Self::parse(self.get(kind)?).ok()
    }
}

impl From<Attributes> for Vec<u8> {
    fn from(attributes: Attributes) -> Self {
        let attributes = attributes.0.as_slice();
        let mut bytes = vec![0; attributes.buffer_len()];
        attributes.emit(&mut bytes);
        bytes
    }
}

/// Returns the bytes of an address.
pub fn octets(address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(address) => address.octets().into(),
        IpAddr::V6(address) => address.octets().into(),
    }
}

impl NetlinkSerializable for RouteMessage {
    fn message_type(&self) -> u16 {
        self.kind
    }

    fn buffer_len(&self) -> usize {
        self.header.len() + self.attributes.0.as_slice().buffer_len()
    }

    fn serialize(&self, buffer: &mut [u8]) {
        let bytes = [self.header.clone(), self.attributes.clone().into()].concat();
        buffer.copy_from_slice(&bytes);
    }
}

impl NetlinkDeserializable for RouteMessage {
    type Error = DecodeError;

    fn deserialize(header: &NetlinkHeader, payload: &[u8]) -> Result<Self, DecodeError> {
        let kind = header.message_type;
        let len = header_len(kind)
            .ok_or_else(|| DecodeError::from(format!("message type {kind} is unknown")))?;
        let (header, attributes) = payload
            .split_at_checked(len)
            .ok_or_else(|| DecodeError::from("the message is shorter than its header"))?;
        Ok(Self {
            kind,
            header: header.into(),
            attributes: Attributes::parse(attributes)?,
        })
    }
}

impl From<RouteMessage> for netlink_packet_core::NetlinkPayload<RouteMessage> {
    fn from(message: RouteMessage) -> Self {
        Self::InnerMessage(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linux_raw_sys::netlink::{IFA_ADDRESS, IFA_LOCAL, IFLA_INFO_KIND, IFLA_LINKINFO};
    use netlink_packet_core::NetlinkMessage;

    /// RTM_NEWADDR of 127.0.0.7/32 on interface 1, by the layouts of netlink(7) and rtnetlink(7).
    const ADDRESS: &[u8] = &[
        40, 0, 0, 0, 20, 0, 5, 6, 9, 0, 0, 0, 0, 0, 0, 0, // nlmsghdr
        2, 32, 0x80, 0, 1, 0, 0, 0, // ifaddrmsg
        8, 0, 2, 0, 127, 0, 0, 7, // IFA_LOCAL
        8, 0, 1, 0, 127, 0, 0, 7, // IFA_ADDRESS
    ];

    #[test]
    #[cfg(target_endian = "little")]
    fn a_message_has_the_layout_of_rtnetlink() {
        let own = [127, 0, 0, 7];
        let message = RouteMessage::new(kind::RTM_NEWADDR)
            .byte(FAMILY, 2)
            .byte(ADDRESS_PREFIX_LEN, 32)
            .byte(ADDRESS_FLAGS, 0x80)
            .number(ADDRESS_LINK, 1)
            .with(IFA_LOCAL as u32, own)
            .with(IFA_ADDRESS as u32, own);
        let mut header = NetlinkHeader::default();
        (header.flags, header.sequence_number) = (0x605, 9);
        let mut framed = NetlinkMessage::new(header, message.clone().into());
        framed.finalize();
        let mut bytes = vec![0; framed.buffer_len()];
        framed.serialize(&mut bytes);
        assert_eq!(bytes, ADDRESS);
        let read = NetlinkMessage::<RouteMessage>::deserialize(ADDRESS).expect("it is complete");
        assert_eq!(read.payload, message.clone().into());
        assert_eq!(message.number_at(ADDRESS_LINK), 1);
        assert_eq!(
            message.attributes.address(IFA_LOCAL as u32),
            Some(own.into())
        );
        assert!(message.is_listed_by(kind::RTM_GETADDR));
    }

    #[test]
    fn attributes_within_an_attribute_are_found() {
        let inner = Attributes::default().with(IFLA_INFO_KIND as u32, *b"veth\0");
        let outer = Attributes::default().with(IFLA_LINKINFO as u32, inner);
        let bytes: Vec<u8> = outer.clone().into();
        assert_eq!(Attributes::parse(&bytes).ok().as_ref(), Some(&outer));
        let info = outer.nested(IFLA_LINKINFO as u32).expect("it is there");
        assert_eq!(info.text(IFLA_INFO_KIND as u32).as_deref(), Some("veth"));
        assert_eq!(info.number(IFLA_INFO_KIND as u32), None);
    }

    #[test]
    fn what_is_cut_short_is_an_error() {
        for len in [17, 20, 23, 27, 31] {
            let mut bytes = ADDRESS[..len].to_vec();
            bytes[0] = len as u8;
            assert!(
                NetlinkMessage::<RouteMessage>::deserialize(&bytes).is_err(),
                "{len}"
            );
        }
    }
}
