//! Nothing between a due moment and its completion allocates: held by an
//! allocator that counts, on the worker's thread, through the whole engine.
//!
//! This test is the only one in its binary, because the allocator counts for
//! the whole process and sorts by thread name.

#![allow(unsafe_code)] // an allocator cannot be had without

#[path = "it/support/mod.rs"]
#[allow(dead_code)] // the other binary uses the rest
mod support;

use filestone_host::control::Observer;
use filestone_measure::measure::run_record::IntervalRecord;
use filestone_plan::plan::{ArrivalsPlan, Plan, TransportKind};
use filestone_workload::operation::OpKind;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use support::SECOND;
use support::entry::run;
use support::live::{probe, serve};
use support::mixes::{ALL_22, mix};

thread_local! {
    /// Whether this thread is a worker of the load generator; found out once.
    static IS_WORKER: Cell<Option<bool>> = const { Cell::new(None) };
}

static COUNTS: AtomicBool = AtomicBool::new(false);
static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

struct Counting;

// SAFETY: everything is handed to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, len: usize) -> *mut u8 {
        count();
        unsafe { System.realloc(pointer, layout, len) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn count() {
    if COUNTS.load(Ordering::Relaxed) && is_worker() {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
    }
}

/// Asking for the name may itself allocate, so "no" is noted first.
fn is_worker() -> bool {
    IS_WORKER
        .try_with(Cell::get)
        .ok()
        .flatten()
        .unwrap_or_else(|| {
            let _ = IS_WORKER.try_with(|cell| cell.set(Some(false)));
            let known = rustix::thread::name()
                .is_ok_and(|name| name.as_bytes().starts_with(b"filestone-w"));
            let _ = IS_WORKER.try_with(|cell| cell.set(Some(known)));
            known
        })
}

/// Allocations of the workers in a run of `count` operations.
fn allocations(operation: OpKind, count: u64, arrivals: ArrivalsPlan, clients: u32) -> u64 {
    let mut plan = probe(operation, TransportKind::Tcp, count);
    plan.arrivals = arrivals;
    plan.clients = clients;
    plan.probe_mut().expect("a probe").size_bytes = if operation == OpKind::ReadDir {
        4096
    } else {
        32_768
    };
    counted(&plan)
}

/// Allocations of the workers in a run whose operations all succeed.
fn counted(plan: &Plan) -> u64 {
    counted_by_interval(plan).iter().sum()
}

/// The same for each interval, of which the first has the worker's set-up besides.
fn counted_by_interval(plan: &Plan) -> Vec<u64> {
    let server = serve(|_| {});
    let mut by_interval = ByInterval(vec![]);
    let stop = AtomicBool::new(false);
    ALLOCATIONS.store(0, Ordering::Relaxed);
    COUNTS.store(true, Ordering::Relaxed);
    let record = run(plan, Some(server.address()), &stop, &mut by_interval);
    COUNTS.store(false, Ordering::Relaxed);
    let record = record.expect("the run is made");
    record.check().expect("the record agrees with itself");
    assert_eq!(
        Some(record.totals.ledger.ok),
        plan.count,
        "{:?}",
        record.totals.ledger
    );
    by_interval.note();
    by_interval.0
}

struct ByInterval(Vec<u64>);

impl ByInterval {
    /// What was allocated since the last look.
    fn note(&mut self) {
        self.0.push(ALLOCATIONS.swap(0, Ordering::Relaxed));
    }
}

impl Observer for ByInterval {
    fn interval(&mut self, _record: &IntervalRecord) {
        self.note();
    }
}

/// A client's buffers double until the longest message, and all that is in flight, fits into
/// them. When they do so depends on what is in flight at a time and on where the stream is cut:
/// often after the first operations, sometimes late. So many of all clients together.
const GROWTHS_MAX: u64 = 16;

#[test]
fn ten_times_the_operations_make_no_more_allocations() {
    let open = ArrivalsPlan::Poisson {
        offered_load_ops_per_s: 20_000.0,
    };
    let cases = [
        (OpKind::Null, ArrivalsPlan::Closed, 1),
        (OpKind::Null, ArrivalsPlan::Closed, 8),
        (OpKind::Null, open, 1),
        (OpKind::GetAttr, ArrivalsPlan::Closed, 1),
        (OpKind::Lookup, ArrivalsPlan::Closed, 1),
        (OpKind::Access, ArrivalsPlan::Closed, 1),
        (OpKind::Read, ArrivalsPlan::Closed, 1),
        (OpKind::Read, ArrivalsPlan::Closed, 8),
        (OpKind::Write, ArrivalsPlan::Closed, 1),
        (OpKind::Create, ArrivalsPlan::Closed, 1),
        (OpKind::Rename, ArrivalsPlan::Closed, 1),
        (OpKind::ReadDir, ArrivalsPlan::Closed, 1),
        (OpKind::Commit, ArrivalsPlan::Closed, 1),
    ];
    for (operation, arrivals, clients) in cases {
        let few = allocations(operation, 1000, arrivals, clients);
        assert!(
            few > 0,
            "a worker allocates when it is set up, and the allocator counts it"
        );
        let many = allocations(operation, 10_000, arrivals, clients);
        assert!(
            many <= few + GROWTHS_MAX,
            "{} ({clients} clients): {few} allocations for 1000 operations, {many} for 10,000",
            operation.name()
        );
    }
    most_intervals_of_a_mix_make_none_at_all();
}

/// All 22 procedures, so that names and handles come, go and are found again. Handing over an
/// interval, which happens while operations are in flight, allocates nothing either.
fn most_intervals_of_a_mix_make_none_at_all() {
    let arrivals = ArrivalsPlan::Poisson {
        offered_load_ops_per_s: 10_000.0,
    };
    for clients in [1, 4] {
        let mut plan = mix(ALL_22, arrivals, 20_000);
        plan.clients = clients;
        plan.interval_ns = SECOND / 10;
        let by_interval = counted_by_interval(&plan);
        let after_the_first = &by_interval[1..];
        assert!(after_the_first.len() >= 10, "{by_interval:?}");
        let without = after_the_first.iter().filter(|made| **made == 0).count();
        assert!(
            2 * without > after_the_first.len()
                && after_the_first.iter().sum::<u64>() <= GROWTHS_MAX,
            "a mix ({clients} clients): {by_interval:?} allocations by interval"
        );
    }
}
