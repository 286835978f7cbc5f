//! Clients that lose their connections, in virtual time: what is counted, and when the run ends.

use crate::support::replays::load;
use crate::support::{Run, SECOND, plan, run_members, run_on};
use filestone_engine::backend::{Backend, BackendError, ConnectionEvent, WaitLimit};
use filestone_engine::worker::WorkerClient;
use filestone_plan::plan::{ArrivalsPlan, LoadName, Pacing, Plan, ReplayPlan, WorkloadPlan};
use filestone_protocol::workload::LoadFile;
use filestone_protocol::workload::load_file::SharedLoad;
use filestone_workload::completions::CompletionBatch;
use filestone_workload::language::{Operations, WorkType};
use filestone_workload::load::{Lines, Load, Script};
use filestone_workload::operation::{Completion, Outcome, SlotId};
use filestone_workload::time::Timestamp;
use std::collections::VecDeque;
use std::marker::PhantomData;
use std::sync::Arc;

const MS: u64 = 1_000_000;

/// What happens to a connection.
#[derive(Clone, Copy)]
enum Event {
    /// It breaks: what is in flight on it is lost, what comes then waits.
    Down(u32),
    Change(ConnectionEvent),
}

/// A server that needs a millisecond for everything, whose connections break as told.
struct Breaking<L = Operations> {
    now: Timestamp,
    events: VecDeque<(Timestamp, Event)>,
    changes: Vec<ConnectionEvent>,
    in_flight: Vec<(SlotId, Timestamp)>,
    waiting: Vec<SlotId>,
    down: Vec<u32>,
    /// When the last of them was lost.
    down_at: Timestamp,
    lost: Vec<u32>,
    /// Whether what is in flight when a connection breaks goes out again, as a load's calls do.
    resends: bool,
    language: PhantomData<fn() -> L>,
}

impl<L> Breaking<L> {
    fn new(events: &[(u64, Event)]) -> Self {
        let events = events.iter();
        Self {
            now: Timestamp::ZERO,
            events: events
                .map(|(at, event)| (Timestamp::from_nanos(*at), *event))
                .collect(),
            changes: vec![],
            in_flight: vec![],
            waiting: vec![],
            down: vec![],
            down_at: Timestamp::ZERO,
            lost: vec![],
            resends: false,
            language: PhantomData,
        }
    }

    fn resending(events: &[(u64, Event)]) -> Self {
        Self {
            resends: true,
            ..Self::new(events)
        }
    }

    fn complete(&self, ticket: SlotId, outcome: Outcome) -> Completion {
        Completion {
            outcome,
            ..Completion::success(ticket, self.now, self.now)
        }
    }

    fn take(&mut self, event: Event, completed: &mut CompletionBatch) {
        match event {
            Event::Down(client) => {
                self.down.push(client);
                self.down_at = self.now;
                let (lost, kept): (Vec<_>, Vec<_>) = std::mem::take(&mut self.in_flight)
                    .into_iter()
                    .partition(|(ticket, _)| ticket.client == client);
                self.in_flight = kept;
                for (ticket, _) in lost {
                    if self.resends {
                        self.waiting.push(ticket);
                        continue;
                    }
                    completed.push(self.complete(ticket, Outcome::Disconnected));
                }
            }
            Event::Change(change) => {
                self.changes.push(change);
                match change {
                    ConnectionEvent::Lost(client) => self.lost.push(client),
                    ConnectionEvent::Made(..) => {}
                    ConnectionEvent::GivenUp(client) => {
                        let outcome = if self.resends {
                            Outcome::Disconnected
                        } else {
                            Outcome::Skipped
                        };
                        for ticket in self.waiting_of(client) {
                            completed.push(self.complete(ticket, outcome));
                        }
                    }
                    ConnectionEvent::Back(client) => {
                        self.down.retain(|down| *down != client);
                        self.lost.retain(|lost| *lost != client);
                        for ticket in self.waiting_of(client) {
                            self.in_flight.push((ticket, self.now.after_nanos(MS)));
                        }
                    }
                }
            }
        }
    }

    fn start(&mut self, ticket: SlotId) {
        if self.down.contains(&ticket.client) {
            self.waiting.push(ticket);
        } else {
            self.in_flight.push((ticket, self.now.after_nanos(MS)));
        }
    }

    fn waiting_of(&mut self, client: u32) -> Vec<SlotId> {
        let (its, others) = std::mem::take(&mut self.waiting)
            .into_iter()
            .partition(|ticket| ticket.client == client);
        self.waiting = others;
        its
    }
}

impl<L: WorkType> Backend for Breaking<L> {
    type Language = L;

    fn now(&mut self) -> Timestamp {
        self.now
    }

    fn recent(&self) -> Timestamp {
        self.now
    }

    fn submit(&mut self, ticket: SlotId, _work: L::WorkItem<'_>, now: Timestamp) {
        self.now = self.now.max(now);
        self.start(ticket);
    }

    fn repeat(&mut self, client: u32, slots: &[u32]) {
        for slot in slots {
            self.start(SlotId {
                client,
                slot: *slot,
            });
        }
    }

    fn wait(
        &mut self,
        until: WaitLimit,
        completed: &mut CompletionBatch,
    ) -> Result<(), BackendError> {
        let until = until.first();
        let done = self.in_flight.iter().map(|(_, done)| *done).min();
        let event = self.events.front().map(|(at, _)| *at);
        let next = [Some(until), done, event].into_iter().flatten().min();
        self.now = self.now.max(next.unwrap_or(until));
        let now = self.now;
        let (ended, going_on): (Vec<_>, Vec<_>) = std::mem::take(&mut self.in_flight)
            .into_iter()
            .partition(|(_, done)| *done <= now);
        self.in_flight = going_on;
        for (ticket, _) in ended {
            completed.push(self.complete(ticket, Outcome::Ok));
        }
        while let Some((_, event)) = self.events.pop_front_if(|(at, _)| *at <= now) {
            self.take(event, completed);
        }
        Ok(())
    }

    fn next_change(&mut self) -> Option<ConnectionEvent> {
        self.changes.pop()
    }

    fn down_since(&self) -> Option<Timestamp> {
        // Runs with it have two clients.
        (self.down.len() == 2).then_some(self.down_at)
    }

    fn give_up_lost(&mut self) {
        for client in std::mem::take(&mut self.lost) {
            let change = Event::Change(ConnectionEvent::GivenUp(client));
            self.events.push_front((self.now, change));
        }
    }
}

/// Two clients, of which the second breaks after 2 s.
fn two(arrivals: ArrivalsPlan, change: impl FnOnce(&mut Plan)) -> Plan {
    let mut plan = plan(arrivals, 1, 10);
    plan.clients = 2;
    change(&mut plan);
    plan
}

const DOWN: (u64, Event) = (2 * SECOND + MS / 2, Event::Down(1));

fn after(seconds: u64, change: ConnectionEvent) -> (u64, Event) {
    (seconds * SECOND + MS / 4, Event::Change(change))
}

fn by_count(events: &[(u64, Event)]) -> Run {
    let plan = two(ArrivalsPlan::Closed, |plan| {
        (plan.duration_ns, plan.count) = (None, Some(10_000));
    });
    run_on(&plan, Breaking::new(events))
}

/// Whole milliseconds up to the end of the window.
fn ended_ms(run: &Run) -> u64 {
    run.end.window_end.nanos() / MS
}

#[test]
fn a_client_that_is_given_up_costs_its_own_share_only() {
    let run = by_count(&[DOWN, after(3, ConnectionEvent::GivenUp(1))]);
    let ledger = run.totals.ledger;
    // 5000 of the first; of the second 2000, what was in flight, and what waited.
    assert_eq!(
        (ledger.ok, ledger.disconnected, ledger.skipped),
        (7000, 1, 1)
    );
    assert_eq!(ledger.scheduled, 7002);
    assert!(run.end.lost.is_none());
    assert_eq!(ended_ms(&run), 5000);
}

#[test]
fn a_run_by_count_does_not_wait_for_a_client_that_does_not_come_back() {
    let run = by_count(&[DOWN, after(3, ConnectionEvent::Lost(1))]);
    let ledger = run.totals.ledger;
    assert_eq!(
        (ledger.ok, ledger.disconnected, ledger.skipped),
        (7000, 1, 1)
    );
    assert!(run.end.lost.is_none());
    assert!((5000..5200).contains(&ended_ms(&run)), "{}", ended_ms(&run));
}

#[test]
fn a_client_that_comes_back_does_the_rest() {
    let (lost, back) = (ConnectionEvent::Lost(1), ConnectionEvent::Back(1));
    let run = by_count(&[DOWN, after(3, lost), after(4, back)]);
    let ledger = run.totals.ledger;
    assert_eq!(
        (ledger.ok, ledger.disconnected, ledger.skipped),
        (9999, 1, 0)
    );
    // 2999 more from 4.00025 s on, one of which has waited since 2.0005 s.
    assert_eq!(run.end.window_end.nanos(), 6999 * MS + MS / 4);
    assert_eq!(run.totals.response_time_ns.max, 2000 * MS + 3 * MS / 4);
}

#[test]
fn a_run_without_any_client_is_over() {
    for change in [ConnectionEvent::Lost, ConnectionEvent::GivenUp] {
        let events = [
            (2 * SECOND + MS / 2, Event::Down(0)),
            DOWN,
            after(3, change(0)),
            after(3, change(1)),
        ];
        let run = run_on(&two(ArrivalsPlan::Closed, |_| {}), Breaking::new(&events));
        assert!(run.end.lost.is_some());
        assert_eq!(ended_ms(&run), 3000);
        let ledger = run.totals.ledger;
        assert_eq!((ledger.ok, ledger.disconnected), (4000, 2));
    }
}

#[test]
fn an_open_loop_counts_what_was_due_until_its_client_was_given_up() {
    let arrivals = ArrivalsPlan::Constant {
        offered_load_ops_per_s: 1000.0,
    };
    let events = [DOWN, after(3, ConnectionEvent::GivenUp(1))];
    let run = run_on(&two(arrivals, |_| {}), Breaking::new(&events));
    // 500 per second each: ten seconds of the first, three of the second. The operation that
    // the second has due at 3.001 s is after its end.
    let ledger = run.totals.ledger;
    assert_eq!(ledger.scheduled, 5000 + 1500, "{ledger:?}");
    assert_eq!(ledger.ok + ledger.disconnected + ledger.skipped, 6500);
    assert!((498..=501).contains(&ledger.skipped), "{ledger:?}");
    assert_eq!(ended_ms(&run), 10_000);
}

#[test]
fn the_end_of_a_run_is_not_put_off_by_a_lost_client() {
    let plan = two(ArrivalsPlan::Closed, |plan| plan.timeout_ns = 60 * SECOND);
    let mut backend = Breaking::new(&[DOWN, after(3, ConnectionEvent::Lost(1))]);
    // What is waited for beyond the end of the run would be seen.
    let far = Timestamp::from_nanos(30 * SECOND);
    backend.events.push_back((far, Event::Down(0)));
    let run = run_on(&plan, backend);
    assert_eq!(run.totals.ledger.skipped, 1, "what waited");
    assert_eq!(run.totals.ledger.in_flight, 0);
}

/// Two clients of loads for ten seconds, client i of load i, whose calls go out again.
fn replayed(loads: [Arc<Load>; 2], pacing: Pacing, events: &[(u64, Event)]) -> Run {
    let replay = ReplayPlan {
        pacing,
        ..ReplayPlan::new(Vec::<LoadName>::new(), loads[0].kinds())
    };
    let plan = two(ArrivalsPlan::Closed, |plan| {
        plan.workload = WorkloadPlan::LoadFile(replay.clone());
    });
    let shared = Arc::new(SharedLoad::new(&plan, &replay));
    let members = (0..2).zip(loads).map(|(number, load)| WorkerClient {
        number,
        workload: LoadFile::new(
            number,
            Script::new(load, number, 2, 1),
            pacing,
            Arc::clone(&shared),
        ),
    });
    run_members(
        &plan,
        members.collect(),
        Breaking::<Lines>::resending(events),
    )
}

/// A line for each millisecond of the run, and more.
fn many_lines() -> Arc<Load> {
    let line = |ms: u32| format!("{:.3} GETATTR3 \"/a\" 0x0\n", f64::from(ms) / 1000.0);
    load(&(0..12_000).map(line).collect::<String>())
}

#[test]
fn a_client_of_a_load_that_comes_back_goes_on_with_its_line() {
    let (lost, back) = (ConnectionEvent::Lost(1), ConnectionEvent::Back(1));
    let events = [DOWN, after(3, lost), after(4, back)];
    let run = replayed([many_lines(), many_lines()], Pacing::Closed, &events);
    let ledger = run.totals.ledger;
    // The line that began at 2 s ends at 4.00125 s; 5998 more end by 10 s, and one begins.
    assert_eq!(
        (ledger.ok, ledger.scheduled),
        (10_001 + 2000 + 6000, 18_001)
    );
    assert_eq!((ledger.disconnected, ledger.skipped), (0, 0));
    assert_eq!(run.totals.response_time_ns.max, 2001 * MS + MS / 4);
    assert!(run.end.lost.is_none());
}

#[test]
fn a_client_of_a_load_that_is_given_up_ends_with_its_line() {
    let events = [DOWN, after(3, ConnectionEvent::GivenUp(1))];
    let loads = || [many_lines(), many_lines()];
    let ledger = replayed(loads(), Pacing::Closed, &events).totals.ledger;
    assert_eq!((ledger.ok, ledger.disconnected), (12_001, 1));
    assert_eq!(ledger.scheduled, 12_002, "each line ends once: {ledger:?}");
    // By stamps: up to 3 s it was late, and after that it was to do nothing more.
    let ledger = replayed(loads(), Pacing::Stamps { speed: 1.0 }, &events)
        .totals
        .ledger;
    assert_eq!(ledger.scheduled, 10_001 + 3001, "{ledger:?}");
    assert_eq!((ledger.disconnected, ledger.skipped), (1, 1000));
}

#[test]
fn nobody_waits_for_a_sequence_point_of_a_client_that_is_given_up() {
    let waits = load("WAITSP 1 5\nGETATTR3 \"/a\" 0x0\nSLEEP 100000000\n");
    // It is lost while it does nothing.
    let idle = load("GETATTR3 \"/a\" 0x0\nSLEEP 100000000\nSETSP 5\n");
    let events = [DOWN, after(3, ConnectionEvent::GivenUp(1))];
    let ledger = replayed([waits, idle], Pacing::Closed, &events)
        .totals
        .ledger;
    assert_eq!((ledger.ok, ledger.scheduled), (2, 2));
}

#[test]
fn a_server_that_is_lost_when_the_window_is_over_costs_what_was_in_flight() {
    let at = |nanos, event| (10 * SECOND + nanos, event);
    let events = [
        at(MS / 4, Event::Down(0)),
        at(MS / 4, Event::Down(1)),
        at(MS / 2, Event::Change(ConnectionEvent::GivenUp(0))),
        at(MS / 2, Event::Change(ConnectionEvent::GivenUp(1))),
    ];
    let run = replayed([many_lines(), many_lines()], Pacing::Closed, &events);
    assert!(run.end.lost.is_none());
    let ledger = run.totals.ledger;
    assert_eq!((ledger.ok, ledger.disconnected), (20_000, 2));
}

#[test]
fn a_server_that_is_lost_in_the_window_is_lost_although_that_is_known_later() {
    let loss = |event, after| (9 * SECOND + MS / 2 + after, event);
    let events = [
        loss(Event::Down(0), 0),
        loss(Event::Down(1), 0),
        loss(Event::Change(ConnectionEvent::GivenUp(0)), 2 * SECOND),
        loss(Event::Change(ConnectionEvent::GivenUp(1)), 2 * SECOND),
    ];
    // One call of each client every five seconds: none is in flight then.
    let arrivals = ArrivalsPlan::Constant {
        offered_load_ops_per_s: 0.4,
    };
    let plan = two(arrivals, |_| {});
    let run = run_on(&plan, Breaking::new(&events));
    assert!(run.end.lost.is_some());
    let back = [
        loss(Event::Down(0), 0),
        loss(Event::Down(1), 0),
        loss(Event::Change(ConnectionEvent::Back(1)), 2 * SECOND),
    ];
    assert!(run_on(&plan, Breaking::new(&back)).end.lost.is_none());
}
