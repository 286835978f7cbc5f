//! Rules about the requested load, if all of it was achieved.

use crate::explanation::Limit;
use crate::explanation::evidence::{DueTimeSource, Evidence, amount, rate};
use crate::explanation::generator::GeneratorPart;
use crate::measure::verdict::CheckSubject;
use filestone_plan::plan::ArrivalsPlan;
use filestone_workload::text::time_text;

/// Below this mean number in flight, the sentence reports how rarely operations can have
/// overlapped.
const FEW_IN_FLIGHT: f64 = 0.5;

pub(super) fn offered(evidence: &Evidence<'_>, _: f64) -> Option<Limit> {
    let check = evidence.achieved()?;
    let CheckSubject::Achieved {
        due_ops_per_s,
        achieved_ops_per_s,
        ..
    } = check.subject
    else {
        return None;
    };
    if !evidence.is_load_achieved() {
        return None;
    }
    let near = match evidence.generator {
        GeneratorPart::NearLimit => {
            format!(
                "; the load generator was {}, near its own limit",
                evidence.busy()
            )
        }
        _ => String::new(),
    };
    let suggestion = match evidence.record.plan.mix() {
        Some(_) => {
            "mix --curve shows where response times bend, --slo 'p99<2ms' up to which load an \
             objective holds"
        }
        None => {
            "offer more (--offered), or as much as is answered (without --offered, --in-flight 8)"
        }
    };
    let unit = if evidence.record.is_in_calls() {
        "calls"
    } else {
        "operations"
    };
    let told = Limit::new(
        format!(
            "the load that was offered: {} of {} {unit}/s that were due were achieved. {}{near}",
            rate(achieved_ops_per_s),
            rate(due_ops_per_s),
            met(evidence),
        ),
        suggestion,
    );
    Some(
        told.with("due_ops_per_s", due_ops_per_s)
            .with("achieved_ops_per_s", achieved_ops_per_s)
            .with("in_flight", evidence.flow.in_flight),
    )
}

/// Describes the number in flight, and what it implies for operations that wait for each other.
/// Random arrivals see the mean number in flight; the probability that they see at least one is at
/// most that number.
fn met(evidence: &Evidence<'_>) -> String {
    let in_flight = evidence.flow.in_flight;
    let known = format!(
        "{} were in flight on average ({})",
        amount(in_flight),
        evidence.little()
    );
    let is_random = matches!(evidence.record.plan.arrivals, ArrivalsPlan::Poisson { .. });
    if in_flight >= FEW_IN_FLIGHT {
        format!("{known}; one load does not tell how long they waited for each other")
    } else if is_random {
        format!(
            "{known}, so at most {:.0} % of them met another one: response times are those of a \
             server that has little to do",
            (100.0 * in_flight).ceil()
        )
    } else {
        known
    }
}

/// A replay with a rate in bytes per second.
pub(super) fn rate_of_replay(evidence: &Evidence<'_>, least: f64) -> Option<Limit> {
    let DueTimeSource::Rate(bytes_per_s) = evidence.pace else {
        return None;
    };
    let replay = evidence.record.replay.as_ref()?;
    let seconds = evidence.record.window_ns.max(1) as f64 / 1e9;
    let moved = (replay.bytes_read + replay.bytes_written) as f64 / seconds;
    let asked = bytes_per_s * f64::from(evidence.record.plan.clients);
    let percent = 100.0 * moved / asked;
    if percent < least {
        return None;
    }
    let megabytes = |bytes: f64| rate(bytes / 1e6);
    let told = Limit::new(
        format!(
            "the rate that was asked for: {} of {} MB/s were moved ({percent:.1} %)",
            megabytes(moved),
            megabytes(asked)
        ),
        "a higher rate (--rate, --total-rate), or none, which is as fast as answers come",
    );
    Some(
        told.with("moved_bytes_per_s", moved)
            .with("asked_bytes_per_s", asked),
    )
}

/// A replay by time stamps without lines that were late for long.
pub(super) fn time_stamps(evidence: &Evidence<'_>, most: f64) -> Option<Limit> {
    let lag = &evidence.record.totals.slot_wait_ns;
    let window_ns = evidence.record.window_ns as f64;
    let is_kept = 100.0 * lag.max as f64 <= most * window_ns;
    if evidence.pace != DueTimeSource::Stamps || lag.count == 0 || !is_kept {
        return None;
    }
    let told = Limit::new(
        format!(
            "the load's own time stamps: no line was more than {} late, in {}",
            time_text(lag.max as f64),
            time_text(window_ns)
        ),
        "replay it faster (--speed 2), or as fast as answers come (--ignore-timestamps)",
    );
    Some(
        told.with("lag_max_ns", lag.max as f64)
            .with("window_ns", window_ns),
    )
}
