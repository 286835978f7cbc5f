//! Exchange of calls between a future and its driver, for any protocol.
//!
//! The driver owns the [`CallSlot`] and lends it while it polls; the future finds it in
//! thread-local storage. A future can thus be created on one thread and run on another without a
//! lock that is never contended (some 15 ns each time, while a call takes ten).

use filestone_workload::load::{ActionStatus, Cause};
use filestone_workload::output::DataRange;
use filestone_workload::time::Timestamp;
use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::thread::LocalKey;

/// Maximum result buffer that a slot retains; larger results use one buffer per thread.
const RETAINED: usize = 4 << 10;

/// Reason why an action was not completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActionError {
    /// A status that the server, or the client on its behalf, returned.
    Status(ActionStatus),
    /// The client cannot continue: [`CallSlot::take_lost`], or the driver, has the reason.
    ClientFailed,
    /// The connection was lost, and with it all open files; another connection follows.
    ConnectionReset,
}

impl ActionError {
    /// Creates a refusal before anything is sent.
    pub const fn refused(cause: Cause) -> Self {
        ActionError::Status(ActionStatus::Refused(cause))
    }
}

/// Result of one step of a client.
pub type ActionResult<T> = Result<T, ActionError>;

/// Thread-local storage for the call slot of the future being polled.
pub type CurrentCall<C> = LocalKey<Cell<Option<Box<CallState<C>>>>>;

/// The calls of one protocol family.
pub trait Calls: Sized + fmt::Debug + Clone + PartialEq + Eq + 'static {
    /// The called procedure, as shown in errors.
    type Procedure: fmt::Debug + Clone + PartialEq + Eq;
    /// Error of its decoders.
    type DecodeError: fmt::Debug + Clone + PartialEq + Eq;
    /// Refusal of a call without results.
    type Refusal: fmt::Debug + Clone + PartialEq + Eq;
    /// Error for data that is not a valid message.
    type BadMessage: fmt::Debug + Clone + PartialEq + Eq;

    /// Procedure shown in errors between two calls.
    const NONE: Self::Procedure;
    /// Returns the state of an unused slot.
    fn nothing() -> &'static CallState<Self>;

    /// Returns this thread's storage for the lent slot.
    fn lent() -> &'static CurrentCall<Self>;
}

/// A call ready to be sent.
#[derive(Debug, Clone)]
pub struct Call<C: Calls> {
    /// The procedure.
    pub procedure: C::Procedure,
    /// The arguments, up to file data.
    pub arguments: Vec<u8>,
    /// The file data after the arguments.
    pub data: DataRange,
    /// Maximum length of the results to keep, in bytes.
    pub kept_max: usize,
}

/// Reason why a future is suspended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitReason {
    /// The future does not wait for the driver.
    None,
    /// The results of [`CallSlot::call`].
    Reply,
    /// A timer with this number of nanoseconds.
    Timer(u64),
}

/// Reason why a client cannot continue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientError<C: Calls> {
    /// The procedure called last.
    pub procedure: C::Procedure,
    /// The error.
    pub reason: ClientErrorKind<C>,
}

/// Error of a call that ends a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClientErrorKind<C: Calls> {
    /// The results cannot be decoded.
    Decode(C::DecodeError),
    /// The reply violates the standard.
    ProtocolViolation(String),
    /// The server did not execute the call.
    Refused(C::Refusal),
    /// The received data is not a message of the protocol; with its first bytes.
    BadMessage(C::BadMessage, Vec<u8>),
    /// The reply timed out.
    TimedOut,
    /// The connection was lost for good.
    Disconnected,
    /// The run ends.
    Stopped,
}

/// State of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum State {
    /// There is no call.
    #[default]
    Idle,
    /// The call waits for results.
    Called,
    /// There is no call; a timer is running.
    Pausing(u64),
    /// The timer has expired.
    PauseElapsed,
    /// The results have arrived.
    Answered,
    /// There will be no results: the driver has the reason.
    Failed,
    /// There will be no results, but another call can be answered.
    Reset,
}

/// State of one call slot: the pending call, its results and the state of the client.
#[derive(Debug)]
pub struct CallState<C: Calls> {
    state: State,
    call: Call<C>,
    /// The kept results, and their total length.
    results: Vec<u8>,
    results_len: usize,
    /// The thread's buffer, used if the results are too large for the slot's buffer.
    large: Option<Vec<u8>>,
    /// Time of the driver's last poll.
    now: Timestamp,
    is_stopped: bool,
    lost: Option<ClientError<C>>,
    /// The last call as sent, if the call requested a copy.
    sent: Vec<u8>,
}

impl<C: Calls> CallState<C> {
    /// Creates the state of an unused slot.
    pub const fn new() -> Self {
        Self {
            state: State::Idle,
            call: Call {
                procedure: C::NONE,
                arguments: Vec::new(),
                data: DataRange { at: 0, len: 0 },
                kept_max: 0,
            },
            results: Vec::new(),
            results_len: 0,
            large: None,
            now: Timestamp::ZERO,
            is_stopped: false,
            lost: None,
            sent: Vec::new(),
        }
    }
}

impl<C: Calls> Default for CallState<C> {
    fn default() -> Self {
        Self::new()
    }
}

thread_local! {
    /// Buffer for large results, which are decoded as soon as they arrive.
    static LARGE: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// The results of a call: complete, or only their beginning if the rest is not needed.
#[derive(Debug, Clone, Copy)]
pub struct Results<'r> {
    /// The bytes.
    pub bytes: &'r [u8],
    /// Total length of the results.
    pub len: usize,
}

/// Slot through which a driver takes a future's calls and delivers their results. Empty before
/// first use and while lent to the polled future.
#[derive(Debug)]
pub struct CallSlot<C: Calls>(Option<Box<CallState<C>>>);

impl<C: Calls> Default for CallSlot<C> {
    fn default() -> Self {
        Self(None)
    }
}

/// Handle for issuing calls from a future.
#[derive(Debug)]
pub struct CallHandle<C>(PhantomData<fn() -> C>);

impl<C> Clone for CallHandle<C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C> Copy for CallHandle<C> {}

/// Interface for the future.
impl<C: Calls> CallHandle<C> {
    /// Handle to the slot that is lent at the place of use.
    pub const HERE: Self = Self(PhantomData);

    /// Issues a call: `build` appends the arguments and returns the procedure; file data may
    /// follow, whose length is part of the arguments. Only the first `kept_max` bytes of the
    /// results are kept. The future returns the value of `decode`.
    pub fn ask<T, D>(
        &self,
        build: impl FnOnce(&mut Vec<u8>) -> C::Procedure,
        data: DataRange,
        kept_max: usize,
        decode: D,
    ) -> CallFuture<C, D>
    where
        D: FnOnce(Results<'_>) -> Result<Result<T, ActionError>, ReplyError<C>>,
    {
        Self::lent(|papers| {
            let call = &mut papers.call;
            call.data = data;
            call.kept_max = kept_max;
            call.arguments.clear();
            call.procedure = build(&mut call.arguments);
            papers.state = State::Called;
        });
        CallFuture {
            decode: Some(decode),
            family: PhantomData,
            is_new: true,
        }
    }

    /// Waits for this number of nanoseconds.
    pub async fn pause(&self, nanos: u64) -> ActionResult<()> {
        Self::lent(|papers| papers.state = State::Pausing(nanos));
        Rest(PhantomData::<fn() -> C>).await
    }

    /// Runs `look` on the last call as sent, if the call requested a copy. Must not be called from
    /// a decoder, which already uses the slot.
    pub fn with_sent<R>(&self, look: impl FnOnce(&[u8]) -> R) -> R {
        Self::lent(|papers| look(&papers.sent))
    }

    /// Returns the time of the driver's last poll.
    pub fn now(&self) -> Timestamp {
        Self::lent(|papers| papers.now)
    }

    /// Returns an error if the action must stop; called between two calls of one action.
    pub fn check_cancelled(&self) -> ActionResult<()> {
        Self::lent(|papers| {
            if !papers.is_stopped {
                return Ok(());
            }
            papers.mark_lost(C::NONE, ClientErrorKind::Stopped);
            Err(ActionError::ClientFailed)
        })
    }

    /// Reports a violation of the standard by the server.
    pub fn violated(&self, procedure: C::Procedure, what: &str) -> ActionError {
        Self::lent(|papers| {
            papers.mark_lost(procedure, ClientErrorKind::ProtocolViolation(what.into()))
        });
        ActionError::ClientFailed
    }

    /// Runs `look` on the lent slot. Without a lent slot there will be no reply.
    #[inline]
    fn lent<R>(look: impl FnOnce(&mut CallState<C>) -> R) -> R {
        let mut papers = C::lent().take().unwrap_or_default();
        let seen = look(&mut papers);
        // Not `set`, which would check for first-time initialization.
        C::lent().replace(Some(papers));
        seen
    }
}

impl<C: Calls> CallSlot<C> {
    /// Lends the slot to the futures polled in `work`.
    #[inline]
    pub fn lend<R>(&mut self, work: impl FnOnce() -> R) -> R {
        let outer = C::lent().replace(Some(self.0.take().unwrap_or_default()));
        let done = work();
        self.0 = C::lent().replace(outer);
        done
    }

    #[inline]
    fn papers(&self) -> &CallState<C> {
        match &self.0 {
            Some(papers) => papers,
            None => C::nothing(),
        }
    }

    #[inline]
    fn papers_mut(&mut self) -> &mut CallState<C> {
        self.0.get_or_insert_default()
    }

    /// Returns the reason why the future is suspended.
    #[inline]
    pub fn wanted(&self) -> WaitReason {
        match self.papers().state {
            State::Called => WaitReason::Reply,
            State::Pausing(nanos) => WaitReason::Timer(nanos),
            State::Idle | State::PauseElapsed | State::Answered | State::Failed | State::Reset => {
                WaitReason::None
            }
        }
    }

    /// Returns the current or last call.
    #[inline]
    pub fn call(&self) -> &Call<C> {
        &self.papers().call
    }

    /// Delivers the results of the call: complete, or the first bytes of `len` in all if the rest
    /// is not needed.
    #[inline]
    pub fn answer(&mut self, results: Results<'_>) {
        let papers = self.papers_mut();
        if papers.state != State::Called {
            return;
        }
        let kept = results.bytes.len().min(papers.call.kept_max);
        papers.large = (kept > RETAINED).then(|| LARGE.take());
        let room = papers.large.as_mut().unwrap_or(&mut papers.results);
        room.clear();
        room.extend_from_slice(results.bytes.get(..kept).unwrap_or_default());
        papers.results_len = results.len;
        papers.state = State::Answered;
    }

    /// Ends the pause.
    pub fn rested(&mut self) {
        let papers = self.papers_mut();
        if matches!(papers.state, State::Pausing(_)) {
            papers.state = State::PauseElapsed;
        }
    }

    /// Fails the current call or pause.
    pub fn cut(&mut self) {
        self.papers_mut().state = State::Failed;
    }

    /// Fails the current call or pause because the connection was lost; there will be another one.
    pub fn reset(&mut self) {
        self.papers_mut().state = State::Reset;
    }

    /// Returns the buffer for the call as sent, if the call requested a copy.
    pub fn sent_mut(&mut self) -> &mut Vec<u8> {
        &mut self.papers_mut().sent
    }

    /// Sets the current time.
    #[inline]
    pub fn set_now(&mut self, now: Timestamp) {
        self.papers_mut().now = now;
    }

    /// Sets whether actions of several calls must stop.
    #[inline]
    pub fn stop(&mut self, is_stopped: bool) {
        self.papers_mut().is_stopped = is_stopped;
    }

    /// Returns the reason why the future cannot continue, if the future itself detected it.
    pub fn take_lost(&mut self) -> Option<ClientError<C>> {
        self.papers_mut().lost.take()
    }
}

/// Error in results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplyError<C: Calls> {
    /// The results cannot be decoded.
    Decode(C::DecodeError),
    /// The results violate the standard.
    Violation(String),
}

/// A call that waits for its results.
#[derive(Debug)]
#[must_use = "a call that is not awaited is not made"]
pub struct CallFuture<C, D> {
    decode: Option<D>,
    family: PhantomData<fn() -> C>,
    /// Whether the future was never polled: then the results cannot have arrived.
    is_new: bool,
}

// No field is pinned.
impl<C, D> Unpin for CallFuture<C, D> {}

impl<T, C, D> Future for CallFuture<C, D>
where
    C: Calls,
    D: FnOnce(Results<'_>) -> Result<Result<T, ActionError>, ReplyError<C>>,
{
    type Output = ActionResult<T>;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<ActionResult<T>> {
        if std::mem::take(&mut self.is_new) {
            return Poll::Pending;
        }
        CallHandle::<C>::lent(|papers| {
            match papers.state {
                State::Answered => {}
                State::Failed => {
                    papers.state = State::Idle;
                    return Poll::Ready(Err(ActionError::ClientFailed));
                }
                State::Reset => {
                    papers.state = State::Idle;
                    return Poll::Ready(Err(ActionError::ConnectionReset));
                }
                State::Idle | State::Called | State::Pausing(_) | State::PauseElapsed => {
                    return Poll::Pending;
                }
            }
            papers.state = State::Idle;
            match self.decode.take() {
                Some(decode) => Poll::Ready(papers.decoded(decode)),
                None => Poll::Pending,
            }
        })
    }
}

impl<C: Calls> CallState<C> {
    fn mark_lost(&mut self, procedure: C::Procedure, why: ClientErrorKind<C>) {
        self.lost = Some(ClientError {
            procedure,
            reason: why,
        });
    }

    /// Applies `decode` to the results.
    fn decoded<T, D>(&mut self, decode: D) -> ActionResult<T>
    where
        D: FnOnce(Results<'_>) -> Result<Result<T, ActionError>, ReplyError<C>>,
    {
        let decoded = decode(Results {
            bytes: self.large.as_ref().unwrap_or(&self.results),
            len: self.results_len,
        });
        if let Some(room) = self.large.take() {
            LARGE.set(room);
        }
        decoded.unwrap_or_else(|fault| {
            let why = match fault {
                ReplyError::Decode(error) => ClientErrorKind::Decode(error),
                ReplyError::Violation(what) => ClientErrorKind::ProtocolViolation(what),
            };
            self.mark_lost(self.call.procedure.clone(), why);
            Err(ActionError::ClientFailed)
        })
    }
}

/// A pause until the timer expires.
struct Rest<C>(PhantomData<fn() -> C>);

impl<C: Calls> Future for Rest<C> {
    type Output = ActionResult<()>;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<ActionResult<()>> {
        CallHandle::<C>::lent(|papers| {
            let rested = match papers.state {
                State::PauseElapsed => Ok(()),
                State::Failed => Err(ActionError::ClientFailed),
                State::Reset => Err(ActionError::ConnectionReset),
                State::Idle | State::Called | State::Pausing(_) | State::Answered => {
                    return Poll::Pending;
                }
            };
            papers.state = State::Idle;
            Poll::Ready(rested)
        })
    }
}
