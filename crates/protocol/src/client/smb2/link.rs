//! SMB2 calls in a call slot: chains of requests.

use crate::client::call_slot::{self, ActionError, ActionResult, Calls, CurrentCall, Results};
use crate::session::smb2::{CompoundPart, CompoundRequest, Scope, SmbStreamError};
use filestone_wire::smb2::codec::{Decode, DecodeError, Encode, Writer};
use filestone_wire::smb2::compound::{Message, Messages};
use filestone_wire::smb2::{self, Command, close};
use filestone_workload::failure::StatusSpace;
use filestone_workload::load::ActionStatus;
use filestone_workload::output::DataRange;
use std::cell::Cell;

/// SMB2 as a family of calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SmbCalls;

/// Refusal of a response that is not provably from the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the signature of a response is missing or wrong")]
pub struct BadSignature;

/// State of an unused slot.
static NOTHING: call_slot::CallState<SmbCalls> = call_slot::CallState::new();

thread_local! {
    /// Slot lent to the future that this thread polls.
    static LENT: Lending = const { Cell::new(None) };
}

type Lending = Cell<Option<Box<call_slot::CallState<SmbCalls>>>>;

impl Calls for SmbCalls {
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

/// Slot for SMB2 calls and their results.
pub type SmbCallSlot = call_slot::CallSlot<SmbCalls>;
/// Error in results.
pub type SmbReplyError = call_slot::ReplyError<SmbCalls>;
/// Handle for issuing SMB2 calls from a future.
pub type SmbCallHandle = call_slot::CallHandle<SmbCalls>;
/// Reason why a client cannot continue.
pub type SmbClientError = call_slot::ClientError<SmbCalls>;
/// Error of a call that ends a client.
pub type SmbClientErrorKind = call_slot::ClientErrorKind<SmbCalls>;
/// Result of a decoder.
pub type DecodeResult<T> = Result<ActionResult<T>, SmbReplyError>;

impl From<DecodeError> for SmbReplyError {
    fn from(error: DecodeError) -> Self {
        SmbReplyError::Decode(error)
    }
}

/// Returns the status of a request that failed.
pub const fn answer(status: smb2::Status) -> ActionStatus {
    ActionStatus::Failed(StatusSpace::Nt.status(status.0))
}

impl From<smb2::Status> for ActionError {
    fn from(status: smb2::Status) -> Self {
        ActionError::Status(answer(status))
    }
}

/// Returns whether the server answered with this status.
pub fn is(failure: ActionError, status: smb2::Status) -> bool {
    failure == ActionError::Status(answer(status))
}

/// Builder of a chain.
#[derive(Debug)]
pub struct CompoundBuilder<'b> {
    bodies: &'b mut Vec<u8>,
    chain: CompoundRequest,
}

impl<'b> CompoundBuilder<'b> {
    /// Creates a builder of requests in the session's tree, whose bodies are appended to `bodies`.
    pub fn new(bodies: &'b mut Vec<u8>) -> Self {
        let chain = CompoundRequest::NONE;
        Self { bodies, chain }
    }

    /// Sets the scope of the requests.
    #[must_use]
    pub fn of(mut self, scope: Scope) -> Self {
        self.chain.scope = scope;
        self
    }

    /// Requests a copy of the messages as sent.
    #[must_use]
    pub fn kept(mut self) -> Self {
        self.chain.keeps_sent = true;
        self
    }

    /// Cancels the chain as soon as the server reports that it is pending.
    #[must_use]
    pub fn cancelled(mut self) -> Self {
        self.chain.is_cancelled = true;
        self
    }

    /// Sends each request in a separate frame.
    #[must_use]
    pub fn apart(mut self) -> Self {
        self.chain.is_apart = true;
        self
    }

    /// Adds a request. `payload` is the larger of its request payload and its response payload,
    /// fixed fields excluded.
    #[must_use]
    pub fn request(self, command: Command, payload: u32, body: &impl Encode) -> Self {
        self.with(command, payload, |out| body.encode(out))
    }

    /// Adds a request whose body is appended by `encode`.
    #[must_use]
    pub fn with(
        mut self,
        command: Command,
        payload: u32,
        encode: impl FnOnce(&mut Writer<'_>),
    ) -> Self {
        encode(&mut Writer::new(self.bodies));
        self.chain.push(CompoundPart {
            command,
            end: u32::try_from(self.bodies.len()).unwrap_or(u32::MAX),
            payload,
        });
        self
    }

    /// Returns the finished chain.
    pub fn chain(self) -> CompoundRequest {
        self.chain
    }
}

impl SmbCallHandle {
    /// Sends the chain built by `build`; the future returns the value of `decode`.
    #[inline]
    pub fn send<T, D>(
        &self,
        build: impl FnOnce(CompoundBuilder<'_>) -> CompoundRequest,
        decode: D,
    ) -> call_slot::CallFuture<SmbCalls, D>
    where
        D: FnOnce(Results<'_>) -> DecodeResult<T>,
    {
        self.send_with(build, DataRange::default(), usize::MAX, decode)
    }

    /// Sends a chain with data after the last request, a WRITE, or with only the first `kept_max`
    /// bytes of the responses kept.
    #[inline]
    pub fn send_with<T, D>(
        &self,
        build: impl FnOnce(CompoundBuilder<'_>) -> CompoundRequest,
        data: DataRange,
        kept_max: usize,
        decode: D,
    ) -> call_slot::CallFuture<SmbCalls, D>
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

/// Responses to a chain, in order.
#[derive(Debug, Clone)]
pub struct CompoundResponses<'r> {
    messages: Messages<'r>,
    /// The first failure among the responses taken.
    failed: Option<smb2::Status>,
}

impl<'r> CompoundResponses<'r> {
    /// Creates the responses from these results.
    pub fn of(results: Results<'r>) -> Self {
        Self {
            messages: Messages::of(results.bytes),
            failed: None,
        }
    }

    /// Returns the next message.
    pub fn message(&mut self) -> Result<Option<Message<'r>>, DecodeError> {
        self.messages.next().transpose()
    }

    /// Takes the next response, which must be to this command; `None` if it or an earlier one
    /// failed.
    pub fn take<T: Decode<'r>>(&mut self, command: Command) -> Result<Option<T>, SmbReplyError> {
        let Some(message) = self.message()? else {
            return match self.failed {
                // Requests after a failed one need not be answered.
                Some(_) => Ok(None),
                None => Err(SmbReplyError::Violation(format!(
                    "{command} was not answered"
                ))),
            };
        };
        let header = message.header;
        if header.command != command {
            let what = format!("{command} was answered as {}", header.command);
            return Err(SmbReplyError::Violation(what));
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

    /// Takes the response to a CLOSE. A status that the session or its tree is gone counts as
    /// success: the open file is gone with it.
    pub fn take_closed(&mut self) -> Result<Option<()>, SmbReplyError> {
        let before = self.failed;
        let closed = self.take::<close::Response>(Command::Close)?;
        let is_end = before.is_none() && self.failed.is_some_and(smb2::Status::ends_session);
        if is_end {
            self.failed = None;
        }
        Ok((closed.is_some() || is_end).then_some(()))
    }

    /// Returns `value`, unless a response failed.
    pub fn finish<T>(self, value: Option<T>) -> DecodeResult<T> {
        match (self.failed, value) {
            (Some(status), _) => Ok(Err(status.into())),
            (None, Some(value)) => Ok(Ok(value)),
            (None, None) => Err(SmbReplyError::Violation(
                "a response without what it has to say".into(),
            )),
        }
    }
}

/// Returns the result of a single request.
pub fn one<'r, T: Decode<'r>, U>(
    results: Results<'r>,
    command: Command,
    keep: impl FnOnce(T) -> U,
) -> DecodeResult<U> {
    let mut responses = CompoundResponses::of(results);
    let body = responses.take::<T>(command)?;
    responses.finish(body.map(keep))
}
