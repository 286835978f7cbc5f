//! The short way of an operation that is one request and was asked before: the request goes out as it
//! did then, but for its numbers and its offset, and a success is told by its response alone.
//!
//! The actor of its slot hears of neither. Whatever else comes of it than a success, or does not
//! come, is the actor's to make something of: it asks what has gone out already, and goes on from
//! there.

use super::link::Smb2;
use super::requests::READ_HEAD;
use crate::client::Output;
use crate::client::call_slot::Call;
use crate::session::smb2::{CompoundResponse, Smb2Session, Template};
use filestone_wire::smb2::codec::{Decode, Reader};
use filestone_wire::smb2::{Command, HEADER_LEN, Status, echo, flush, query_info, read};
use filestone_workload::operation::{OpKind, Operation};

/// What the last operation that had one request left of it.
#[derive(Debug, Default)]
pub(super) struct FastPath {
    /// The operation, if there is one.
    operation: Option<Operation>,
    template: Template,
    /// How often the session had been lost by then, and with it what the request names.
    losses: u32,
}

/// Where an operation goes the short way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FastPathMatch {
    /// Where it reads.
    offset: Option<u64>,
}

/// What an operation asks, if that is one request of something open, or of nothing.
#[inline]
pub(super) fn command_of(operation: &Operation) -> Option<Command> {
    match operation.kind() {
        OpKind::Null => Some(Command::Echo),
        OpKind::GetAttr => Some(Command::QueryInfo),
        OpKind::Read => Some(Command::Read),
        OpKind::Commit => Some(Command::Flush),
        _ => None,
    }
}

/// Whether a call is the one request of an operation, and none of what goes before it.
pub(super) fn is_all_of(call: &Call<Smb2>, operation: &Operation) -> bool {
    let [part] = call.procedure.parts() else {
        return false;
    };
    command_of(operation) == Some(part.command)
}

impl FastPath {
    /// There is none, until something has gone the long way.
    pub fn close(&mut self) {
        self.operation = None;
    }

    /// Opens it for what goes out like this operation, whose call this is, if it can be.
    pub fn open(
        &mut self,
        operation: &Operation,
        call: &Call<Smb2>,
        session: &Smb2Session,
        losses: u32,
    ) {
        // Who looks at data takes them on the long way.
        let is_looked_at = matches!(operation, Operation::Read { .. }) && call.kept_max > READ_HEAD;
        let is_open = is_all_of(call, operation)
            && !is_looked_at
            && session.keep(&call.procedure, &call.arguments, &mut self.template);
        self.operation = is_open.then_some(*operation);
        self.losses = losses;
    }

    /// How an operation goes this way, after so many losses of the session, if it does.
    #[inline]
    pub fn fit(&self, operation: &Operation, losses: u32) -> Option<FastPathMatch> {
        if losses != self.losses {
            return None;
        }
        match (self.operation.as_ref()?, operation) {
            (
                Operation::Read {
                    file: kept,
                    len: kept_len,
                    ..
                },
                Operation::Read { file, offset, len },
            ) if kept == file && kept_len == len => Some(FastPathMatch {
                offset: Some(*offset),
            }),
            (Operation::Null, Operation::Null) => Some(FastPathMatch { offset: None }),
            (Operation::GetAttr { file: kept }, Operation::GetAttr { file })
            | (Operation::Commit { file: kept, .. }, Operation::Commit { file, .. })
                if kept == file =>
            {
                Some(FastPathMatch { offset: None })
            }
            _ => None,
        }
    }

    /// Puts the request out for a slot; whether there were credits for it.
    #[inline]
    pub fn put(
        &self,
        session: &mut Smb2Session,
        slot: u32,
        fit: FastPathMatch,
        out: &mut Output,
    ) -> bool {
        session.put_again(slot, &self.template, fit.offset, out)
    }
}

/// How many bytes an operation has moved that was answered as it is most often: with success, and
/// with all that was asked for.
#[inline]
pub(super) fn moved(operation: &Operation, answered: &CompoundResponse<'_>) -> Option<u32> {
    let header = answered.header;
    let command = command_of(operation)?;
    let is_plain = answered.is_genuine && !answered.wants_next;
    if !is_plain || header.status != Status::SUCCESS || header.command != command {
        return None;
    }
    let bytes = answered.bytes;
    match command {
        Command::Echo => body::<echo::Response>(bytes).map(|_| 0),
        Command::QueryInfo => body::<query_info::Response<'_>>(bytes).map(|_| 0),
        Command::Flush => body::<flush::Response>(bytes).map(|_| 0),
        Command::Read => {
            let count = body::<read::Response<'_>>(bytes)?.data.len();
            let is_all = matches!(operation, Operation::Read { len, .. } if *len as usize == count);
            is_all.then_some(count as u32)
        }
        _ => None,
    }
}

/// What stands behind the header of a response.
#[inline]
fn body<'r, T: Decode<'r>>(bytes: &'r [u8]) -> Option<T> {
    T::decode(&mut Reader::starting_at(bytes, HEADER_LEN)).ok()
}

#[cfg(test)]
mod tests;
