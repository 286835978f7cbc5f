//! A simulated server in virtual time.
//!
//! The response times are known analytically, so tests compare the worker loop, the arrivals and
//! the statistics above it with exact values, in milliseconds of real time.

use crate::queueing::{SimulatedServer, SimulatedServerState};
use filestone_engine::backend::null::completion;
use filestone_engine::backend::{Backend, BackendError, WaitLimit};
use filestone_workload::completions::CompletionBatch;
use filestone_workload::language::Operations;
use filestone_workload::operation::{Operation, SlotId};
use filestone_workload::random::{RandomStream, stream};
use filestone_workload::time::Timestamp;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Runs operations against a [`SimulatedServer`] in virtual time.
#[derive(Debug)]
pub struct Simulated {
    server: SimulatedServerState,
    now: Timestamp,
    /// Operations by their completion time; the number keeps ties in order.
    in_flight: BinaryHeap<Reverse<(Timestamp, u64)>>,
    tickets: Vec<(SlotId, Timestamp)>,
    free: Vec<usize>,
}

impl Simulated {
    /// Returns a simulation that starts at the epoch; `seed` determines random service times.
    pub fn new(server: SimulatedServer, seed: u64) -> Self {
        let generator = stream(seed, RandomStream::Workload, u64::MAX);
        Self {
            server: SimulatedServerState::new(server, generator),
            now: Timestamp::ZERO,
            in_flight: BinaryHeap::new(),
            tickets: Vec::new(),
            free: Vec::new(),
        }
    }
}

impl Backend for Simulated {
    type Language = Operations;

    fn now(&mut self) -> Timestamp {
        self.now
    }

    fn recent(&self) -> Timestamp {
        self.now
    }

    fn submit(&mut self, ticket: SlotId, _operation: Operation, now: Timestamp) {
        let end = self.server.end_of(now.nanos(), self.in_flight.len());
        let end = Timestamp::from_nanos(end);
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
                SlotId {
                    client,
                    slot: *slot,
                },
                Operation::Null,
                self.now,
            );
        }
    }

    fn wait(
        &mut self,
        until: WaitLimit,
        completed: &mut CompletionBatch,
    ) -> Result<(), BackendError> {
        let until = until.first();
        let next = self
            .in_flight
            .peek()
            .map_or(Timestamp::MAX, |Reverse((end, _))| *end);
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
