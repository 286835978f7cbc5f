//! Nothing between a due moment and its completion allocates: held by an
//! allocator that counts, on the worker's thread, through the whole engine.
//!
//! This test is the only one in its binary, because the allocator counts for
//! the whole process and sorts by thread name.

#![allow(unsafe_code)] // an allocator cannot be had without

#[path = "it/support/mod.rs"]
#[allow(dead_code)] // the other binary uses the rest
mod support;

use filestone_model::operation::OpKind;
use filestone_model::plan::{ArrivalsPlan, Plan, TransportKind};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use support::live::{checked, probe, serve};
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
    let server = serve(|_| {});
    ALLOCATIONS.store(0, Ordering::Relaxed);
    COUNTS.store(true, Ordering::Relaxed);
    let record = checked(plan, &server);
    COUNTS.store(false, Ordering::Relaxed);
    assert_eq!(
        Some(record.totals.ledger.ok),
        plan.count,
        "{:?}",
        record.totals.ledger
    );
    ALLOCATIONS.load(Ordering::Relaxed)
}

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
        // What is left is setting up: buffers that reach their size in the first
        // operations, at different moments in different runs.
        assert!(
            many <= few + 16,
            "{} ({clients} clients): {few} allocations for 1000 operations, {many} for 10,000",
            operation.name()
        );
    }
    ten_times_the_mix_makes_no_more_either();
}

/// All 22 procedures, so that names and handles come, go and are found again.
fn ten_times_the_mix_makes_no_more_either() {
    let arrivals = ArrivalsPlan::Poisson {
        offered_load_ops_per_s: 5000.0,
    };
    let of = |count, clients| {
        let mut plan = mix(ALL_22, arrivals, count);
        plan.clients = clients;
        counted(&plan)
    };
    for clients in [1, 4] {
        let (few, many) = (of(2000, clients), of(20_000, clients));
        assert!(
            many <= few + 16,
            "a mix ({clients} clients): {few} allocations for 2000 operations, {many} for 20,000"
        );
    }
}
