//! From a plan to a site: the one place that knows which layers there are.

use super::local::{self, LocalOptions, LocalSite};
use super::nfs3::{self, Nfs3Options, Nfs3Site};
use super::round_robin::RoundRobin;
use super::run::replay_on;
use super::tcp::{self, TcpOptions, TcpSite};
use crate::control::Observer;
use crate::control::{Cancellation, cancel_on};
use crate::error::RunError;
use crate::nfs3::mount::resolve;
use crate::run::check_pin;
use crate::workspace::Beside;
use filestone_model::load::{Generation, Load};
use filestone_model::measure::RunRecord;
use filestone_model::operation::OpKind;
use filestone_model::plan::{
    LeftOverPolicy, LocalTarget, NfsTarget, Plan, ReplayPlan, TargetPlan, TcpTarget,
};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// How long one of several addresses may take to answer.
const FIRST_CONTACT: Duration = Duration::from_secs(3);

/// Where built-in peers listen, for targets without a host.
#[derive(Debug, Clone, Copy, Default)]
pub struct BuiltIn {
    /// The NFS server.
    pub nfs3: Option<SocketAddr>,
    /// The TCP peer.
    pub tcp: Option<SocketAddr>,
}

/// Replays the plan's loads, in the plan's order, on the plan's targets.
///
/// An interrupted run, and one that lost all of its clients, give a record that
/// says so.
pub fn replay(
    plan: &Plan,
    loads: &[Arc<Load>],
    built_in: BuiltIn,
    stop: &AtomicBool,
    observer: &mut dyn Observer,
) -> Result<RunRecord, RunError> {
    let opening = Opening::of(plan, loads, built_in, stop)?;
    match &plan.target {
        TargetPlan::Local(_) => {
            let site = opening.all(|target| match target {
                TargetPlan::Local(target) => Some(opening.local(target)),
                TargetPlan::Tcp(_) | TargetPlan::Nfs3(_) => None,
            })?;
            replay_on(plan, opening.replay, loads, site, stop, observer)
        }
        TargetPlan::Tcp(_) => {
            let site = opening.all(|target| match target {
                TargetPlan::Tcp(target) => Some(opening.tcp(target)),
                TargetPlan::Local(_) | TargetPlan::Nfs3(_) => None,
            })?;
            replay_on(plan, opening.replay, loads, site, stop, observer)
        }
        TargetPlan::Nfs3(_) => {
            let site = opening.all(|target| match target {
                TargetPlan::Nfs3(target) => Some(opening.nfs3(target)),
                TargetPlan::Local(_) | TargetPlan::Tcp(_) => None,
            })?;
            replay_on(plan, opening.replay, loads, site, stop, observer)
        }
    }
}

/// What opening a site takes.
struct Opening<'run> {
    plan: &'run Plan,
    replay: &'run ReplayPlan,
    generation: Generation,
    /// Whether a load makes symbolic links.
    makes_links: bool,
    built_in: BuiltIn,
    stop: &'run AtomicBool,
}

impl<'run> Opening<'run> {
    /// Checks what every layer needs.
    fn of(
        plan: &'run Plan,
        loads: &[Arc<Load>],
        built_in: BuiltIn,
        stop: &'run AtomicBool,
    ) -> Result<Self, RunError> {
        let Some(replay) = plan.replay() else {
            return Err(refused(
                "there is no load in this plan",
                "see filestone replay --help",
            ));
        };
        check_pin(plan)?;
        let Some(load) = loads.first() else {
            return Err(refused("there is no load to replay", "name a load file"));
        };
        if loads
            .iter()
            .any(|other| other.generation() != load.generation())
        {
            return Err(refused(
                "the loads are of different generations",
                "replay NFS loads and CIFS-style loads in runs of their own",
            ));
        }
        if loads.iter().any(|load| load.operations() == 0) {
            return Err(refused(
                "a load has no operation in it",
                "see filestone check",
            ));
        }
        if plan.clients == 0 {
            return Err(refused("a replay needs a client", "--clients 1 or more"));
        }
        if plan.duration_ns.is_none() && !replay.run_once {
            return Err(refused(
                "the run would never end",
                "--duration or --run-once",
            ));
        }
        Ok(Self {
            plan,
            replay,
            generation: load.generation(),
            makes_links: loads.iter().any(|load| load.lines_of(OpKind::SymLink) > 0),
            built_in,
            stop,
        })
    }

    /// The sites of the plan's target and of those it has besides, all of one kind.
    fn all<S: super::Site>(
        &self,
        open: impl Fn(&TargetPlan) -> Option<Result<S, RunError>>,
    ) -> Result<RoundRobin<S>, RunError> {
        let targets = std::iter::once(&self.plan.target).chain(&self.replay.more_targets);
        let sites = targets.map(|target| {
            open(target).unwrap_or_else(|| {
                Err(refused(
                    "the targets of one run are of different layers",
                    "several layers run in turn: --on with commas",
                ))
            })
        });
        RoundRobin::claim(sites)
    }

    fn local(&self, target: &LocalTarget) -> Result<LocalSite, RunError> {
        let replay = self.replay;
        let options = LocalOptions {
            sync: replay.local.sync,
            sync_directories: replay.local.sync_directories,
            fsync: replay.local.fsync,
            xattr: replay.local.xattr,
            resolve: replay.resolve,
            one_byte_write_fix: replay.local.one_byte_write_fix,
            stat_check: replay.local.stat_check,
            fake_io: replay.local.fake_io,
            direct: replay.local.direct,
            beside: beside(replay.left_over),
        };
        let site = match &target.directory {
            Some(directory) => {
                let directory = Path::new(directory);
                // A lock tells runs on this host apart from what they left.
                if replay.left_over != LeftOverPolicy::Refuse {
                    local::remove_left_over_beside(directory, replay.left_over, options.beside)?;
                }
                LocalSite::claim(directory, options)
            }
            None => LocalSite::temporary(options),
        }?;
        if self.makes_links {
            site.expect_links();
        }
        Ok(site)
    }

    fn tcp(&self, target: &TcpTarget) -> Result<TcpSite, RunError> {
        let (timeout, replay) = (self.plan.timeout_ns, &self.replay.tcp);
        let mut options = TcpOptions::planned(replay, self.generation, timeout)?;
        let address = match (&target.host, self.built_in.tcp) {
            (Some(host), _) => reachable(host, target.port.unwrap_or(tcp::PORT))?,
            (None, Some(address)) => {
                options.built_in = true;
                address
            }
            (None, None) => return Err(refused("there is no TCP peer", "--on tcp:HOST")),
        };
        TcpSite::claim(address, options)
    }

    fn nfs3(&self, target: &NfsTarget) -> Result<Nfs3Site, RunError> {
        let options = Nfs3Options {
            resolve: self.replay.resolve,
            stable: self.replay.nfs3.stable,
            enable_nlm: self.replay.nfs3.enable_nlm,
            nlm_port: self.replay.nfs3.nlm_port,
            timeout: Duration::from_nanos(self.plan.timeout_ns),
            reconnect: Duration::from_nanos(self.plan.reconnect_ns),
            beside: beside(self.replay.left_over),
            ..Nfs3Options::new(vec![self.generation])
        };
        let built_in = match target.host {
            Some(_) => None,
            None => self.built_in.nfs3,
        };
        let policy = self.replay.left_over;
        if policy != LeftOverPolicy::Refuse {
            let sign = Cancellation::default();
            cancel_on(self.stop, &sign, || {
                nfs3::remove_left_over_until(target, built_in, &options, policy, &sign)
            })?;
        }
        Nfs3Site::claim(target, built_in, options, self.stop)
    }
}

/// Who goes on where an earlier run has left something, as dbench does, also works beside
/// what dbench has left.
fn beside(policy: LeftOverPolicy) -> Beside {
    match policy {
        LeftOverPolicy::RemoveIfOver => Beside::Always,
        LeftOverPolicy::Refuse | LeftOverPolicy::Remove => Beside::IfEmpty,
    }
}

/// The first address of a host that takes a connection; a name often has one of
/// IPv6 and one of IPv4, and tbench_srv listens only on the latter.
fn reachable(host: &str, port: u16) -> Result<SocketAddr, RunError> {
    let addresses = resolve(host, port)?;
    let takes = |address: &&SocketAddr| TcpStream::connect_timeout(address, FIRST_CONTACT).is_ok();
    let taken = match addresses.as_slice() {
        [only] => Some(only),
        several => several.iter().find(takes).or(several.first()),
    };
    taken
        .copied()
        .ok_or_else(|| refused(&format!("{host} has no address"), "name another host"))
}

fn refused(what: &str, help: &str) -> RunError {
    RunError::Unsuitable(what.into(), Some(help.into()))
}
