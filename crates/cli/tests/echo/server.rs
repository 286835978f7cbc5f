//! A server of echo: one thread per connection, computed file contents.

use crate::client::{data_at, pattern};
use crate::wire::{self, Kind, Request, Verb, Welcome};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;

/// Statuses of replies.
pub const OK: u32 = 0;
/// The token of the request is not valid.
pub const WRONG_TOKEN: u32 = 1;
/// The file does not exist, or the range exceeds its length.
pub const NO_DATA: u32 = 2;

/// Replies after which a connection's token changes, if the last change has been acknowledged.
const REPLIES_PER_TOKEN: u32 = 50;
/// Size of a receive buffer, in bytes.
const BUFFER_LEN: usize = 64 << 10;

/// Counters of a server.
#[derive(Debug, Default)]
pub struct Counts {
    /// Requests of all connections.
    pub requests: AtomicU64,
    /// Unsolicited token changes.
    pub tokens_changed: AtomicU64,
    /// TokenKnown messages received.
    pub tokens_known: AtomicU64,
}

/// A server that listens until it is dropped.
#[derive(Debug)]
pub struct EchoServer {
    address: SocketAddr,
    counts: Arc<Counts>,
    is_over: Arc<AtomicBool>,
    listener: Option<JoinHandle<()>>,
}

impl EchoServer {
    /// Listens on any free port of the loopback address, with `files` files of `file_len` bytes
    /// each.
    pub fn start(files: u32, file_len: u64) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let counts = Arc::new(Counts::default());
        let serving = Serving::new(files, file_len, Arc::clone(&counts));
        let is_over = Arc::new(AtomicBool::new(false));
        let ends = Arc::clone(&is_over);
        let listener = std::thread::Builder::new()
            .name("echo-listener".into())
            .spawn(move || listen(&listener, &serving, &ends))?;
        Ok(Self {
            address,
            counts,
            is_over,
            listener: Some(listener),
        })
    }

    /// Returns the address of the listener.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the counters.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }
}

impl Drop for EchoServer {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        // The listener checks the flag when a client connects.
        drop(TcpStream::connect(self.address));
        if let Some(listener) = self.listener.take() {
            let _ = listener.join();
        }
    }
}

/// State shared by all connections.
#[derive(Debug, Clone)]
struct Serving {
    files: u32,
    file_len: u64,
    pattern: Arc<[u8]>,
    counts: Arc<Counts>,
}

impl Serving {
    fn new(files: u32, file_len: u64, counts: Arc<Counts>) -> Self {
        let pattern = pattern();
        Self {
            files,
            file_len,
            pattern,
            counts,
        }
    }
}

fn listen(listener: &TcpListener, serving: &Serving, is_over: &AtomicBool) {
    while let Ok((socket, _)) = listener.accept() {
        if is_over.load(Ordering::SeqCst) {
            return;
        }
        let serving = serving.clone();
        let thread = std::thread::Builder::new().name("echo-connection".into());
        // If the host cannot create another thread, the connection is lost, like a packet.
        let _ = thread.spawn(move || {
            let mut connection = Connection::new(serving);
            // The client has disconnected or has sent an invalid message: the connection is closed
            // without a reply.
            let _ = connection.serve(&socket);
            let _ = socket.shutdown(Shutdown::Both);
        });
    }
}

/// Session of one client.
struct Connection {
    serving: Serving,
    token: u64,
    /// Previous token, valid until the client acknowledges the new one.
    last_token: Option<u64>,
    replies: u32,
    output: Vec<u8>,
}

impl Connection {
    fn new(serving: Serving) -> Self {
        Self {
            serving,
            token: 0x5eed,
            last_token: None,
            replies: 0,
            output: Vec::new(),
        }
    }

    fn serve(&mut self, mut socket: &TcpStream) -> io::Result<()> {
        socket.set_nodelay(true)?;
        let (mut input, mut buffer) = (Vec::new(), vec![0; BUFFER_LEN]);
        loop {
            let received = socket.read(&mut buffer)?;
            if received == 0 {
                return Ok(());
            }
            input.extend_from_slice(&buffer[..received]);
            let mut taken = 0;
            while let Some((kind, body, len)) =
                wire::take(&input[taken..]).map_err(io::Error::other)?
            {
                self.take(kind, body).map_err(io::Error::other)?;
                taken += len;
            }
            input.drain(..taken);
            socket.write_all(&self.output)?;
            self.output.clear();
        }
    }

    fn take(&mut self, kind: Kind, body: &[u8]) -> Result<(), &'static str> {
        match kind {
            Kind::Hello => {
                let welcome = Welcome {
                    token: self.token,
                    files: self.serving.files,
                    file_len: self.serving.file_len,
                };
                wire::put(&mut self.output, Kind::Welcome, &[&welcome.to_bytes()]);
                Ok(())
            }
            Kind::TokenKnown => {
                // Earlier requests of the client have arrived before this message.
                self.last_token = None;
                let known = &self.serving.counts.tokens_known;
                known.fetch_add(1, Ordering::SeqCst);
                Ok(())
            }
            Kind::Request => {
                let (request, data) = Request::read(body).ok_or("a request that is cut")?;
                self.reply(&request, data);
                Ok(())
            }
            Kind::Welcome | Kind::Reply | Kind::NewToken => Err("a message that servers send"),
        }
    }

    fn reply(&mut self, request: &Request, data: &[u8]) {
        self.serving.counts.requests.fetch_add(1, Ordering::SeqCst);
        let (status, len) = self.answer(request, data);
        let data = data_at(&self.serving.pattern, request.offset, len);
        wire::put(
            &mut self.output,
            Kind::Reply,
            &[&request.sequence.to_le_bytes(), &status.to_le_bytes(), data],
        );
        self.replies += 1;
        if self.replies >= REPLIES_PER_TOKEN && self.last_token.is_none() {
            self.change_token();
        }
    }

    /// Returns the status of a request and the number of bytes read.
    fn answer(&self, request: &Request, data: &[u8]) -> (u32, u32) {
        if request.token != self.token && Some(request.token) != self.last_token {
            return (WRONG_TOKEN, 0);
        }
        let end = request.offset.saturating_add(u64::from(request.len));
        let is_there = request.file < self.serving.files && end <= self.serving.file_len;
        match request.verb {
            Verb::Null => (OK, 0),
            Verb::Read if is_there => (OK, request.len),
            Verb::Write if is_there && data.len() == request.len as usize => (OK, 0),
            Verb::Read | Verb::Write => (NO_DATA, 0),
        }
    }

    /// Announces a new token, unsolicited.
    fn change_token(&mut self) {
        // Requests with the previous token may be in transit.
        self.last_token = Some(self.token);
        self.replies = 0;
        self.token = self.token.wrapping_mul(6_364_136_223_846_793_005) | 1;
        wire::put(
            &mut self.output,
            Kind::NewToken,
            &[&self.token.to_le_bytes()],
        );
        let changed = &self.serving.counts.tokens_changed;
        changed.fetch_add(1, Ordering::SeqCst);
    }
}
