//! Start of the built-in server from the command line: the only module of this crate that uses
//! `filestone_server`.

use crate::error::{Error, reason};
use filestone_engine::calibrate::CalibrationTarget;
use filestone_engine::protocols::BuiltIn;
use filestone_engine::protocols::tbench::replay::SocketOptionList;
use filestone_host::system::memory_available_bytes;
use filestone_plan::plan::{Interface, NfsTarget, Plan, SmbTarget, TargetPlan, stored_bytes};
use filestone_server::tbench::{Configure, TbenchOptions, TbenchServer};
use filestone_server::{Options, QueueOptions, Running, Server};
use filestone_workload::load::Load;
use filestone_workload::text::bytes_text;
use std::io;
use std::net::IpAddr;
use std::str::FromStr;
use std::sync::Arc;

pub use filestone_server::faults::FaultRule as Fault;
pub use filestone_server::{ListingBound, Protection, ServiceTime, SmbOptions, User};

/// Parses a `--fault`.
pub fn fault(text: &str) -> Result<Fault, String> {
    Fault::from_str(text).map_err(|error| error.to_string())
}

/// Parses a `--service-time`.
pub fn service_time(text: &str) -> Result<ServiceTime, String> {
    ServiceTime::from_str(text).map_err(|error| error.to_string())
}

/// Returns the queue options of the built-in server, if calls have a service time.
pub fn queue(service_time: Option<ServiceTime>, workers: u32) -> Option<QueueOptions> {
    service_time.map(|service_time| QueueOptions {
        service_time,
        workers,
    })
}

/// Parses a level of protection.
pub fn protection(text: &str) -> Result<Protection, String> {
    Protection::from_str(text).map_err(|error| error.to_string())
}

/// Starts the server that is measured if no target is given: half the processors, any free port of
/// the loopback addresses.
pub fn start_for_measurement(processors: u32) -> Result<Running, Error> {
    start(for_measurement(processors))
}

fn for_measurement(processors: u32) -> Options {
    Options {
        smb: Some(SmbOptions::default()),
        threads: (processors as usize / 2).max(1),
        ..Options::default()
    }
}

/// Returns the memory limit of a server for a run whose clients have `stored` bytes of files: the
/// default, or about twice their size. An error if this host has too little memory.
fn memory_limit(stored: u64, available: Option<u64>) -> Result<u64, Error> {
    let usual = Options::default().memory_limit;
    let wanted = stored.saturating_mul(2);
    if wanted <= usual {
        return Ok(usual);
    }
    match available.filter(|available| stored > *available) {
        None => Ok(wanted.min(available.unwrap_or(wanted).max(usual))),
        Some(available) => Err(Error::environment(format!(
            "the files of all clients take {} in the built-in server, and {} of memory are available",
            bytes_text(stored),
            bytes_text(available)
        ))
        .with_help("use fewer clients (--clients) or shorter files, or name a target, such as nfs://server/export")),
    }
}

/// Returns these files of the built-in server as calibration target.
pub fn calibrated_against(server: &Running, targets: Vec<TargetPlan>) -> CalibrationTarget {
    CalibrationTarget {
        targets,
        built_in: at(server),
    }
}

/// Returns the addresses of the built-in server, for a run.
pub fn at(server: &Running) -> BuiltIn {
    BuiltIn {
        nfs3: Some(server.address()),
        smb: server.smb_addresses().first().copied(),
        ..BuiltIn::default()
    }
}

/// Returns an object of the built-in server as target, for a user.
pub fn target(path: &str, uid: u32, gid: u32) -> TargetPlan {
    TargetPlan::Nfs3(NfsTarget {
        uid,
        gid,
        ..NfsTarget::built_in(path)
    })
}

/// Returns the same object through the server's SMB share.
pub fn on_share(path: &str) -> TargetPlan {
    let path = path.trim_start_matches("/export").trim_matches('/');
    TargetPlan::Smb(SmbTarget::built_in(path))
}

/// Starts a single-threaded server, bound to this processor.
pub fn start_on(processor: u32) -> Result<Running, Error> {
    start(Options {
        smb: Some(SmbOptions::default()),
        threads: 1,
        pin: vec![processor as usize],
        ..Options::default()
    })
}

/// Starts a server; the error names an address that cannot be bound.
pub fn start(options: Options) -> Result<Running, Error> {
    Server::start(options).map_err(|error| explained(&error))
}

/// Starts a tbench server (bare TCP) on these addresses; without any, on the loopback addresses.
pub fn start_tbench(
    addresses: &[IpAddr],
    port: u16,
    socket_options: SocketOptionList,
) -> Result<TbenchServer, Error> {
    let options = TbenchOptions {
        addresses: addresses.to_vec(),
        port,
        configure: Configure::new(move |socket| socket_options.apply(socket)),
        ..TbenchOptions::default()
    };
    TbenchServer::start(&options).map_err(|error| explained(&error))
}

/// Built-in servers for targets without a host, on any free ports.
pub struct Peers {
    server: Option<Running>,
    tbench: Option<TbenchServer>,
}

impl Peers {
    /// Starts the servers that the targets of `plan` need, for these load files.
    pub fn of(plan: &Plan, loads: &[Arc<Load>], processors: u32) -> Result<Self, Error> {
        let needs = |interface| {
            let mut targets = plan.targets();
            targets.any(|target| target.is_built_in() && target.interface() == interface)
        };
        let server = needs(Interface::Calls).then(|| {
            let stored = stored_bytes(plan, loads);
            start(Options {
                memory_limit: memory_limit(stored, memory_available_bytes())?,
                ..for_measurement(processors)
            })
        });
        let tbench =
            needs(Interface::Bytes).then(|| start_tbench(&[], 0, SocketOptionList::default()));
        Ok(Self {
            server: server.transpose()?,
            tbench: tbench.transpose()?,
        })
    }

    /// Returns the addresses of the servers.
    pub fn addresses(&self) -> BuiltIn {
        BuiltIn {
            nfs3: self.server.as_ref().map(Running::address),
            smb: self
                .server
                .as_ref()
                .and_then(|server| server.smb_addresses().first().copied()),
            tcp: self.tbench.as_ref().map(TbenchServer::address),
        }
    }
}

fn explained(error: &io::Error) -> Error {
    let failure = Error::environment(format!("built-in server: {}", reason(error)));
    match error.kind() {
        io::ErrorKind::PermissionDenied => {
            failure.with_help("ports below 1024 need privileges; choose another with --port")
        }
        io::ErrorKind::AddrInUse => {
            failure.with_help("choose another port with --port, or any free one with --port 0")
        }
        _ => failure,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use filestone_host::error::ErrorCategory;

    #[test]
    fn the_built_in_server_has_room_for_the_clients_of_its_run_or_the_run_is_refused() {
        let gibibytes = |count: u64| count << 30;
        let limit =
            |stored, available| memory_limit(stored, available).map_err(|error| error.category);
        assert_eq!(limit(1 << 20, Some(0)), Ok(gibibytes(1)));
        // 80 clients with 25 MB each.
        assert_eq!(limit(2_000_000_000, Some(gibibytes(8))), Ok(4_000_000_000));
        assert_eq!(limit(2_000_000_000, None), Ok(4_000_000_000));
        assert_eq!(limit(gibibytes(3), Some(gibibytes(4))), Ok(gibibytes(4)));
        let refused = limit(gibibytes(5), Some(gibibytes(4)));
        assert_eq!(refused, Err(ErrorCategory::Environment));
    }
}
