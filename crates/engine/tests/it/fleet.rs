//! Whole fleets on every layer that has files: from claiming the place to the record, with every byte
//! looked at that is read.

use crate::support::entry::replay;
use crate::support::scratch::Scratch;
use filestone_engine::control::Unobserved;
use filestone_engine::target::BuiltIn;
use filestone_model::measure::RunRecord;
use filestone_model::measure::fleet_record::{ClientState, GroupRecord};
use filestone_model::payload::Pattern;
use filestone_model::plan::{
    Direction, FleetPlan, GroupPlan, HealthPlan, LeftOverPolicy, NfsTarget, OnLost, Plan,
    SmbTarget, Span, TargetPlan, WorkloadPlan,
};
use filestone_server::{Options, Server, SmbOptions};
use std::sync::atomic::AtomicBool;

const SECOND: u64 = 1_000_000_000;

/// Two clients that write, two that read what these do, two that do both.
fn groups(files: u64) -> Vec<GroupPlan> {
    let group = |name: &str, direction, pattern| {
        let usual = GroupPlan::new(name, 2, direction);
        let mut quiesce = usual.quiesce;
        quiesce.files = Some(files);
        GroupPlan {
            pattern,
            quiesce,
            file_size: Span {
                min: 100_000,
                max: 300_001,
            },
            write_size: Span {
                min: 80,
                max: 70_000,
            },
            read_size: Span {
                min: 500,
                max: 70_000,
            },
            ..usual
        }
    };
    let readers = GroupPlan {
        reads: Some(0),
        ..group("readers", Direction::Read, Pattern::Zeros)
    };
    vec![
        group("writers", Direction::Write, Pattern::Prbs15),
        readers,
        GroupPlan {
            stable: true,
            ..group("both", Direction::Both, Pattern::Random)
        },
    ]
}

fn plan(target: TargetPlan, groups: Vec<GroupPlan>) -> Plan {
    let fleet = FleetPlan {
        name: "test".into(),
        groups,
        more_targets: vec![],
        ramp: None,
        health: HealthPlan::default(),
        clients_per_thread: 1,
        left_over: LeftOverPolicy::default(),
        keep_files: false,
    };
    let clients = fleet.clients();
    let workers = if target.is_directory() { 1 } else { 2 };
    let workload = WorkloadPlan::Fleet(Box::new(fleet));
    let mut plan = Plan {
        clients,
        workers,
        // It ends when all have done enough.
        duration_ns: Some(60 * SECOND),
        ..Plan::new("fleet", target, workload, 7)
    };
    if !plan.target.is_directory() {
        plan.connections.on_lost = Some(OnLost::Retry);
    }
    plan.with_read_data(None)
}

fn run(plan: &Plan, built_in: BuiltIn) -> RunRecord {
    let stop = AtomicBool::new(false);
    let record = replay(plan, &[], built_in, &stop, &mut Unobserved).expect("it runs");
    record.check().expect("the record agrees with itself");
    record
}

/// What every layer must make of two, three or more files of each client.
fn assert_whole(record: &RunRecord, files: u64) {
    let fleet = record.fleet.as_ref().expect("it is a fleet");
    assert_eq!(fleet.mismatches, [], "{:?}", record.target);
    assert_eq!(fleet.lost, []);
    let [writers, readers, both] = fleet.groups.as_slice() else {
        panic!("three groups");
    };
    for group in &fleet.groups {
        assert_eq!(
            (group.counters.failures, group.counters.checksum_errors),
            (0, 0)
        );
        assert_eq!(group.states[0].state, ClientState::Stopped);
        assert_eq!((group.states.len(), group.states[0].clients), (1, 2));
    }
    let moved = |group: &GroupRecord| (group.counters.files_written, group.counters.files_read);
    assert_eq!(moved(writers), (2 * files, 0));
    assert_eq!(moved(readers), (0, 2 * files));
    assert_eq!(moved(both), (2 * files, 2 * files));
    assert_eq!(both.counters.bytes_read, both.counters.bytes_written);
    // What was counted by the clients is what was recorded.
    let counted: u64 = fleet
        .groups
        .iter()
        .map(|group| group.counters.reads + group.counters.writes)
        .sum();
    assert_eq!(record.totals.ledger.ok, counted);
    assert_eq!(record.totals.ledger.unsuccessful(), 0);
}

#[test]
fn a_fleet_runs_on_nfs() {
    let server = Server::start(Options::default()).expect("the server starts");
    let built_in = BuiltIn {
        nfs3: Some(server.address()),
        ..BuiltIn::default()
    };
    let target = TargetPlan::Nfs3(NfsTarget::built_in("/export"));
    assert_whole(&run(&plan(target, groups(3)), built_in), 3);
}

#[test]
fn a_fleet_runs_on_a_share() {
    let options = Options {
        smb: Some(SmbOptions::default()),
        ..Options::default()
    };
    let server = Server::start(options).expect("the server starts");
    let built_in = BuiltIn {
        smb: server.smb_addresses().first().copied(),
        ..BuiltIn::default()
    };
    let target = SmbTarget::built_in("");
    assert_whole(&run(&plan(TargetPlan::Smb(target), groups(2)), built_in), 2);
}

#[test]
fn a_fleet_runs_on_a_directory_and_leaves_nothing() {
    let place = Scratch::new();
    assert_whole(
        &run(&plan(place.target(), groups(3)), BuiltIn::default()),
        3,
    );
    assert!(place.is_empty());
}
