//! Opens the directories in which the loads of a plan are replayed, for any protocol.

use crate::protocols::{BuiltIn, Job};
use crate::replay::fleet::Fleet;
use crate::replay::piece::Loads;
use crate::replay::replaying::ClientSpawner;
use crate::replay::round_robin::RoundRobin;
use crate::replay::{WorkDir, replay_on};
use filestone_host::control::RunContext;
use filestone_host::environment::{check_environment, check_files_of_clients};
use filestone_host::error::RunError;
use filestone_measure::measure::RunRecord;
use filestone_plan::made::MadeNames;
use filestone_plan::plan::{FleetPlan, Interface, LeftoverPolicy, Plan, ReplayPlan, TargetPlan};
use filestone_protocol::workload::{LoadFile, Stream};
use filestone_setup::TargetError;
use filestone_setup::workspace::test_directory::OnExisting;
use filestone_workload::load::{Generation, Load, statistics};
use filestone_workload::operation::OpKind;
use std::borrow::Cow;
use std::sync::Arc;

/// Inputs for opening a site.
pub struct SiteOptions<'run> {
    pub plan: &'run Plan,
    pub replay: Cow<'run, ReplayPlan>,
    pub fleet: Option<&'run FleetPlan>,
    pub loads: &'run [Arc<Load>],
    pub generation: Generation,
    /// Whether a load creates symbolic links.
    pub makes_links: bool,
    /// Names that the run can create in `clients`; only these are removed.
    pub made: Arc<MadeNames>,
    pub built_in: BuiltIn,
}

impl<'run> SiteOptions<'run> {
    /// Checks the requirements of all protocols.
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

    /// Checks the requirements of a fleet, whose clients use the same operations as those of a CIFS
    /// load.
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

    /// Replays on the plan's target and its additional targets, which `open` opens if they belong
    /// to its protocol.
    pub fn replay<S, C>(
        &self,
        context: &mut RunContext<'_>,
        spawner: &C,
        open: impl Fn(&TargetPlan) -> Option<Result<S, RunError>>,
    ) -> Result<RunRecord, RunError>
    where
        S: WorkDir,
        C: ClientSpawner<RoundRobin<S>, LoadFile> + ClientSpawner<RoundRobin<S>, Stream>,
    {
        // Checked before anything is claimed that would have to be released again.
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
                replay_on(plan, replay, loads, site, spawner, context)
            }
            Some((fleet, piece)) => {
                let places = (0..plan.clients).map(|client| fleet.target_of(client));
                let site = site.dealt(places.collect());
                replay_on(plan, replay, piece, site, spawner, context)
            }
        }
    }
}

/// Files that a client has open in a directory in addition to its handles: the directory itself,
/// and two during a name lookup.
const FILES_BESIDE: u64 = 3;

/// Default limit of open files per process, minus the files that the process has open otherwise.
const FILES_ALWAYS: u64 = 512;

/// Returns the maximum number of files that all clients together have open while they replay their
/// loads in a directory. Loads are simulated only if their line counts alone do not show that the
/// limit is far away.
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

/// Returns the policy for an existing `clients`. A run that, like dbench, continues despite
/// leftovers of an earlier run also works next to files of dbench.
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
        let load =
            filestone_host::load_file::read_text("paper.load", &text).expect("the load is right");
        let target = TargetPlan::Local(LocalTarget { directory: None });
        let replay = ReplayPlan::new(Vec::<LoadName>::new(), load.kinds());
        let mut plan = Plan::new("test", target, WorkloadPlan::LoadFile(replay), 1);
        let loads = [Arc::new(load)];
        // The line counts alone show that 2 clients stay below the default limit.
        plan.clients = 2;
        assert_eq!(files_of_loads(&plan, &loads), 2 * 203);
        // Reopening a handle replaces it.
        let again = text.clone() + &text;
        let load =
            filestone_host::load_file::read_text("paper.load", &again).expect("the load is right");
        plan.clients = 20;
        assert_eq!(files_of_loads(&plan, &[Arc::new(load)]), 20 * 203);
    }
}
