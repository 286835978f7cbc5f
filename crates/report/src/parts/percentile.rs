//! Table of percentiles, and percentiles in any table, with a mark behind those that are not known.

use super::units::micros;
use crate::document::table::{Column, Table};
use crate::document::{Block, Document};
use filestone_measure::measure::RunRecord;
use filestone_measure::measure::verdict::percentile::{TimesOf, is_known};
use filestone_workload::figure::TimeKind;
use filestone_workload::recording::DistributionRecord;

/// Mark behind a percentile that is not known.
const MARK: &str = "~";
/// Meaning of the mark.
const MEANING: &str = "~ not known: too few operations lie above it, or the 95 % interval of it or of a lower percentile spans more than a factor of 2";

/// Formats a percentile in microseconds. Columns of percentiles end with the mark or a blank.
pub fn cell(times: &DistributionRecord, quantile: f64, nanos: u64) -> String {
    marked(nanos, is_known(times, quantile))
}

/// Formats a percentile that may have an interval in the record.
pub fn cell_of(of: TimesOf<'_>, quantile: f64, nanos: u64) -> String {
    marked(nanos, of.is_known(quantile))
}

fn marked(nanos: u64, is_known: bool) -> String {
    let mark = if is_known { " " } else { mark(false) };
    format!("{}{mark}", micros(nanos as f64))
}

/// Returns the mark of a percentile outside of tables.
pub const fn mark(is_known: bool) -> &'static str {
    if is_known { "" } else { MARK }
}

/// Formats a figure that is above or below marked ones.
pub fn beside(text: &str) -> String {
    format!("{text} ")
}

/// Returns tables, with the meaning of the mark if they contain it.
pub fn with_legend(tables: impl IntoIterator<Item = Table>) -> Document {
    let tables: Vec<Table> = tables.into_iter().collect();
    let count = tables.len();
    Document::default().tables(tables).push(Block::Legend {
        tables: count,
        mark: MARK,
        meaning: MEANING,
    })
}

/// Returns the parts of the response time, in microseconds.
pub fn table(record: &RunRecord) -> Table {
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
    let of = |timed| {
        Some(TimesOf {
            totals,
            operation: None,
            timed,
        })
    };
    for (name, row, of) in [
        (
            "response time",
            &totals.response_time_ns,
            of(TimeKind::Response),
        ),
        (
            "service time",
            &totals.service_time_ns,
            of(TimeKind::Service),
        ),
        ("slot wait", &totals.slot_wait_ns, None),
        ("dispatch delay", &totals.dispatch_delay_ns, None),
    ] {
        let figures = distribution(row, of);
        table.row(std::iter::once(name.to_string()).chain(figures));
    }
    table
}

fn distribution(row: &DistributionRecord, of: Option<TimesOf<'_>>) -> [String; 9] {
    if row.count == 0 {
        return ["-"; 9].map(String::from);
    }
    let cell = |quantile, nanos| match of {
        Some(of) => cell_of(of, quantile, nanos),
        None => cell(row, quantile, nanos),
    };
    [
        micros(row.min as f64),
        micros(row.mean),
        cell(0.5, row.p50),
        cell(0.9, row.p90),
        cell(0.95, row.p95),
        cell(0.99, row.p99),
        cell(0.999, row.p99_9),
        cell(0.9999, row.p99_99),
        micros(row.max as f64),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use filestone_workload::recording::Distribution;

    #[test]
    fn a_percentile_of_two_operations_is_marked() {
        let mut times = Distribution::<u64>::new();
        [100_000, 200_000]
            .into_iter()
            .for_each(|nanos| times.record(nanos));
        let two = times.to_record();
        assert_eq!(cell(&two, 0.9999, two.p99_99), "200.0~");
        (0..98).for_each(|_| times.record(150_000));
        let hundred = times.to_record();
        assert_eq!(cell(&hundred, 0.5, hundred.p50), "150.0 ");
    }
}
