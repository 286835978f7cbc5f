//! Whole fleets on every layer that has files: from claiming the place to the record, with every byte
//! looked at that is read.

use crate::support::entry::replay;
use crate::support::relay::{Fate, Relay};
use crate::support::scratch::Scratch;
use filestone_engine::protocols::BuiltIn;
use filestone_host::control::NoObserver;
use filestone_measure::measure::RunRecord;
use filestone_measure::measure::fleet_record::{ClientState, GroupRecord, StepRecord};
use filestone_measure::measure::run_record::RunOutcome;
use filestone_plan::plan::{
    Direction, FleetPlan, GroupPlan, HealthPlan, LeftoverPolicy, NfsTarget, OnLost, Plan, RampPlan,
    SmbTarget, TargetPlan, ValueRange, WorkloadPlan,
};
use filestone_server::{Options, Running, Server, SmbOptions};
use filestone_workload::payload::Pattern;
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
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
            file_size: ValueRange {
                min: 100_000,
                max: 300_001,
            },
            write_size: ValueRange {
                min: 80,
                max: 70_000,
            },
            read_size: ValueRange {
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
        left_over: LeftoverPolicy::default(),
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
    let record = replay(plan, &[], built_in, &stop, &mut NoObserver).expect("it runs");
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

/// The built-in server, and the target of a fleet on it, over each protocol that clients connect by.
fn served() -> [(Running, TargetPlan); 2] {
    let start = |smb| {
        let options = Options {
            smb,
            ..Options::default()
        };
        Server::start(options).expect("the server starts")
    };
    [
        (
            start(None),
            TargetPlan::Nfs3(NfsTarget::built_in("/export")),
        ),
        (
            start(Some(SmbOptions::default())),
            TargetPlan::Smb(SmbTarget::built_in("")),
        ),
    ]
}

/// Where the target is, if it is reached at this address.
fn at(target: &TargetPlan, address: SocketAddr) -> BuiltIn {
    let is_smb = target.smb().is_some();
    BuiltIn {
        nfs3: Some(address).filter(|_| !is_smb),
        smb: Some(address).filter(|_| is_smb),
        ..BuiltIn::default()
    }
}

fn address_of(server: &Running, target: &TargetPlan) -> SocketAddr {
    let smb = server.smb_addresses().first().copied();
    let smb = smb.filter(|_| target.smb().is_some());
    smb.unwrap_or(server.address())
}

#[test]
fn each_step_of_a_ramp_connects_its_own_clients() {
    for (server, target) in served() {
        let built_in = at(&target, address_of(&server, &target));
        let mut plan = plan(target, groups(2));
        if let WorkloadPlan::Fleet(fleet) = &mut plan.workload {
            fleet.ramp = Some(RampPlan {
                clients: 2,
                every_ns: SECOND / 5,
            });
        }
        plan.interval_ns = SECOND / 5;
        let record = run(&plan, built_in);
        assert_whole(&record, 2);
        let made = record.connections.as_ref().expect("they were made").made;
        assert_eq!(made, 2, "before the run");
        assert_eq!(record.totals.reconnections, 0);
        let steps = &record.fleet.as_ref().expect("it is a fleet").steps;
        let connected = |step: &StepRecord| step.connect_time_p99_ns.is_some();
        assert!(steps.len() >= 3 && steps.iter().take(3).all(connected));
    }
}

/// The address of the first client, from which the run is prepared, too.
const FIRST_CLIENT: Ipv4Addr = Ipv4Addr::new(127, 9, 2, 1);

/// Where a server seems to be that takes so many connections from addresses of other clients than the
/// first, and no more.
fn taking(server: SocketAddr, most: usize) -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    let carry = |mut from: TcpStream, mut to: TcpStream| {
        std::thread::spawn(move || {
            let _ = std::io::copy(&mut from, &mut to);
            let _ = to.shutdown(Shutdown::Both);
        });
    };
    std::thread::spawn(move || {
        let mut taken = 0;
        while taken < most
            && let Ok((client, from)) = listener.accept()
        {
            let of_run = [Ipv4Addr::LOCALHOST, FIRST_CLIENT].map(IpAddr::from);
            taken += usize::from(!of_run.contains(&from.ip()));
            let server = TcpStream::connect(server).expect("it is there");
            let copy = |stream: &TcpStream| stream.try_clone().expect("a descriptor");
            carry(copy(&client), copy(&server));
            carry(server, client);
        }
    });
    address
}

#[test]
fn the_rest_goes_on_without_those_that_the_server_does_not_take() {
    for (server, target) in served() {
        let built_in = at(&target, taking(address_of(&server, &target), 3));
        let mut plan = plan(target, groups(2));
        plan.duration_ns = Some(SECOND);
        plan.interval_ns = SECOND / 5;
        // Who is lost is not waited for when the run is over.
        (plan.timeout_ns, plan.reconnect_ns) = (SECOND / 2, SECOND / 10);
        if let WorkloadPlan::Fleet(fleet) = &mut plan.workload {
            fleet.ramp = Some(RampPlan {
                clients: 3,
                every_ns: SECOND / 5,
            });
            for group in &mut fleet.groups {
                group.sources = "127.9.2.1-127.9.2.9".parse().expect("addresses");
            }
        }
        let record = run(&plan, built_in);
        assert_eq!(record.end, RunOutcome::Finished);
        let fleet = record.fleet.as_ref().expect("it is a fleet");
        let count = |states: &[ClientState]| {
            let all = fleet.groups.iter().flat_map(|group| &group.states);
            let those = all.filter(|count| states.contains(&count.state));
            those.map(|count| count.clients).sum::<u32>()
        };
        // Three begin with the first step, and a fourth with the second.
        assert!(count(&[ClientState::Stopped]) >= 2, "{:?}", fleet.groups);
        assert!(count(&[ClientState::Stopped]) <= 4, "{:?}", fleet.groups);
        assert_eq!(count(&ClientState::ALL), 6);
        let errors = fleet.groups.iter();
        let errors: u64 = errors.map(|group| group.counters.checksum_errors).sum();
        assert_eq!(errors, 0);
    }
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
fn what_is_prepared_comes_from_the_addresses_of_a_group() {
    let server = Server::start(Options::default()).expect("the server starts");
    let relay = Relay::to(server.address(), |_| Fate::Pass);
    let mut groups = groups(1);
    for group in &mut groups {
        group.sources = "127.9.4.1".parse().expect("an address");
    }
    let built_in = BuiltIn {
        nfs3: Some(relay.address()),
        ..BuiltIn::default()
    };
    let target = TargetPlan::Nfs3(NfsTarget::built_in("/export"));
    assert_whole(&run(&plan(target, groups), built_in), 1);
    let peers = relay.peers();
    let source = IpAddr::from([127, 9, 4, 1]);
    assert!(peers.iter().all(|peer| peer.ip() == source), "{peers:?}");
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
