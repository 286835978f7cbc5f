//! Fast path for a repeated operation of a single request: the request is sent again from a
//! template with new numbers and offset, and only the response decides about success.
//!
//! The slot's actor sees neither. Any other result than a success, or a missing response, is handed
//! to the actor: it repeats the call that was already sent, and continues from there.

use super::link::SmbCalls;
use super::requests::READ_HEAD;
use crate::client::Output;
use crate::client::call_slot::Call;
use crate::session::smb2::{CompoundResponse, Smb2Session, Template};
use filestone_wire::smb2::codec::{Decode, Reader};
use filestone_wire::smb2::{Command, HEADER_LEN, Status, echo, flush, query_info, read};
use filestone_workload::operation::{OpKind, Operation};

/// Request template of the last single-request operation, reused on the fast path.
#[derive(Debug, Default)]
pub(super) struct FastPath {
    /// The operation, if there is one.
    operation: Option<Operation>,
    template: Template,
    /// Number of session losses at that time; a later loss invalidates the file that the request
    /// names.
    losses: u32,
}

/// An operation that can use the fast path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FastPathMatch {
    /// File offset of a READ.
    offset: Option<u64>,
}

/// Returns the command of an operation that is a single request on an open file, or without a file.
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

/// Returns whether a call is the single request of an operation, and not one of its preparations.
pub(super) fn is_all_of(call: &Call<SmbCalls>, operation: &Operation) -> bool {
    let [part] = call.procedure.parts() else {
        return false;
    };
    command_of(operation) == Some(part.command)
}

impl FastPath {
    /// Closes the fast path until another operation has used the general path.
    pub fn close(&mut self) {
        self.operation = None;
    }

    /// Opens the fast path for repetitions of this operation with this call, if possible.
    pub fn open(
        &mut self,
        operation: &Operation,
        call: &Call<SmbCalls>,
        session: &Smb2Session,
        losses: u32,
    ) {
        // Data to be verified need the general path.
        let is_looked_at = matches!(operation, Operation::Read { .. }) && call.kept_max > READ_HEAD;
        let is_open = is_all_of(call, operation)
            && !is_looked_at
            && session.keep(&call.procedure, &call.arguments, &mut self.template);
        self.operation = is_open.then_some(*operation);
        self.losses = losses;
    }

    /// Returns how an operation uses the fast path, if it can; `losses` is the current number of
    /// session losses.
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

    /// Sends the request for a slot; returns whether there were enough credits.
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

/// Returns the bytes moved by an operation whose response is a success with all requested data;
/// `None` for other responses.
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

/// Decodes the body after the header of a response.
#[inline]
fn body<'r, T: Decode<'r>>(bytes: &'r [u8]) -> Option<T> {
    T::decode(&mut Reader::starting_at(bytes, HEADER_LEN)).ok()
}

#[cfg(test)]
mod tests;
