//! A simulated server in virtual time.

use filestone_workload::random::{Generator, exponential};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Distribution of the service time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ServiceDistribution {
    /// Exponentially distributed.
    Exponential {
        /// Mean, in nanoseconds.
        mean_ns: f64,
    },
    /// Constant.
    Fixed {
        /// Service time in nanoseconds.
        ns: u64,
    },
}

/// Temporary slowdown of a simulated server after an overload.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OverloadPenalty {
    /// Operations in flight from which on the server is overloaded.
    pub in_flight: usize,
    /// Factor by which the service time is multiplied during the slowdown.
    pub factor: f64,
    /// Length of the slowdown after the overload, in nanoseconds.
    pub lasts_ns: u64,
}

/// A time without service; operations in service continue afterwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stall {
    /// Start of the stall.
    pub start_ns: u64,
    /// Length of the stall, in nanoseconds.
    pub lasts_ns: u64,
}

/// A server with one queue, served in the order of arrival.
#[derive(Debug, Clone, PartialEq)]
pub struct SimulatedServer {
    /// Number of operations that are served at once; `None` for any number.
    pub servers: Option<u32>,
    /// Service time of an operation.
    pub service: ServiceDistribution,
    /// Delay added to every service time, as a long line adds it: it occupies a slot, but no
    /// server.
    pub delay_ns: u64,
    /// Slowdown after an overload, if the server has one.
    pub memory: Option<OverloadPenalty>,
    /// Stalls, in order of time.
    pub stalls: Vec<Stall>,
}

impl SimulatedServer {
    /// Creates a server without delay, slowdown and stalls.
    pub fn new(servers: u32, service: ServiceDistribution) -> Self {
        Self {
            servers: Some(servers.max(1)),
            service,
            delay_ns: 0,
            memory: None,
            stalls: Vec::new(),
        }
    }
}

/// State of a [`SimulatedServer`] in a run.
#[derive(Debug)]
pub struct SimulatedServerState {
    server: SimulatedServer,
    /// Times at which its servers become free.
    free_at: BinaryHeap<Reverse<u64>>,
    /// End of the current slowdown.
    slow_until: u64,
    /// Number of stalls that were over when the last operation was sent.
    over: usize,
    generator: Generator,
}

impl SimulatedServerState {
    /// Creates an idle server that samples service times from `generator`.
    pub fn new(server: SimulatedServer, generator: Generator) -> Self {
        let servers = server.servers.unwrap_or(0);
        Self {
            free_at: (0..servers).map(|_| Reverse(0)).collect(),
            slow_until: 0,
            over: 0,
            server,
            generator,
        }
    }

    /// Returns the end of an operation that is sent now, with `in_flight` others in flight.
    pub fn end_of(&mut self, now: u64, in_flight: usize) -> u64 {
        let free_at = self.free_at.pop().map_or(0, |free_at| free_at.0);
        let nanos = self.service(now, in_flight);
        let stalls = self.stalls_from(now);
        let begins = after_stalls(stalls, free_at.max(now));
        let left = past_stalls(stalls, begins, nanos);
        if self.server.servers.is_some() {
            self.free_at.push(Reverse(left));
        }
        left + self.server.delay_ns
    }

    /// Returns the stalls that are not over yet; operations are sent in order of time.
    fn stalls_from(&mut self, now: u64) -> &[Stall] {
        let stalls = self.server.stalls.iter().skip(self.over);
        self.over += stalls.take_while(|stall| stall.over() <= now).count();
        self.server.stalls.get(self.over..).unwrap_or_default()
    }

    /// Returns the service time of the next operation.
    fn service(&mut self, now: u64, in_flight: usize) -> u64 {
        let nanos = match self.server.service {
            ServiceDistribution::Exponential { mean_ns } => {
                exponential(&mut self.generator, mean_ns)
            }
            ServiceDistribution::Fixed { ns } => ns as f64,
        };
        let Some(memory) = self.server.memory else {
            return nanos.round() as u64;
        };
        if in_flight >= memory.in_flight {
            self.slow_until = now.saturating_add(memory.lasts_ns);
        }
        let factor = if now < self.slow_until {
            memory.factor
        } else {
            1.0
        };
        (nanos * factor).round() as u64
    }
}

impl Stall {
    const fn over(&self) -> u64 {
        self.start_ns.saturating_add(self.lasts_ns)
    }
}

/// Returns the first time from `begins` on that is outside of the stalls.
fn after_stalls(stalls: &[Stall], begins: u64) -> u64 {
    let begun = stalls.iter().take_while(|stall| stall.start_ns <= begins);
    let last = begun.last().map_or(0, Stall::over);
    begins.max(last)
}

/// Returns the end of a service that starts at `begins`.
fn past_stalls(stalls: &[Stall], begins: u64, nanos: u64) -> u64 {
    let mut ends = begins + nanos;
    for stall in stalls.iter().skip_while(|stall| stall.start_ns <= begins) {
        if stall.start_ns >= ends {
            break;
        }
        ends = ends.saturating_add(stall.lasts_ns);
    }
    ends
}
