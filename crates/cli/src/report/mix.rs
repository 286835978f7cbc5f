//! The report of a mix: nhfsstone's line first, as scripts expect it, then whether the
//! run counts, and what nhfsstone never told: percentiles, waits, the wire.

use super::page::Page;
use super::replay::Detail;
use super::table::{Column, Table};
use super::{micros, nhfsstone, percentile, text, validity};
use crate::quantity::{bytes_text, duration_text, grouped};
use filestone_model::measure::mix_record::{
    FileSetRecord, MixOperationRecord, MixRecord, WireRecord,
};
use filestone_model::measure::run_record::KindRecord;
use filestone_model::measure::verdict;
use filestone_model::measure::{DistributionRecord, Ledger, Role, RunRecord};
use filestone_model::operation::OpKind;
use filestone_model::plan::{Access, MixPlan, Popularity};

/// Who says in nhfsstone's words that a mix came out wrong.
const PROGRAM: &str = "filestone";
/// What the mix's source counted and nobody asks that is named.
const LEFT_OUT_MAX: usize = 8;

/// The report; nothing if the record is not a mix's. Caveats are told apart from it, on
/// standard error.
pub fn render(record: &RunRecord, detail: Detail, page: Page) -> String {
    let (Some(plan), Some(mix)) = (record.plan.mix(), &record.mix) else {
        return String::new();
    };
    let mut text = nhfsstone::line(record, mix);
    let invalid = nhfsstone::invalid(PROGRAM, mix);
    if invalid.is_some() || detail == Detail::Clients {
        text.push_str(&invalid.unwrap_or_default());
        text.push_str(&nhfsstone::table(record, mix));
    }
    text.push_str(&format!("\n{}", text::heading(record, page)));
    text.push_str(&validity::render(record, page));
    if let Some(wire) = &mix.wire {
        text.push_str(&on_the_wire(record, wire, page));
    }
    let tables = operations(record, mix, page) + &text::percentiles(record, page);
    text.push_str(&tables);
    text.push_str(&percentile::legend(&tables, page));
    text.push('\n');
    text.push_str(&page.facts(facts(record, plan, mix)));
    text.push_str(&errors(record, page));
    text.push_str(&text::companions(record, page));
    text.push_str(&text::ledger(&record.totals.ledger, page));
    text
}

/// The measured row of a kind.
pub fn row_of(record: &RunRecord, operation: OpKind) -> Option<&KindRecord> {
    let mut kinds = record.totals.kinds.iter();
    kinds.find(|kind| kind.role == Role::Measured && kind.operation == operation)
}

/// Operations and their times. Shares and calls are those of the mix where one operation is one
/// call; what system calls became on the wire is another table.
fn operations(record: &RunRecord, mix: &MixRecord, page: Page) -> String {
    let is_by_calls = mix.wire.is_none();
    let mut columns = vec![Column::text("operation")];
    if is_by_calls {
        columns.extend(["WANT %", "GOT %"].map(Column::figure));
    }
    columns.extend(columns_of_times(match is_by_calls {
        true => ["CALLS", "CALLS/S"],
        false => ["OPS", "OPS/S"],
    }));
    let mut table = Table::new(columns);
    let seconds = record.window_ns.max(1) as f64 / 1e9;
    for operation in kinds(record, mix) {
        let kind = row_of(record, operation);
        let done = mix.operations.iter().find(|row| row.operation == operation);
        let (shares, count) = match done.filter(|_| is_by_calls) {
            Some(row) => (Some([row.want_percent, row.got_percent]), row.count),
            None => (None, kind.map_or(0, |kind| kind.ledger.ended())),
        };
        let row = Row {
            shares,
            count,
            times: kind.map_or_else(no_times, |kind| {
                times(&kind.response_time_ns, &kind.service_time_ns)
            }),
            errors: kind.map_or(0, |kind| unsuccessful(&kind.ledger)),
        };
        table.row(row.cells(operation.name(), seconds));
    }
    table.row(totals_row(record, mix).cells("all", seconds));
    format!("\n{}", table.render(page))
}

/// How often, how long and with how many errors; what matters least gives way first.
fn columns_of_times([count, rate]: [&'static str; 2]) -> [Column; 9] {
    let response = |head, order: Option<u8>| {
        let column = Column::figure(head).below("response time (usecs)");
        order.map_or(column.clone(), |order| column.gives_way(order))
    };
    let service = |head, order| {
        let column = Column::figure(head).below("service time (usecs)");
        column.gives_way(order)
    };
    [
        Column::figure(count),
        Column::figure(rate).gives_way(4),
        response("P50", None),
        response("P90", Some(3)),
        response("P99", None),
        response("MAX", Some(5)),
        service("P50", 1),
        service("P99", 2),
        Column::figure("ERRORS"),
    ]
}

/// A row of the operations' table.
struct Row {
    /// Wanted and got, where one operation is one call.
    shares: Option<[f64; 2]>,
    count: u64,
    times: [String; 6],
    errors: u64,
}

impl Row {
    fn cells(self, name: &str, seconds: f64) -> Vec<String> {
        let mut cells = vec![name.to_string()];
        cells.extend(
            self.shares
                .into_iter()
                .flatten()
                .map(|share| format!("{share:.2}")),
        );
        cells.push(grouped(self.count));
        cells.push(format!("{:.1}", self.count as f64 / seconds));
        cells.extend(self.times);
        cells.push(grouped(self.errors));
        cells
    }
}

/// The kinds of a mix: through a kernel mount, also those that its version counts as others.
fn kinds(record: &RunRecord, mix: &MixRecord) -> Vec<OpKind> {
    match mix.wire {
        None => mix.operations.iter().map(|row| row.operation).collect(),
        Some(_) => {
            let kinds = record.totals.kinds.iter();
            let measured = kinds.filter(|kind| kind.role == Role::Measured);
            measured.map(|kind| kind.operation).collect()
        }
    }
}

fn no_times() -> [String; 6] {
    ["-"; 6].map(percentile::beside)
}

/// Response and service time, percentiles that are not known with their mark.
fn times(response: &DistributionRecord, service: &DistributionRecord) -> [String; 6] {
    if response.count == 0 {
        return no_times();
    }
    [
        percentile::cell(response, 0.5, response.p50),
        percentile::cell(response, 0.9, response.p90),
        percentile::cell(response, 0.99, response.p99),
        percentile::beside(&micros(response.max as f64)),
        percentile::cell(service, 0.5, service.p50),
        percentile::cell(service, 0.99, service.p99),
    ]
}

/// All kinds together, in the same columns.
fn totals_row(record: &RunRecord, mix: &MixRecord) -> Row {
    let totals = &record.totals;
    let sum =
        |share: fn(&MixOperationRecord) -> f64| -> f64 { mix.operations.iter().map(share).sum() };
    let shares = [sum(|row| row.want_percent), sum(|row| row.got_percent)];
    let (shares, count): (_, u64) = match mix.wire {
        None => (
            Some(shares),
            mix.operations.iter().map(|row| row.count).sum(),
        ),
        Some(_) => (None, totals.ledger.ended()),
    };
    Row {
        shares,
        count,
        times: times(&totals.response_time_ns, &totals.service_time_ns),
        errors: unsuccessful(&totals.ledger),
    }
}

fn unsuccessful(ledger: &Ledger) -> u64 {
    ledger.failed + ledger.timed_out + ledger.disconnected
}

/// All calls that the mount's client made, by procedure, with their own times; and how often
/// system calls were made that ought to have caused them.
fn on_the_wire(record: &RunRecord, wire: &WireRecord, page: Page) -> String {
    let mut table = Table::new([
        Column::text("on the wire"),
        Column::figure("WANT %"),
        Column::figure("GOT %"),
        Column::figure("CALLS"),
        Column::figure("CALLS/S").gives_way(2),
        Column::figure("SECS").gives_way(1),
        Column::figure("MSEC/CALL"),
        Column::figure("ASKED"),
    ]);
    let seconds = record.window_ns.max(1) as f64 / 1e9;
    let mut line = |name: &str, shares: [f64; 2], seen: u64, time_ns: Option<u64>, asked: &str| {
        let (secs, each) = match time_ns {
            Some(time) if seen > 0 => (
                format!("{:.3}", time as f64 / 1e9),
                format!("{:.2}", time as f64 / 1e6 / seen as f64),
            ),
            _ => ("-".into(), "-".into()),
        };
        table.row([
            name.into(),
            format!("{:.2}", shares[0]),
            format!("{:.2}", shares[1]),
            grouped(seen),
            format!("{:.1}", seen as f64 / seconds),
            secs,
            each,
            asked.into(),
        ]);
    };
    for row in &wire.operations {
        let shares = [row.want_percent, row.got_percent];
        let (name, asked) = (row.operation.name(), grouped(row.asked));
        line(name, shares, row.seen, row.time_ns, &asked);
    }
    for row in &wire.others {
        let shares = [0.0, row.got_percent];
        line(&row.name, shares, row.seen, row.time_ns, "-");
    }
    let rows = wire.operations.iter();
    let all = rows.fold([0.0; 2], |[want, got], row| {
        [want + row.want_percent, got + row.got_percent]
    });
    let others: f64 = wire.others.iter().map(|row| row.got_percent).sum();
    let times = wire.operations.iter().map(|row| row.time_ns);
    let times = times.chain(wire.others.iter().map(|row| row.time_ns));
    let asked: u64 = wire.operations.iter().map(|row| row.asked).sum();
    line(
        "all",
        [all[0], all[1] + others],
        wire.calls,
        times.sum(),
        &grouped(asked),
    );
    format!("\n{}{}", table.render(page), about_the_wire(wire, page))
}

/// Where the counts come from, and what they cannot show.
fn about_the_wire(wire: &WireRecord, page: Page) -> String {
    let mut text = String::new();
    for same in &wire.counted_as {
        text.push_str(&page.prose(&format!(
            "{}: NFSv4 has no such procedure; wanted, asked and counted as {}",
            same.operation.name(),
            same.counted_as.name(),
        )));
    }
    for limit in &wire.limits {
        text.push_str(&page.prose(&format!(
            "{}: this client cannot be made to ask it more than {:.2} times per second, of {:.2}",
            limit.operation.name(),
            limit.at_most_per_s,
            limit.wanted_per_s,
        )));
    }
    text.push_str(&page.prose(&format!(
        "{} calls in {}; {:.1} calls/s of other traffic before the run; corrected {}",
        grouped(wire.calls),
        wire.source,
        wire.background_calls_per_s,
        match wire.corrections.len() as u64 {
            1 => "once".into(),
            count => format!("{} times", grouped(count)),
        }
    )));
    text
}

/// Load, bytes, cost and what was worked on, one fact per line.
fn facts(record: &RunRecord, plan: &MixPlan, mix: &MixRecord) -> Vec<(&'static str, String)> {
    let totals = &record.totals;
    let mut facts = Vec::new();
    let load = |per_s: f64| match mix.wire {
        Some(_) => text::calls_per_second(per_s),
        None => text::operations_per_second(per_s),
    };
    if let Some(offered) = totals.offered_load_ops_per_s {
        facts.push(("offered load", load(offered)));
    }
    facts.push((
        "achieved load",
        match mix.wire {
            Some(_) => load(verdict::achieved_load_ops_per_s(record)),
            None => text::achieved_load(record),
        },
    ));
    if totals.goodput_bytes_per_s > 0.0 {
        facts.push((
            "goodput",
            text::bytes_per_second(totals.goodput_bytes_per_s),
        ));
    }
    if mix.wire.is_none() {
        let kinds = totals.kinds.iter();
        let measured: Vec<&KindRecord> = kinds.filter(|kind| kind.role == Role::Measured).collect();
        facts.push(("wire bytes", text::wire_bytes_of(&measured)));
    }
    facts.push(("client CPU", text::client_cpu(record)));
    facts.extend(what_was_asked(record, plan, &mix.file_set));
    facts
}

/// The mix, its file set and its seed: what it takes to ask the same again.
pub fn what_was_asked(
    record: &RunRecord,
    plan: &MixPlan,
    set: &FileSetRecord,
) -> Vec<(&'static str, String)> {
    let mut facts = vec![
        ("file set", file_set(plan, set)),
        ("access", access(plan, set)),
    ];
    facts.extend(text::read_data(&record.plan));
    if !plan.left_out.is_empty() {
        facts.push(("left out", left_out(plan)));
    }
    facts.push(("seed", record.plan.seed.to_string()));
    facts
}

fn file_set(plan: &MixPlan, set: &FileSetRecord) -> String {
    let place = match set.paths.as_slice() {
        [] => plan.file_set.name.clone(),
        [path] => path.clone(),
        [path, more @ ..] => format!("{path} and {} more", grouped(more.len() as u64)),
    };
    let end = if set.removed {
        ", removed at the end"
    } else {
        ""
    };
    format!(
        "{place}: {} files of {} together, {} other objects; {} found, {} made, in {}{end}",
        grouped(set.files),
        bytes_text(set.bytes),
        grouped(set.other_objects),
        grouped(set.found),
        grouped(set.made),
        duration_text(set.prepared_ns),
    )
}

fn access(plan: &MixPlan, set: &FileSetRecord) -> String {
    let order = match plan.access {
        Access::Whole => "whole files",
        Access::Random => "any places",
    };
    let popularity = match plan.file_set.popularity {
        Popularity::Uniform => String::new(),
        Popularity::Zipf { exponent } => format!(", by Zipf's law with exponent {exponent}"),
    };
    let working = if set.working_files == set.files {
        String::new()
    } else {
        format!(
            ", of {} files of {} together",
            grouped(set.working_files),
            bytes_text(set.working_bytes)
        )
    };
    format!(
        "{order} in transfers of {} at most{working}{popularity}",
        bytes_text(plan.transfer_bytes.into())
    )
}

fn left_out(plan: &MixPlan) -> String {
    let named = plan.left_out.iter().take(LEFT_OUT_MAX);
    let names: Vec<String> = named
        .map(|left| format!("{} ({})", left.operation, grouped(left.count)))
        .collect();
    let more = match plan.left_out.len().saturating_sub(LEFT_OUT_MAX) {
        0 => String::new(),
        count => format!(" and {count} more"),
    };
    format!("{}{more}: NFSv3 has nothing like it", names.join(", "))
}

/// What did not succeed, by kind and status, and what never began, of all kinds; nothing if
/// all was done.
pub fn errors(record: &RunRecord, page: Page) -> String {
    let mut rows: Vec<(String, u64, u64)> = Vec::new();
    let (mut skipped, mut scheduled) = (0, 0);
    let kinds = record.totals.kinds.iter();
    for kind in kinds.filter(|kind| kind.role == Role::Measured) {
        let ledger = &kind.ledger;
        skipped += ledger.skipped;
        scheduled += ledger.scheduled;
        let name = kind.operation.name();
        let mut add = |what: &str, count: u64| {
            if count > 0 {
                rows.push((format!("{name}: {what}"), count, ledger.scheduled));
            }
        };
        for failure in &kind.failures {
            add(&failure.failure, failure.count);
        }
        add("timed out", ledger.timed_out);
        add("disconnected", ledger.disconnected);
    }
    let is_steered = record.plan.steering.is_some();
    if skipped > 0 && !is_steered {
        rows.push(("skipped: due, but never sent".into(), skipped, scheduled));
    }
    let mut text = text::errors_table(rows, page);
    if skipped > 0 && is_steered {
        let what = never_started(record, skipped);
        text.push_str(&format!("\n{}", page.prose(&what)));
    }
    text
}

/// What a run that chose its loads itself did not begin is no error: it says where it went.
fn never_started(record: &RunRecord, skipped: u64) -> String {
    let curve = record.curve.as_ref();
    let is_beyond = curve.is_none_or(|curve| curve.points.iter().any(|point| !point.kept_up));
    let (one, many) = if is_beyond {
        (
            "operation that was due at a load beyond the server's was never started; the search \
             goes there on purpose",
            "operations that were due at loads beyond the server's were never started; the search \
             goes there on purpose",
        )
    } else {
        (
            "operation that was due when the load changed was never started",
            "operations that were due when the load changed were never started",
        )
    };
    let what = if skipped == 1 { one } else { many };
    format!("{} {what}", grouped(skipped))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::canned;
    use filestone_model::measure::caveat::find;

    fn judged(mut record: RunRecord) -> RunRecord {
        record.caveats = find(&record);
        record
    }

    #[test]
    fn a_mix_that_counts() {
        insta::assert_snapshot!(render(
            &judged(canned::mix()),
            Detail::Whole,
            Page::default()
        ));
    }

    #[test]
    fn a_mix_through_a_mount_that_does_not_count() {
        let record = judged(canned::mix_through_mount());
        insta::assert_snapshot!(render(&record, Detail::Clients, Page::default()));
    }
    #[test]
    fn what_never_began_is_one_row_of_a_mix_and_no_error_of_a_search() {
        let skipping = |mut record: RunRecord| {
            let kinds = record.totals.kinds.iter_mut();
            for kind in kinds.filter(|kind| kind.role == Role::Measured).take(2) {
                kind.ledger.skipped += 6070;
                kind.ledger.scheduled += 6070;
            }
            errors(&record, Page::default())
        };
        let plain = skipping(canned::mix());
        assert_eq!(plain.matches("skipped: due, but never sent").count(), 1);
        assert!(plain.contains(" 12,140 "), "{plain}");
        let steered = skipping(canned::curve())
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        assert_eq!(
            steered,
            "12,140 operations that were due at loads beyond the server's were never started; the \
             search goes there on purpose"
        );
    }
}
