//! A backend that does nothing: every operation succeeds at once. It shows the cost of the worker
//! loop, the workload and the recording.

use crate::backend::adaptive_spin::SPIN_NANOS;
use crate::backend::sockets::timespec;
use crate::backend::{Backend, BackendError, WaitLimit};
use filestone_host::clock::Clock;
use filestone_workload::completions::CompletionBatch;
use filestone_workload::language::Operations;
use filestone_workload::operation::{Completion, Operation, SlotId};
use filestone_workload::time::Timestamp;

/// Completes every operation at the next wait.
#[derive(Debug)]
pub struct Null {
    clock: Clock,
    submitted: Vec<SlotId>,
    sleeps: bool,
}

impl Null {
    /// Returns a null backend with room for `slots` operations in flight. It spins while idle.
    pub fn new(clock: Clock, slots: usize) -> Self {
        Self {
            clock,
            submitted: Vec::with_capacity(slots),
            sleeps: false,
        }
    }

    /// Returns a null backend that waits as sockets do: it sleeps until shortly before the moment,
    /// then spins. It shows the lateness of timed starts on this host.
    pub fn sleeping(clock: Clock, slots: usize) -> Self {
        Self {
            sleeps: true,
            ..Self::new(clock, slots)
        }
    }
}

impl Backend for Null {
    type Language = Operations;

    fn now(&mut self) -> Timestamp {
        self.clock.now()
    }

    fn recent(&self) -> Timestamp {
        self.clock.now()
    }

    fn submit(&mut self, ticket: SlotId, _operation: Operation, _now: Timestamp) {
        self.submitted.push(ticket);
    }

    fn repeat(&mut self, client: u32, slots: &[u32]) {
        self.submitted.extend(slots.iter().map(|slot| SlotId {
            client,
            slot: *slot,
        }));
    }

    fn wait(
        &mut self,
        until: WaitLimit,
        completed: &mut CompletionBatch,
    ) -> Result<(), BackendError> {
        let until = until.first();
        let mut now = self.clock.now();
        let sleep = until.nanos_since(now).saturating_sub(SPIN_NANOS);
        if self.sleeps && self.submitted.is_empty() && sleep > 0 {
            match rustix::event::poll(&mut [], Some(&timespec(sleep))) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => {
                    return Err(BackendError::System {
                        what: "sleep",
                        source: error.into(),
                    });
                }
            }
        }
        while self.submitted.is_empty() && now < until {
            std::hint::spin_loop();
            now = self.clock.now();
        }
        for ticket in self.submitted.drain(..) {
            completed.push(completion(ticket, now, now));
        }
        Ok(())
    }
}

/// Returns a successful completion without bytes.
pub fn completion(ticket: SlotId, sent: Timestamp, done: Timestamp) -> Completion {
    Completion::success(ticket, sent, done)
}
