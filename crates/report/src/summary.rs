//! nct's summary: MIN, AVG, MAX and TOTAL of bytes, latency and requests.
//!
//! The source of the rates' extremes differs: `probe` uses the rows that it prints, or would
//! print, so that its summary agrees with the rows; nct used the sums over every full second of
//! consecutive 100 ms samples, at any offset, and so does `compat nct`. The extremes of latency are
//! those of single requests, where nct printed those of 100 ms means.

use crate::document::table::{Column, Table};
use crate::parts::units::micros;
use crate::ticks::{self, Sums};
use filestone_measure::measure::RunRecord;
use filestone_measure::measure::rows::in_rows;
use filestone_measure::measure::run_record::{IntervalRecord, Phase};

/// Returns nct's four lines as a table, whose extremes are those of the rows of `-m`, or of one second without it; a
/// shorter last one is left out.
pub fn of_rows(record: &RunRecord) -> Table {
    let mut table = Table::new([
        Column::figure("MIN"),
        Column::figure("AVG"),
        Column::figure("MAX"),
        Column::figure("TOTAL"),
        Column::text("DESC"),
    ]);
    let (total, rates) = sums_of_rows(record);
    for ([min, average, max], total, name) in lines(record, total, &rates) {
        table.row([min, average, max, total.to_string(), name.to_string()]);
    }
    table
}

/// Formats nct's four lines with its widths, whose extremes are those of every ten consecutive ticks of 100 ms.
pub fn of_nct(record: &RunRecord) -> String {
    let head = ["MIN", "AVG", "MAX"].map(String::from);
    let (total, rates) = sums_of_trailing_seconds(record);
    let rows = lines(record, total, &rates);
    let rows = rows.map(|(figures, total, name)| line(&figures, &total.to_string(), name));
    format!("\n{}{}", line(&head, "TOTAL", "DESC"), rows.concat())
}

/// Minimum, average and maximum; total; unit.
type Row = ([String; 3], u64, &'static str);

fn lines(record: &RunRecord, total: Sums, rates: &[Stretch]) -> [Row; 4] {
    let rate = |what: fn(&Sums) -> u64, name: &'static str| {
        let per_second = |sums: u64, nanos: u64| sums as f64 * 1e9 / nanos.max(1) as f64;
        let average = per_second(what(&total), record.window_ns).round() as u64;
        // The whole window is included, so that an average is never outside its extremes.
        let (min, max) = rates
            .iter()
            .map(|(sums, nanos)| per_second(what(sums), *nanos).round() as u64)
            .fold((average, average), |(min, max), value| {
                (min.min(value), max.max(value))
            });
        let figures = [min, average, max].map(|figure| figure.to_string());
        (figures, what(&total), name)
    };
    let times = &record.totals.response_time_ns;
    let latency = [times.min as f64, times.mean, times.max as f64].map(micros);
    [
        rate(|sums| sums.bytes_sent, "bytes transmitted per second"),
        rate(|sums| sums.bytes_received, "bytes received per second"),
        (latency, times.sum / 1000, "latency per request (usecs)"),
        rate(|sums| sums.operations, "requests per second"),
    ]
}

/// Sums, and the length of their interval in nanoseconds.
type Stretch = (Sums, u64);

/// Returns the sums of all rows, and those of each row that is as long as the first.
fn sums_of_rows(record: &RunRecord) -> (Sums, Vec<Stretch>) {
    let record = &*in_rows(record);
    let sums = |row: &IntervalRecord| Sums {
        operations: row.ledger.ended(),
        bytes_sent: row.bytes_sent,
        bytes_received: row.bytes_received,
    };
    let rows = record.intervals.iter();
    let rows: Vec<Stretch> = rows
        .filter(|row| row.phase == Phase::Measure)
        .map(|row| (sums(row), row.end_ns.saturating_sub(row.start_ns)))
        .collect();
    let total = rows
        .iter()
        .fold(Sums::default(), |total, (sums, _)| total.and(sums));
    let whole = rows.iter().copied();
    let whole = whole.filter(|(_, nanos)| *nanos >= record.plan.interval_ns);
    (total, whole.collect())
}

fn sums_of_trailing_seconds(record: &RunRecord) -> (Sums, Vec<Stretch>) {
    const SECOND: u64 = 1_000_000_000;
    let ticks = ticks::in_window(record);
    let seconds = ticks::trailing_seconds(&ticks).map(|sums| (sums, SECOND));
    (Sums::of(&ticks), seconds.collect())
}

/// Formats nct's further lines. filestone records every operation separately, so the number of
/// updates is that of requests; a record mark is never read separately, so none is saved.
pub fn nct_counters(record: &RunRecord, threads: u32, jobs: u32) -> String {
    [
        (record.totals.ledger.ended(), "updates"),
        (0, "marks"),
        (u64::from(threads), "threads"),
        (u64::from(jobs), "jobs"),
    ]
    .map(|(count, name)| line(&["-"; 3].map(String::from), &count.to_string(), name))
    .concat()
}

fn line([min, average, max]: &[String; 3], total: &str, name: &str) -> String {
    format!("{min:>12} {average:>12} {max:>12} {total:>15}  {name}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::page::PageWidth;
    use crate::fixtures;

    #[test]
    fn the_summary_has_ncts_lines() {
        let record = fixtures::plain();
        let text = of_nct(&record) + &nct_counters(&record, 2, 8);
        insta::assert_snapshot!(text);
    }

    /// Rows of 500, 100 and 300 requests; the last is half a second long.
    fn uneven() -> RunRecord {
        let mut record = fixtures::with_errors();
        record.window_ns = 2_500_000_000;
        record.plan.interval_ns = 1_000_000_000;
        for (row, count) in record.intervals.iter_mut().zip([500, 100, 300]) {
            row.ledger.ok = count;
            (row.ledger.failed, row.ledger.timed_out) = (0, 0);
            row.ledger.disconnected = 0;
            row.end_ns = row.end_ns.min(record.window_ns);
        }
        // Ten consecutive ticks, not aligned with a row, have only 20.
        let ticks = record.ticks.iter_mut().enumerate();
        ticks.for_each(|(place, tick)| tick.ended = if (5..15).contains(&place) { 2 } else { 50 });
        record
    }

    fn requests(text: &str) -> Vec<f64> {
        let line = text
            .lines()
            .find(|line| line.ends_with("requests per second"));
        let words = line.expect("a line of requests").split_whitespace().take(4);
        words.map(|word| word.parse().expect("a number")).collect()
    }

    #[test]
    fn the_extremes_of_rates_are_those_of_the_rows() {
        let record = uneven();
        let of_rows = of_rows(&record).render(PageWidth::default());
        assert_eq!(requests(&of_rows), [100.0, 360.0, 500.0, 900.0]);
        // nct used every second at any offset.
        assert_eq!(requests(&of_nct(&record))[0], 20.0);
    }

    #[test]
    fn what_ends_after_the_window_is_in_no_row_and_in_no_sum() {
        let mut record = uneven();
        let mut drain = record.intervals[2].clone();
        (drain.phase, drain.ledger.ok) = (Phase::Drain, 77);
        record.intervals.push(drain);
        let of_rows = of_rows(&record).render(PageWidth::default());
        assert_eq!(requests(&of_rows)[3], 900.0);
    }

    #[test]
    fn an_average_lies_between_its_extremes_in_a_short_run_too() {
        let mut record = fixtures::plain();
        record.window_ns = 550_000_000;
        let of_rows = format!("\n{}", of_rows(&record).render(PageWidth::default()));
        for text in [of_rows, of_nct(&record)] {
            for line in text.lines().skip(2) {
                let mut words = line.split_whitespace().map(|word| word.parse::<f64>());
                let mut next = || words.next().expect("four columns").expect("a number");
                let (min, average, max) = (next(), next(), next());
                assert!(min <= average && average <= max, "{line}");
            }
        }
    }
}
