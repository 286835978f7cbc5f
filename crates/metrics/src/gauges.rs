//! What is so at a moment, and no count: which run, how far, with whom.

use filestone_measure::measure::RunPhase;
use filestone_measure::measure::fleet_record::{ClientState, GroupRecord};
use filestone_measure::measure::run_record::{RunOutcome, RunRecord, Target, Tool};
use filestone_plan::plan::{ArrivalsPlan, Plan};
use std::collections::BTreeMap;

/// What is so at a moment.
#[derive(Debug, Clone)]
pub struct RunState {
    /// What measures.
    pub tool: Tool,
    /// Which part of the run is going on; none before the first.
    pub phase: Option<RunPhase>,
    /// The run that goes on, or that went on last.
    pub run: Option<RunFacts>,
    /// Operations due per second; none of a closed loop.
    pub offered_load_ops_per_s: Option<f64>,
    /// What the clients of a fleet are doing, by group.
    pub fleet: Vec<GroupStates>,
    /// Runs that are over, by how they ended.
    pub ended: BTreeMap<&'static str, u64>,
    /// Reasons to doubt the last run that is over.
    pub caveats: Option<u64>,
}

/// What a run is about.
#[derive(Debug, Clone)]
pub struct RunFacts {
    /// Its command, its target, and how operations are due: labels and their values.
    pub labels: Vec<(&'static str, String)>,
    /// Simulated clients.
    pub clients: u32,
    /// Calls that each may have in flight.
    pub in_flight: u32,
    /// Threads of the load generator.
    pub workers: u32,
}

/// A group of clients.
#[derive(Debug, Clone)]
pub struct GroupStates {
    /// Its name.
    pub group: String,
    /// How many of its clients are in which state.
    pub clients: [(ClientState, u64); ClientState::ALL.len()],
}

impl RunState {
    /// Of a process that has measured nothing yet.
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

    /// A run of this plan begins.
    pub(crate) fn start(&mut self, plan: &Plan) {
        self.phase = Some(RunPhase::Preparing);
        self.offered_load_ops_per_s = plan.arrivals.offered_load();
        self.fleet.clear();
        self.run = Some(RunFacts {
            labels: vec![
                ("command", plan.face.clone()),
                ("layer", plan.target.layer().into()),
                ("loop", loop_of(plan).into()),
            ],
            clients: plan.clients,
            in_flight: plan.in_flight,
            workers: plan.workers,
        });
    }

    /// Its target has been found.
    pub(crate) fn found(&mut self, target: &Target) {
        if let Some(run) = &mut self.run {
            let labels = &mut run.labels;
            labels.retain(|(label, _)| !["target", "export"].contains(label));
            labels.push(("target", target.address.clone()));
            labels.push(("export", target.export.clone()));
        }
    }

    /// What the clients of a fleet are doing.
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

    /// The run has failed: it has no record.
    pub(crate) fn fail(&mut self) {
        self.phase = Some(RunPhase::Finished);
        self.offered_load_ops_per_s = None;
        *self.ended.entry(FAILED).or_default() += 1;
    }

    /// The run is over.
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
