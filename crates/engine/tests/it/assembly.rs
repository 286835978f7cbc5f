//! Any run, in virtual time: whatever the server does and however the workers'
//! buffers arrive, the record agrees with itself.

#![allow(clippy::vec_box)] // workers hand over boxes, so that nothing is copied

use crate::support::hooked::{Hooked, changing, unseen};
use filestone_engine::backend::{BackendError, WaitLimit};
use filestone_engine::worker::{
    IntervalSink, Worker, WorkerClient, WorkerControl, new_buffer, own_books,
};
use filestone_measure::measure::run_record::Tool;
use filestone_measure::measure::{IntervalAggregator, RunRecord};
use filestone_plan::plan::{ArrivalsPlan, Plan};
use filestone_protocol::workload::{FileEntry, FileTable, ObjectKind, Probe};
use filestone_testing::Simulated;
use filestone_testing::queueing::{ServiceDistribution, SimulatedServer, Stall};
use filestone_workload::completions::CompletionBatch;
use filestone_workload::failure::StatusSpace;
use filestone_workload::operation::{OpKind, Outcome};
use filestone_workload::recording::IntervalBuffer;
use filestone_workload::time::Timestamp;
use proptest::prelude::*;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

const MS: u64 = 1_000_000;

/// Returns a wait that makes one operation in `one_in` fail in some way.
fn unreliable(
    one_in: u64,
    mut ended: u64,
) -> impl FnMut(&mut Simulated, WaitLimit, &mut CompletionBatch) -> Result<(), BackendError> {
    changing(move |completion| {
        ended += 1;
        completion.bytes_sent = 100;
        completion.bytes_received = 200;
        if ended.is_multiple_of(one_in) {
            completion.outcome = match ended / one_in % 4 {
                0 => Outcome::TimedOut,
                1 => Outcome::Disconnected,
                2 => Outcome::Failed(StatusSpace::Nfs3.failure(5)),
                _ => Outcome::Failed(StatusSpace::RpcAccept.failure(4)),
            };
        }
    })
}

/// Keeps full buffers, and has none to spare now and then.
struct Collecting {
    plan: Plan,
    full: Rc<RefCell<Vec<Box<IntervalBuffer>>>>,
    has_spare: VecDeque<bool>,
}

impl IntervalSink for Collecting {
    fn empty(&mut self) -> Option<Box<IntervalBuffer>> {
        let has_spare = self.has_spare.pop_front().unwrap_or(true);
        self.has_spare.push_back(has_spare);
        has_spare.then(|| Box::new(new_buffer(&self.plan)))
    }
    fn full(&mut self, buffer: Box<IntervalBuffer>) {
        self.full.borrow_mut().push(buffer);
    }
}

#[derive(Debug, Clone)]
struct Case {
    plan: Plan,
    server: SimulatedServer,
    one_in: u64,
    has_spare: Vec<bool>,
    /// Which worker's buffer comes next.
    order: Vec<usize>,
}

fn arrivals() -> impl Strategy<Value = ArrivalsPlan> {
    let load = 50.0..5000.0_f64;
    prop_oneof![
        Just(ArrivalsPlan::Closed),
        load.clone()
            .prop_map(|offered_load_ops_per_s| ArrivalsPlan::Constant {
                offered_load_ops_per_s
            }),
        load.prop_map(|offered_load_ops_per_s| ArrivalsPlan::Poisson {
            offered_load_ops_per_s
        }),
    ]
}

fn plans() -> impl Strategy<Value = Plan> {
    let operation = prop::sample::select(vec![
        OpKind::Null,
        OpKind::Create,
        OpKind::Remove,
        OpKind::Rename,
    ]);
    let bounds = (
        prop_oneof![Just(0), Just(150 * MS)],
        50 * MS..600 * MS,
        prop::option::of(1_u64..300),
        any::<bool>(),
    );
    let sizes = (1_u32..6, 1_u32..5, 1_u32..4, any::<u64>());
    (operation, arrivals(), bounds, sizes).prop_map(
        |(operation, arrivals, (warm_up, duration, count, is_timed), sizes)| {
            let (clients, in_flight, workers, seed) = sizes;
            let mut plan = crate::support::plan(arrivals, in_flight, 1);
            plan.probe_mut().expect("a probe").operation = operation;
            (plan.clients, plan.workers, plan.seed) = (clients, workers.min(clients), seed);
            plan.warm_up_ns = warm_up;
            plan.count = count;
            plan.duration_ns = (is_timed || count.is_none()).then_some(duration);
            plan.interval_ns = 200 * MS;
            plan
        },
    )
}

fn cases() -> impl Strategy<Value = Case> {
    let service = prop_oneof![
        (MS / 2..80 * MS).prop_map(|ns| ServiceDistribution::Fixed { ns }),
        (0.5e6..20e6_f64).prop_map(|mean_ns| ServiceDistribution::Exponential { mean_ns }),
    ];
    let stall =
        (0..500 * MS, 1..800 * MS).prop_map(|(start_ns, lasts_ns)| Stall { start_ns, lasts_ns });
    (
        plans(),
        service,
        prop::option::of(1_u32..4),
        prop::option::of(stall),
        2_u64..50,
        prop::collection::vec(any::<bool>(), 1..6),
        prop::collection::vec(0_usize..3, 1..40),
    )
        .prop_map(
            |(plan, service, servers, stall, one_in, has_spare, order)| Case {
                server: SimulatedServer {
                    servers,
                    stalls: stall.into_iter().collect(),
                    ..SimulatedServer::new(1, service)
                },
                plan,
                one_in,
                has_spare,
                order,
            },
        )
}

fn table() -> FileTable {
    let mut table = FileTable::default();
    table.directory = Some(table.add(FileEntry {
        len: 0,
        kind: ObjectKind::Directory,
        has_pattern: false,
    }));
    table
}

/// Runs all workers; gives the buffers of each, and when the last window closed.
fn run_workers(case: &Case) -> (Vec<Vec<Box<IntervalBuffer>>>, Timestamp) {
    let stop = AtomicBool::new(false);
    let table = Arc::new(table());
    let mut window_end = Timestamp::ZERO;
    let buffers = (0..case.plan.workers)
        .map(|worker| {
            let full = Rc::new(RefCell::new(Vec::new()));
            let sink = Collecting {
                plan: case.plan.clone(),
                full: Rc::clone(&full),
                has_spare: case.has_spare.iter().copied().collect(),
            };
            let server = Simulated::new(case.server.clone(), case.plan.seed);
            let backend = Hooked(server, unseen, unreliable(case.one_in, worker.into()));
            let plan = &case.plan;
            let end = Worker::new(
                plan,
                worker,
                WorkerClient::of_worker(plan, worker, |client| {
                    let probe = plan.probe().expect("a probe");
                    let table = Arc::clone(&table);
                    Probe::new(probe, table, client, plan.in_flight, plan.seed)
                }),
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
            window_end = window_end.max(end.window_end);
            full.take()
        })
        .collect();
    (buffers, window_end)
}

/// The record of a run whose buffers arrive in this order of workers.
fn assemble(case: &Case, order: &[usize]) -> RunRecord {
    let (buffers, window_end) = run_workers(case);
    let mut waiting: Vec<VecDeque<_>> = buffers.into_iter().map(VecDeque::from).collect();
    let mut assembly = IntervalAggregator::new(&case.plan);
    let workers = waiting.len();
    for step in order.iter().cycle() {
        if waiting.iter().all(VecDeque::is_empty) {
            break;
        }
        // The worker whose turn it is, or the next that has something left.
        let worker = (0..workers)
            .map(|further| (step + further) % workers)
            .find(|worker| !waiting[*worker].is_empty())
            .unwrap_or_default();
        if let Some(buffer) = waiting[worker].pop_front() {
            assembly.take(worker, buffer);
        }
        while assembly.complete().is_some() {}
    }
    let (intervals, ticks, totals) = assembly.finalize(&case.plan, window_end);
    let window_start = Timestamp::from_nanos(case.plan.warm_up_ns);
    RunRecord {
        window_ns: window_end.nanos_since(window_start),
        totals,
        intervals,
        ticks,
        ..RunRecord::new(case.plan.clone(), Tool::release("0"))
    }
}

fn check_counts(case: &Case, record: &RunRecord) {
    let totals = &record.totals;
    let ledger = &totals.ledger;
    assert_eq!(ledger.in_flight, 0, "every operation ends in the end");
    if let (Some(count), None) = (case.plan.count, case.plan.duration_ns) {
        assert_eq!(ledger.scheduled, count);
    } else if let Some(count) = case.plan.count {
        assert!(ledger.scheduled <= count);
    }
    for kind in &totals.kinds {
        assert_eq!(kind.calls, kind.ledger.ended());
        assert_eq!(kind.bytes_sent, 100 * kind.ledger.ended());
    }
    let in_ticks: u64 = record.ticks.iter().map(|tick| tick.bytes_received).sum();
    assert_eq!(in_ticks, 200 * ledger.ended());
    assert_eq!(totals.slot_wait_ns.count, ledger.timed());
    assert_eq!(
        totals.dispatch_delay_ns.max, 0,
        "a simulation is never late"
    );
    // Achieved is what succeeded while the window was open. What was in flight
    // when it opened belongs to it, and in an open loop all that the warm-up left
    // undone.
    let before = match (case.plan.warm_up_ns, case.plan.arrivals) {
        (0, _) => 0,
        (_, ArrivalsPlan::Closed) => u64::from(case.plan.clients * case.plan.in_flight),
        _ => u64::MAX - ledger.ok,
    };
    let achieved = totals.achieved_load_ops_per_s * record.window_ns.max(1) as f64 / 1e9;
    assert!(
        achieved.round() as u64 <= ledger.ok + before,
        "{achieved} of {}",
        ledger.ok
    );
    for pair in record.intervals.windows(2) {
        assert!(pair[0].start_ns < pair[1].start_ns, "in order");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn every_run_agrees_with_itself_in_whatever_order_its_buffers_come(case in cases()) {
        let record = assemble(&case, &case.order);
        prop_assert_eq!(record.check(), Ok(()));
        check_counts(&case, &record);
        let json = serde_json::to_string(&record).expect("it can be written");
        let again: RunRecord = serde_json::from_str(&json).expect("and read");
        prop_assert!(again == record, "what was written is not what is read");
        // One worker after the other, the last one first.
        let other = assemble(&case, &[case.plan.workers as usize - 1]);
        prop_assert!(other.totals == record.totals, "totals depend on the order");
        prop_assert!(other.ticks == record.ticks, "ticks depend on the order");
        prop_assert!(other.intervals == record.intervals, "intervals depend on the order");
    }
}
