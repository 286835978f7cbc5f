//! Executes changes of this host's addresses, one after the other.

use super::NetlinkError;
use super::listing::{MAC_VLAN, mode_number};
use super::message::{self, Attributes, RouteMessage, kind, octets};
use super::netlink::Netlink;
use crate::control::Interrupted;
use crate::error::RunError;
use filestone_measure::addresses::{
    AddressChange, AddressItem, LINK_GROUP, LOCAL_TABLE, MacVlanMode as Mode, Network, PROTOCOL,
    RULE_PRIORITY,
};
use linux_raw_sys::netlink::rtattr_type_t::{RTA_DST, RTA_GATEWAY, RTA_OIF, RTA_TABLE};
use linux_raw_sys::netlink::{
    FR_ACT_TO_TBL, FRA_PRIORITY, FRA_PROTOCOL, FRA_SRC, FRA_TABLE, IFA_ADDRESS, IFA_F_NODAD,
    IFA_FLAGS, IFA_LOCAL, IFA_PROTO, IFLA_ADDRESS, IFLA_GROUP, IFLA_IFNAME, IFLA_INFO_DATA,
    IFLA_INFO_KIND, IFLA_LINK, IFLA_LINKINFO, IFLA_MACVLAN_MODE, RTN_LOCAL, RTN_UNICAST,
    RTNH_F_ONLINK, rt_scope_t,
};
use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL};
use nix::libc::{AF_INET, AF_INET6, IFF_UP};
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

fn family_of(address: IpAddr) -> u8 {
    match address {
        IpAddr::V4(_) => AF_INET as u8,
        IpAddr::V6(_) => AF_INET6 as u8,
    }
}

fn ask(netlink: &mut Netlink, change: &AddressChange) -> Result<io::Result<()>, NetlinkError> {
    let makes = match change {
        AddressChange::AddMacVlan { .. } | AddressChange::Add(_) => NLM_F_CREATE | NLM_F_EXCL,
        AddressChange::SetUp { .. }
        | AddressChange::Remove(_)
        | AddressChange::RemoveMacVlan { .. }
        | AddressChange::RemoveAllMacVlans { .. } => 0,
    };
    match request(change) {
        Err(error) => Ok(Err(error)),
        Ok(message) => netlink.change(message, makes),
    }
}

/// Returns the request for a change. filestone's links get their settings here, since these are
/// files.
fn request(change: &AddressChange) -> io::Result<RouteMessage> {
    let delete_links = || RouteMessage::new(kind::RTM_DELLINK);
    Ok(match change {
        AddressChange::AddMacVlan {
            name,
            parent,
            mode,
            mac,
        } => mac_vlan(name, index(parent)?, *mode, *mac),
        AddressChange::SetUp { link, has_ipv6 } => {
            prepare(link, *has_ipv6)?;
            RouteMessage::new(kind::RTM_SETLINK)
                .number(message::LINK_INDEX, index(link)?)
                .number(message::LINK_FLAGS, IFF_UP as u32)
                .number(message::LINK_CHANGE_MASK, IFF_UP as u32)
        }
        AddressChange::Add(item) => match item {
            AddressItem::Address { .. } => item_message(item, kind::RTM_NEWADDR)?,
            AddressItem::Route { .. } => item_message(item, kind::RTM_NEWROUTE)?,
            AddressItem::Rule { .. } => item_message(item, kind::RTM_NEWRULE)?,
        },
        AddressChange::Remove(item) => match item {
            AddressItem::Address { .. } => item_message(item, kind::RTM_DELADDR)?,
            AddressItem::Route { .. } => item_message(item, kind::RTM_DELROUTE)?,
            AddressItem::Rule { .. } => item_message(item, kind::RTM_DELRULE)?,
        },
        AddressChange::RemoveMacVlan { name } => {
            delete_links().number(message::LINK_INDEX, index(name)?)
        }
        AddressChange::RemoveAllMacVlans { .. } => {
            delete_links().with(IFLA_GROUP as u32, LINK_GROUP.to_ne_bytes())
        }
    })
}

fn item_message(item: &AddressItem, kind: u16) -> io::Result<RouteMessage> {
    let message = RouteMessage::new(kind);
    Ok(match item {
        AddressItem::Address { link, address } => address_message(message, index(link)?, *address),
        AddressItem::Route {
            table,
            destination,
            link,
            gateway,
        } => route(message, *table, *destination, index(link)?, *gateway),
        AddressItem::Rule { source, table } => rule(message, *source, *table),
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
fn mac_vlan(name: &str, parent: u32, mode: Mode, mac: Option<[u8; 6]>) -> RouteMessage {
    let mode = mode_number(mode).to_ne_bytes();
    let data = Attributes::default().with(IFLA_MACVLAN_MODE as u32, mode);
    let info = Attributes::default()
        .with(IFLA_INFO_KIND as u32, MAC_VLAN)
        .with(IFLA_INFO_DATA as u32, data);
    let message = RouteMessage::new(kind::RTM_NEWLINK)
        .with(IFLA_IFNAME as u32, format!("{name}\0"))
        .with(IFLA_LINK as u32, parent.to_ne_bytes())
        .with(IFLA_GROUP as u32, LINK_GROUP.to_ne_bytes())
        .with(IFLA_LINKINFO as u32, info);
    match mac {
        Some(mac) => message.with(IFLA_ADDRESS as u32, mac),
        None => message,
    }
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

fn address_message(message: RouteMessage, link: u32, address: IpAddr) -> RouteMessage {
    let message = message
        .byte(message::FAMILY, family_of(address))
        .byte(
            message::ADDRESS_PREFIX_LEN,
            Network::single(address).prefix_len(),
        )
        .number(message::ADDRESS_LINK, link)
        .with(IFA_LOCAL as u32, octets(address))
        .with(IFA_ADDRESS as u32, octets(address))
        .with(IFA_PROTO as u32, [PROTOCOL]);
    if address.is_ipv4() {
        return message;
    }
    // Without this flag the address cannot be used before duplicate detection, which takes a second or two.
    message
        .byte(message::ADDRESS_FLAGS, IFA_F_NODAD as u8)
        .with(IFA_FLAGS as u32, IFA_F_NODAD.to_ne_bytes())
}

fn route(
    message: RouteMessage,
    table: u32,
    destination: Network,
    link: u32,
    gateway: Option<IpAddr>,
) -> RouteMessage {
    let is_local = table == LOCAL_TABLE;
    let kind = if is_local { RTN_LOCAL } else { RTN_UNICAST };
    let scope = match gateway {
        _ if is_local => rt_scope_t::RT_SCOPE_HOST,
        Some(_) => rt_scope_t::RT_SCOPE_UNIVERSE,
        None => rt_scope_t::RT_SCOPE_LINK,
    };
    let first = destination.first();
    let mut message = message
        .byte(message::FAMILY, family_of(first))
        .byte(message::DESTINATION_LEN, destination.prefix_len())
        // A number that does not fit is sent as an attribute only; 0 is RT_TABLE_UNSPEC.
        .byte(message::TABLE, u8::try_from(table).unwrap_or(0))
        .byte(message::ROUTE_PROTOCOL, PROTOCOL)
        .byte(message::ROUTE_SCOPE, scope as u8)
        .byte(message::ROUTE_TYPE, kind as u8)
        .with(RTA_TABLE as u32, table.to_ne_bytes())
        .with(RTA_OIF as u32, link.to_ne_bytes());
    if destination.prefix_len() > 0 {
        message = message.with(RTA_DST as u32, octets(first));
    }
    match gateway {
        Some(gateway) => message
            .number(message::ROUTE_FLAGS, RTNH_F_ONLINK)
            .with(RTA_GATEWAY as u32, octets(gateway)),
        None => message,
    }
}

fn rule(message: RouteMessage, source: IpAddr, table: u32) -> RouteMessage {
    message
        .byte(message::FAMILY, family_of(source))
        .byte(message::SOURCE_LEN, Network::single(source).prefix_len())
        .byte(message::RULE_ACTION, FR_ACT_TO_TBL as u8)
        .with(FRA_SRC as u32, octets(source))
        .with(FRA_TABLE as u32, table.to_ne_bytes())
        .with(FRA_PRIORITY as u32, RULE_PRIORITY.to_ne_bytes())
        .with(FRA_PROTOCOL as u32, [PROTOCOL])
}
