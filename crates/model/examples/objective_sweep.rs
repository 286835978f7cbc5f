//! How well the search for the highest load that keeps an objective does against M/M/k
//! servers in virtual time: errors, coverage of the interval and time, over many seeds.
//!
//!     cargo run --release -p filestone-model --example objective_sweep -- [SEEDS] [FIRST_SEED] [INTERVAL_MS]

#![allow(clippy::print_stdout)]

use filestone_model::plan::{Figure, Objective, ObjectivePlan};
use filestone_model::queueing::{MarkovServers, Service, SimulatedRun, SimulatedServer};
use filestone_model::steering::{LoadRange, ObjectiveSearch};

/// Number of servers, capacity, utilisation at the answer.
const SERVERS: [(u32, f64, f64); 9] = [
    (1, 20_000.0, 0.9),
    (1, 50_000.0, 0.8),
    (1, 20_000.0, 0.6),
    (2, 20_000.0, 0.85),
    (4, 20_000.0, 0.9),
    (4, 50_000.0, 0.95),
    (16, 50_000.0, 0.9),
    (16, 20_000.0, 0.95),
    (16, 50_000.0, 0.85),
];

/// One search against one server.
#[derive(Debug, Clone, Copy)]
struct Found {
    /// How far the load found is from the true one, as a share of that.
    error: f64,
    /// How wide the interval is, likewise.
    width: f64,
    is_covered: bool,
    time_s: f64,
}

/// A server whose answer is known, and the objective that holds up to there.
#[derive(Debug, Clone, Copy)]
struct Case {
    servers: u32,
    capacity: f64,
    truth: f64,
    figure: Figure,
}

impl Case {
    fn service_s(&self) -> f64 {
        f64::from(self.servers) / self.capacity
    }

    fn objective(&self) -> Objective {
        let markov = MarkovServers {
            servers: self.servers,
            service_s: self.service_s(),
        };
        let bound_s = match self.figure {
            Figure::Mean => markov.response_mean(self.truth),
            Figure::Quantile { quantile } => markov.response_quantile(self.truth, quantile),
        };
        Objective {
            figure: self.figure,
            below_ns: (bound_s * 1e9).round() as u64,
        }
    }

    fn search(&self, seed: u64, interval_ms: u64) -> Found {
        let plan = ObjectivePlan {
            objective: self.objective(),
            search_max_ns: 90_000_000_000,
            precision: 0.03,
        };
        let mean_ns = self.service_s() * 1e9;
        let server = SimulatedServer::new(self.servers, Service::Exponential { mean_ns });
        let mut run = SimulatedRun::new(server, seed);
        run.interval_ns = interval_ms * 1_000_000;
        let mut search = ObjectiveSearch::new(&plan, LoadRange::default());
        let end = run.steer(&mut search);
        let record = search.conclude();
        let lower = record.lower_ops_per_s.unwrap_or(f64::NAN);
        let upper = record.upper_ops_per_s.unwrap_or(f64::NAN);
        Found {
            error: record.load_ops_per_s.unwrap_or(0.0) / self.truth - 1.0,
            width: (upper - lower) / self.truth,
            is_covered: (lower..=upper).contains(&self.truth),
            time_s: end.time_ns as f64 / 1e9,
        }
    }

    /// The searches with these seeds, half of them on a thread of their own.
    fn over(&self, seeds: std::ops::Range<u64>, interval_ms: u64) -> Vec<Found> {
        let part = |parity: u64| {
            let seeds = seeds.clone().filter(move |seed| seed % 2 == parity);
            let found = seeds.map(|seed| self.search(seed, interval_ms));
            found.collect::<Vec<_>>()
        };
        std::thread::scope(|scope| {
            let odd = scope.spawn(|| part(1));
            let mut found = part(0);
            found.extend(odd.join().expect("a search does not panic"));
            found
        })
    }

    fn print(&self, found: &[Found]) {
        let count = found.len() as f64;
        let mean = |value: &dyn Fn(&Found) -> f64| found.iter().map(value).sum::<f64>() / count;
        let most = |value: &dyn Fn(&Found) -> f64| found.iter().map(value).fold(0.0, f64::max);
        println!(
            "| {} | {} | {} | {} | {:+.2} % | {:.2} % | {:.2} % | {:.1} % | {} of {} | {:.0} s | {:.0} s |",
            self.servers,
            self.capacity,
            self.truth,
            self.objective(),
            100.0 * mean(&|one| one.error),
            100.0 * mean(&|one| one.error.powi(2)).sqrt(),
            100.0 * most(&|one| one.error.abs()),
            100.0 * mean(&|one| one.width),
            found.iter().filter(|one| one.is_covered).count(),
            found.len(),
            mean(&|one| one.time_s),
            most(&|one| one.time_s),
        );
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default: u64| {
        let argument = arguments.next().and_then(|text| text.parse().ok());
        argument.unwrap_or(default)
    };
    let (seeds, first_seed, interval_ms) = (number(100), number(1001), number(250));
    println!(
        "| servers | capacity | answer | objective | mean error | rms error | worst error | mean width | covered | mean time | longest |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    for (servers, capacity, utilisation) in SERVERS {
        for figure in [Figure::Quantile { quantile: 0.99 }, Figure::Mean] {
            let case = Case {
                servers,
                capacity,
                truth: capacity * utilisation,
                figure,
            };
            case.print(&case.over(first_seed..first_seed + seeds, interval_ms));
        }
    }
}
