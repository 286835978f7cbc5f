//! Servers that answer wrongly, late or not at all: the ledger balances.

use super::{MS, run_at};
use crate::support::SECOND;
use crate::support::live::{probe, serve};
use filestone_host::control::NoObserver;
use filestone_measure::measure::RunRecord;
use filestone_measure::measure::run_record::RunOutcome;
use filestone_plan::plan::{ArrivalsPlan, Plan, ReadData, TransportKind};
use filestone_workload::operation::OpKind;
use std::sync::atomic::AtomicBool;

/// A run against a server with these faults.
fn run_with(plan: &Plan, faults: &[&str]) -> RunRecord {
    let server = serve(|options| {
        options.faults = faults
            .iter()
            .map(|rule| rule.parse().expect("a rule"))
            .collect();
    });
    let record = run_at(
        plan,
        server.address(),
        &AtomicBool::new(false),
        &mut NoObserver,
    );
    assert_eq!(record.end, RunOutcome::Finished);
    record
}

fn counted(operation: OpKind, count: u64) -> Plan {
    let mut plan = probe(operation, TransportKind::Tcp, count);
    plan.clients = 3;
    plan.workers = 2;
    plan.timeout_ns = 200 * MS;
    plan
}

fn failure_of(record: &RunRecord) -> &str {
    let kind = record.measured().expect("a measured row");
    &kind.failures.first().expect("a failure").failure
}

#[test]
fn errors_are_counted_by_their_names() {
    let record = run_with(
        &counted(OpKind::Lookup, 2000),
        &["error=NFS3ERR_IO,proc=lookup,p=0.1,from=0s"],
    );
    // LOOKUP is not needed to get there: MOUNT takes the whole path.
    let ledger = &record.totals.ledger;
    assert_eq!((ledger.scheduled, ledger.ok + ledger.failed), (2000, 2000));
    // 200 expected, with a standard deviation of 13.
    assert!((130..270).contains(&ledger.failed), "{ledger:?}");
    assert_eq!(failure_of(&record), "NFS3ERR_IO (5)");
}

#[test]
fn what_failed_is_not_achieved() {
    let mut plan = counted(OpKind::Lookup, 1000);
    plan.duration_ns = None;
    let record = run_with(&plan, &["error=NFS3ERR_IO,proc=lookup"]);
    assert_eq!(record.totals.ledger.failed, 1000);
    assert_eq!(record.totals.achieved_load_ops_per_s, 0.0);
}

#[test]
fn truncated_replies_are_bad_replies() {
    let record = run_with(
        &counted(OpKind::Lookup, 1000),
        &["truncate=8,proc=lookup,p=0.2"],
    );
    let ledger = &record.totals.ledger;
    assert_eq!((ledger.scheduled, ledger.ok + ledger.failed), (1000, 1000));
    assert!(ledger.failed > 100, "{ledger:?}");
    assert_eq!(failure_of(&record), "reply that cannot be decoded");
}

#[test]
fn a_reply_cut_down_to_no_reply_ends_its_connection() {
    let mut plan = counted(OpKind::Lookup, 500);
    plan.in_flight = 2;
    let record = run_with(&plan, &["truncate=100000,proc=lookup,p=0.01"]);
    let ledger = &record.totals.ledger;
    assert_eq!(ledger.scheduled, 500);
    assert!(ledger.disconnected > 0 && ledger.ok > 0, "{ledger:?}");
    assert!(record.totals.reconnections > 0);
}

#[test]
fn an_oversized_record_ends_its_connection() {
    for clients in [1, 3] {
        let mut plan = counted(OpKind::Lookup, 500);
        (plan.clients, plan.workers) = (clients, 1);
        let record = run_with(&plan, &["oversize,proc=lookup,p=0.01"]);
        let ledger = &record.totals.ledger;
        assert_eq!(ledger.scheduled, 500);
        assert!(ledger.disconnected > 0 && ledger.ok > 0, "{ledger:?}");
        assert_eq!(ledger.failed + ledger.timed_out, 0, "{ledger:?}");
    }
}

#[test]
fn disconnects_are_survived() {
    for clients in [1, 3] {
        let mut plan = counted(OpKind::Lookup, 1000);
        (plan.clients, plan.workers) = (clients, 1);
        let record = run_with(&plan, &["disconnect,proc=lookup,p=0.01"]);
        let ledger = &record.totals.ledger;
        assert_eq!(ledger.scheduled, 1000);
        assert_eq!(ledger.ok + ledger.disconnected, 1000, "{ledger:?}");
        assert!(ledger.disconnected > 0 && record.totals.reconnections > 0);
        // No two stretches of one connection overlap.
        assert!(record.totals.disconnected_ns <= u64::from(clients) * record.window_ns);
    }
}

#[test]
fn a_server_that_always_disconnects_comes_to_an_end() {
    let mut plan = counted(OpKind::Lookup, 40);
    plan.clients = 1;
    plan.workers = 1;
    plan.reconnect_ns = 300 * MS;
    let server = serve(|options| {
        options.faults = vec!["disconnect,proc=lookup".parse().expect("a rule")];
    });
    let record = run_at(
        &plan,
        server.address(),
        &AtomicBool::new(false),
        &mut NoObserver,
    );
    assert_eq!(record.totals.ledger.ok, 0);
    assert!(record.totals.disconnected_ns <= record.window_ns);
}

#[test]
fn unasked_replies_are_counted_and_disturb_nobody() {
    for transport in [TransportKind::Tcp, TransportKind::Udp] {
        let mut plan = counted(OpKind::Lookup, 500);
        plan.target.nfs3_mut().expect("an NFS target").transport = transport;
        let record = run_with(&plan, &["unasked,proc=lookup"]);
        assert_eq!(record.totals.ledger.ok, 500);
        assert_eq!(record.totals.late_replies, 500);
    }
}

#[test]
fn dropped_calls_time_out_while_others_are_answered() {
    // One connection whose other slots never rest.
    let mut plan = counted(OpKind::Lookup, 0);
    plan.count = None;
    plan.duration_ns = Some(600 * MS);
    (plan.clients, plan.workers) = (1, 1);
    plan.timeout_ns = 50 * MS;
    let record = run_with(&plan, &["drop,proc=lookup,p=0.005"]);
    let ledger = &record.totals.ledger;
    assert!(ledger.timed_out > 0 && ledger.ok > 0, "{ledger:?}");
    // Four slots stuck for good would mean fewer drops than slots.
    assert!(ledger.timed_out > 4, "{ledger:?}");
    assert_eq!(ledger.disconnected, 0);
}

#[test]
fn late_replies_are_counted_after_their_time_out() {
    let mut plan = counted(OpKind::Lookup, 60);
    plan.timeout_ns = 30 * MS;
    let record = run_with(&plan, &["delay=90ms,proc=lookup,p=0.5"]);
    let ledger = &record.totals.ledger;
    assert_eq!(ledger.ok + ledger.timed_out, 60, "{ledger:?}");
    assert!(ledger.timed_out > 0);
}

#[test]
fn over_udp_what_was_dropped_is_sent_again() {
    let mut plan = counted(OpKind::Lookup, 300);
    plan.target.nfs3_mut().expect("an NFS target").transport = TransportKind::Udp;
    plan.timeout_ns = 20 * SECOND;
    // Calls are sent again after 1.1 s, when the server drops none any more.
    let record = run_with(&plan, &["drop,proc=lookup,to=1s"]);
    let kind = record.measured().expect("a row for LOOKUP");
    assert_eq!(kind.ledger.ok, 300, "{:?}", kind.ledger);
    assert_eq!(kind.retransmissions, 12, "each of the first twelve once");
    assert_eq!(kind.calls, 300);
}

#[test]
fn corrupt_replies_never_unbalance_the_ledger() {
    for (operation, transport) in [
        (OpKind::GetAttr, TransportKind::Tcp),
        (OpKind::Read, TransportKind::Tcp),
        (OpKind::ReadDirPlus, TransportKind::Tcp),
        (OpKind::Lookup, TransportKind::Udp),
        (OpKind::Read, TransportKind::Udp),
    ] {
        let mut plan = counted(operation, 300);
        plan.target.nfs3_mut().expect("an NFS target").transport = transport;
        plan.probe_mut().expect("a probe").size_bytes = 32_768;
        plan.read_data = (transport == TransportKind::Udp && operation == OpKind::Read)
            .then_some(ReadData::Verify);
        plan.timeout_ns = 100 * MS;
        let faults = format!("corrupt=20,proc={},p=0.2,from=150ms", operation.name());
        let record = run_with(&plan, &[&faults]);
        assert_eq!(record.totals.ledger.scheduled, 300);
    }
}

#[test]
fn a_frozen_server_makes_open_loops_wait() {
    let mut plan = counted(OpKind::Lookup, 0);
    plan.count = None;
    plan.duration_ns = Some(SECOND);
    plan.timeout_ns = 5 * SECOND;
    plan.in_flight = 16;
    plan.arrivals = ArrivalsPlan::Constant {
        offered_load_ops_per_s: 1000.0,
    };
    let record = run_with(&plan, &["freeze=300ms@400ms"]);
    let totals = &record.totals;
    assert_eq!(totals.ledger.scheduled, 1000);
    assert_eq!(totals.ledger.ok + totals.ledger.skipped, 1000);
    assert!(
        totals.response_time_ns.max >= 200 * MS,
        "{:?}",
        totals.response_time_ns.max
    );
    // 48 slots are not enough for 300 operations: the rest waited for a slot.
    assert!(
        totals.slot_wait_ns.max > 100 * MS,
        "{:?}",
        totals.slot_wait_ns.max
    );
}
