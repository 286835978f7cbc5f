//! Rules about the limit of operations in flight, and the server that completes them.

use crate::explanation::Limit;
use crate::explanation::evidence::{DueTimeSource, Evidence, amount, rate};
use crate::measure::shortfall::Shortfall;
use crate::measure::verdict::{achieved_load_ops_per_s, due_load_ops_per_s};
use filestone_workload::text::{counted, thousands, time_text};

/// All slots are in use: the rate follows from Little's law.
pub(super) fn taken(evidence: &Evidence<'_>, least: f64) -> Option<Limit> {
    let flow = evidence.flow;
    if !evidence.waits_for_slots() || !flow.takes(least) {
        return None;
    }
    let told = match evidence.pace {
        DueTimeSource::Offered => in_overload(evidence),
        _ if evidence.is_one_each() => of_clients(evidence),
        _ => of_loop(evidence),
    };
    Some(
        told.with("slots", flow.slots)
            .with("in_flight", flow.in_flight),
    )
}

fn of_loop(evidence: &Evidence<'_>) -> Limit {
    let slots = evidence.flow.slots as u64;
    let in_flight = amount(evidence.flow.in_flight);
    let little = evidence.little();
    if slots == 1 {
        return Limit::new(
            format!(
                "one operation at a time: {in_flight} were in flight on average ({little}), so \
                 operations/s are what the time of one leaves, and none waited for another of ours"
            ),
            "--in-flight 8: if operations/s rise with it, the server has room",
        );
    }
    Limit::new(
        format!(
            "the slots: {in_flight} of the {} operations that may be in flight were ({little}), so \
             operations/s follow from the time that each takes; how much of that is waiting for \
             each other, one run does not tell",
            thousands(slots)
        ),
        format!(
            "twice as many in flight (--in-flight {}): if operations/s stay and response times \
             double, they wait for each other at the server; if operations/s double, it has room",
            2 * u64::from(evidence.record.plan.in_flight)
        ),
    )
}

fn of_clients(evidence: &Evidence<'_>) -> Limit {
    let clients = u64::from(evidence.record.plan.clients);
    Limit::new(
        format!(
            "the clients, each of which does one thing after the other: {} of {} had an operation \
             under way on average ({}), so operations/s follow from the time that each takes",
            amount(evidence.flow.in_flight),
            counted(clients, "client"),
            evidence.little()
        ),
        format!(
            "twice as many clients (--clients {}): if operations/s stay and service times double, they \
             wait for each other at the target; if operations/s double, it has room",
            2 * clients
        ),
    )
}

/// The run does not show whether more operations in flight would have completed, or only waited at
/// the server.
fn in_overload(evidence: &Evidence<'_>) -> Limit {
    let record = evidence.record;
    let due = due_load_ops_per_s(record).unwrap_or(0.0);
    let achieved = achieved_load_ops_per_s(record);
    let wait_ns = record.totals.slot_wait_ns.mean;
    let (waited_for, is_lost) = ("a slot", record.totals.reconnections > 0);
    let waited_for = if is_lost {
        "a slot, or for a connection that was lost"
    } else {
        waited_for
    };
    let more = if evidence.is_one_each() {
        format!(
            "twice as many clients (--clients {})",
            2 * u64::from(record.plan.clients)
        )
    } else {
        format!(
            "twice as many in flight (--in-flight {})",
            2 * u64::from(record.plan.in_flight)
        )
    };
    let told = Limit::new(
        format!(
            "the slots, or by the server behind them: {} of the {} operations that may be in flight \
             were, on average ({}), and with so many the server answered {}/s of {}/s that were due; \
             operations waited {} for {waited_for}",
            amount(evidence.flow.in_flight),
            thousands(evidence.flow.slots as u64),
            evidence.little(),
            rate(achieved),
            rate(due),
            time_text(wait_ns)
        ),
        format!(
            "{more}: if more is achieved, the slots were the limit; if not, the server. {}/s or less \
             (--offered) show response times that are not the backlog's",
            rate(0.9 * achieved)
        ),
    );
    told.with("due_ops_per_s", due)
        .with("achieved_ops_per_s", achieved)
        .with("slot_wait_mean_ns", wait_ns)
}

/// The achieved load is below the due load although slots were free: the missing operations wait at
/// the server.
pub(super) fn queue_at_server(evidence: &Evidence<'_>, _: f64) -> Option<Limit> {
    if evidence.shortfall() != Some(Shortfall::Server) {
        return None;
    }
    let record = evidence.record;
    let due = due_load_ops_per_s(record)?;
    let achieved = achieved_load_ops_per_s(record);
    let told = Limit::new(
        format!(
            "the server, or the way to it: of {}/s that were due it answered {}/s, and {} were waiting \
             for it on average ({}) of {} that may be in flight; the load generator was {}",
            rate(due),
            rate(achieved),
            amount(evidence.flow.in_flight),
            evidence.little(),
            thousands(evidence.flow.slots as u64),
            evidence.busy()
        ),
        format!(
            "{}/s or less (--offered) show response times that are not the backlog's",
            rate(0.9 * achieved)
        ),
    );
    Some(
        told.with("due_ops_per_s", due)
            .with("achieved_ops_per_s", achieved)
            .with("in_flight", evidence.flow.in_flight),
    )
}

/// The time between a reply and the next operation belongs to the load generator.
pub(super) fn turnaround(evidence: &Evidence<'_>, least: f64) -> Option<Limit> {
    let (flow, slots) = (evidence.flow, evidence.flow.slots);
    let is_ours = evidence.pace == DueTimeSource::Closed && evidence.record.replay.is_none();
    let percent = 100.0 * (1.0 - flow.in_flight / slots.max(1.0));
    if !is_ours || evidence.is_one_each() || percent < least {
        return None;
    }
    let round_ns = slots * 1e9 / flow.ops_per_s.max(f64::MIN_POSITIVE);
    let told = Limit::new(
        format!(
            "the load generator's own time between two operations: a slot began one every {} ({} at \
             {}/s), and each was under way for {} of that; the rest, {percent:.0} %, passed before \
             the next was sent",
            time_text(round_ns),
            counted(slots as u64, "slot"),
            rate(flow.ops_per_s),
            time_text(flow.mean_ns)
        ),
        "more workers (--workers) or fewer clients for each; the server could take more at this number \
         in flight",
    );
    Some(
        told.with("round_ns", round_ns)
            .with("service_time_mean_ns", flow.mean_ns)
            .with("slots", slots),
    )
}
