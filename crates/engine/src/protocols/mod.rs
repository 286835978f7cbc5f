//! Protocols as targets of runs: supported operations, and how runs on them are executed.
//!
//! [`Protocols`] is the registry, and the only code of the engine that distinguishes the variants
//! of [`TargetPlan`]. All higher layers use a protocol through [`Protocol`]; runs of calls use the
//! [`OpenTarget`] that it opens (`run`).

pub mod clients;
pub mod echo;
pub mod local;
pub mod nfs3;
mod plain_socket;
mod rate;
mod reaching;
mod replay_sites;
pub mod smb2;
pub mod tbench;

pub use rate::Rate;

use crate::run::{self, OpenTarget};
use filestone_host::control::{Cancellation, CleanUpLimits, RunContext, cancel_clean_up_on};
use filestone_host::error::RunError;
use filestone_measure::doctor::facts::TargetFacts;
use filestone_measure::measure::run_record::Headroom;
use filestone_measure::measure::{RunRecord, gates, validity};
use filestone_plan::plan::{ConnectionPlan, Plan, TargetPlan, WorkloadPlan};
use filestone_protocol::client::Unsupported;
use filestone_setup::TargetError;
use filestone_setup::workspace::marker::ProcessIdentity;
use filestone_workload::load::Load;
use filestone_workload::operation::OpKind;
use filestone_workload::password::Password;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

/// Addresses of the built-in peers, for targets without a host.
#[derive(Debug, Clone, Copy, Default)]
pub struct BuiltIn {
    /// The NFS server.
    pub nfs3: Option<SocketAddr>,
    /// The SMB server.
    pub smb: Option<SocketAddr>,
    /// The TCP peer.
    pub tcp: Option<SocketAddr>,
}

/// A plan and the additional inputs of its run.
#[derive(Debug, Clone, Copy)]
pub struct Job<'run> {
    /// The plan.
    pub plan: &'run Plan,
    /// The parsed loads named by the plan, in its order.
    pub loads: &'run [Arc<Load>],
    /// Addresses of the built-in peers.
    pub built_in: BuiltIn,
    /// Measured capacity of the load generator on this host, if known. Load control does not search
    /// beyond it.
    pub headroom: Option<&'run Headroom>,
}

impl<'run> Job<'run> {
    /// Creates a job without additional inputs.
    pub fn new(plan: &'run Plan) -> Self {
        Self {
            plan,
            loads: &[],
            built_in: BuiltIn::default(),
            headroom: None,
        }
    }
}

/// A target and its connection settings.
#[derive(Debug, Clone, PartialEq)]
pub struct ConnectTarget {
    /// The target.
    pub target: TargetPlan,
    /// Source addresses and identities.
    pub connections: ConnectionPlan,
    /// Password of the target's user, if it has one.
    pub password: Option<Password>,
}

impl ConnectTarget {
    /// Returns the source address of the first client; `None` lets the kernel choose.
    pub fn source(&self) -> Option<IpAddr> {
        self.connections.sources.of_client(0)
    }
}

/// A protocol as the target of runs. The default implementations refuse requests that a protocol
/// does not support.
pub trait Protocol: Send + Sync {
    /// Returns the name of the protocol in plans.
    fn name(&self) -> &str;

    /// Checks that the clients support operations of this kind. Called before anything is sent; not
    /// called for load files, whose lines are lowered to supported operations.
    fn supports(&self, _kind: OpKind) -> Result<(), Unsupported> {
        Ok(())
    }

    /// Finds the target of a probe or a mix, and prepares the objects that its operations use.
    fn open<'plan>(
        &self,
        _plan: &'plan Plan,
        _built_in: BuiltIn,
        _context: &mut RunContext<'_>,
    ) -> Result<Box<dyn OpenTarget + 'plan>, RunError> {
        Err(TargetError::NoCalls.into())
    }

    /// Examines a target before a run, without writing to it. Facts found before an error are kept.
    fn examine(
        &self,
        contact: &ConnectTarget,
        facts: &mut TargetFacts,
        cancellation: &Cancellation,
    ) -> Result<(), RunError> {
        let Some(target) = contact.target.other() else {
            return Ok(());
        };
        let from = contact.source();
        reaching::reach(&target.host, target.port, from, facts, cancellation)
    }

    /// Replays the loads of a job, or runs its fleet.
    fn replay(&self, _job: &Job<'_>, _context: &mut RunContext<'_>) -> Result<RunRecord, RunError> {
        Err(TargetError::NoReplay(self.name().into()).into())
    }

    /// Cleans up after a run of the job whose process has ended, as the run itself would have done
    /// at its end. Does nothing for protocols whose runs leave nothing reusable behind.
    fn reclaim(
        &self,
        _job: &Job<'_>,
        _owner: &ProcessIdentity,
        _context: &mut RunContext<'_>,
    ) -> Result<(), RunError> {
        Ok(())
    }

    /// Returns the protocol's name for the request that executes an operation of this kind.
    fn request_of(&self, kind: OpKind) -> String {
        kind.name().to_uppercase()
    }

    /// Returns a file of the built-in server for measuring filestone's own ceiling, if the
    /// protocol's calls can also be exchanged [over a plain socket](Protocol::over_plain_socket).
    fn calibrated_at(&self) -> Option<TargetPlan> {
        None
    }

    /// Exchanges the calls of a probe over a plain socket for `time`, without recording. Runs are
    /// compared with the result.
    fn over_plain_socket(
        &self,
        _job: &Job<'_>,
        _time: Duration,
        _context: &mut RunContext<'_>,
    ) -> Result<Rate, RunError> {
        Err(TargetError::NoCalls.into())
    }

    /// Executes a mix, by default call by call.
    fn mix(&self, job: &Job<'_>, context: &mut RunContext<'_>) -> Result<RunRecord, RunError> {
        self.calls(job, context)
    }

    /// Executes a probe or a mix call by call.
    fn calls(&self, job: &Job<'_>, context: &mut RunContext<'_>) -> Result<RunRecord, RunError> {
        let built_in = job.built_in;
        run::by_calls(
            job.plan,
            job.headroom,
            &|plan, context| self.open(plan, built_in, context),
            context,
        )
    }

    /// Executes a job.
    fn run(&self, job: &Job<'_>, context: &mut RunContext<'_>) -> Result<RunRecord, RunError> {
        if !job.plan.has_lines() {
            for (kind, _) in job.plan.kinds() {
                self.supports(kind).map_err(TargetError::Unsupported)?;
            }
        }
        match &job.plan.workload {
            WorkloadPlan::LoadFile(_) | WorkloadPlan::Fleet(_) => self.replay(job, context),
            WorkloadPlan::Mix(_) => self.mix(job, context),
            WorkloadPlan::Probe(_) => self.calls(job, context),
        }
    }
}

/// The registered protocols.
pub struct Protocols {
    own: Vec<Box<dyn Protocol>>,
    /// Protocols added by the program: their targets are [`TargetPlan::Other`], with the protocol's
    /// name before `://`.
    brought: Vec<Box<dyn Protocol>>,
}

impl Default for Protocols {
    fn default() -> Self {
        Self {
            own: vec![
                Box::new(nfs3::Nfs3),
                Box::new(local::Local),
                Box::new(tbench::Tbench),
                Box::new(smb2::Smb2),
                Box::new(echo::Echo),
            ],
            brought: Vec::new(),
        }
    }
}

impl Protocols {
    /// Adds a protocol.
    #[must_use]
    pub fn with(mut self, protocol: impl Protocol + 'static) -> Self {
        self.brought.push(Box::new(protocol));
        self
    }

    /// Whether the program added a protocol of this name.
    pub fn brings(&self, name: &str) -> bool {
        self.brought.iter().any(|protocol| protocol.name() == name)
    }

    /// Checks that the clients of a target support operations of this kind.
    pub fn supports(&self, target: &TargetPlan, kind: OpKind) -> Result<(), TargetError> {
        let supported = self.of(target)?.supports(kind);
        supported.map_err(TargetError::Unsupported)
    }

    /// See [`Protocol::examine`].
    pub(crate) fn examine(
        &self,
        contact: &ConnectTarget,
        facts: &mut TargetFacts,
        cancellation: &Cancellation,
    ) -> Result<(), RunError> {
        let protocol = self.of(&contact.target)?;
        protocol.examine(contact, facts, cancellation)
    }

    /// Returns the file of [`Protocol::calibrated_at`] for each protocol that has one.
    pub fn calibrated_at(&self) -> Vec<TargetPlan> {
        let known = self.own.iter().chain(&self.brought);
        known
            .filter_map(|protocol| protocol.calibrated_at())
            .collect()
    }

    /// Returns the file of [`Protocol::calibrated_at`] for the protocol of a target.
    pub fn calibrated_like(&self, target: &TargetPlan) -> Option<TargetPlan> {
        self.of(target).ok()?.calibrated_at()
    }

    /// See [`Protocol::request_of`].
    pub(crate) fn request_of(&self, target: &TargetPlan, kind: OpKind) -> String {
        let protocol = self.of(target).ok();
        protocol.map_or_else(String::new, |protocol| protocol.request_of(kind))
    }

    /// See [`Protocol::over_plain_socket`].
    pub(crate) fn over_plain_socket(
        &self,
        job: &Job<'_>,
        time: Duration,
        context: &mut RunContext<'_>,
    ) -> Result<Rate, RunError> {
        let protocol = self.of(&job.plan.target)?;
        protocol.over_plain_socket(job, time, context)
    }

    /// Returns the protocol of a target.
    fn of(&self, target: &TargetPlan) -> Result<&dyn Protocol, TargetError> {
        let name = match target {
            TargetPlan::Nfs3(_) => nfs3::NAME,
            TargetPlan::Local(_) => local::NAME,
            TargetPlan::Tcp(_) => tbench::NAME,
            TargetPlan::Smb(_) => smb2::NAME,
            TargetPlan::Other(target) => &target.name,
        };
        let mut known = self.own.iter().chain(&self.brought);
        let found = known.find(|protocol| protocol.name() == name);
        found
            .map(|protocol| &**protocol)
            .ok_or_else(|| TargetError::UnknownProtocol(name.into()))
    }
}

/// Executes a job.
///
/// A run that is interrupted or loses its target returns a record that contains this outcome.
pub fn run(
    job: &Job<'_>,
    protocols: &Protocols,
    context: &mut RunContext<'_>,
) -> Result<RunRecord, RunError> {
    let mut record = protocols.of(&job.plan.target)?.run(job, context)?;
    record.validity = Some(validity::of(&record));
    record.gates = gates::evaluate(&record);
    Ok(record)
}

/// Removes or releases the file set of a lost run, as the run itself would have done at its end.
/// `owner` is the process of the run, which is known to have ended; a set owned by another process
/// is left alone.
///
/// Ends after `limit`. A stop requested before the call does not prevent the work; a later stop
/// does.
pub fn reclaim(
    job: &Job<'_>,
    protocols: &Protocols,
    owner: &ProcessIdentity,
    limit: Duration,
    context: &mut RunContext<'_>,
) -> Result<(), RunError> {
    let protocol = protocols.of(&job.plan.target)?;
    let (stop, cancellation) = (context.stop, context.cancellation.clone());
    let limits = CleanUpLimits {
        stopped: limit,
        finished: limit,
    };
    cancel_clean_up_on(stop, limits, &cancellation, || {
        protocol.reclaim(job, owner, context)
    })
}
