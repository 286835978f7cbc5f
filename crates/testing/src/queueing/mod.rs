//! Queues whose response times are known analytically, and a simulated server in virtual time that
//! behaves like them.
//!
//! Load controllers, such as the search for the highest load that meets an objective, are tested
//! against both: the formulas give the expected results, and [`SimulatedRun`] simulates the run
//! without a server, a clock or a thread. This module does not measure real servers.

pub mod coverage;
mod deterministic;
mod interrupted;
mod markov;
mod server;
mod simulated;

pub use deterministic::DeterministicServers;
pub use interrupted::InterruptedServer;
pub use markov::MarkovServers;
pub use server::{
    OverloadPenalty, ServiceDistribution, SimulatedServer, SimulatedServerState, Stall,
};
pub use simulated::{SimulatedArrivals, SimulatedEnd, SimulatedRun};

/// Returns the point between `low` and `high` where `is_beyond` becomes true, to the last bit or
/// nearly so.
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
