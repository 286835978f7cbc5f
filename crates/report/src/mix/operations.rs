//! Table of a mix's operations and their times.

use crate::document::table::{Column, Table};
use crate::parts::kinds::{measured, measured_of};
use crate::parts::percentile;
use crate::parts::units::micros;
use filestone_measure::measure::RunRecord;
use filestone_measure::measure::mix_record::{MixOperationRecord, MixRecord};
use filestone_measure::measure::verdict::percentile::TimesOf;
use filestone_workload::figure::TimeKind;
use filestone_workload::operation::OpKind;
use filestone_workload::text::thousands;

/// Returns operations and their times. Shares and calls are those of the mix if one operation is
/// one call; a separate table has the calls on the wire that system calls caused.
pub fn table(record: &RunRecord, mix: &MixRecord) -> Table {
    let is_by_calls = mix.wire.is_none();
    let mut columns = vec![Column::text("operation")];
    if is_by_calls {
        columns.extend(["WANT %", "GOT %"].map(Column::figure));
    }
    columns.extend(columns_of_times(if is_by_calls {
        ["CALLS", "CALLS/S"]
    } else {
        ["OPS", "OPS/S"]
    }));
    let mut table = Table::new(columns);
    let seconds = record.window_ns.max(1) as f64 / 1e9;
    for operation in kinds(record, mix) {
        let kind = measured_of(record, operation);
        let done = mix.operations.iter().find(|row| row.operation == operation);
        let (shares, count) = match done.filter(|_| is_by_calls) {
            Some(row) => (Some([row.expected_percent, row.actual_percent]), row.count),
            None => (None, kind.map_or(0, |kind| kind.ledger.ended())),
        };
        let row = Row {
            shares,
            count,
            times: times(record, Some(operation)),
            errors: kind.map_or(0, |kind| kind.ledger.unsuccessful()),
        };
        table.row(row.cells(operation.name(), seconds));
    }
    table.row(totals_row(record, mix).cells("all", seconds));
    table
}

/// Returns columns of counts, times and errors; the least important are dropped first.
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
    /// Requested and actual share, if one operation is one call.
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
        cells.push(thousands(self.count));
        cells.push(format!("{:.1}", self.count as f64 / seconds));
        cells.extend(self.times);
        cells.push(thousands(self.errors));
        cells
    }
}

/// Returns the kinds of a mix: through a kernel mount, also those that its version counts as
/// others.
fn kinds(record: &RunRecord, mix: &MixRecord) -> Vec<OpKind> {
    match mix.wire {
        None => mix.operations.iter().map(|row| row.operation).collect(),
        Some(_) => measured(record).map(|kind| kind.operation).collect(),
    }
}

fn no_times() -> [String; 6] {
    ["-"; 6].map(percentile::beside)
}

/// Formats response and service times of all operations or of a kind of them; unknown percentiles
/// have their mark.
fn times(record: &RunRecord, operation: Option<OpKind>) -> [String; 6] {
    let totals = &record.totals;
    let of = |timed| totals.times(operation, timed);
    let (Some(response), Some(service)) = (of(TimeKind::Response), of(TimeKind::Service)) else {
        return no_times();
    };
    if response.count == 0 {
        return no_times();
    }
    let cell = |timed, quantile, nanos| {
        let of = TimesOf {
            totals,
            operation,
            timed,
        };
        percentile::cell_of(of, quantile, nanos)
    };
    [
        cell(TimeKind::Response, 0.5, response.p50),
        cell(TimeKind::Response, 0.9, response.p90),
        cell(TimeKind::Response, 0.99, response.p99),
        percentile::beside(&micros(response.max as f64)),
        cell(TimeKind::Service, 0.5, service.p50),
        cell(TimeKind::Service, 0.99, service.p99),
    ]
}

/// Returns the row of all kinds together, in the same columns.
fn totals_row(record: &RunRecord, mix: &MixRecord) -> Row {
    let totals = &record.totals;
    let sum =
        |share: fn(&MixOperationRecord) -> f64| -> f64 { mix.operations.iter().map(share).sum() };
    let shares = [
        sum(|row| row.expected_percent),
        sum(|row| row.actual_percent),
    ];
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
        times: times(record, None),
        errors: totals.ledger.unsuccessful(),
    }
}
