//! A server that exists only as arithmetic, in virtual time.
//!
//! Its response times can be worked out on paper, so the worker loop, the
//! arrivals and the statistics above it are tested against known answers, in
//! milliseconds of real time.

use crate::backend::null::completion;
use crate::backend::{Backend, BackendError};
use filestone_model::completions::Completions;
use filestone_model::operation::{Operation, Ticket};
use filestone_model::random::{Generator, Purpose, exponential, stream};
use filestone_model::time::Moment;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// How long the simulated server works on one operation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ServiceTime {
    /// Always as long, in nanoseconds.
    Fixed(u64),
    /// Exponentially distributed with this mean, in nanoseconds.
    Exponential(f64),
}

/// What the simulated server is.
#[derive(Debug, Clone, PartialEq)]
pub struct SimulatedServer {
    /// How long it works on one operation.
    pub service_time: ServiceTime,
    /// How many operations it works on at once; `None` for any number.
    pub servers: Option<usize>,
    /// When it does nothing: from, to.
    pub frozen: Option<(Moment, Moment)>,
    /// Where random service times come from.
    pub seed: u64,
}

/// Runs operations against a [`SimulatedServer`] in virtual time.
#[derive(Debug)]
pub struct Simulated {
    server: SimulatedServer,
    now: Moment,
    /// When each of the server's hands comes free.
    hands: BinaryHeap<Reverse<Moment>>,
    /// Operations by when they will be done; the number keeps ties in order.
    in_flight: BinaryHeap<Reverse<(Moment, u64)>>,
    tickets: Vec<(Ticket, Moment)>,
    free: Vec<usize>,
    generator: Generator,
}

impl Simulated {
    /// A simulation that starts at the epoch.
    pub fn new(server: SimulatedServer) -> Self {
        let hands = (0..server.servers.unwrap_or(0))
            .map(|_| Reverse(Moment::ZERO))
            .collect();
        Self {
            generator: stream(server.seed, Purpose::Workload, u64::MAX),
            server,
            now: Moment::ZERO,
            hands,
            in_flight: BinaryHeap::new(),
            tickets: Vec::new(),
            free: Vec::new(),
        }
    }

    fn service_nanos(&mut self) -> u64 {
        match self.server.service_time {
            ServiceTime::Fixed(nanos) => nanos,
            ServiceTime::Exponential(mean) => exponential(&mut self.generator, mean).round() as u64,
        }
    }

    /// When an operation that begins at `start` ends: work stops while frozen.
    fn end_of(&self, start: Moment, nanos: u64) -> Moment {
        let end = start.after_nanos(nanos);
        match self.server.frozen {
            Some((from, to)) if start >= from && start < to => to.after_nanos(nanos),
            Some((from, to)) if start < from && end > from => end.after_nanos(to.nanos_since(from)),
            _ => end,
        }
    }
}

impl Backend for Simulated {
    fn now(&mut self) -> Moment {
        self.now
    }

    fn recent(&self) -> Moment {
        self.now
    }

    fn submit(&mut self, ticket: Ticket, _operation: Operation, now: Moment) {
        let nanos = self.service_nanos();
        let begin = match self.hands.pop() {
            Some(Reverse(free_at)) => now.max(free_at),
            None => now,
        };
        let end = self.end_of(begin, nanos);
        if self.server.servers.is_some() {
            self.hands.push(Reverse(end));
        }
        let place = self.free.pop().unwrap_or(self.tickets.len());
        if place == self.tickets.len() {
            self.tickets.push((ticket, now));
        } else {
            self.tickets[place] = (ticket, now);
        }
        self.in_flight.push(Reverse((end, place as u64)));
    }

    fn repeat(&mut self, client: u32, slots: &[u32]) {
        for slot in slots {
            self.submit(
                Ticket {
                    client,
                    slot: *slot,
                },
                Operation::Null,
                self.now,
            );
        }
    }

    fn wait(&mut self, until: Moment, completed: &mut Completions) -> Result<(), BackendError> {
        let next = self
            .in_flight
            .peek()
            .map_or(Moment::NEVER, |Reverse((end, _))| *end);
        self.now = self.now.max(until.min(next));
        while let Some(Reverse((end, place))) = self.in_flight.peek().copied() {
            if end > self.now {
                break;
            }
            self.in_flight.pop();
            self.free.push(place as usize);
            let (ticket, sent) = self.tickets[place as usize];
            completed.push(completion(ticket, sent, end));
        }
        Ok(())
    }
}
