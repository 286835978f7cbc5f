//! nct's summary: MIN, AVG, MAX and TOTAL of bytes, latency and requests.
//!
//! nct takes the extremes of rates from the sums over every full second of
//! consecutive 100 ms samples; so do we, and count the whole window among them,
//! so that an average never lies outside its extremes. The extremes of latency
//! are those of single requests, where nct showed those of 100 ms means.

use super::micros;
use super::ticks::{self, Sums};
use filestone_model::measure::RunRecord;

/// The four lines that everybody gets.
pub fn render(record: &RunRecord) -> String {
    let ticks = ticks::in_window(record);
    let total = Sums::of(&ticks);
    let seconds: Vec<Sums> = ticks::trailing_seconds(&ticks).collect();
    let rate = |what: fn(&Sums) -> u64, name: &str| {
        let per_second = what(&total) as f64 * 1e9 / record.window_ns.max(1) as f64;
        let average = per_second.round() as u64;
        let (min, max) = seconds
            .iter()
            .map(what)
            .fold((average, average), |(min, max), value| {
                (min.min(value), max.max(value))
            });
        line(
            &min.to_string(),
            &average.to_string(),
            &max.to_string(),
            what(&total),
            name,
        )
    };
    let times = &record.totals.response_time_ns;
    let mut text = format!(
        "\n{:>12} {:>12} {:>12} {:>15}  DESC\n",
        "MIN", "AVG", "MAX", "TOTAL"
    );
    text.push_str(&rate(
        |sums| sums.bytes_sent,
        "bytes transmitted per second",
    ));
    text.push_str(&rate(
        |sums| sums.bytes_received,
        "bytes received per second",
    ));
    text.push_str(&line(
        &micros(times.min as f64),
        &micros(times.mean),
        &micros(times.max as f64),
        times.sum / 1000,
        "latency per request (usecs)",
    ));
    text.push_str(&rate(|sums| sums.operations, "requests per second"));
    text
}

/// nct's further lines. We record every operation by itself, so there are as
/// many updates as requests; a record mark is never read by itself, so none is saved.
pub fn nct_counters(record: &RunRecord, threads: u32, jobs: u32) -> String {
    [
        (record.totals.ledger.ended(), "updates"),
        (0, "marks"),
        (u64::from(threads), "threads"),
        (u64::from(jobs), "jobs"),
    ]
    .map(|(count, name)| line("-", "-", "-", count, name))
    .concat()
}

fn line(min: &str, average: &str, max: &str, total: u64, name: &str) -> String {
    format!("{min:>12} {average:>12} {max:>12} {total:>15}  {name}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::canned;

    #[test]
    fn the_summary_has_ncts_lines() {
        let record = canned::plain();
        let text = render(&record) + &nct_counters(&record, 2, 8);
        insta::assert_snapshot!(text);
    }

    #[test]
    fn an_average_lies_between_its_extremes_in_a_short_run_too() {
        let mut record = canned::plain();
        record.window_ns = 550_000_000;
        for line in render(&record).lines().skip(2) {
            let mut words = line.split_whitespace().map(|word| word.parse::<f64>());
            let mut next = || words.next().expect("four columns").expect("a number");
            let (min, average, max) = (next(), next(), next());
            assert!(min <= average && average <= max, "{line}");
        }
    }
}
