//! A run with a load controller against a simulated server in virtual time.
//!
//! The run behaves like an open loop of the engine. Operations become due independently of the
//! server; an operation that finds no free slot waits, and its response time counts from when it
//! was due; operations that are due and have not started when the load changes are skipped. Each
//! interval becomes an [`IntervalRecord`] with one measured kind.

use super::server::{SimulatedServer, SimulatedServerState};
use filestone_control::load_control::{IntervalResult, LoadController, NextLoad};
use filestone_measure::measure::run_record::{IntervalKindRecord, IntervalRecord, Phase};
use filestone_workload::operation::OpKind;
use filestone_workload::random::{Generator, RandomStream, exponential, stream};
use filestone_workload::recording::distribution::{Distribution, SignificantDigits};
use filestone_workload::recording::ledger::Ledger;
use filestone_workload::recording::sample::Role;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Arrival process of the operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SimulatedArrivals {
    /// Exponentially distributed distances.
    #[default]
    Poisson,
    /// Equal distances.
    Constant,
}

/// A run with a load controller against a simulated server.
#[derive(Debug, Clone, PartialEq)]
pub struct SimulatedRun {
    /// The target.
    pub server: SimulatedServer,
    /// Arrival process of the operations.
    pub arrivals: SimulatedArrivals,
    /// Largest number of operations in flight.
    pub slots: usize,
    /// Length of an interval.
    pub interval_ns: u64,
    /// Time from the end of an interval until the controller's decision takes effect; the interval
    /// in which it does belongs to no load.
    pub reaction_ns: u64,
    /// Latest end of the run.
    pub limit_ns: u64,
    /// Seed of arrivals and service times.
    pub seed: u64,
}

/// Result of a simulated run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SimulatedEnd {
    /// Length of the run, in virtual time.
    pub time_ns: u64,
    /// Whether the controller ended the run, rather than the limit.
    pub is_finished: bool,
    /// Operations by outcome; balanced.
    pub ledger: Ledger,
}

impl SimulatedRun {
    /// Creates a run with Poisson arrivals, 1024 slots, intervals of 250 ms, a reaction of 5 ms and
    /// at most ten minutes.
    pub fn new(server: SimulatedServer, seed: u64) -> Self {
        Self {
            server,
            arrivals: SimulatedArrivals::Poisson,
            slots: 1024,
            interval_ns: 250_000_000,
            reaction_ns: 5_000_000,
            limit_ns: 600_000_000_000,
            seed,
        }
    }

    /// Simulates the run: the controller receives every interval and decides on the next load.
    pub fn steer(&self, steering: &mut impl LoadController) -> SimulatedEnd {
        let mut play = Play::new(self, steering.first());
        let mut end = SimulatedEnd {
            time_ns: 0,
            is_finished: false,
            ledger: Ledger::default(),
        };
        let mut change = None;
        while !end.is_finished && end.time_ns < self.limit_ns {
            let start_ns = end.time_ns;
            end.time_ns = start_ns.saturating_add(self.interval_ns.max(1));
            let offered_load_ops_per_s = play.load;
            let is_whole = change.is_none();
            if let Some(load) = change.take() {
                let at = start_ns + self.reaction_ns.min(self.interval_ns);
                play.until(at);
                play.change_load(at, load);
            }
            play.until(end.time_ns);
            let interval = play.interval(start_ns, end.time_ns);
            end.ledger.add(&interval.ledger);
            let observed = IntervalResult {
                offered_load_ops_per_s: if is_whole {
                    offered_load_ops_per_s
                } else {
                    play.load
                },
                is_whole,
                interval: &interval,
            };
            match steering.next(&observed) {
                NextLoad::Hold => {}
                NextLoad::Set(load) => change = Some(load),
                NextLoad::Finish => end.is_finished = true,
            }
        }
        end.ledger.in_flight = play.in_flight.len() as u64;
        end
    }
}

/// An operation in flight, ordered by its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct InFlight {
    done: u64,
    sent: u64,
    due: u64,
}

/// A run in progress.
struct Play<'run> {
    run: &'run SimulatedRun,
    load: f64,
    /// When the next operation is due, in nanoseconds, not rounded.
    next_due: f64,
    in_flight: BinaryHeap<Reverse<InFlight>>,
    server: SimulatedServerState,
    arrivals: Generator,
    ledger: Ledger,
    response_time: Distribution<u32>,
    service_time: Distribution<u32>,
}

impl<'run> Play<'run> {
    fn new(run: &'run SimulatedRun, load: f64) -> Self {
        let mut play = Self {
            run,
            load,
            next_due: 0.0,
            in_flight: BinaryHeap::new(),
            server: SimulatedServerState::new(
                run.server.clone(),
                stream(run.seed, RandomStream::Workload, 0),
            ),
            arrivals: stream(run.seed, RandomStream::Arrivals, 0),
            ledger: Ledger::default(),
            response_time: Distribution::with_digits(SignificantDigits::Three),
            service_time: Distribution::with_digits(SignificantDigits::Three),
        };
        play.draw_due(0.0);
        play
    }

    /// Samples when the next operation after `last` is due.
    fn draw_due(&mut self, last: f64) {
        let mean = 1e9 / self.load.max(1e-6);
        let distance = match self.run.arrivals {
            SimulatedArrivals::Poisson => exponential(&mut self.arrivals, mean),
            SimulatedArrivals::Constant => mean,
        };
        self.next_due = last + distance;
    }

    /// Offers another load from now on, and skips operations that are due and have not started.
    fn change_load(&mut self, now: u64, load: f64) {
        while self.next_due < now as f64 {
            self.ledger.scheduled += 1;
            self.ledger.skipped += 1;
            self.draw_due(self.next_due);
        }
        self.load = load;
        self.draw_due(now as f64);
    }

    /// Processes all events before `end`.
    fn until(&mut self, end: u64) {
        loop {
            let ends = self.in_flight.peek().map_or(u64::MAX, |next| next.0.done);
            let has_slot = self.in_flight.len() < self.run.slots.max(1);
            let due = self.next_due as u64;
            if ends < end && (ends <= due || !has_slot) {
                self.end_operation();
                if !has_slot && due <= ends {
                    self.start_operation(ends);
                }
            } else if due < end && has_slot {
                self.start_operation(due);
            } else {
                return;
            }
        }
    }

    /// Ends the earliest operation in flight.
    fn end_operation(&mut self) {
        if let Some(Reverse(ended)) = self.in_flight.pop() {
            self.ledger.ok += 1;
            self.response_time.record(ended.done - ended.due);
            self.service_time.record(ended.done - ended.sent);
        }
    }

    /// Sends the operation that is due next, and computes its end.
    fn start_operation(&mut self, sent: u64) {
        let due = self.next_due as u64;
        self.ledger.scheduled += 1;
        let done = self.server.end_of(sent, self.in_flight.len());
        self.in_flight.push(Reverse(InFlight { done, sent, due }));
        self.draw_due(self.next_due);
    }

    /// Returns the record of the interval that ends now, and starts the next one.
    fn interval(&mut self, start_ns: u64, end_ns: u64) -> IntervalRecord {
        let ledger = std::mem::take(&mut self.ledger);
        let kind = IntervalKindRecord {
            operation: OpKind::Null,
            role: Role::Measured,
            ledger,
            data_bytes: 0,
            response_time_ns: self.response_time.to_record(),
            service_time_ns: self.service_time.to_record(),
        };
        self.response_time.reset();
        self.service_time.reset();
        IntervalRecord {
            start_ns,
            end_ns,
            phase: Phase::Measure,
            settings: None,
            ledger,
            bytes_sent: 0,
            bytes_received: 0,
            client_cpu_ns: 0,
            kinds: vec![kind],
        }
    }
}

#[cfg(test)]
mod tests;
