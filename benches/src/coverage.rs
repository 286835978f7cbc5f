//! Measures how often the 95 % intervals of mean, median and 99th percentile contain the true
//! value, for servers in virtual time whose response times are known analytically. The tests of the
//! model make fewer runs; this command is for a night.

mod real;

use anyhow::Result;
use clap::Args;
use filestone_interop::table::lay_out;
use filestone_testing::queueing::coverage::{COVERED, Coverage, CoverageCase, KnownServer};
use filestone_testing::queueing::{InterruptedServer, MarkovServers};
use std::ops::RangeInclusive;

/// Permitted range of the share of intervals that contain the true value.
const BAR: RangeInclusive<f64> = 0.93..=0.97;
const MS: u64 = 1_000_000;

/// Options of `cargo xtask coverage`.
#[derive(Debug, Clone, Args)]
pub struct CoverageOptions {
    /// Runs for each case
    #[arg(long, default_value_t = 1000)]
    pub runs: u64,
    /// Seed of the first of them
    #[arg(long, default_value_t = 1001)]
    pub first_seed: u64,
    /// Only cases whose name, or length (20 × 100 ms), has this in it
    #[arg(long, default_value = "")]
    pub only: String,
    /// Instead, make N runs of 2 s against the built-in server with a fixed service time
    #[arg(long, value_name = "N", conflicts_with = "only")]
    pub real: Option<u32>,
}

struct Row {
    name: String,
    case: CoverageCase,
}

impl Row {
    fn length(&self) -> String {
        format!("{} × {} ms", self.case.stretches, self.case.stretch_ns / MS)
    }
}

/// Returns the case of M/M/k with a service time of 100 µs.
fn markov(servers: u32, utilisation: f64, stretch_ms: u64, stretches: usize) -> Row {
    let server = MarkovServers {
        servers,
        service_s: 1e-4,
    };
    Row {
        name: format!("M/M/{servers} at {:.0} %", 100.0 * utilisation),
        case: CoverageCase {
            server: KnownServer::Markov(server),
            offered_load_ops_per_s: server.capacity() * utilisation,
            stretch_ns: stretch_ms * MS,
            stretches,
        },
    }
}

/// Returns the case of a server that is paused for 2 ms at a time on average, 5 % of the time in
/// total.
fn interrupted(stretch_ms: u64, stretches: usize) -> Row {
    Row {
        name: "interrupted".into(),
        case: CoverageCase {
            server: KnownServer::Interrupted(InterruptedServer {
                service_s: 1e-4,
                working_s: 0.038,
                still_s: 0.002,
            }),
            offered_load_ops_per_s: 5000.0,
            stretch_ns: stretch_ms * MS,
            stretches,
        },
    }
}

fn rows() -> Vec<Row> {
    vec![
        markov(1, 0.5, 100, 20),
        markov(1, 0.8, 100, 20),
        markov(1, 0.9, 100, 20),
        markov(1, 0.9, 500, 20),
        markov(1, 0.9, 1000, 60),
        markov(4, 0.8, 100, 20),
        markov(4, 0.95, 500, 20),
        markov(4, 0.95, 1000, 60),
        interrupted(100, 20),
        interrupted(500, 20),
        interrupted(1000, 60),
    ]
}

/// Counts, and returns whether every case is within the bar.
pub fn run(options: &CoverageOptions) -> Result<bool> {
    if let Some(runs) = options.real {
        return real::run(runs);
    }
    let seeds = options.first_seed..options.first_seed + options.runs;
    let rows = rows().into_iter();
    let rows =
        rows.filter(|row| row.name.contains(&options.only) || row.length().contains(&options.only));
    let mut all_hold = true;
    let cells: Vec<Vec<String>> = rows
        .map(|row| {
            let found = row.case.coverage(seeds.clone());
            all_hold &= found.iter().all(|found| BAR.contains(&found.share()));
            let figures = found.iter().flat_map(|found| figures(found, &BAR));
            let length = row.length();
            [row.name, length].into_iter().chain(figures).collect()
        })
        .collect();
    print!("{}", table(&cells));
    println!(
        "of {} runs each, in percent: intervals that hold the true value (! is not {:.0} to {:.0}), \
         half of their width; intervals below and above it, and those that are open above",
        options.runs,
        100.0 * BAR.start(),
        100.0 * BAR.end()
    );
    Ok(all_hold)
}

fn table(cells: &[Vec<String>]) -> String {
    let names = COVERED.iter();
    let heads = names.flat_map(|statistic| [statistic.name(), "±", "below, above", "open"]);
    let head: Vec<&str> = ["server", "run"].into_iter().chain(heads).collect();
    lay_out(&head, cells, false)
}

fn figures(found: &Coverage, bar: &RangeInclusive<f64>) -> [String; 4] {
    let mark = if bar.contains(&found.share()) {
        ""
    } else {
        " !"
    };
    let above = found.intervals - found.held - found.below;
    [
        format!("{:.1}{mark}", 100.0 * found.share()),
        format!("{:.1}", 100.0 * found.half_width()),
        format!("{}, {above}", found.below),
        found.open.to_string(),
    ]
}
