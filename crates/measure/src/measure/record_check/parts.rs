//! Checks of ledgers, and of the parts of a record that only some runs have. Errors name the field.

use super::{check_distribution, check_number};
use crate::cost::{CostEstimate, CostRecord, WireCostRecord};
use crate::measure::curve_record::{
    CurvePointRecord, CurveRecord, KneeRecord, ObjectiveRecord, SearchStepRecord,
};
use crate::measure::job_record::HostRecord;
use crate::measure::mix_record::MixRecord;
use crate::measure::run_record::{InvariantViolation, RunRecord, TickRecord};
use filestone_workload::recording::ledger::Ledger;

/// Checks these parts of a record.
pub(super) fn check(record: &RunRecord) -> Result<(), InvariantViolation> {
    check_ledgers(record)?;
    check_ticks(&record.ticks)?;
    for (place, worker) in record.totals.workers.iter().enumerate() {
        let of = format!("totals.workers[{place}]");
        check_number(&format!("{of}.busy_percent"), worker.busy_percent)?;
        check_number(&format!("{of}.waited_percent"), worker.run_delay_percent)?;
    }
    let hosts = record.job.iter().flat_map(|job| &job.hosts);
    for (place, host) in hosts.enumerate() {
        check_host(&format!("job.hosts[{place}]"), host)?;
    }
    record.curve.iter().try_for_each(check_curve)?;
    record.objective.iter().try_for_each(check_objective)?;
    record.mix.iter().try_for_each(check_mix)?;
    record.cost.iter().try_for_each(check_cost)
}

/// Checks that numbers are finite and not negative.
fn check_numbers<const N: usize>(
    of: &str,
    numbers: [(&str, f64); N],
) -> Result<(), InvariantViolation> {
    let mut numbers = numbers.into_iter();
    numbers.try_for_each(|(field, number)| check_number(&format!("{of}.{field}"), number))
}

fn check_part(what: impl Fn() -> String, part: u64, whole: u64) -> Result<(), InvariantViolation> {
    if part <= whole {
        return Ok(());
    }
    let what = what();
    Err(InvariantViolation::Part { what, part, whole })
}

fn check_ledger(of: impl Fn() -> String, ledger: &Ledger) -> Result<(), InvariantViolation> {
    let of = |field| format!("{}.{field}", of());
    check_part(|| of("ledger.expected"), ledger.expected, ledger.failed)?;
    check_part(|| of("ledger.unsent"), ledger.unsent, ledger.ok)
}

fn check_ledgers(record: &RunRecord) -> Result<(), InvariantViolation> {
    check_ledger(|| "totals".into(), &record.totals.ledger)?;
    for (place, kind) in record.totals.kinds.iter().enumerate() {
        check_ledger(|| format!("totals.kinds[{place}]"), &kind.ledger)?;
    }
    for (place, interval) in record.intervals.iter().enumerate() {
        let of = || format!("intervals[{place}]");
        check_ledger(of, &interval.ledger)?;
        for (row, kind) in interval.kinds.iter().enumerate() {
            check_ledger(|| format!("{}.kinds[{row}]", of()), &kind.ledger)?;
        }
    }
    Ok(())
}

fn check_ticks(ticks: &[TickRecord]) -> Result<(), InvariantViolation> {
    for (place, tick) in ticks.iter().enumerate() {
        let of = |what| format!("ticks[{place}]{what}");
        let expected = tick.as_expected();
        check_part(|| of(": what ended as expected"), expected, tick.ended)?;
        let (min, max) = (tick.response_time_min_ns, tick.response_time_max_ns);
        check_part(|| of(".response_time_min_ns"), min, max)?;
    }
    Ok(())
}

fn check_host(of: &str, host: &HostRecord) -> Result<(), InvariantViolation> {
    let offered = host.offered_load_ops_per_s.unwrap_or(0.0);
    check_ledger(|| of.into(), &host.ledger)?;
    check_numbers(
        of,
        [
            ("offered_load_ops_per_s", offered),
            ("achieved_load_ops_per_s", host.achieved_load_ops_per_s),
            ("goodput_bytes_per_s", host.goodput_bytes_per_s),
            ("response_time_mean_ns", host.response_time_mean_ns),
            ("busy_percent", host.busy_percent),
        ],
    )
}

fn check_curve(curve: &CurveRecord) -> Result<(), InvariantViolation> {
    for (place, point) in curve.points.iter().enumerate() {
        check_point(&format!("curve.points[{place}]"), point)?;
    }
    let overall = curve.overall_response_time_ns.unwrap_or(0.0);
    let [from, to] = curve.knee_between_ops_per_s.unwrap_or_default();
    check_numbers(
        "curve",
        [
            ("peak_ops_per_s", curve.peak_ops_per_s),
            ("overall_response_time_ns", overall),
            ("knee_between_ops_per_s[0]", from),
            ("knee_between_ops_per_s[1]", to),
        ],
    )?;
    let check_knee = |knee: &KneeRecord| {
        let load = ("load_ops_per_s", knee.load_ops_per_s);
        let mean = ("response_time_mean_ns", knee.response_time_mean_ns);
        check_numbers("curve.knee", [load, mean])
    };
    curve.knee.iter().try_for_each(check_knee)
}

fn check_point(of: &str, point: &CurvePointRecord) -> Result<(), InvariantViolation> {
    let half_width = point.response_time_mean_half_width_ns.unwrap_or(0.0);
    check_ledger(|| of.into(), &point.ledger)?;
    check_numbers(
        of,
        [
            ("offered_load_ops_per_s", point.offered_load_ops_per_s),
            ("achieved_load_ops_per_s", point.achieved_load_ops_per_s),
            ("response_time_mean_half_width_ns", half_width),
            ("relaxation_time_ns", point.relaxation_time_ns),
            ("in_flight_mean", point.in_flight_mean),
        ],
    )?;
    for (field, times) in [
        ("response_time_ns", &point.response_time_ns),
        ("service_time_ns", &point.service_time_ns),
    ] {
        let what = format!("{of}.{field}");
        // A row may be stored without its histogram.
        if times.histogram.is_empty() && times.is_ordered() {
            continue;
        }
        check_distribution(&what, times)?;
    }
    Ok(())
}

/// The load and its upper end are extrapolated and may have any value.
fn check_objective(found: &ObjectiveRecord) -> Result<(), InvariantViolation> {
    check_numbers(
        "objective",
        [
            ("lower_ops_per_s", found.lower_ops_per_s.unwrap_or(0.0)),
            (
                "held_ops_per_s",
                found.highest_passed_ops_per_s.unwrap_or(0.0),
            ),
            (
                "broken_ops_per_s",
                found.lowest_failed_ops_per_s.unwrap_or(0.0),
            ),
            ("relaxation_time_ns", found.relaxation_time_ns),
        ],
    )?;
    let check_tried = |(place, tried): (usize, &SearchStepRecord)| {
        let of = format!("objective.tried[{place}]");
        let offered = ("offered_load_ops_per_s", tried.offered_load_ops_per_s);
        let achieved = ("achieved_load_ops_per_s", tried.achieved_load_ops_per_s);
        check_numbers(&of, [offered, achieved])?;
        check_part(|| format!("{of}.above"), tried.above, tried.ended)
    };
    found.steps.iter().enumerate().try_for_each(check_tried)
}

fn check_mix(mix: &MixRecord) -> Result<(), InvariantViolation> {
    check_numbers(
        "mix",
        [
            ("off_by_percent", mix.deviation_percent),
            ("in_flight_mean", mix.in_flight_mean),
            ("in_flight_by_littles_law", mix.in_flight_by_littles_law),
        ],
    )?;
    let shares = mix
        .operations
        .iter()
        .map(|row| [row.expected_percent, row.actual_percent]);
    check_shares("mix.operations", shares)?;
    let on_wire = mix.wire.iter().flat_map(|wire| &wire.operations);
    let shares = on_wire.map(|row| [row.expected_percent, row.actual_percent]);
    check_shares("mix.wire.operations", shares)?;
    for (place, third) in mix.thirds.iter().enumerate() {
        let mean = ("response_time_mean_ns", third.response_time_mean_ns);
        let error = ("standard_error_ns", third.standard_error_ns);
        check_numbers(&format!("mix.thirds[{place}]"), [mean, error])?;
    }
    Ok(())
}

fn check_shares(
    of: &str,
    shares: impl Iterator<Item = [f64; 2]>,
) -> Result<(), InvariantViolation> {
    let mut shares = shares.enumerate();
    shares.try_for_each(|(place, [want, got])| {
        let shares = [("want_percent", want), ("got_percent", got)];
        check_numbers(&format!("{of}[{place}]"), shares)
    })
}

/// The cost of an operation is a slope, which may be negative by chance; the width of its interval
/// may not.
fn check_cost(cost: &CostRecord) -> Result<(), InvariantViolation> {
    for (place, figure) in cost.figures.iter().enumerate() {
        let of = format!("cost.figures[{place}].per_operation");
        check_half_width(&of, figure.per_operation)?;
    }
    if let Some(calls) = &cost.calls {
        let made = ("made", calls.made);
        check_numbers("cost.calls", [made, ("uncertainty", calls.uncertainty)])?;
    }
    cost.wire.iter().try_for_each(check_wire_cost)
}

fn check_wire_cost(wire: &WireCostRecord) -> Result<(), InvariantViolation> {
    let (messages, model) = (
        wire.message_bytes_per_operation,
        wire.model_bytes_per_operation,
    );
    check_numbers(
        "cost.wire",
        [
            ("message_bytes_per_operation", messages),
            (
                "model_packets_per_operation",
                wire.model_packets_per_operation,
            ),
            ("model_bytes_per_operation", model),
            ("idle_bytes_per_s", wire.idle_bytes_per_s.unwrap_or(0.0)),
            ("load_bytes_per_s", wire.load_bytes_per_s.unwrap_or(0.0)),
        ],
    )?;
    for (field, cost) in [
        ("packets_per_operation", wire.packets_per_operation),
        ("bytes_per_operation", wire.bytes_per_operation),
        (
            "reply_packets_per_operation",
            wire.reply_packets_per_operation,
        ),
    ] {
        check_half_width(&format!("cost.wire.{field}"), cost)?;
    }
    Ok(())
}

fn check_half_width(of: &str, cost: Option<CostEstimate>) -> Result<(), InvariantViolation> {
    let half_width = cost.map_or(0.0, |cost| cost.half_width);
    check_number(&format!("{of}.half_width"), half_width)
}
