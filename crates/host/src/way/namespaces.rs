//! Other network namespaces of this host: containers, and those of `ip netns`. A server in one of
//! them shares the processors with this process, although its address is not in this namespace.

use crate::addresses::{LINK_INDEX, Netlink, RouteMessage, interfaces};
use linux_raw_sys::netlink::{
    IFLA_IFNAME, IFLA_INFO_KIND, IFLA_LINK, IFLA_LINK_NETNSID, IFLA_LINKINFO, IFLA_MASTER,
};
use std::collections::HashSet;
use std::fs::{self, File};
use std::io::Read as _;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

/// Maximum number of processes whose namespaces are inspected.
const PROCESSES_MAX: usize = 10_000;
/// Maximum length read of a namespace's table.
const TABLE_MAX: u64 = 1 << 20;
/// Maximum depth of stacked interfaces that are followed.
const DEPTH_MAX: u32 = 4;

/// Returns whether an interface leads to network namespaces of this host and, as seen from this
/// namespace, nowhere else: a veth, a bridge of veths, or a MAC-VLAN on one of them. `/sys` is not
/// read: it may show another namespace.
pub(super) fn leads_to_one(interface: &str) -> bool {
    let listed = Netlink::open().and_then(|mut netlink| interfaces(&mut netlink));
    let links: Vec<Link> = listed.unwrap_or_default().iter().map(Link::of).collect();
    let named = links.iter().find(|link| link.name == interface);
    named.is_some_and(|link| leads(&links, link, DEPTH_MAX))
}

/// An interface of this namespace.
#[derive(Debug, Default)]
struct Link {
    name: String,
    index: u32,
    /// The kernel's name of its kind, such as `veth`; empty for a device.
    kind: String,
    /// Index of the underlying interface, if that is in this namespace.
    parent: Option<u32>,
    /// Index of the bridge that the interface is a port of.
    bridge: Option<u32>,
}

impl Link {
    fn of(message: &RouteMessage) -> Self {
        let attributes = &message.attributes;
        let is_elsewhere = attributes.get(IFLA_LINK_NETNSID as u32).is_some();
        let parent = attributes.number(IFLA_LINK as u32);
        let info = attributes.nested(IFLA_LINKINFO as u32);
        let kind = info.and_then(|info| info.text(IFLA_INFO_KIND as u32));
        Self {
            name: attributes.text(IFLA_IFNAME as u32).unwrap_or_default(),
            index: message.number_at(LINK_INDEX),
            kind: kind.unwrap_or_default(),
            parent: parent.filter(|_| !is_elsewhere),
            bridge: attributes.number(IFLA_MASTER as u32),
        }
    }
}

fn leads(links: &[Link], link: &Link, depth: u32) -> bool {
    let led = |other: &Link| depth > 0 && leads(links, other, depth - 1);
    match link.kind.as_str() {
        "veth" => true,
        "bridge" => {
            let is_port = |other: &&Link| other.bridge == Some(link.index);
            let mut ports = links.iter().filter(is_port);
            // An empty bridge leads nowhere, but `all` would be true for it.
            ports.next().is_some_and(led) && ports.all(led)
        }
        "macvlan" => {
            let parent = links.iter().find(|other| Some(other.index) == link.parent);
            parent.is_some_and(led)
        }
        _ => false,
    }
}

/// Returns whether another network namespace has the address. Only namespaces of processes that
/// this process may inspect are checked.
pub(super) fn have(address: IpAddr) -> bool {
    let Ok(own) = fs::read_link("/proc/self/ns/net") else {
        return false;
    };
    let mut seen: HashSet<PathBuf> = HashSet::from([own]);
    let Ok(processes) = fs::read_dir("/proc") else {
        return false;
    };
    let is_process = |name: &str| name.bytes().all(|byte| byte.is_ascii_digit());
    let numbers = processes.flatten().filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        is_process(&name).then(|| entry.path())
    });
    let mut namespaces = numbers.take(PROCESSES_MAX).filter(|process| {
        let namespace = fs::read_link(process.join("ns/net"));
        namespace.is_ok_and(|namespace| seen.insert(namespace))
    });
    namespaces.any(|process| {
        let table = |name: &str| read(&process.join("net").join(name)).unwrap_or_default();
        match address {
            IpAddr::V4(_) => has_in_trie(&table("fib_trie"), address),
            IpAddr::V6(_) => has_in_list(&table("if_inet6"), address),
        }
    })
}

fn read(path: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    let file = File::open(path).ok()?;
    file.take(TABLE_MAX).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Parses `|-- 10.0.0.2` and, in the next line, `/32 host LOCAL`.
fn has_in_trie(table: &str, address: IpAddr) -> bool {
    let address = address.to_string();
    let lines = || table.lines().map(str::trim_start);
    let pairs = lines().zip(lines().skip(1));
    let mut own = pairs.filter(|(_, kind)| kind.starts_with("/32 host LOCAL"));
    own.any(|(name, _)| {
        name.strip_prefix("|-- ")
            .is_some_and(|name| name.trim_end() == address)
    })
}

/// Parses an address of 32 digits, then numbers, then the interface.
fn has_in_list(table: &str, address: IpAddr) -> bool {
    let IpAddr::V6(address) = address else {
        return false;
    };
    let digits = format!("{:032x}", u128::from(address));
    table.lines().any(|line| line.starts_with(&digits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_a_namespace_is_found_in_its_tables() {
        let trie = "Local:\n  +-- 10.0.0.0/24 2 0 2\n     +-- 10.0.0.0/30 2 0 2\n        |-- 10.0.0.0\n           \
                    /24 link UNICAST\n        |-- 10.0.0.2\n           /32 host LOCAL\n     |-- 10.0.0.255\n        \
                    /32 link BROADCAST\n";
        let has = |text: &str| has_in_trie(trie, text.parse().expect("an address"));
        assert!(has("10.0.0.2"));
        assert!(!has("10.0.0.255") && !has("10.0.0.0") && !has("10.0.0.20"));
        let list = "fd000000000000000000000000000002 02 40 00 80     eth0\n";
        let has = |text: &str| has_in_list(list, text.parse().expect("an address"));
        assert!(has("fd00::2") && !has("fd00::1"));
    }

    #[test]
    fn a_veth_what_is_on_one_and_a_bridge_of_such_lead_to_namespaces_alone() {
        let link = |name: &str, index, kind: &str, parent, bridge| Link {
            name: name.into(),
            index,
            kind: kind.into(),
            parent,
            bridge,
        };
        let links = [
            link("eth0", 2, "", None, Some(7)),
            link("veth0", 5, "veth", None, Some(6)),
            link("docker0", 6, "bridge", None, None),
            link("br0", 7, "bridge", None, None),
            link("veth1", 8, "veth", None, Some(7)),
            link("tun0", 9, "tun", None, None),
            link("on-veth", 10, "macvlan", Some(8), None),
            link("on-eth", 11, "macvlan", Some(2), None),
            // Its parent is in another namespace, where an index means another interface.
            link("of-a-container", 12, "macvlan", None, None),
            link("on-itself", 13, "macvlan", Some(13), None),
            link("empty", 14, "bridge", None, None),
        ];
        for link in &links {
            let leads = leads(&links, link, DEPTH_MAX);
            let expected = ["veth0", "veth1", "docker0", "on-veth"].contains(&link.name.as_str());
            assert_eq!(leads, expected, "{}", link.name);
        }
    }

    #[test]
    fn interfaces_of_this_host_can_be_asked_for() {
        assert!(!leads_to_one("lo"));
        assert!(!leads_to_one("no such interface"));
    }
}
