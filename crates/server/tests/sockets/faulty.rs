//! Every fault, as a client sees it.

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use filestone_wire::nfs3::{self, Procedure, Status, getattr};
use filestone_wire::xdr::Decode;

use super::client::{Client, Datagrams, call, null, record, start_with};

#[test]
fn an_error_is_answered_instead_of_the_result() {
    let server = start_with(&["error=NFS3ERR_JUKEBOX,proc=getattr"]);
    let mut client = Client::new(&server);
    let file = client.mount("/export/file");
    let arguments = file.borrow();
    let results = client.nfs3(Procedure::Getattr, &arguments);
    let fail = getattr::Reply::from_bytes(&results).unwrap().unwrap_err();
    assert_eq!(fail.status, Status::JUKEBOX);
    assert!(client.read(&file, 0, 10).is_ok());
}

#[test]
fn a_dropped_call_is_not_answered_and_the_next_is() {
    let server = start_with(&["drop,proc=null"]);
    let mut client = Client::new(&server);
    client.send_null();
    // MOUNT is spared by all faults.
    client.mount("/export");
    assert_eq!(server.counters().calls(Procedure::Null), 0);
}

#[test]
fn a_disconnect_closes_the_connection_without_an_answer() {
    let server = start_with(&["disconnect,proc=null"]);
    let mut client = Client::new(&server);
    client.mount("/export");
    client.send_null();
    assert!(client.receive().is_err());
    Client::new(&server).mount("/export");
}

#[test]
fn a_truncated_reply_ends_early_with_a_mark_that_agrees() {
    let server = start_with(&["truncate=10,proc=null"]);
    let mut client = Client::new(&server);
    let xid = client.send_null();
    let reply = client.receive().unwrap();
    assert_eq!(reply.len(), 14);
    assert_eq!(reply[..4], xid.to_be_bytes());
    client.mount("/export");
}

#[test]
fn a_corrupt_reply_differs_behind_its_xid() {
    let server = start_with(&["corrupt,proc=null"]);
    let mut client = Client::new(&server);
    let xid = client.send_null();
    let reply = client.receive().unwrap();
    let right = [&xid.to_be_bytes()[..], &[0, 0, 0, 1], &[0; 16]].concat();
    assert_eq!(reply[..4], right[..4]);
    let differences = reply.iter().zip(&right).filter(|(a, b)| a != b).count();
    assert_eq!((reply.len(), differences), (24, 1));
}

#[test]
fn an_oversize_record_has_an_impossible_mark() {
    let server = start_with(&["oversize,proc=null"]);
    let mut client = Client::new(&server);
    client.send_null();
    let mut mark = [0; 4];
    client.stream.read_exact(&mut mark).unwrap();
    assert_eq!(mark, [0xff; 4]);
}

#[test]
fn an_unasked_reply_comes_before_the_right_one() {
    let server = start_with(&["unasked,proc=null"]);
    let mut client = Client::new(&server);
    let xid = client.send_null();
    assert_eq!(client.receive_xid(), !xid);
    assert_eq!(client.receive_xid(), xid);
    let udp = Datagrams::new(server.address());
    udp.send(&null(5));
    assert_eq!(udp.receive()[..4], (!5_u32).to_be_bytes());
    assert_eq!(udp.receive()[..4], 5_u32.to_be_bytes());
}

#[test]
fn a_delayed_reply_is_late_and_others_overtake_it() {
    let server = start_with(&["delay=30ms,proc=null"]);
    let mut client = Client::new(&server);
    let file = client.mount("/export/file");
    let start = Instant::now();
    let slow = client.send_null();
    let arguments = file.borrow();
    let quick = client.send(nfs3::PROGRAM, 1, &arguments);
    assert_eq!(client.receive_xid(), quick);
    assert_eq!(client.receive_xid(), slow);
    assert!(start.elapsed() >= Duration::from_millis(30));
    let udp = Datagrams::new(server.address());
    let start = Instant::now();
    udp.send(&null(5));
    assert_eq!(udp.receive()[..4], 5_u32.to_be_bytes());
    assert!(start.elapsed() >= Duration::from_millis(30));
}

#[test]
fn exponential_delays_change_the_order_and_lose_nothing() {
    let server = start_with(&["delay=exp:1ms,proc=null"]);
    let mut client = Client::new(&server);
    let mut sent: Vec<u32> = (0..200).map(|_| client.send_null()).collect();
    let mut received: Vec<u32> = sent.iter().map(|_| client.receive_xid()).collect();
    assert_ne!(received, sent);
    received.sort_unstable();
    sent.sort_unstable();
    assert_eq!(received, sent);
}

#[test]
fn a_frozen_server_answers_everything_once_it_thaws() {
    // The freeze begins with the server, so that nothing needs to be timed.
    let start = Instant::now();
    let server = start_with(&["freeze=200ms@0s"]);
    let mut client = Client::new(&server);
    let udp = Datagrams::new(server.address());
    udp.send(&null(3));
    let xids: Vec<u32> = (0..10).map(|_| client.send_null()).collect();
    for xid in xids {
        assert_eq!(client.receive_xid(), xid);
    }
    assert_eq!(udp.receive()[..4], 3_u32.to_be_bytes());
    assert!(start.elapsed() >= Duration::from_millis(200));
}

#[test]
fn a_frozen_server_can_be_stopped() {
    let server = start_with(&["freeze=1000s@0s"]);
    let mut client = Client::new(&server);
    client.send_null();
    server.stop();
    assert!(client.receive().is_err());
}

#[test]
fn spoilt_replies_with_file_data_keep_the_stream_in_step() {
    let server = start_with(&["truncate=1000,proc=read,p=0.5", "corrupt=3,proc=read,p=0.5"]);
    let mut client = Client::new(&server);
    let file = client.mount("/export/file");
    let arguments = super::client::read_arguments(&file, 0, 100_000);
    let mut lengths = Vec::new();
    for xid in 0..50 {
        let call = call(xid, nfs3::PROGRAM, 6, &arguments);
        client.stream.write_all(&record(&call)).unwrap();
        let reply = client.receive().unwrap();
        assert_eq!(reply[..4], xid.to_be_bytes());
        lengths.push(reply.len());
    }
    lengths.sort_unstable();
    lengths.dedup();
    assert_eq!(lengths.len(), 2);
    assert_eq!(lengths[1] - lengths[0], 1000);
}
