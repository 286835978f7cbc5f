//! Changes of the offered load and of control commands during a run.

use super::{SampleSink, Worker};
use crate::backend::Backend;
use filestone_protocol::workload::Workload;
use filestone_workload::time::Timestamp;
use std::cmp::Reverse;

impl<'run, B: Backend, W: Workload<B::Language>, K: SampleSink> Worker<'run, B, W, K> {
    /// Applies a change of the offered load, if there is one.
    #[inline]
    pub(super) fn apply_offered_load(&mut self, now: Timestamp) {
        let Some(offer) = self.signals.offer else {
            return;
        };
        if self.end.is_none()
            && let Some(news) = offer.news(self.index)
        {
            self.change_load(news.load_ops_per_s, now);
            offer.follow(self.index, news, now);
        }
    }

    /// Wakes the clients that wait for a moment and have received a control command in the
    /// meantime.
    #[inline]
    pub(super) fn apply_control(&mut self, now: Timestamp) {
        if let Some(orders) = &self.orders {
            let count = orders.now();
            if count != self.orders_mark {
                self.orders_mark = count;
                self.call_waiting(now);
            }
        }
    }

    /// Makes the wake-up times of called clients due now.
    #[cold]
    fn call_waiting(&mut self, now: Timestamp) {
        let clients = &self.clients;
        let is_called = |client: u32| {
            let client = clients.get(client as usize);
            client
                .is_some_and(|client| client.slots.parked.is_some() && client.workload.is_called())
        };
        let waiting = std::mem::take(&mut self.due).into_vec();
        let called = waiting.into_iter().map(|Reverse((due, client))| {
            let due = if is_called(client) { now.min(due) } else { due };
            Reverse((due, client))
        });
        self.due = called.collect();
    }

    /// Changes the load of all clients of the run to `load` operations per second.
    #[cold]
    fn change_load(&mut self, load: f64, now: Timestamp) {
        // A due operation that finds a slot does not belong to a backlog.
        self.start_due(now);
        self.skip_due(now);
        self.due.clear();
        for (place, client) in (0..).zip(&mut self.clients) {
            let slots = &mut client.slots;
            if !slots.arrivals.is_open() {
                continue;
            }
            slots.change_load(load, self.all_clients, now);
            self.due.push(Reverse((slots.next_due, place)));
        }
    }
}
