//! First line of a report: subject of the measurement, target, load and duration.

use super::shortfall;
use super::units::bytes_per_second;
use crate::document::Document;
use crate::quantity::duration_text;
use filestone_measure::measure::RunRecord;
use filestone_measure::measure::run_record::RunOutcome;
use filestone_plan::plan::{ArrivalsPlan, Pacing, Plan, ProbePlan, ReplayPlan, WorkloadPlan};
use filestone_workload::operation::OpKind;
use filestone_workload::text::{bytes_text, counted, thousands};

/// Maximum number of targets or load files that are listed by name; the rest is counted.
const LISTED_MAX: usize = 4;

/// Describes the measurement, and the load if it differs from the offered one.
pub fn heading(record: &RunRecord) -> Document {
    Document::default()
        .prose([what_was_measured(record)])
        .prose(shortfall::sentence(record))
}

/// Formats target, load and length of a run, and its end.
pub fn what_was_measured(record: &RunRecord) -> String {
    let plan = &record.plan;
    if plan.has_lines() {
        let (loads, places) = (subject(plan), places(plan));
        let how = clients_and_time(record);
        return format!("{loads} on {places}: {how}{}", session(record));
    }
    format!(
        "{} of {}: {}, {}{}{}",
        subject(plan),
        plan.target,
        load(plan),
        duration_text(record.window_ns),
        ended(&record.end, "the target"),
        session(record),
    )
}

/// Formats the negotiated session.
fn session(record: &RunRecord) -> String {
    let session = record.target.session.as_ref();
    session.map_or_else(String::new, |session| format!(", {}", session.text()))
}

/// Describes the end of a run, if it was not as planned; `lost` names the lost object.
fn ended(end: &RunOutcome, lost: &str) -> String {
    match end {
        RunOutcome::Finished => String::new(),
        RunOutcome::Interrupted => ", interrupted".into(),
        RunOutcome::TargetLost { .. } => format!(", ended by the loss of {lost}"),
    }
}

fn subject(plan: &Plan) -> String {
    match &plan.workload {
        WorkloadPlan::Probe(probe) => subject_of_probe(probe),
        WorkloadPlan::LoadFile(replay) => loads_text(replay),
        WorkloadPlan::Mix(mix) => format!("mix {}", mix.name),
        WorkloadPlan::Fleet(fleet) => format!("fleet {}", fleet.name),
    }
}

fn subject_of_probe(probe: &ProbePlan) -> String {
    let name = probe.operation.name();
    match probe.operation {
        OpKind::Read | OpKind::Write | OpKind::Commit | OpKind::Copy => {
            let order = if probe.random { "random " } else { "" };
            format!("{order}{name} {}", bytes_text(probe.size_bytes.into()))
        }
        _ if probe.random => format!("random {name}"),
        _ => name.into(),
    }
}

/// Lists the names of the load files.
pub fn loads_text(replay: &ReplayPlan) -> String {
    let names = replay.loads.iter().map(|load| load.name.clone());
    listed(&names.collect::<Vec<_>>())
}

/// Lists the targets of a replay.
pub fn places(plan: &Plan) -> String {
    let names: Vec<String> = plan.targets().map(ToString::to_string).collect();
    listed(&names)
}

fn listed(names: &[String]) -> String {
    match names.get(LISTED_MAX..) {
        None | Some([]) => names.join(", "),
        Some(rest) => format!(
            "{} and {} more",
            names[..LISTED_MAX].join(", "),
            thousands(rest.len() as u64)
        ),
    }
}

fn load(plan: &Plan) -> String {
    let clients = counted(plan.clients.into(), "client");
    // A requested number is printed without rounding.
    let offered = |load: f64| {
        if load < 10_000.0 {
            format!("{load} operations/s offered")
        } else {
            format!("{} operations/s offered", thousands(load.round() as u64))
        }
    };
    match plan.arrivals {
        _ if plan.steering.is_some() => format!("{clients}, load by load"),
        ArrivalsPlan::Closed => format!("{clients}, {} in flight each", plan.in_flight),
        ArrivalsPlan::Constant {
            offered_load_ops_per_s,
        } => format!("{clients}, {}", offered(offered_load_ops_per_s)),
        ArrivalsPlan::Poisson {
            offered_load_ops_per_s,
        } => format!("{clients}, {} (Poisson)", offered(offered_load_ops_per_s)),
        ArrivalsPlan::Levels(levels) => format!(
            "{clients}, none and {} loads up to {} in turn",
            levels.levels,
            offered(levels.highest_load_ops_per_s)
        ),
    }
}

/// Formats the number of clients, the pacing, the duration and the end of a run.
pub fn clients_and_time(record: &RunRecord) -> String {
    let plan = &record.plan;
    let replay = plan.replay();
    let pacing = replay.map_or_else(String::new, |replay| pacing_text(replay.pacing));
    format!(
        "{}{pacing}, {}{}",
        counted(plan.clients.into(), "client"),
        duration_text(record.window_ns),
        ended(&record.end, "all clients"),
    )
}

fn pacing_text(pacing: Pacing) -> String {
    match pacing {
        Pacing::Closed => String::new(),
        Pacing::Stamps { speed: 1.0 } => ", as its time stamps say".into(),
        Pacing::Stamps { speed } => format!(", {speed} times as fast as its time stamps say"),
        Pacing::Rate { bytes_per_s } => {
            format!(", {} each", bytes_per_second(bytes_per_s))
        }
    }
}
