//! Protocols as targets of runs: what each can do, and how a run on it is made.
//!
//! [`Protocols`] is the registry, and the one place of the engine that tells the variants of
//! [`TargetPlan`] apart. Everything above a protocol goes through [`Protocol`]; a run of calls,
//! through the [`OpenTarget`] that it opens (`run`).

mod addresses;
pub mod clients;
pub mod echo;
mod error;
pub mod local;
pub mod nfs3;
mod plain_socket;
mod rate;
mod reaching;
mod replay_sites;
pub mod smb2;
pub mod tbench;

pub use error::TargetError;
pub use rate::Rate;

use crate::control::{Cancellation, CleanUpLimits, Context, cancel_clean_up_on};
use crate::error::RunError;
use crate::run::{self, OpenTarget};
use crate::workspace::ProcessIdentity;
use filestone_measure::doctor::facts::TargetFacts;
use filestone_measure::measure::run_record::Headroom;
use filestone_measure::measure::{RunRecord, gates, validity};
use filestone_plan::plan::{ConnectionPlan, Plan, TargetPlan, WorkloadPlan};
use filestone_protocol::client::Unsupported;
use filestone_workload::load::Load;
use filestone_workload::operation::OpKind;
use filestone_workload::password::Password;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

/// Where built-in peers listen, for targets without a host.
#[derive(Debug, Clone, Copy, Default)]
pub struct BuiltIn {
    /// The NFS server.
    pub nfs3: Option<SocketAddr>,
    /// The SMB server.
    pub smb: Option<SocketAddr>,
    /// The TCP peer.
    pub tcp: Option<SocketAddr>,
}

/// A plan, and what its run needs besides.
#[derive(Debug, Clone, Copy)]
pub struct Job<'run> {
    /// What is to be done.
    pub plan: &'run Plan,
    /// The loads that it names, read, in its order.
    pub loads: &'run [Arc<Load>],
    /// Where built-in peers listen.
    pub built_in: BuiltIn,
    /// What the load generator can do here, if that was measured: a steered run looks no further.
    pub headroom: Option<&'run Headroom>,
}

impl<'run> Job<'run> {
    /// A plan that needs nothing besides.
    pub fn new(plan: &'run Plan) -> Self {
        Self {
            plan,
            loads: &[],
            built_in: BuiltIn::default(),
            headroom: None,
        }
    }
}

/// A target, and how a run would connect to it.
#[derive(Debug, Clone, PartialEq)]
pub struct ConnectTarget {
    /// What is asked.
    pub target: TargetPlan,
    /// From where, and as whom.
    pub connections: ConnectionPlan,
    /// The password of the target's user, if it has one.
    pub password: Option<Password>,
}

impl ConnectTarget {
    /// Where the first client connects from; `None` leaves it to the host.
    pub fn source(&self) -> Option<IpAddr> {
        self.connections.sources.of_client(0)
    }
}

/// A protocol that runs are made on. What it does not have, it refuses in words of its own.
pub trait Protocol: Send + Sync {
    /// What plans call it.
    fn name(&self) -> &str;

    /// Whether its clients have operations of this kind. Asked before anything is sent, and not
    /// of load files, whose lines are lowered to what there is.
    fn supports(&self, _kind: OpKind) -> Result<(), Unsupported> {
        Ok(())
    }

    /// Finds the target of a probe or a mix, and prepares what its operations are about.
    fn open<'plan>(
        &self,
        _plan: &'plan Plan,
        _built_in: BuiltIn,
        _context: &mut Context<'_>,
    ) -> Result<Box<dyn OpenTarget + 'plan>, RunError> {
        Err(TargetError::NoCalls.into())
    }

    /// Finds out what a target says of itself, before a run: nothing is written to it. What was
    /// found before an error stays among the facts.
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
    fn replay(&self, _job: &Job<'_>, _context: &mut Context<'_>) -> Result<RunRecord, RunError> {
        Err(TargetError::NoReplay(self.name().into()).into())
    }

    /// Does with what a run of the job has left on the target, in a process that is over, what that
    /// would have done at its end. Nothing, of a protocol whose runs leave nothing that others could
    /// use.
    fn reclaim(
        &self,
        _job: &Job<'_>,
        _owner: &ProcessIdentity,
        _context: &mut Context<'_>,
    ) -> Result<(), RunError> {
        Ok(())
    }

    /// What it calls the one request by which an operation of this kind is done.
    fn request_of(&self, kind: OpKind) -> String {
        kind.name().to_uppercase()
    }

    /// A file of the built-in server at which this tool's own ceiling is measured, if the protocol's
    /// calls can be exchanged [over a plain socket](Protocol::over_plain_socket), too.
    fn calibrated_at(&self) -> Option<TargetPlan> {
        None
    }

    /// Exchanges the calls of a probe over a plain socket, with nothing recorded, for `time`: what
    /// a run of it is compared with.
    fn over_plain_socket(
        &self,
        _job: &Job<'_>,
        _time: Duration,
        _context: &mut Context<'_>,
    ) -> Result<Rate, RunError> {
        Err(TargetError::NoCalls.into())
    }

    /// Makes the run of a mix; call by call, unless the protocol has another way.
    fn mix(&self, job: &Job<'_>, context: &mut Context<'_>) -> Result<RunRecord, RunError> {
        self.calls(job, context)
    }

    /// Makes the run of a probe or a mix, call by call.
    fn calls(&self, job: &Job<'_>, context: &mut Context<'_>) -> Result<RunRecord, RunError> {
        let built_in = job.built_in;
        run::by_calls(
            job.plan,
            job.headroom,
            &|plan, context| self.open(plan, built_in, context),
            context,
        )
    }

    /// Makes the run of a job.
    fn run(&self, job: &Job<'_>, context: &mut Context<'_>) -> Result<RunRecord, RunError> {
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

/// The protocols that a program knows.
pub struct Protocols {
    own: Vec<Box<dyn Protocol>>,
    /// Those that the program brings: their targets are [`TargetPlan::Other`], and their name
    /// stands before `://`.
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
    /// These, and another one.
    #[must_use]
    pub fn with(mut self, protocol: impl Protocol + 'static) -> Self {
        self.brought.push(Box::new(protocol));
        self
    }

    /// Whether the program brings a protocol of that name.
    pub fn brings(&self, name: &str) -> bool {
        self.brought.iter().any(|protocol| protocol.name() == name)
    }

    /// Whether the clients of a target have operations of this kind.
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

    /// See [`Protocol::calibrated_at`]: of all protocols that have such a file.
    pub fn calibrated_at(&self) -> Vec<TargetPlan> {
        let known = self.own.iter().chain(&self.brought);
        known
            .filter_map(|protocol| protocol.calibrated_at())
            .collect()
    }

    /// The same of a target's protocol.
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
        context: &mut Context<'_>,
    ) -> Result<Rate, RunError> {
        let protocol = self.of(&job.plan.target)?;
        protocol.over_plain_socket(job, time, context)
    }

    /// The protocol of a target.
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

/// Makes the run of a job.
///
/// An interrupted run, and one whose target was lost in the middle, give a record that says so.
pub fn run(
    job: &Job<'_>,
    protocols: &Protocols,
    context: &mut Context<'_>,
) -> Result<RunRecord, RunError> {
    let mut record = protocols.of(&job.plan.target)?.run(job, context)?;
    record.validity = Some(validity::of(&record));
    record.gates = gates::evaluate(&record);
    Ok(record)
}

/// Does with the file set of a job's run that was lost what that run would have done at its end:
/// removes it or gives it up. `owner` is the process of the run, which is known to be over; a set
/// that another one has is left to that.
///
/// It ends after `limit`. A stop that comes before it began does not keep it from its work; one that
/// comes later does.
pub fn reclaim(
    job: &Job<'_>,
    protocols: &Protocols,
    owner: &ProcessIdentity,
    limit: Duration,
    context: &mut Context<'_>,
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
