//! Current state, exposed as gauges: the run, its progress, and its clients.

use filestone_measure::measure::RunPhase;
use filestone_measure::measure::fleet_record::{ClientState, GroupRecord};
use filestone_measure::measure::run_record::{RunOutcome, RunRecord, Target, Tool};
use filestone_plan::plan::{ArrivalsPlan, Plan};
use std::collections::BTreeMap;

/// Current state of the process.
#[derive(Debug, Clone)]
pub struct RunState {
    /// The measuring program.
    pub tool: Tool,
    /// Current phase of the run; `None` before the first run.
    pub phase: Option<RunPhase>,
    /// The current run, or the last one.
    pub run: Option<RunInfo>,
    /// Offered load in operations per second; `None` for a closed loop.
    pub offered_load_ops_per_s: Option<f64>,
    /// States of the clients of a fleet, by group.
    pub fleet: Vec<GroupStates>,
    /// Number of ended runs by outcome.
    pub ended: BTreeMap<&'static str, u64>,
    /// Number of caveats of the last ended run.
    pub caveats: Option<u64>,
}

/// Constant facts of a run.
#[derive(Debug, Clone)]
pub struct RunInfo {
    /// Labels with command, target and arrival process of the run.
    pub labels: Vec<(&'static str, String)>,
    /// Simulated clients.
    pub clients: u32,
    /// Calls in flight per client, at most.
    pub in_flight: u32,
    /// Threads of the load generator.
    pub workers: u32,
}

/// State of a group of clients.
#[derive(Debug, Clone)]
pub struct GroupStates {
    /// Name of the group.
    pub group: String,
    /// Number of clients in each state.
    pub clients: [(ClientState, u64); ClientState::ALL.len()],
}

impl RunState {
    /// Creates the state of a process before its first run.
    pub fn new(tool: Tool) -> Self {
        Self {
            tool,
            phase: None,
            run: None,
            offered_load_ops_per_s: None,
            fleet: vec![],
            ended: ENDS.map(|end| (end, 0)).into(),
            caveats: None,
        }
    }

    /// Sets the state at the start of a run of `plan`.
    pub(crate) fn start(&mut self, plan: &Plan) {
        self.phase = Some(RunPhase::Preparing);
        self.offered_load_ops_per_s = plan.arrivals.offered_load();
        self.fleet.clear();
        self.run = Some(RunInfo {
            labels: vec![
                ("command", plan.command.clone()),
                ("layer", plan.target.layer().into()),
                ("loop", loop_of(plan).into()),
            ],
            clients: plan.clients,
            in_flight: plan.in_flight,
            workers: plan.workers,
        });
    }

    /// Adds the labels of the target that was found.
    pub(crate) fn found(&mut self, target: &Target) {
        if let Some(run) = &mut self.run {
            let labels = &mut run.labels;
            labels.retain(|(label, _)| !["target", "export"].contains(label));
            labels.push(("target", target.address.clone()));
            labels.push(("export", target.export.clone()));
        }
    }

    /// Sets the client states of a fleet.
    pub(crate) fn fleet(&mut self, groups: &[GroupRecord]) {
        let states = |group: &GroupRecord| {
            ClientState::ALL.map(|state| {
                let mut counts = group.states.iter();
                let count = counts.find(|count| count.state == state);
                (state, count.map_or(0, |count| u64::from(count.clients)))
            })
        };
        let groups = groups.iter().map(|group| GroupStates {
            group: group.name.clone(),
            clients: states(group),
        });
        self.fleet = groups.collect();
    }

    /// Sets the state after a failed run, which has no record.
    pub(crate) fn fail(&mut self) {
        self.phase = Some(RunPhase::Finished);
        self.offered_load_ops_per_s = None;
        *self.ended.entry(FAILED).or_default() += 1;
    }

    /// Sets the state after the end of a run.
    pub(crate) fn end(&mut self, record: &RunRecord) {
        self.phase = Some(RunPhase::Finished);
        self.offered_load_ops_per_s = None;
        let end = match record.end {
            RunOutcome::Finished => FINISHED,
            RunOutcome::Interrupted => INTERRUPTED,
            RunOutcome::TargetLost { .. } => TARGET_LOST,
        };
        *self.ended.entry(end).or_default() += 1;
        self.caveats = Some(record.caveats.len() as u64);
        if let Some(fleet) = &record.fleet {
            self.fleet(&fleet.groups);
        }
    }
}

const FINISHED: &str = "finished";
const INTERRUPTED: &str = "interrupted";
const TARGET_LOST: &str = "target-lost";
const FAILED: &str = "failed";
const ENDS: [&str; 4] = [FINISHED, INTERRUPTED, TARGET_LOST, FAILED];

fn loop_of(plan: &Plan) -> &'static str {
    match (&plan.steering, &plan.arrivals) {
        (Some(_), _) => "steered",
        (None, ArrivalsPlan::Closed) => "closed",
        (
            None,
            ArrivalsPlan::Constant { .. } | ArrivalsPlan::Poisson { .. } | ArrivalsPlan::Levels(_),
        ) => "open",
    }
}
