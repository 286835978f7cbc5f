//! A server between clients and the built-in one: it notes what is asked, changes what is
//! answered, and goes away and comes back without losing a file.

use filestone_wire::nfs3::{PROGRAM, Procedure};
use filestone_wire::record::RecordMark;
use filestone_wire::rpc::{AcceptStatus, CallHeader, OpaqueAuth, ReplyBody, ReplyHeader};
use filestone_wire::xdr::{Decode, Encode, Reader, Writer};
use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A call, as far as tests ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Seen {
    pub xid: u32,
    pub program: u32,
    pub procedure: u32,
}

impl Seen {
    /// The procedure of NFS; `None` of another program.
    pub fn nfs(self) -> Option<Procedure> {
        let is_nfs = self.program == PROGRAM;
        Procedure::from_number(self.procedure).filter(|_| is_nfs)
    }
}

/// What becomes of a reply.
pub enum Fate {
    /// It goes on its way.
    Pass,
    /// These results go in its place.
    Replace(Vec<u8>),
    /// It is lost, and so are all connections; of the attempts to connect, so many get one that
    /// is closed at once.
    Cut(u32),
    /// The same of the one connection that it belongs to.
    CutOne(u32),
}

/// Changes a reply, xid and RPC header included, to the call of this procedure.
pub type Change = fn(Seen, &mut Vec<u8>);

type Judge = Box<dyn FnMut(Seen, &mut Vec<u8>) -> Fate + Send>;
type Listen = Box<dyn FnMut(usize, &[u8]) + Send>;

/// What went through, and what becomes of the rest.
struct State {
    server: SocketAddr,
    judge: Judge,
    listen: Listen,
    /// The calls of each connection, in order.
    connections: Vec<Vec<Seen>>,
    /// The calls of all, in the order of their replies.
    answered: Vec<Seen>,
    open: Vec<TcpStream>,
    /// Where each connection came from.
    peers: Vec<SocketAddr>,
    refuse: u32,
}

/// A relay; it works as long as the test runs.
#[derive(Clone)]
pub struct Relay {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
}

impl Relay {
    /// Relays to `server` from a free port, with `change` done to each reply.
    pub fn start(server: SocketAddr, change: Change) -> Self {
        Self::judging(server, move |seen, reply| {
            change(seen, reply);
            Fate::Pass
        })
    }

    /// The same; `judge` says what becomes of the reply to each call.
    pub fn to(server: SocketAddr, mut judge: impl FnMut(Seen) -> Fate + Send + 'static) -> Self {
        Self::judging(server, move |seen, _| judge(seen))
    }

    fn judging(
        server: SocketAddr,
        judge: impl FnMut(Seen, &mut Vec<u8>) -> Fate + Send + 'static,
    ) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let state = State {
            server,
            judge: Box::new(judge),
            listen: Box::new(|_, _| {}),
            connections: Vec::new(),
            answered: Vec::new(),
            open: Vec::new(),
            peers: Vec::new(),
            refuse: 0,
        };
        let relay = Self {
            address,
            state: Arc::new(Mutex::new(state)),
        };
        let accepting = relay.clone();
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                accepting.take(client);
            }
        });
        relay
    }

    /// Tells `listen` of each call, with the number of its connection.
    pub fn listen(self, listen: impl FnMut(usize, &[u8]) + Send + 'static) -> Self {
        self.state.lock().expect("nobody panics").listen = Box::new(listen);
        self
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The calls of each connection so far.
    pub fn connections(&self) -> Vec<Vec<Seen>> {
        self.state
            .lock()
            .expect("nobody panics")
            .connections
            .clone()
    }

    /// All calls whose replies have come so far.
    pub fn answered(&self) -> Vec<Seen> {
        self.state.lock().expect("nobody panics").answered.clone()
    }

    /// Where each connection so far came from.
    pub fn peers(&self) -> Vec<SocketAddr> {
        self.state.lock().expect("nobody panics").peers.clone()
    }

    fn take(&self, client: TcpStream) {
        let mut state = self.state.lock().expect("nobody panics");
        if state.refuse > 0 {
            state.refuse -= 1;
            close_in_order(client);
            return;
        }
        let Ok(server) = TcpStream::connect(state.server) else {
            return;
        };
        client.set_nodelay(true).expect("a TCP socket");
        server.set_nodelay(true).expect("a TCP socket");
        let copy = |stream: &TcpStream| stream.try_clone().expect("a descriptor");
        state.open.extend([copy(&client), copy(&server)]);
        state.connections.push(Vec::new());
        state
            .peers
            .push(client.peer_addr().expect("it is connected"));
        let number = state.connections.len() - 1;
        let calls = Arc::new(Mutex::new(HashMap::new()));
        let (noting, asked) = (self.clone(), Arc::clone(&calls));
        let (from, to) = (copy(&client), copy(&server));
        std::thread::spawn(move || noting.carry_calls(from, to, number, &asked));
        let judging = self.clone();
        std::thread::spawn(move || judging.carry_replies(server, client, &calls));
    }

    fn carry_calls(
        &self,
        mut client: TcpStream,
        mut server: TcpStream,
        number: usize,
        asked: &Mutex<HashMap<u32, Seen>>,
    ) {
        while let Some(call) = receive(&mut client) {
            if let Ok(header) = CallHeader::decode(&mut Reader::new(&call)) {
                let seen = Seen {
                    xid: header.xid,
                    program: header.program,
                    procedure: header.procedure,
                };
                asked.lock().expect("nobody panics").insert(seen.xid, seen);
                let mut state = self.state.lock().expect("nobody panics");
                state.connections[number].push(seen);
                (state.listen)(number, &call);
            }
            if send(&mut server, &call).is_none() {
                break;
            }
        }
        let _ = server.shutdown(Shutdown::Both);
    }

    fn carry_replies(
        &self,
        mut server: TcpStream,
        mut client: TcpStream,
        calls: &Mutex<HashMap<u32, Seen>>,
    ) {
        while let Some(mut record) = receive(&mut server) {
            let xid = record.first_chunk().copied().map_or(0, u32::from_be_bytes);
            let seen = calls.lock().expect("nobody panics").remove(&xid);
            let mut state = self.state.lock().expect("nobody panics");
            let fate = seen.map_or(Fate::Pass, |seen| {
                state.answered.push(seen);
                (state.judge)(seen, &mut record)
            });
            let sent = match fate {
                Fate::Pass => send(&mut client, &record),
                Fate::Replace(results) => send(&mut client, &reply(xid, &results)),
                Fate::Cut(refuse) => {
                    state.refuse = refuse;
                    for stream in state.open.drain(..) {
                        let _ = stream.shutdown(Shutdown::Both);
                    }
                    return;
                }
                Fate::CutOne(refuse) => {
                    state.refuse = refuse;
                    None
                }
            };
            if sent.is_none() {
                break;
            }
        }
        let _ = client.shutdown(Shutdown::Both);
        let _ = server.shutdown(Shutdown::Both);
    }
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

fn reply(xid: u32, results: &[u8]) -> Vec<u8> {
    let header = ReplyHeader {
        xid,
        verifier: OpaqueAuth::NONE,
        body: ReplyBody::Accepted(AcceptStatus::Success),
    };
    let mut out = Vec::new();
    header.encode(&mut Writer::new(&mut out));
    out.extend_from_slice(results);
    out
}

/// Closes a connection so that its client sees the end of it: one that is closed with a call unread is
/// reset.
fn close_in_order(mut client: TcpStream) {
    std::thread::spawn(move || {
        let _ = client.shutdown(Shutdown::Write);
        let _ = client.set_read_timeout(Some(Duration::from_secs(10)));
        let _ = std::io::copy(&mut client, &mut std::io::sink());
    });
}

/// A judge that cuts everything instead of giving the reply to the call number `which` of those
/// that count.
pub fn cut_at(
    which: u64,
    refuse: u32,
    counts: impl Fn(Seen) -> bool + Send + 'static,
) -> impl FnMut(Seen) -> Fate + Send + 'static {
    let mut count = 0;
    move |seen| {
        count += u64::from(counts(seen));
        match counts(seen) && count == which {
            true => Fate::Cut(refuse),
            false => Fate::Pass,
        }
    }
}
