use super::*;
use filestone_wire::tbench::{MESSAGE_MAX, TbenchExchange};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

/// Long enough for a slow machine; a longer wait has failed.
const PATIENCE: Duration = Duration::from_secs(60);

fn start() -> TbenchServer {
    TbenchServer::start(&TbenchOptions::default()).unwrap()
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.set_write_timeout(Some(PATIENCE)).unwrap();
    stream
}

fn request(request_len: u32, reply_len: u32) -> Vec<u8> {
    let exchange = TbenchExchange::new(request_len.into(), reply_len.into()).unwrap();
    let mut bytes = vec![0xee; request_len as usize];
    bytes[..8].copy_from_slice(&exchange.to_bytes());
    bytes
}

fn exchange(stream: &mut TcpStream, request_len: u32, reply_len: u32) {
    stream.write_all(&request(request_len, reply_len)).unwrap();
    expect_reply(stream, reply_len);
}

fn expect_reply(stream: &mut TcpStream, reply_len: u32) {
    let mut reply = vec![0; reply_len as usize];
    stream.read_exact(&mut reply).unwrap();
    assert_eq!(reply[..4], (reply_len - 4).to_be_bytes());
}

fn expect_closed(mut stream: TcpStream) {
    // Closing with unread bytes is a reset, without them an end.
    assert!(matches!(stream.read(&mut [0; 64]), Ok(0) | Err(_)));
}

#[test]
fn every_length_is_answered_over_ipv4_and_ipv6() {
    let server = start();
    for address in server.addresses() {
        let mut stream = connect(*address);
        exchange(&mut stream, 8, 8);
        for request_len in [8, 9, 47, 255, 256, 511, 512, 513, 4155, 65_595, 300_000] {
            for reply_len in [4, 5, 39, 2047, 2048, 2049, 65_595, 131_076, 300_000] {
                exchange(&mut stream, request_len, reply_len);
            }
        }
    }
    assert_eq!(server.addresses().len(), 2);
    let counters = server.stop();
    assert_eq!(counters.connections, 2);
    assert_eq!(counters.exchanges, 2 * (1 + 11 * 9));
    assert_eq!((counters.refused, counters.broken), (0, 0));
}

#[test]
fn the_longest_messages_pass_and_are_counted() {
    let server = start();
    let mut stream = connect(server.address());
    exchange(&mut stream, MESSAGE_MAX, 4);
    exchange(&mut stream, 8, MESSAGE_MAX);
    drop(stream);
    let counters = server.stop();
    assert_eq!(counters.bytes_received, u64::from(MESSAGE_MAX) + 8);
    assert_eq!(counters.bytes_sent, u64::from(MESSAGE_MAX) + 4);
}

#[test]
fn requests_sent_without_waiting_are_answered_in_turn() {
    let server = start();
    let mut stream = connect(server.address());
    let lengths = [(8, 8), (47, 39), (1000, 55), (59, 4155), (300, 71)];
    let all = lengths.map(|(request_len, reply_len)| request(request_len, reply_len));
    stream.write_all(&all.concat()).unwrap();
    for (_, reply_len) in lengths {
        expect_reply(&mut stream, reply_len);
    }
}

#[test]
fn a_request_may_arrive_byte_by_byte() {
    let server = start();
    let mut stream = connect(server.address());
    for byte in request(400, 39) {
        stream.write_all(&[byte]).unwrap();
    }
    expect_reply(&mut stream, 39);
}

#[test]
fn lengths_out_of_bounds_cost_their_connection_only() {
    let server = start();
    let mut good = connect(server.address());
    exchange(&mut good, 8, 8);
    let header = |rest: u32, wanted: u32| [rest.to_be_bytes(), wanted.to_be_bytes()].concat();
    let hostile = [
        header(0, 4),
        header(3, 4),
        header(u32::MAX, 4),
        header(4, u32::MAX),
        header(MESSAGE_MAX - 3, 4),
        header(4, MESSAGE_MAX - 3),
        b"GET / HTTP/1.0\r\n\r\n".to_vec(),
    ];
    for bytes in &hostile {
        let mut stream = connect(server.address());
        stream.write_all(bytes).unwrap();
        expect_closed(stream);
    }
    exchange(&mut good, 4155, 55);
    drop(good);
    let counters = server.stop();
    assert_eq!(counters.refused, hostile.len() as u64);
    assert_eq!(counters.exchanges, 2);
}

#[test]
fn hanging_up_in_the_middle_is_told_from_hanging_up() {
    let server = start();
    let mut stream = connect(server.address());
    exchange(&mut stream, 8, 8);
    stream.shutdown(Shutdown::Write).unwrap();
    expect_closed(stream);
    let mut stream = connect(server.address());
    stream.write_all(&request(5000, 39)[..3000]).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    expect_closed(stream);
    let counters = server.stop();
    assert_eq!(counters.connections, 2);
    assert_eq!(counters.broken, 1);
}

#[test]
fn stopping_does_not_wait_for_those_who_stall() {
    let server = start();
    let mut in_a_header = connect(server.address());
    in_a_header.write_all(&[0, 0]).unwrap();
    let mut in_a_body = connect(server.address());
    in_a_body.write_all(&request(5000, 39)[..100]).unwrap();
    // This reply is not read, so the server blocks in sending it.
    let mut in_a_reply = connect(server.address());
    in_a_reply.write_all(&request(8, MESSAGE_MAX)).unwrap();
    let mut good = connect(server.address());
    exchange(&mut good, 8, 8);
    let counters = server.stop();
    assert_eq!(counters.connections, 4);
    expect_closed(good);
}

#[test]
fn more_connections_than_allowed_are_turned_away() {
    let server = TbenchServer::start(&TbenchOptions {
        connections_max: 1,
        ..TbenchOptions::default()
    })
    .unwrap();
    let mut first = connect(server.address());
    exchange(&mut first, 8, 8);
    expect_closed(connect(server.address()));
    exchange(&mut first, 8, 8);
    let counters = server.stop();
    assert_eq!((counters.connections, counters.turned_away), (1, 1));
}

#[test]
fn what_cannot_be_set_on_the_socket_is_an_error_at_the_start() {
    let refused = TbenchServer::start(&TbenchOptions {
        configure: Configure::new(|_| Err(io::ErrorKind::Unsupported.into())),
        ..TbenchOptions::default()
    });
    let error = refused.map(drop).unwrap_err();
    assert!(error.to_string().starts_with("TCP 127.0.0.1:0"), "{error}");
}
