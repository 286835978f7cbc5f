//! Runs of the real worker loop against a server made of arithmetic.

use filestone_engine::backend::Backend;
use filestone_engine::worker::{
    IntervalSink, Worker, WorkerClient, WorkerControl, WorkerEnd, new_buffer, own_books,
};
use filestone_measure::measure::IntervalAggregator;
use filestone_measure::measure::run_record::{IntervalRecord, TickRecord, Totals};
use filestone_plan::plan::{ArrivalsPlan, NfsTarget, Plan, ProbePlan, TargetPlan, WorkloadPlan};
use filestone_protocol::workload::{Next, Workload};
use filestone_testing::Simulated;
use filestone_testing::queueing::{ServiceDistribution, SimulatedServer};
use filestone_workload::language::Operations;
use filestone_workload::operation::{OpKind, Operation};
use filestone_workload::recording::IntervalBuffer;
use filestone_workload::time::Timestamp;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::AtomicBool;

pub mod entry;
pub mod hooked;
pub mod live;
pub mod local;
pub mod mixes;
pub mod relay;
pub mod replays;
pub mod scratch;
pub mod smb_peer;

pub const SECOND: u64 = 1_000_000_000;

pub fn plan(arrivals: ArrivalsPlan, in_flight: u32, seconds: u64) -> Plan {
    let target = TargetPlan::Nfs3(NfsTarget::built_in("/"));
    let workload = WorkloadPlan::Probe(ProbePlan {
        files_max: 0,
        ..ProbePlan::new(OpKind::Null)
    });
    Plan {
        arrivals,
        in_flight,
        duration_ns: Some(seconds * SECOND),
        ..Plan::new("test", target, workload, 1)
    }
}

pub fn server(service: ServiceDistribution, servers: Option<u32>) -> SimulatedServer {
    SimulatedServer {
        servers,
        ..SimulatedServer::new(1, service)
    }
}

/// Asks NULL for ever.
pub struct Nulls;

impl Workload for Nulls {
    fn next(&mut self, _slot: u32, _now: Timestamp) -> Next<Operation> {
        Next::Measured(Operation::Null)
    }
}

/// Enters full buffers into an assembly at once and gives the same ones back.
#[allow(clippy::vec_box)] // the worker exchanges boxes, so that nothing is copied
struct Direct {
    worker: usize,
    assembly: Rc<RefCell<IntervalAggregator>>,
    #[allow(clippy::vec_box)] // boxes are what is exchanged
    spare: Vec<Box<IntervalBuffer>>,
}

impl IntervalSink for Direct {
    fn empty(&mut self) -> Option<Box<IntervalBuffer>> {
        self.spare.pop()
    }
    fn full(&mut self, buffer: Box<IntervalBuffer>) {
        let mut assembly = self.assembly.borrow_mut();
        self.spare.extend(assembly.take(self.worker, buffer));
        while let Some((_, mut buffer)) = assembly.complete() {
            buffer.reset(Timestamp::ZERO);
            self.spare.push(buffer);
        }
    }
}

/// What a run in virtual time gives.
pub struct Run {
    pub intervals: Vec<IntervalRecord>,
    pub ticks: Vec<TickRecord>,
    pub totals: Totals,
    pub end: WorkerEnd,
}

pub fn run(plan: &Plan, server: SimulatedServer) -> Run {
    run_on(plan, Simulated::new(server, 1))
}

pub fn run_on(plan: &Plan, backend: impl Backend<Language = Operations>) -> Run {
    run_members(plan, WorkerClient::of_worker(plan, 0, |_| Nulls), backend)
}

/// A run of these clients.
pub fn run_members<B: Backend, W: Workload<B::Language>>(
    plan: &Plan,
    members: Vec<WorkerClient<W>>,
    backend: B,
) -> Run {
    let assembly = Rc::new(RefCell::new(IntervalAggregator::new(plan)));
    let stop = AtomicBool::new(false);
    let sink = Direct {
        worker: 0,
        assembly: Rc::clone(&assembly),
        spare: (0..3).map(|_| Box::new(new_buffer(plan))).collect(),
    };
    let end = Worker::new(
        plan,
        0,
        members,
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
    let Ok(assembly) = Rc::try_unwrap(assembly) else {
        unreachable!("the sink went with the worker")
    };
    let (intervals, ticks, totals) = assembly.into_inner().finalize(plan, end.window_end);
    assert_eq!(totals.ledger.missing(), 0, "{:?}", totals.ledger);
    Run {
        intervals,
        ticks,
        totals,
        end,
    }
}
