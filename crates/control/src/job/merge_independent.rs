//! Merging of records of runs that were started by hand on several hosts into the record of one
//! job.

use super::merge::{HostRun, MergeError, evaluate, merge};
use filestone_measure::comparison::each_difference;
use filestone_measure::measure::RunRecord;
use filestone_plan::plan::{ArrivalsPlan, Plan};
use filestone_workload::text::seconds_of_rfc3339;

/// Runs whose starts differ by more than this fraction of their window are not one job.
const APART_SHARE: f64 = 0.1;
/// Largest number of plan differences in an error.
const TOLD: usize = 5;
/// Fields in which the plans of hosts of one job may differ: amount of work, source, and name of
/// the server.
const FREE: [&str; 16] = [
    "arrivals.offered_load_ops_per_s",
    "clients",
    "connections.sources",
    "count",
    "gates",
    "part",
    "pin",
    "row_ns",
    "seed",
    "target.host",
    "target.mount_port",
    "target.port",
    "workers",
    "workload.file_set.name",
    "workload.file_set.working_set_bytes",
    "workload.remove_set",
];

/// Error when records do not belong to one job.
#[derive(Debug, thiserror::Error)]
pub enum IncompatibleRuns {
    /// A single record.
    #[error("one record is nothing to merge")]
    One,
    /// Only probes and mixes have records that can be merged.
    #[error("{host}: records of {face} are not merged, only those of probe and mix")]
    Workload {
        /// Host of the record.
        host: String,
        /// Command of the record.
        face: String,
    },
    /// The run is of a kind that several hosts cannot execute together in one window.
    #[error("{host}: a {face} {what} is not merged")]
    Alone {
        /// Host of the record.
        host: String,
        /// Command of the record.
        face: String,
        /// Kind of run.
        what: &'static str,
    },
    /// Different versions of filestone, or different measurement methods.
    #[error("{one} was made by {one_tool}, {other} by {other_tool}")]
    Tool {
        /// First record.
        one: String,
        /// Tool of the first record.
        one_tool: String,
        /// Second record.
        other: String,
        /// Tool of the second record.
        other_tool: String,
    },
    /// Different plans.
    #[error("{one} and {other} did not ask the same: {differences}")]
    Plan {
        /// First record.
        one: String,
        /// Second record.
        other: String,
        /// Differing fields, with their values.
        differences: String,
    },
    /// The same run twice, or a copy of its record.
    #[error("{one} and {other} are records of the same run")]
    SameRun {
        /// First record.
        one: String,
        /// Second record.
        other: String,
    },
    /// Equal random arrivals on two hosts are synchronous.
    #[error(
        "{one} and {other} have the same seed, so their operations were due at the same moments"
    )]
    Seed {
        /// First record.
        one: String,
        /// Second record.
        other: String,
    },
    /// Two records of the same part.
    #[error("{one} and {other} are the same part of a job")]
    SamePart {
        /// First record.
        one: String,
        /// Second record.
        other: String,
    },
    /// The runs were not simultaneous.
    #[error(
        "{other} began {apart_s:.1} s from {one}, in windows of {window_s:.1} s: these did not run at the same time"
    )]
    Time {
        /// First record.
        one: String,
        /// Second record.
        other: String,
        /// Difference of the starts, in seconds.
        apart_s: f64,
        /// Window of the first run, in seconds.
        window_s: f64,
    },
    /// The records belong to one job but cannot be merged.
    #[error(transparent)]
    Merge(#[from] MergeError),
}

/// Merges these runs, each with its display name, into the record of their job.
pub fn merge_independent(runs: &[HostRun]) -> Result<RunRecord, IncompatibleRuns> {
    let [first, others @ ..] = runs else {
        return Err(IncompatibleRuns::One);
    };
    if others.is_empty() {
        return Err(IncompatibleRuns::One);
    }
    runs.iter().try_for_each(check_workload)?;
    for (place, other) in others.iter().enumerate() {
        check_alike(first, other)?;
        let mut earlier = runs.iter().take(place.saturating_add(1));
        earlier.try_for_each(|one| check_apart(one, other))?;
    }
    let mut merged = merge(&plan_of(&first.record.plan, runs), runs, vec![])?;
    evaluate(&mut merged);
    Ok(merged)
}

fn check_workload(run: &HostRun) -> Result<(), IncompatibleRuns> {
    let record = &run.record;
    let plan = &record.plan;
    let (host, face) = (run.name.clone(), plan.command.clone());
    if plan.probe().is_none() && plan.mix().is_none() {
        return Err(IncompatibleRuns::Workload { host, face });
    }
    match why_alone(plan) {
        None => Ok(()),
        Some(what) => Err(IncompatibleRuns::Alone { host, face, what }),
    }
}

/// Returns why a run of this plan cannot be part of a job, as text that follows its name.
fn why_alone(plan: &Plan) -> Option<&'static str> {
    let reasons = [
        (
            plan.target.is_directory(),
            "of a local directory, which is another one on each host,",
        ),
        (
            plan.steering.is_some(),
            "whose load is decided on while it runs",
        ),
        // The window of each host is as long as its operations took.
        (
            plan.duration_ns.is_none(),
            "that ended by count (--count) and not by time (--duration)",
        ),
    ];
    let found = reasons.iter().find(|(is_so, _)| *is_so);
    found.map(|(_, what)| *what)
}

/// Checks that two runs executed the same plan at the same time.
fn check_alike(one: &HostRun, other: &HostRun) -> Result<(), IncompatibleRuns> {
    let names = || (one.name.clone(), other.name.clone());
    let tool = |record: &RunRecord| {
        let tool = &record.tool;
        format!(
            "{} {} ({}, method {})",
            tool.name, tool.version, tool.profile, record.method
        )
    };
    let (one_tool, other_tool) = (tool(&one.record), tool(&other.record));
    if one_tool != other_tool {
        let (one, other) = names();
        return Err(IncompatibleRuns::Tool {
            one,
            one_tool,
            other,
            other_tool,
        });
    }
    let differences = differences(&one.record.plan, &other.record.plan);
    if !differences.is_empty() {
        let (one, other) = names();
        return Err(IncompatibleRuns::Plan {
            one,
            other,
            differences: differences.join(", "),
        });
    }
    check_time(one, other)
}

fn check_time(one: &HostRun, other: &HostRun) -> Result<(), IncompatibleRuns> {
    let began = |run: &HostRun| seconds_of_rfc3339(&run.record.started_at);
    let window_s = one.record.window_ns as f64 / 1e9;
    let apart_s = match (began(one), began(other)) {
        (Some(first), Some(second)) => (second - first).abs(),
        _ => f64::INFINITY,
    };
    if apart_s <= APART_SHARE * window_s {
        return Ok(());
    }
    Err(IncompatibleRuns::Time {
        one: one.name.clone(),
        other: other.name.clone(),
        apart_s,
        window_s,
    })
}

/// Checks that two records are not of the same run or part, and that their arrivals are not
/// synchronous.
fn check_apart(one: &HostRun, other: &HostRun) -> Result<(), IncompatibleRuns> {
    let names = || (one.name.clone(), other.name.clone());
    if is_same_run(&one.record, &other.record) {
        let (one, other) = names();
        return Err(IncompatibleRuns::SameRun { one, other });
    }
    let (first, second) = (&one.record.plan, &other.record.plan);
    let index = |plan: &Plan| plan.part.map(|part| part.index);
    match (index(first), index(second)) {
        (Some(index), Some(same)) if index == same => {
            let (one, other) = names();
            Err(IncompatibleRuns::SamePart { one, other })
        }
        (Some(_), Some(_)) => Ok(()),
        _ if matches!(first.arrivals, ArrivalsPlan::Poisson { .. })
            && first.seed == second.seed =>
        {
            let (one, other) = names();
            Err(IncompatibleRuns::Seed { one, other })
        }
        _ => Ok(()),
    }
}

/// Returns whether two records are of one run, whatever their names: start times in nanoseconds and
/// the CPU time of a run are unique.
fn is_same_run(one: &RunRecord, other: &RunRecord) -> bool {
    let figures = |record: &RunRecord| {
        let totals = &record.totals;
        let busy = totals
            .workers
            .iter()
            .map(|worker| worker.cpu_ns)
            .sum::<u64>();
        (record.window_ns, totals.ledger, totals.client_cpu_ns, busy)
    };
    let times = |record: &RunRecord| record.totals.response_time_ns.clone();
    one.started_at == other.started_at
        && figures(one) == figures(other)
        && times(one) == times(other)
        && one.ticks == other.ticks
}

/// Returns the plan of the job that consists of these runs.
fn plan_of(first: &Plan, runs: &[HostRun]) -> Plan {
    let plans = || runs.iter().map(|run| &run.record.plan);
    let loads = plans().map(|plan| plan.arrivals.offered_load());
    let load: Option<f64> = loads.sum();
    let whole = first.whole();
    let is_whole = whole.parts > 1 && runs.len() == whole.parts as usize;
    Plan {
        clients: plans().fold(0, |clients, plan| clients.saturating_add(plan.clients)),
        arrivals: match load {
            // The sum of the parts, without rounding.
            _ if is_whole => whole.arrivals,
            Some(load) => first.arrivals.offering(load),
            None => first.arrivals,
        },
        part: None,
        ..first.clone()
    }
}

/// Returns the fields in which two plans differ but must not, with the values: the first few.
fn differences(one: &Plan, other: &Plan) -> Vec<String> {
    let values = (serde_json::to_value(one), serde_json::to_value(other));
    let (Ok(one), Ok(other)) = values else {
        return vec!["a plan that cannot be written".into()];
    };
    let mut found = Vec::new();
    each_difference("", &one, &other, &FREE, &mut |place, one, other| {
        found.push(format!("{place} is {one} and {other}"));
    });
    if found.len() > TOLD {
        let more = found.len() - TOLD;
        found.truncate(TOLD);
        found.push(format!("and {more} more"));
    }
    found
}

#[cfg(test)]
mod tests;
