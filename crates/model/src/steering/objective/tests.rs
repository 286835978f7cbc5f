use super::*;
use crate::queueing::{MarkovServers, Service, SimulatedRun, SimulatedServer};

/// One server whose answer is known.
struct Case {
    servers: u32,
    capacity: f64,
    /// The load that the bound is worked out for, as a share of the capacity.
    utilisation: f64,
    figure: Figure,
}

/// How well a case went over its seeds.
#[derive(Debug, Default)]
struct Outcome {
    error_max: f64,
    covered: u32,
    time_max_s: f64,
    time_sum_s: f64,
}

impl Case {
    fn markov(&self) -> MarkovServers {
        MarkovServers {
            servers: self.servers,
            service_s: f64::from(self.servers) / self.capacity,
        }
    }

    /// The objective that holds up to this load.
    fn objective(&self) -> Objective {
        let load = self.utilisation * self.capacity;
        let bound_s = match self.figure {
            Figure::Mean => self.markov().response_mean(load),
            Figure::Quantile { quantile } => self.markov().response_quantile(load, quantile),
        };
        Objective {
            figure: self.figure,
            below_ns: (bound_s * 1e9).round() as u64,
        }
    }

    fn run(&self, seed: u64) -> SimulatedRun {
        let mean_ns = 1e9 * f64::from(self.servers) / self.capacity;
        let service = Service::Exponential { mean_ns };
        SimulatedRun::new(SimulatedServer::new(self.servers, service), seed)
    }

    fn over(&self, seeds: u64) -> Outcome {
        let mut outcome = Outcome::default();
        let truth = self.utilisation * self.capacity;
        for seed in 1..=seeds {
            let mut search = search_for(self.objective(), 0.03);
            let end = self.run(seed).steer(&mut search);
            let record = search.conclude();
            let load = record.load_ops_per_s.unwrap_or(0.0);
            let error = (load / truth - 1.0).abs();
            let lower = record.lower_ops_per_s.unwrap_or(f64::NAN);
            let upper = record.upper_ops_per_s.unwrap_or(f64::NAN);
            outcome.error_max = outcome.error_max.max(error);
            outcome.covered += u32::from((lower..=upper).contains(&truth));
            let time_s = end.time_ns as f64 / 1e9;
            outcome.time_sum_s += time_s;
            outcome.time_max_s = outcome.time_max_s.max(time_s);
        }
        outcome
    }
}

fn search_for(objective: Objective, precision: f64) -> ObjectiveSearch {
    let plan = ObjectivePlan {
        objective,
        search_max_ns: 90_000_000_000,
        precision,
    };
    ObjectiveSearch::new(&plan, LoadRange::default())
}
