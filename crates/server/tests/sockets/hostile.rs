//! Bytes that are no calls: the server closes or ignores, and serves the others on.

use std::io::{Read, Write};
use std::time::Duration;

use filestone_server::{Options, Server, SmbOptions};
use filestone_wire::rpc::{AcceptStatus, ReplyHeader};
use filestone_wire::xdr::{Decode, Reader};

use super::client::{Client, Datagrams, call, null, options, record, start};

/// Sends bytes and waits for the server to close.
fn is_closed_after(client: &mut Client, bytes: &[u8]) -> bool {
    // The server may close before it has taken everything.
    let _ = client.stream.write_all(bytes);
    let mut rest = Vec::new();
    match client.stream.read_to_end(&mut rest) {
        Ok(_) => true,
        Err(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
    }
}

#[test]
fn what_is_no_record_closes_its_connection_and_no_other() {
    let server = start();
    let mut witness = Client::new(&server);
    let huge = 0xffff_ffff_u32.to_be_bytes();
    let endless_fragments = [&0x0010_0000_u32.to_be_bytes()[..], &vec![0; 1 << 20]].concat();
    let cases: [&[u8]; 4] = [
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        &huge,
        &endless_fragments.repeat(2),
        &[&record(&null(1))[..], &huge].concat(),
    ];
    for bytes in cases {
        assert!(is_closed_after(&mut Client::new(&server), bytes));
        witness.null();
    }
}

#[test]
fn a_call_before_the_nonsense_is_still_answered() {
    let server = start();
    let mut client = Client::new(&server);
    let bytes = [&record(&null(9))[..], &[0xff; 4]].concat();
    client.stream.write_all(&bytes).unwrap();
    assert_eq!(client.receive_xid(), 9);
    assert!(client.receive().is_err());
}

#[test]
fn records_that_are_no_calls_are_passed_over() {
    let server = start();
    let mut client = Client::new(&server);
    for garbage in [&b""[..], b"x", &[0xff; 100], &[0; 23]] {
        client.stream.write_all(&record(garbage)).unwrap();
    }
    // A reply that came to the wrong side.
    let mut reply = null(5);
    reply[7] = 1;
    client.stream.write_all(&record(&reply)).unwrap();
    client.null();
}

#[test]
fn a_call_cut_anywhere_is_garbage_or_no_call() {
    let server = start();
    let mut client = Client::new(&server);
    let handle = client.mount("/export/file");
    let arguments = super::client::read_arguments(&handle, 0, 10);
    let whole = call(3, 100_003, 6, &arguments);
    for len in 40..whole.len() {
        client.stream.write_all(&record(&whole[..len])).unwrap();
        let reply = client.receive().unwrap();
        let header = ReplyHeader::decode(&mut Reader::new(&reply)).unwrap();
        assert_eq!(
            header,
            ReplyHeader::accepted(3, AcceptStatus::GarbageArgs),
            "cut at {len}"
        );
    }
    client.null();
}

#[test]
fn a_connection_that_ends_inside_a_record_is_forgotten() {
    let server = start();
    for len in [1, 4, 20, 43] {
        let mut client = Client::new(&server);
        client.stream.write_all(&record(&null(1))[..len]).unwrap();
        client.stream.shutdown(std::net::Shutdown::Write).unwrap();
        assert!(client.receive().is_err());
    }
    Client::new(&server).null();
}

#[test]
fn a_client_that_sends_all_and_closes_its_side_gets_its_replies() {
    let server = start();
    let mut client = Client::new(&server);
    for _ in 0..100 {
        client.send_null();
    }
    client.stream.shutdown(std::net::Shutdown::Write).unwrap();
    for xid in 2..102 {
        assert_eq!(client.receive_xid(), xid);
    }
    assert!(client.receive().is_err());
}

#[test]
fn datagrams_that_are_no_calls_are_ignored() {
    let server = start();
    let udp = Datagrams::new(server.address());
    for garbage in [&b""[..], b"x", &[0xff; 1000]] {
        udp.send(garbage);
    }
    udp.send(&null(4));
    assert_eq!(udp.receive()[..4], 4_u32.to_be_bytes());
}

/// Of RPC and of SMB: a mark, a record that has begun, a fragment that is not the last. A connection
/// on which nothing has begun may stand still.
#[test]
fn a_record_that_stands_still_closes_its_connection_and_no_other() {
    let server = Server::start(Options {
        record_patience: Duration::from_millis(20),
        smb: Some(SmbOptions::default()),
        ..options()
    })
    .unwrap();
    let mut idle = Client::new(&server);
    idle.null();
    let (rpc, smb) = (server.address(), server.smb_addresses()[0]);
    let cases: [(_, &[u8]); 5] = [
        (rpc, &[0x80, 0]),
        (rpc, &[0x80, 0x10, 0, 0, 1, 2, 3]),
        (rpc, &[0, 0, 0, 4, 1, 2, 3, 4]),
        (smb, &[0, 0]),
        (smb, &[0, 0, 1, 0, 0xfe, b'S', b'M', b'B']),
    ];
    for (address, bytes) in cases {
        let mut client = Client::connect(address);
        assert!(is_closed_after(&mut client, bytes), "{bytes:?}");
    }
    assert_eq!(server.counters().refused, 5);
    idle.null();
}
