//! Outcomes of operations, if not all of them succeeded, and additional unmeasured operations.

use super::percentile;
use super::units::micros;
use crate::document::Document;
use crate::document::table::{Column, Table};
use filestone_measure::measure::RunRecord;
use filestone_measure::measure::run_record::KindRecord;
use filestone_workload::recording::{Ledger, Role};
use filestone_workload::text::thousands;

/// Returns the number of scheduled operations, followed by the outcomes that sum to it.
pub const fn counts(ledger: &Ledger) -> [u64; 7] {
    [
        ledger.scheduled,
        ledger.ok,
        ledger.failed,
        ledger.timed_out,
        ledger.disconnected,
        ledger.skipped,
        ledger.in_flight,
    ]
}

/// Returns the failures of a kind of operation, with their number.
pub fn failures(kind: &KindRecord) -> impl Iterator<Item = (&str, u64)> {
    let failures = kind.failures.iter();
    let failures = failures.map(|failure| (failure.failure.as_str(), failure.count));
    let lost = [
        ("timed out", kind.ledger.timed_out),
        ("disconnected", kind.ledger.disconnected),
    ];
    failures.chain(lost.into_iter().filter(|(_, count)| *count > 0))
}

/// Returns the failures with their number and the total; `None` if all operations succeeded.
pub fn errors_table(rows: Vec<(String, u64, u64)>) -> Option<Table> {
    let mut table = Table::new([
        Column::text("errors").at_least(30),
        Column::figure("COUNT"),
        Column::figure("SHARE"),
    ]);
    for (name, count, scheduled) in rows {
        let share = 100.0 * count as f64 / scheduled.max(1) as f64;
        table.row([name, thousands(count), format!("{share:.3} %")]);
    }
    table.if_any()
}

/// Returns the response times of operations that were sent and did not succeed; `None` if all did.
/// These times are separate from those of the others.
pub fn failed_times(record: &RunRecord) -> Option<Table> {
    let mut table = Table::new([
        Column::text("unsuccessful, usecs").at_least(14),
        Column::figure("COUNT"),
        Column::figure("P50"),
        Column::figure("P99"),
        Column::figure("MAX"),
    ]);
    let kinds = record.totals.kinds.iter();
    for kind in kinds.filter(|kind| !kind.failed_time_ns.is_empty()) {
        let times = &kind.failed_time_ns;
        table.row([
            kind.operation.name().into(),
            thousands(times.count),
            percentile::cell(times, 0.5, times.p50),
            percentile::cell(times, 0.99, times.p99),
            micros(times.max as f64),
        ]);
    }
    table.if_any()
}

/// Returns operations that were needed to repeat the measured operation; `None` if there were none.
pub fn unmeasured(record: &RunRecord) -> Option<Table> {
    let mut table = Table::new([
        Column::text("unmeasured").at_least(14),
        Column::figure("OK"),
        Column::figure("FAILED"),
        Column::figure("P50"),
        Column::figure("P99"),
        Column::figure("MAX"),
    ]);
    let kinds = record.totals.kinds.iter();
    let is_shown = |kind: &&KindRecord| kind.role == Role::Unmeasured && kind.ledger.scheduled > 0;
    for kind in kinds.filter(is_shown) {
        let times = &kind.response_time_ns;
        table.row([
            kind.operation.name().into(),
            thousands(kind.ledger.ok),
            thousands(kind.ledger.unsuccessful()),
            percentile::cell(times, 0.5, times.p50),
            percentile::cell(times, 0.99, times.p99),
            micros(times.max as f64),
        ]);
    }
    table.if_any()
}

/// Returns the outcomes of all operations, unless all succeeded.
pub fn ledger(ledger: &Ledger) -> Document {
    if ledger.ok == ledger.scheduled {
        return Document::default();
    }
    let [
        scheduled,
        ok,
        failed,
        timed_out,
        disconnected,
        skipped,
        in_flight,
    ] = counts(ledger).map(thousands);
    let sum = format!(
        "{scheduled} scheduled = {ok} ok + {failed} failed + {timed_out} timed out + \
         {disconnected} disconnected + {skipped} skipped + {in_flight} in flight"
    );
    Document::default().paragraphs([sum])
}
