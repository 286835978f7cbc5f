//! What is between a future that calls and the driver that exchanges its calls.

use super::{Failure, NfsResult};
use crate::session::rpc::{NotRpc, RpcProcedure};
use crate::time::Moment;
use filestone_wire::rpc::ReplyBody;
use filestone_wire::xdr::{DecodeError, Encode, Writer};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

/// Results larger than this are not kept room for.
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
    /// The results of the call that [`Link::with_call`] shows.
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
struct Desk {
    state: State,
    call: Call,
    /// What is kept of the results, and how many bytes they were.
    results: Vec<u8>,
    results_len: usize,
    /// When the driver polled last.
    now: Moment,
    is_stopped: bool,
    lost: Option<Lost>,
}

/// The results of a call: all of them, or how they begin if no more is looked at.
#[derive(Debug, Clone, Copy)]
pub struct Results<'r> {
    /// Their bytes.
    pub bytes: &'r [u8],
    /// How many they were.
    pub len: usize,
}

/// One end of the link: the future and the driver have one each.
#[derive(Debug, Clone)]
pub struct Link(Arc<Mutex<Desk>>);

impl Default for Link {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Desk {
            state: State::Idle,
            call: Call {
                procedure: RpcProcedure::NONE,
                arguments: Vec::new(),
                data: Stretch::default(),
                kept_max: 0,
            },
            results: Vec::new(),
            results_len: 0,
            now: Moment::ZERO,
            is_stopped: false,
            lost: None,
        })))
    }
}

/// For the future.
impl Link {
    /// Calls a procedure; what `decode` makes of the results.
    pub fn call<T, D>(
        &self,
        procedure: RpcProcedure,
        arguments: &impl Encode,
        decode: D,
    ) -> Reply<'_, D>
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
    ) -> Reply<'_, D>
    where
        D: FnOnce(Results<'_>) -> Result<Result<T, Failure>, Fault>,
    {
        let mut desk = self.desk();
        let call = &mut desk.call;
        call.procedure = procedure;
        call.data = data;
        call.kept_max = kept_max;
        call.arguments.clear();
        arguments.encode(&mut Writer::new(&mut call.arguments));
        desk.state = State::Called;
        Reply {
            link: self,
            decode: Some(decode),
        }
    }

    /// Lets time pass.
    pub async fn pause(&self, nanos: u64) -> NfsResult<()> {
        self.desk().state = State::Pausing(nanos);
        Rest(self).await
    }

    /// When the last reply came.
    pub fn now(&self) -> Moment {
        self.desk().now
    }

    /// Asked between two calls of one action: whether it is to be broken off.
    pub fn go_on(&self) -> NfsResult<()> {
        let mut desk = self.desk();
        if !desk.is_stopped {
            return Ok(());
        }
        desk.lose(RpcProcedure::NONE, Why::Stopped);
        Err(Failure::Lost)
    }

    /// The server did what the standard forbids.
    pub fn violated(&self, procedure: RpcProcedure, what: &str) -> Failure {
        self.desk().lose(procedure, Why::Violation(what.into()));
        Failure::Lost
    }
}

/// For the driver.
impl Link {
    /// What the future waits for.
    pub fn wanted(&self) -> Wanted {
        match self.desk().state {
            State::Called => Wanted::Call,
            State::Pausing(nanos) => Wanted::Pause(nanos),
            State::Idle | State::Rested | State::Answered | State::Cut => Wanted::Nothing,
        }
    }

    /// Shows the call that is wanted, or was last.
    pub fn with_call<R>(&self, look: impl FnOnce(&Call) -> R) -> R {
        look(&self.desk().call)
    }

    /// Takes the call for as long as a driver needs it by itself: [`Link::put_back`] follows.
    pub fn take_call(&self) -> Call {
        let mut desk = self.desk();
        let arguments = std::mem::take(&mut desk.call.arguments);
        Call {
            arguments,
            ..desk.call
        }
    }

    /// Gives a call's memory back.
    pub fn put_back(&self, call: Call) {
        self.desk().call.arguments = call.arguments;
    }

    /// The results of the call are here: these, or these and more, `len` bytes in all, that
    /// nobody looks at.
    pub fn answer(&self, results: Results<'_>) {
        let mut desk = self.desk();
        if desk.state != State::Called {
            return;
        }
        let kept = results.bytes.len().min(desk.call.kept_max);
        desk.results.clear();
        desk.results.extend_from_slice(&results.bytes[..kept]);
        desk.results_len = results.len;
        desk.state = State::Answered;
    }

    /// The pause is over.
    pub fn rested(&self) {
        let mut desk = self.desk();
        if matches!(desk.state, State::Pausing(_)) {
            desk.state = State::Rested;
        }
    }

    /// What is waited for will not come.
    pub fn cut(&self) {
        self.desk().state = State::Cut;
    }

    /// It is this late.
    pub fn look(&self, now: Moment) {
        self.desk().now = now;
    }

    /// Whether actions of several calls are to be broken off.
    pub fn stop(&self, is_stopped: bool) {
        self.desk().is_stopped = is_stopped;
    }

    /// Why the future could not go on, if it found that out by itself.
    pub fn take_lost(&self) -> Option<Lost> {
        self.desk().lost.take()
    }

    fn desk(&self) -> MutexGuard<'_, Desk> {
        // Nobody else holds it, and nothing can panic while it is held.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
pub struct Reply<'l, D> {
    link: &'l Link,
    decode: Option<D>,
}

// Nothing in it is pinned.
impl<D> Unpin for Reply<'_, D> {}

impl<T, D> Future for Reply<'_, D>
where
    D: FnOnce(Results<'_>) -> Result<Result<T, Failure>, Fault>,
{
    type Output = NfsResult<T>;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<NfsResult<T>> {
        let link = self.link;
        let mut desk = link.desk();
        match desk.state {
            State::Answered => {}
            State::Cut => {
                desk.state = State::Idle;
                return Poll::Ready(Err(Failure::Lost));
            }
            State::Idle | State::Called | State::Pausing(_) | State::Rested => {
                return Poll::Pending;
            }
        }
        desk.state = State::Idle;
        match self.decode.take() {
            Some(decode) => Poll::Ready(desk.decoded(decode)),
            None => Poll::Pending,
        }
    }
}

impl Desk {
    fn lose(&mut self, procedure: RpcProcedure, why: Why) {
        self.lost = Some(Lost { procedure, why });
    }

    /// What `decode` makes of the results.
    fn decoded<T, D>(&mut self, decode: D) -> NfsResult<T>
    where
        D: FnOnce(Results<'_>) -> Result<Result<T, Failure>, Fault>,
    {
        let decoded = decode(Results {
            bytes: &self.results,
            len: self.results_len,
        });
        if self.results.capacity() > RETAINED {
            self.results = Vec::new();
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
struct Rest<'l>(&'l Link);

impl Future for Rest<'_> {
    type Output = NfsResult<()>;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<NfsResult<()>> {
        let mut desk = self.0.desk();
        let rested = match desk.state {
            State::Rested => Ok(()),
            State::Cut => Err(Failure::Lost),
            _ => return Poll::Pending,
        };
        desk.state = State::Idle;
        Poll::Ready(rested)
    }
}
