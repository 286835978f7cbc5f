//! RPC calls in a call slot.

use crate::client::call_slot::{self, ActionError, Calls, CurrentCall, Results};
use crate::session::rpc::{RpcProcedure, RpcStreamError};
use filestone_wire::rpc::ReplyBody;
use filestone_wire::xdr::{DecodeError, Encode, Writer};
use filestone_workload::output::DataRange;
use std::cell::Cell;

/// RPC as a family of calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rpc;

/// State of an unused slot.
static NOTHING: call_slot::CallState<Rpc> = call_slot::CallState::new();

thread_local! {
    /// Slot lent to the future that this thread polls.
    static LENT: Lending = const { Cell::new(None) };
}

type Lending = Cell<Option<Box<call_slot::CallState<Rpc>>>>;

impl Calls for Rpc {
    type Procedure = RpcProcedure;
    type DecodeError = DecodeError;
    type Refusal = ReplyBody;
    type BadMessage = RpcStreamError;

    const NONE: RpcProcedure = RpcProcedure::NONE;

    fn nothing() -> &'static call_slot::CallState<Self> {
        &NOTHING
    }

    #[inline]
    fn lent() -> &'static CurrentCall<Self> {
        &LENT
    }
}

/// An RPC call ready to be sent.
pub type NfsCall = call_slot::Call<Rpc>;
/// Slot for RPC calls and their results.
pub type NfsCallSlot = call_slot::CallSlot<Rpc>;
/// Error in results.
pub type NfsReplyError = call_slot::ReplyError<Rpc>;
/// Handle for issuing RPC calls from a future.
pub type NfsCallHandle = call_slot::CallHandle<Rpc>;
/// Reason why a client cannot continue.
pub type NfsClientError = call_slot::ClientError<Rpc>;
/// A call that waits for its results.
pub type NfsCallFuture<D> = call_slot::CallFuture<Rpc, D>;
/// Error of a call that ends a client.
pub type NfsClientErrorKind = call_slot::ClientErrorKind<Rpc>;

impl From<DecodeError> for NfsReplyError {
    fn from(error: DecodeError) -> Self {
        NfsReplyError::Decode(error)
    }
}

impl NfsCallHandle {
    /// Calls a procedure; the future returns the value of `decode`.
    #[inline]
    pub fn call<T, D>(
        &self,
        procedure: RpcProcedure,
        arguments: &impl Encode,
        decode: D,
    ) -> NfsCallFuture<D>
    where
        D: FnOnce(Results<'_>) -> Result<Result<T, ActionError>, NfsReplyError>,
    {
        self.call_with(
            procedure,
            arguments,
            DataRange::default(),
            usize::MAX,
            decode,
        )
    }

    /// Calls a procedure with file data after the arguments, which end with the data length, or
    /// with only the first `kept_max` bytes of the results kept.
    #[inline]
    pub fn call_with<T, D>(
        &self,
        procedure: RpcProcedure,
        arguments: &impl Encode,
        data: DataRange,
        kept_max: usize,
        decode: D,
    ) -> NfsCallFuture<D>
    where
        D: FnOnce(Results<'_>) -> Result<Result<T, ActionError>, NfsReplyError>,
    {
        let build = |out: &mut Vec<u8>| {
            arguments.encode(&mut Writer::new(out));
            procedure
        };
        self.ask(build, data, kept_max, decode)
    }
}
