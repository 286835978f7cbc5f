//! Compares results of the dashboard's queries with the record.
//!
//! Rates are taken over a range that starts before the run and ends with its last scrape.
//! Prometheus then extrapolates nothing: a counter that starts at 0 has no earlier values, and the
//! range ends with the last sample. So rates are exact; percentiles are accurate to a bucket.

use super::dashboard::Dashboard;
use super::scraper::Scraper;
use crate::record::Record;
use anyhow::{Context, Result};
use std::fmt;

/// The panel of native histograms; one of the two Prometheus servers has no data for it.
const NATIVE: &str = "Response time, of native histograms";
/// Length of the range in seconds, longer than the run.
const STRETCH_S: u64 = 120;
/// Ratio of the bounds of a classic bucket: at most 1.25; for a native bucket it is 2^(1/16).
const CLASSIC_WIDTH: f64 = 1.25;
const NATIVE_WIDTH: f64 = 1.045;
/// Relative tolerance for floating point, and for times in whole milliseconds.
const EXACT: f64 = 1e-6;
/// Relative tolerance of a rate in the middle of a run: one of ten seconds may be missing at either
/// end.
const IN_THE_MIDDLE: f64 = 0.15;

/// A comparison.
pub struct Verdict {
    what: String,
    found: f64,
    expected: f64,
    pub is_good: bool,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            what,
            found,
            expected,
            is_good,
        } = self;
        let word = if *is_good { "ok" } else { "WRONG" };
        write!(f, "{word:<6} {what}: {found:.6}, record {expected:.6}")
    }
}

impl Verdict {
    fn within(what: &str, found: f64, expected: f64, share: f64) -> Self {
        Self {
            what: what.into(),
            found,
            expected,
            is_good: (found - expected).abs() <= share * expected.abs(),
        }
    }

    /// Compares two values, which must be within one bucket of that width.
    fn in_bucket(what: &str, found: f64, expected: f64, width: f64) -> Self {
        Self {
            what: what.into(),
            found,
            expected,
            is_good: found <= expected * width && expected <= found * width,
        }
    }
}

/// Values from the record.
struct Figures {
    ok: f64,
    ended: f64,
    data_bytes: f64,
    mean_s: f64,
    p99_s: f64,
    offered: f64,
}

impl Figures {
    fn of(record: &Record) -> Result<Self> {
        let kinds = record.list("/totals/kinds").iter();
        let measured = kinds.filter(|kind| kind["role"] == "measured");
        let data_bytes = measured.filter_map(|kind| kind["data_bytes"].as_f64());
        Ok(Self {
            ok: record.number("/totals/ledger/ok")?,
            // Times are those of successful operations.
            ended: ["ok", "failed", "timed_out", "disconnected"]
                .into_iter()
                .map(|outcome| record.number(&format!("/totals/ledger/{outcome}")))
                .sum::<Result<f64>>()?,
            data_bytes: data_bytes.sum(),
            mean_s: record.number("/totals/response_time_ns/mean")? / 1e9,
            p99_s: record.number("/totals/response_time_ns/p99")? / 1e9,
            offered: record.number("/totals/offered_load_ops_per_s")?,
        })
    }
}

/// Makes all comparisons.
pub fn all(
    dashboard: &Dashboard,
    record: &Record,
    classic: &Scraper,
    native: &Scraper,
) -> Result<Vec<Verdict>> {
    let figures = Figures::of(record)?;
    // The later of the two scrapes has read the final values.
    let series = "filestone_run_phase{phase=\"finished\"}";
    let (at, at_native) = (classic.last_scrape(series)?, native.last_scrape(series)?);
    let (last, mean) = if at >= at_native {
        (classic, ("Mean response time", "all"))
    } else {
        (native, (NATIVE, "mean"))
    };
    let end = at.max(at_native);
    let ask = |scraper: &Scraper, at: f64, panel: &str, legend: &str| -> Result<f64> {
        let query = dashboard.query(panel, legend)?.over(STRETCH_S);
        scraper.value(&query, at)
    };
    let count = |panel: &str, legend: &str| {
        ask(last, end, panel, legend).map(|rate| rate * STRETCH_S as f64)
    };
    let exact =
        |what: &str, found: f64, expected: f64| Verdict::within(what, found, expected, EXACT);
    let mut verdicts = vec![
        exact("operations, from Load", count("Load", "all")?, figures.ok),
        exact(
            "error rate",
            ask(last, end, "Operations that did not end well", "of all")?,
            1.0 - figures.ok / figures.ended,
        ),
        exact(
            "bytes, from Goodput",
            count("Goodput", "all")?,
            figures.data_bytes,
        ),
        exact(
            "mean response time",
            ask(last, end, mean.0, mean.1)?,
            figures.mean_s,
        ),
        Verdict::in_bucket(
            "p99 of classic buckets",
            ask(classic, at, "Response time", "p99")?,
            figures.p99_s,
            CLASSIC_WIDTH,
        ),
        Verdict::in_bucket(
            "p99 of native buckets",
            ask(native, at_native, NATIVE, "p99")?,
            figures.p99_s,
            NATIVE_WIDTH,
        ),
    ];
    verdicts.push(in_the_middle(dashboard, classic, end, &figures)?);
    verdicts.push(counters(record, last, end)?);
    verdicts.push(answered(dashboard, classic, end)?);
    Ok(verdicts)
}

/// Compares the load that the dashboard shows while the run is active.
fn in_the_middle(
    dashboard: &Dashboard,
    scraper: &Scraper,
    end: f64,
    figures: &Figures,
) -> Result<Verdict> {
    let query = dashboard.query("Load", "all")?.over(10);
    let load = scraper.value(&query, end - 3.0)?;
    let share = figures.ok / figures.ended;
    let expected = figures.offered * share;
    Ok(Verdict::within(
        "operations/s in the middle",
        load,
        expected,
        IN_THE_MIDDLE,
    ))
}

/// Compares every ledger counter of every kind of operation.
fn counters(record: &Record, scraper: &Scraper, end: f64) -> Result<Verdict> {
    let (mut found, mut expected) = (0.0, 0.0);
    let mut wrong = Vec::new();
    for kind in record.list("/totals/kinds") {
        let operation = kind["operation"].as_str().unwrap_or_default();
        let role = kind["role"].as_str().unwrap_or_default();
        let ledger = kind["ledger"].as_object().context("a ledger")?;
        for (outcome, count) in ledger.iter().filter(|(outcome, _)| *outcome != "scheduled") {
            let labels =
                format!("operation=\"{operation}\", role=\"{role}\", outcome=\"{outcome}\"");
            let value = scraper.value(&format!("filestone_operations_total{{{labels}}}"), end)?;
            let count = count.as_f64().unwrap_or_default();
            if value != count {
                wrong.push(format!("{labels}: {value}, record {count}"));
            }
            (found, expected) = (found + value, expected + count);
        }
    }
    wrong.iter().for_each(|wrong| println!("{wrong}"));
    Ok(Verdict {
        what: "the ledger of every operation".into(),
        found,
        expected,
        is_good: wrong.is_empty(),
    })
}

/// Checks that every query of the dashboard is valid, and returns data if this run has any for it.
fn answered(dashboard: &Dashboard, scraper: &Scraper, end: f64) -> Result<Verdict> {
    /// Panels without data in this run: clients of a fleet, and native histograms.
    const ABSENT: [&str; 2] = ["Clients of a fleet", NATIVE];
    let queries = dashboard.queries();
    let mut answered = 0;
    for query in queries {
        let text = query.over(STRETCH_S);
        let is_empty = scraper.query(&text, Some(end - 3.0))?.is_empty();
        let is_absent = ABSENT.contains(&query.panel.as_str());
        if is_empty == is_absent {
            answered += 1;
        } else {
            println!("{}: {text}: empty: {is_empty}", query.panel);
        }
    }
    Ok(Verdict {
        what: "queries that Prometheus answers".into(),
        found: f64::from(answered),
        expected: queries.len() as f64,
        is_good: answered as usize == queries.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_in_the_bucket_of_the_record_or_not() {
        let is_good = |found, expected| Verdict::in_bucket("", found, expected, 1.25).is_good;
        assert!(is_good(1.0, 1.2) && is_good(1.2, 1.0));
        assert!(!is_good(1.0, 1.3) && !is_good(1.3, 1.0));
    }

    #[test]
    fn every_query_that_is_compared_is_in_the_dashboard() {
        let dashboard = Dashboard::read().expect("the dashboard");
        for (panel, legend) in [
            ("Load", "all"),
            ("Operations that did not end well", "of all"),
            ("Goodput", "all"),
            ("Mean response time", "all"),
            ("Response time", "p99"),
            (NATIVE, "p99"),
            (NATIVE, "mean"),
        ] {
            let query = dashboard.query(panel, legend).expect("a query");
            assert!(!query.over(10).contains('$'), "{}", query.over(10));
        }
    }
}
