//! Report of a replay: dbench's table and line first, as scripts expect them, then further figures:
//! percentiles, lag, cost on the wire, mismatches.

use crate::dbench::{self, DbenchFormat};
use crate::document::Document;
use crate::document::page::{Detail, Fact};
use crate::document::table::{Column, Table};
use crate::error::error_text;
use crate::parts::heading::{loads_text, places, what_was_measured};
use crate::parts::units::micros;
use crate::parts::{facts, kinds, known, ledger, percentile};
use crate::quantity::duration_text;
use filestone_measure::measure::RunRecord;
use filestone_measure::measure::caveat::thresholds::WAITED_PERCENT;
use filestone_measure::measure::replay_record::{MismatchRecord, ReplayRecord};
use filestone_measure::measure::run_record::KindRecord;
use filestone_plan::plan::{Interface, Pacing, Plan, ReplayPlan};
use filestone_workload::text::{bytes_text, counted, thousands};

/// Maximum number of lost clients that are listed.
const LOST_MAX: usize = 10;

/// Returns the report; empty if the record is not a replay. Caveats are printed separately, on
/// standard error.
pub fn report(record: &RunRecord, detail: Detail) -> Document {
    let (Some(plan), Some(replay)) = (record.plan.replay(), &record.replay) else {
        return Document::default();
    };
    let throughput = dbench::throughput(DbenchFormat::Five, record, plan);
    if detail == Detail::Brief {
        return Document::default()
            .blank()
            .lines(throughput)
            .tables(mismatches(replay, plan))
            .with(lost_clients(replay));
    }
    let mut table = dbench::table(DbenchFormat::Five, record, plan);
    if detail == Detail::Clients {
        table.push_str(&dbench::per_client(DbenchFormat::Five, replay, plan));
    }
    let tables = [operations(record, plan), percentile::table(record)];
    Document::default()
        .blank()
        .lines(table + &throughput)
        .paragraphs([what_was_measured(record)])
        .with(percentile::with_legend(tables))
        .blank()
        .facts(facts(record, plan, replay))
        .facts(known::fact(record, detail))
        .tables(mismatches(replay, plan))
        .with(percentile::with_legend(ledger::failed_times(record)))
        .with(lost_clients(replay))
        .with(ledger::ledger(&record.totals.ledger))
}

/// Returns the announcement before a replay's first row.
pub fn announcement(plan: &Plan) -> String {
    let replay = plan.replay();
    let loads = replay.map_or_else(String::new, loads_text);
    let warm_up = match plan.warm_up_ns {
        0 => String::new(),
        nanos => format!("{} of warm-up, then ", duration_text(nanos)),
    };
    let length = match plan.duration_ns {
        None => "one pass".into(),
        Some(nanos) if replay.is_some_and(|replay| replay.run_once) => {
            format!("one pass, {} at most", duration_text(nanos))
        }
        Some(nanos) => duration_text(nanos),
    };
    format!(
        "{} {loads} on {}: {}, {warm_up}{length}",
        if replay.is_some_and(|replay| replay.read_only) {
            "replaying what only reads of"
        } else {
            "replaying"
        },
        places(plan),
        counted(plan.clients.into(), "client")
    )
}

/// Returns the measured kinds in dbench's order.
pub fn measured<'record>(
    record: &'record RunRecord,
    plan: &ReplayPlan,
) -> Vec<&'record KindRecord> {
    let timed = kinds::measured(record).filter(|kind| kind.service_time_ns.count > 0);
    let mut kinds: Vec<&KindRecord> = timed.collect();
    kinds.sort_by_key(|kind| dbench::place(DbenchFormat::Five, plan, kind.operation));
    kinds
}

/// Placeholder for the times of operations that were completed without a call.
pub const NO_CALL: &str = "–";

/// Returns service times by kind, without the lag of a paced load file.
fn operations(record: &RunRecord, plan: &ReplayPlan) -> Table {
    let mut table = Table::new([
        Column::text("service time, usecs"),
        Column::figure("COUNT"),
        Column::figure("P50"),
        Column::figure("P90").gives_way(1),
        Column::figure("P99"),
        Column::figure("P99.9").gives_way(2),
        Column::figure("MAX"),
    ]);
    for kind in measured(record, plan) {
        let times = &kind.service_time_ns;
        let name = dbench::spelling(DbenchFormat::Five, plan, kind.operation);
        let figures = if record.is_without_call(kind) {
            [NO_CALL; 5].map(String::from)
        } else {
            [
                percentile::cell(times, 0.5, times.p50),
                percentile::cell(times, 0.9, times.p90),
                percentile::cell(times, 0.99, times.p99),
                percentile::cell(times, 0.999, times.p99_9),
                micros(times.max as f64),
            ]
        };
        let count = thousands(times.count);
        table.row([name.to_string(), count].into_iter().chain(figures));
    }
    table
}

/// Returns load, bytes, lag and cost, one fact per line.
fn facts(record: &RunRecord, plan: &ReplayPlan, replay: &ReplayRecord) -> Vec<Fact> {
    let mut facts = vec![("achieved load", facts::achieved_load(record))];
    facts.extend(facts::goodput(record));
    facts.push((
        "file data",
        format!(
            "{} bytes written, {} read",
            thousands(replay.bytes_written),
            thousands(replay.bytes_read)
        ),
    ));
    facts.extend(facts::read_data(&record.plan));
    facts.extend(facts::file_system(record));
    facts.extend(lag(record, plan));
    if !record.plan.target.is_directory() {
        facts.extend(facts::wire_bytes(record));
    }
    facts.push((
        "lines",
        format!(
            "{} carried out, warm-up included; {} {} begun",
            thousands(replay.lines),
            thousands(replay.passes),
            if replay.passes == 1 { "pass" } else { "passes" }
        ),
    ));
    facts.extend(left_out(plan, replay));
    facts.extend(facts::client_cpu(record));
    facts.extend(processors(record));
    if record.plan.target.interface() == Interface::Bytes {
        let what = "not compared with the load file: bare TCP only carries bytes";
        facts.push(("results", what.into()));
    }
    if let Some(limit) = plan.trunc_io_bytes {
        facts.push(("reads, writes", format!("cut to {}", bytes_text(limit))));
    }
    facts.extend(netbench(record, plan));
    facts
}

/// Returns the operations that a read-only run left out.
fn left_out(plan: &ReplayPlan, replay: &ReplayRecord) -> Option<Fact> {
    if replay.skipped_operations.is_empty() {
        return None;
    }
    let kinds = replay.skipped_operations.iter().map(|kind| {
        let name = dbench::spelling(DbenchFormat::Five, plan, kind.operation);
        format!("{name} {}", thousands(kind.count))
    });
    let kinds: Vec<String> = kinds.collect();
    let total = replay
        .skipped_operations
        .iter()
        .map(|kind| kind.count)
        .sum();
    let lines = counted(total, "line");
    let kinds = kinds.join(", ");
    Some((
        "left out",
        format!("{lines} that change something: {kinds}"),
    ))
}

/// Returns the time that clients waited for processors, on a host with too few for all of them.
fn processors(record: &RunRecord) -> Option<Fact> {
    let found = record.processors.as_ref();
    let processors = found.filter(|found| found.run_delay_percent >= WAITED_PERCENT)?;
    Some((
        "processors",
        format!(
            "{} for the threads of {} clients: ready to run but without one for {:.0} % of the time",
            processors.processors,
            thousands(record.plan.clients.into()),
            processors.run_delay_percent,
        ),
    ))
}

/// Returns the lag of lines behind their schedule, if they had one.
fn lag(record: &RunRecord, plan: &ReplayPlan) -> Option<Fact> {
    if plan.pacing == Pacing::Closed {
        return None;
    }
    let lag = &record.totals.slot_wait_ns;
    Some((
        "lag",
        format!(
            "{} at the median, {} at p99, {} at most behind the schedule (slot wait)",
            duration_text(lag.p50),
            duration_text(lag.p99),
            duration_text(lag.max)
        ),
    ))
}

/// Returns dbench 1's figures. Its NB and MBit were its MB/s times two constants, and its MB/s
/// itself was 132 MB per client divided by the time; here the MB/s are measured.
fn netbench(record: &RunRecord, plan: &ReplayPlan) -> Vec<Fact> {
    if !dbench::is_of_dbench_1(plan) {
        return vec![];
    }
    let rate = dbench::megabytes_per_second(record);
    let scaled = dbench::netbench_scale;
    let mut facts = vec![(
        "NetBench scale",
        format!("{}, from the bytes actually moved", scaled(rate)),
    )];
    // The formula applies to one iteration of every client.
    let clients = f64::from(record.plan.clients);
    let seconds = record.window_ns as f64 / 1e9;
    if plan.run_once && record.plan.warm_up_ns == 0 && seconds > 0.0 {
        let constant = 132.0 * clients / seconds;
        facts.push((
            "dbench 1 said",
            format!(
                "Throughput {} MB/sec ({}): 132 MB per client whatever was moved; \
                 only the time is measured",
                dbench::general(constant),
                scaled(constant)
            ),
        ));
    }
    facts
}

/// Returns results that differ from the load file's expectation.
fn mismatches(replay: &ReplayRecord, plan: &ReplayPlan) -> Option<Table> {
    if replay.mismatch_count == 0 {
        return None;
    }
    let mut table = Table::new([
        Column::text("mismatches").at_least(14),
        Column::figure("COUNT"),
        Column::text("WHAT, AND WHERE FIRST"),
    ]);
    for mismatch in &replay.mismatches {
        table.row([
            dbench::spelling(DbenchFormat::Five, plan, mismatch.operation).to_string(),
            thousands(mismatch.count),
            mismatch_text(mismatch),
        ]);
    }
    let listed: u64 = replay.mismatches.iter().map(|one| one.count).sum();
    let others = replay.mismatch_count.saturating_sub(listed);
    if others > 0 {
        table.row(["others".into(), thousands(others)]);
    }
    Some(table)
}

fn mismatch_text(mismatch: &MismatchRecord) -> String {
    let lines: Vec<String> = mismatch.lines.iter().map(ToString::to_string).collect();
    let lines = match lines.as_slice() {
        [] => String::new(),
        [line] => format!(" (line {line})"),
        lines => format!(" (lines {})", lines.join(", ")),
    };
    format!(
        "{}: expected {}, got {}{lines}",
        mismatch.mismatch.name(),
        mismatch.expected,
        mismatch.got,
    )
}

/// Returns the clients that ended early, with reasons.
fn lost_clients(replay: &ReplayRecord) -> Document {
    let lost: Vec<(u32, &str)> = replay
        .clients
        .iter()
        .filter_map(|client| Some((client.client, client.lost.as_deref()?)))
        .collect();
    if lost.is_empty() {
        return Document::default();
    }
    let mut table = Table::new([
        Column::text("lost clients").at_least(14),
        Column::text("WHY"),
    ]);
    for (client, reason) in lost.iter().take(LOST_MAX) {
        table.row([format!("client {client}"), error_text(reason)]);
    }
    let document = Document::default().tables([table]);
    match lost.len().saturating_sub(LOST_MAX) {
        0 => document,
        more => document.lines(format!("and {} more\n", thousands(more as u64))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::page::PageWidth;
    use crate::fixtures;
    use filestone_workload::load::Generation;

    #[test]
    fn a_replay_without_a_mismatch() {
        let report = report(&fixtures::replayed(), Detail::Clients);
        insta::assert_snapshot!(report.text(PageWidth::default()));
    }

    #[test]
    fn a_paced_replay_over_nfs_with_mismatches_and_a_lost_client() {
        let report = report(&fixtures::replayed_with_mismatches(), Detail::Whole);
        insta::assert_snapshot!(report.text(PageWidth::default()));
    }

    #[test]
    fn the_netbench_figures_are_measured_and_the_constant_ones_told_apart() {
        let mut record = fixtures::replayed();
        let plan = record.plan.replay_mut().expect("a replay");
        plan.loads[0].generation = Generation::Dbench1;
        plan.run_once = true;
        record.plan.warm_up_ns = 0;
        record.window_ns = 2_000_000_000;
        let replay = record.replay.as_mut().expect("a replay");
        (replay.bytes_written, replay.bytes_read) = (60_000_000, 21_340_200);
        let facts = netbench(&record, record.plan.replay().expect("a replay"));
        // 40.6701 MB/s is the example of the README.
        assert_eq!(
            facts[0].1,
            "NB=50.8376 MB/sec  406.701 MBit/sec, from the bytes actually moved"
        );
        assert!(
            facts[1]
                .1
                .starts_with("Throughput 132 MB/sec (NB=165 MB/sec  1320 MBit/sec): 132 MB per"),
            "{}",
            facts[1].1
        );
    }

    #[test]
    fn what_a_replay_is_about_is_said_before_it_begins() {
        let mut plan = fixtures::replayed().plan;
        assert_eq!(
            announcement(&plan),
            "replaying office on local:/srv/test: 2 clients, 1 s of warm-up, then 2 s"
        );
        plan.replay_mut().expect("a replay").run_once = true;
        (plan.duration_ns, plan.warm_up_ns) = (None, 0);
        assert_eq!(
            announcement(&plan),
            "replaying office on local:/srv/test: 2 clients, one pass"
        );
    }
}
