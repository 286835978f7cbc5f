//! Status rows: nct's columns in nct's order and widths; those of `probe` also have percentiles,
//! and fit the page.
//!
//! All figures of a row cover the whole interval: counts and bytes are not per second, latencies
//! are response times in microseconds; minimum and maximum are exact.

use crate::document::page::PageWidth;
use crate::document::table::{Column, Table, TableLayout};
use crate::parts::units::micros;
use filestone_measure::measure::progress::{Progress, ProgressPhase};
use filestone_measure::measure::run_record::IntervalRecord;
use filestone_plan::plan::TICK_NANOS;

/// Formatter of the row of a second of a replay; `None` if that second has no row.
pub type ProgressRow = Box<dyn Fn(&Progress) -> Option<String>>;

/// Whether a program with dbench's output prints a row: not during the first second of a phase.
pub fn is_printed(progress: &Progress) -> bool {
    progress.seconds >= 1.0 || progress.phase == ProgressPhase::CleanUp
}

/// Number of rows after which nct repeats its header.
const ROWS_PER_HEADER: u64 = 22;

/// Set of columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Columns {
    /// nct's columns.
    Nct,
    /// nct's columns, then P50, P99 and P99.9.
    WithPercentiles,
}

impl Columns {
    fn table(self) -> Table {
        let mut columns = vec![
            Column::figure("SAMPLES").at_least(8).gives_way(3),
            Column::figure("DURATION").at_least(9).gives_way(1),
            Column::figure("OPS").at_least(8),
            Column::figure("TXMB").at_least(7),
            Column::figure("RXMB").at_least(7),
            Column::figure("LATMIN").at_least(7).gives_way(2),
            Column::figure("LATAVG").at_least(7),
            Column::figure("LATMAX").at_least(7),
        ];
        if self == Self::WithPercentiles {
            columns.extend(["P50", "P99", "P99.9"].map(|head| Column::figure(head).at_least(7)));
        }
        Table::new(columns).gap(1)
    }

    /// Returns megabytes of 10^6 bytes; rows in nct's format keep nct's 2^20.
    fn megabytes(self, bytes: u64) -> f64 {
        bytes as f64
            / match self {
                Self::Nct => f64::from(1 << 20),
                Self::WithPercentiles => 1e6,
            }
    }
}

/// Formats rows, and the header when it is due.
#[derive(Debug)]
pub struct Rows {
    columns: Columns,
    layout: TableLayout,
    count: u64,
}

impl Rows {
    /// Creates a formatter before its first row.
    pub fn new(columns: Columns, page: PageWidth) -> Self {
        let page = match columns {
            Columns::Nct => PageWidth::UNLIMITED,
            Columns::WithPercentiles => page,
        };
        Self {
            columns,
            layout: columns.table().layout(page),
            count: 0,
        }
    }

    /// Formats the row of an interval, preceded by the header if that is due.
    pub fn row(&mut self, interval: &IntervalRecord) -> String {
        let mut text = String::new();
        if self.count.is_multiple_of(ROWS_PER_HEADER) {
            text.push_str(&format!("\n{}", self.layout.head()));
        }
        self.count += 1;
        let times = interval.response_time();
        let latency = match &times {
            Some(times) => [
                micros(times.min as f64),
                micros(times.mean),
                micros(times.max as f64),
            ],
            None => ["-".into(), "stalled".into(), "-".into()],
        };
        let mut cells = vec![
            interval.end_ns.div_ceil(TICK_NANOS).to_string(),
            (interval.end_ns.saturating_sub(interval.start_ns) / 1000).to_string(),
            times.as_ref().map_or(0, |times| times.count).to_string(),
            format!("{:.2}", self.columns.megabytes(interval.bytes_sent)),
            format!("{:.2}", self.columns.megabytes(interval.bytes_received)),
        ];
        cells.extend(latency);
        cells.extend(match &times {
            Some(times) => [times.p50, times.p99, times.p99_9].map(|time| micros(time as f64)),
            None => ["-", "-", "-"].map(String::from),
        });
        text.push_str(&self.layout.row(&cells));
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;
    use filestone_measure::measure::RunRecord;

    fn rows_of(record: &RunRecord, columns: Columns) -> String {
        let mut rows = Rows::new(columns, PageWidth::default());
        let intervals = record.intervals.iter();
        intervals.map(|interval| rows.row(interval)).collect()
    }

    #[test]
    fn rows_have_ncts_columns_then_percentiles() {
        let text = rows_of(&fixtures::with_errors(), Columns::WithPercentiles);
        insta::assert_snapshot!(text);
    }

    #[test]
    fn rows_of_nct_stop_at_the_maximum() {
        let text = rows_of(&fixtures::plain(), Columns::Nct);
        insta::assert_snapshot!(text);
    }

    #[test]
    fn a_megabyte_is_a_million_bytes_but_in_ncts_rows() {
        let mut interval = fixtures::plain().intervals[0].clone();
        (interval.bytes_sent, interval.bytes_received) = (1_000_000, 1 << 20);
        let columns = |columns| {
            let row = Rows::new(columns, PageWidth::default()).row(&interval);
            let row = row.lines().last().expect("a row");
            let words: Vec<String> = row.split_whitespace().map(String::from).collect();
            match columns {
                Columns::Nct => words[3..5].join(" "),
                Columns::WithPercentiles => words[2..4].join(" "),
            }
        };
        assert_eq!(columns(Columns::WithPercentiles), "1.00 1.05");
        assert_eq!(columns(Columns::Nct), "0.95 1.00");
    }

    #[test]
    fn the_header_comes_again_after_22_rows() {
        let record = fixtures::plain();
        let mut rows = Rows::new(Columns::Nct, PageWidth::default());
        let headers = (0..45)
            .filter(|_| rows.row(&record.intervals[0]).contains("SAMPLES"))
            .count();
        assert_eq!(headers, 3);
    }

    #[test]
    fn an_interval_without_an_operation_is_stalled() {
        let mut interval = fixtures::plain().intervals[0].clone();
        interval.kinds[0].response_time_ns = Default::default();
        let text = Rows::new(Columns::WithPercentiles, PageWidth::of(100)).row(&interval);
        assert!(text.contains("      - stalled       -"), "{text}");
    }
}
