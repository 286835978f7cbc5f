//! The end of a worker: operations that have not ended, and its result.

use super::client::{SlotActivity, WorkerClientState};
use super::{SampleSink, Worker, WorkerEnd, WorkerResult};
use crate::backend::{Backend, BackendError};
use filestone_measure::measure::processors::ThreadTime;
use filestone_protocol::workload::Workload;
use filestone_workload::completions::CompletionBatch;
use filestone_workload::operation::SlotId;
use filestone_workload::time::Timestamp;

impl<'run, B: Backend, W: Workload<B::Language>, K: SampleSink> Worker<'run, B, W, K> {
    /// Counts the operations that have not ended. An operation that waited longer than a call may
    /// take has timed out: it has many calls, and each of them was answered. Other operations are
    /// in flight.
    fn count_unended(&mut self, now: Timestamp) {
        let drain_nanos = self.schedule.drain_nanos;
        let is_waited_out = |end: Timestamp| now > end.after_nanos(drain_nanos);
        let has_timed_out = !self.is_interrupted && self.end.is_some_and(is_waited_out);
        let books = &mut self.line.books;
        for (client, WorkerClientState { slots, .. }) in (0..).zip(&self.clients) {
            for ((slot, state), due) in (0..).zip(&slots.slots).zip(&slots.due) {
                if state.under_way != SlotActivity::Measured || !books.is_measured(*due) {
                    continue;
                }
                if has_timed_out {
                    let ready = state.ready.max(*due);
                    books.record(
                        &state.timed_out(SlotId { client, slot }, *due, ready, now),
                        1,
                    );
                } else {
                    books.leave_in_flight(state.kind, state.role);
                }
            }
        }
    }

    pub(super) fn finish(
        mut self,
        now: Timestamp,
        lost: Option<BackendError>,
    ) -> WorkerResult<B, W> {
        self.note_costs();
        let mut abandoned = CompletionBatch::default();
        self.line.backend.abort(&mut abandoned);
        // ClientSlots do not continue from here: new operations would never be sent.
        abandoned
            .iter()
            .for_each(|completion| self.end_operation(&completion));
        self.count_unended(now);
        let window_end = self.end.unwrap_or(now);
        let connections = self.line.backend.connection_counts(window_end);
        self.line.books.finish(now);
        let end = WorkerEnd {
            window_end,
            is_interrupted: self.is_interrupted,
            ends_run: lost.is_some(),
            lost,
            connections,
            stamped: self.line.backend.stamped(),
            time: ThreadTime {
                thread: self.index,
                ..self.time
            },
        };
        WorkerResult {
            end,
            workloads: self
                .clients
                .into_iter()
                .map(|client| client.workload)
                .collect(),
            backend: self.line.backend,
        }
    }
}
