//! Responses of the server: a fast-path operation ends, or the slot's task is resumed.

use super::{Inner, Last};
use crate::client::ProtocolError;
use crate::client::call_slot::Results;
use crate::client::smb2::fast_path;
use crate::client::smb2::link::{BadSignature, SmbClientErrorKind};
use crate::client::smb2::requests::data_read;
use crate::session::smb2::{CompoundResponse, Scope};
use filestone_wire::smb2;
use filestone_wire::smb2::compound::Messages;
use filestone_workload::completions::CompletionBatch;
use filestone_workload::operation::{Completion, Outcome, ReplyInfo};
use filestone_workload::time::Timestamp;

impl Inner {
    /// Ends a fast-path operation whose response is a plain success; returns whether it did.
    #[inline]
    fn end_short(
        &mut self,
        answered: &CompoundResponse<'_>,
        now: Timestamp,
        completed: &mut CompletionBatch,
    ) -> bool {
        let own = self.slots.get_mut(answered.slot as usize);
        let Some(own) = own.filter(|own| own.is_short) else {
            return false;
        };
        let Some(Last { ticket, operation }) = own.last else {
            return false;
        };
        let Some(data_bytes) = fast_path::moved(&operation, answered) else {
            return false;
        };
        own.is_short = false;
        let exchange = &answered.exchange;
        let is_plain = data_bytes == 0 && exchange.calls == 1;
        let (sent, bytes_sent, bytes_received) =
            (exchange.sent, exchange.bytes_sent, exchange.bytes_received);
        if is_plain && completed.extend_plain_run(ticket, sent, now, bytes_sent, bytes_received) {
            return true;
        }
        completed.push(Completion {
            ticket,
            outcome: Outcome::Ok,
            answer: ReplyInfo::Plain,
            usable: Timestamp::ZERO,
            sent,
            done: now,
            calls: exchange.calls,
            retransmissions: 0,
            bytes_sent,
            bytes_received,
            data_bytes,
        });
        true
    }

    #[inline]
    pub(super) fn answered(
        &mut self,
        answered: &CompoundResponse<'_>,
        now: Timestamp,
        completed: &mut CompletionBatch,
    ) {
        self.now = now;
        if !self.end_short(answered, now, completed) {
            self.answered_call(answered, now, completed);
        }
    }

    fn answered_call(
        &mut self,
        answered: &CompoundResponse<'_>,
        now: Timestamp,
        completed: &mut CompletionBatch,
    ) {
        let slot = answered.slot;
        let is_short = self
            .slots
            .get(slot as usize)
            .is_some_and(|own| own.is_short);
        if is_short && !self.catch_up(slot, Some(answered.exchange.sent)) {
            // The chain of this response was aborted.
            return;
        }
        if let Some(own) = self.slots.get_mut(slot as usize) {
            if let Some(under_way) = &mut own.under_way {
                under_way.note(&answered.exchange);
            }
            own.is_calling = false;
            own.is_forged |= !answered.is_genuine;
        }
        if let Some(status) = self.session_end(answered) {
            // The request ends like all outstanding ones: when the connection is closed.
            if let Some(own) = self.slots.get_mut(slot as usize) {
                own.is_calling = true;
            }
            let defect = ProtocolError::SessionEnded(status.to_string());
            self.defect.get_or_insert(defect);
            return;
        }
        if answered.wants_next {
            return self.waiting.push_front(slot);
        }
        if !answered.is_genuine {
            return self.cut(
                slot,
                SmbClientErrorKind::Refused(BadSignature),
                now,
                completed,
            );
        }
        let (bytes, len) = (answered.bytes, answered.bytes.len());
        if let Some(own) = self.slots.get_mut(slot as usize)
            && let Some(verifier) = own.inspection.verifier()
        {
            // The result is dropped: a line whose connection is lost is repeated from its
            // beginning.
            verifier.see(data_read(Results { bytes, len }));
        }
        if let Some(actor) = self.actor(slot) {
            actor.call_slot().answer(Results { bytes, len });
        }
        if let Some(end) = self.resume(slot, now) {
            self.end(slot, end, now, completed);
        }
    }

    /// Returns the status with which the server reports in these responses that the connection's
    /// session or tree no longer exists, if it does. Additional sessions and trees, which end by
    /// themselves, do not count.
    fn session_end(&self, answered: &CompoundResponse<'_>) -> Option<smb2::Status> {
        if !answered.header.status.is_error() {
            return None;
        }
        // Requests after the first of a compound may fail with another status.
        let messages = Messages::of(answered.bytes).map_while(Result::ok);
        let statuses = messages.map(|message| message.header.status);
        let mut statuses = statuses.chain([answered.header.status]);
        let status = statuses.find(|status| status.ends_session())?;
        let own = self.slots.get(answered.slot as usize)?;
        let is_own = match own.actor.call().procedure.scope {
            Scope::Tree | Scope::Session => true,
            Scope::OtherTree(_) => status != smb2::Status::NETWORK_NAME_DELETED,
            Scope::Connection | Scope::Other { .. } => false,
        };
        is_own.then_some(status)
    }
}
