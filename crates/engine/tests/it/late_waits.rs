//! Waits that are not back sharp for what only needs attention, in virtual time: what was in flight stays
//! in the interval that it was in flight in.

use crate::support::hooked::{Hooked, changing, unseen};
use crate::support::{Nulls, SECOND, plan, server};
use filestone_engine::backend::{Backend, BackendError, WaitLimit};
use filestone_engine::worker::{
    IntervalSink, Worker, WorkerClient, WorkerControl, new_buffer, own_books,
};
use filestone_plan::plan::{ArrivalsPlan, Plan};
use filestone_testing::Simulated;
use filestone_testing::queueing::ServiceDistribution;
use filestone_workload::completions::CompletionBatch;
use filestone_workload::operation::Completion;
use filestone_workload::recording::IntervalBuffer;
use filestone_workload::time::Timestamp;
use std::sync::atomic::AtomicBool;

const MS: u64 = 1_000_000;
/// As a `recv` with a time-out of 10 ms may be, at 100 ticks per second.
const LATE_NANOS: u64 = 20 * MS;

/// Is back late, but for completions and for what is due.
fn late(
    simulated: &mut Simulated,
    until: WaitLimit,
    completed: &mut CompletionBatch,
) -> Result<(), BackendError> {
    let late = until.attention.after_nanos(LATE_NANOS).min(until.due);
    simulated.wait(WaitLimit::sharp(late), completed)
}

/// Says of an operation that it was held until 6 ms before its end, as for want of credits.
fn hold(completion: &mut Completion) {
    let usable = completion.done.nanos_since(Timestamp::from_nanos(6 * MS));
    completion.usable = Timestamp::from_nanos(usable);
}

/// Hands each interval to a function.
struct Told<'r, F>(&'r Plan, F);

impl<F: FnMut(&IntervalBuffer)> IntervalSink for Told<'_, F> {
    fn empty(&mut self) -> Option<Box<IntervalBuffer>> {
        Some(Box::new(new_buffer(self.0)))
    }
    fn full(&mut self, buffer: Box<IntervalBuffer>) {
        (self.1)(&buffer);
    }
}

/// One slot asks for a second, and each answer takes so long.
fn run<W>(service_ns: u64, wait: W, each: impl FnMut(&IntervalBuffer))
where
    W: FnMut(&mut Simulated, WaitLimit, &mut CompletionBatch) -> Result<(), BackendError>,
{
    let mut plan = plan(ArrivalsPlan::Closed, 1, 1);
    plan.interval_ns = 100 * MS;
    let service = server(ServiceDistribution::Fixed { ns: service_ns }, None);
    let (stop, end_run) = (AtomicBool::new(false), AtomicBool::new(false));
    let signals = WorkerControl {
        stop: &stop,
        end_run: &end_run,
        offer: None,
        live_workers: None,
    };
    let members = WorkerClient::of_worker(&plan, 0, |_| Nulls);
    let backend = Hooked(Simulated::new(service, 1), unseen, wait);
    let books = own_books(&plan, Told(&plan, each));
    let end = Worker::new(&plan, 0, members, backend, books, signals).run();
    assert_eq!(end.window_end, Timestamp::from_nanos(SECOND));
}

#[test]
fn what_was_in_flight_stays_in_its_interval() {
    // Of 250 ms: waits end after a boundary with nothing. Of 7 ms: with an answer, now and then.
    for service_ns in [250 * MS, 7 * MS] {
        let mut told = Vec::new();
        run(service_ns, late, |interval| {
            let end = interval.end.nanos_since(Timestamp::ZERO);
            told.push((end, interval.counts.in_flight_nanos));
        });
        told.retain(|(end, _)| *end <= SECOND);
        let whole = |n: u64| (n * 100 * MS, u128::from(100 * MS));
        let expected: Vec<_> = (1..=10).map(whole).collect();
        assert_eq!(told, expected, "{service_ns} ns");
    }
}

#[test]
fn what_a_connection_held_is_counted_within_the_window() {
    let mut nanos = 0;
    run(10 * MS, changing(hold), |interval| {
        nanos += interval.counts.held_nanos
    });
    // 100 in a second, each for 4 of its 10 ms.
    assert_eq!(nanos, u128::from(400 * MS));
}
