//! A job of four hosts against one host with four workers, in virtual time: the same is asked, at
//! the same moments, and what comes of it is the same to the last step of a histogram.

use crate::support::hooked::Hooked;
use crate::support::{SECOND, plan, server};
use filestone_control::job::{HostRun, deal, evaluate, merge};
use filestone_engine::backend::Backend;
use filestone_engine::worker::{
    IntervalSink, Worker, WorkerClient, WorkerControl, new_buffer, own_books,
};
use filestone_measure::measure::run_record::{IntervalRecord, TickRecord, Tool, Totals};
use filestone_measure::measure::{IntervalAggregator, RunRecord};
use filestone_plan::plan::{ArrivalsPlan, Plan};
use filestone_protocol::workload::{FileEntry, FileTable, ObjectKind, Probe, Workload, of_client};
use filestone_testing::Simulated;
use filestone_testing::queueing::ServiceDistribution;
use filestone_workload::operation::{OpKind, Operation};
use filestone_workload::recording::IntervalBuffer;
use filestone_workload::time::Timestamp;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

const POISSON: ArrivalsPlan = ArrivalsPlan::Poisson {
    offered_load_ops_per_s: 2000.0,
};
const CONSTANT: ArrivalsPlan = ArrivalsPlan::Constant {
    offered_load_ops_per_s: 2000.0,
};

/// Eight clients on four threads read blocks of three files at random.
fn job(arrivals: ArrivalsPlan) -> Plan {
    let mut job = plan(arrivals, 64, 4);
    (job.clients, job.workers, job.seed) = (8, 4, 7);
    (job.warm_up_ns, job.interval_ns) = (SECOND / 2, SECOND / 2);
    let probe = job.probe_mut().expect("a probe");
    (probe.operation, probe.random) = (OpKind::Read, true);
    job
}

fn table() -> Arc<FileTable> {
    let mut table = FileTable::default();
    for number in 0..3_u64 {
        table.add(FileEntry {
            kind: ObjectKind::File,
            len: 4096 * (number + 1) * 1000,
            has_pattern: true,
        });
    }
    table.subjects = 0..3;
    Arc::new(table)
}

/// What a worker has handed over.
type Full = Rc<RefCell<Vec<Box<IntervalBuffer>>>>;

/// Keeps full buffers, and always has an empty one.
struct Keeping {
    plan: Plan,
    full: Full,
}

impl IntervalSink for Keeping {
    fn empty(&mut self) -> Option<Box<IntervalBuffer>> {
        Some(Box::new(new_buffer(&self.plan)))
    }
    fn full(&mut self, buffer: Box<IntervalBuffer>) {
        self.full.borrow_mut().push(buffer);
    }
}

struct Run {
    intervals: Vec<IntervalRecord>,
    ticks: Vec<TickRecord>,
    totals: Totals,
}

/// The run of all workers of a plan, one after the other, and what they asked, in order.
fn made(plan: &Plan) -> (Run, Vec<(Timestamp, Operation)>) {
    let (table, asked) = (table(), RefCell::new(Vec::new()));
    let mut assembly = IntervalAggregator::new(plan);
    let mut window_end = Timestamp::ZERO;
    let (stop, end_run) = (AtomicBool::new(false), AtomicBool::new(false));
    for worker in 0..plan.workers {
        let make = |client| -> Box<dyn Workload> { of_client(plan, &table, &[], client) };
        let random = ServiceDistribution::Exponential { mean_ns: 100_000.0 };
        // Its times are those of the worker, whatever process it is in.
        let seed = u64::from(plan.number_of(worker));
        let server = Simulated::new(server(random, None), seed);
        let note = |_, operation, now| asked.borrow_mut().push((now, operation));
        let backend = Hooked(server, note, Simulated::wait);
        let full = Full::default();
        let sink = Keeping {
            plan: plan.clone(),
            full: Rc::clone(&full),
        };
        let signals = WorkerControl {
            stop: &stop,
            end_run: &end_run,
            offer: None,
            live_workers: None,
        };
        let members = WorkerClient::of_worker(plan, worker, make);
        let books = own_books(plan, sink);
        let end = Worker::new(plan, worker, members, backend, books, signals).run();
        window_end = window_end.max(end.window_end);
        for buffer in full.take() {
            assembly.take(worker as usize, buffer);
        }
    }
    let (intervals, ticks, totals) = assembly.finalize(plan, window_end);
    assert_eq!(totals.ledger.missing(), 0, "{:?}", totals.ledger);
    let mut asked = asked.take();
    asked.sort_by_key(|(at, operation)| (*at, format!("{operation:?}")));
    let run = Run {
        intervals,
        ticks,
        totals,
    };
    (run, asked)
}

/// Its parts, each of which has one thread.
fn parts(job: &Plan) -> Vec<Plan> {
    let mut parts = deal(job, 4).expect("parts");
    parts.iter_mut().for_each(|part| part.workers = 1);
    parts
}

fn record_of(plan: &Plan, run: Run) -> RunRecord {
    RunRecord {
        window_ns: plan.duration_ns.expect("a duration"),
        intervals: run.intervals,
        ticks: run.ticks,
        totals: run.totals,
        ..RunRecord::new(plan.clone(), Tool::release("0"))
    }
}

fn merged(job: &Plan) -> RunRecord {
    let runs = (0..).zip(parts(job)).map(|(part, plan)| HostRun {
        name: format!("node{part}"),
        part,
        record: record_of(&plan, made(&plan).0),
        clock: None,
    });
    let runs: Vec<HostRun> = runs.collect();
    let mut merged = merge(job, &runs, vec![]).expect("records of one job");
    evaluate(&mut merged);
    merged.check().expect("it agrees with itself");
    let host = |record: &RunRecord| record.job.clone().expect("a job").hosts;
    let hosts = host(&merged);
    let scheduled: u64 = hosts.iter().map(|host| host.ledger.scheduled).sum();
    assert_eq!(scheduled, merged.totals.ledger.scheduled);
    merged
}

/// Without what real threads cost, and what is found afterwards.
fn comparable(mut totals: Totals) -> Totals {
    (totals.client_cpu_ns, totals.client_cpu_ns_per_op) = (0, 0.0);
    totals.workers.clear();
    (totals.figures, totals.open_figures) = (vec![], vec![]);
    // Sums of as many floating-point numbers, in another order.
    for number in [
        &mut totals.achieved_load_ops_per_s,
        &mut totals.goodput_bytes_per_s,
        &mut totals.in_flight_mean,
    ] {
        *number = (*number * 1e3).round();
    }
    totals
}

fn of_time_only(mut intervals: Vec<IntervalRecord>) -> Vec<IntervalRecord> {
    let mut all = intervals.iter_mut();
    all.by_ref().for_each(|interval| interval.client_cpu_ns = 0);
    intervals
}

#[test]
fn four_hosts_ask_what_one_host_with_four_workers_asks() {
    for arrivals in [POISSON, CONSTANT, ArrivalsPlan::Closed] {
        let mut job = job(arrivals);
        if arrivals == ArrivalsPlan::Closed {
            (job.in_flight, job.duration_ns) = (2, Some(SECOND));
        }
        let (_, whole) = made(&job);
        let mut dealt: Vec<_> = parts(&job).iter().flat_map(|part| made(part).1).collect();
        dealt.sort_by_key(|(at, operation)| (*at, format!("{operation:?}")));
        assert!(whole.len() > 4000, "{}", whole.len());
        assert_eq!(whole, dealt);
    }
}

#[test]
fn a_count_is_dealt_so_that_each_client_does_what_it_would_on_one_host() {
    for arrivals in [POISSON, CONSTANT] {
        let mut job = job(arrivals);
        (job.count, job.duration_ns) = (Some(3001), None);
        let whole = made(&job).1;
        let dealt: usize = parts(&job).iter().map(|part| made(part).1.len()).sum();
        assert_eq!(whole.len(), dealt);
    }
}

#[test]
fn what_four_hosts_measured_is_what_one_would_have_to_the_last_step() {
    let job = job(POISSON);
    let (whole, _) = made(&job);
    let merged = merged(&job);
    // Not `assert_eq!`, which would print a megabyte of histograms.
    assert!(of_time_only(merged.intervals) == of_time_only(whole.intervals));
    assert_eq!(merged.ticks, whole.ticks);
    assert!(comparable(merged.totals) == comparable(whole.totals));
}

#[test]
fn a_client_of_a_job_has_the_random_stream_of_its_number() {
    let job = job(POISSON);
    let table = table();
    let part = parts(&job).remove(2);
    let probe = *part.probe().expect("a probe");
    let mut own = of_client(&part, &table, &[], 1);
    let mut same = Probe::new(&probe, Arc::clone(&table), 6, 64, 7);
    for _ in 0..100 {
        let asked = own.next(0, Timestamp::ZERO);
        assert_eq!(
            format!("{asked:?}"),
            format!("{:?}", same.next(0, Timestamp::ZERO))
        );
    }
}
