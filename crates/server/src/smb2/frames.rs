//! From a frame to the frame of its responses: protection, compounds, credits, waiting requests
//! (MS-SMB2, sections 3.3.4.1 and 3.3.5.2).

mod responses;

use responses::{begin_response, begin_responses, write_header};
use std::time::Duration;

use filestone_protection::DecryptBuffer;
use filestone_wire::smb2::codec::Decode;
use filestone_wire::smb2::compound::{self, Message, Messages};
use filestone_wire::smb2::oplock_break::Notification;
use filestone_wire::smb2::session_setup::SetupFlags;
use filestone_wire::smb2::transform::{Encrypted, TRANSFORM_HEADER_LEN, TransformHeader};
use filestone_wire::smb2::{
    Command, Dialect, HEADER_LEN, Header, HeaderFlags, ProtocolId, Status, UNASKED, session_setup,
};

use super::connection::{ChainState, SmbConnection, WaitingFor};
use super::connection_id::CrossConnectionEvent;
use super::exchange::{Answered, CommandFailure, Exchange, SmbSharedState};
use crate::counters::ThreadCounters;
use crate::reply::ReplySink;
use crate::tree::inode::UnixNanoseconds;

/// The connection must be closed without a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CloseConnection;

/// Protection of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Envelope {
    /// Without encryption.
    Plain,
    /// Encrypted with the keys of this session.
    Sealed(u64),
    /// A message of SMB1.
    Smb1,
}

/// Way in which a fault ends a session while its connection stays open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionEnd {
    /// The session is deleted.
    Deleted,
    /// The tree connection is closed.
    ShareClosed,
    /// The user has to reauthenticate (MS-SMB2, section 3.3.5.2.9).
    Expired,
}

/// Action that fault injection applies to a frame before it is processed.
#[derive(Debug, Clone, Copy, Default)]
pub struct FaultAction {
    /// End of the frame's session before processing.
    pub session_end: Option<SessionEnd>,
    /// Status with which every request of the frame fails.
    pub refusal: Option<Status>,
    /// Whether listings restart at each request and never end.
    pub loops: bool,
    /// Whether no credits are granted.
    pub no_credits: bool,
    /// Whether the last request waits forever.
    pub is_stuck: bool,
    /// Whether the frame is dropped without processing and response.
    pub is_dropped: bool,
}

/// Arrival time of a frame.
#[derive(Debug, Clone, Copy)]
pub struct Moment {
    pub now: UnixNanoseconds,
    pub since_start: Duration,
}

/// Processing of the frames of one connection.
pub struct Frames<'x> {
    pub shared: &'x SmbSharedState,
    pub connection: &'x mut SmbConnection,
    pub tally: &'x ThreadCounters,
    pub moment: Moment,
    pub room: &'x mut Vec<u8>,
}

/// Largest size of the responses to one compound, in bytes: no other limit applies there.
const RESPONSES_MAX: usize = 8 << 20;

/// Offset of Command in a header (section 2.2.1.2).
const COMMAND_AT: usize = 12;

/// The last response written: it is signed when the next response is known.
#[derive(Clone, Copy)]
struct Last {
    start: usize,
    /// End of the response, before the padding.
    end: usize,
    session_id: u64,
    is_signed: bool,
    command: Command,
    status: Status,
}

/// A message that is being processed.
#[derive(Clone, Copy)]
struct Answering<'m> {
    message: &'m Message<'m>,
    /// Offset of its response in the sink.
    start: usize,
    /// Offset in its frame.
    offset: usize,
    /// State handed on by the previous message of the compound.
    before: ChainState,
    /// AsyncId, if the request has waited.
    resumed: Option<u64>,
}

/// A frame that is being processed.
struct Run<'m> {
    messages: &'m [u8],
    chain: ChainState,
    sealed: Option<u64>,
    resumed: Option<u64>,
    fault_action: FaultAction,
    /// Offset of the current frame of responses.
    frame: usize,
    last: Option<Last>,
    /// Cancelled requests, to be answered in separate frames.
    cancelled: Vec<u64>,
    /// Sessions that end with this frame.
    ended: Vec<u64>,
    /// Whether a resumed request has to wait again.
    waits_on: bool,
    /// Command code of the current message, if it is unknown.
    unknown: Option<[u8; 2]>,
}

/// Decrypts a frame or returns its plain messages. `opened` contains decrypted messages.
pub fn open(
    connection: &SmbConnection,
    frame: &[u8],
    opened: &mut DecryptBuffer,
) -> Result<Envelope, CloseConnection> {
    match ProtocolId::of(frame) {
        Some(ProtocolId::Smb2) => Ok(Envelope::Plain),
        Some(ProtocolId::Smb1) => Ok(Envelope::Smb1),
        Some(ProtocolId::Transform) => {
            let encrypted = Encrypted::from_bytes(frame).map_err(|_| CloseConnection)?;
            let is_said = encrypted.header.flags == TransformHeader::ENCRYPTED;
            if !is_said || encrypted.data.is_empty() {
                return Err(CloseConnection);
            }
            let id = encrypted.header.session_id;
            let session = connection.sessions.get(&id).ok_or(CloseConnection)?;
            let keys = session.keys.as_ref().ok_or(CloseConnection)?;
            let opener = keys.opener.as_ref().ok_or(CloseConnection)?;
            opener
                .open(&encrypted, opened)
                .map_err(|_| CloseConnection)?;
            Ok(Envelope::Sealed(id))
        }
        Some(ProtocolId::Compression) | None => Err(CloseConnection),
    }
}

/// Returns the command of the first message of a frame.
pub fn command_of(messages: &[u8]) -> Option<Command> {
    Header::from_bytes(messages)
        .ok()
        .map(|header| header.command)
}

impl Frames<'_> {
    /// Processes the messages of a frame.
    pub fn answer(
        &mut self,
        envelope: Envelope,
        messages: &[u8],
        fault_action: FaultAction,
        sink: &mut ReplySink,
    ) -> Result<(), CloseConnection> {
        let sealed = match envelope {
            Envelope::Smb1 => return self.answer_smb1(messages, sink),
            Envelope::Plain => None,
            Envelope::Sealed(id) => Some(id),
        };
        if let Some(session) = sealed.and_then(|id| self.connection.sessions.get_mut(&id)) {
            session.has_sealed = true;
        }
        if let Some(end) = fault_action.session_end {
            self.end_session_of(messages, end);
            // A frame encrypted for a session that does not exist is not answered.
            if sealed.is_some_and(|id| !self.connection.sessions.contains_key(&id)) {
                return Err(CloseConnection);
            }
        }
        let mut run = Run {
            messages,
            chain: ChainState::default(),
            sealed,
            resumed: None,
            fault_action,
            frame: 0,
            last: None,
            cancelled: Vec::new(),
            ended: Vec::new(),
            waits_on: false,
            unknown: None,
        };
        self.run(&mut run, sink)?;
        for async_id in run.cancelled {
            let fault_action = FaultAction {
                refusal: Some(Status::CANCELLED),
                ..FaultAction::default()
            };
            self.resume(async_id, fault_action, sink)?;
        }
        Ok(())
    }

    /// Ends the session of a frame's first request.
    fn end_session_of(&mut self, messages: &[u8], end: SessionEnd) {
        let Ok(header) = Header::from_bytes(messages) else {
            return;
        };
        let (id, tree_id) = (header.session_id, header.tree_id().unwrap_or(0));
        match end {
            SessionEnd::Deleted => self.exchange(header, ChainState::default()).end_session(id),
            SessionEnd::ShareClosed => self
                .exchange(header, ChainState::default())
                .end_tree(id, tree_id),
            SessionEnd::Expired => {
                if let Some(session) = self.connection.sessions.get_mut(&id) {
                    session.is_expired = true;
                }
            }
        }
    }

    fn answer_smb1(&mut self, message: &[u8], sink: &mut ReplySink) -> Result<(), CloseConnection> {
        if !self.connection.window.take(0, 1) {
            return Err(CloseConnection);
        }
        sink.begin_record();
        let start = sink.bytes_mut().len();
        sink.extend(&[0; HEADER_LEN]);
        let header = Header::request(Command::Negotiate, 0);
        let mut exchange = self.exchange(header, ChainState::default());
        if exchange.negotiate_from_smb1(message, sink).is_err() {
            sink.cancel_record();
            return Err(CloseConnection);
        }
        let header = Header {
            flags: HeaderFlags::RESPONSE,
            credits: self.connection.window.grant(1),
            ..header
        };
        write_header(sink, start, &header);
        sink.end_frame();
        self.tally.count_command(Command::Negotiate);
        Ok(())
    }

    fn exchange(&mut self, header: Header, chain: ChainState) -> Exchange<'_> {
        Exchange {
            shared: self.shared,
            connection: self.connection,
            header,
            chain,
            now: self.moment.now,
            since_start: self.moment.since_start,
            resumed: None,
            loops: false,
            may_splice: false,
        }
    }

    fn run(&mut self, run: &mut Run<'_>, sink: &mut ReplySink) -> Result<(), CloseConnection> {
        begin_responses(run, sink);
        if self.answer_all(run, sink).is_err() {
            // No message of the frame is answered, and its mark is removed.
            sink.cancel_record();
            return Err(CloseConnection);
        }
        self.end_responses(run, sink);
        self.resume_orphans(sink)?;
        for id in std::mem::take(&mut run.ended) {
            let mut exchange = self.exchange(Header::request(Command::Logoff, 0), run.chain);
            exchange.end_session(id);
        }
        Ok(())
    }

    /// Processes the messages of a frame up to one that waits.
    fn answer_all(
        &mut self,
        run: &mut Run<'_>,
        sink: &mut ReplySink,
    ) -> Result<(), CloseConnection> {
        let mut offset = 0;
        for message in Messages::of(run.messages) {
            let message = match message {
                Ok(message) => message,
                Err(_) => self.unknown_command(run, offset).ok_or(CloseConnection)?,
            };
            if sink.bytes_mut().len() - run.frame > RESPONSES_MAX {
                return Err(CloseConnection);
            }
            if !self.answer_one(run, &message, offset, sink)? {
                break;
            }
            offset += message.bytes.len();
        }
        Ok(())
    }

    /// Completes a frame of responses, encrypted if the requests were; removes it if it is empty.
    fn end_responses(&mut self, run: &Run<'_>, sink: &mut ReplySink) {
        let Some(last) = run.last else {
            sink.cancel_record();
            return;
        };
        self.finish(last, sink.bytes_mut().len(), sink);
        match run.sealed {
            // The key is gone with its session: the client could not decrypt the frame.
            Some(id) if !self.connection.sessions.contains_key(&id) => sink.cancel_record(),
            Some(id) => {
                self.seal(id, run.frame, sink);
                sink.end_frame();
            }
            None => sink.end_frame(),
        }
    }

    /// Answers requests that waited on closed opens. Further requests that become orphans in the
    /// process are handled in the same loop: their number is up to the client.
    fn resume_orphans(&mut self, sink: &mut ReplySink) -> Result<(), CloseConnection> {
        if std::mem::replace(&mut self.connection.is_answering_orphans, true) {
            return Ok(());
        }
        while let Some(async_id) = self.connection.orphans.pop() {
            let fault_action = FaultAction {
                refusal: Some(Status::RANGE_NOT_LOCKED),
                ..FaultAction::default()
            };
            self.resume(async_id, fault_action, sink)?;
        }
        self.connection.is_answering_orphans = false;
        Ok(())
    }

    /// Processes one message; returns whether to continue with the next ones.
    fn answer_one(
        &mut self,
        run: &mut Run<'_>,
        message: &Message<'_>,
        offset: usize,
        sink: &mut ReplySink,
    ) -> Result<bool, CloseConnection> {
        let header = message.header;
        let resumed = run.resumed.take();
        if header.is_response() {
            return Err(CloseConnection);
        }
        if header.command == Command::Cancel {
            let exchange = self.exchange(header, run.chain);
            run.cancelled.extend(exchange.cancelled());
            return Ok(true);
        }
        self.take_up(run, &header, resumed)?;
        // Section 3.3.5.2.1.1: messages encrypted with a session's key belong to that session.
        if run.sealed.is_some_and(|id| id != run.chain.session_id) {
            return Err(CloseConnection);
        }
        if run.fault_action.is_dropped {
            return Ok(true);
        }
        let before = run.chain;
        let start = begin_response(run, sink);
        let is_given_up = resumed.is_some() && run.fault_action.refusal.is_some();
        let admitted = if is_given_up {
            Ok(())
        } else if header.flags.contains(HeaderFlags::RELATED) && run.chain.is_broken {
            Err(Status::INVALID_PARAMETER)
        } else {
            self.authorize(run, message)
        };
        let refused = run.fault_action.refusal;
        let is_last = offset + message.bytes.len() >= run.messages.len();
        let answered = match admitted {
            Err(status) => Err(CommandFailure::Status(status)),
            Ok(()) if self.exposes_tree(run, &header) => Err(CommandFailure::Hangup),
            Ok(()) if run.unknown.is_some() => {
                Err(CommandFailure::Status(Status::INVALID_PARAMETER))
            }
            Ok(()) if refused.is_some() => Err(CommandFailure::Status(refused.unwrap_or_default())),
            Ok(()) if run.fault_action.is_stuck && is_last => {
                Err(CommandFailure::Wait(WaitingFor::Nothing))
            }
            Ok(()) => self.execute(run, message, resumed, sink),
        };
        if resumed.is_some() {
            run.fault_action.refusal = None;
        }
        run.chain.is_broken |= breaks_chain(header.command, &answered);
        let answering = Answering {
            message,
            start,
            offset,
            before,
            resumed,
        };
        self.respond(run, answering, answered, sink)
    }

    /// Consumes the message IDs of a request, and applies the state handed on by the previous one.
    fn take_up(
        &mut self,
        run: &mut Run<'_>,
        header: &Header,
        resumed: Option<u64>,
    ) -> Result<(), CloseConnection> {
        if resumed.is_none() {
            self.take_ids(header)?;
        }
        if self.connection.agreed.is_none() && header.command != Command::Negotiate {
            return Err(CloseConnection);
        }
        if run.unknown.is_none() {
            self.tally.count_command(header.command);
        }
        let is_related = header.flags.contains(HeaderFlags::RELATED);
        if !is_related || run.chain.is_first {
            run.chain = ChainState {
                session_id: header.session_id,
                tree_id: header.tree_id().unwrap_or(0),
                // The first message has no predecessor to be related to.
                is_broken: is_related,
                ..ChainState::default()
            };
        }
        run.chain.is_first = false;
        Ok(())
    }

    /// Returns the last message of a frame, if its only error is an unknown command: it is
    /// answered, like those before it (section 3.3.5.2.6).
    fn unknown_command<'m>(&self, run: &mut Run<'m>, offset: usize) -> Option<Message<'m>> {
        self.connection.agreed.as_ref()?;
        let bytes = run.messages.get(offset..)?;
        let mut known: [u8; HEADER_LEN] = *bytes.first_chunk()?;
        let field: &mut [u8; 2] = known.get_mut(COMMAND_AT..)?.first_chunk_mut()?;
        // A stand-in command that needs a session and is not processed.
        let stand_in = (Command::Flush as u16).to_le_bytes();
        run.unknown = Some(std::mem::replace(field, stand_in));
        let header = Header::from_bytes(&known).ok()?;
        let is_last = header.next_command == 0;
        is_last.then_some(Message { header, bytes })
    }

    /// Consumes the message IDs of a request (section 3.3.5.2.3).
    fn take_ids(&mut self, header: &Header) -> Result<(), CloseConnection> {
        let agreed = self.connection.agreed.as_ref();
        let is_charged = agreed.is_some_and(|agreed| agreed.has_large_mtu());
        let charge = if is_charged { header.credit_charge } else { 1 };
        if self.connection.window.take(header.message_id, charge) {
            Ok(())
        } else {
            Err(CloseConnection)
        }
    }

    /// Checks whether a request may be processed: session, signature, credit charge.
    fn authorize(&mut self, run: &Run<'_>, message: &Message<'_>) -> Result<(), Status> {
        let header = &message.header;
        let command = header.command;
        let session = self.connection.sessions.get(&run.chain.session_id);
        let is_signed = header.flags.contains(HeaderFlags::SIGNED);
        let needs_none = matches!(command, Command::Negotiate | Command::Echo);
        if run.chain.session_id != 0 && binds(message) {
            return Err(Status::REQUEST_NOT_ACCEPTED);
        }
        let Some(session) = session else {
            let begins = command == Command::SessionSetup && run.chain.session_id == 0;
            if needs_none || begins {
                return self.check_charge(message);
            }
            return Err(Status::USER_SESSION_DELETED);
        };
        if !session.is_valid() && !needs_none && command != Command::SessionSetup {
            return Err(Status::USER_SESSION_DELETED);
        }
        let goes_on = matches!(
            command,
            Command::SessionSetup | Command::Logoff | Command::Close | Command::Lock
        );
        if session.is_expired && !needs_none && !goes_on {
            return Err(Status::NETWORK_SESSION_EXPIRED);
        }
        match (run.sealed, &session.keys) {
            (Some(_), _) => {}
            (None, _) if session.must_encrypt && command != Command::SessionSetup => {
                return Err(Status::ACCESS_DENIED);
            }
            (None, Some(keys)) if is_signed => {
                if !keys.signer.verify(message.bytes, self.room) {
                    return Err(Status::ACCESS_DENIED);
                }
            }
            (None, _) => {
                if session.must_sign && !needs_none {
                    return Err(Status::ACCESS_DENIED);
                }
            }
        }
        self.check_charge(message)
    }

    /// Section 3.3.5.7: in 3.1.1 a user's TREE_CONNECT must be signed or encrypted, or else the
    /// connection is closed: the signature proves that the NEGOTIATE was not modified.
    fn exposes_tree(&self, run: &Run<'_>, header: &Header) -> bool {
        let agreed = self.connection.agreed.as_ref();
        let session = self.connection.sessions.get(&run.chain.session_id);
        header.command == Command::TreeConnect
            && run.sealed.is_none()
            && !header.flags.contains(HeaderFlags::SIGNED)
            && agreed.is_some_and(|agreed| agreed.dialect == Dialect::SMB_3_1_1)
            && session.is_some_and(|session| session.keys.is_some())
    }

    /// Section 3.3.5.2.5: checks that a request does not carry more than its credit charge permits.
    fn check_charge(&self, message: &Message<'_>) -> Result<(), Status> {
        let agreed = self.connection.agreed.as_ref();
        if !agreed.is_some_and(|agreed| agreed.has_large_mtu()) {
            return Ok(());
        }
        let len_at = match message.header.command {
            Command::Read | Command::Write | Command::QueryInfo => 4,
            Command::QueryDirectory => 28,
            _ => return Ok(()),
        };
        let field = message.bytes.get(HEADER_LEN + len_at..);
        let len = field.and_then(|field| field.first_chunk());
        let len = len.map_or(0, |len| u32::from_le_bytes(*len));
        let needed = len.saturating_sub(1) / (64 << 10) + 1;
        if needed > u32::from(message.header.credit_charge.max(1)) {
            return Err(Status::INVALID_PARAMETER);
        }
        Ok(())
    }

    fn execute(
        &mut self,
        run: &mut Run<'_>,
        message: &Message<'_>,
        resumed: Option<u64>,
        sink: &mut ReplySink,
    ) -> Answered {
        let is_alone = message.bytes.len() == run.messages.len();
        let session = self.connection.sessions.get(&run.chain.session_id);
        let is_signed = message.header.flags.contains(HeaderFlags::SIGNED)
            || session.is_some_and(|session| session.must_sign);
        let mut exchange = Exchange {
            loops: run.fault_action.loops,
            resumed,
            may_splice: is_alone && !is_signed && run.sealed.is_none(),
            ..self.exchange(message.header, run.chain)
        };
        let answered = dispatch(&mut exchange, message, sink);
        run.chain = exchange.chain;
        if message.header.command == Command::Logoff && answered.is_ok() {
            run.ended.push(run.chain.session_id);
        }
        answered
    }

    /// Retries a waiting request.
    fn resume(
        &mut self,
        async_id: u64,
        fault_action: FaultAction,
        sink: &mut ReplySink,
    ) -> Result<(), CloseConnection> {
        let Some(waiting) = self.connection.waiting.get_mut(&async_id) else {
            return Ok(());
        };
        let messages = std::mem::take(&mut waiting.messages);
        let (chain, session_id, waits_for) = (waiting.chain, waiting.session_id, waiting.waits_for);
        let sealed = waiting.is_encrypted.then_some(session_id);
        let exchange = self.exchange(Header::request(Command::Cancel, 0), chain);
        exchange.stop_waiting(async_id, waits_for);
        let mut run = Run {
            messages: &messages,
            chain,
            sealed,
            resumed: Some(async_id),
            fault_action,
            frame: 0,
            last: None,
            cancelled: Vec::new(),
            ended: Vec::new(),
            waits_on: false,
            unknown: None,
        };
        run.chain.is_first = !has_related_head(&messages);
        let ran = self.run(&mut run, sink);
        if run.waits_on {
            if let Some(waiting) = self.connection.waiting.get_mut(&async_id) {
                waiting.messages = messages;
            }
        } else {
            self.connection.waiting.remove(&async_id);
        }
        ran
    }

    /// Processes an event from another connection.
    pub fn notice(
        &mut self,
        notice: CrossConnectionEvent,
        sink: &mut ReplySink,
    ) -> Result<(), CloseConnection> {
        match notice {
            CrossConnectionEvent::Retry(async_id) => {
                let waiting = self.connection.waiting.get(&async_id);
                match waiting.map(|waiting| waiting.waits_for) {
                    Some(WaitingFor::Lock { .. } | WaitingFor::Break { .. }) => {
                        self.resume(async_id, FaultAction::default(), sink)
                    }
                    Some(WaitingFor::Nothing) | None => Ok(()),
                }
            }
            CrossConnectionEvent::Break {
                session_id,
                notification,
            } => {
                self.put_break(session_id, &notification, sink);
                Ok(())
            }
            CrossConnectionEvent::DropSession(id) => {
                let header = Header::request(Command::Logoff, 0);
                self.exchange(header, ChainState::default()).end_session(id);
                Ok(())
            }
        }
    }

    /// Section 3.3.4.6: a break notification is not signed, but encrypted if the session is.
    fn put_break(&mut self, session_id: u64, notification: &Notification, sink: &mut ReplySink) {
        let Some(session) = self.connection.sessions.get(&session_id) else {
            return;
        };
        let is_sealed = session.must_encrypt || session.has_sealed;
        sink.begin_record();
        let frame = sink.bytes_mut().len();
        if is_sealed {
            sink.extend(&[0; TRANSFORM_HEADER_LEN]);
        }
        let header = Header {
            flags: HeaderFlags::RESPONSE,
            credits: 0,
            ..Header::request(Command::OplockBreak, UNASKED)
        };
        compound::append(sink.bytes_mut(), &header, notification);
        if is_sealed {
            self.seal(session_id, frame, sink);
        }
        sink.end_frame();
    }

    /// Retries the requests that have waited the longest permitted time for a break.
    pub fn retry_overdue(&mut self, sink: &mut ReplySink) -> Result<(), CloseConnection> {
        let now = self.moment.since_start.as_nanos() as u64;
        let waiting = self.connection.waiting.iter();
        let overdue = waiting.filter(|(_, waiting)| {
            matches!(waiting.waits_for, WaitingFor::Break { until, .. } if until <= now)
        });
        let overdue: Vec<u64> = overdue.map(|(id, _)| *id).collect();
        for async_id in overdue {
            self.resume(async_id, FaultAction::default(), sink)?;
        }
        Ok(())
    }

    /// Releases all state of a closed connection.
    pub fn end(&mut self) {
        let header = Header::request(Command::Logoff, 0);
        let waiting = std::mem::take(&mut self.connection.waiting);
        let mut exchange = self.exchange(header, ChainState::default());
        for (async_id, waiting) in waiting {
            exchange.stop_waiting(async_id, waiting.waits_for);
        }
        let sessions: Vec<u64> = exchange.connection.sessions.keys().copied().collect();
        for id in sessions {
            exchange.end_session(id);
        }
    }
}

/// Returns whether the first of these messages is related to a message answered earlier.
fn has_related_head(messages: &[u8]) -> bool {
    let header = Header::from_bytes(messages);
    header.is_ok_and(|header| header.flags.contains(HeaderFlags::RELATED))
}

/// Returns whether the message binds a session of another connection, which is not supported
/// (section 3.3.5.5).
fn binds(message: &Message<'_>) -> bool {
    let is_setup = message.header.command == Command::SessionSetup;
    let setup = is_setup.then(|| message.body::<session_setup::Request<'_>>());
    matches!(setup, Some(Ok(setup)) if setup.flags.contains(SetupFlags::BINDING))
}

/// Returns whether related messages have no session or tree to refer to (section 3.3.5.2.7.2).
fn breaks_chain(command: Command, answered: &Answered) -> bool {
    let makes_one = matches!(command, Command::SessionSetup | Command::TreeConnect);
    match answered {
        Err(CommandFailure::Status(
            Status::USER_SESSION_DELETED | Status::NETWORK_NAME_DELETED,
        )) => true,
        Err(CommandFailure::Status(_) | CommandFailure::WithData(..)) => makes_one,
        Ok(_) | Err(_) => false,
    }
}

fn dispatch(exchange: &mut Exchange<'_>, message: &Message<'_>, sink: &mut ReplySink) -> Answered {
    match message.header.command {
        Command::Negotiate => exchange.negotiate(message, sink),
        Command::SessionSetup => exchange.session_setup(message, sink),
        Command::Logoff => exchange.logoff(message, sink),
        Command::TreeConnect => exchange.tree_connect(message, sink),
        Command::Echo => exchange.echo(message, sink),
        Command::Cancel => Err(CommandFailure::Silent),
        _ => in_tree(exchange, message, sink),
    }
}

/// Processes commands that require a tree as well as a session.
fn in_tree(exchange: &mut Exchange<'_>, message: &Message<'_>, sink: &mut ReplySink) -> Answered {
    exchange.share()?;
    match message.header.command {
        Command::TreeDisconnect => exchange.tree_disconnect(message, sink),
        Command::Create => exchange.create(message, sink),
        Command::Close => exchange.close(message, sink),
        Command::Flush => exchange.flush(message, sink),
        Command::Read => exchange.read(message, sink),
        Command::Write => exchange.write(message, sink),
        Command::Lock => exchange.lock(message, sink),
        Command::Ioctl => exchange.ioctl(message, sink),
        Command::QueryDirectory => exchange.query_directory(message, sink),
        Command::QueryInfo => exchange.query_info(message, sink),
        Command::SetInfo => exchange.set_info(message, sink),
        Command::OplockBreak => exchange.oplock_break(message, sink),
        Command::ChangeNotify => exchange.change_notify(message),
        Command::Negotiate
        | Command::SessionSetup
        | Command::Logoff
        | Command::TreeConnect
        | Command::Echo
        | Command::Cancel => Err(CommandFailure::Silent),
    }
}

/// Returns whether faults and the queue apply to a command: not to those that set up a tree
/// connection, so that a client can connect.
pub const fn is_work(command: Command) -> bool {
    !matches!(
        command,
        Command::Negotiate
            | Command::SessionSetup
            | Command::Logoff
            | Command::TreeConnect
            | Command::TreeDisconnect
            | Command::Cancel
    )
}
