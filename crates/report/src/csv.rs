//! Comma-separated values: a row per interval and kind of operation, then one per kind for the
//! whole run, whose phase is `total`.
//!
//! For fleets a last column contains the settings changes that precede a row.
//!
//! Units are in the names of the columns. No value needs quotes: all values are numbers and fixed
//! words.

use crate::parts::ledger::counts;
use filestone_measure::measure::RunRecord;
use filestone_measure::measure::fleet_record::SettingsGeneration;
use filestone_measure::measure::rows::in_rows;
use filestone_measure::measure::run_record::{IntervalKindRecord, IntervalRecord, Phase};
use filestone_workload::operation::OpKind;
use filestone_workload::recording::{DistributionRecord, Ledger, Role};

const TIMES: [&str; 10] = [
    "mean", "min", "p50", "p90", "p95", "p99", "p99_9", "p99_99", "max", "sum",
];

/// Formats the table.
pub fn render(record: &RunRecord) -> String {
    let record = &*in_rows(record);
    let is_fleet = record.fleet.is_some();
    let mut text = header(is_fleet);
    for interval in &record.intervals {
        let is_measured = |kind: &&IntervalKindRecord| kind.role == Role::Measured;
        let measured_kinds = interval.kinds.iter().filter(is_measured).count();
        for kind in &interval.kinds {
            // The bytes belong to the interval: with several kinds, no kind has them alone.
            let bytes = (kind.role == Role::Measured && measured_kinds == 1)
                .then_some([interval.bytes_sent, interval.bytes_received]);
            text.push_str(&row(&Row {
                start_ns: interval.start_ns,
                end_ns: interval.end_ns,
                phase: phase(interval),
                operation: kind.operation,
                role: kind.role,
                ledger: &kind.ledger,
                bytes,
                response_time: &kind.response_time_ns,
                service_time: &kind.service_time_ns,
                settings: is_fleet.then_some(interval.settings),
            }));
        }
    }
    let of_all = record.intervals.iter();
    let of_all = of_all.filter_map(|interval| interval.settings);
    let of_all = of_all.reduce(SettingsGeneration::and);
    for kind in &record.totals.kinds {
        text.push_str(&row(&Row {
            start_ns: 0,
            end_ns: record.window_ns,
            phase: "total",
            operation: kind.operation,
            role: kind.role,
            ledger: &kind.ledger,
            bytes: Some([kind.bytes_sent, kind.bytes_received]),
            response_time: &kind.response_time_ns,
            service_time: &kind.service_time_ns,
            settings: is_fleet.then_some(of_all),
        }));
    }
    text
}

struct Row<'record> {
    start_ns: u64,
    end_ns: u64,
    phase: &'static str,
    operation: OpKind,
    role: Role,
    ledger: &'record Ledger,
    /// Bytes sent and received.
    bytes: Option<[u64; 2]>,
    response_time: &'record DistributionRecord,
    service_time: &'record DistributionRecord,
    /// For a fleet: the settings changes that precede it, if the record has them.
    settings: Option<Option<SettingsGeneration>>,
}

fn phase(interval: &IntervalRecord) -> &'static str {
    match interval.phase {
        Phase::Measure => "measure",
        Phase::Drain => "drain",
    }
}

fn header(is_fleet: bool) -> String {
    let mut columns: Vec<String> = [
        "start_ns",
        "end_ns",
        "phase",
        "operation",
        "role",
        "scheduled",
        "ok",
        "failed",
        "timed_out",
        "disconnected",
        "skipped",
        "in_flight",
        "bytes_sent",
        "bytes_received",
    ]
    .map(String::from)
    .to_vec();
    for what in ["response_time", "service_time"] {
        columns.extend(TIMES.iter().map(|figure| format!("{what}_{figure}_ns")));
    }
    columns.extend(is_fleet.then(|| "settings".into()));
    columns.join(",") + "\n"
}

fn row(row: &Row) -> String {
    let role = match row.role {
        Role::Measured => "measured",
        Role::Unmeasured => "unmeasured",
    };
    let mut columns: Vec<String> = vec![
        row.start_ns.to_string(),
        row.end_ns.to_string(),
        row.phase.into(),
        row.operation.name().into(),
        role.into(),
    ];
    columns.extend(counts(row.ledger).map(|count| count.to_string()));
    columns.extend(match row.bytes {
        Some(sent_and_received) => sent_and_received.map(|bytes| bytes.to_string()),
        None => [String::new(), String::new()],
    });
    columns.extend(times(row.response_time));
    columns.extend(times(row.service_time));
    let settings = row
        .settings
        .map(|settings| settings.map(|settings| settings.to_string()));
    columns.extend(settings.map(Option::unwrap_or_default));
    columns.join(",") + "\n"
}

/// Returns the figures in the order of [`TIMES`]; empty strings if no operation was timed.
fn times(row: &DistributionRecord) -> Vec<String> {
    if row.count == 0 {
        return vec![String::new(); TIMES.len()];
    }
    let mut columns = vec![format!("{:.1}", row.mean)];
    columns.extend(
        [
            row.min, row.p50, row.p90, row.p95, row.p99, row.p99_9, row.p99_99, row.max, row.sum,
        ]
        .map(|nanos| nanos.to_string()),
    );
    columns
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    #[test]
    fn rows_of_several_intervals_add_up_to_the_totals() {
        let record = fixtures::in_rows_of_two();
        let text = render(&record);
        let rows: Vec<Vec<&str>> = text
            .lines()
            .skip(1)
            .map(|line| line.split(',').collect())
            .collect();
        let starts: Vec<&str> = rows.iter().take(2).map(|row| row[0]).collect();
        assert_eq!((rows.len(), starts), (11, vec!["0", "2000000000"]));
        let of = |row: &[&str], column: usize| row[column].parse::<u64>().expect("a count");
        let last_column = rows[0].len() - 1;
        // ok, and the sum of service times.
        for column in [6, last_column] {
            let sum: u64 = rows[..10].iter().map(|row| of(row, column)).sum();
            assert_eq!(sum, of(&rows[10], column));
        }
        let joined = &rows[0];
        let (p50, max) = (of(joined, 16), of(joined, 22));
        assert!(100_000 < p50 && p50 < max, "{joined:?}");
    }

    #[test]
    fn rows_of_a_fleet_say_after_which_changes_they_were_measured() {
        let text = render(&fixtures::changed_fleet());
        let cells = |line: &str| -> Option<[String; 2]> {
            let phase = line.split(',').nth(2)?.to_owned();
            Some([phase, line.rsplit(',').next()?.to_owned()])
        };
        let mut settings: Vec<[String; 2]> = text.lines().filter_map(cells).collect();
        settings.dedup();
        let expected = [
            ["phase", "settings"],
            ["measure", "0"],
            ["measure", "0-4"],
            ["total", "0-4"],
        ];
        assert_eq!(settings, expected);
        let widths: Vec<usize> = text.lines().map(|line| line.split(',').count()).collect();
        assert!(widths.iter().all(|width| *width == widths[0]), "{widths:?}");
    }

    #[test]
    fn every_row_has_as_many_columns_as_the_header() {
        let text = render(&fixtures::with_errors());
        let counts: Vec<usize> = text.lines().map(|line| line.split(',').count()).collect();
        assert!(counts.iter().all(|count| *count == counts[0]), "{counts:?}");
        insta::assert_snapshot!(text);
    }
}
