//! Queues whose response times are known on paper, and a server in virtual time that
//! behaves like them.
//!
//! What steers a run, such as the search for the highest load that keeps an objective, is
//! held against both: the formulas say what must come out, [`SimulatedRun`] plays the run
//! without a server, a clock or a thread. It is public so that anybody can ask the same.
//! Nothing here measures a real server.

pub mod coverage;
mod deterministic;
mod interrupted;
mod markov;
mod server;
mod simulated;

pub use deterministic::DeterministicServers;
pub use interrupted::InterruptedServer;
pub use markov::MarkovServers;
pub use server::{OverloadPenalty, Service, SimulatedServer, SimulatedServerState, Stall};
pub use simulated::{SimulatedArrivals, SimulatedEnd, SimulatedRun};

/// Where `is_beyond` turns true between `low` and `high`, to the last bit or nearly so.
fn bisect(mut low: f64, mut high: f64, is_beyond: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if is_beyond(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    low
}
