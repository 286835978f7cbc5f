//! What is between a future that calls and the driver that exchanges its calls.
//!
//! The driver owns the [`Desk`] and lends it for as long as it polls; the future finds it in the
//! thread that polls it, which is how one may be made on one thread and run on another without a
//! lock that nobody ever waits for (some 15 ns each time, and a call takes ten).

use super::{Failure, NfsResult};
use crate::session::rpc::{NotRpc, RpcProcedure};
use crate::time::Moment;
use filestone_wire::rpc::ReplyBody;
use filestone_wire::xdr::{DecodeError, Encode, Writer};
use std::cell::Cell;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A desk keeps no more room for results than this; for larger ones a thread has one room.
const RETAINED: usize = 4 << 10;

/// A stretch of the data of an action, which lie elsewhere and are sent over and over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stretch {
    /// Where it begins.
    pub at: u64,
    /// Bytes of it.
    pub len: u32,
}

/// A call as it is to go out.
#[derive(Debug, Clone)]
pub struct Call {
    /// What is called.
    pub procedure: RpcProcedure,
    /// Its arguments, up to file data.
    pub arguments: Vec<u8>,
    /// The file data after them.
    pub data: Stretch,
    /// How much of the results is looked at.
    pub kept_max: usize,
}

/// What a future waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// Nothing of a driver.
    Nothing,
    /// The results of [`Desk::call`].
    Call,
    /// So many nanoseconds to pass.
    Pause(u64),
}

/// Why a client cannot go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lost {
    /// What it had called.
    pub procedure: RpcProcedure,
    /// What is wrong.
    pub why: Why,
}

/// What is wrong with a call that ends a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// Its results cannot be decoded.
    Decode(DecodeError),
    /// The server answered what the standard forbids.
    Violation(String),
    /// It was not executed.
    Refused(ReplyBody),
    /// What came is no reply of RPC; with how it began.
    NotRpc(NotRpc, Vec<u8>),
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
    Rested,
    /// The results are here.
    Answered,
    /// There will be none: the driver knows why.
    Cut,
}

#[derive(Debug)]
struct Papers {
    state: State,
    call: Call,
    /// What is kept of the results, and how many bytes they were.
    results: Vec<u8>,
    results_len: usize,
    /// The room of the thread, while they are too large for one's own.
    large: Option<Vec<u8>>,
    /// When the driver polled last.
    now: Moment,
    is_stopped: bool,
    lost: Option<Lost>,
}

impl Papers {
    const fn new() -> Self {
        Self {
            state: State::Idle,
            call: Call {
                procedure: RpcProcedure::NONE,
                arguments: Vec::new(),
                data: Stretch { at: 0, len: 0 },
                kept_max: 0,
            },
            results: Vec::new(),
            results_len: 0,
            large: None,
            now: Moment::ZERO,
            is_stopped: false,
            lost: None,
        }
    }
}

impl Default for Papers {
    fn default() -> Self {
        Self::new()
    }
}

/// What a desk shows on which nothing was ever laid.
static NOTHING: Papers = Papers::new();

thread_local! {
    /// What is lent to the future that this thread polls.
    static LENT: Cell<Option<Box<Papers>>> = const { Cell::new(None) };
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
#[derive(Debug, Default)]
pub struct Desk(Option<Box<Papers>>);

/// By what a future calls.
#[derive(Debug, Clone, Copy, Default)]
pub struct Link;

/// For the future.
impl Link {
    /// Calls a procedure; what `decode` makes of the results.
    pub fn call<T, D>(
        &self,
        procedure: RpcProcedure,
        arguments: &impl Encode,
        decode: D,
    ) -> Reply<D>
    where
        D: FnOnce(Results<'_>) -> Result<Result<T, Failure>, Fault>,
    {
        self.call_with(procedure, arguments, Stretch::default(), usize::MAX, decode)
    }

    /// The same with file data after the arguments, which end with their length, or where only
    /// the first `kept_max` bytes of the results are looked at.
    pub fn call_with<T, D>(
        &self,
        procedure: RpcProcedure,
        arguments: &impl Encode,
        data: Stretch,
        kept_max: usize,
        decode: D,
    ) -> Reply<D>
    where
        D: FnOnce(Results<'_>) -> Result<Result<T, Failure>, Fault>,
    {
        Self::lent(|papers| {
            let call = &mut papers.call;
            call.procedure = procedure;
            call.data = data;
            call.kept_max = kept_max;
            call.arguments.clear();
            arguments.encode(&mut Writer::new(&mut call.arguments));
            papers.state = State::Called;
        });
        Reply {
            decode: Some(decode),
            is_new: true,
        }
    }

    /// Lets time pass.
    pub async fn pause(&self, nanos: u64) -> NfsResult<()> {
        Self::lent(|papers| papers.state = State::Pausing(nanos));
        Rest.await
    }

    /// When the driver polled last.
    pub fn now(&self) -> Moment {
        Self::lent(|papers| papers.now)
    }

    /// Asked between two calls of one action: whether it is to be broken off.
    pub fn go_on(&self) -> NfsResult<()> {
        Self::lent(|papers| {
            if !papers.is_stopped {
                return Ok(());
            }
            papers.lose(RpcProcedure::NONE, Why::Stopped);
            Err(Failure::Lost)
        })
    }

    /// The server did what the standard forbids.
    pub fn violated(&self, procedure: RpcProcedure, what: &str) -> Failure {
        Self::lent(|papers| papers.lose(procedure, Why::Violation(what.into())));
        Failure::Lost
    }

    /// Looks at what is lent. If nothing is, nobody will answer.
    #[inline]
    fn lent<R>(look: impl FnOnce(&mut Papers) -> R) -> R {
        let mut papers = LENT.take().unwrap_or_default();
        let seen = look(&mut papers);
        // Not `set`, which has a first time of its own to look for.
        LENT.replace(Some(papers));
        seen
    }
}

impl Desk {
    /// Lends it to whatever of a future runs in `work`.
    #[inline]
    pub fn lend<R>(&mut self, work: impl FnOnce() -> R) -> R {
        let outer = LENT.replace(Some(self.0.take().unwrap_or_default()));
        let done = work();
        self.0 = LENT.replace(outer);
        done
    }

    #[inline]
    fn papers(&self) -> &Papers {
        self.0.as_deref().unwrap_or(&NOTHING)
    }

    #[inline]
    fn papers_mut(&mut self) -> &mut Papers {
        self.0.get_or_insert_default()
    }

    /// What the future waits for.
    #[inline]
    pub fn wanted(&self) -> Wanted {
        match self.papers().state {
            State::Called => Wanted::Call,
            State::Pausing(nanos) => Wanted::Pause(nanos),
            State::Idle | State::Rested | State::Answered | State::Cut => Wanted::Nothing,
        }
    }

    /// The call that is wanted, or was last.
    #[inline]
    pub fn call(&self) -> &Call {
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
            papers.state = State::Rested;
        }
    }

    /// What is waited for will not come.
    pub fn cut(&mut self) {
        self.papers_mut().state = State::Cut;
    }

    /// It is this late.
    #[inline]
    pub fn look(&mut self, now: Moment) {
        self.papers_mut().now = now;
    }

    /// Whether actions of several calls are to be broken off.
    #[inline]
    pub fn stop(&mut self, is_stopped: bool) {
        self.papers_mut().is_stopped = is_stopped;
    }

    /// Why the future could not go on, if it found that out by itself.
    pub fn take_lost(&mut self) -> Option<Lost> {
        self.papers_mut().lost.take()
    }
}

/// What is wrong with results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// They cannot be decoded.
    Decode(DecodeError),
    /// They say what the standard forbids.
    Violation(String),
}

impl From<DecodeError> for Fault {
    fn from(error: DecodeError) -> Self {
        Fault::Decode(error)
    }
}

/// A call that waits for its results.
#[derive(Debug)]
#[must_use = "a call that is not awaited is not made"]
pub struct Reply<D> {
    decode: Option<D>,
    /// Whether it was never polled: then the results cannot be here.
    is_new: bool,
}

// Nothing in it is pinned.
impl<D> Unpin for Reply<D> {}

impl<T, D> Future for Reply<D>
where
    D: FnOnce(Results<'_>) -> Result<Result<T, Failure>, Fault>,
{
    type Output = NfsResult<T>;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<NfsResult<T>> {
        if std::mem::take(&mut self.is_new) {
            return Poll::Pending;
        }
        Link::lent(|papers| {
            match papers.state {
                State::Answered => {}
                State::Cut => {
                    papers.state = State::Idle;
                    return Poll::Ready(Err(Failure::Lost));
                }
                State::Idle | State::Called | State::Pausing(_) | State::Rested => {
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

impl Papers {
    fn lose(&mut self, procedure: RpcProcedure, why: Why) {
        self.lost = Some(Lost { procedure, why });
    }

    /// What `decode` makes of the results.
    fn decoded<T, D>(&mut self, decode: D) -> NfsResult<T>
    where
        D: FnOnce(Results<'_>) -> Result<Result<T, Failure>, Fault>,
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
                Fault::Decode(error) => Why::Decode(error),
                Fault::Violation(what) => Why::Violation(what),
            };
            self.lose(self.call.procedure, why);
            Err(Failure::Lost)
        })
    }
}

/// A pause that waits for its end.
struct Rest;

impl Future for Rest {
    type Output = NfsResult<()>;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<NfsResult<()>> {
        Link::lent(|papers| {
            let rested = match papers.state {
                State::Rested => Ok(()),
                State::Cut => Err(Failure::Lost),
                State::Idle | State::Called | State::Pausing(_) | State::Answered => {
                    return Poll::Pending;
                }
            };
            papers.state = State::Idle;
            Poll::Ready(rested)
        })
    }
}
