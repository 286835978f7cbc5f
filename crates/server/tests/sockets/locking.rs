//! Locks that are waited for: a client with a lock manager of its own, which the server calls.

use std::io::Write;
use std::net::{TcpListener, UdpSocket};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use filestone_server::{Options, Running, Server};
use filestone_wire::nfs3::Handle;
use filestone_wire::nlm::{self, LockRange, NetObject, Status, StatusReply, granted, lock, unlock};
use filestone_wire::portmap::{self, IPPROTO_TCP, Mapping};
use filestone_wire::rpc::{AcceptStatus, CallHeader, Credential, OpaqueAuth, ReplyHeader};
use filestone_wire::xdr::{Decode, Encode, Reader, Writer};

use super::client::{Client, options, record, results};

const PATIENCE: Duration = Duration::from_secs(20);

/// What was granted to whom.
type Granted = (i32, Vec<u8>);

/// What a client's lock manager says to GRANTED; none is to hang up.
type Answer = fn(svid: i32) -> Option<Status>;

/// The reply to a call of a port mapper or a lock manager.
fn reply(call: &[u8], port: u16, answer: Answer, told: &Sender<Granted>) -> Option<Vec<u8>> {
    let mut reader = Reader::new(call);
    let header = CallHeader::decode(&mut reader).unwrap();
    let mut reply = ReplyHeader::accepted(header.xid, AcceptStatus::Success).to_bytes();
    let mut writer = Writer::new(&mut reply);
    if header.program == portmap::PROGRAM {
        let asked = Mapping::decode(&mut reader).unwrap();
        let tcp = (nlm::PROGRAM, 4, IPPROTO_TCP);
        assert_eq!((asked.program, asked.version, asked.protocol), tcp);
        writer.u32(port.into());
        return Some(reply);
    }
    assert_eq!((header.program, header.version), (nlm::PROGRAM, 4));
    assert_eq!(header.procedure, nlm::Procedure::Granted.number());
    let asked = granted::Args::decode(&mut reader).unwrap();
    reader.finish().unwrap();
    let svid = asked.alock.svid;
    told.send((svid, asked.alock.fh.0.to_vec())).unwrap();
    let stat = answer(svid)?;
    let cookie = asked.cookie;
    StatusReply { cookie, stat }.encode(&mut writer);
    Some(reply)
}

/// A port mapper and a lock manager on one port, by TCP.
fn lock_manager(answer: Answer) -> (u16, Receiver<Granted>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (told, granted) = channel();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut client = Client {
                stream: stream.unwrap(),
                xid: 0,
            };
            while let Ok(call) = client.receive() {
                let Some(reply) = reply(&call, port, answer, &told) else {
                    break;
                };
                // In two fragments, as any reply may come.
                let (head, tail) = reply.split_at(10);
                let mark = (head.len() as u32).to_be_bytes();
                let whole = [&mark, head, &record(tail)].concat();
                client.stream.write_all(&whole).unwrap();
            }
        }
    });
    (port, granted)
}

fn serve(client_portmapper_port: u16) -> Running {
    Server::start(Options {
        client_portmapper_port,
        threads: 2,
        ..options()
    })
    .unwrap()
}

struct Locker {
    client: Client,
    file: Handle,
}

impl Locker {
    fn new(server: &Running) -> Self {
        let mut client = Client::new(server);
        let file = client.mount("/export/file");
        Self { client, file }
    }

    fn call(&mut self, procedure: nlm::Procedure, arguments: &impl Encode) -> Status {
        self.client.xid += 1;
        let header = CallHeader {
            xid: self.client.xid,
            program: nlm::PROGRAM,
            version: nlm::VERSION,
            procedure: procedure.number(),
            credential: Credential::None,
            verifier: OpaqueAuth::NONE,
        };
        let call = [header.to_bytes(), arguments.to_bytes()].concat();
        self.client.stream.write_all(&record(&call)).unwrap();
        let results = results(&self.client.receive().unwrap(), self.client.xid);
        StatusReply::from_bytes(&results).unwrap().stat
    }

    fn lock(&mut self, svid: i32, block: bool) -> Status {
        let file = self.file;
        let arguments = lock::Args {
            cookie: NetObject(b"cookie"),
            block,
            exclusive: true,
            alock: all(&file, svid),
            reclaim: false,
            state: 0,
        };
        self.call(nlm::Procedure::Lock, &arguments)
    }

    fn unlock(&mut self, svid: i32) -> Status {
        let file = self.file;
        let arguments = unlock::Args {
            cookie: NetObject(b""),
            alock: all(&file, svid),
        };
        self.call(nlm::Procedure::Unlock, &arguments)
    }

    /// Asks until a lock that nobody else may keep is granted.
    fn lock_at_last(&mut self, svid: i32) {
        while self.lock(svid, true) != Status::GRANTED {
            thread::yield_now();
        }
    }
}

fn all(file: &Handle, svid: i32) -> LockRange<'_> {
    LockRange {
        caller_name: NetObject(b"host"),
        fh: NetObject(file.as_bytes()),
        owner: NetObject(b"owner"),
        svid,
        offset: 0,
        len: 0,
    }
}

#[test]
fn a_client_is_called_when_the_lock_that_it_waits_for_is_free() {
    let (port, granted) = lock_manager(|_| Some(Status::GRANTED));
    let server = serve(port);
    let mut locker = Locker::new(&server);
    assert_eq!(locker.lock(1, true), Status::GRANTED);
    assert_eq!(locker.lock(2, true), Status::BLOCKED);
    assert_eq!(locker.lock(3, true), Status::BLOCKED);
    for (holder, next) in [(1, 2), (2, 3)] {
        assert_eq!(locker.unlock(holder), Status::GRANTED);
        let (svid, handle) = granted.recv_timeout(PATIENCE).expect("a call");
        assert_eq!((svid, &handle[..]), (next, locker.file.as_bytes()));
        assert_eq!(locker.lock(9, false), Status::DENIED);
    }
}

#[test]
fn a_lock_that_its_client_does_not_take_is_the_next_ones() {
    // The first says no, the second hangs up.
    let (port, granted) = lock_manager(|svid| match svid {
        2 => Some(Status::DENIED),
        3 => None,
        _ => Some(Status::GRANTED),
    });
    let server = serve(port);
    let mut locker = Locker::new(&server);
    assert_eq!(locker.lock(1, true), Status::GRANTED);
    for svid in [2, 3, 4] {
        assert_eq!(locker.lock(svid, true), Status::BLOCKED);
    }
    assert_eq!(locker.unlock(1), Status::GRANTED);
    let told: Vec<i32> = (0..3)
        .map(|_| granted.recv_timeout(PATIENCE).expect("a call").0)
        .collect();
    assert_eq!(told, [2, 3, 4]);
}

#[test]
fn a_client_without_a_lock_manager_leaves_nothing_locked() {
    // Of a port that is bound and does not listen, connections are refused.
    let closed = UdpSocket::bind("127.0.0.1:0").unwrap();
    let server = serve(closed.local_addr().unwrap().port());
    let mut locker = Locker::new(&server);
    assert_eq!(locker.lock(1, true), Status::GRANTED);
    assert_eq!(locker.lock(2, true), Status::BLOCKED);
    assert_eq!(locker.unlock(1), Status::GRANTED);
    locker.lock_at_last(3);
    // One that asks again and again needs none.
    assert_eq!(locker.lock(2, true), Status::BLOCKED);
    assert_eq!(locker.unlock(3), Status::GRANTED);
    locker.lock_at_last(2);
}
