#![allow(clippy::print_stdout, missing_docs)]
use filestone_model::plan::{Figure, Objective, ObjectivePlan};
use filestone_model::queueing::{MarkovServers, Service, SimulatedRun, SimulatedServer};
use filestone_model::steering::{LoadRange, ObjectiveSearch};
fn main() {
    let a: Vec<f64> = std::env::args()
        .skip(1)
        .map(|t| t.parse().unwrap())
        .collect();
    let (servers, capacity, util, seed) = (a[0] as u32, a[1], a[2], a[3] as u64);
    let figure = if a[4] > 0.0 {
        Figure::Quantile { quantile: a[4] }
    } else {
        Figure::Mean
    };
    let truth = capacity * util;
    let service_s = f64::from(servers) / capacity;
    let markov = MarkovServers { servers, service_s };
    let bound_s = match figure {
        Figure::Mean => markov.response_mean(truth),
        Figure::Quantile { quantile } => markov.response_quantile(truth, quantile),
    };
    let plan = ObjectivePlan {
        objective: Objective {
            figure,
            below_ns: (bound_s * 1e9) as u64,
        },
        search_max_ns: 90_000_000_000,
        precision: 0.03,
    };
    let server = SimulatedServer::new(
        servers,
        Service::Exponential {
            mean_ns: service_s * 1e9,
        },
    );
    let run = SimulatedRun::new(server, seed);
    let mut search = ObjectiveSearch::new(&plan, LoadRange::default());
    let end = run.steer(&mut search);
    let record = search.conclude();
    for t in &record.tried {
        println!(
            "{:8.1} ach {:8.1} n {:7} share {:.5} fig {:.3}ms  {:.2}-{:.2}",
            t.offered_load_ops_per_s,
            t.achieved_load_ops_per_s,
            t.ended,
            t.above as f64 / t.ended as f64,
            t.figure_ns as f64 / 1e6,
            t.start_ns as f64 / 1e9,
            t.end_ns as f64 / 1e9
        );
    }
    println!(
        "{:?} {:?} {:?} {:?} truth {truth} in {}",
        record.load_ops_per_s,
        record.lower_ops_per_s,
        record.upper_ops_per_s,
        record.end,
        end.time_ns as f64 / 1e9
    );
}
