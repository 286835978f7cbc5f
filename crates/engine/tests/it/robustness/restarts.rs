//! Servers that go away in the middle of a run.

use super::{MS, run_at};
use crate::support::SECOND;
use crate::support::live::{probe, serve};
use crate::support::relay::{Relay, Seen, cut_at};
use filestone_host::control::Observer;
use filestone_measure::measure::run_record::{IntervalRecord, RunOutcome};
use filestone_measure::measure::{Caveat, RunRecord};
use filestone_plan::plan::{ArrivalsPlan, OnLost, Plan, TransportKind};
use filestone_server::{Options, Running, Server};
use filestone_wire::nfs3::Procedure;
use filestone_workload::operation::OpKind;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, channel};

/// A server on the same port as the one before.
fn serve_again(port: u16) -> Running {
    let options = Options {
        port,
        ..Options::default()
    };
    Server::start(options).expect("the port is free again")
}

/// Stops the server after the first interval. One that comes back does so after the second: it
/// is away for one interval of the run's own clock, however busy the host is.
struct Restart {
    server: Option<Running>,
    comes_back: bool,
    /// The port of a server that is away and comes back.
    away: Option<u16>,
    back: Option<Running>,
}

impl Observer for Restart {
    fn interval(&mut self, _record: &IntervalRecord) {
        if let Some(port) = self.away.take() {
            self.back = Some(serve_again(port));
        } else if let Some(server) = self.server.take() {
            self.away = self.comes_back.then_some(server.port());
            server.stop();
        }
    }
}

fn run_with(plan: &Plan, comes_back: bool) -> RunRecord {
    let server = serve(|_| {});
    let address = server.address();
    let mut restart = Restart {
        server: Some(server),
        comes_back,
        away: None,
        back: None,
    };
    let record = run_at(plan, address, &AtomicBool::new(false), &mut restart);
    assert!(restart.server.is_none(), "there was an interval");
    assert_eq!(restart.back.is_some(), comes_back);
    record
}

fn run_with_restart(plan: &Plan) -> RunRecord {
    run_with(plan, true)
}

fn run_with_loss(plan: &Plan) -> RunRecord {
    run_with(plan, false)
}

fn timed(operation: OpKind, clients: u32, workers: u32) -> Plan {
    let mut plan = probe(operation, TransportKind::Tcp, 0);
    plan.count = None;
    plan.duration_ns = Some(900 * MS);
    plan.interval_ns = 200 * MS;
    plan.clients = clients;
    plan.workers = workers;
    plan
}

fn check_survival(record: &RunRecord) {
    let totals = &record.totals;
    assert_eq!(record.end, RunOutcome::Finished);
    assert!(totals.ledger.disconnected > 0, "{:?}", totals.ledger);
    assert!(
        totals.reconnections >= u64::from(record.plan.clients),
        "{} of {}",
        totals.reconnections,
        record.plan.clients
    );
    assert!(totals.disconnected_ns > 0);
    assert_eq!(totals.ledger.in_flight, 0, "all were drained");
    // After the server was back, operations succeeded again.
    let last = record.ticks.last().expect("a tick");
    assert!(last.ended > 0 && last.start_ns >= 700 * MS, "{last:?}");
    assert!(
        record
            .caveats
            .iter()
            .any(|caveat| matches!(caveat, Caveat::Reconnected { .. })),
        "{:?}",
        record.caveats
    );
}

#[test]
fn one_client_goes_on_when_the_server_comes_back() {
    let record = run_with_restart(&timed(OpKind::GetAttr, 1, 1));
    check_survival(&record);
    assert_eq!(record.totals.reconnections, 1);
}

#[test]
fn many_clients_go_on_when_the_server_comes_back() {
    let mut plan = timed(OpKind::Read, 20, 2);
    plan.probe_mut().expect("a probe").size_bytes = 65_536;
    let record = run_with_restart(&plan);
    check_survival(&record);
    assert_eq!(record.totals.ledger.failed, 0, "{:?}", record.totals.kinds);
}

#[test]
fn an_open_loop_counts_what_came_due_while_the_server_was_away() {
    let mut plan = timed(OpKind::GetAttr, 4, 2);
    plan.arrivals = ArrivalsPlan::Constant {
        offered_load_ops_per_s: 2000.0,
    };
    plan.in_flight = 64;
    let record = run_with_restart(&plan);
    let ledger = &record.totals.ledger;
    assert_eq!(ledger.scheduled, 1800);
    assert_eq!(record.end, RunOutcome::Finished);
    // Some waited for the server for a good part of its absence.
    assert!(record.totals.response_time_ns.max >= 100 * MS);
    assert!(ledger.ok > 1000, "{ledger:?}");
}

#[test]
fn datagrams_find_the_server_again_without_any_connection() {
    let mut plan = timed(OpKind::GetAttr, 2, 1);
    plan.target.nfs3_mut().expect("an NFS target").transport = TransportKind::Udp;
    plan.duration_ns = Some(1500 * MS);
    let record = run_with_restart(&plan);
    assert_eq!(record.end, RunOutcome::Finished);
    let kind = record.measured().expect("a row for GETATTR");
    assert!(kind.retransmissions > 0, "{:?}", kind.ledger);
    assert_eq!(kind.ledger.ok, kind.ledger.scheduled, "{:?}", kind.failures);
}

#[test]
fn changes_go_on_or_fail_in_words_when_their_directory_went_with_the_server() {
    let record = run_with_restart(&timed(OpKind::Create, 2, 1));
    assert_eq!(record.end, RunOutcome::Finished);
    let kind = record.measured().expect("a row for CREATE");
    assert!(kind.ledger.failed > 0, "{:?}", kind.ledger);
    assert!(kind.failures[0].failure.contains("NFS3ERR_STALE"));
    // The directory is gone with the server that had it: nothing is left behind.
    assert!(
        !record
            .caveats
            .iter()
            .any(|caveat| matches!(caveat, Caveat::Leftover { .. })),
        "{:?}",
        record.caveats
    );
}

fn check_loss(record: &RunRecord) {
    let RunOutcome::TargetLost { message } = &record.end else {
        unreachable!("{:?}", record.end)
    };
    assert!(message.contains("127.0.0.1:"), "{message}");
    assert!(record.totals.ledger.ok > 0, "what was measured is kept");
    assert!(!record.intervals.is_empty());
    assert!(record.window_ns < 5 * SECOND);
    assert!(
        record
            .caveats
            .iter()
            .any(|caveat| matches!(caveat, Caveat::TargetLost { .. })),
        "{:?}",
        record.caveats
    );
}

#[test]
fn a_server_that_is_gone_for_good_ends_the_run_and_everything_is_kept() {
    for (operation, clients, workers) in [
        (OpKind::GetAttr, 1, 1),
        (OpKind::GetAttr, 8, 2),
        (OpKind::Create, 3, 1),
    ] {
        let mut plan = timed(operation, clients, workers);
        plan.duration_ns = Some(60 * SECOND);
        plan.reconnect_ns = 200 * MS;
        let record = run_with_loss(&plan);
        check_loss(&record);
        let left_behind = record
            .caveats
            .iter()
            .any(|caveat| matches!(caveat, Caveat::Leftover { .. }));
        assert_eq!(left_behind, operation == OpKind::Create);
    }
}

#[test]
fn a_count_does_not_wait_for_ever_for_a_server_that_is_gone() {
    let mut plan = timed(OpKind::GetAttr, 4, 2);
    plan.duration_ns = None;
    plan.count = Some(1 << 40);
    plan.reconnect_ns = 100 * MS;
    check_loss(&run_with_loss(&plan));
}

#[test]
fn datagrams_to_a_server_that_is_gone_time_out() {
    let mut plan = timed(OpKind::Null, 2, 1);
    plan.target.nfs3_mut().expect("an NFS target").transport = TransportKind::Udp;
    plan.target.nfs3_mut().expect("an NFS target").path = "/export".into();
    plan.timeout_ns = 300 * MS;
    let record = run_with_loss(&plan);
    assert_eq!(record.end, RunOutcome::Finished);
    assert!(record.totals.ledger.timed_out > 0);
    assert!(record.totals.ledger.ok > 0);
}

/// Stands between clients and a server, for so many connections; after them nobody can come any
/// more. Gives where it listens, and the last connection when it is there.
fn stand_between(server: SocketAddr, connections: usize) -> (SocketAddr, Receiver<TcpStream>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    let pump = |mut from: TcpStream, mut to: TcpStream| {
        std::thread::spawn(move || {
            let _ = std::io::copy(&mut from, &mut to);
            let _ = to.shutdown(Shutdown::Both);
        });
    };
    let (give_last, last) = channel();
    std::thread::spawn(move || {
        for (index, stream) in listener.incoming().take(connections).flatten().enumerate() {
            let there = TcpStream::connect(server).expect("the server is there");
            let copy = |stream: &TcpStream| stream.try_clone().expect("another descriptor");
            pump(copy(&stream), copy(&there));
            pump(there, copy(&stream));
            if index + 1 == connections {
                let _ = give_last.send(stream);
            }
        }
    });
    (address, last)
}

/// Cuts a connection after the first interval.
struct Cut(Receiver<TcpStream>);

impl Observer for Cut {
    fn interval(&mut self, _record: &IntervalRecord) {
        if let Ok(connection) = self.0.try_recv() {
            connection
                .shutdown(Shutdown::Both)
                .expect("it is connected");
        }
    }
}

/// A run of two clients of which one is cut off for good after the first interval.
fn run_with_cut(on_lost: OnLost, change: impl FnOnce(&mut Plan)) -> RunRecord {
    let server = serve(|_| {});
    // Two before the run, one for MOUNT, and two clients.
    let (address, last) = stand_between(server.address(), 5);
    let mut plan = timed(OpKind::GetAttr, 2, 1);
    plan.target.nfs3_mut().expect("an NFS target").host = Some("127.0.0.1".into());
    plan.target.nfs3_mut().expect("an NFS target").port = Some(address.port());
    plan.reconnect_ns = 150 * MS;
    plan.connections.on_lost = Some(on_lost);
    change(&mut plan);
    let stop = AtomicBool::new(false);
    let record =
        crate::support::entry::run(&plan, None, &stop, &mut Cut(last)).expect("the run is made");
    super::check(&record);
    record
}

#[test]
fn the_loss_of_one_client_is_the_loss_of_that_client() {
    for on_lost in [OnLost::Retry, OnLost::Continue] {
        let record = run_with_cut(on_lost, |_| {});
        assert_eq!(record.end, RunOutcome::Finished);
        let totals = &record.totals;
        assert_eq!((totals.lost_clients, totals.reconnections), (1, 0));
        assert!(totals.disconnected_ns > 0 && totals.disconnected_ns < record.window_ns);
        assert!(totals.ledger.disconnected > 0, "{:?}", totals.ledger);
        assert_eq!(totals.ledger.in_flight, 0, "nothing is waited for in vain");
        let last = record.ticks.last().expect("a tick");
        assert!(last.ended > 0, "the other went on");
        let is_lost = |caveat: &Caveat| {
            matches!(
                caveat,
                Caveat::ConnectionsLost {
                    count: 1,
                    clients: 2
                }
            )
        };
        assert!(record.caveats.iter().any(is_lost), "{:?}", record.caveats);
    }
}

#[test]
fn one_connection_that_is_gone_for_good_does_not_leave_the_run_waiting() {
    let record = run_with_cut(OnLost::End, |plan| {
        (plan.duration_ns, plan.count) = (None, Some(u64::MAX >> 8));
    });
    check_loss(&record);
    assert!(record.totals.ledger.disconnected > 0);
}

#[test]
fn a_directory_that_a_probe_cannot_complete_and_cannot_remove_is_named() {
    for which in 1..=3 {
        let server = serve(|_| {});
        let is_create = |seen: Seen| seen.nfs() == Some(Procedure::Create);
        // The marker, and the files of two clients.
        let relay = Relay::to(server.address(), cut_at(which, u32::MAX, is_create));
        let mut plan = timed(OpKind::Write, 2, 1);
        plan.reconnect_ns = 100 * MS;
        let error = super::error_at(&plan, relay.address());
        let help = error.help().unwrap_or_default();
        let is_named = help.contains("/export/filestone-") && help.contains("could not be removed");
        assert!(is_named, "{which}: {error}: {help}");
    }
}
