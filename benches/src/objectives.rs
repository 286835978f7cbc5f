//! Accuracy of the search for the highest load that meets an objective, with M/M/k servers in
//! virtual time: errors, coverage of the interval and time, over many seeds. The tests of the model
//! search with three; this command is for a night.

use clap::Args;
use filestone_control::load_control::{LoadRange, ObjectiveSearch};
use filestone_interop::processors;
use filestone_plan::plan::{Figure, Objective, ObjectivePlan};
use filestone_testing::queueing::{
    MarkovServers, ServiceDistribution, SimulatedRun, SimulatedServer,
};

/// Number of servers, capacity, and utilisation at the true load.
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

/// Cases of `--check` with their numbers of seeds: every search must meet the limits below, and
/// nine in ten intervals must contain the true load.
const CHECKED: [(Case, u64); 8] = [
    (Case::mean(1, 4000.0), 100),
    (Case::percentile(1, 16_000.0, 0.8), 100),
    (Case::mean(2, 4000.0), 100),
    (Case::percentile(2, 10_000.0, 0.85), 30),
    (Case::mean(4, 4000.0), 100),
    (Case::percentile(4, 10_000.0, 0.85), 30),
    (Case::mean(16, 4000.0), 100),
    (Case::percentile(16, 20_000.0, 0.9), 40),
];
const PERCENTILE: Figure = Figure::Quantile { quantile: 0.99 };
/// Default length of an interval.
const INTERVAL_MS: u64 = 250;
const ERROR_MOST: f64 = 0.03;
const SECONDS_MOST: f64 = 90.0;
const COVERED_LEAST: f64 = 0.9;

/// Options of `cargo xtask objectives`.
#[derive(Debug, Clone, Args)]
pub struct Objectives {
    /// Searches for each case
    #[arg(long, default_value_t = 100)]
    pub seeds: u64,
    /// Seed of the first of them
    #[arg(long, default_value_t = 1001)]
    pub first_seed: u64,
    /// Length of an interval in milliseconds
    #[arg(long, default_value_t = INTERVAL_MS)]
    pub interval_ms: u64,
    /// Hold the searches to what is promised of them instead, with seeds of their own
    #[arg(long)]
    pub check: bool,
}

/// Result of a search against a server.
#[derive(Debug, Clone, Copy)]
struct Found {
    /// Relative error of the load found.
    error: f64,
    /// Relative width of the interval.
    width: f64,
    is_covered: bool,
    time_s: f64,
}

/// A server whose answer is known, and the objective that is met up to that load.
#[derive(Debug, Clone, Copy)]
struct Case {
    servers: u32,
    capacity: f64,
    truth: f64,
    figure: Figure,
}

impl Case {
    const fn new(servers: u32, capacity: f64, utilisation: f64, figure: Figure) -> Self {
        Self {
            servers,
            capacity,
            truth: capacity * utilisation,
            figure,
        }
    }

    const fn mean(servers: u32, capacity: f64) -> Self {
        Self::new(servers, capacity, 0.85, Figure::Mean)
    }

    const fn percentile(servers: u32, capacity: f64, utilisation: f64) -> Self {
        Self::new(servers, capacity, utilisation, PERCENTILE)
    }

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
        let server =
            SimulatedServer::new(self.servers, ServiceDistribution::Exponential { mean_ns });
        let mut run = SimulatedRun::new(server, seed);
        run.interval_ns = interval_ms * 1_000_000;
        let mut search = ObjectiveSearch::new(&plan, LoadRange::default());
        let end = run.steer(&mut search);
        let record = search.into_record();
        let lower = record.lower_ops_per_s.unwrap_or(f64::NAN);
        let upper = record.upper_ops_per_s.unwrap_or(f64::NAN);
        Found {
            error: record.load_ops_per_s.unwrap_or(0.0) / self.truth - 1.0,
            width: (upper - lower) / self.truth,
            is_covered: (lower..=upper).contains(&self.truth),
            time_s: end.time_ns as f64 / 1e9,
        }
    }

    /// Searches with these seeds.
    fn over(&self, seeds: std::ops::Range<u64>, interval_ms: u64) -> Vec<Found> {
        processors::for_seeds(seeds, |seed| self.search(seed, interval_ms))
    }

    /// Searches and prints. Returns whether the searches meet the limits.
    fn keeps(&self, seeds: std::ops::Range<u64>) -> bool {
        let found = self.over(seeds, INTERVAL_MS);
        self.print(&found);
        let is_near = |one: &Found| one.error.abs() <= ERROR_MOST && one.time_s <= SECONDS_MOST;
        let covered = found.iter().filter(|one| one.is_covered).count();
        found.iter().all(is_near) && covered as f64 >= COVERED_LEAST * found.len() as f64
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

/// Searches and prints. With `check`, returns whether all searches meet the limits.
pub fn run(options: &Objectives) -> bool {
    println!(
        "| servers | capacity | answer | objective | mean error | rms error | worst error | mean width | covered | mean time | longest |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    if options.check {
        // All cases run, even if one fails.
        let kept = CHECKED.map(|(case, seeds)| case.keeps(1..seeds + 1));
        return kept.iter().all(|kept| *kept);
    }
    let seeds = options.first_seed..options.first_seed + options.seeds;
    for (servers, capacity, utilisation) in SERVERS {
        for figure in [PERCENTILE, Figure::Mean] {
            let case = Case::new(servers, capacity, utilisation, figure);
            case.print(&case.over(seeds.clone(), options.interval_ms));
        }
    }
    true
}
