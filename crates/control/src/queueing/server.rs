//! A server that exists only as arithmetic, in virtual time.

use filestone_workload::random::{Generator, exponential};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// How long an operation is served.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Service {
    /// Exponentially distributed.
    Exponential {
        /// Mean, in nanoseconds.
        mean_ns: f64,
    },
    /// Always the same.
    Fixed {
        /// In nanoseconds.
        ns: u64,
    },
}

/// A server that an overload slows down for a while.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OverloadPenalty {
    /// Operations in flight that are an overload.
    pub in_flight: usize,
    /// By what the service time is multiplied then.
    pub factor: f64,
    /// For how long, after the overload.
    pub lasts_ns: u64,
}

/// A time in which nothing is served; what is being served goes on afterwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stall {
    /// When it begins.
    pub start_ns: u64,
    /// How long it lasts.
    pub lasts_ns: u64,
}

/// A server with one queue, served in the order of arrival.
#[derive(Debug, Clone, PartialEq)]
pub struct SimulatedServer {
    /// How many operations are served at once; `None` for any number.
    pub servers: Option<u32>,
    /// How long each of them is.
    pub service: Service,
    /// Added to every service time, as a long line adds it: it occupies a slot, no server.
    pub delay_ns: u64,
    /// Whether an overload leaves a trace.
    pub memory: Option<OverloadPenalty>,
    /// When it stands still, in order.
    pub stalls: Vec<Stall>,
}

impl SimulatedServer {
    /// A server without delay, memory and stalls.
    pub fn new(servers: u32, service: Service) -> Self {
        Self {
            servers: Some(servers.max(1)),
            service,
            delay_ns: 0,
            memory: None,
            stalls: Vec::new(),
        }
    }
}

/// A [`SimulatedServer`] at work.
#[derive(Debug)]
pub struct SimulatedServerState {
    server: SimulatedServer,
    /// When each of its servers is free.
    free_at: BinaryHeap<Reverse<u64>>,
    /// Until when it remembers an overload.
    slow_until: u64,
    /// Stalls that were over when the last operation was sent.
    over: usize,
    generator: Generator,
}

impl SimulatedServerState {
    /// An idle one, whose random service times are drawn from `generator`.
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

    /// When an operation ends that is sent now, while others are in flight.
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

    /// The stalls that are not over yet; operations are sent in the order of time.
    fn stalls_from(&mut self, now: u64) -> &[Stall] {
        let stalls = self.server.stalls.iter().skip(self.over);
        self.over += stalls.take_while(|stall| stall.over() <= now).count();
        self.server.stalls.get(self.over..).unwrap_or_default()
    }

    /// How long the next operation is served.
    fn service(&mut self, now: u64, in_flight: usize) -> u64 {
        let nanos = match self.server.service {
            Service::Exponential { mean_ns } => exponential(&mut self.generator, mean_ns),
            Service::Fixed { ns } => ns as f64,
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

/// The first moment from `begins` on at which something is served.
fn after_stalls(stalls: &[Stall], begins: u64) -> u64 {
    let begun = stalls.iter().take_while(|stall| stall.start_ns <= begins);
    let last = begun.last().map_or(0, Stall::over);
    begins.max(last)
}

/// When a service that begins at `begins` ends.
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
