//! One simulated client with its socket: sends its output, receives its input.

use crate::backend::timestamping::Timestamping;
use crate::backend::transmit;
use filestone_host::clock::Clock;
use filestone_host::connect::{Dial, PendingConnection, leave};
use filestone_plan::plan::TransportKind;
use filestone_protocol::client::{Client, Output, ProtocolError};
use filestone_setup::driver::CallError;
use filestone_workload::completions::CompletionBatch;
use filestone_workload::time::Timestamp;
use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};
use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::time::Duration;

/// Datagrams received from one socket before the others have their turn.
const DATAGRAMS_MAX: usize = 64;
/// Longest attempt to connect from the same port: the time in which a SYN is sent three times.
const SAME_PORT_NANOS: u64 = 4_000_000_000;

/// State of a connection.
#[derive(Debug)]
pub enum Link {
    /// Connected.
    Up(OwnedFd),
    /// An attempt to connect is in progress.
    Connecting(PendingConnection),
    /// Not connected; the next attempt is at this moment.
    Down(Timestamp),
    /// Not connected, and not tried again.
    Abandoned,
}

/// Reason of a disconnect.
#[derive(Debug, thiserror::Error)]
pub enum DisconnectReason {
    /// The server closed the connection.
    #[error("closed the connection")]
    Closed,
    /// The received bytes violate the protocol.
    #[error(transparent)]
    Protocol(#[from] ProtocolError),
    /// The operating system reported an error.
    #[error("is lost: {0}")]
    System(#[from] Errno),
    /// The connection could not be established.
    #[error("cannot be connected to again: {0}")]
    Refused(io::Error),
}

impl DisconnectReason {
    /// Returns the reason as stored in the record: which side ended the connection, and why.
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
    /// Already established.
    Established(OwnedFd),
    /// Established at this moment of the run.
    ScheduledAt(Timestamp),
}

/// A client whose connection is established, or will be when the client begins.
#[derive(Debug)]
pub struct ConnectedClient<C> {
    /// The client.
    pub client: C,
    /// The client's socket, or the time of its connection.
    pub first: InitialConnection,
    /// Address and options for connecting and reconnecting.
    pub dial: Dial,
}

/// One simulated client with its socket.
#[derive(Debug)]
pub struct ClientConnection<C> {
    /// The client.
    pub client: C,
    /// State of the connection, with the socket if it is up.
    pub link: Link,
    /// Address and options for connecting.
    pub dial: Dial,
    /// Output of the client that has not been sent completely.
    pub output: Output,
    /// Bytes of the output that have been sent, spliced data included.
    pub output_sent: usize,
    /// Time of the client's next timer.
    pub timer: Timestamp,
    /// Whether the connection is in the list of those with output.
    pub is_dirty: bool,
    /// Whether the socket's send buffer is full.
    pub is_blocked: bool,
    /// Start of the current outage: when the server was last known to reply over this connection.
    pub lost_at: Timestamp,
    /// Time of the last disconnect.
    pub down_at: Timestamp,
    /// Reason of the last disconnect.
    pub loss: Option<DisconnectReason>,
    /// Local address at the last disconnect.
    pub came_from: Option<SocketAddr>,
    /// Start of the last attempt to reconnect.
    pub tried_at: Timestamp,
    /// Duration of the attempts before the client was given up.
    pub tried: Option<Duration>,
    /// Attempts to connect since the last reply.
    pub attempts: u32,
    /// Whether reconnecting failed for the whole retry time.
    pub is_lost: bool,
    /// Number of replies at the last connection.
    pub replies_at_connect: u64,
    /// Whether the connection has never been up.
    pub is_new: bool,
    /// Kernel timestamps of a sample of its calls.
    pub(super) stamping: Option<Box<Timestamping>>,
}

/// Mode of receiving.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReceiveMode {
    /// Take the available bytes without waiting.
    None,
    /// Wait until the socket's time-out.
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
    /// Returns the connection of a client.
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

    /// Sends as much of the output as the operating system accepts.
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

    /// Receives once (datagrams: all that are queued) and passes the bytes to the client. Returns
    /// the time of the last receipt, if there was one.
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
            // On TCP, MSG_TRUNC discards received data without copying them.
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
                // A closed UDP port counts as loss: the call is sent again, and the server may be
                // back by then.
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

    /// Requests kernel timestamps for a sample of its calls, if the kernel supports them.
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

    /// Disconnects until `again`.
    pub fn disconnect(&mut self, again: Timestamp) {
        if let Link::Up(lost) = std::mem::replace(&mut self.link, Link::Down(again)) {
            self.came_from = leave(lost);
        }
    }

    /// Starts to reconnect: from the same port if it is available, since servers identify a
    /// retransmitted call by its source port, too.
    pub fn restart(&mut self, now: Timestamp) -> io::Result<PendingConnection> {
        self.attempts += 1;
        self.tried_at = now;
        self.dial.restart(self.came_from)
    }

    /// Returns whether an attempt from the same port has taken too long: a middlebox may block a
    /// port that it knows, but not another one.
    pub fn is_stuck(&self, now: Timestamp) -> bool {
        self.came_from.is_some() && now.nanos_since(self.tried_at) >= SAME_PORT_NANOS
    }

    /// Drops the unsent output.
    pub fn clear_output(&mut self) {
        self.output.clear();
        self.output_sent = 0;
        self.is_blocked = false;
    }
}
