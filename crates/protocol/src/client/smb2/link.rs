//! Calls of SMB2 on a desk: chains of requests.

use crate::client::call_slot::{self, ActionError, ActionResult, Calls, CurrentCall, Results};
use crate::session::smb2::{CompoundRequest, Part, Scope, SmbStreamError};
use filestone_wire::smb2::codec::{Decode, DecodeError, Encode, Writer};
use filestone_wire::smb2::compound::{Message, Messages};
use filestone_wire::smb2::{self, Command, close};
use filestone_workload::failure::StatusSpace;
use filestone_workload::load::Status;
use filestone_workload::output::DataRange;
use std::cell::Cell;

/// Calls of SMB2.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Smb2;

/// How a server's answer is refused: it is not known to be the server's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the signature of a response is missing or wrong")]
pub struct BadSignature;

/// What a desk shows on which nothing was ever laid.
static NOTHING: call_slot::CallState<Smb2> = call_slot::CallState::new();

thread_local! {
    /// What is lent to the future that this thread polls.
    static LENT: Lending = const { Cell::new(None) };
}

type Lending = Cell<Option<Box<call_slot::CallState<Smb2>>>>;

impl Calls for Smb2 {
    type Procedure = CompoundRequest;
    type DecodeError = DecodeError;
    type Refusal = BadSignature;
    type BadMessage = SmbStreamError;

    const NONE: CompoundRequest = CompoundRequest::NONE;

    fn nothing() -> &'static call_slot::CallState<Self> {
        &NOTHING
    }

    #[inline]
    fn lent() -> &'static CurrentCall<Self> {
        &LENT
    }
}

/// Where a driver finds calls of SMB2, and puts their results.
pub type CallSlot = call_slot::CallSlot<Smb2>;
/// What is wrong with results.
pub type ReplyError = call_slot::ReplyError<Smb2>;
/// By what a future calls.
pub type CallHandle = call_slot::CallHandle<Smb2>;
/// Why a client cannot go on.
pub type ClientError = call_slot::ClientError<Smb2>;
/// What is wrong with a call that ends a client.
pub type ClientErrorKind = call_slot::ClientErrorKind<Smb2>;
/// What a decoder makes of results.
pub type DecodeResult<T> = Result<ActionResult<T>, ReplyError>;

impl From<DecodeError> for ReplyError {
    fn from(error: DecodeError) -> Self {
        ReplyError::Decode(error)
    }
}

/// The answer to a request that did not do what it was to do.
pub const fn answer(status: smb2::Status) -> Status {
    Status::Failed(StatusSpace::Nt.status(status.0))
}

impl From<smb2::Status> for ActionError {
    fn from(status: smb2::Status) -> Self {
        ActionError::Status(answer(status))
    }
}

/// Whether the server answered with this status.
pub fn is(failure: ActionError, status: smb2::Status) -> bool {
    failure == ActionError::Status(answer(status))
}

/// A chain that is being put together.
#[derive(Debug)]
pub struct CompoundBuilder<'b> {
    bodies: &'b mut Vec<u8>,
    chain: CompoundRequest,
}

impl<'b> CompoundBuilder<'b> {
    /// Of requests in the session's tree, whose bodies are appended.
    pub fn new(bodies: &'b mut Vec<u8>) -> Self {
        let chain = CompoundRequest::NONE;
        Self { bodies, chain }
    }

    /// Of requests of another scope.
    #[must_use]
    pub fn of(mut self, scope: Scope) -> Self {
        self.chain.scope = scope;
        self
    }

    /// The messages are wanted as they go out.
    #[must_use]
    pub fn kept(mut self) -> Self {
        self.chain.keeps_sent = true;
        self
    }

    /// It is cancelled as soon as the server says that it is at work on it.
    #[must_use]
    pub fn cancelled(mut self) -> Self {
        self.chain.is_cancelled = true;
        self
    }

    /// Each in a frame of its own.
    #[must_use]
    pub fn apart(mut self) -> Self {
        self.chain.is_apart = true;
        self
    }

    /// One request more. `payload` is the larger of what it sends and of what it may be answered,
    /// besides fixed fields.
    #[must_use]
    pub fn request(self, command: Command, payload: u32, body: &impl Encode) -> Self {
        self.with(command, payload, |out| body.encode(out))
    }

    /// The same, with its body appended by `encode`.
    #[must_use]
    pub fn with(
        mut self,
        command: Command,
        payload: u32,
        encode: impl FnOnce(&mut Writer<'_>),
    ) -> Self {
        encode(&mut Writer::new(self.bodies));
        self.chain.push(Part {
            command,
            end: u32::try_from(self.bodies.len()).unwrap_or(u32::MAX),
            payload,
        });
        self
    }

    /// All of it.
    pub fn chain(self) -> CompoundRequest {
        self.chain
    }
}

impl CallHandle {
    /// Sends what `build` puts together, and gives what `decode` makes of the responses.
    #[inline]
    pub fn send<T, D>(
        &self,
        build: impl FnOnce(CompoundBuilder<'_>) -> CompoundRequest,
        decode: D,
    ) -> call_slot::CallFuture<Smb2, D>
    where
        D: FnOnce(Results<'_>) -> DecodeResult<T>,
    {
        self.send_with(build, DataRange::default(), usize::MAX, decode)
    }

    /// The same with data after the last request, a WRITE, or where only the first `kept_max`
    /// bytes of the responses are looked at.
    #[inline]
    pub fn send_with<T, D>(
        &self,
        build: impl FnOnce(CompoundBuilder<'_>) -> CompoundRequest,
        data: DataRange,
        kept_max: usize,
        decode: D,
    ) -> call_slot::CallFuture<Smb2, D>
    where
        D: FnOnce(Results<'_>) -> DecodeResult<T>,
    {
        self.ask(
            |out| build(CompoundBuilder::new(out)),
            data,
            kept_max,
            decode,
        )
    }
}

/// The responses to a chain, one after the other.
#[derive(Debug, Clone)]
pub struct CompoundResponses<'r> {
    messages: Messages<'r>,
    /// The first failure among those that were taken.
    failed: Option<smb2::Status>,
}

impl<'r> CompoundResponses<'r> {
    /// Those in these results.
    pub fn of(results: Results<'r>) -> Self {
        Self {
            messages: Messages::of(results.bytes),
            failed: None,
        }
    }

    /// The next message.
    pub fn message(&mut self) -> Result<Option<Message<'r>>, DecodeError> {
        self.messages.next().transpose()
    }

    /// The next response, which has to be to this command; `None` if it failed, or one before.
    pub fn take<T: Decode<'r>>(&mut self, command: Command) -> Result<Option<T>, ReplyError> {
        let Some(message) = self.message()? else {
            return match self.failed {
                // What follows a request that failed need not be answered.
                Some(_) => Ok(None),
                None => Err(ReplyError::Violation(format!("{command} was not answered"))),
            };
        };
        let header = message.header;
        if header.command != command {
            let what = format!("{command} was answered as {}", header.command);
            return Err(ReplyError::Violation(what));
        }
        match message.reply::<T>()? {
            Ok(body) if !header.status.is_error() || self.failed.is_none() => Ok(Some(body)),
            Ok(_) => Ok(None),
            Err(_) => {
                self.failed.get_or_insert(header.status);
                Ok(None)
            }
        }
    }

    /// The response to a CLOSE. Who is told there that the session is gone, or its tree, needs no
    /// other answer: what was open is gone with it.
    pub fn take_closed(&mut self) -> Result<Option<()>, ReplyError> {
        let before = self.failed;
        let closed = self.take::<close::Response>(Command::Close)?;
        let is_end = before.is_none() && self.failed.is_some_and(smb2::Status::ends_session);
        if is_end {
            self.failed = None;
        }
        Ok((closed.is_some() || is_end).then_some(()))
    }

    /// `value`, unless something failed.
    pub fn finish<T>(self, value: Option<T>) -> DecodeResult<T> {
        match (self.failed, value) {
            (Some(status), _) => Ok(Err(status.into())),
            (None, Some(value)) => Ok(Ok(value)),
            (None, None) => Err(ReplyError::Violation(
                "a response without what it has to say".into(),
            )),
        }
    }
}

/// What a single request was answered.
pub fn one<'r, T: Decode<'r>, U>(
    results: Results<'r>,
    command: Command,
    keep: impl FnOnce(T) -> U,
) -> DecodeResult<U> {
    let mut responses = CompoundResponses::of(results);
    let body = responses.take::<T>(command)?;
    responses.finish(body.map(keep))
}
