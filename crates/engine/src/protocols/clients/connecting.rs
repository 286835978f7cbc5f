//! Opens the connections of many clients before a run, hundreds concurrently, optionally at a
//! limited rate.
//!
//! A server that has accepted a connection and then refuses another one is considered busy: the
//! attempt is repeated, with the pauses of a reconnection, until its timeout. A server that refuses
//! the very first connection is considered absent.

use filestone_host::connect::{Dial, PendingConnection};
use filestone_host::control::{LOOK_EVERY, RunContext};
use filestone_host::error::{
    AreaError, ErrorCategory, NO_MORE_SOCKETS, RunError, SOURCES_OF_THIS_HOST, is_of_this_host,
    is_source_refused,
};
use filestone_measure::measure::ConnectionsRecord;
use filestone_protocol::session::backoff::BackoffSchedule;
use filestone_workload::text::thousands;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

/// Maximum number of pending attempts.
const PENDING_MAX: usize = 256;
/// Interval of progress reports.
const TELL_EVERY: Duration = Duration::from_millis(200);

/// Parameters for connecting clients.
#[derive(Debug, Clone, Copy)]
pub struct ConnectSpec {
    /// Number of connections.
    pub count: u32,
    /// Maximum rate of attempts per second; `None` for no limit.
    pub per_s: Option<f64>,
    /// Timeout of each connection.
    pub timeout: Duration,
    /// Handling of connections that fail.
    pub lack: OnConnectError,
}

/// Handling of a connection that fails after others have succeeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnConnectError {
    /// The run is aborted.
    Fail,
    /// The run starts without it. Later refusals are not retried.
    Skip,
}

/// Established connections.
#[derive(Debug)]
pub struct ConnectedSockets {
    /// Sockets in client order; `None` for failed connections.
    pub sockets: Vec<Option<OwnedFd>>,
    /// Summary of the connect times.
    pub record: ConnectionsRecord,
    /// Connect times in nanoseconds, in client order; 0 for failed connections.
    pub times: Vec<u64>,
}

impl ConnectedSockets {
    /// Returns the connect times in client order; `None` for failed connections.
    pub fn times_of_made(&self) -> Vec<Option<u64>> {
        let times = self.sockets.iter().zip(&self.times);
        let time = |(socket, time): (&Option<OwnedFd>, &u64)| socket.as_ref().map(|_| *time);
        times.map(time).collect()
    }
}

/// Error returned if a client cannot be connected.
#[derive(Debug, thiserror::Error)]
#[error(
    "{address}: cannot connect client {} of {}, {} are connected: {source}",
    thousands(u64::from(*client) + 1), thousands((*wanted).into()), thousands((*made).into())
)]
pub struct NotAllConnected {
    address: SocketAddr,
    client: u32,
    wanted: u32,
    made: u32,
    source: io::Error,
}

impl AreaError for NotAllConnected {
    fn category(&self) -> ErrorCategory {
        if is_of_this_host(&self.source) || is_source_refused(&self.source) {
            ErrorCategory::Environment
        } else {
            ErrorCategory::Target
        }
    }

    fn help(&self) -> Option<String> {
        Some(if is_source_refused(&self.source) {
            SOURCES_OF_THIS_HOST.into()
        } else if is_of_this_host(&self.source) {
            NO_MORE_SOCKETS.into()
        } else {
            "the server takes no more connections, or not as fast (--clients, --connect-rate)"
                .into()
        })
    }

    fn is_unreachable(&self) -> bool {
        self.made == 0
    }
}

/// Opens the connections of `wanted`, with the parameters that `dial` returns for each client.
pub fn connect_many(
    wanted: &ConnectSpec,
    dial: impl Fn(u32) -> Dial,
    context: &mut RunContext<'_>,
) -> Result<ConnectedSockets, RunError> {
    let mut making = Making::new(wanted, dial);
    let mut tell_at = making.began;
    while making.made() + making.lacking < wanted.count {
        context.check_cancelled()?;
        let now = Instant::now();
        if now >= tell_at {
            tell_at = now + TELL_EVERY;
            tell(context, making.made(), wanted.count);
        }
        making.begin_due(now)?;
        let answered = making.wait(now)?;
        making.check_attempts(&answered)?;
    }
    Ok(making.into_connected())
}

fn tell(context: &mut RunContext<'_>, made: u32, of: u32) {
    if of > 1 {
        let (made, of) = (thousands(made.into()), thousands(of.into()));
        context.preparing(&format!("connecting {of} clients: {made} connected"));
    }
}

/// Connection attempt of one client.
#[derive(Debug)]
struct Attempt {
    client: u32,
    /// Start of the first attempt.
    began: Instant,
    /// Number of refusals.
    refused: u32,
    state: State,
}

/// State of an attempt.
#[derive(Debug)]
enum State {
    /// The server has not answered.
    Pending(PendingConnection),
    /// The server refused; the next attempt starts at this time.
    Waiting(Instant),
}

/// The connection attempts of all clients.
struct Making<'w, D> {
    wanted: &'w ConnectSpec,
    dial: D,
    began: Instant,
    /// Attempts in progress.
    attempts: Vec<Attempt>,
    /// Number of attempts started.
    begun: u32,
    sockets: Vec<Option<OwnedFd>>,
    times: Vec<u64>,
    made: u32,
    /// Number of failed connections.
    lacking: u32,
    refused: u64,
}

impl<'w, D: Fn(u32) -> Dial> Making<'w, D> {
    fn new(wanted: &'w ConnectSpec, dial: D) -> Self {
        let count = wanted.count as usize;
        Self {
            wanted,
            dial,
            began: Instant::now(),
            attempts: Vec::with_capacity(PENDING_MAX.min(count)),
            begun: 0,
            sockets: (0..count).map(|_| None).collect(),
            times: vec![0; count],
            made: 0,
            lacking: 0,
            refused: 0,
        }
    }

    fn made(&self) -> u32 {
        self.made
    }

    /// Returns the time of the next new connection; `None` if all have been started or too many are
    /// pending.
    fn next_due(&self) -> Option<Instant> {
        if self.begun == self.wanted.count || self.attempts.len() == PENDING_MAX {
            return None;
        }
        let per_s = self.wanted.per_s.unwrap_or(f64::INFINITY);
        let after = Duration::try_from_secs_f64(f64::from(self.begun) / per_s);
        Some(self.began + after.unwrap_or(Duration::MAX))
    }

    /// Starts the connections that are due. Limited to a number per call, because some succeed
    /// immediately and the caller must report progress.
    fn begin_due(&mut self, now: Instant) -> Result<(), RunError> {
        for _ in 0..PENDING_MAX {
            if self.next_due().is_none_or(|due| due > now) {
                break;
            }
            let client = self.begun;
            self.begun += 1;
            let attempt = Attempt {
                client,
                began: Instant::now(),
                refused: 0,
                state: State::Waiting(now),
            };
            self.step(attempt)?;
        }
        Ok(())
    }

    /// Checks the pending attempts; `answered` states which of them have an answer.
    fn check_attempts(&mut self, answered: &[bool]) -> Result<(), RunError> {
        let now = Instant::now();
        let under_way = Vec::with_capacity(PENDING_MAX);
        let attempts = std::mem::replace(&mut self.attempts, under_way);
        for (attempt, is_answered) in attempts.into_iter().zip(answered) {
            let is_ready = match attempt.state {
                State::Pending(_) => *is_answered,
                State::Waiting(until) => until <= now,
            };
            if is_ready {
                self.step(attempt)?;
            } else if now.duration_since(attempt.began) >= self.wanted.timeout {
                self.lack(attempt.client, io::ErrorKind::TimedOut.into())?;
            } else {
                self.attempts.push(attempt);
            }
        }
        Ok(())
    }

    /// Advances an attempt without waiting.
    fn step(&mut self, mut attempt: Attempt) -> Result<(), RunError> {
        let pending = match attempt.state {
            State::Pending(pending) => Ok(pending),
            State::Waiting(_) => (self.dial)(attempt.client).start(),
        };
        match pending.and_then(PendingConnection::check) {
            Ok(Ok(socket)) => {
                let took = attempt.began.elapsed().as_nanos();
                self.times[attempt.client as usize] = u64::try_from(took).unwrap_or(u64::MAX);
                self.made += 1;
                self.sockets[attempt.client as usize] = Some(socket);
                return Ok(());
            }
            Ok(Err(pending)) => attempt.state = State::Pending(pending),
            Err(error) => {
                // If the server had no capacity for one client, it has none for the next.
                let is_late = attempt.began.elapsed() >= self.wanted.timeout || self.lacking > 0;
                if self.made() == 0 || is_late || !is_busy(&error) {
                    return self.lack(attempt.client, error);
                }
                self.refused += 1;
                attempt.refused += 1;
                let pause = BackoffSchedule::RECONNECTION.before(attempt.refused);
                attempt.state = State::Waiting(Instant::now() + pause);
            }
        }
        self.attempts.push(attempt);
        Ok(())
    }

    /// Handles a connection that failed.
    fn lack(&mut self, client: u32, error: io::Error) -> Result<(), RunError> {
        let is_of_server = !is_of_this_host(&error) && !is_source_refused(&error);
        if self.wanted.lack == OnConnectError::Fail || self.made() == 0 || !is_of_server {
            return Err(self.failed(client, error));
        }
        self.lacking += 1;
        Ok(())
    }

    fn failed(&self, client: u32, source: io::Error) -> RunError {
        let address = (self.dial)(client).address;
        match self.wanted.count {
            1 => RunError::Connect { address, source },
            wanted => NotAllConnected {
                address,
                client,
                wanted,
                made: self.made(),
                source,
            }
            .into(),
        }
    }

    /// Waits for an answer of the server or the time of the next attempt. Returns for each attempt
    /// whether it has been answered.
    fn wait(&self, now: Instant) -> Result<Vec<bool>, RunError> {
        let mut until = now + LOOK_EVERY;
        if let Some(due) = self.next_due() {
            until = until.min(due);
        }
        let mut pending = Vec::with_capacity(self.attempts.len());
        for attempt in &self.attempts {
            match &attempt.state {
                State::Pending(socket) => pending.push(PollFd::new(socket, PollFlags::OUT)),
                State::Waiting(moment) => until = until.min(*moment),
            }
        }
        let sleep = Timespec::try_from(until.saturating_duration_since(now)).ok();
        match poll(&mut pending, sleep.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => {
                return Err(RunError::System {
                    what: "wait for connections".into(),
                    source: error.into(),
                });
            }
        }
        let mut pending = pending.iter();
        let mut is_answered = || pending.next().is_some_and(|fd| !fd.revents().is_empty());
        let each = self.attempts.iter().map(|attempt| match attempt.state {
            State::Pending(_) => is_answered(),
            State::Waiting(_) => false,
        });
        Ok(each.collect())
    }

    fn into_connected(self) -> ConnectedSockets {
        let took = u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let mut connected = ConnectedSockets {
            sockets: self.sockets,
            record: ConnectionsRecord::default(),
            times: self.times,
        };
        let made = connected.times_of_made().into_iter().flatten();
        connected.record = ConnectionsRecord::of(made.collect(), took, self.refused);
        connected
    }
}

/// Whether the server may accept the connection later.
fn is_busy(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    let busy = [ConnectionAborted, ConnectionRefused, ConnectionReset];
    busy.contains(&error.kind())
}

#[cfg(test)]
mod tests {
    use super::*;
    use filestone_host::control::NoObserver;
    use filestone_plan::plan::{SourceAddresses, TransportKind};
    use socket2::{Domain, Socket, Type};
    use std::cell::Cell;
    use std::net::TcpListener;
    use std::sync::atomic::AtomicBool;

    fn listener() -> (TcpListener, SocketAddr) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        (listener, address)
    }

    /// Returns an address where nothing listens or can listen while the socket exists.
    fn nowhere() -> (Socket, SocketAddr) {
        let bound = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
        let any: SocketAddr = ([127, 0, 0, 1], 0).into();
        bound.bind(&any.into()).expect("a port");
        let address = bound.local_addr().expect("bound");
        (bound, address.as_socket().expect("an address of IPv4"))
    }

    fn dial(address: SocketAddr) -> Dial {
        Dial {
            address,
            transport: TransportKind::Tcp,
            reserved_port: false,
            source: None,
        }
    }

    fn wanted(count: u32) -> ConnectSpec {
        ConnectSpec {
            count,
            per_s: None,
            timeout: Duration::from_millis(50),
            lack: OnConnectError::Fail,
        }
    }

    fn connect(
        wanted: &ConnectSpec,
        to: impl Fn(u32) -> SocketAddr,
    ) -> Result<ConnectedSockets, RunError> {
        let stop = AtomicBool::new(false);
        let mut observer = NoObserver;
        let context = &mut RunContext::new(&stop, &mut observer);
        connect_many(wanted, |client| dial(to(client)), context)
    }

    #[test]
    fn sockets_come_in_the_order_of_clients() {
        let servers: Vec<_> = (0..3).map(|_| listener()).collect();
        // More than the limit of pending attempts, less than the backlog of a listener.
        let count = PENDING_MAX as u32 + 44;
        let connected = connect(&wanted(count), |client| servers[client as usize % 3].1);
        let connected = connected.expect("they listen");
        assert_eq!(connected.record.made, u64::from(count));
        for (client, socket) in connected.sockets.into_iter().flatten().enumerate() {
            let peer = std::net::TcpStream::from(socket).peer_addr();
            assert_eq!(peer.expect("it is connected"), servers[client % 3].1);
        }
    }

    #[test]
    fn clients_come_from_the_addresses_that_are_asked_for() {
        let (listener, address) = listener();
        let sources: SourceAddresses = "127.3.0.7-127.3.0.9".parse().expect("a range");
        let stop = AtomicBool::new(false);
        let mut observer = NoObserver;
        let context = &mut RunContext::new(&stop, &mut observer);
        let dial = |client| Dial {
            source: sources.of_client(client),
            ..dial(address)
        };
        let connected = connect_many(&wanted(4), dial, context).expect("it listens");
        for source in ["127.3.0.7", "127.3.0.8", "127.3.0.9", "127.3.0.7"] {
            let (_, peer) = listener.accept().expect("they are connected");
            assert_eq!(peer.ip().to_string(), source);
        }
        assert_eq!(connected.record.made, 4);
    }

    #[test]
    fn an_address_of_another_host_or_family_is_named() {
        let (_listener, address) = listener();
        for source in ["192.0.2.1", "::1"] {
            let stop = AtomicBool::new(false);
            let mut observer = NoObserver;
            let context = &mut RunContext::new(&stop, &mut observer);
            let dial = |_| Dial {
                source: source.parse().ok(),
                ..dial(address)
            };
            let error = connect_many(&wanted(2), dial, context).expect_err("it is foreign");
            let text = error.to_string();
            assert!(text.contains(&format!("from {source}: ")), "{text}");
            assert!(error.help().is_some_and(|help| help.contains("--source")));
            assert_eq!(error.category(), ErrorCategory::Environment);
        }
    }

    #[test]
    fn a_pace_is_kept() {
        let (_listener, address) = listener();
        let paced = ConnectSpec {
            per_s: Some(500.0),
            ..wanted(11)
        };
        let connected = connect(&paced, |_| address).expect("it listens");
        // The eleventh starts 10 / 500 s after the first.
        assert!(connected.record.took_ns >= 20_000_000);
    }

    #[test]
    fn a_server_that_refuses_for_a_while_is_tried_again() {
        let (_listener, address) = listener();
        let (_bound, busy) = nowhere();
        let attempts = Cell::new(0);
        let connected = connect(&wanted(2), |client| {
            attempts.set(attempts.get() + u32::from(client == 1));
            if client == 1 && attempts.get() < 3 {
                busy
            } else {
                address
            }
        });
        let connected = connected.expect("it listens");
        assert_eq!(connected.record.refused_attempts, 2);
        assert_eq!(connected.sockets.len(), 2);
    }

    #[test]
    fn a_server_that_takes_no_more_is_given_up_with_its_figures() {
        let (_listener, address) = listener();
        let (_bound, full) = nowhere();
        let to = |client| if client < 3 { address } else { full };
        let error = connect(&wanted(5), to).expect_err("it takes three");
        let text = error.to_string();
        assert!(
            text.contains("cannot connect client 4 of 5, 3 are connected: Connection refused"),
            "{text}"
        );
        assert_eq!(error.category(), ErrorCategory::Target);
        assert!(
            error
                .help()
                .is_some_and(|help| help.contains("--connect-rate"))
        );
    }

    #[test]
    fn a_run_that_can_do_without_some_begins_without_them() {
        let (_listener, address) = listener();
        let (_bound, full) = nowhere();
        let to = |client| if client < 3 { address } else { full };
        let wanted = ConnectSpec {
            lack: OnConnectError::Skip,
            ..wanted(500)
        };
        let connected = connect(&wanted, to).expect("it takes three");
        let made: Vec<bool> = connected.sockets.iter().map(Option::is_some).collect();
        assert!(
            made.iter()
                .zip(0..)
                .all(|(made, client)| *made == (client < 3))
        );
        assert_eq!(connected.record.made, 3);
        assert!(
            connect(&wanted, |_| full).is_err(),
            "somebody is to be there"
        );
    }

    #[test]
    fn a_server_that_is_not_there_is_not_waited_for() {
        let (_bound, nowhere) = nowhere();
        let patient = ConnectSpec {
            timeout: Duration::from_secs(3600),
            ..wanted(5)
        };
        let error = connect(&patient, |_| nowhere).expect_err("nothing listens");
        assert!(error.is_unreachable(), "{error}");
    }

    #[test]
    fn who_stops_the_run_need_not_wait_for_its_connections() {
        let (_listener, address) = listener();
        let stop = AtomicBool::new(true);
        let mut observer = NoObserver;
        let context = &mut RunContext::new(&stop, &mut observer);
        let slow = ConnectSpec {
            per_s: Some(0.001),
            ..wanted(2)
        };
        let error = connect_many(&slow, |_| dial(address), context).expect_err("it is stopped");
        assert!(matches!(error, RunError::Interrupted), "{error}");
    }
}
