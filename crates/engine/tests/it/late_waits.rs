//! Waits that are not back sharp for what only needs attention, in virtual time: what was in flight stays
//! in the interval that it was in flight in.

use crate::support::{Nulls, SECOND, plan, server};
use filestone_engine::backend::simulated::Simulated;
use filestone_engine::backend::{Backend, BackendError, Until};
use filestone_engine::worker::{IntervalSink, Member, Signals, Worker, new_buffer, own_books};
use filestone_model::completions::Completions;
use filestone_model::language::Operations;
use filestone_model::measure::IntervalBuffer;
use filestone_model::operation::{Completion, Operation, Ticket};
use filestone_model::plan::{ArrivalsPlan, Plan};
use filestone_model::queueing::Service;
use filestone_model::time::Moment;
use std::sync::atomic::AtomicBool;

const MS: u64 = 1_000_000;
/// As a `recv` with a time-out of 10 ms may be, at 100 ticks per second.
const LATE_NANOS: u64 = 20 * MS;

/// Is back late, but for completions and for what is due.
struct Late(Simulated);

impl Backend for Late {
    type Language = Operations;

    fn now(&mut self) -> Moment {
        self.0.now()
    }
    fn recent(&self) -> Moment {
        self.0.recent()
    }
    fn submit(&mut self, ticket: Ticket, operation: Operation, now: Moment) {
        self.0.submit(ticket, operation, now);
    }
    fn wait(&mut self, until: Until, completed: &mut Completions) -> Result<(), BackendError> {
        let late = until.attention.after_nanos(LATE_NANOS).min(until.due);
        self.0.wait(Until::sharp(late), completed)
    }
}

/// Says of each operation that it was held until this long before its end, as for want of credits.
struct Holding(Simulated, u64);

impl Backend for Holding {
    type Language = Operations;

    fn now(&mut self) -> Moment {
        self.0.now()
    }
    fn recent(&self) -> Moment {
        self.0.recent()
    }
    fn submit(&mut self, ticket: Ticket, operation: Operation, now: Moment) {
        self.0.submit(ticket, operation, now);
    }
    fn wait(&mut self, until: Until, completed: &mut Completions) -> Result<(), BackendError> {
        let mut ended = Completions::default();
        self.0.wait(until, &mut ended)?;
        for completion in ended.iter() {
            let usable = completion.done.nanos_since(Moment::from_nanos(self.1));
            completed.push(Completion {
                usable: Moment::from_nanos(usable),
                ..completion
            });
        }
        Ok(())
    }
}

/// How long operations were held, summed.
struct Held<'r> {
    plan: &'r Plan,
    nanos: &'r mut u128,
}

impl IntervalSink for Held<'_> {
    fn empty(&mut self) -> Option<Box<IntervalBuffer>> {
        Some(Box::new(new_buffer(self.plan)))
    }
    fn full(&mut self, buffer: Box<IntervalBuffer>) {
        *self.nanos += buffer.counts.held_nanos;
    }
}

/// Of each interval: when it ended, and how long operations were in flight in it, summed.
struct InFlight<'r> {
    plan: &'r Plan,
    told: &'r mut Vec<(u64, u128)>,
}

impl IntervalSink for InFlight<'_> {
    fn empty(&mut self) -> Option<Box<IntervalBuffer>> {
        Some(Box::new(new_buffer(self.plan)))
    }
    fn full(&mut self, buffer: Box<IntervalBuffer>) {
        let end = buffer.end.nanos_since(Moment::ZERO);
        self.told.push((end, buffer.counts.in_flight_nanos));
    }
}

/// One slot asks for a second, and each answer takes so long.
fn told(service_ns: u64) -> Vec<(u64, u128)> {
    let mut plan = plan(ArrivalsPlan::Closed, 1, 1);
    plan.interval_ns = 100 * MS;
    let mut told = Vec::new();
    let sink = InFlight {
        plan: &plan,
        told: &mut told,
    };
    let service = server(Service::Fixed { ns: service_ns }, None);
    let (stop, halt) = (AtomicBool::new(false), AtomicBool::new(false));
    let signals = Signals {
        stop: &stop,
        halt: &halt,
        offer: None,
        hope: None,
    };
    let members = Member::of_worker(&plan, 0, |_| Nulls);
    let backend = Late(Simulated::new(service, 1));
    let books = own_books(&plan, sink);
    let end = Worker::new(&plan, 0, members, backend, books, signals).run();
    assert_eq!(end.window_end, Moment::from_nanos(SECOND));
    told.retain(|(end, _)| *end <= SECOND);
    told
}

#[test]
fn what_was_in_flight_stays_in_its_interval() {
    // Of 250 ms: waits end after a boundary with nothing. Of 7 ms: with an answer, now and then.
    for service_ns in [250 * MS, 7 * MS] {
        let whole = |n: u64| (n * 100 * MS, u128::from(100 * MS));
        let expected: Vec<_> = (1..=10).map(whole).collect();
        assert_eq!(told(service_ns), expected, "{service_ns} ns");
    }
}

#[test]
fn what_a_connection_held_is_counted_within_the_window() {
    let plan = plan(ArrivalsPlan::Closed, 1, 1);
    let mut nanos = 0;
    let sink = Held {
        plan: &plan,
        nanos: &mut nanos,
    };
    let service = server(Service::Fixed { ns: 10 * MS }, None);
    let (stop, halt) = (AtomicBool::new(false), AtomicBool::new(false));
    let signals = Signals {
        stop: &stop,
        halt: &halt,
        offer: None,
        hope: None,
    };
    let members = Member::of_worker(&plan, 0, |_| Nulls);
    let backend = Holding(Simulated::new(service, 1), 6 * MS);
    let books = own_books(&plan, sink);
    Worker::new(&plan, 0, members, backend, books, signals).run();
    // 100 in a second, each for 4 of its 10 ms.
    assert_eq!(nanos, u128::from(400 * MS));
}
