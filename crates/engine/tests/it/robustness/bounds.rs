//! Where runs begin and end: by count, by time, by ^C, with a warm-up, with
//! many connections, by a random schedule.

use super::{MS, run_at};
use crate::support::SECOND;
use crate::support::live::{probe, serve};
use filestone_host::control::{NoObserver, Observer};
use filestone_measure::measure::Caveat;
use filestone_measure::measure::run_record::{IntervalRecord, RunOutcome};
use filestone_plan::plan::{ArrivalsPlan, Plan, TransportKind};
use filestone_server::Running;
use filestone_workload::operation::OpKind;
use std::sync::atomic::{AtomicBool, Ordering};

fn timed(operation: OpKind, nanos: u64) -> Plan {
    let mut plan = probe(operation, TransportKind::Tcp, 0);
    plan.count = None;
    plan.duration_ns = Some(nanos);
    plan.interval_ns = 100 * MS;
    plan
}

/// Presses ^C after an interval, or while the run is being prepared.
struct Impatient<'s> {
    stop: &'s AtomicBool,
    intervals: u32,
}

impl Observer for Impatient<'_> {
    fn preparing(&mut self, what: &str) {
        if self.intervals == 0 && what == "running" {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
    fn interval(&mut self, _record: &IntervalRecord) {
        self.intervals = self.intervals.saturating_sub(1);
        if self.intervals == 0 {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}

/// What is in the export: nothing of ours must be left.
fn names_in_export(server: &Running) -> u64 {
    let mut plan = probe(OpKind::Lookup, TransportKind::Tcp, 1);
    plan.target.nfs3_mut().expect("an NFS target").path = "/export".into();
    let stop = AtomicBool::new(false);
    run_at(&plan, server.address(), &stop, &mut NoObserver)
        .target
        .files
}

#[test]
fn an_interrupted_run_keeps_its_record_and_cleans_up() {
    let open = ArrivalsPlan::Poisson {
        offered_load_ops_per_s: 2000.0,
    };
    for operation in [OpKind::Create, OpKind::MkDir, OpKind::Write, OpKind::Rename] {
        for arrivals in [ArrivalsPlan::Closed, open] {
            let server = serve(|_| {});
            let mut plan = timed(operation, 60 * SECOND);
            plan.arrivals = arrivals;
            (plan.clients, plan.workers) = (3, 2);
            let stop = AtomicBool::new(false);
            let mut observer = Impatient {
                stop: &stop,
                intervals: 1,
            };
            let record = run_at(&plan, server.address(), &stop, &mut observer);
            assert_eq!(record.end, RunOutcome::Interrupted);
            assert!(record.totals.ledger.ok > 0);
            assert!(record.window_ns >= 100 * MS && record.window_ns < 10 * SECOND);
            assert!(
                record
                    .caveats
                    .iter()
                    .any(|caveat| matches!(caveat, Caveat::Interrupted { .. }))
            );
            assert_eq!(names_in_export(&server), 3, "{}", operation.name());
        }
    }
}

#[test]
fn a_run_interrupted_in_its_warm_up_measured_nothing() {
    for arrivals in [
        ArrivalsPlan::Closed,
        ArrivalsPlan::Constant {
            offered_load_ops_per_s: 1000.0,
        },
    ] {
        let server = serve(|_| {});
        let mut plan = timed(OpKind::GetAttr, SECOND);
        plan.arrivals = arrivals;
        plan.warm_up_ns = 30 * SECOND;
        let stop = AtomicBool::new(false);
        let mut observer = Impatient {
            stop: &stop,
            intervals: 0,
        };
        let record = run_at(&plan, server.address(), &stop, &mut observer);
        assert_eq!(record.end, RunOutcome::Interrupted);
        assert_eq!(record.totals.ledger.scheduled, 0);
        assert_eq!(record.window_ns, 0);
    }
}

#[test]
fn an_interrupted_run_does_not_wait_for_a_server_that_says_nothing() {
    let server = serve(|options| {
        options.faults = vec!["drop,proc=lookup".parse().expect("a rule")];
    });
    let mut plan = timed(OpKind::Lookup, 60 * SECOND);
    plan.timeout_ns = 60 * SECOND;
    let stop = AtomicBool::new(false);
    let mut observer = Impatient {
        stop: &stop,
        intervals: 1,
    };
    let record = run_at(&plan, server.address(), &stop, &mut observer);
    assert_eq!(record.end, RunOutcome::Interrupted);
    assert_eq!(record.totals.ledger.in_flight, 4);
    assert!(record.window_ns < 10 * SECOND);
}

#[test]
fn a_count_is_kept_exactly_whatever_the_shares() {
    let server = serve(|_| {});
    for (clients, workers, in_flight, count) in
        [(1, 1, 1, 1), (7, 3, 4, 100), (5, 2, 8, 3), (3, 3, 1, 1000)]
    {
        for arrivals in [
            ArrivalsPlan::Closed,
            ArrivalsPlan::Poisson {
                offered_load_ops_per_s: 20_000.0,
            },
        ] {
            let mut plan = probe(OpKind::GetAttr, TransportKind::Tcp, count);
            (plan.clients, plan.workers, plan.in_flight) = (clients, workers, in_flight);
            plan.arrivals = arrivals;
            let stop = AtomicBool::new(false);
            let record = run_at(&plan, server.address(), &stop, &mut NoObserver);
            assert_eq!(record.end, RunOutcome::Finished);
            assert_eq!(record.totals.ledger.ok, count);
            assert_eq!(record.totals.ledger.scheduled, count);
        }
    }
}

#[test]
fn a_warm_up_is_outside_of_the_window() {
    let server = serve(|_| {});
    for arrivals in [
        ArrivalsPlan::Closed,
        ArrivalsPlan::Constant {
            offered_load_ops_per_s: 1000.0,
        },
    ] {
        let mut plan = timed(OpKind::Remove, 300 * MS);
        plan.warm_up_ns = 200 * MS;
        plan.arrivals = arrivals;
        plan.clients = 2;
        let stop = AtomicBool::new(false);
        let record = run_at(&plan, server.address(), &stop, &mut NoObserver);
        assert_eq!(record.window_ns, 300 * MS);
        if arrivals.offered_load().is_some() {
            assert_eq!(record.totals.ledger.scheduled, 300);
        }
        assert!(record.totals.ledger.ok > 0);
        let first = record.ticks.first().expect("a tick");
        assert_eq!(first.start_ns, 0);
    }
}

#[test]
fn a_time_and_a_count_end_a_run_with_whichever_comes_first() {
    let server = serve(|_| {});
    let stop = AtomicBool::new(false);
    let mut plan = timed(OpKind::Null, 60 * SECOND);
    plan.count = Some(50);
    let record = run_at(&plan, server.address(), &stop, &mut NoObserver);
    assert_eq!(record.totals.ledger.ok, 50);
    assert!(record.window_ns < 30 * SECOND);
    let mut plan = timed(OpKind::Null, 100 * MS);
    plan.count = Some(1 << 50);
    let record = run_at(&plan, server.address(), &stop, &mut NoObserver);
    assert_eq!(record.window_ns, 100 * MS);
}

#[test]
fn a_thousand_connections_share_two_workers() {
    let server = serve(|options| options.threads = 2);
    let mut plan = probe(OpKind::GetAttr, TransportKind::Tcp, 20_000);
    (plan.clients, plan.workers, plan.in_flight) = (1000, 2, 2);
    let stop = AtomicBool::new(false);
    let record = run_at(&plan, server.address(), &stop, &mut NoObserver);
    assert_eq!(record.totals.ledger.ok, 20_000);
    assert_eq!(record.totals.reconnections, 0);
    let clients: u32 = record
        .totals
        .workers
        .iter()
        .map(|worker| worker.clients)
        .sum();
    assert_eq!(clients, 1000);
    let made = record.connections.map(|connections| connections.made);
    assert_eq!(made, Some(1000));
}

#[test]
fn poisson_arrivals_are_as_many_as_offered() {
    let server = serve(|_| {});
    let mut plan = timed(OpKind::Null, 800 * MS);
    plan.arrivals = ArrivalsPlan::Poisson {
        offered_load_ops_per_s: 5000.0,
    };
    (plan.clients, plan.workers, plan.in_flight) = (5, 2, 64);
    let stop = AtomicBool::new(false);
    let record = run_at(&plan, server.address(), &stop, &mut NoObserver);
    // The number that come due is Poisson distributed: its deviation is the
    // root of its mean.
    let (expected, scheduled) = (4000.0_f64, record.totals.ledger.scheduled as f64);
    assert!(
        (scheduled - expected).abs() < 5.0 * expected.sqrt(),
        "{scheduled}"
    );
}

/// Counts rows that are shown while the run lasts.
struct Rows(u32);

impl Observer for Rows {
    fn interval(&mut self, _record: &IntervalRecord) {
        self.0 += 1;
    }
}

#[test]
fn rows_go_on_when_one_worker_has_nothing_left_to_do() {
    let server = serve(|options| {
        options.faults = vec!["delay=50ms,proc=getattr".parse().expect("a rule")];
    });
    // The count belongs to the first client; the other's worker is done at once.
    let mut plan = probe(OpKind::GetAttr, TransportKind::Tcp, 1);
    (plan.clients, plan.workers, plan.in_flight) = (2, 2, 1);
    plan.probe_mut().expect("a probe").files_max = 0;
    plan.interval_ns = 100 * MS;
    plan.count = Some(1);
    let stop = AtomicBool::new(false);
    let mut rows = Rows(0);
    let record = run_at(&plan, server.address(), &stop, &mut rows);
    assert_eq!(record.intervals.len(), rows.0 as usize);
    assert!(rows.0 >= 1);
}

#[test]
fn a_low_load_of_one_client_is_scheduled_to_the_last_operation() {
    let server = serve(|_| {});
    let mut plan = timed(OpKind::Null, 600 * MS);
    // One every 10.2 ms: a little longer than a blocking recv is meant to last.
    plan.arrivals = ArrivalsPlan::Constant {
        offered_load_ops_per_s: 98.5,
    };
    let stop = AtomicBool::new(false);
    let record = run_at(&plan, server.address(), &stop, &mut NoObserver);
    // Due at k / 98.5 s for k = 0 … 59; that they also go out in time is for
    // `cargo xtask bench` to measure.
    assert_eq!(record.totals.ledger.scheduled, 60);
}
