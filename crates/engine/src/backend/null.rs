//! A backend that does nothing: every operation succeeds at once. It shows what
//! the worker loop, the workload and the recording cost by themselves.

use crate::backend::{Backend, BackendError};
use crate::clock::Clock;
use filestone_model::operation::{Answer, Completion, Operation, Outcome, Ticket};
use filestone_model::time::Moment;

/// Completes every operation at the next wait.
#[derive(Debug)]
pub struct Null {
    clock: Clock,
    submitted: Vec<Ticket>,
}

impl Null {
    /// A null backend with room for `slots` operations in flight.
    pub fn new(clock: Clock, slots: usize) -> Self {
        Self {
            clock,
            submitted: Vec::with_capacity(slots),
        }
    }
}

impl Backend for Null {
    fn now(&mut self) -> Moment {
        self.clock.now()
    }

    fn submit(&mut self, ticket: Ticket, _operation: Operation, _now: Moment) {
        self.submitted.push(ticket);
    }

    fn wait(&mut self, until: Moment, completed: &mut Vec<Completion>) -> Result<(), BackendError> {
        let mut now = self.clock.now();
        while self.submitted.is_empty() && now < until {
            std::hint::spin_loop();
            now = self.clock.now();
        }
        completed.extend(
            self.submitted
                .drain(..)
                .map(|ticket| completion(ticket, now, now)),
        );
        Ok(())
    }
}

/// A successful completion without bytes.
pub(crate) fn completion(ticket: Ticket, sent: Moment, done: Moment) -> Completion {
    Completion {
        ticket,
        outcome: Outcome::Ok,
        answer: Answer::Plain,
        usable: Moment::ZERO,
        sent,
        done,
        calls: 1,
        retransmissions: 0,
        bytes_sent: 0,
        bytes_received: 0,
        data_bytes: 0,
    }
}
