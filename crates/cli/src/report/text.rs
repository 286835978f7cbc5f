//! Tables for people: what was measured, how long it took, where operations went.

use super::page::Page;
use super::replay::Detail;
use super::table::{Column, Table};
use super::{curve, micros, mix, objective, percentile, probe, replay, shortfall, summary};
use crate::quantity::{bytes_text, duration_text, grouped};
use filestone_model::measure::run_record::{KindRecord, RunEnd};
use filestone_model::measure::{DistributionRecord, Ledger, Role, RunRecord};
use filestone_model::operation::OpKind;
use filestone_model::plan::{ArrivalsPlan, Plan, ProbePlan, ReadData, WorkloadPlan};

/// The whole report; caveats are told apart from it, on standard error.
pub fn render(record: &RunRecord, detail: Detail, page: Page) -> String {
    if record.replay.is_some() {
        return replay::render(record, detail, page);
    }
    if record.mix.is_some() {
        return mix_of_any_kind(record, detail, page);
    }
    let mut text = probe::answer(record, page);
    text.push_str(&heading(record, page));
    let times = percentiles(record, page);
    text.push_str(&times);
    text.push_str(&percentile::legend(&times, page));
    if detail == Detail::Clients {
        text.push_str(&summary::render(record, summary::Extremes::Rows, page));
    }
    text.push('\n');
    text.push_str(&page.facts(facts(record)));
    text.push_str(&errors(record, page));
    text.push_str(&companions(record, page));
    text.push_str(&ledger(&record.totals.ledger, page));
    text
}

/// The report of a mix, of the curve that it was steered along, or of what was looked for.
pub fn mix_of_any_kind(record: &RunRecord, detail: Detail, page: Page) -> String {
    if record.curve.is_some() {
        curve::render(record, page)
    } else if record.objective.is_some() {
        objective::render(record, page)
    } else {
        mix::render(record, detail, page)
    }
}

/// One line that says what was measured, and a sentence if the load was another one than the one
/// offered.
pub fn heading(record: &RunRecord, page: Page) -> String {
    let sentence = shortfall::sentence(record);
    let sentence = sentence.map_or_else(String::new, |sentence| page.prose(&sentence));
    page.prose(&what_was_measured(record)) + &sentence
}

/// Target, load and length of a run, and how it ended.
pub fn what_was_measured(record: &RunRecord) -> String {
    let plan = &record.plan;
    let ended = match &record.end {
        RunEnd::Finished => String::new(),
        RunEnd::Interrupted => ", interrupted".into(),
        RunEnd::TargetLost { .. } => ", ended by the loss of the target".into(),
    };
    format!(
        "{} of {}: {}, {}{ended}",
        subject(plan),
        place(record),
        load(plan),
        duration_text(record.window_ns),
    )
}

fn subject(plan: &Plan) -> String {
    match &plan.workload {
        WorkloadPlan::Probe(probe) => subject_of_probe(probe),
        WorkloadPlan::LoadFile(replay) => replay::loads_text(replay),
        WorkloadPlan::Mix(mix) => format!("mix {}", mix.name),
    }
}

fn subject_of_probe(probe: &ProbePlan) -> String {
    let name = probe.operation.name();
    match probe.operation {
        OpKind::Read | OpKind::Write | OpKind::Commit => {
            let order = if probe.random { "random " } else { "" };
            format!("{order}{name} {}", bytes_text(probe.size_bytes.into()))
        }
        _ if probe.random => format!("random {name}"),
        _ => name.into(),
    }
}

fn place(record: &RunRecord) -> String {
    record.plan.target.to_string()
}

fn load(plan: &Plan) -> String {
    let clients = if plan.clients == 1 {
        "1 client".into()
    } else {
        format!("{} clients", grouped(plan.clients.into()))
    };
    // A number that was asked for, and no rounded one.
    let offered = |load: f64| match load < 10_000.0 {
        true => format!("{load} operations/s offered"),
        false => format!("{} operations/s offered", grouped(load.round() as u64)),
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
    }
}

/// The parts of the response time, in microseconds.
pub fn percentiles(record: &RunRecord, page: Page) -> String {
    let totals = &record.totals;
    let mut table = Table::new([
        Column::text("usecs"),
        Column::figure("MIN").gives_way(2),
        Column::figure("MEAN"),
        Column::figure("P50"),
        Column::figure("P90").gives_way(3),
        Column::figure("P95").gives_way(1),
        Column::figure("P99"),
        Column::figure("P99.9"),
        Column::figure("P99.99").gives_way(4),
        Column::figure("MAX"),
    ]);
    for (name, row) in [
        ("response time", &totals.response_time_ns),
        ("service time", &totals.service_time_ns),
        ("slot wait", &totals.slot_wait_ns),
        ("dispatch delay", &totals.dispatch_delay_ns),
    ] {
        let figures = distribution(row);
        table.row(std::iter::once(name.to_string()).chain(figures));
    }
    format!("\n{}", table.render(page))
}

fn distribution(row: &DistributionRecord) -> [String; 9] {
    if row.count == 0 {
        return ["-"; 9].map(String::from);
    }
    [
        micros(row.min as f64),
        micros(row.mean),
        percentile::cell(row, 0.5, row.p50),
        percentile::cell(row, 0.9, row.p90),
        percentile::cell(row, 0.95, row.p95),
        percentile::cell(row, 0.99, row.p99),
        percentile::cell(row, 0.999, row.p99_9),
        percentile::cell(row, 0.9999, row.p99_99),
        micros(row.max as f64),
    ]
}

/// Load, bytes and cost, one fact per line.
fn facts(record: &RunRecord) -> Vec<(&'static str, String)> {
    let totals = &record.totals;
    let mut facts = Vec::new();
    if let Some(offered) = totals.offered_load_ops_per_s {
        facts.push(("offered load", operations_per_second(offered)));
    }
    facts.push(("achieved load", achieved_load(record)));
    if totals.goodput_bytes_per_s > 0.0 {
        facts.push(("goodput", bytes_per_second(totals.goodput_bytes_per_s)));
    }
    facts.extend(read_data(&record.plan));
    if let Some(kind) = record.measured() {
        facts.push(("wire bytes", wire_bytes(kind)));
    }
    facts.push(("client CPU", client_cpu(record)));
    if let Some(headroom) = &record.headroom {
        facts.push(("headroom", probe::headroom(record, headroom)));
    }
    facts
}

/// What became of the data that were read, if any were: it decides what a READ costs
/// the load generator.
pub fn read_data(plan: &Plan) -> Option<(&'static str, String)> {
    let data = plan.read_data?;
    let what = match (data, &plan.workload) {
        (ReadData::Discard, WorkloadPlan::Mix(_)) => format!(
            "of replies of {} and more discarded by the kernel, unread; of others delivered",
            bytes_text(ReadData::DISCARD_MIN_BYTES.into())
        ),
        (ReadData::Discard, _) => "discarded by the kernel, unread".into(),
        (ReadData::Deliver, _) => "delivered to this process, not looked at".into(),
        (ReadData::Verify, _) => "delivered to this process and compared".into(),
    };
    let option = match plan.workload {
        WorkloadPlan::Probe(_) | WorkloadPlan::Mix(_) => format!(" (--data {})", data.name()),
        WorkloadPlan::LoadFile(_) => String::new(),
    };
    Some(("read data", format!("{what}{option}")))
}

/// What the load generator cost.
pub fn client_cpu(record: &RunRecord) -> String {
    let totals = &record.totals;
    let window = record.window_ns.max(1) as f64;
    format!(
        "{:.3} usecs per operation, {:.0} % of one processor",
        totals.client_cpu_ns_per_op / 1000.0,
        100.0 * totals.client_cpu_ns as f64 / window,
    )
}

/// A load.
pub fn operations_per_second(load: f64) -> String {
    if load < 1000.0 {
        format!("{load:.1} operations/s")
    } else {
        format!("{} operations/s", grouped(load.round() as u64))
    }
}

/// What ended well in the window per second of it, and what makes that another number than
/// the operations that were due in it.
pub fn achieved_load(record: &RunRecord) -> String {
    let totals = &record.totals;
    let load = operations_per_second(totals.achieved_load_ops_per_s);
    let left_over = totals.left_over(record.window_ns);
    let operations = match left_over.unsigned_abs() {
        1 => "1 operation".into(),
        count => format!("{} operations", grouped(count)),
    };
    match left_over {
        0 => load,
        1.. => format!("{load}, with {operations} left over from the warm-up"),
        _ => format!("{load}, without {operations} that ended after the window"),
    }
}

/// A rate of calls on the wire.
pub fn calls_per_second(load: f64) -> String {
    if load < 1000.0 {
        format!("{load:.1} calls/s")
    } else {
        format!("{} calls/s", grouped(load.round() as u64))
    }
}

/// A rate of bytes.
pub fn bytes_per_second(rate: f64) -> String {
    format!("{:.1} MB/s ({:.1} MiB/s)", rate / 1e6, rate / 1_048_576.0)
}

fn wire_bytes(kind: &KindRecord) -> String {
    wire_bytes_of(&[kind])
}

/// What went over the wire for the operations of several kinds, on average.
pub fn wire_bytes_of(kinds: &[&KindRecord]) -> String {
    let sum = |of: fn(&KindRecord) -> u64| kinds.iter().map(|kind| of(kind)).sum::<u64>() as f64;
    let ended = sum(|kind| kind.ledger.ended()).max(1.0);
    format!(
        "{:.1} sent and {:.1} received per operation, in {:.2} calls",
        sum(|kind| kind.bytes_sent) / ended,
        sum(|kind| kind.bytes_received) / ended,
        sum(|kind| kind.calls) / ended,
    )
}

/// What did not succeed, by status; nothing if all did.
fn errors(record: &RunRecord, page: Page) -> String {
    let Some(kind) = record.measured() else {
        return String::new();
    };
    let ledger = &kind.ledger;
    let mut rows: Vec<(&str, u64)> = kind
        .failures
        .iter()
        .map(|failure| (failure.failure.as_str(), failure.count))
        .collect();
    rows.extend(
        [
            ("timed out", ledger.timed_out),
            ("disconnected", ledger.disconnected),
            ("skipped: due, but never sent", ledger.skipped),
        ]
        .into_iter()
        .filter(|(_, count)| *count > 0),
    );
    let rows = rows.into_iter();
    let rows = rows.map(|(name, count)| (name.into(), count, ledger.scheduled));
    errors_table(rows.collect(), page)
}

/// What did not succeed, how often, and of how many; nothing if all did.
pub fn errors_table(rows: Vec<(String, u64, u64)>, page: Page) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let mut table = Table::new([
        Column::text("errors").at_least(30),
        Column::figure("COUNT"),
        Column::figure("SHARE"),
    ]);
    for (name, count, scheduled) in rows {
        let share = 100.0 * count as f64 / scheduled.max(1) as f64;
        table.row([name, grouped(count), format!("{share:.3} %")]);
    }
    format!("\n{}", table.render(page))
}

/// What had to be done so that the measured operation could be repeated.
pub fn companions(record: &RunRecord, page: Page) -> String {
    let mut table = Table::new([
        Column::text("companions").at_least(14),
        Column::figure("OK"),
        Column::figure("FAILED"),
        Column::figure("P50"),
        Column::figure("P99"),
        Column::figure("MAX"),
    ]);
    let kinds = record.totals.kinds.iter();
    let mut kinds = kinds
        .filter(|kind| kind.role == Role::Companion && kind.ledger.scheduled > 0)
        .peekable();
    if kinds.peek().is_none() {
        return String::new();
    }
    for kind in kinds {
        let times = &kind.response_time_ns;
        table.row([
            kind.operation.name().into(),
            grouped(kind.ledger.ok),
            grouped(kind.ledger.scheduled.saturating_sub(kind.ledger.ok)),
            percentile::cell(times, 0.5, times.p50),
            percentile::cell(times, 0.99, times.p99),
            micros(times.max as f64),
        ]);
    }
    format!("\n{}", table.render(page))
}

/// Where every operation went, if one of them went anywhere but well.
pub fn ledger(ledger: &Ledger, page: Page) -> String {
    if ledger.ok == ledger.scheduled {
        return String::new();
    }
    let sum = format!(
        "{} scheduled = {} ok + {} failed + {} timed out + {} disconnected + {} skipped + {} in flight",
        grouped(ledger.scheduled),
        grouped(ledger.ok),
        grouped(ledger.failed),
        grouped(ledger.timed_out),
        grouped(ledger.disconnected),
        grouped(ledger.skipped),
        grouped(ledger.in_flight),
    );
    format!("\n{}", page.prose(&sum))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::canned;

    #[test]
    fn a_plain_run() {
        insta::assert_snapshot!(render(&canned::plain(), Detail::Whole, Page::default()));
    }

    #[test]
    fn what_makes_rate_and_count_differ_is_said() {
        let mut record = canned::plain();
        let mut of = |ended: f64| {
            record.totals.achieved_load_ops_per_s = ended / 2.0;
            achieved_load(&record)
        };
        assert_eq!(of(1000.0), "500.0 operations/s");
        assert_eq!(
            of(1001.0),
            "500.5 operations/s, with 1 operation left over from the warm-up"
        );
        assert_eq!(
            of(968.0),
            "484.0 operations/s, without 32 operations that ended after the window"
        );
    }

    #[test]
    fn what_became_of_read_data_is_said() {
        let mut lines = String::new();
        for mut record in [canned::plain(), canned::mix(), canned::replayed()] {
            for data in [ReadData::Discard, ReadData::Deliver, ReadData::Verify] {
                record.plan.read_data = Some(data);
                let (name, said) = read_data(&record.plan).expect("it is said");
                lines.push_str(&format!("{name:<16}{said}\n"));
            }
        }
        insta::assert_snapshot!(lines, @"
        read data       discarded by the kernel, unread (--data discard)
        read data       delivered to this process, not looked at (--data deliver)
        read data       delivered to this process and compared (--data verify)
        read data       of replies of 16 KiB and more discarded by the kernel, unread; of others delivered (--data discard)
        read data       delivered to this process, not looked at (--data deliver)
        read data       delivered to this process and compared (--data verify)
        read data       discarded by the kernel, unread
        read data       delivered to this process, not looked at
        read data       delivered to this process and compared
        ");
    }

    #[test]
    fn a_run_with_errors_and_companions() {
        insta::assert_snapshot!(render(
            &canned::with_errors(),
            Detail::Clients,
            Page::default()
        ));
    }

    #[test]
    fn an_open_loop_that_was_interrupted() {
        insta::assert_snapshot!(render(
            &canned::interrupted(),
            Detail::Whole,
            Page::default()
        ));
    }
}
