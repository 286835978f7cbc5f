//! How well the search for the highest load that keeps an objective does against M/M/k
//! servers in virtual time: worst error, coverage of the interval and time, over many seeds.
//!
//!     cargo run --release -p filestone-model --example objective_sweep -- [SEEDS] [INTERVAL_MS]

#![allow(clippy::print_stdout)]

use filestone_model::plan::{Figure, Objective, ObjectivePlan};
use filestone_model::queueing::{MarkovServers, Service, SimulatedRun, SimulatedServer};
use filestone_model::steering::{LoadRange, ObjectiveSearch};

/// Number of servers, capacity, utilisation at the answer.
const SERVERS: [(u32, f64, f64); 8] = [
    (1, 20_000.0, 0.9),
    (1, 50_000.0, 0.8),
    (1, 20_000.0, 0.6),
    (2, 20_000.0, 0.85),
    (4, 20_000.0, 0.9),
    (4, 50_000.0, 0.95),
    (16, 50_000.0, 0.9),
    (16, 20_000.0, 0.95),
];

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default: u64| {
        let argument = arguments.next().and_then(|text| text.parse().ok());
        argument.unwrap_or(default)
    };
    let (seeds, interval_ms) = (number(100), number(250));
    println!(
        "| servers | capacity | answer | objective | worst error | rms error | covered | mean time | longest |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for (servers, capacity, utilisation) in SERVERS {
        for figure in [Figure::Quantile { quantile: 0.99 }, Figure::Mean] {
            let truth = capacity * utilisation;
            let service_s = f64::from(servers) / capacity;
            let markov = MarkovServers { servers, service_s };
            let bound_s = match figure {
                Figure::Mean => markov.response_mean(truth),
                Figure::Quantile { quantile } => markov.response_quantile(truth, quantile),
            };
            let plan = ObjectivePlan {
                objective: Objective {
                    figure,
                    below_ns: (bound_s * 1e9).round() as u64,
                },
                search_max_ns: 90_000_000_000,
                precision: 0.03,
            };
            let (mut worst, mut squares, mut covered) = (0.0_f64, 0.0, 0);
            let (mut sum_s, mut longest_s) = (0.0, 0.0_f64);
            for seed in 1..=seeds {
                let mean_ns = service_s * 1e9;
                let server = SimulatedServer::new(servers, Service::Exponential { mean_ns });
                let mut run = SimulatedRun::new(server, seed);
                run.interval_ns = interval_ms * 1_000_000;
                let mut search = ObjectiveSearch::new(&plan, LoadRange::default());
                let end = run.steer(&mut search);
                let record = search.conclude();
                let error = record.load_ops_per_s.unwrap_or(0.0) / truth - 1.0;
                worst = worst.max(error.abs());
                squares += error * error;
                let lower = record.lower_ops_per_s.unwrap_or(f64::NAN);
                let upper = record.upper_ops_per_s.unwrap_or(f64::NAN);
                covered += u64::from(lower <= truth && truth <= upper);
                sum_s += end.time_ns as f64 / 1e9;
                longest_s = longest_s.max(end.time_ns as f64 / 1e9);
            }
            println!(
                "| {servers} | {capacity} | {truth} | {} | {:.2} % | {:.2} % | {covered} of {seeds} | {:.0} s | {longest_s:.0} s |",
                plan.objective,
                100.0 * worst,
                100.0 * (squares / seeds as f64).sqrt(),
                sum_s / seeds as f64,
            );
        }
    }
}
