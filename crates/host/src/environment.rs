//! Checks that this host has the resources of a plan.

use crate::connect::{RESERVED_PORTS, allow_open_files};
use crate::error::{AreaError, ErrorCategory, RunError};
use filestone_plan::plan::{Interface, Plan, SourceAddresses};
use filestone_workload::text::thousands;
use rustix::thread::{CpuSet, sched_getaffinity};
use std::collections::BTreeSet;
use std::net::{IpAddr, UdpSocket};

/// Open files of a process in addition to its connections.
const OTHER_FILES: u64 = 64;

/// A thread cannot be pinned to this processor.
#[derive(Debug, thiserror::Error)]
#[error("--pin {processor}: there is no such processor for this process")]
pub struct NoSuchProcessor {
    processor: u32,
    allowed: Vec<u32>,
}

impl AreaError for NoSuchProcessor {
    fn category(&self) -> ErrorCategory {
        ErrorCategory::Usage
    }

    fn help(&self) -> Option<String> {
        Some(format!("it may run on {}", describe(&self.allowed)))
    }
}

/// Checks that this process may run on all processors that threads are pinned to.
fn check_pin(plan: &Plan) -> Result<(), RunError> {
    if plan.pin.is_empty() {
        return Ok(());
    }
    let allowed = sched_getaffinity(None).map_err(|errno| RunError::System {
        what: "find out on which processors this process may run".into(),
        source: errno.into(),
    })?;
    let allowed: Vec<u32> = (0..CpuSet::MAX_CPU as u32)
        .filter(|cpu| allowed.is_set(*cpu as usize))
        .collect();
    match plan.pin.iter().find(|cpu| !allowed.contains(cpu)) {
        None => Ok(()),
        Some(processor) => Err(NoSuchProcessor {
            processor: *processor,
            allowed,
        }
        .into()),
    }
}

/// Formats processors as `--pin` accepts them: `0-3,6`.
fn describe(processors: &[u32]) -> String {
    let runs = processors.chunk_by(|one, next| one + 1 == *next);
    let words = runs.map(|run| match run {
        [first, .., last] => format!("{first}-{last}"),
        run => run.iter().map(u32::to_string).collect(),
    });
    words.collect::<Vec<_>>().join(",")
}

/// Checks processors, open files and ports for a plan's clients.
pub fn check_environment(plan: &Plan) -> Result<(), RunError> {
    check_pin(plan)?;
    if plan.target.interface() == Interface::SystemCalls {
        // Clients of a directory open the files of their operations (`check_files_of_clients`).
        return Ok(());
    }
    check_open_files(plan, files_needed(plan))?;
    check_sources(plan)?;
    let ports = LocalPorts::of(plan);
    Ok(ports.map_or(Ok(()), |ports| ports.check(plan))?)
}

/// Checks that this process may open `needed` files, after raising its limit if possible.
fn check_open_files(plan: &Plan, needed: u64) -> Result<(), TooFewFiles> {
    let allowed = allow_open_files(needed);
    if allowed >= needed {
        return Ok(());
    }
    Err(TooFewFiles {
        clients: plan.clients,
        needed,
        allowed,
        is_built_in: plan.target.is_built_in(),
    })
}

/// Checks the limit for clients that make system calls and have at most `files` files open
/// together.
pub fn check_files_of_clients(plan: &Plan, files: u64) -> Result<(), TooFewFiles> {
    check_open_files(plan, files.saturating_add(OTHER_FILES))
}

/// Checks that this host has all addresses that clients connect from.
fn check_sources(plan: &Plan) -> Result<(), SourcesNotOurs> {
    let sources: BTreeSet<IpAddr> = (0..plan.clients)
        .filter_map(|client| plan.source_of(client))
        .collect();
    let count = sources.len() as u64;
    let missing = SourceAddresses::of(
        sources
            .into_iter()
            .filter(|source| !is_of_this_host(*source)),
    );
    if missing.is_empty() {
        Ok(())
    } else {
        Err(SourcesNotOurs { missing, count })
    }
}

/// Returns whether connections may come from an address. Loopback addresses may; if this host does
/// not refuse an address here, connecting shows the result.
fn is_of_this_host(address: IpAddr) -> bool {
    let is_refused = || {
        let bound = UdpSocket::bind((address, 0));
        bound.is_err_and(|error| error.kind() == std::io::ErrorKind::AddrNotAvailable)
    };
    address.is_loopback() || !is_refused()
}

/// Clients would connect from addresses that this host does not have.
#[derive(Debug, thiserror::Error)]
#[error(
    "{} of the {} addresses that clients connect from are not this host's: {missing}",
    thousands(u64::try_from(missing.count()).unwrap_or(u64::MAX)), thousands(*count)
)]
pub struct SourcesNotOurs {
    missing: SourceAddresses,
    count: u64,
}

impl AreaError for SourcesNotOurs {
    fn category(&self) -> ErrorCategory {
        ErrorCategory::Environment
    }

    fn help(&self) -> Option<String> {
        let Self { missing, .. } = self;
        let has_ipv6 = missing.iter().any(|range| range.start().is_ipv6());
        // For IPv6, a route is not enough.
        let aliases = if has_ipv6 { " --aliases lo" } else { "" };
        Some(format!(
            "`filestone fleet addresses up {missing}{aliases}`, as root, makes them, and says what servers \
             need; --aliases and --mac-vlans put them on an interface"
        ))
    }
}

/// Returns the number of clients with one connection each, to a server in another process, for
/// which `open_files` are enough.
pub fn clients_of(open_files: u64) -> u64 {
    open_files.saturating_sub(OTHER_FILES)
}

/// Returns the number of ports for connections from one address to one server; `None` if it cannot
/// be read.
pub fn local_ports() -> Option<u64> {
    let range = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok()?;
    let mut ends = range.split_whitespace().map(str::parse::<u64>);
    let (first, last) = (ends.next()?.ok()?, ends.next()?.ok()?);
    (last + 1).checked_sub(first)
}

/// Returns the open files of this process: the clients' sockets, at both ends if the server is
/// built in.
fn files_needed(plan: &Plan) -> u64 {
    let ends = 1 + u64::from(plan.target.is_built_in());
    u64::from(plan.clients) * plan.sockets_per_client() * ends + OTHER_FILES
}

/// This process may not open as many files as its clients need.
#[derive(Debug, thiserror::Error)]
#[error(
    "{} clients need {} open files, {} are allowed",
    thousands((*clients).into()), thousands(*needed), thousands(*allowed)
)]
pub struct TooFewFiles {
    clients: u32,
    needed: u64,
    allowed: u64,
    is_built_in: bool,
}

impl AreaError for TooFewFiles {
    fn category(&self) -> ErrorCategory {
        ErrorCategory::Environment
    }

    fn help(&self) -> Option<String> {
        let apart = if self.is_built_in {
            "; `filestone serve` in a process of its own needs half of them"
        } else {
            ""
        };
        Some(format!(
            "raise the hard limit as root, `ulimit -Hn {}`, or LimitNOFILE= of a systemd unit, or \
             nofile in /etc/security/limits.conf{apart}",
            self.needed
        ))
    }
}

/// Number of ports for connections from one address.
#[derive(Debug, Clone, Copy)]
struct LocalPorts {
    count: u64,
    are_reserved: bool,
}

impl LocalPorts {
    /// Returns the ports; `None` if this host does not report them.
    fn of(plan: &Plan) -> Option<Self> {
        if plan.target.wants_reserved_ports() {
            return Some(Self {
                count: RESERVED_PORTS.count() as u64,
                are_reserved: true,
            });
        }
        Some(Self {
            count: local_ports()?,
            are_reserved: false,
        })
    }

    /// Checks the ports: each address has `count` of them for each server. A refused plan could not
    /// work in any case; the ports of other programs are not counted.
    fn check(self, plan: &Plan) -> Result<(), TooFewPorts> {
        let addresses = plan.source_count().max(1);
        let servers = plan.targets().count() as u128;
        // A lock manager is another server.
        let of_client = u128::from(plan.target.connections_per_client());
        let connections = u128::from(plan.clients) * of_client;
        let needed = connections.div_ceil(addresses.saturating_mul(servers));
        if needed <= u128::from(self.count) {
            return Ok(());
        }
        let of_server = connections.div_ceil(servers);
        Err(TooFewPorts {
            clients: plan.clients,
            addresses,
            ports: self,
            addresses_needed: of_server.div_ceil(u128::from(self.count.max(1))),
        })
    }
}

/// The addresses that clients connect from have too few ports.
#[derive(Debug, thiserror::Error)]
#[error(
    "{} clients cannot connect from {addresses} address{}: each has {} ports towards a server",
    thousands((*clients).into()),
    if *addresses == 1 { "" } else { "es" },
    thousands(ports.count)
)]
pub struct TooFewPorts {
    clients: u32,
    addresses: u128,
    ports: LocalPorts,
    addresses_needed: u128,
}

impl AreaError for TooFewPorts {
    fn category(&self) -> ErrorCategory {
        ErrorCategory::Environment
    }

    fn help(&self) -> Option<String> {
        let wider = if self.ports.are_reserved {
            ", or no --reserved-port"
        } else {
            ", or a wider range in /proc/sys/net/ipv4/ip_local_port_range"
        };
        Some(format!(
            "connect from {} addresses of this host or more (--source; `filestone fleet addresses up` \
             makes them){wider}",
            self.addresses_needed
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use filestone_plan::plan::{NfsTarget, ProbePlan, TargetPlan, WorkloadPlan};
    use filestone_workload::operation::OpKind;

    #[test]
    fn processors_are_named_as_the_option_takes_them() {
        assert_eq!(describe(&[0, 1, 2, 3, 6, 8, 9]), "0-3,6,8-9");
        assert_eq!(describe(&[5]), "5");
        assert_eq!(describe(&[]), "");
    }
    fn plan(clients: u32) -> Plan {
        let target = NfsTarget {
            host: Some("server".into()),
            ..NfsTarget::built_in("/export")
        };
        let probe = ProbePlan {
            file_size_bytes: 4096,
            ..ProbePlan::new(OpKind::Null)
        };
        Plan {
            clients,
            ..Plan::new(
                "probe",
                TargetPlan::Nfs3(target),
                WorkloadPlan::Probe(probe),
                1,
            )
        }
    }

    const PORTS: LocalPorts = LocalPorts {
        count: 28_232,
        are_reserved: false,
    };

    #[test]
    fn every_address_has_its_ports() {
        let mut plan = plan(100_000);
        let error = PORTS.check(&plan).expect_err("one address");
        assert_eq!(
            error.to_string(),
            "100,000 clients cannot connect from 1 address: each has 28,232 ports towards a server"
        );
        let help = error.help().expect("a way out");
        assert!(help.contains("from 4 addresses"), "{help}");
        plan.connections.sources = "10.0.0.1-10.0.0.3".parse().expect("a range");
        let error = PORTS.check(&plan).expect_err("three addresses");
        assert!(error.to_string().contains("from 3 addresses"), "{error}");
        plan.connections.sources = "10.0.0.1-10.0.0.4".parse().expect("a range");
        assert!(PORTS.check(&plan).is_ok());
    }

    #[test]
    fn sources_that_are_not_this_hosts_are_named_with_the_command_that_makes_them() {
        let mut plan = plan(7);
        plan.connections.sources = "127.7.0.1-127.7.0.9".parse().expect("a range");
        check_sources(&plan).expect("all of 127.0.0.0/8");
        // TEST-NET-2 (RFC 5737): no host has these addresses.
        plan.connections.sources = "127.7.0.1,198.51.100.11-198.51.100.19"
            .parse()
            .expect("a list");
        let error = check_sources(&plan).expect_err("nobody's");
        assert_eq!(
            error.to_string(),
            "6 of the 7 addresses that clients connect from are not this host's: 198.51.100.11-198.51.100.16"
        );
        let help = error.help().expect("a way out");
        let command = "`filestone fleet addresses up 198.51.100.11-198.51.100.16`, as root";
        assert!(help.starts_with(command), "{help}");
        plan.connections.sources = "2001:db8::1".parse().expect("one");
        let error = check_sources(&plan).expect_err("nobody's");
        let help = error.help().expect("a way out");
        assert!(help.contains("up 2001:db8::1 --aliases lo`"), "{help}");
    }

    #[test]
    fn reserved_ports_are_few() {
        let mut plan = plan(425);
        plan.target.nfs3_mut().expect("an NFS target").reserved_port = true;
        let error = check_environment(&plan).expect_err("424 ports");
        let help = error.help().expect("a way out");
        assert!(help.contains("or no --reserved-port"), "{help}");
        plan.clients = 424;
        check_environment(&plan).expect("as many as there are");
    }

    #[test]
    fn clients_of_a_directory_need_the_files_that_they_open() {
        let plan = plan(20);
        check_files_of_clients(&plan, 1).expect("65 open files");
        // More than any process may have (fs.nr_open is below 2^31).
        let error = check_files_of_clients(&plan, 1 << 40).expect_err("a limit");
        assert_eq!(error.category(), ErrorCategory::Environment);
        assert_eq!(error.needed, (1 << 40) + OTHER_FILES);
    }

    #[test]
    fn a_server_in_this_process_has_the_other_ends() {
        assert_eq!(files_needed(&plan(1000)), 1064);
        let mut built_in = plan(1000);
        built_in.target.nfs3_mut().expect("an NFS target").host = None;
        assert_eq!(files_needed(&built_in), 2064);
        let error = TooFewFiles {
            clients: 100_000,
            needed: 100_064,
            allowed: 20_000,
            is_built_in: false,
        };
        assert_eq!(
            error.to_string(),
            "100,000 clients need 100,064 open files, 20,000 are allowed"
        );
        let help = error.help().expect("a way out");
        assert!(help.contains("ulimit -Hn 100064"), "{help}");
    }
}
