//! Table of rules: id, threshold and function.
//!
//! Each rule has a section in `docs/reference/doctor.md`; a test of `cli` checks that.

mod clients;
mod host;
mod look;
mod target;
mod way;

use super::facts::Facts;
use super::finding::Finding;
use crate::measure::caveat::thresholds::CLOCK_READ_NS;
use crate::rule::{Rule, figure, rule};

/// Page that explains the rules.
const PAGE: &str = "docs/reference/doctor.md";

/// Function of a rule about this host or about a target, from the facts and the threshold; `None` if
/// the fact is unknown.
#[derive(Debug, Clone, Copy)]
pub enum Judge {
    /// A rule about this host.
    Host(fn(&Facts, f64) -> Option<Finding>),
    /// A rule about a target.
    Target(fn(&Facts, f64) -> Option<Finding>),
}

impl Rule<Judge> {
    /// Applies the rule; `None` if its fact is unknown.
    pub fn evaluate(&self, facts: &Facts) -> Option<Finding> {
        let (Judge::Host(judge) | Judge::Target(judge)) = self.judge;
        let finding = judge(facts, self.figure())?;
        Some(Finding {
            id: self.id.into(),
            page: format!("{PAGE}#{}", self.id),
            ..finding
        })
    }

    /// Returns whether the rule is about this host, and not about a target.
    pub fn is_of_host(&self) -> bool {
        matches!(self.judge, Judge::Host(_))
    }
}

const MIB: f64 = 1024.0 * 1024.0;

/// Table of all rules, in display order.
#[rustfmt::skip]
pub const RULES: &[Rule<Judge>] = &[
    rule("build", Judge::Host(host::build)),
    figure("processors", 2.0, "processors", Judge::Host(host::processors)),
    rule("affinity", Judge::Host(host::affinity)),
    rule("processor-quota", Judge::Host(host::quota)),
    rule("frequency-governor", Judge::Host(host::governor)),
    figure("clock", CLOCK_READ_NS, "ns a reading", Judge::Host(host::clock)),
    figure("wake-up", 100.0, "µs in the median", Judge::Host(look::wake_up)),
    figure("other-programs", 5.0, "% of the processors", Judge::Host(look::other_programs)),
    figure("stolen-time", 2.0, "% of the processors", Judge::Host(look::stolen)),
    figure("load-average", 1.0, "per processor", Judge::Host(look::load_average)),
    figure("traffic", 1000.0, "packets/s", Judge::Host(look::traffic)),
    figure("memory", 5.0, "% of the memory", Judge::Host(host::memory)),
    figure("swap", 10.0, "% of the memory", Judge::Host(host::swap)),
    figure("swapping", 32.0, "pages/s", Judge::Host(look::swapping)),
    figure("open-files", 1000.0, "clients", Judge::Host(clients::open_files)),
    figure("local-ports", 10_000.0, "ports", Judge::Host(clients::local_ports)),
    rule("reserved-ports", Judge::Host(clients::reserved_ports)),
    figure("socket-buffers", 1.0 * MIB, "bytes", Judge::Host(clients::stream_buffers)),
    figure("datagram-buffers", 1.0 * MIB, "bytes", Judge::Host(clients::datagram_buffers)),
    rule("target", Judge::Target(target::target)),
    rule("loopback", Judge::Target(way::loopback)),
    rule("route", Judge::Target(way::route)),
    figure("mtu", 1500.0, "bytes", Judge::Target(way::mtu)),
    figure("link", 1000.0, "Mbit/s", Judge::Target(way::link)),
    figure("connect-time", 2.0, "ms in the median", Judge::Target(way::connect_time)),
    figure("round-trip", 2.0, "ms in the median", Judge::Target(way::round_trip)),
    rule("services", Judge::Target(target::services)),
    rule("server-interfaces", Judge::Target(target::interfaces)),
    figure("transfer-sizes", 131_072.0, "bytes", Judge::Target(target::transfers)),
    figure("names", 255.0, "bytes", Judge::Target(target::names)),
    rule("rights", Judge::Target(target::rights)),
    rule("durability", Judge::Target(target::durability)),
    rule("file-system", Judge::Target(target::file_system)),
    rule("mount-options", Judge::Target(target::mount_options)),
    figure("free-space", 256.0 * MIB, "bytes", Judge::Target(target::free_space)),
    figure("free-files", 100_000.0, "files", Judge::Target(target::free_files)),
];
