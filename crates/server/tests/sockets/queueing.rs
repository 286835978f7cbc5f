//! Calls that wait for workers, as a client sees them. Nothing comes before its time; how much
//! after it, a busy machine decides, so nothing here says.

use std::io::Write;
use std::time::{Duration, Instant};

use filestone_server::{Options, QueueOptions, Running, Server, SmbOptions};
use filestone_wire::nfs3::Procedure;
use filestone_wire::smb2::{Command, Status, echo};

use super::client::{Client, Datagrams, null, options, record};
use super::smb;

const SERVICE: Duration = Duration::from_millis(20);

fn start(workers: u32, threads: usize) -> Running {
    let queue = QueueOptions {
        service_time: filestone_server::ServiceTime::Fixed(SERVICE),
        workers,
    };
    Server::start(Options {
        queue: Some(queue),
        threads,
        smb: Some(SmbOptions::default()),
        ..options()
    })
    .unwrap()
}

#[test]
fn calls_sent_at_once_come_back_in_order_one_service_time_after_the_other() {
    let server = start(1, 1);
    let mut client = Client::new(&server);
    let calls: Vec<u8> = (1..=10).flat_map(|xid| record(&null(xid))).collect();
    let begin = Instant::now();
    client.stream.write_all(&calls).unwrap();
    for xid in 1..=10 {
        assert_eq!(client.receive_xid(), xid);
        assert!(begin.elapsed() >= xid * SERVICE, "{xid}");
    }
    let counters = server.counters();
    assert_eq!(counters.calls(Procedure::Null), 10);
}

#[test]
fn two_workers_answer_two_calls_per_service_time() {
    let server = start(2, 1);
    let mut client = Client::new(&server);
    let calls: Vec<u8> = (1..=6).flat_map(|xid| record(&null(xid))).collect();
    let begin = Instant::now();
    client.stream.write_all(&calls).unwrap();
    for xid in 1..=6_u32 {
        assert_eq!(client.receive_xid(), xid);
        assert!(begin.elapsed() >= xid.div_ceil(2) * SERVICE, "{xid}");
    }
}

#[test]
fn the_line_is_one_for_all_threads_connections_and_transports() {
    let server = start(1, 2);
    let mut clients = [Client::new(&server), Client::new(&server)];
    let datagrams = Datagrams::new(server.address());
    let begin = Instant::now();
    for client in &mut clients {
        client.send_null();
        client.send_null();
    }
    datagrams.send(&null(1));
    for client in &mut clients {
        client.receive().unwrap();
        client.receive().unwrap();
    }
    datagrams.receive();
    assert!(begin.elapsed() >= 5 * SERVICE);
}

#[test]
fn requests_of_smb_come_back_in_order_one_service_time_after_the_other() {
    let server = start(1, 1);
    let mut client = smb::Client::mounted(&server);
    let begin = Instant::now();
    let ids: Vec<u64> = (0..5)
        .map(|_| client.send(Command::Echo, &echo::Request::default()))
        .collect();
    for (answered, id) in (1..).zip(ids) {
        let header = client.answer().0;
        assert_eq!((header.message_id, header.status), (id, Status::SUCCESS));
        assert!(begin.elapsed() >= answered * SERVICE, "{answered}");
    }
}

#[test]
fn both_protocols_wait_in_one_line() {
    let server = start(1, 1);
    let (mut nfs, mut share) = (Client::new(&server), smb::Client::mounted(&server));
    let begin = Instant::now();
    for _ in 0..2 {
        nfs.send_null();
        share.send(Command::Echo, &echo::Request::default());
    }
    for _ in 0..2 {
        nfs.receive().unwrap();
        assert_eq!(share.answer().0.status, Status::SUCCESS);
    }
    assert!(begin.elapsed() >= 4 * SERVICE);
}

/// Nor does the way to the share.
#[test]
fn mount_does_not_wait_in_line() {
    let server = start(1, 1);
    let mut client = Client::new(&server);
    let xid = client.send_null();
    // The reply of MOUNT overtakes that of the call before it.
    client.mount("/export");
    assert_eq!(client.receive_xid(), xid);
}
