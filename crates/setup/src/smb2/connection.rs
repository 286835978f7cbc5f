//! A connection to a share for single requests before and after a run.

use super::error::{ExchangeError, ExchangeFailed, SmbError};
use super::key_log;
use crate::driver::call::printable_start;
use filestone_host::connect::{Dial, is_local};
use filestone_host::control::{Cancellation, LOOK_EVERY};
use filestone_measure::measure::run_record::{SessionIdentity, SessionRecord};
use filestone_protocol::client::call_slot::{ActionError, Results, WaitReason};
use filestone_protocol::client::smb2::{
    ConnectError, ConnectionSetup, SmbCallHandle, SmbCallSlot, SmbClientErrorKind, establish,
};
use filestone_protocol::session::smb2::{
    NegotiatedSummary, OutgoingCompound, Scope, Smb2Options, Smb2Session, SmbStreamError,
    SmbTransferLimits,
};
use filestone_wire::smb2::compound::Messages;
use filestone_wire::smb2::{self, Command};
use filestone_workload::load::ActionStatus;
use filestone_workload::output::{Output, WriteData};
use filestone_workload::time::{Timestamp, nanos_of};
use rustix::io::Errno;
use rustix::net::{
    RecvFlags, SendAncillaryBuffer, SendFlags, Shutdown, recv, sendmsg, shutdown, sockopt,
};
use std::io::IoSlice;
use std::os::fd::OwnedFd;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

/// Slot for all requests.
const SLOT: u32 = 0;
/// Maximum frame size: a READ of eight mebibytes, the largest that servers offer.
const FRAME_MAX: usize = (8 << 20) + (64 << 10);
/// Size of the receive buffer.
const ROOM: usize = 256 << 10;

/// Maximum number of consecutive restarts without progress.
pub const REPEATS_MAX: u32 = 5;

/// Number of requests answered over a connection and its predecessors.
#[derive(Debug, Clone, Copy, Default)]
pub struct Answers {
    /// Compound requests.
    pub chains: u64,
    /// Compound requests that have written, removed or renamed something.
    pub changes: u64,
}

/// Parameters of a connection.
#[derive(Debug, Clone)]
pub struct Reaching {
    /// Address of the server.
    pub dial: Dial,
    /// Setup of the connection to the share.
    pub way: Arc<ConnectionSetup>,
    /// Timeout of a request.
    pub timeout: Duration,
    /// Whether related requests are compounded.
    pub compounds: bool,
    /// Two periods of the pattern for file data.
    pub pattern: Arc<[u8]>,
    /// Cancels all waits.
    pub cancellation: Cancellation,
}

impl Reaching {
    /// Connects a socket to the server.
    fn connect(&self) -> Result<OwnedFd, ExchangeFailed> {
        let socket = self.dial.connect_until(self.timeout, &self.cancellation);
        socket.map_err(|error| ExchangeFailed {
            address: self.dial.address,
            request: String::new(),
            source: error.into(),
        })
    }

    /// Creates a session, not established yet, for `slots` concurrent requests.
    pub fn session(&self, slots: u32) -> Smb2Session {
        Smb2Session::new(Smb2Options {
            slots,
            timeout_nanos: nanos_of(self.timeout),
            frame_max: FRAME_MAX,
            compounds: self.compounds,
            channel: self.way.channel() as u16,
        })
    }
}

/// Error of a request to a share.
#[derive(Debug)]
pub enum RequestError {
    /// The server returned an error status.
    Answered(smb2::Status),
    /// The connection to the server or its share is lost.
    Lost(SmbError),
}

impl RequestError {
    /// Converts to an error for the object at `path`.
    pub fn at(self, path: &str, request: &'static str) -> SmbError {
        match self {
            RequestError::Answered(status) => SmbError::Answered {
                path: path.into(),
                request,
                status,
            },
            RequestError::Lost(error) => error,
        }
    }

    /// Whether the server returned one of these statuses.
    pub fn is_any(&self, statuses: &[smb2::Status]) -> bool {
        matches!(self, RequestError::Answered(status) if statuses.contains(status))
    }
}

/// A connection to a share.
#[derive(Debug)]
pub struct ConnectedShare {
    reaching: Reaching,
    socket: OwnedFd,
    session: Smb2Session,
    call_slot: SmbCallSlot,
    out: Output,
    sent: Vec<u8>,
    room: Box<[u8]>,
    epoch: Instant,
    answers: Answers,
}

/// Parts of a connection that a worker takes over.
pub struct EstablishedConnection {
    /// Connected socket.
    pub socket: OwnedFd,
    /// Established session.
    pub session: Smb2Session,
}

impl ConnectedShare {
    /// Connects to the server and the share, with up to `slots` concurrent requests.
    pub fn make(reaching: &Reaching, slots: u32) -> Result<Self, SmbError> {
        Self::over(reaching, reaching.connect()?, slots)
    }

    /// Connects to the share over a connected socket.
    pub fn over(reaching: &Reaching, socket: OwnedFd, slots: u32) -> Result<Self, SmbError> {
        let mut connection = Self {
            reaching: reaching.clone(),
            socket,
            session: reaching.session(slots),
            call_slot: SmbCallSlot::default(),
            out: Output::default(),
            sent: Vec::new(),
            room: vec![0; ROOM].into_boxed_slice(),
            epoch: Instant::now(),
            answers: Answers::default(),
        };
        connection.limit()?;
        connection.arrive()?;
        Ok(connection)
    }

    /// Establishes a new session over a new connection after the server has ended the old session,
    /// because a connection allows only one NEGOTIATE (MS-SMB2, section 3.3.5.4).
    pub fn restart(&mut self) -> Result<(), SmbError> {
        self.connect_again()?;
        self.arrive()
    }

    /// Replaces the connection by a new one, before NEGOTIATE.
    fn connect_again(&mut self) -> Result<(), SmbError> {
        // The server closes the open files of the old session before the new session, which names
        // the old one, is established.
        let _ = shutdown(&self.socket, Shutdown::Both);
        self.reaching.way.mark_lost();
        self.socket = self.reaching.connect()?;
        self.session.reset();
        self.out.clear();
        self.limit()
    }

    /// Connects to the share; makes another connection if the server ends the session in between.
    fn arrive(&mut self) -> Result<(), SmbError> {
        let mut left = REPEATS_MAX;
        loop {
            match self.establish() {
                Err(SmbError::Setup {
                    source: ConnectError::Refused { status, .. },
                    ..
                }) if status.ends_session() && left > 0 => {
                    left -= 1;
                    self.connect_again()?;
                }
                established => return established,
            }
        }
    }

    /// Limits the duration of system calls, so that cancellation is checked regularly.
    fn limit(&self) -> Result<(), SmbError> {
        let limit = Some(
            self.reaching
                .timeout
                .clamp(Duration::from_millis(1), LOOK_EVERY),
        );
        sockopt::set_socket_timeout(&self.socket, sockopt::Timeout::Recv, limit)
            .and_then(|()| sockopt::set_socket_timeout(&self.socket, sockopt::Timeout::Send, limit))
            .map_err(|error| self.failed(error.into()).into())
    }

    fn establish(&mut self) -> Result<(), SmbError> {
        let way = Arc::clone(&self.reaching.way);
        let established = self.drive(&WriteData::PATTERN, establish(SmbCallHandle::HERE, &way));
        match established.map_err(|unmet| unmet.at("", "SESSION_SETUP"))? {
            Ok(established) => {
                key_log::note(&established);
                self.session.establish(established);
                Ok(())
            }
            Err(ConnectError::Lost | ConnectError::Reset) => Err(self.why_lost().into()),
            Err(source) => Err(SmbError::Setup {
                address: self.reaching.dial.address,
                share: self.reaching.way.terms.share.clone(),
                source,
            }),
        }
    }

    /// Logs off and closes the connection, because a server may allow only as many sessions as the
    /// run has clients. Any authentic response is accepted.
    pub fn leave(&mut self) -> Result<(), SmbError> {
        let link = SmbCallHandle::HERE;
        let left = self.step(&WriteData::PATTERN, async {
            link.tree_disconnect(Scope::Tree).await?;
            link.log_off(Scope::Session).await
        });
        let _ = shutdown(&self.socket, Shutdown::Both);
        match left {
            Err(RequestError::Lost(error)) if error.is_forgery() => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Hands the connection over to a worker.
    pub fn into_connection(self) -> Result<EstablishedConnection, SmbError> {
        let unlimited = sockopt::set_socket_timeout(&self.socket, sockopt::Timeout::Recv, None)
            .and_then(|()| sockopt::set_socket_timeout(&self.socket, sockopt::Timeout::Send, None));
        unlimited.map_err(|error| self.failed(error.into()))?;
        Ok(EstablishedConnection {
            socket: self.socket,
            session: self.session,
        })
    }

    /// Returns the session.
    pub fn session(&self) -> &Smb2Session {
        &self.session
    }

    /// Returns the transfer limits as negotiated and limited by the credits that the server grants.
    /// Requests credits until it grants no more.
    pub fn limits(&mut self) -> Result<SmbTransferLimits, SmbError> {
        let agreed = self.session.established().map(|own| own.limits);
        let agreed = agreed.unwrap_or_default();
        // After the loss of a session, the credits start again from the minimum.
        let granted = |own: &Self| (own.reaching.way.losses(), own.session.credits());
        let mut before = (0, 0);
        while self.session.credits() < agreed.credits() && granted(self) > before {
            before = granted(self);
            let asked = self.call(async |link| link.echo().await);
            asked.map_err(|unmet| unmet.at("", "ECHO"))?;
        }
        Ok(agreed.within(self.session.credits()))
    }

    /// Returns the negotiated parameters for the record.
    pub fn session_record(&self) -> Option<SessionRecord> {
        let agreed = self.session.established()?.agreed;
        Some(SessionRecord {
            dialect: agreed.dialect.to_string(),
            signing: agreed.signing.map(|algorithm| algorithm.to_string()),
            encryption: agreed.cipher.map(|cipher| cipher.to_string()),
            account: match agreed {
                NegotiatedSummary { is_guest: true, .. } => SessionIdentity::Guest,
                NegotiatedSummary {
                    is_anonymous: true, ..
                } => SessionIdentity::Anonymous,
                _ => SessionIdentity::User,
            },
            channels: self.reaching.way.terms.channels,
            interfaces: Vec::new(),
            durable: None,
        })
    }

    /// Returns the parameters of the connection.
    pub fn reaching(&self) -> &Reaching {
        &self.reaching
    }

    /// Whether the server is on this host.
    pub fn is_local(&self) -> bool {
        is_local(self.reaching.dial.address, Some(&self.socket))
    }

    /// Waits for `pause`; an error on cancellation.
    pub fn wait(&self, pause: Duration) -> Result<(), RequestError> {
        if self.reaching.cancellation.pause(pause) {
            return Ok(());
        }
        Err(RequestError::Lost(
            self.failed(ExchangeError::Stopped).into(),
        ))
    }

    /// Returns the number of answered requests.
    pub const fn answers(&self) -> Answers {
        self.answers
    }

    /// Sends these requests once and returns their result. When the server responds that the
    /// session or the tree connect has ended, no further request is sent and that status is
    /// returned.
    pub fn step<T>(
        &mut self,
        source: &WriteData,
        requests: impl Future<Output = Result<T, ActionError>>,
    ) -> Result<T, RequestError> {
        match self.drive(source, requests)? {
            Ok(value) => Ok(value),
            Err(ActionError::Status(ActionStatus::Failed(status))) => {
                Err(RequestError::Answered(smb2::Status(status.number)))
            }
            Err(ActionError::Status(other)) => {
                let what = format!("{other:?}");
                Err(RequestError::Lost(
                    self.failed(ExchangeError::Bad(what)).into(),
                ))
            }
            Err(ActionError::ClientFailed | ActionError::ConnectionReset) => {
                let failed = self.why_lost();
                Err(RequestError::Lost(failed.into()))
            }
        }
    }

    /// Executes the exchanges that `requests` waits for.
    fn drive<T>(
        &mut self,
        source: &WriteData,
        requests: impl Future<Output = T>,
    ) -> Result<T, RequestError> {
        let mut call_slot = std::mem::take(&mut self.call_slot);
        let mut requests = pin!(requests);
        let mut context = Context::from_waker(Waker::noop());
        loop {
            call_slot.stop(self.reaching.cancellation.is_cancelled());
            let polled = call_slot.lend(|| requests.as_mut().poll(&mut context));
            if let Poll::Ready(value) = polled {
                self.call_slot = call_slot;
                return Ok(value);
            }
            let exchanged = match call_slot.wanted() {
                WaitReason::Timer(nanos) => {
                    let goes_on = self
                        .reaching
                        .cancellation
                        .pause(Duration::from_nanos(nanos));
                    call_slot.rested();
                    if goes_on {
                        Ok(None)
                    } else {
                        Err(ExchangeError::Stopped)
                    }
                }
                WaitReason::Reply | WaitReason::None => self.exchange(&mut call_slot, source),
            };
            match exchanged {
                Ok(None) => {}
                Ok(Some(ended)) => return Err(RequestError::Answered(ended)),
                Err(error) => {
                    let mut failed = self.failed(error);
                    failed.request = call_slot.call().procedure.shown();
                    return Err(RequestError::Lost(failed.into()));
                }
            }
        }
    }

    fn failed(&self, source: ExchangeError) -> ExchangeFailed {
        ExchangeFailed {
            address: self.reaching.dial.address,
            request: self.call_slot.call().procedure.shown(),
            source,
        }
    }

    /// Returns the error of a future that could not continue.
    fn why_lost(&mut self) -> ExchangeFailed {
        let lost = self.call_slot.take_lost();
        let why = lost.map_or(SmbClientErrorKind::Disconnected, |lost| lost.reason);
        let source = why_in_words(why, self.reaching.timeout);
        self.failed(source)
    }

    fn now(&self) -> Timestamp {
        Timestamp::ZERO.after(self.epoch.elapsed())
    }

    /// Sends the compound request in the call slot and waits for its responses. Returns the status
    /// if they report that the session or the tree connect has ended; the future does not receive
    /// such responses.
    fn exchange(
        &mut self,
        call_slot: &mut SmbCallSlot,
        source: &WriteData,
    ) -> Result<Option<smb2::Status>, ExchangeError> {
        self.put(call_slot, source)?;
        // Session setup evaluates its own status.
        let is_of_session = self.session.established().is_some()
            && matches!(
                call_slot.call().procedure.scope,
                Scope::Tree | Scope::Session
            );
        loop {
            let len = self.receive()?;
            let received = self.room.get(..len).unwrap_or_default();
            let (mut is_answered, mut wants_next, mut is_genuine) = (false, false, true);
            let mut said = Said::default();
            let taken = self.session.receive(received, |answered| {
                wants_next |= answered.wants_next;
                is_genuine &= answered.is_genuine;
                if answered.wants_next {
                    return;
                }
                let (bytes, len) = (answered.bytes, answered.bytes.len());
                if is_of_session {
                    said = Said::of(bytes);
                }
                if said.ended.is_none() {
                    call_slot.answer(Results { bytes, len });
                }
                is_answered = true;
            });
            taken.map_err(|error| not_smb(error, received))?;
            match said.ended {
                // Without a session there is no key to sign the response. No other unsigned
                // response is trusted.
                Some(ended) if is_genuine || said.is_without_key => return Ok(Some(ended)),
                _ if !is_genuine => return Err(ExchangeError::Forged),
                _ => {}
            }
            if is_answered {
                self.answers.chains += 1;
                self.answers.changes += u64::from(said.has_changed);
                return Ok(None);
            }
            if wants_next {
                self.put(call_slot, source)?;
            }
            if self.session.timed_out(self.now(), &mut self.out).is_some() {
                return Err(ExchangeError::TimedOut(self.reaching.timeout));
            }
            if self.session.answer(&mut self.out) {
                self.send()?;
            }
        }
    }

    fn put(
        &mut self,
        call_slot: &mut SmbCallSlot,
        source: &WriteData,
    ) -> Result<(), ExchangeError> {
        let call = call_slot.call();
        let can_send = self.session.can_send(SLOT, &call.procedure);
        if !can_send.map_err(ExchangeError::NotSmb)? {
            return Err(ExchangeError::NotSmb(SmbStreamError::NoCredits {
                needed: call.procedure.len(),
                at_hand: self.session.credits(),
            }));
        }
        let sending = OutgoingCompound {
            chain: &call.procedure,
            bodies: &call.arguments,
            data: call.data,
            source,
            pattern: &self.reaching.pattern,
        };
        let keeps = call.procedure.keeps_sent;
        self.session
            .put(SLOT, &sending, &mut self.out, &mut self.sent);
        if keeps {
            std::mem::swap(call_slot.sent_mut(), &mut self.sent);
        }
        let now = self.now();
        self.session.transmitted(now);
        self.send()
    }

    /// Sends the whole output.
    fn send(&mut self) -> Result<(), ExchangeError> {
        let mut slices = Vec::with_capacity(2 * self.out.splices.len() + 1);
        let mut from = 0;
        for splice in &self.out.splices {
            slices.push(self.out.bytes.get(from..splice.at).unwrap_or_default());
            let data = self
                .reaching
                .pattern
                .get(splice.start..splice.start + splice.len);
            slices.push(data.unwrap_or_default());
            from = splice.at;
        }
        slices.push(self.out.bytes.get(from..).unwrap_or_default());
        let mut slices: Vec<IoSlice<'_>> = slices.into_iter().map(IoSlice::new).collect();
        let mut rest = &mut slices[..];
        IoSlice::advance_slices(&mut rest, 0);
        let began = Instant::now();
        while !rest.is_empty() {
            let mut no_control = SendAncillaryBuffer::default();
            match sendmsg(&self.socket, rest, &mut no_control, SendFlags::NOSIGNAL) {
                Ok(len) => IoSlice::advance_slices(&mut rest, len),
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            if self.reaching.cancellation.is_cancelled() {
                return Err(ExchangeError::Stopped);
            }
            if began.elapsed() > self.reaching.timeout {
                return Err(ExchangeError::TimedOut(self.reaching.timeout));
            }
        }
        self.out.clear();
        Ok(())
    }

    /// Receives once, or waits for a limited time.
    fn receive(&mut self) -> Result<usize, ExchangeError> {
        match recv(&self.socket, &mut self.room[..], RecvFlags::empty()) {
            Ok((0, _)) => Err(ExchangeError::Closed),
            Ok((len, _)) => Ok(len),
            Err(Errno::AGAIN | Errno::INTR) if self.reaching.cancellation.is_cancelled() => {
                Err(ExchangeError::Stopped)
            }
            Err(Errno::AGAIN | Errno::INTR) => Ok(0),
            Err(error) => Err(error.into()),
        }
    }
}

/// Information about the session in the responses to a compound request.
#[derive(Debug, Clone, Copy, Default)]
struct Said {
    /// Status that reports the end of the session or tree connect, unless only CLOSE requests were
    /// affected: their files are closed with the session.
    ended: Option<smb2::Status>,
    /// Whether the response is unsigned because the server has no key any more.
    is_without_key: bool,
    /// Whether something was written, removed or renamed.
    has_changed: bool,
}

impl Said {
    fn of(responses: &[u8]) -> Self {
        let mut said = Self::default();
        for message in Messages::of(responses).map_while(Result::ok) {
            let smb2::Header {
                command,
                status,
                flags,
                ..
            } = message.header;
            if status.is_error() {
                let is_end = status.ends_session() && command != Command::Close;
                said.ended = is_end.then_some(status);
                said.is_without_key = status == smb2::Status::USER_SESSION_DELETED
                    && !flags.contains(smb2::HeaderFlags::SIGNED);
                break;
            }
            said.has_changed |= matches!(command, Command::SetInfo | Command::Write);
        }
        said
    }
}

/// Converts the error of a client whose requests have a timeout of `timeout`.
pub fn why_in_words(why: SmbClientErrorKind, timeout: Duration) -> ExchangeError {
    match why {
        SmbClientErrorKind::Decode(error) => {
            ExchangeError::Bad(format!("the response cannot be decoded: {error}"))
        }
        SmbClientErrorKind::ProtocolViolation(what) => ExchangeError::Bad(what),
        SmbClientErrorKind::Refused(_) => ExchangeError::Forged,
        SmbClientErrorKind::BadMessage(error, start) => not_smb(error, &start),
        SmbClientErrorKind::TimedOut => ExchangeError::TimedOut(timeout),
        SmbClientErrorKind::Stopped => ExchangeError::Stopped,
        SmbClientErrorKind::Disconnected => ExchangeError::Closed,
    }
}

/// Converts the error of a non-SMB stream that begins with `received`.
fn not_smb(error: SmbStreamError, received: &[u8]) -> ExchangeError {
    match (error, printable_start(received)) {
        (SmbStreamError::Frame(_), Some(start)) => ExchangeError::OtherProtocol(start),
        (error, _) => ExchangeError::NotSmb(error),
    }
}
