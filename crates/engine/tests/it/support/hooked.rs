//! A simulated server with functions that see its operations and execute its waits.

use filestone_engine::backend::{Backend, BackendError, WaitLimit};
use filestone_testing::Simulated;
use filestone_workload::completions::CompletionBatch;
use filestone_workload::language::Operations;
use filestone_workload::operation::{Completion, Operation, SlotId};
use filestone_workload::time::Timestamp;

/// A simulated server with two functions: the first sees each submitted operation, the second waits.
pub struct Hooked<A, W>(pub Simulated, pub A, pub W);

impl<A, W> Backend for Hooked<A, W>
where
    A: FnMut(SlotId, Operation, Timestamp),
    W: FnMut(&mut Simulated, WaitLimit, &mut CompletionBatch) -> Result<(), BackendError>,
{
    type Language = Operations;

    fn now(&mut self) -> Timestamp {
        self.0.now()
    }
    fn recent(&self) -> Timestamp {
        self.0.recent()
    }
    fn submit(&mut self, ticket: SlotId, operation: Operation, now: Timestamp) {
        (self.1)(ticket, operation, now);
        self.0.submit(ticket, operation, now);
    }
    fn repeat(&mut self, client: u32, slots: &[u32]) {
        self.0.repeat(client, slots);
    }
    fn wait(
        &mut self,
        until: WaitLimit,
        completed: &mut CompletionBatch,
    ) -> Result<(), BackendError> {
        (self.2)(&mut self.0, until, completed)
    }
}

/// Ignores an operation.
pub fn unseen(_: SlotId, _: Operation, _: Timestamp) {}

/// Returns a wait that changes each completion.
pub fn changing(
    mut change: impl FnMut(&mut Completion),
) -> impl FnMut(&mut Simulated, WaitLimit, &mut CompletionBatch) -> Result<(), BackendError> {
    move |server, until, completed| {
        let mut ended = CompletionBatch::default();
        server.wait(until, &mut ended)?;
        for mut completion in ended.iter() {
            change(&mut completion);
            completed.push(completion);
        }
        Ok(())
    }
}
