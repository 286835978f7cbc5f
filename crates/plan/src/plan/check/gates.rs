//! Checks whether the figures of a plan's gates are available in its runs.

use super::{PlanError, within};
use crate::gate::{GATES_MAX, Gate, GateFigure, RunTotal};
use crate::plan::{Field, Plan, SteeringPlan};
use filestone_workload::figure::{Quantity, RunFigure};
use filestone_workload::kind::Role;

/// Returns an error for the first figure of a gate that is not available in runs of this plan.
pub(super) fn check(plan: &Plan) -> Result<(), PlanError> {
    let gates = &plan.gates.fail_if;
    within(Field::Gates, gates.len() as f64, 0.0..=GATES_MAX as f64)?;
    for gate in gates {
        can_tell(gate)?;
        for (figure, place) in gate.condition().figures() {
            if let Some(missing) = missing_in(plan, figure) {
                let error = gate.error(place, format!("{figure}: {}", missing.reason));
                return Err(PlanError::Gate(error.with_help(missing.help)));
            }
        }
    }
    Ok(())
}

/// Rejects a gate with a constant result.
fn can_tell(gate: &Gate) -> Result<(), PlanError> {
    let condition = gate.condition();
    let sides = [&condition.value, &condition.limit];
    let (what, help) = if sides.iter().any(|side| side.divides_by_zero()) {
        ("it divides by 0", "no run has a figure of that kind")
    } else if condition.figures().is_empty() {
        (
            "it says the same of every run: there is no figure in it",
            "a gate is a comparison such as read.response_time.p99 > 2ms",
        )
    } else {
        return Ok(());
    };
    Err(PlanError::Gate(gate.error_in_all(what).with_help(help)))
}

/// Reason why a figure is not available, with a help text.
#[derive(Debug)]
pub struct MissingFigure {
    /// The reason.
    pub reason: &'static str,
    /// The help text.
    pub help: String,
}

/// Returns the reason why a figure is not available in runs of this plan; `None` if it may be.
pub fn missing_in(plan: &Plan, figure: GateFigure) -> Option<MissingFigure> {
    match figure {
        GateFigure::OfOperations(figure) => of_operations(plan, figure),
        GateFigure::OfRun(total) => of_run(plan, total),
    }
}

fn missing(why: &'static str, help: impl Into<String>) -> MissingFigure {
    let help = help.into();
    MissingFigure { reason: why, help }
}

const SEVERAL_LOADS: &str = "several loads are offered in this run, and the figure is of one";

fn of_operations(plan: &Plan, figure: RunFigure) -> Option<MissingFigure> {
    if let Some(operation) = figure.operation {
        let kinds = plan.kinds().into_iter();
        let measured = kinds.filter(|(_, role)| *role == Role::Measured);
        let measured: Vec<_> = measured.map(|(kind, _)| kind).collect();
        if !measured.contains(&operation) {
            let names: Vec<&str> = measured.iter().map(|kind| kind.name()).collect();
            let help = format!("this run has {}", names.join(", "));
            return Some(missing("this run has no such operation", help));
        }
    }
    let is_of_one_load = plan.steering.is_some() && figure.quantity != Quantity::Errors;
    is_of_one_load.then(|| missing(SEVERAL_LOADS, of_steered(plan)))
}

/// Returns the figures of a run with load control.
fn of_steered(plan: &Plan) -> &'static str {
    match plan.steering {
        Some(SteeringPlan::Objective(_)) => "this run has objective.load, errors and caveats",
        _ => "this run has curve.peak, curve.knee, errors and caveats",
    }
}

fn of_run(plan: &Plan, total: RunTotal) -> Option<MissingFigure> {
    match total {
        RunTotal::Offered => of_offered(plan),
        RunTotal::CurvePeak | RunTotal::CurveKnee => {
            let is_curve = matches!(plan.steering, Some(SteeringPlan::Curve(_)));
            (!is_curve).then(|| missing("this run has no curve", "mix --curve measures one"))
        }
        RunTotal::ObjectiveLoad => {
            let is_search = matches!(plan.steering, Some(SteeringPlan::Objective(_)));
            let why = "this run looks for no load";
            (!is_search).then(|| missing(why, "mix --slo looks for one"))
        }
        RunTotal::Mismatches => {
            let why = "only replays of load files have any";
            (!plan.has_lines()).then(|| missing(why, "others have errors"))
        }
        RunTotal::GeneratorBusy => {
            let is_waiting = plan.replay().is_some() || plan.target.is_directory();
            let why = "threads of this run wait in system calls";
            let help = "the caveat cpu-run-delay says whether they had a processor";
            is_waiting.then(|| missing(why, help))
        }
        RunTotal::ServerCpu
        | RunTotal::ServerSwitches
        | RunTotal::ServerInterrupts
        | RunTotal::ServerBusy
        | RunTotal::WireBytes
        | RunTotal::WirePackets
        | RunTotal::ReplyPackets
        | RunTotal::ModelReplyPackets
        | RunTotal::WireRate => {
            let help =
                "--cost counts bytes and packets, --server-pid and its like what the server does";
            let why = "this run does not read what operations cost";
            plan.cost.is_none().then(|| missing(why, help))
        }
        RunTotal::Caveats
        | RunTotal::Scheduled
        | RunTotal::TimedOut
        | RunTotal::Disconnected
        | RunTotal::Skipped
        | RunTotal::LostClients
        | RunTotal::Retransmissions
        | RunTotal::Reconnections
        | RunTotal::LateReplies
        | RunTotal::QueueTime
        | RunTotal::KernelOutTime
        | RunTotal::BeyondTime
        | RunTotal::KernelInTime
        | RunTotal::ElsewhereTime => None,
    }
}

fn of_offered(plan: &Plan) -> Option<MissingFigure> {
    if plan.steering.is_some() {
        return Some(missing(SEVERAL_LOADS, of_steered(plan)));
    }
    if plan.mix().is_some() && plan.target.is_directory() {
        let why = "through a mount calls are offered, and operations achieved";
        let help = "--fail-on-caveat=achieved-below-offered compares the two";
        return Some(missing(why, help));
    }
    let why = "this run has a closed loop, which offers no load";
    let is_closed = plan.arrivals.offered_load().is_none();
    is_closed.then(|| missing(why, "compare achieved with a number, such as 20000/s"))
}
