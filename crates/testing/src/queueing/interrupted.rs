//! A server with interruptions, in which operations never wait for each other.
//!
//! Any number of operations are served at once, each for an exponentially distributed time. After
//! an exponentially distributed working time the server stops for an exponentially distributed
//! time, and all operations in service wait. The response time, the sum of service and waiting, has
//! a phase-type distribution of two phases (Neuts 1981, *Matrix-Geometric Solutions in Stochastic
//! Models*, chapter 2). Times are in seconds.

use super::server::{ServiceDistribution, SimulatedServer, Stall};
use filestone_workload::random::{RandomStream, exponential, stream};

/// A server with interruptions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InterruptedServer {
    /// Mean service time.
    pub service_s: f64,
    /// Mean time between interruptions.
    pub working_s: f64,
    /// Mean length of an interruption.
    pub still_s: f64,
}

impl InterruptedServer {
    /// Returns A, a, b of the response time, which is longer than t with probability A·e^(−at) + (1
    /// − A)·e^(−bt).
    fn phases(&self) -> [f64; 3] {
        let (served, stops, goes_on) = (
            self.service_s.recip(),
            self.working_s.recip(),
            self.still_s.recip(),
        );
        // Eigenvalues of the transition rates of the two phases.
        let sum = served + stops + goes_on;
        let root = (sum * sum - 4.0 * served * goes_on).sqrt();
        let [slow, fast] = [(sum - root) / 2.0, (sum + root) / 2.0];
        // Only an operation that arrives while the server works may end at once.
        let works = self.working_s / (self.working_s + self.still_s);
        let share = (fast - works * served) / (fast - slow);
        [share, slow, fast]
    }

    /// Returns the mean response time.
    pub fn response_mean(&self) -> f64 {
        let [share, slow, fast] = self.phases();
        share / slow + (1.0 - share) / fast
    }

    /// Returns the probability that a response takes longer than `time`.
    pub fn response_above(&self, time: f64) -> f64 {
        let [share, slow, fast] = self.phases();
        share * (-slow * time).exp() + (1.0 - share) * (-fast * time).exp()
    }

    /// Returns the time that a fraction `quantile` of all responses does not exceed.
    pub fn response_quantile(&self, quantile: f64) -> f64 {
        let [_, slow, _] = self.phases();
        let (mut low, mut high) = (0.0, 1.0 / slow);
        while self.response_above(high) > 1.0 - quantile {
            high *= 2.0;
        }
        for _ in 0..100 {
            let middle = f64::midpoint(low, high);
            if self.response_above(middle) > 1.0 - quantile {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Returns a simulated server with sampled interruptions for a run of `length_ns`.
    pub fn simulated(&self, length_ns: u64, seed: u64) -> SimulatedServer {
        let mut generator = stream(seed, RandomStream::Workload, 1);
        let mut stalls = Vec::new();
        let mut now = 0;
        while now < length_ns {
            let start_ns = now + exponential(&mut generator, self.working_s * 1e9) as u64;
            let lasts_ns = exponential(&mut generator, self.still_s * 1e9) as u64;
            stalls.push(Stall { start_ns, lasts_ns });
            now = start_ns + lasts_ns;
        }
        let mean_ns = self.service_s * 1e9;
        SimulatedServer {
            servers: None,
            stalls,
            ..SimulatedServer::new(1, ServiceDistribution::Exponential { mean_ns })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_and_distribution_are_those_of_the_chain() {
        let server = InterruptedServer {
            service_s: 1.0,
            working_s: 4.0,
            still_s: 2.0,
        };
        // Served for 1, interrupted 1/4 times for 2 each, and in one case of three for 2 at the
        // start.
        let mean = 1.0 + 0.5 + 2.0 / 3.0;
        assert!((server.response_mean() - mean).abs() < 1e-12);
        let step = 0.001;
        let sum: f64 = (0..200_000)
            .map(|index| server.response_above((f64::from(index) + 0.5) * step))
            .sum();
        assert!((sum * step / mean - 1.0).abs() < 1e-6);
        let median = server.response_quantile(0.5);
        assert!((server.response_above(median) - 0.5).abs() < 1e-9);
    }
}
