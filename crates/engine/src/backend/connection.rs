//! One simulated client with its socket: sending its output, receiving its input.

use crate::backend::timestamping::Timestamping;
use crate::backend::transmit;
use crate::clock::Clock;
use crate::driver::{CallError, Dial, PendingConnection, leave};
use filestone_plan::plan::TransportKind;
use filestone_protocol::client::{Client, Output, ProtocolError};
use filestone_workload::completions::CompletionBatch;
use filestone_workload::time::Timestamp;
use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};
use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::time::Duration;

/// Datagrams taken from one socket before the others have their turn.
const DATAGRAMS_MAX: usize = 64;
/// How long an attempt to connect from the same port is waited for: a SYN that was sent three
/// times.
const SAME_PORT_NANOS: u64 = 4_000_000_000;

/// Whether a connection can be used.
#[derive(Debug)]
pub enum Link {
    /// Yes.
    Up(OwnedFd),
    /// An attempt is under way.
    Connecting(PendingConnection),
    /// Not now; the next attempt is at this moment.
    Down(Timestamp),
    /// No more.
    Abandoned,
}

/// Why a connection was lost.
#[derive(Debug, thiserror::Error)]
pub enum DisconnectReason {
    /// The server said goodbye.
    #[error("closed the connection")]
    Closed,
    /// What came in is not the protocol.
    #[error(transparent)]
    Protocol(#[from] ProtocolError),
    /// The operating system said so.
    #[error("is lost: {0}")]
    System(#[from] Errno),
    /// No connection could be made.
    #[error("cannot be connected to again: {0}")]
    Refused(io::Error),
}

impl DisconnectReason {
    /// The reason as the record has it: which side ended the connection, and why.
    pub fn reason(&self) -> String {
        match self {
            DisconnectReason::Closed => "the server closed the connection".into(),
            DisconnectReason::Protocol(error) => {
                format!("filestone closed the connection: the server {error}")
            }
            DisconnectReason::System(error) => format!("the connection was lost: {error}"),
            DisconnectReason::Refused(error) => format!("no connection could be made: {error}"),
        }
    }
}

impl From<DisconnectReason> for CallError {
    fn from(loss: DisconnectReason) -> Self {
        match loss {
            DisconnectReason::Closed => CallError::Closed,
            DisconnectReason::Protocol(error) => CallError::Violation(error.to_string()),
            DisconnectReason::System(error) => error.into(),
            DisconnectReason::Refused(error) => CallError::System(error),
        }
    }
}

/// The first connection of a client.
#[derive(Debug)]
pub enum InitialConnection {
    /// It has been made.
    Established(OwnedFd),
    /// It is made at this moment of the run, which goes on meanwhile.
    ScheduledAt(Timestamp),
}

/// A client whose connection has been made, or is made when it begins.
#[derive(Debug)]
pub struct ConnectedClient<C> {
    /// The client.
    pub client: C,
    /// Its socket, or when it has one.
    pub first: InitialConnection,
    /// Where and how it connects, now and again.
    pub dial: Dial,
}

/// One simulated client with its socket.
#[derive(Debug)]
pub struct ClientConnection<C> {
    /// The client.
    pub client: C,
    /// Its socket, if it is up.
    pub link: Link,
    /// Where and how it connects.
    pub dial: Dial,
    /// What the client wants sent.
    pub output: Output,
    /// Bytes of the output that have been sent, spliced data included.
    pub output_sent: usize,
    /// When the client is told the time next.
    pub timer: Timestamp,
    /// Whether it stands in the list of those with something to send.
    pub is_dirty: bool,
    /// Whether the operating system has no room for more.
    pub is_blocked: bool,
    /// When the server was last known to answer over it, while it does not.
    pub lost_at: Timestamp,
    /// When it went down last.
    pub down_at: Timestamp,
    /// Why it is down, or was last.
    pub loss: Option<DisconnectReason>,
    /// Where it came from when it was lost.
    pub came_from: Option<SocketAddr>,
    /// When the last attempt to connect again began.
    pub tried_at: Timestamp,
    /// For how long it was tried before it was given up.
    pub tried: Option<Duration>,
    /// Attempts to connect since the last reply.
    pub attempts: u32,
    /// Whether it could not be made again for as long as a lost one is tried.
    pub is_lost: bool,
    /// Replies when it was connected last.
    pub replies_at_connect: u64,
    /// Whether it has never been up.
    pub is_new: bool,
    /// The kernel's time stamps of a sample of its calls.
    pub(super) stamping: Option<Box<Timestamping>>,
}

/// How to receive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReceiveMode {
    /// Take what is there.
    None,
    /// Wait for the socket's time-out at most.
    UntilTimeout,
}

#[inline]
fn receive(
    socket: &OwnedFd,
    stamping: &mut Option<Box<Timestamping>>,
    buffer: &mut [u8],
    flags: RecvFlags,
) -> Result<usize, Errno> {
    match stamping {
        Some(stamping) if stamping.is_due() => stamping.receive(socket, buffer, flags),
        _ => recv(socket, buffer, flags).map(|(_, received)| received),
    }
}

impl<C: Client> ClientConnection<C> {
    /// A connection over a socket that is connected.
    pub fn new(connected: ConnectedClient<C>) -> Self {
        let (link, is_new) = match connected.first {
            InitialConnection::Established(socket) => (Link::Up(socket), false),
            InitialConnection::ScheduledAt(moment) => (Link::Down(moment), true),
        };
        Self {
            client: connected.client,
            link,
            dial: connected.dial,
            output: Output::default(),
            output_sent: 0,
            timer: Timestamp::MAX,
            is_dirty: false,
            is_blocked: false,
            lost_at: Timestamp::ZERO,
            down_at: Timestamp::ZERO,
            loss: None,
            came_from: None,
            tried_at: Timestamp::ZERO,
            tried: None,
            attempts: 0,
            is_lost: false,
            replies_at_connect: 0,
            is_new,
            stamping: None,
        }
    }

    /// Sends as much of the output as the operating system takes.
    #[inline]
    pub fn send(&mut self, pattern: &[u8], now: Timestamp) -> Result<(), DisconnectReason> {
        self.client.transmitted(now);
        let Link::Up(socket) = &self.link else {
            return Ok(());
        };
        self.is_blocked = false;
        if let Some(stamping) = &mut self.stamping {
            stamping.before_send(socket, now, self.client.in_flight());
        }
        let sent = transmit::send(socket, &self.output, &mut self.output_sent, pattern);
        if let Some(stamping) = &mut self.stamping {
            stamping.after_send(socket, sent == Ok(true));
        }
        match sent {
            Ok(true) => {
                self.output.clear();
                self.output_sent = 0;
                Ok(())
            }
            Ok(false) => {
                self.is_blocked = true;
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Receives once (or, of datagrams, all that wait) and hands it to the client.
    /// Gives the moment of the last receipt, if there was one.
    #[inline]
    pub fn receive(
        &mut self,
        transport: TransportKind,
        waiting: ReceiveMode,
        clock: &Clock,
        buffer: &mut [u8],
        completed: &mut CompletionBatch,
    ) -> Result<Option<Timestamp>, DisconnectReason> {
        match transport {
            TransportKind::Tcp => self.receive_stream(waiting, clock, buffer, completed),
            TransportKind::Udp => self.receive_datagrams(waiting, clock, buffer, completed),
        }
    }

    #[inline]
    fn receive_stream(
        &mut self,
        waiting: ReceiveMode,
        clock: &Clock,
        buffer: &mut [u8],
        completed: &mut CompletionBatch,
    ) -> Result<Option<Timestamp>, DisconnectReason> {
        let Link::Up(socket) = &self.link else {
            return Ok(None);
        };
        let discardable = self.client.discardable();
        let (len, flags) = match (discardable, waiting) {
            (0, ReceiveMode::None) => (self.client.receive_len(buffer.len()), RecvFlags::DONTWAIT),
            (0, ReceiveMode::UntilTimeout) => {
                (self.client.receive_len(buffer.len()), RecvFlags::empty())
            }
            // On TCP, MSG_TRUNC throws received data away without copying them.
            (len, ReceiveMode::None) => (len, RecvFlags::TRUNC.union(RecvFlags::DONTWAIT)),
            (len, ReceiveMode::UntilTimeout) => (len, RecvFlags::TRUNC.union(RecvFlags::WAITALL)),
        };
        let len = len.min(buffer.len());
        let received = match receive(socket, &mut self.stamping, &mut buffer[..len], flags) {
            Ok(received) => received,
            Err(Errno::AGAIN | Errno::INTR) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let now = clock.now();
        if received == 0 {
            return Err(DisconnectReason::Closed);
        }
        if discardable > 0 {
            self.client.handle_discarded(received, now, completed);
            self.take_stamps();
            return Ok(Some(now));
        }
        self.client
            .handle_input(&buffer[..received.min(len)], now, completed)?;
        self.take_stamps();
        Ok(Some(now))
    }

    fn receive_datagrams(
        &mut self,
        waiting: ReceiveMode,
        clock: &Clock,
        buffer: &mut [u8],
        completed: &mut CompletionBatch,
    ) -> Result<Option<Timestamp>, DisconnectReason> {
        let mut last = None;
        let mut flags = match waiting {
            ReceiveMode::None => RecvFlags::DONTWAIT,
            ReceiveMode::UntilTimeout => RecvFlags::empty(),
        };
        for _ in 0..DATAGRAMS_MAX {
            let Link::Up(socket) = &self.link else {
                return Ok(last);
            };
            let received = match receive(socket, &mut self.stamping, &mut buffer[..], flags) {
                Ok(received) => received,
                // A port where nothing listens looks like loss: the call is sent
                // again, and the server may be back by then.
                Err(Errno::AGAIN | Errno::INTR | Errno::CONNREFUSED) => return Ok(last),
                Err(error) => return Err(error.into()),
            };
            let now = clock.now();
            last = Some(now);
            self.client
                .handle_input(&buffer[..received.min(buffer.len())], now, completed)?;
            self.take_stamps();
            flags = RecvFlags::DONTWAIT;
        }
        Ok(last)
    }

    /// Has a sample of its calls stamped from now on, where the kernel does that.
    pub(super) fn stamp(&mut self) {
        if let Link::Up(socket) = &self.link {
            self.stamping = Timestamping::start(socket).map(Box::new);
        }
    }

    #[inline]
    fn take_stamps(&mut self) {
        if let (Some(stamping), Link::Up(socket)) = (&mut self.stamping, &self.link)
            && stamping.is_due()
        {
            stamping.taken(socket, self.client.in_flight());
        }
    }

    /// Takes the connection down until `again`.
    pub fn disconnect(&mut self, again: Timestamp) {
        if let Link::Up(lost) = std::mem::replace(&mut self.link, Link::Down(again)) {
            self.came_from = leave(lost);
        }
    }

    /// Begins to connect again: from the same port, if that can be had, since servers know a
    /// call that comes again by the port that it came from, too.
    pub fn restart(&mut self, now: Timestamp) -> io::Result<PendingConnection> {
        self.attempts += 1;
        self.tried_at = now;
        self.dial.restart(self.came_from)
    }

    /// Whether an attempt from the same port has been under way for too long: what stands
    /// between may have more to say about a port that it knows than about another one.
    pub fn is_stuck(&self, now: Timestamp) -> bool {
        self.came_from.is_some() && now.nanos_since(self.tried_at) >= SAME_PORT_NANOS
    }

    /// Forgets what was to be sent.
    pub fn clear_output(&mut self) {
        self.output.clear();
        self.output_sent = 0;
        self.is_blocked = false;
    }
}
