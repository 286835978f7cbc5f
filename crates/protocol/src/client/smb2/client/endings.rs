//! Ends of tasks: their outcome, disconnects and resets of slots.

use super::{Inner, Standing, UnderWay};
use crate::client::actor::{ActorTaskState, TaskEnd};
use crate::client::call_slot::{ActionError, Call};
use crate::client::smb2::link::{SmbCalls, SmbClientError, SmbClientErrorKind};
use crate::session::smb2::CompoundRequest;
use filestone_wire::smb2::codec::Decode;
use filestone_wire::smb2::{Command, FileId, close};
use filestone_workload::completions::CompletionBatch;
use filestone_workload::load::ActionStatus;
use filestone_workload::operation::{Completion, Failure as OperationFailure, Outcome, ReplyFault};
use filestone_workload::time::Timestamp;

impl Inner {
    /// Aborts the request or pause of a slot and ends its task.
    pub(super) fn cut(
        &mut self,
        slot: u32,
        why: SmbClientErrorKind,
        now: Timestamp,
        completed: &mut CompletionBatch,
    ) {
        let Some(own) = self.slots.get_mut(slot as usize) else {
            return;
        };
        own.pause = None;
        own.is_calling = false;
        if own.under_way.is_none() {
            return;
        }
        if let Some(end) = own.at_once.take() {
            return self.end(slot, end, now, completed);
        }
        let lives = matches!(
            why,
            SmbClientErrorKind::TimedOut | SmbClientErrorKind::Refused(_)
        );
        self.lost = Some(SmbClientError {
            procedure: match why {
                SmbClientErrorKind::Stopped => CompoundRequest::NONE,
                _ => own.actor.call().procedure.clone(),
            },
            reason: why,
        });
        loop {
            own.actor.call_slot().cut();
            match own.actor.resume(now) {
                ActorTaskState::Ended(end) => return self.end(slot, end, now, completed),
                // Over a working connection, the file of an aborted CLOSE is still closed.
                ActorTaskState::Called if lives => self.closing.extend(closed_by(own.actor.call())),
                ActorTaskState::Called | ActorTaskState::Pausing(_) => {}
            }
        }
    }

    /// Resets all slots after the loss of the connection: each waiting future decides whether to
    /// repeat its request.
    pub(super) fn reset(&mut self, now: Timestamp, completed: &mut CompletionBatch) {
        self.standing = Standing::Down;
        let establisher = self.establisher();
        let waiting = std::mem::take(&mut self.waiting);
        self.queued.clear();
        for slot in 0..establisher {
            let own = &mut self.slots[slot as usize];
            // A queued request may name a file that was open over this connection.
            if !std::mem::take(&mut own.is_calling) && !waiting.contains(&slot) {
                continue;
            }
            self.reset_slot(slot, now, completed);
        }
    }

    /// Fails the outstanding request of a slot; another request can still be answered.
    fn reset_slot(&mut self, slot: u32, now: Timestamp, completed: &mut CompletionBatch) {
        if let Some(own) = self.slots.get_mut(slot as usize)
            && let Some(verifier) = own.inspection.verifier()
        {
            verifier.rewind();
        }
        let Some(actor) = self.actor(slot) else {
            return;
        };
        actor.call_slot().reset();
        if let Some(end) = self.resume(slot, now) {
            self.end(slot, end, now, completed);
        }
    }

    /// Resets slots that waited for the connection while the session lived on over others, and was
    /// lost with the last of them: their requests may name files that were open in it.
    pub(super) fn reset_strays(&mut self, now: Timestamp, completed: &mut CompletionBatch) {
        let losses = self.options.way.losses();
        for slot in std::mem::take(&mut self.waiting) {
            let own = self.slots.get(slot as usize);
            if own.is_none_or(|own| own.losses == losses) {
                self.waiting.push_back(slot);
                continue;
            }
            self.reset_slot(slot, now, completed);
        }
    }

    pub(super) fn end(
        &mut self,
        slot: u32,
        end: TaskEnd,
        now: Timestamp,
        completed: &mut CompletionBatch,
    ) {
        if slot == self.establisher() {
            return;
        }
        let Some(own) = self.slots.get_mut(slot as usize) else {
            return;
        };
        let Some(under_way) = own.under_way.take() else {
            return;
        };
        if end.answer == Err(ActionError::ClientFailed)
            && let Some(lost) = own.actor.call_slot().take_lost()
        {
            self.lost = Some(lost);
        }
        let is_forged = own.is_forged;
        let status = match end.answer {
            Ok(status) | Err(ActionError::Status(status)) => Some(status),
            Err(ActionError::ClientFailed | ActionError::ConnectionReset) => None,
        };
        let fault = own.inspection.take_fault();
        let status = status.map(|status| status.with_fault(fault));
        let mismatch = under_way
            .line
            .and_then(|line| self.books.note(line, status));
        let outcome = match (status, mismatch) {
            (None, _) if is_forged => failed(ReplyFault::Forged),
            (None, _) => self.outcome_of_lost(&under_way, end.answer),
            (Some(status), Some(mismatch)) => Outcome::Failed(status.failure(mismatch)),
            (Some(_), None) if under_way.line.is_some() => Outcome::Ok,
            (Some(status), None) => outcome_of(status, end.fault),
        };
        let is_done = status.is_some();
        let moved = u32::try_from(end.moved).unwrap_or(u32::MAX);
        completed.push(Completion {
            ticket: under_way.ticket,
            outcome,
            answer: end.found,
            usable: under_way.usable,
            // An unsent request has no time.
            sent: under_way.sent.unwrap_or(Timestamp::MAX),
            done: now,
            calls: under_way.calls,
            retransmissions: 0,
            bytes_sent: under_way.bytes_sent,
            bytes_received: under_way.bytes_received,
            data_bytes: if is_done { moved } else { 0 },
        });
    }

    fn outcome_of_lost(
        &self,
        under_way: &UnderWay,
        answer: Result<ActionStatus, ActionError>,
    ) -> Outcome {
        if answer == Err(ActionError::ConnectionReset) {
            return Outcome::Disconnected;
        }
        match self.lost.as_ref().map(|lost| &lost.reason) {
            Some(SmbClientErrorKind::Stopped) if under_way.sent.is_none() => Outcome::Skipped,
            Some(SmbClientErrorKind::Stopped | SmbClientErrorKind::TimedOut) => Outcome::TimedOut,
            Some(SmbClientErrorKind::Decode(_)) => failed(ReplyFault::Undecodable),
            Some(SmbClientErrorKind::ProtocolViolation(_)) => failed(ReplyFault::Inconsistent),
            _ => Outcome::Disconnected,
        }
    }
}

/// Returns the file that a call closes, if it does nothing else.
fn closed_by(call: &Call<SmbCalls>) -> Option<FileId> {
    let [part] = call.procedure.parts() else {
        return None;
    };
    let body = call.arguments.get(..part.end as usize)?;
    let closed = close::Request::from_bytes(body).ok();
    let closed = closed.filter(|_| part.command == Command::Close)?;
    Some(closed.file_id)
}

pub(super) const fn failed(fault: ReplyFault) -> Outcome {
    Outcome::Failed(OperationFailure::BadReply(fault))
}

/// Returns the outcome of an answered operation.
fn outcome_of(status: ActionStatus, fault: Option<ReplyFault>) -> Outcome {
    match (status, fault) {
        (ActionStatus::Failed(status), _) => Outcome::Failed(OperationFailure::Status(status)),
        (ActionStatus::Refused(_), _) => failed(ReplyFault::Inconsistent),
        (_, Some(fault)) => failed(fault),
        (
            ActionStatus::Ok
            | ActionStatus::Unknown
            | ActionStatus::WrongLength { .. }
            | ActionStatus::WrongAccess { .. }
            | ActionStatus::WrongData(_),
            None,
        ) => Outcome::Ok,
    }
}
