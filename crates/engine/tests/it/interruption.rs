//! How the worker loop ends before its time, in virtual time: nothing is begun
//! after the end, and what is in flight is not waited for too long.

use crate::support::{Nulls, SECOND, plan, server};
use filestone_engine::backend::{Backend, BackendError, WaitLimit};
use filestone_engine::worker::{
    IntervalSink, Worker, WorkerClient, WorkerControl, WorkerEnd, new_buffer, own_books,
};
use filestone_plan::plan::{ArrivalsPlan, Plan};
use filestone_testing::Simulated;
use filestone_testing::queueing::{ServiceDistribution, Stall};
use filestone_workload::completions::CompletionBatch;
use filestone_workload::language::Operations;
use filestone_workload::operation::{Completion, Operation, Outcome, SlotId};
use filestone_workload::recording::{IntervalBuffer, Ledger};
use filestone_workload::time::Timestamp;
use std::sync::atomic::{AtomicBool, Ordering};

const MS: u64 = 1_000_000;

/// Presses ^C when the first interval is handed over.
struct Impatient<'s> {
    plan: &'s Plan,
    stop: &'s AtomicBool,
    ledger: &'s mut Ledger,
    last: &'s mut Timestamp,
}

impl IntervalSink for Impatient<'_> {
    fn empty(&mut self) -> Option<Box<IntervalBuffer>> {
        Some(Box::new(new_buffer(self.plan)))
    }
    fn full(&mut self, buffer: Box<IntervalBuffer>) {
        self.stop.store(true, Ordering::Relaxed);
        self.ledger.add(&buffer.kinds[0].ledger);
        *self.last = buffer.end;
    }
}

/// Runs until ^C after the first interval; gives the end, the ledger and the
/// moment at which the loop was left.
fn interrupted(
    plan: &Plan,
    backend: impl Backend<Language = Operations>,
) -> (WorkerEnd, Ledger, Timestamp) {
    let stop = AtomicBool::new(false);
    let (mut ledger, mut last) = (Ledger::default(), Timestamp::ZERO);
    let sink = Impatient {
        plan,
        stop: &stop,
        ledger: &mut ledger,
        last: &mut last,
    };
    let end = Worker::new(
        plan,
        0,
        WorkerClient::of_worker(plan, 0, |_| Nulls),
        backend,
        own_books(plan, sink),
        WorkerControl {
            stop: &stop,
            end_run: &AtomicBool::new(false),
            offer: None,
            live_workers: None,
        },
    )
    .run();
    assert_eq!(ledger.missing(), 0, "{ledger:?}");
    (end, ledger, last)
}

#[test]
fn a_closed_loop_begins_nothing_after_it_was_interrupted() {
    let plan = plan(ArrivalsPlan::Closed, 4, 60);
    let backend = Simulated::new(server(ServiceDistribution::Fixed { ns: MS }, None), 1);
    let (end, ledger, left) = interrupted(&plan, backend);
    assert!(end.is_interrupted);
    assert!(left <= Timestamp::from_nanos(SECOND + 3 * MS), "{left:?}");
    // Four slots, one second, and what was in flight at its end.
    assert!((4000..=4008).contains(&ledger.ok), "{ledger:?}");
    assert_eq!(ledger.in_flight, 0);
}

#[test]
fn an_interruption_also_ends_the_drain() {
    let mut frozen = server(ServiceDistribution::Fixed { ns: MS }, None);
    frozen.stalls.push(Stall {
        start_ns: SECOND / 2,
        lasts_ns: 1000 * SECOND - SECOND / 2,
    });
    let plan = plan(ArrivalsPlan::Closed, 4, 1);
    let (end, ledger, left) = interrupted(&plan, Simulated::new(frozen, 1));
    assert!(end.is_interrupted);
    assert_eq!(end.window_end, Timestamp::from_nanos(SECOND));
    assert!(left < Timestamp::from_nanos(2 * SECOND), "{left:?}");
    assert_eq!(ledger.in_flight, 4);
}

/// A server that is gone: nothing is ever sent.
struct Gone(Vec<SlotId>);

impl Backend for Gone {
    type Language = Operations;

    fn now(&mut self) -> Timestamp {
        Timestamp::ZERO
    }
    fn recent(&self) -> Timestamp {
        Timestamp::ZERO
    }
    fn submit(&mut self, ticket: SlotId, _operation: Operation, _now: Timestamp) {
        self.0.push(ticket);
    }
    fn repeat(&mut self, _client: u32, _slots: &[u32]) {}
    fn wait(&mut self, _until: WaitLimit, _: &mut CompletionBatch) -> Result<(), BackendError> {
        Err(BackendError::System {
            what: "reach it",
            source: std::io::ErrorKind::Other.into(),
        })
    }
    fn abort(&mut self, completed: &mut CompletionBatch) {
        for ticket in self.0.drain(..) {
            completed.push(Completion {
                outcome: Outcome::Skipped,
                calls: 0,
                ..Completion::success(ticket, Timestamp::ZERO, Timestamp::ZERO)
            });
        }
    }
}

#[test]
fn what_was_never_sent_is_skipped_and_followed_by_nothing() {
    let (_, ledger, _) = interrupted(&plan(ArrivalsPlan::Closed, 3, 10), Gone(Vec::new()));
    assert_eq!((ledger.scheduled, ledger.skipped), (3, 3));
    assert_eq!(ledger.in_flight, 0);
}
