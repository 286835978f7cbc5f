//! What is between a future that calls and the driver that exchanges its calls, whatever the
//! protocol.
//!
//! The driver owns the [`CallSlot`] and lends it for as long as it polls; the future finds it in the
//! thread that polls it, which is how one may be made on one thread and run on another without a
//! lock that nobody ever waits for (some 15 ns each time, and a call takes ten).

use filestone_workload::load::{Cause, Status};
use filestone_workload::output::DataRange;
use filestone_workload::time::Timestamp;
use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::thread::LocalKey;

/// A desk keeps no more room for results than this; for larger ones a thread has one room.
const RETAINED: usize = 4 << 10;

/// Why an action is not done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActionError {
    /// The server, or the caller in its place, says no.
    Status(Status),
    /// The client cannot go on: [`CallSlot::take_lost`], or the driver, knows why.
    ClientFailed,
    /// The connection was lost, and with it what was open over it; another one is made.
    ConnectionReset,
}

impl ActionError {
    /// Refused before anything is sent.
    pub const fn refused(cause: Cause) -> Self {
        ActionError::Status(Status::Refused(cause))
    }
}

/// What comes of a step.
pub type ActionResult<T> = Result<T, ActionError>;

/// Where what is lent to the future that a thread polls is kept.
pub type CurrentCall<C> = LocalKey<Cell<Option<Box<CallState<C>>>>>;

/// The calls of one family of protocols.
pub trait Calls: Sized + fmt::Debug + Clone + PartialEq + Eq + 'static {
    /// What is called, as errors name it.
    type Procedure: fmt::Debug + Clone + PartialEq + Eq;
    /// What its decoders find wrong.
    type DecodeError: fmt::Debug + Clone + PartialEq + Eq;
    /// How a server refuses a call without results.
    type Refusal: fmt::Debug + Clone + PartialEq + Eq;
    /// What is wrong with what is none of its messages.
    type BadMessage: fmt::Debug + Clone + PartialEq + Eq;

    /// What errors name between two calls.
    const NONE: Self::Procedure;
    /// What a desk shows on which nothing was ever laid.
    fn nothing() -> &'static CallState<Self>;

    /// What this thread has lent of them.
    fn lent() -> &'static CurrentCall<Self>;
}

/// A call as it is to go out.
#[derive(Debug, Clone)]
pub struct Call<C: Calls> {
    /// What is called.
    pub procedure: C::Procedure,
    /// Its arguments, up to file data.
    pub arguments: Vec<u8>,
    /// The file data after them.
    pub data: DataRange,
    /// How much of the results is looked at.
    pub kept_max: usize,
}

/// What a future waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitReason {
    /// Nothing of a driver.
    None,
    /// The results of [`CallSlot::call`].
    Reply,
    /// So many nanoseconds to pass.
    Timer(u64),
}

/// Why a client cannot go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientError<C: Calls> {
    /// What it had called.
    pub procedure: C::Procedure,
    /// What is wrong.
    pub reason: ClientErrorKind<C>,
}

/// What is wrong with a call that ends a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClientErrorKind<C: Calls> {
    /// Its results cannot be decoded.
    Decode(C::DecodeError),
    /// The server answered what the standard forbids.
    ProtocolViolation(String),
    /// It was not executed.
    Refused(C::Refusal),
    /// What came is no message of the protocol; with how it began.
    BadMessage(C::BadMessage, Vec<u8>),
    /// There was no answer in time.
    TimedOut,
    /// The connection is gone, and was given up.
    Disconnected,
    /// The work is to end.
    Stopped,
}

/// Where a call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum State {
    /// There is none.
    #[default]
    Idle,
    /// It waits for results.
    Called,
    /// There is none, and time is to pass.
    Pausing(u64),
    /// The time has passed.
    PauseElapsed,
    /// The results are here.
    Answered,
    /// There will be none: the driver knows why.
    Failed,
    /// There will be none, but another call can be answered.
    Reset,
}

/// What lies on a desk.
#[derive(Debug)]
pub struct CallState<C: Calls> {
    state: State,
    call: Call<C>,
    /// What is kept of the results, and how many bytes they were.
    results: Vec<u8>,
    results_len: usize,
    /// The room of the thread, while they are too large for one's own.
    large: Option<Vec<u8>>,
    /// When the driver polled last.
    now: Timestamp,
    is_stopped: bool,
    lost: Option<ClientError<C>>,
    /// The last call as it went out, if it wanted that.
    sent: Vec<u8>,
}

impl<C: Calls> CallState<C> {
    /// None.
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
    /// Room for large results, which are looked at as soon as they are here.
    static LARGE: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// The results of a call: all of them, or how they begin if no more is looked at.
#[derive(Debug, Clone, Copy)]
pub struct Results<'r> {
    /// Their bytes.
    pub bytes: &'r [u8],
    /// How many they were.
    pub len: usize,
}

/// Where a driver finds the calls of a future, and puts their results.
/// It is empty at first, and while it is lent.
#[derive(Debug)]
pub struct CallSlot<C: Calls>(Option<Box<CallState<C>>>);

impl<C: Calls> Default for CallSlot<C> {
    fn default() -> Self {
        Self(None)
    }
}

/// By what a future calls.
#[derive(Debug)]
pub struct CallHandle<C>(PhantomData<fn() -> C>);

impl<C> Clone for CallHandle<C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C> Copy for CallHandle<C> {}

/// For the future.
impl<C: Calls> CallHandle<C> {
    /// To whichever desk is lent where it is used.
    pub const HERE: Self = Self(PhantomData);

    /// Calls what `build` says, whose arguments it appends, with file data after them, of which
    /// the arguments have the length; only the first `kept_max` bytes of the results are looked
    /// at. What `decode` makes of these.
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

    /// Lets time pass.
    pub async fn pause(&self, nanos: u64) -> ActionResult<()> {
        Self::lent(|papers| papers.state = State::Pausing(nanos));
        Rest(PhantomData::<fn() -> C>).await
    }

    /// Looks at the last call as it went out, if it wanted that kept. Not from within a decoder,
    /// which has the desk already.
    pub fn with_sent<R>(&self, look: impl FnOnce(&[u8]) -> R) -> R {
        Self::lent(|papers| look(&papers.sent))
    }

    /// When the driver polled last.
    pub fn now(&self) -> Timestamp {
        Self::lent(|papers| papers.now)
    }

    /// Asked between two calls of one action: whether it is to be broken off.
    pub fn check_cancelled(&self) -> ActionResult<()> {
        Self::lent(|papers| {
            if !papers.is_stopped {
                return Ok(());
            }
            papers.mark_lost(C::NONE, ClientErrorKind::Stopped);
            Err(ActionError::ClientFailed)
        })
    }

    /// The server did what the standard forbids.
    pub fn violated(&self, procedure: C::Procedure, what: &str) -> ActionError {
        Self::lent(|papers| {
            papers.mark_lost(procedure, ClientErrorKind::ProtocolViolation(what.into()))
        });
        ActionError::ClientFailed
    }

    /// Looks at what is lent. If nothing is, nobody will answer.
    #[inline]
    fn lent<R>(look: impl FnOnce(&mut CallState<C>) -> R) -> R {
        let mut papers = C::lent().take().unwrap_or_default();
        let seen = look(&mut papers);
        // Not `set`, which has a first time of its own to look for.
        C::lent().replace(Some(papers));
        seen
    }
}

impl<C: Calls> CallSlot<C> {
    /// Lends it to whatever of a future runs in `work`.
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

    /// What the future waits for.
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

    /// The call that is wanted, or was last.
    #[inline]
    pub fn call(&self) -> &Call<C> {
        &self.papers().call
    }

    /// The results of the call are here: these, or these and more, `len` bytes in all, that
    /// nobody looks at.
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

    /// The pause is over.
    pub fn rested(&mut self) {
        let papers = self.papers_mut();
        if matches!(papers.state, State::Pausing(_)) {
            papers.state = State::PauseElapsed;
        }
    }

    /// What is waited for will not come.
    pub fn cut(&mut self) {
        self.papers_mut().state = State::Failed;
    }

    /// What is waited for will not come over this connection, but there will be another.
    pub fn reset(&mut self) {
        self.papers_mut().state = State::Reset;
    }

    /// The messages of the call, as they went out, if it wants them kept.
    pub fn sent_mut(&mut self) -> &mut Vec<u8> {
        &mut self.papers_mut().sent
    }

    /// It is this late.
    #[inline]
    pub fn set_now(&mut self, now: Timestamp) {
        self.papers_mut().now = now;
    }

    /// Whether actions of several calls are to be broken off.
    #[inline]
    pub fn stop(&mut self, is_stopped: bool) {
        self.papers_mut().is_stopped = is_stopped;
    }

    /// Why the future could not go on, if it found that out by itself.
    pub fn take_lost(&mut self) -> Option<ClientError<C>> {
        self.papers_mut().lost.take()
    }
}

/// What is wrong with results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplyError<C: Calls> {
    /// They cannot be decoded.
    Decode(C::DecodeError),
    /// They say what the standard forbids.
    Violation(String),
}

/// A call that waits for its results.
#[derive(Debug)]
#[must_use = "a call that is not awaited is not made"]
pub struct CallFuture<C, D> {
    decode: Option<D>,
    family: PhantomData<fn() -> C>,
    /// Whether it was never polled: then the results cannot be here.
    is_new: bool,
}

// Nothing in it is pinned.
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

    /// What `decode` makes of the results.
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

/// A pause that waits for its end.
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
