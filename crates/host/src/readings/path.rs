//! Network path of a run's messages, from the facts that this host has.

use crate::system::line_of;
use crate::way;
use filestone_measure::cost::wire::{ETHERNET_HEADER, Framing, PathOverhead};
use filestone_measure::measure::costs::RunPath;
use filestone_measure::measure::run_record::Target;
use filestone_plan::plan::Plan;
use std::net::SocketAddr;

/// ARPHRD_ETHER.
const ETHERNET: &str = "1";
/// The loopback interface, which also counts sent packets as received.
const LOOPBACK: &str = "lo";

/// Returns the network path to a target; `None` if the target has no IP address.
pub fn to(plan: &Plan, target: &Target) -> Option<RunPath> {
    let address: SocketAddr = target.address.parse().ok()?;
    let facts = way::to(address, plan.source_of(0));
    let interface = facts.interface?;
    let has_timestamps = line_of("/proc/sys/net/ipv4/tcp_timestamps").as_deref() != Some("0");
    let kind = line_of(&format!("/sys/class/net/{interface}/type"));
    let is_ethernet = kind.as_deref() == Some(ETHERNET);
    Some(RunPath {
        path: PathOverhead {
            framing: if plan.target.is_udp() {
                Framing::Udp
            } else {
                Framing::Tcp { has_timestamps }
            },
            is_ipv6: address.is_ipv6(),
            mtu_bytes: facts.path_mtu_bytes.or(facts.mtu_bytes)?,
            link_header_bytes: if is_ethernet { ETHERNET_HEADER } else { 0 },
        },
        is_loopback: interface == LOOPBACK,
        interface,
    })
}
