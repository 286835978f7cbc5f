//! Executes changes of this host's addresses, one after the other.

use super::NetlinkError;
use super::netlink::Netlink;
use crate::control::Interrupted;
use crate::error::RunError;
use filestone_measure::addresses::{
    AddressChange, AddressItem, LINK_GROUP, LOCAL_TABLE, MacVlanMode as Mode, Network, PROTOCOL,
    RULE_PRIORITY,
};
use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL};
use netlink_packet_route::address::{
    AddressAttribute, AddressFlags, AddressHeaderFlags, AddressMessage, AddressProtocol,
    AddressScope,
};
use netlink_packet_route::link::{
    InfoData, InfoKind, InfoMacVlan, LinkAttribute, LinkFlags, LinkInfo, LinkMessage, MacVlanMode,
};
use netlink_packet_route::route::{
    RouteAttribute, RouteFlags, RouteHeader, RouteMessage, RouteProtocol, RouteScope, RouteType,
};
use netlink_packet_route::rule::{RuleAction, RuleAttribute, RuleMessage};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use rustix::io::Errno;
use rustix::net::netdevice::name_to_index;
use std::fs;
use std::io;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};

/// Executes all `changes`, and calls `done` after each with the number executed. Aborts between two
/// of them on `stop`.
pub fn execute(
    changes: &[AddressChange],
    stop: &AtomicBool,
    mut done: impl FnMut(u64),
) -> Result<(), RunError> {
    let mut netlink = Netlink::open()?;
    for (number, change) in (1..).zip(changes) {
        if stop.load(Ordering::Relaxed) {
            return Err(Interrupted.into());
        }
        match ask(&mut netlink, change)? {
            Err(error) if is_gone(change, &error) => {}
            outcome => outcome.map_err(|source| refused(change, source))?,
        }
        done(number);
    }
    Ok(())
}

/// Returns whether the object to remove does not exist any more.
fn is_gone(change: &AddressChange, error: &io::Error) -> bool {
    let gone = [Errno::NODEV, Errno::SRCH, Errno::NOENT, Errno::ADDRNOTAVAIL];
    let is_removal = match change {
        AddressChange::Remove(_)
        | AddressChange::RemoveMacVlan { .. }
        | AddressChange::RemoveAllMacVlans { .. } => true,
        AddressChange::AddMacVlan { .. } | AddressChange::SetUp { .. } | AddressChange::Add(_) => {
            false
        }
    };
    is_removal
        && gone
            .iter()
            .any(|gone| error.raw_os_error() == Some(gone.raw_os_error()))
}

fn refused(change: &AddressChange, source: io::Error) -> NetlinkError {
    let change = Box::new(change.clone());
    if source.kind() == io::ErrorKind::PermissionDenied {
        return NetlinkError::NotAllowed { change };
    }
    NetlinkError::Refused { change, source }
}

fn family_of(address: IpAddr) -> AddressFamily {
    if address.is_ipv4() {
        AddressFamily::Inet
    } else {
        AddressFamily::Inet6
    }
}

/// A request to the kernel.
enum Request {
    Make(RouteNetlinkMessage),
    Other(RouteNetlinkMessage),
}

fn ask(netlink: &mut Netlink, change: &AddressChange) -> Result<io::Result<()>, NetlinkError> {
    match request(change) {
        Err(error) => Ok(Err(error)),
        Ok(Request::Make(message)) => netlink.change(message, NLM_F_CREATE | NLM_F_EXCL),
        Ok(Request::Other(message)) => netlink.change(message, 0),
    }
}

/// Returns the request for a change. filestone's links get their settings here, since these are
/// files.
fn request(change: &AddressChange) -> io::Result<Request> {
    use RouteNetlinkMessage as Message;
    Ok(match change {
        AddressChange::AddMacVlan {
            name,
            parent,
            mode,
            mac,
        } => Request::Make(Message::NewLink(mac_vlan(
            name,
            index(parent)?,
            *mode,
            *mac,
        ))),
        AddressChange::SetUp { link, has_ipv6 } => {
            prepare(link, *has_ipv6)?;
            let mut message = LinkMessage::default();
            message.header.index = index(link)?;
            message.header.flags = LinkFlags::Up;
            message.header.change_mask = LinkFlags::Up;
            Request::Other(Message::SetLink(message))
        }
        AddressChange::Add(item) => Request::Make(match item {
            AddressItem::Address { link, address } => {
                Message::NewAddress(address_message(index(link)?, *address))
            }
            AddressItem::Route {
                table,
                destination,
                link,
                gateway,
            } => Message::NewRoute(route(*table, *destination, index(link)?, *gateway)),
            AddressItem::Rule { source, table } => Message::NewRule(rule(*source, *table)),
        }),
        AddressChange::Remove(item) => Request::Other(match item {
            AddressItem::Address { link, address } => {
                Message::DelAddress(address_message(index(link)?, *address))
            }
            AddressItem::Route {
                table,
                destination,
                link,
                gateway,
            } => Message::DelRoute(route(*table, *destination, index(link)?, *gateway)),
            AddressItem::Rule { source, table } => Message::DelRule(rule(*source, *table)),
        }),
        AddressChange::RemoveMacVlan { name } => {
            let mut message = LinkMessage::default();
            message.header.index = index(name)?;
            Request::Other(Message::DelLink(message))
        }
        AddressChange::RemoveAllMacVlans { .. } => {
            let mut message = LinkMessage::default();
            message.attributes.push(LinkAttribute::Group(LINK_GROUP));
            Request::Other(Message::DelLink(message))
        }
    })
}

fn index(link: &str) -> io::Result<u32> {
    let socket = rustix::net::socket(
        rustix::net::AddressFamily::INET,
        rustix::net::SocketType::DGRAM,
        None,
    )?;
    Ok(name_to_index(&socket, link)?)
}

/// The group is set when the link is created, so that filestone can identify it at any moment.
fn mac_vlan(name: &str, parent: u32, mode: Mode, mac: Option<[u8; 6]>) -> LinkMessage {
    let mode = match mode {
        Mode::Bridge => MacVlanMode::Bridge,
        Mode::Private => MacVlanMode::Private,
        Mode::Passthru => MacVlanMode::Passthrough,
    };
    let mut message = LinkMessage::default();
    let own = InfoData::MacVlan(vec![InfoMacVlan::Mode(mode)]);
    message.attributes = vec![
        LinkAttribute::IfName(name.into()),
        LinkAttribute::Link(parent),
        LinkAttribute::Group(LINK_GROUP),
        LinkAttribute::LinkInfo(vec![LinkInfo::Kind(InfoKind::MacVlan), LinkInfo::Data(own)]),
    ];
    message
        .attributes
        .extend(mac.map(|mac| LinkAttribute::Address(mac.into())));
    message
}

/// Writes the settings of a link of filestone before it is up: it answers ARP only for its own
/// address, so that servers, too, see one MAC address per link; and without IPv6 it sends nothing
/// by itself.
fn prepare(link: &str, has_ipv6: bool) -> io::Result<()> {
    fs::write(format!("/proc/sys/net/ipv4/conf/{link}/arp_ignore"), "1")?;
    if has_ipv6 {
        return Ok(());
    }
    match fs::write(format!("/proc/sys/net/ipv6/conf/{link}/disable_ipv6"), "1") {
        // This kernel has no IPv6.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        written => written,
    }
}

fn address_message(link: u32, address: IpAddr) -> AddressMessage {
    let single = Network::single(address);
    let mut message = AddressMessage::default();
    message.header.family = family_of(address);
    message.header.prefix_len = single.prefix_len();
    message.header.index = link;
    message.header.scope = AddressScope::Universe;
    message.attributes = vec![
        AddressAttribute::Local(address),
        AddressAttribute::Address(address),
        AddressAttribute::Protocol(AddressProtocol::Other(PROTOCOL)),
    ];
    if address.is_ipv6() {
        // Without this flag the address cannot be used before duplicate detection, which takes a
        // second or two.
        message.header.flags = AddressHeaderFlags::Nodad;
        let flags = AddressAttribute::Flags(AddressFlags::Nodad);
        message.attributes.push(flags);
    }
    message
}

fn route(table: u32, destination: Network, link: u32, gateway: Option<IpAddr>) -> RouteMessage {
    let is_local = table == LOCAL_TABLE;
    let mut message = RouteMessage::default();
    message.header = RouteHeader {
        address_family: family_of(destination.first()),
        destination_prefix_length: destination.prefix_len(),
        // A table number that does not fit is sent as an attribute.
        table: u8::try_from(table).unwrap_or(RouteHeader::RT_TABLE_UNSPEC),
        protocol: RouteProtocol::Other(PROTOCOL),
        scope: match gateway {
            _ if is_local => RouteScope::Host,
            Some(_) => RouteScope::Universe,
            None => RouteScope::Link,
        },
        kind: if is_local {
            RouteType::Local
        } else {
            RouteType::Unicast
        },
        flags: gateway.map_or(RouteFlags::empty(), |_| RouteFlags::Onlink),
        ..RouteHeader::default()
    };
    message.attributes = vec![RouteAttribute::Table(table), RouteAttribute::Oif(link)];
    if destination.prefix_len() > 0 {
        let first = RouteAttribute::Destination(destination.first().into());
        message.attributes.push(first);
    }
    let gateway = gateway.map(|gateway| RouteAttribute::Gateway(gateway.into()));
    message.attributes.extend(gateway);
    message
}

fn rule(source: IpAddr, table: u32) -> RuleMessage {
    let mut message = RuleMessage::default();
    message.header.family = family_of(source);
    message.header.src_len = Network::single(source).prefix_len();
    message.header.action = RuleAction::ToTable;
    message.attributes = vec![
        RuleAttribute::Source(source),
        RuleAttribute::Table(table),
        RuleAttribute::Priority(RULE_PRIORITY),
        RuleAttribute::Protocol(RouteProtocol::Other(PROTOCOL)),
    ];
    message
}
