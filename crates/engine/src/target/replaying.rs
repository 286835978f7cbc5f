//! From a plan to the places that its loads are replayed in, whatever the protocol.

use super::{BuiltIn, Job, TargetError};
use crate::control::Context;
use crate::error::RunError;
use crate::replay::fleet::Fleet;
use crate::replay::piece::Loads;
use crate::replay::replaying::Crew;
use crate::replay::round_robin::RoundRobin;
use crate::replay::{Site, replay_on};
use crate::run::check_environment;
use crate::workspace::Occupied;
use filestone_model::load::{Generation, Load};
use filestone_model::measure::RunRecord;
use filestone_model::operation::OpKind;
use filestone_model::plan::{FleetPlan, LeftOverPolicy, Plan, ReplayPlan, TargetPlan};
use filestone_model::workload::{LoadFile, Stream};
use std::borrow::Cow;
use std::sync::Arc;

/// What opening a site takes.
pub struct Opening<'run> {
    pub plan: &'run Plan,
    pub replay: Cow<'run, ReplayPlan>,
    pub fleet: Option<&'run FleetPlan>,
    pub loads: &'run [Arc<Load>],
    pub generation: Generation,
    /// Whether a load makes symbolic links.
    pub makes_links: bool,
    pub built_in: BuiltIn,
}

impl<'run> Opening<'run> {
    /// Checks what every layer needs.
    pub fn of(job: &Job<'run>) -> Result<Self, RunError> {
        let (plan, loads) = (job.plan, job.loads);
        let refused = |what, help| Err(TargetError::Loads { what, help }.into());
        if let Some(fleet) = plan.fleet() {
            return Self::of_fleet(job, fleet);
        }
        let Some(replay) = plan.replay() else {
            return refused(
                "there is no load in this plan",
                "see filestone replay --help",
            );
        };
        plan.check()?;
        check_environment(plan)?;
        let Some(load) = loads.first() else {
            return refused("there is no load to replay", "name a load file");
        };
        let generation = load.generation();
        if loads.iter().any(|other| other.generation() != generation) {
            return refused(
                "the loads are of different generations",
                "replay NFS loads and CIFS-style loads in runs of their own",
            );
        }
        if loads.iter().any(|load| load.operations() == 0) {
            return refused("a load has no operation in it", "see filestone check");
        }
        Ok(Self {
            plan,
            replay: Cow::Borrowed(replay),
            fleet: None,
            loads,
            generation,
            makes_links: loads.iter().any(|load| load.lines_of(OpKind::SymLink) > 0),
            built_in: job.built_in,
        })
    }

    /// The same of a fleet, whose clients ask what those of a CIFS load do.
    fn of_fleet(job: &Job<'run>, fleet: &'run FleetPlan) -> Result<Self, RunError> {
        job.plan.check()?;
        check_environment(job.plan)?;
        Ok(Self {
            plan: job.plan,
            replay: Cow::Owned(fleet.as_replay()),
            fleet: Some(fleet),
            loads: &[],
            generation: Generation::Cifs,
            makes_links: false,
            built_in: job.built_in,
        })
    }

    /// Replays on the plan's target and those that it has besides, which `open` opens if they
    /// are of its protocol.
    pub fn replay<S, C>(
        &self,
        context: &mut Context<'_>,
        crew: &C,
        open: impl Fn(&TargetPlan) -> Option<Result<S, RunError>>,
    ) -> Result<RunRecord, RunError>
    where
        S: Site,
        C: Crew<RoundRobin<S>, LoadFile> + Crew<RoundRobin<S>, Stream>,
    {
        // Before anything is claimed that would have to be given up again.
        let fleet = self.fleet.map(|fleet| {
            let piece = Fleet::new(self.plan, fleet).controlled(context)?;
            Ok::<_, RunError>((fleet, piece))
        });
        let fleet = fleet.transpose()?;
        let targets = std::iter::once(&self.plan.target).chain(&self.replay.more_targets);
        let sites = targets
            .map(|target| open(target).unwrap_or_else(|| Err(TargetError::DifferentLayers.into())));
        let site = RoundRobin::claim(sites)?;
        let (plan, replay) = (self.plan, &*self.replay);
        match fleet {
            None => {
                let loads = Loads::new(plan, replay, self.loads);
                replay_on(plan, replay, loads, site, crew, context)
            }
            Some((fleet, piece)) => {
                let places = (0..plan.clients).map(|client| fleet.target_of(client));
                let site = site.dealt(places.collect());
                replay_on(plan, replay, piece, site, crew, context)
            }
        }
    }
}

/// Who goes on where an earlier run has left something, as dbench does, also works beside
/// what dbench has left.
pub fn occupied(replay: &ReplayPlan) -> Occupied {
    match replay.left_over {
        _ if replay.read_only => Occupied::Read,
        LeftOverPolicy::RemoveIfOver => Occupied::Beside,
        LeftOverPolicy::Refuse | LeftOverPolicy::Remove => Occupied::BesideEmpty,
    }
}
