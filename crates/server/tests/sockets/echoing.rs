//! What comes is sent back (RFC 862), beside the protocols of the other ports.

use filestone_server::{Options, Server};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream, UdpSocket};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(10);

#[test]
fn what_comes_is_sent_back_by_both_transports() {
    let options = Options {
        echo_port: Some(0),
        threads: 2,
        ..Options::default()
    };
    let server = Server::start(options).expect("it starts");
    let addresses = server.echo_addresses().to_vec();
    assert_eq!(addresses.len(), 2);
    assert!(!server.addresses().contains(&addresses[0]));
    for address in addresses {
        stream_comes_back(address);
    }
    let counters = server.stop();
    assert_eq!(counters.refused, 0);
    assert_eq!(counters.bytes_received, counters.bytes_sent);
}

/// In pieces of any size, none of which is a record of RPC; more than a socket holds.
fn stream_comes_back(address: SocketAddr) {
    let mut socket = TcpStream::connect(address).expect("it listens");
    socket.set_read_timeout(Some(PATIENCE)).expect("an option");
    let sent: Vec<u8> = (0..3_000_000_u32).map(|at| (at % 251) as u8).collect();
    let mut writer = socket.try_clone().expect("a descriptor");
    let bytes = sent.clone();
    let writing = std::thread::spawn(move || {
        for piece in bytes.chunks(99_991) {
            writer.write_all(piece).expect("it is taken");
        }
    });
    let mut back = vec![0; sent.len()];
    socket.read_exact(&mut back).expect("it comes back");
    writing.join().expect("it was all taken");
    assert!(back == sent, "other bytes came back");
}

#[test]
fn a_datagram_comes_back_whole() {
    let options = Options {
        echo_port: Some(0),
        addresses: vec![Ipv4Addr::LOCALHOST.into()],
        ..Options::default()
    };
    let server = Server::start(options).expect("it starts");
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    socket.set_read_timeout(Some(PATIENCE)).expect("an option");
    socket.connect(server.echo_addresses()[0]).expect("a way");
    for len in [1_usize, 44, 60_000] {
        let sent = vec![len as u8; len];
        socket.send(&sent).expect("it is taken");
        let mut back = vec![0; 65_536];
        let count = socket.recv(&mut back).expect("it comes back");
        assert!(back[..count] == sent, "{len}");
    }
}
