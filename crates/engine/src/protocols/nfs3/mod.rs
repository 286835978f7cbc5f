//! An NFSv3 server: calls of its procedures, and loads that are lowered to them.
//!
//! | module | what is in it |
//! |---|---|
//! | `examine` | examination of a server before a run |
//! | `factory` | the clients of a probe or a mix |
//! | `replay` | the clients of a replayed load |
//! | `raw` | the calls over a plain socket, for calibration |
//!
//! `filestone_setup::nfs3` makes the calls before and after a run.

mod examine;
mod factory;
mod raw;
pub mod replay;

use super::replay_sites::{SiteOptions, occupied};
use crate::protocols::{BuiltIn, ConnectTarget, Job, Protocol, Rate, clients};
use crate::run::{ConnectedClients, OpenTarget, TargetObjects};
use factory::ClientFactory;
use filestone_host::clock::Clock;
use filestone_host::control::{Cancellation, RunContext, cancel_on};
use filestone_host::error::RunError;
use filestone_measure::doctor::facts::TargetFacts;
use filestone_measure::measure::RunRecord;
use filestone_measure::measure::mix_record::FileSetRecord;
use filestone_measure::measure::run_record::Target;
use filestone_plan::plan::{LeftoverPolicy, NfsTarget, Plan, TargetPlan, WorkloadPlan};
use filestone_protocol::client::Unsupported;
use filestone_protocol::client::handles::ServerHandles;
use filestone_protocol::client::nfs3::procedures;
use filestone_setup::TargetError;
use filestone_setup::nfs3::prepare::{Prepared, prepare, prepare_mix, reclaim_mix};
use filestone_setup::workspace::marker::ProcessIdentity;
use filestone_wire::nfs3::Handle;
use filestone_workload::operation::OpKind;
use replay::{Nfs3Options, Nfs3Site, SocketClients};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Name of the protocol in plans.
pub const NAME: &str = "nfs3";

/// NFSv3 over RPC.
pub struct Nfs3;

impl Protocol for Nfs3 {
    fn name(&self) -> &str {
        NAME
    }

    fn supports(&self, kind: OpKind) -> Result<(), Unsupported> {
        procedures::supports(kind)
    }

    fn open<'plan>(
        &self,
        plan: &'plan Plan,
        built_in: BuiltIn,
        context: &mut RunContext<'_>,
    ) -> Result<Box<dyn OpenTarget + 'plan>, RunError> {
        let target = plan.target.nfs3().ok_or(TargetError::NoCalls)?;
        let server = built_in.nfs3;
        let prepared = match &plan.workload {
            WorkloadPlan::Probe(_) => {
                let probe = plan.as_probe_run().ok_or(TargetError::NoCalls)?;
                prepare(&probe, server, context)?
            }
            WorkloadPlan::Mix(mix) => prepare_mix(plan, target, mix, server, context)?,
            WorkloadPlan::LoadFile(_) | WorkloadPlan::Fleet(_) => {
                return Err(TargetError::NoCalls.into());
            }
        };
        Ok(Box::new(OpenNfs3::new(plan, target, prepared)))
    }

    fn reclaim(
        &self,
        job: &Job<'_>,
        owner: &ProcessIdentity,
        context: &mut RunContext<'_>,
    ) -> Result<(), RunError> {
        let target = job.plan.target.nfs3().ok_or(TargetError::NoCalls)?;
        match job.plan.mix() {
            Some(mix) => reclaim_mix(job.plan, target, mix, owner, job.built_in.nfs3, context),
            None => Ok(()),
        }
    }

    fn calibrated_at(&self) -> Option<TargetPlan> {
        Some(TargetPlan::Nfs3(NfsTarget::built_in("/export/file")))
    }

    fn over_plain_socket(
        &self,
        job: &Job<'_>,
        time: Duration,
        context: &mut RunContext<'_>,
    ) -> Result<Rate, RunError> {
        raw::measure(job, time, context)
    }

    fn examine(
        &self,
        contact: &ConnectTarget,
        facts: &mut TargetFacts,
        cancellation: &Cancellation,
    ) -> Result<(), RunError> {
        examine::examine(contact, facts, cancellation)
    }

    fn replay(&self, job: &Job<'_>, context: &mut RunContext<'_>) -> Result<RunRecord, RunError> {
        let opening = SiteOptions::of(job)?;
        let stop = context.stop;
        opening.replay(context, &SocketClients, |target| {
            Some(open(&opening, target.nfs3()?, stop))
        })
    }
}

/// A mounted server with the objects prepared for a run.
struct OpenNfs3<'run> {
    plan: &'run Plan,
    target: &'run NfsTarget,
    prepared: Prepared,
    handles: Arc<ServerHandles<Handle>>,
    subjects: TargetObjects,
}

impl<'run> OpenNfs3<'run> {
    fn new(plan: &'run Plan, target: &'run NfsTarget, mut prepared: Prepared) -> Self {
        let files = std::mem::take(&mut prepared.files);
        Self {
            plan,
            target,
            handles: Arc::new(files.handles),
            subjects: TargetObjects {
                table: Arc::new(files.table),
                sets: prepared.objects.sets(),
            },
            prepared,
        }
    }
}

impl OpenTarget for OpenNfs3<'_> {
    fn describe(&self) -> &Target {
        &self.prepared.target
    }

    fn file_set(&self) -> Option<FileSetRecord> {
        self.prepared.objects.record()
    }

    fn own_path(&self) -> Option<&str> {
        self.prepared.objects.path()
    }

    fn connect(
        &mut self,
        clock: &Clock,
        context: &mut RunContext<'_>,
    ) -> Result<ConnectedClients, RunError> {
        let (plan, dial) = (self.plan, self.prepared.dial);
        let (subjects, handles) = (&self.subjects, &self.handles);
        let factory = ClientFactory::new(plan, self.target, &subjects.table, handles, dial);
        clients::connect(plan, &factory.options, subjects, clock, context, |number| {
            factory.client(plan, number)
        })
    }

    fn clean_up(&mut self, context: &mut RunContext<'_>) -> Result<(), RunError> {
        self.prepared.clean_up(context)
    }
}

fn open(
    opening: &SiteOptions<'_>,
    target: &NfsTarget,
    stop: &AtomicBool,
) -> Result<Nfs3Site, RunError> {
    let (plan, replay) = (opening.plan, &*opening.replay);
    let options = Nfs3Options {
        resolve: replay.resolve,
        stable: replay.nfs3.stable,
        enable_nlm: replay.nfs3.enable_nlm,
        nlm_port: replay.nfs3.nlm_port,
        timeout: Duration::from_nanos(plan.timeout_ns),
        reconnect: Duration::from_nanos(plan.reconnect_ns),
        source: plan.source_for(|other| other.nfs3() == Some(target)),
        callers: plan.callers(),
        first_number: replay.first_number,
        occupied: occupied(replay),
        made: Arc::clone(&opening.made),
        ..Nfs3Options::new(vec![opening.generation])
    };
    let built_in = match target.host {
        Some(_) => None,
        None => opening.built_in.nfs3,
    };
    let policy = replay.left_over;
    if policy != LeftoverPolicy::Refuse {
        let cancellation = Cancellation::default();
        cancel_on(stop, &cancellation, || {
            replay::remove_left_over_until(target, built_in, &options, policy, &cancellation)
        })?;
    }
    Nfs3Site::claim(target, built_in, options, stop)
}
