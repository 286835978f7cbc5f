//! A server between the client and the built-in one: it notes what is asked, and
//! changes what is answered.

use filestone_wire::record::RecordMark;
use filestone_wire::rpc::CallHeader;
use filestone_wire::xdr::{Decode, Reader};
use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// A call, as far as tests ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Seen {
    pub xid: u32,
    pub program: u32,
    pub procedure: u32,
}

/// Changes a reply, xid and RPC header included, to the call of this procedure.
pub type Change = fn(Seen, &mut Vec<u8>);

/// What went through, and where.
pub struct Relay {
    address: SocketAddr,
    /// The calls of each connection, in order.
    connections: Arc<Mutex<Vec<Vec<Seen>>>>,
}

impl Relay {
    /// Relays to `server` from a free port, for as long as the test runs.
    pub fn start(server: SocketAddr, change: Change) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let connections = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&connections);
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let Ok(server) = TcpStream::connect(server) else {
                    return;
                };
                let number = {
                    let mut noted = noted.lock().expect("nobody panics");
                    noted.push(Vec::new());
                    noted.len() - 1
                };
                carry(client, server, number, &noted, change);
            }
        });
        Self {
            address,
            connections,
        }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The calls of each connection so far.
    pub fn connections(&self) -> Vec<Vec<Seen>> {
        self.connections.lock().expect("nobody panics").clone()
    }
}

/// Carries the records of one connection, each direction in a thread.
fn carry(
    client: TcpStream,
    server: TcpStream,
    number: usize,
    noted: &Arc<Mutex<Vec<Vec<Seen>>>>,
    change: Change,
) {
    client.set_nodelay(true).expect("a TCP socket");
    server.set_nodelay(true).expect("a TCP socket");
    let calls = Arc::new(Mutex::new(HashMap::new()));
    let asked = Arc::clone(&calls);
    let noted = Arc::clone(noted);
    let mut from_client = client.try_clone().expect("a descriptor");
    let mut to_server = server.try_clone().expect("a descriptor");
    std::thread::spawn(move || {
        while let Some(call) = receive(&mut from_client) {
            if let Ok(header) = CallHeader::decode(&mut Reader::new(&call)) {
                let seen = Seen {
                    xid: header.xid,
                    program: header.program,
                    procedure: header.procedure,
                };
                asked.lock().expect("nobody panics").insert(seen.xid, seen);
                noted.lock().expect("nobody panics")[number].push(seen);
            }
            if send(&mut to_server, &call).is_none() {
                break;
            }
        }
        let _ = to_server.shutdown(std::net::Shutdown::Both);
    });
    let (mut from_server, mut to_client) = (server, client);
    std::thread::spawn(move || {
        while let Some(mut reply) = receive(&mut from_server) {
            let xid = reply.first_chunk().copied().map_or(0, u32::from_be_bytes);
            let seen = calls.lock().expect("nobody panics").remove(&xid);
            if let Some(seen) = seen {
                change(seen, &mut reply);
            }
            if send(&mut to_client, &reply).is_none() {
                break;
            }
        }
        let _ = to_client.shutdown(std::net::Shutdown::Both);
    });
}

/// One record of one fragment, as both ends send them.
fn receive(socket: &mut TcpStream) -> Option<Vec<u8>> {
    let mut mark = [0; 4];
    socket.read_exact(&mut mark).ok()?;
    let mark = RecordMark::from_bytes(mark);
    assert!(mark.last, "both ends send whole records");
    let mut record = vec![0; mark.len as usize];
    socket.read_exact(&mut record).ok()?;
    Some(record)
}

fn send(socket: &mut TcpStream, record: &[u8]) -> Option<()> {
    let mark = RecordMark {
        last: true,
        len: record.len() as u32,
    };
    let bytes = [mark.to_bytes().as_slice(), record].concat();
    socket.write_all(&bytes).ok()
}
