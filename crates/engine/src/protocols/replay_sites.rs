//! From a plan to the places that its loads are replayed in, whatever the protocol.

use super::{BuiltIn, Job, TargetError};
use crate::control::Context;
use crate::error::RunError;
use crate::replay::fleet::Fleet;
use crate::replay::piece::Loads;
use crate::replay::replaying::ClientSpawner;
use crate::replay::round_robin::RoundRobin;
use crate::replay::{WorkDir, replay_on};
use crate::run::{check_environment, check_files_of_clients};
use crate::workspace::OnExisting;
use filestone_measure::measure::RunRecord;
use filestone_plan::made::MadeNames;
use filestone_plan::plan::{FleetPlan, Interface, LeftoverPolicy, Plan, ReplayPlan, TargetPlan};
use filestone_protocol::workload::{LoadFile, Stream};
use filestone_workload::load::{Generation, Load, statistics};
use filestone_workload::operation::OpKind;
use std::borrow::Cow;
use std::sync::Arc;

/// What opening a site takes.
pub struct SiteOptions<'run> {
    pub plan: &'run Plan,
    pub replay: Cow<'run, ReplayPlan>,
    pub fleet: Option<&'run FleetPlan>,
    pub loads: &'run [Arc<Load>],
    pub generation: Generation,
    /// Whether a load makes symbolic links.
    pub makes_links: bool,
    /// The names that the run can make in `clients`, which are all that it removes.
    pub made: Arc<MadeNames>,
    pub built_in: BuiltIn,
}

impl<'run> SiteOptions<'run> {
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
        if plan.target.interface() == Interface::SystemCalls {
            check_files_of_clients(plan, files_of_loads(plan, loads))?;
        }
        let first = replay.first_number;
        let clients = first..first.saturating_add(plan.clients);
        Ok(Self {
            plan,
            replay: Cow::Borrowed(replay),
            fleet: None,
            loads,
            generation,
            made: Arc::new(MadeNames::of_loads(loads, clients)),
            makes_links: loads.iter().any(|load| load.lines_of(OpKind::SymLink) > 0),
            built_in: job.built_in,
        })
    }

    /// The same of a fleet, whose clients ask what those of a CIFS load do.
    fn of_fleet(job: &Job<'run>, fleet: &'run FleetPlan) -> Result<Self, RunError> {
        job.plan.check()?;
        check_environment(job.plan)?;
        if job.plan.target.interface() == Interface::SystemCalls {
            let of_client = 1 + FILES_BESIDE;
            check_files_of_clients(job.plan, u64::from(job.plan.clients) * of_client)?;
        }
        Ok(Self {
            plan: job.plan,
            replay: Cow::Owned(fleet.as_replay()),
            fleet: Some(fleet),
            loads: &[],
            generation: Generation::Cifs,
            made: Arc::new(MadeNames::of_fleet(fleet)),
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
        S: WorkDir,
        C: ClientSpawner<RoundRobin<S>, LoadFile> + ClientSpawner<RoundRobin<S>, Stream>,
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

/// Files that a client has open in a directory besides its handles: the directory itself, and two
/// while it looks for a name.
const FILES_BESIDE: u64 = 3;

/// As many as every process may have open by default, less what it has open besides.
const FILES_ALWAYS: u64 = 512;

/// Files that all clients together have open at most while they replay their loads in a directory.
/// Loads are run through for it only if not even their lines tell that the limit is far away.
fn files_of_loads(plan: &Plan, loads: &[Arc<Load>]) -> u64 {
    let openers = [OpKind::NtCreateX, OpKind::Open, OpKind::OpenX];
    let by_lines =
        |load: &Arc<Load>| -> u64 { openers.map(|kind| load.lines_of(kind)).iter().sum() };
    let of_all = |handles: &[u64]| -> u64 {
        let of_clients = handles.iter().cycle().take(plan.clients as usize);
        of_clients.map(|handles| handles + FILES_BESIDE).sum()
    };
    let at_most = of_all(&loads.iter().map(by_lines).collect::<Vec<u64>>());
    if at_most <= FILES_ALWAYS {
        return at_most;
    }
    let by_pass = |load: &Arc<Load>| statistics::of_pass(load, plan.seed).handles.open_max;
    of_all(&loads.iter().map(by_pass).collect::<Vec<u64>>())
}

/// Who goes on where an earlier run has left something, as dbench does, also works beside
/// what dbench has left.
pub fn occupied(replay: &ReplayPlan) -> OnExisting {
    match replay.left_over {
        _ if replay.read_only => OnExisting::Read,
        LeftoverPolicy::RemoveIfOver => OnExisting::Beside,
        LeftoverPolicy::Refuse | LeftoverPolicy::Remove => OnExisting::BesideEmpty,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use filestone_plan::plan::{LoadName, LocalTarget, WorkloadPlan};

    #[test]
    fn files_of_loads_are_those_that_are_open_together() {
        let opening = |handle: u32| {
            format!("NTCreateX \"/clients/client1/a{handle}\" 0x40 5 {handle} NT_STATUS_OK\n")
        };
        let text: String = (0..200).map(opening).collect();
        let load = crate::load_file::read_text("paper.load", &text).expect("the load is right");
        let target = TargetPlan::Local(LocalTarget { directory: None });
        let replay = ReplayPlan::new(Vec::<LoadName>::new(), load.kinds());
        let mut plan = Plan::new("test", target, WorkloadPlan::LoadFile(replay), 1);
        let loads = [Arc::new(load)];
        // The lines alone say that 2 clients stay below the default limit.
        plan.clients = 2;
        assert_eq!(files_of_loads(&plan, &loads), 2 * 203);
        // A handle that is opened again takes the place of itself.
        let again = text.clone() + &text;
        let load = crate::load_file::read_text("paper.load", &again).expect("the load is right");
        plan.clients = 20;
        assert_eq!(files_of_loads(&plan, &[Arc::new(load)]), 20 * 203);
    }
}
