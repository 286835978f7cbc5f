//! A relay between a run and its server: it records each call and its reply, delays calls, and
//! holds one back until the fault has started.
//!
//! The relay delays calls, not replies: the server has not executed a call that waits here, so a
//! server that is stopped now does not reply to it.

use anyhow::{Context, Result};
use filestone_wire::nfs3::{PROGRAM, Procedure};
use filestone_wire::record::RecordMark;
use filestone_wire::rpc::{CallHeader, ReplyBody, ReplyHeader};
use filestone_wire::xdr::{Decode, Reader};
use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Polling interval.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// A call that the relay received.
#[derive(Debug, Clone)]
pub struct Call {
    /// Time of arrival from the client.
    pub at: Instant,
    /// NFS procedure; `None` for other RPC programs.
    pub procedure: Option<Procedure>,
    /// Length in bytes.
    pub len: usize,
    /// Reply to the call.
    pub answer: Option<Answer>,
}

/// Reply to a call.
#[derive(Debug, Clone, Copy)]
pub struct Answer {
    /// Time of arrival from the server.
    pub at: Instant,
    /// First word of the results: the status, for most procedures.
    pub status: Option<u32>,
}

impl Call {
    /// Whether it is a call of one of these NFS procedures.
    pub fn is_any(&self, procedures: &[Procedure]) -> bool {
        self.procedure
            .is_some_and(|procedure| procedures.contains(&procedure))
    }
}

/// Selects the call to hold back; called for each call in order.
pub type Choice = Box<dyn FnMut(&Call) -> bool + Send>;

struct Gate {
    choice: Choice,
    reached: SyncSender<Instant>,
    open: Receiver<()>,
}

/// A call that is held back until this value is dropped.
pub struct Held {
    reached: Receiver<Instant>,
    _open: SyncSender<()>,
}

impl Held {
    /// Waits up to this time for the call. Returns its time of arrival.
    pub fn reached(&self, within: Duration) -> Option<Instant> {
        self.reached.recv_timeout(within).ok()
    }
}

struct Shared {
    server: SocketAddr,
    delay_ns: AtomicU64,
    is_up: AtomicBool,
    is_over: AtomicBool,
    calls: Mutex<Vec<Call>>,
    gate: Mutex<Option<Gate>>,
    /// Open connections of clients.
    open: Mutex<Vec<Open>>,
}

/// Sockets of a relayed connection: to the client and to the server.
struct Open {
    client: TcpStream,
    server: TcpStream,
}

impl Open {
    fn cut(self) {
        for stream in [self.client, self.server] {
            // A connection that has ended is already closed.
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

/// A relay; when dropped, it accepts no more connections.
pub struct Relay {
    /// Address of the listener.
    pub address: SocketAddr,
    shared: Arc<Shared>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Relay {
    /// Relays from `port` to `server`; each call is delayed by `delay`.
    pub fn start(port: u16, server: SocketAddr, delay: Duration) -> Result<Self> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let shared = Arc::new(Shared {
            server,
            delay_ns: AtomicU64::new(delay.as_nanos() as u64),
            is_up: AtomicBool::new(true),
            is_over: AtomicBool::new(false),
            calls: Mutex::default(),
            gate: Mutex::default(),
            open: Mutex::default(),
        });
        let listener = listen(address)?;
        let accepting = Arc::clone(&shared);
        std::thread::spawn(move || accept(&accepting, address, listener));
        Ok(Self { address, shared })
    }

    /// Sets the delay, also for calls that are already waiting.
    pub fn delay(&self, delay: Duration) {
        let nanos = delay.as_nanos() as u64;
        self.shared.delay_ns.store(nanos, Ordering::Relaxed);
    }

    /// Sets whether connections are accepted, or refused as on a host without a server.
    pub fn set_up(&self, is_up: bool) {
        self.shared.is_up.store(is_up, Ordering::Relaxed);
    }

    /// Closes all connections.
    pub fn cut(&self) {
        lock(&self.shared.open)
            .drain(..)
            .for_each(|open| open.cut());
    }

    /// Closes the latest connection.
    pub fn cut_last(&self) {
        if let Some(last) = lock(&self.shared.open).pop() {
            last.cut();
        }
    }

    /// Holds back the first call that `choice` selects.
    pub fn hold(&self, choice: Choice) -> Held {
        let (reached, is_reached) = sync_channel(1);
        let (opening, open) = sync_channel(0);
        *lock(&self.shared.gate) = Some(Gate {
            choice,
            reached,
            open,
        });
        Held {
            reached: is_reached,
            _open: opening,
        }
    }

    /// Returns the calls until now, in order of arrival.
    pub fn calls(&self) -> Vec<Call> {
        lock(&self.shared.calls).clone()
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
    }
}

fn listen(address: SocketAddr) -> Result<TcpListener> {
    let listener = TcpListener::bind(address).with_context(|| format!("{address}"))?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

fn accept(shared: &Arc<Shared>, address: SocketAddr, listener: TcpListener) {
    let mut listener = Some(listener);
    while !shared.is_over.load(Ordering::Relaxed) {
        if !shared.is_up.load(Ordering::Relaxed) {
            listener = None;
        } else if listener.is_none() {
            listener = listen(address).ok();
        }
        match listener.as_ref().map(TcpListener::accept) {
            Some(Ok((client, _))) => relay(shared, client),
            _ => std::thread::sleep(LOOK_EVERY),
        }
    }
}

/// Relays a connection of a client in three threads.
fn relay(shared: &Arc<Shared>, client: TcpStream) {
    let Ok(server) = TcpStream::connect(shared.server) else {
        return;
    };
    let streams = || Some((client.try_clone().ok()?, server.try_clone().ok()?));
    let (Some((from, to)), Some((back, answering))) = (streams(), streams()) else {
        return;
    };
    for stream in [&client, &server] {
        let _ = stream.set_nodelay(true);
        let _ = stream.set_nonblocking(false);
    }
    lock(&shared.open).push(Open { client, server });
    let asked = Arc::new(Mutex::new(HashMap::new()));
    let (queue, queued) = channel();
    let (noting, noted) = (Arc::clone(shared), Arc::clone(&asked));
    std::thread::spawn(move || take_calls(&noting, from, &noted, |call| queue.send(call).is_ok()));
    let delaying = Arc::clone(shared);
    std::thread::spawn(move || send_calls(&delaying, &queued, to));
    let answered = Arc::clone(shared);
    std::thread::spawn(move || carry_replies(&answered, answering, back, &asked));
}

/// A call on its way, and its time of arrival.
struct Queued {
    at: Instant,
    record: Vec<u8>,
}

fn take_calls(
    shared: &Shared,
    mut client: TcpStream,
    asked: &Mutex<HashMap<u32, usize>>,
    queue: impl Fn(Queued) -> bool,
) {
    while let Some(record) = receive(&mut client) {
        let at = Instant::now();
        if let Ok(header) = CallHeader::decode(&mut Reader::new(&record)) {
            let is_nfs = header.program == PROGRAM;
            let call = Call {
                at,
                procedure: Procedure::from_number(header.procedure).filter(|_| is_nfs),
                len: record.len(),
                answer: None,
            };
            pass_gate(shared, &call);
            let mut calls = lock(&shared.calls);
            lock(asked).insert(header.xid, calls.len());
            calls.push(call);
        }
        if !queue(Queued { at, record }) {
            break;
        }
    }
}

/// Blocks if `call` is the one to hold back.
fn pass_gate(shared: &Shared, call: &Call) {
    let mut gate = lock(&shared.gate);
    if gate.as_mut().is_some_and(|gate| (gate.choice)(call)) {
        let reached = gate.take();
        drop(gate);
        if let Some(gate) = reached
            && gate.reached.send(call.at).is_ok()
        {
            // Returns when the holder is dropped.
            let _ = gate.open.recv();
        }
    }
}

fn send_calls(shared: &Shared, queued: &Receiver<Queued>, mut server: TcpStream) {
    while let Ok(call) = queued.recv() {
        loop {
            let delay = Duration::from_nanos(shared.delay_ns.load(Ordering::Relaxed));
            let left = (call.at + delay).saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            std::thread::sleep(left.min(LOOK_EVERY));
        }
        if send(&mut server, &call.record).is_none() {
            break;
        }
    }
    let _ = server.shutdown(Shutdown::Both);
}

fn carry_replies(
    shared: &Shared,
    mut server: TcpStream,
    mut client: TcpStream,
    asked: &Mutex<HashMap<u32, usize>>,
) {
    while let Some(record) = receive(&mut server) {
        note_answer(shared, asked, &record);
        if send(&mut client, &record).is_none() {
            break;
        }
    }
    for stream in [&client, &server] {
        let _ = stream.shutdown(Shutdown::Both);
    }
}

fn note_answer(shared: &Shared, asked: &Mutex<HashMap<u32, usize>>, record: &[u8]) {
    let mut reader = Reader::new(record);
    let Ok(header) = ReplyHeader::decode(&mut reader) else {
        return;
    };
    // In a separate statement: a thread that holds both locks takes this one last.
    let number = lock(asked).remove(&header.xid);
    let is_success = header.body == ReplyBody::SUCCESS;
    let answer = Answer {
        at: Instant::now(),
        status: u32::decode(&mut reader).ok().filter(|_| is_success),
    };
    if let Some(number) = number {
        lock(&shared.calls)[number].answer = Some(answer);
    }
}

/// Receives an RPC record of one fragment; both ends send no others.
fn receive(socket: &mut TcpStream) -> Option<Vec<u8>> {
    let mut mark = [0; 4];
    socket.read_exact(&mut mark).ok()?;
    let mark = RecordMark::from_bytes(mark);
    let mut record = vec![0; mark.len as usize];
    socket.read_exact(&mut record).ok()?;
    mark.last.then_some(record)
}

fn send(socket: &mut TcpStream, record: &[u8]) -> Option<()> {
    let mark = RecordMark {
        last: true,
        len: record.len() as u32,
    };
    let bytes = [mark.to_bytes().as_slice(), record].concat();
    socket.write_all(&bytes).ok()
}
