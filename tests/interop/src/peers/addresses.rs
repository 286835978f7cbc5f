//! Tests of `filestone fleet addresses` on two hosts: this network namespace, and another one with a server.

use crate::process;
use crate::scenario::{self, Bed, Selection};
use anyhow::{Result, ensure};
use std::net::Ipv4Addr;

/// Scenarios.
pub const SHEET: &str = include_str!("sheets/addresses.toml");
/// Makes the other host and connects the two. The server replies to ARP requests only for its address of the link.
/// IPv6 is off, because addresses that it makes by itself appear and disappear, and would make listings differ.
const HOSTS: &str = "mount -t tmpfs run /run && ip netns add server && \
    ip link add veth0 type veth peer name veth1 netns server && ip -n server link set lo up && \
    ip -n server address add 10.9.255.2/16 dev veth1 && ip -n server address add 10.5.0.1 dev lo && \
    ip netns exec server sh -c 'echo 1 >/proc/sys/net/ipv4/conf/veth1/arp_ignore' && \
    ip -n server link set veth1 up && echo 1 >/proc/sys/net/ipv6/conf/veth0/disable_ipv6 && \
    ip address add 10.9.255.1/16 dev veth0 && ip link set veth0 up && \
    timeout 10 sh -c 'until ip link show veth0 | grep -q LOWER_UP; do sleep 0.01; done'";

/// Runs all scenarios. Returns whether all passed.
pub fn run(selection: Selection<'_>, mut bed: Bed) -> Result<bool> {
    let count = bed.count;
    ensure!(
        (20..=900).contains(&count),
        "--count {count}: not from 20 to 900"
    );
    process::raise_file_limit();
    super::succeed("sh", &["-c", HOSTS])?;
    let last = Ipv4Addr::from(u32::from(Ipv4Addr::new(10, 9, 0, 0)) + count);
    bed.define("sources", format!("10.9.0.1-{last}"));
    bed.define("readers", count / 2);
    bed.define("writers", count - count / 2);
    scenario::run(SHEET, &[], &bed, selection)
}
