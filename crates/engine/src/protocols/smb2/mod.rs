//! An SMB2 server: requests of SMB2 and SMB3, and loads that are replayed verb for verb.
//!
//! | module | what is in it |
//! |---|---|
//! | `open` | a share as the target of a probe or a mix |
//! | `replay` | a load on a share |
//! | `raw` | the requests over a plain socket, for calibration |
//!
//! `filestone_setup::smb2` makes the requests before and after a run.

mod open;
mod raw;
mod replay;

use super::replay_sites::SiteOptions;
use crate::protocols::reaching::{reach, repeated};
use crate::protocols::{BuiltIn, ConnectTarget, Job, Protocol, Rate};
use crate::run::OpenTarget;
use filestone_host::control::{Cancellation, NoObserver, RunContext};
use filestone_host::error::RunError;
use filestone_measure::doctor::facts::TargetFacts;
use filestone_measure::measure::RunRecord;
use filestone_plan::plan::{Plan, SmbTarget, TargetPlan, WorkloadPlan};
use filestone_protocol::client::Unsupported;
use filestone_protocol::client::smb2;
use filestone_setup::TargetError;
use filestone_setup::smb2::prepared::{PreparedShare, reclaim_mix};
use filestone_setup::smb2::terms::ShareAddress;
use filestone_setup::smb2::{channels, prepare, terms};
use filestone_setup::workspace::marker::ProcessIdentity;
use filestone_wire::smb2::Command;
use filestone_workload::operation::OpKind;
use open::OpenShare;
use replay::{OverSockets, ShareSite};
use std::time::Duration;

/// Name of the protocol in plans.
pub const NAME: &str = "smb";

/// Maximum time for one request before a run; a slower request is worth reporting.
const REQUEST_MAX: Duration = Duration::from_secs(2);
/// Number of consecutive ECHOs.
const ECHOES: usize = 21;

/// SMB2 and SMB3 over TCP.
pub struct Smb2;

impl Protocol for Smb2 {
    fn name(&self) -> &str {
        NAME
    }

    fn supports(&self, kind: OpKind) -> Result<(), Unsupported> {
        smb2::supports(kind)
    }

    fn open<'plan>(
        &self,
        plan: &'plan Plan,
        built_in: BuiltIn,
        context: &mut RunContext<'_>,
    ) -> Result<Box<dyn OpenTarget + 'plan>, RunError> {
        let target = plan.target.smb().ok_or(TargetError::NoCalls)?;
        let server = built_in.smb;
        let prepared = match &plan.workload {
            WorkloadPlan::Probe(probe) => {
                PreparedShare::probe(plan, target, probe, server, context)?
            }
            WorkloadPlan::Mix(mix) => PreparedShare::mix(plan, target, mix, server, context)?,
            WorkloadPlan::LoadFile(_) | WorkloadPlan::Fleet(_) => {
                return Err(TargetError::NoCalls.into());
            }
        };
        Ok(Box::new(OpenShare::new(plan, target, prepared)))
    }

    fn reclaim(
        &self,
        job: &Job<'_>,
        owner: &ProcessIdentity,
        context: &mut RunContext<'_>,
    ) -> Result<(), RunError> {
        let target = job.plan.target.smb().ok_or(TargetError::NoCalls)?;
        match job.plan.mix() {
            Some(mix) => reclaim_mix(job.plan, target, mix, owner, job.built_in.smb, context),
            None => Ok(()),
        }
    }

    fn request_of(&self, kind: OpKind) -> String {
        let command = match kind {
            OpKind::Null => Command::Echo,
            OpKind::GetAttr => Command::QueryInfo,
            _ => return kind.name().to_uppercase(),
        };
        command.to_string()
    }

    fn calibrated_at(&self) -> Option<TargetPlan> {
        Some(TargetPlan::Smb(SmbTarget::built_in("file")))
    }

    fn over_plain_socket(
        &self,
        job: &Job<'_>,
        time: Duration,
        context: &mut RunContext<'_>,
    ) -> Result<Rate, RunError> {
        raw::measure(job, time, context)
    }

    fn replay(&self, job: &Job<'_>, context: &mut RunContext<'_>) -> Result<RunRecord, RunError> {
        let opening = SiteOptions::of(job)?;
        let (stop, password) = (context.stop, context.password);
        opening.replay(context, &OverSockets, |target| {
            let target = target.smb()?;
            let mut silent = NoObserver;
            let context = RunContext::new(stop, &mut silent).with_password(password);
            Some(ShareSite::claim(&opening, target, &context))
        })
    }

    fn examine(
        &self,
        contact: &ConnectTarget,
        facts: &mut TargetFacts,
        cancellation: &Cancellation,
    ) -> Result<(), RunError> {
        let target = contact.target.smb().ok_or(TargetError::NoCalls)?;
        let source = contact.source();
        let Some(host) = &target.host else {
            return Err(TargetError::NoServer.into());
        };
        reach(host, target.port(), source, facts, cancellation)?;
        let approach = ShareAddress {
            password: contact.password.as_ref(),
            built_in: None,
            source,
            timeout: REQUEST_MAX,
            cancellation,
        };
        let mut connection = terms::reach_by(&approach, target)?;
        prepare::find(&mut connection, target)?;
        // A refused second session does not prevent the remaining checks.
        facts.channels = channels::examine(&mut connection).ok();
        facts.call = repeated(ECHOES, || {
            let answered = connection.call(async |link| link.echo().await);
            answered.map_err(|unmet| unmet.at(&target.to_string(), "ECHO").into_run_error())
        })?;
        Ok(())
    }
}
