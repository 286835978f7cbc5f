//! Other network namespaces of this host: containers, and what `ip netns` makes. What answers there shares
//! the processors with this process, though its address is none of this namespace's.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::Read as _;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

/// Processes whose namespaces are looked at, at most.
const PROCESSES_MAX: usize = 10_000;
/// A longer table of a namespace is read no further.
const TABLE_MAX: u64 = 1 << 20;
/// ARPHRD_ETHER.
const ETHERNET: u32 = 1;
/// Bridges of bridges are followed so far.
const DEPTH_MAX: u32 = 4;

/// Whether an interface leads to network namespaces of this host and, as far as this one sees, nowhere else: a
/// veth, or a bridge of such.
pub(super) fn leads_to_one(interface: &str) -> bool {
    leads(Path::new("/sys/class/net"), interface, DEPTH_MAX)
}

fn leads(net: &Path, interface: &str, depth: u32) -> bool {
    let folder = net.join(interface);
    if depth == 0 || folder.join("device").exists() {
        return false;
    }
    let ports = folder.join("brif");
    if let Ok(ports) = fs::read_dir(ports) {
        let mut names = ports.flatten().map(|port| port.file_name());
        let is_led = |name: std::ffi::OsString| {
            name.to_str()
                .is_some_and(|name| leads(net, name, depth - 1))
        };
        // An empty bridge leads nowhere, and `all` would say that it leads there.
        return names.next().is_some_and(is_led) && names.all(is_led);
    }
    let text = |name: &str| fs::read_to_string(folder.join(name)).unwrap_or_default();
    // Kinds of links name themselves, except for a veth; what its packets leave by is its peer.
    let has_kind = text("uevent")
        .lines()
        .any(|line| line.starts_with("DEVTYPE="));
    let number = |name: &str| text(name).trim().parse::<u32>().unwrap_or(0);
    let (own, peer) = (number("ifindex"), number("iflink"));
    !has_kind && number("type") == ETHERNET && peer != 0 && peer != own
}

/// Whether another network namespace, of a process that this one may look at, has the address.
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

/// `|-- 10.0.0.2` and, in the next line, `/32 host LOCAL`.
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

/// An address in 32 digits, then numbers, then the interface.
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

    fn interface(net: &Path, name: &str, files: &[(&str, &str)]) {
        let folder = net.join(name);
        fs::create_dir_all(&folder).expect("a folder");
        for (name, text) in files {
            fs::write(folder.join(name), text).expect("a file");
        }
    }

    #[test]
    fn a_veth_and_a_bridge_of_such_lead_to_namespaces_alone() {
        let name = format!("filestone-test-links-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let net = folder.as_path();
        let veth: &[(&str, &str)] = &[
            ("ifindex", "5\n"),
            ("iflink", "4\n"),
            ("type", "1\n"),
            ("uevent", "INTERFACE=v\n"),
        ];
        let bridge: &[(&str, &str)] = &[
            ("ifindex", "7\n"),
            ("iflink", "7\n"),
            ("type", "1\n"),
            ("uevent", "DEVTYPE=bridge\n"),
        ];
        interface(net, "veth0", veth);
        interface(
            net,
            "tun0",
            &[
                ("ifindex", "6\n"),
                ("iflink", "6\n"),
                ("type", "65534\n"),
                ("uevent", ""),
            ],
        );
        interface(
            net,
            "macvlan0",
            &[
                ("ifindex", "6\n"),
                ("iflink", "2\n"),
                ("type", "1\n"),
                ("uevent", "DEVTYPE=macvlan\n"),
            ],
        );
        interface(
            net,
            "eth0",
            &[
                ("ifindex", "2\n"),
                ("iflink", "2\n"),
                ("type", "1\n"),
                ("uevent", ""),
            ],
        );
        fs::create_dir_all(net.join("eth0/device")).expect("a device");
        let bridges: [(&str, &[&str]); 3] = [
            ("docker0", &["veth0"]),
            ("br0", &["veth0", "eth0"]),
            ("empty", &[]),
        ];
        for (name, ports) in bridges {
            interface(net, name, bridge);
            for port in ports {
                fs::create_dir_all(net.join(name).join("brif").join(port)).expect("a port");
            }
            fs::create_dir_all(net.join(name).join("brif")).expect("ports");
        }
        let leads = |name| leads(net, name, DEPTH_MAX);
        assert!(leads("veth0") && leads("docker0"));
        for other in ["tun0", "macvlan0", "eth0", "br0", "empty", "none"] {
            assert!(!leads(other), "{other}");
        }
        fs::remove_dir_all(net).expect("it is removed");
    }
}
