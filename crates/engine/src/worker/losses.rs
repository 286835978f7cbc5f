//! Clients that have lost their connections: a worker starts nothing for those that were given up,
//! and ends when it has no others.

use super::client::WorkerClientState;
use super::{SampleSink, Worker};
use crate::backend::{Backend, BackendError, ConnectionEvent};
use filestone_protocol::workload::Workload;
use filestone_workload::recording::Role;
use filestone_workload::time::Timestamp;

/// Interval between checks whether only lost clients are left.
const LOOK_NANOS: u64 = 50_000_000;

/// The lost clients of a worker.
#[derive(Debug, Default)]
pub(super) struct LostClients {
    count: u32,
    /// Time of the next check whether only lost clients are left.
    look_at: Timestamp,
    /// Whether the backend has given them up.
    are_given_up: bool,
}

impl LostClients {
    /// Returns whether all of these clients are lost.
    pub fn are_all<W>(&self, clients: &[WorkerClientState<W>]) -> bool {
        self.count as usize == clients.len()
    }
}

impl<B: Backend, W: Workload<B::Language>, K: SampleSink> Worker<'_, B, W, K> {
    /// Handles lost and returned clients. Returns an error if all clients of the run are lost.
    #[inline]
    pub(super) fn follow_connections(&mut self, now: Timestamp) -> Result<(), BackendError> {
        while let Some(change) = self.line.backend.next_change() {
            self.take_change(change, now);
        }
        match self.lost.count {
            0 => Ok(()),
            _ => self.check_losses(now),
        }
    }

    #[cold]
    fn take_change(&mut self, change: ConnectionEvent, now: Timestamp) {
        let client = match change {
            ConnectionEvent::Made(client, nanos) => {
                if let Some(state) = self.clients.get_mut(client as usize) {
                    state.workload.connected(nanos);
                }
                return;
            }
            ConnectionEvent::Lost(client)
            | ConnectionEvent::GivenUp(client)
            | ConnectionEvent::Back(client) => client,
        };
        let Some(state) = self.clients.get_mut(client as usize) else {
            return;
        };
        if matches!(change, ConnectionEvent::GivenUp(_)) {
            // Operations that were due until now and found no slot count as skipped.
            let (opened, kind) = (self.schedule.window_start, self.measured_kind);
            let (end, books) = (now.min(self.schedule.window_end), &mut self.line.books);
            state.skip_due(opened, end, |skipped, times| {
                books.skip(skipped.unwrap_or(kind), Role::Measured, times);
            });
            state.slots.mark_failed();
            state.workload.mark_failed();
        }
        let slots = &mut state.slots;
        let is_lost = !matches!(change, ConnectionEvent::Back(_));
        if slots.is_lost == is_lost {
            return;
        }
        slots.is_lost = is_lost;
        let all = self.clients.len() as u32;
        if is_lost {
            self.lost.count += 1;
            if self.lost.count == all
                && let Some(live_workers) = self.signals.live_workers
            {
                live_workers.remove();
            }
        } else {
            if self.lost.count == all
                && let Some(live_workers) = self.signals.live_workers
            {
                live_workers.add();
            }
            self.lost.count -= 1;
        }
    }

    #[cold]
    fn check_losses(&mut self, now: Timestamp) -> Result<(), BackendError> {
        let is_all = self.lost.are_all(&self.clients);
        if is_all
            && self
                .signals
                .live_workers
                .is_none_or(|live_workers| live_workers.is_empty())
        {
            return Err(self.line.backend.loss());
        }
        // A run by count ends when the other clients are done.
        let is_by_count = self.schedule.window_end == Timestamp::MAX;
        if is_by_count && !self.lost.are_given_up && now >= self.lost.look_at {
            self.lost.look_at = now.after_nanos(LOOK_NANOS);
            if !is_all && self.others_are_done() {
                self.give_up_lost();
            }
        }
        Ok(())
    }

    /// Returns whether all connected clients are done.
    fn others_are_done(&self) -> bool {
        let mut others = self.clients.iter().map(|client| &client.slots);
        others.all(|slots| slots.is_lost || slots.is_done())
    }

    /// Gives up the clients that are lost, and from now on those that will be.
    pub(super) fn give_up_lost(&mut self) {
        self.lost.are_given_up = true;
        self.line.backend.give_up_lost();
    }
}
