//! Calls of RPC on a desk.

use crate::client::call_slot::{self, ActionError, Calls, CurrentCall, Results};
use crate::session::rpc::{RpcProcedure, RpcStreamError};
use filestone_wire::rpc::ReplyBody;
use filestone_wire::xdr::{DecodeError, Encode, Writer};
use filestone_workload::output::DataRange;
use std::cell::Cell;

/// Calls of RPC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rpc;

/// What a desk shows on which nothing was ever laid.
static NOTHING: call_slot::CallState<Rpc> = call_slot::CallState::new();

thread_local! {
    /// What is lent to the future that this thread polls.
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

/// A call as it is to go out.
pub type Call = call_slot::Call<Rpc>;
/// Where a driver finds calls of RPC, and puts their results.
pub type CallSlot = call_slot::CallSlot<Rpc>;
/// What is wrong with results.
pub type ReplyError = call_slot::ReplyError<Rpc>;
/// By what a future calls.
pub type CallHandle = call_slot::CallHandle<Rpc>;
/// Why a client cannot go on.
pub type ClientError = call_slot::ClientError<Rpc>;
/// A call that waits for its results.
pub type CallFuture<D> = call_slot::CallFuture<Rpc, D>;
/// What is wrong with a call that ends a client.
pub type ClientErrorKind = call_slot::ClientErrorKind<Rpc>;

impl From<DecodeError> for ReplyError {
    fn from(error: DecodeError) -> Self {
        ReplyError::Decode(error)
    }
}

impl CallHandle {
    /// Calls a procedure; what `decode` makes of the results.
    #[inline]
    pub fn call<T, D>(
        &self,
        procedure: RpcProcedure,
        arguments: &impl Encode,
        decode: D,
    ) -> CallFuture<D>
    where
        D: FnOnce(Results<'_>) -> Result<Result<T, ActionError>, ReplyError>,
    {
        self.call_with(
            procedure,
            arguments,
            DataRange::default(),
            usize::MAX,
            decode,
        )
    }

    /// The same with file data after the arguments, which end with their length, or where only
    /// the first `kept_max` bytes of the results are looked at.
    #[inline]
    pub fn call_with<T, D>(
        &self,
        procedure: RpcProcedure,
        arguments: &impl Encode,
        data: DataRange,
        kept_max: usize,
        decode: D,
    ) -> CallFuture<D>
    where
        D: FnOnce(Results<'_>) -> Result<Result<T, ActionError>, ReplyError>,
    {
        let build = |out: &mut Vec<u8>| {
            arguments.encode(&mut Writer::new(out));
            procedure
        };
        self.ask(build, data, kept_max, decode)
    }
}
