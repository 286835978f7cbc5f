//! Report of a fleet: its steps, its groups and its failures.

pub mod picture;

use crate::document::Document;
use crate::document::page::Fact;
use crate::document::table::{Column, Table};
use crate::error::error_text;
use crate::parts::heading::what_was_measured;
use crate::parts::units::{at_most, load, micros};
use crate::parts::{facts, ledger, percentile};
use crate::quantity::duration_text;
use filestone_measure::measure::RunRecord;
use filestone_measure::measure::connections_record::ConnectionsRecord;
use filestone_measure::measure::fleet_record::{
    FleetRecord, GroupRecord, HealthFinding, HealthRule, StepRecord,
};
use filestone_workload::text::{bytes_text, counted, thousands};

/// Note below the table of changes.
const CHANGES_NOTE: &str = "A row with one number of SETTINGS was measured after that change, 0 before the \
     first; one with two is mixed, from the oldest that clients still went by to the last.";

/// Returns the report of a fleet.
pub fn report(record: &RunRecord, fleet: &FleetRecord) -> Document {
    let tables = [steps(record, fleet), percentile::table(record)];
    Document::default()
        .paragraphs([what_was_measured(record)])
        .with(percentile::with_legend(tables))
        .paragraphs(fleet.stopped_by.map(finding_text))
        .with(changes(fleet))
        .tables([groups(fleet)])
        .blank()
        .facts(all_facts(record, fleet))
        .tables(mismatches(fleet))
        .tables(lost_clients(fleet))
        .with(percentile::with_legend(ledger::failed_times(record)))
        .with(ledger::ledger(&record.totals.ledger))
}

/// Returns a row for each number of clients.
fn steps(record: &RunRecord, fleet: &FleetRecord) -> Table {
    let is_changed = !fleet.changes.is_empty();
    let mut columns = vec![Column::figure("CLIENTS")];
    columns.extend(is_changed.then(|| Column::figure("SETTINGS")));
    columns.extend([
        Column::figure("OPS/S"),
        Column::figure("MB/S"),
        Column::figure("P50"),
        Column::figure("P99"),
        Column::figure("MAX").gives_way(2),
        Column::figure("ERRORS"),
        Column::figure("CONNECT").gives_way(1),
        Column::figure("MEMORY"),
        Column::figure("EACH").gives_way(3),
    ]);
    let mut steps = fleet.steps.iter();
    let has_server = steps.any(|step| step.server_memory_bytes.is_some());
    columns.extend(has_server.then(|| Column::figure("SERVER").gives_way(4)));
    let mut table = Table::new(columns);
    let before = memory_before(record.connections.as_ref());
    for step in &fleet.steps {
        let times = &step.response_time_ns;
        let connect = step.connect_time_p99_ns;
        let each = before.map(|before| {
            let own = step.memory_bytes.saturating_sub(before);
            bytes_text(own / u64::from(step.clients.max(1)))
        });
        let settings = step.settings;
        let settings = settings.map_or("-".into(), |settings| settings.to_string());
        let mut cells = vec![thousands(step.clients.into())];
        cells.extend(is_changed.then_some(settings));
        cells.extend([
            load(step.achieved_load_ops_per_s),
            format!("{:.1}", step.goodput_bytes_per_s / 1e6),
            percentile::cell(times, 0.5, times.p50),
            percentile::cell(times, 0.99, times.p99),
            micros(times.max as f64),
            errors(step),
            connect.map_or("-".into(), |nanos| micros(nanos as f64)),
            bytes_text(step.memory_bytes),
            each.unwrap_or("-".into()),
        ]);
        let of_server = step.server_memory_bytes;
        cells.extend(has_server.then(|| of_server.map_or("-".into(), bytes_text)));
        table.row(cells);
    }
    table
}

fn errors(step: &StepRecord) -> String {
    match step.checksum_errors {
        0 => thousands(step.errors),
        wrong => format!("{} ({} of data)", thousands(step.errors), thousands(wrong)),
    }
}

fn memory_before(connections: Option<&ConnectionsRecord>) -> Option<u64> {
    let memory = connections?.memory.as_ref()?;
    Some(memory.before_bytes)
}

/// Describes the rule that stopped the ramp, and the number of clients.
fn finding_text(finding: HealthFinding) -> String {
    let HealthFinding {
        rule,
        clients,
        at_ns,
        value,
        limit,
    } = finding;
    let time = |nanos: f64| duration_text(nanos as u64);
    let what = match rule {
        HealthRule::Connect => format!(
            "99 % of the connections took up to {}, and the plan allows {}",
            time(value),
            time(limit)
        ),
        HealthRule::Response => format!(
            "99 % of the reads and writes took up to {}, and the plan allows {}",
            time(value),
            time(limit)
        ),
        HealthRule::Errors => format!(
            "{:.2} % of the operations failed, and the plan allows {:.2} %",
            100.0 * value,
            100.0 * limit
        ),
        HealthRule::Lateness => format!(
            "{:.2} % of the reads and writes were sent later by this host than the plan allows",
            100.0 * value
        ),
    };
    format!(
        "stopped by the rule \"{}\" at {}, {} after the start: {what}",
        rule.name(),
        counted(clients.into(), "client"),
        duration_text(at_ns)
    )
}

/// Returns the changes made during the run.
fn changes(fleet: &FleetRecord) -> Document {
    if fleet.changes.is_empty() {
        return Document::default();
    }
    let mut table = Table::new([
        Column::text("changed at").at_least(14),
        Column::figure("SETTLED").gives_way(1),
        Column::figure("SETTINGS"),
        Column::figure("CLIENTS"),
        Column::text("WHAT"),
    ]);
    for change in &fleet.changes {
        let settings: Vec<String> = change
            .settings
            .iter()
            .map(|setting| format!("{} {} -> {}", setting.key, setting.from, setting.to))
            .collect();
        let what = format!(
            "{} {} {}",
            change.action.name(),
            change.selector,
            settings.join(", ")
        );
        table.row([
            duration_text(change.sent_ns),
            change.applied_ns.map_or("-".into(), duration_text),
            change.number.to_string(),
            thousands(change.clients.into()),
            what.trim_end().to_owned(),
        ]);
    }
    Document::default().tables([table]).prose([CHANGES_NOTE])
}

/// Returns a row for each group.
fn groups(fleet: &FleetRecord) -> Table {
    let mut table = Table::new([
        Column::text("group").at_least(14),
        Column::figure("CLIENTS"),
        Column::figure("READS"),
        Column::figure("WRITES"),
        Column::figure("FILES"),
        Column::figure("MBIT/S"),
        Column::figure("20 S").gives_way(2),
        Column::figure("P50 <").gives_way(1),
        Column::figure("P99 <").gives_way(3),
        Column::figure("BAD DATA"),
        Column::figure("FAILED"),
    ]);
    for group in &fleet.groups {
        table.row(cells(group));
    }
    table
}

/// Returns the cells of a group: clients, reads, writes, files, rates, bounds of times, failures.
pub fn cells(group: &GroupRecord) -> [String; 11] {
    let counters = &group.counters;
    let times = group.response_time_buckets;
    let rate = group.read_bits_per_s + group.write_bits_per_s;
    let latest = group.read_bits_per_s_20s + group.write_bits_per_s_20s;
    [
        group.name.clone(),
        thousands(group.clients.into()),
        thousands(counters.reads),
        thousands(counters.writes),
        thousands(counters.files_read + counters.files_written),
        format!("{:.2}", rate / 1e6),
        format!("{:.2}", latest / 1e6),
        at_most(times.and_then(|times| times.p50_ns)),
        at_most(times.and_then(|times| times.p99_ns)),
        thousands(counters.checksum_errors),
        thousands(counters.failures),
    ]
}

/// Returns the number of a group's clients in each state.
pub fn states(group: &GroupRecord) -> String {
    let states = group.states.iter();
    let states =
        states.map(|count| format!("{} {}", thousands(count.clients.into()), count.state.name()));
    states.collect::<Vec<_>>().join(", ")
}

fn all_facts(record: &RunRecord, fleet: &FleetRecord) -> Vec<Fact> {
    let mut all = vec![("achieved load", facts::achieved_load(record))];
    all.extend(facts::goodput(record));
    all.extend(facts::read_data(&record.plan));
    all.extend(facts::file_system(record));
    all.extend(fleet.groups.iter().map(|group| ("clients", shares(group))));
    let failing: u64 = fleet
        .groups
        .iter()
        .map(|group| group.counters.failing_ns)
        .sum();
    if failing > 0 {
        let time = duration_text(failing);
        all.push(("failing", format!("{time}, of all clients together")));
    }
    let memory = record.connections.as_ref().and_then(|made| made.memory);
    if let Some(memory) = memory {
        let clients = u64::from(record.plan.clients);
        let own = memory.end_bytes.max(memory.after_bytes);
        let each = own.saturating_sub(memory.before_bytes) / clients.max(1);
        let server = if record.target.built_in {
            ", the built-in server included"
        } else {
            ""
        };
        all.push((
            "memory",
            format!(
                "{} at the end, {} for each client{server}",
                bytes_text(memory.end_bytes),
                bytes_text(each)
            ),
        ));
    }
    if !record.plan.target.is_directory() {
        all.extend(facts::wire_bytes(record));
    }
    all.extend(facts::client_cpu(record));
    all
}

/// Describes the final states of a group's clients, and how evenly they were served.
fn shares(group: &GroupRecord) -> String {
    format!(
        "{}: {}; {} to {} each",
        group.name,
        states(group),
        bytes_text(group.client_bytes_min),
        bytes_text(group.client_bytes_max)
    )
}

/// Returns failures; `None` if there are none.
fn mismatches(fleet: &FleetRecord) -> Option<Table> {
    let mut table = Table::new([
        Column::text("failures").at_least(14),
        Column::figure("COUNT"),
        Column::text("WHAT, AND OF WHICH CLIENTS FIRST"),
    ]);
    for mismatch in &fleet.mismatches {
        let clients: Vec<String> = mismatch.lines.iter().map(ToString::to_string).collect();
        table.row([
            mismatch.operation.name().into(),
            thousands(mismatch.count),
            format!(
                "{}: expected {}, got {} (clients {})",
                mismatch.mismatch.name(),
                mismatch.expected,
                mismatch.got,
                clients.join(", ")
            ),
        ]);
    }
    table.if_any()
}

/// Returns clients that stopped; `None` if all went on.
fn lost_clients(fleet: &FleetRecord) -> Option<Table> {
    let mut table = Table::new([Column::text("gave up").at_least(14), Column::text("WHY")]);
    for lost in &fleet.lost {
        table.row([format!("client {}", lost.client), error_text(&lost.reason)]);
    }
    table.if_any()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::page::PageWidth;
    use crate::fixtures;

    #[test]
    fn a_fleet_that_was_stopped() {
        let record = fixtures::fleet();
        let fleet = record.fleet.as_ref().expect("it is a fleet");
        insta::assert_snapshot!(report(&record, fleet).text(PageWidth::default()));
    }

    #[test]
    fn a_fleet_that_was_changed_while_it_ran() {
        let record = fixtures::changed_fleet();
        let fleet = record.fleet.as_ref().expect("it is a fleet");
        let tables = Document::default().tables([steps(&record, fleet)]);
        insta::assert_snapshot!(tables.with(changes(fleet)).text(PageWidth::default()));
    }
}
