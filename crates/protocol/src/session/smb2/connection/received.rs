//! Received messages: decryption, signatures, orphans and oplock breaks.

use super::{ACKNOWLEDGEMENTS_MAX, Established, SmbStreamError};
use crate::session::smb2::OpeningKey;
use crate::session::smb2::credits::Credits;
use crate::session::smb2::slots::{CancelRoute, CompoundResponse, Slots};
use filestone_wire::smb2::compound::{Message, Messages};
use filestone_wire::smb2::oplock_break::{Acknowledgment, LeaseAcknowledgment, Notification};
use filestone_wire::smb2::transform::Encrypted;
use filestone_wire::smb2::{Command, HeaderFlags, LeaseFlags, Route, Status, create};

/// The parts of a connection that processing of messages needs.
pub(super) struct Taking<'s> {
    pub(super) slots: &'s mut Slots,
    pub(super) credits: &'s mut Credits,
    pub(super) own: Option<&'s Established>,
    pub(super) room: &'s mut Vec<u8>,
    pub(super) acknowledgements: &'s mut Vec<Acknowledgment>,
    pub(super) cancels: &'s mut Vec<CancelRoute>,
    pub(super) breaks: &'s mut u64,
    pub(super) forged: &'s mut u64,
}

impl Taking<'_> {
    /// Returns the key that decrypts messages of the session named in the header.
    pub(super) fn opener(&self, encrypted: &Encrypted<'_>) -> Result<&OpeningKey, SmbStreamError> {
        let session_id = encrypted.header.session_id;
        let own = self.own.filter(|own| own.session_id == session_id);
        let keys = match own {
            Some(own) => own.keys.as_deref(),
            None => self.slots.keys_of_session(session_id),
        };
        let opener = keys.and_then(|keys| keys.opener.as_deref());
        opener.ok_or(SmbStreamError::Forged)
    }

    #[inline]
    pub(super) fn messages(
        &mut self,
        frame: &[u8],
        frame_len: usize,
        is_sealed: bool,
        answered: &mut impl FnMut(CompoundResponse<'_>),
    ) -> Result<(), SmbStreamError> {
        let mut len = frame_len;
        for message in Messages::of(frame) {
            let message = message?;
            if !message.header.is_response() {
                return Err(SmbStreamError::Unexpected(
                    "a request, which only clients send",
                ));
            }
            self.message(&message, std::mem::take(&mut len), is_sealed, answered)?;
        }
        Ok(())
    }

    #[inline]
    fn message(
        &mut self,
        message: &Message<'_>,
        len: usize,
        is_sealed: bool,
        answered: &mut impl FnMut(CompoundResponse<'_>),
    ) -> Result<(), SmbStreamError> {
        let header = &message.header;
        if header.is_unasked() {
            return self.note_break(message);
        }
        self.credits.grant(header.credits);
        if header.is_interim() {
            if let Route::Async(async_id) = header.route {
                let message_id = header.message_id;
                let route = CancelRoute {
                    async_id,
                    message_id,
                };
                self.cancels.extend(self.slots.note_pending(route, len));
            }
            return Ok(());
        }
        let Some(found) = self.slots.find(header.message_id) else {
            return Ok(());
        };
        self.credits.end(found.charge);
        let Some(slot) = found.slot else {
            // `u32::MAX` matches no slot, so the keys of the connection's session are checked.
            if found.leaves_open && (is_sealed || self.is_genuine(message, u32::MAX)) {
                self.note_orphan(message)?;
            }
            return Ok(());
        };
        let is_genuine = is_sealed || self.is_genuine(message, slot);
        if !is_genuine {
            *self.forged += 1;
        }
        let cancelled = self.slots.take(found, message, len, is_genuine, answered);
        self.cancels.extend(cancelled);
        Ok(())
    }

    /// Returns whether an unencrypted response has the required signature (section 3.2.5.1.3).
    #[inline]
    fn is_genuine(&mut self, message: &Message<'_>, slot: u32) -> bool {
        let own = self
            .own
            .filter(|own| own.session_id == message.header.session_id);
        if own.is_some_and(|own| own.encrypts) {
            // A message that the session is deleted no longer belongs to the session.
            return message.header.status == Status::USER_SESSION_DELETED;
        }
        let is_signed = message.header.flags.contains(HeaderFlags::SIGNED);
        let foreign = self.slots.foreign(slot);
        let has_to_be = foreign.map_or(own.is_some_and(|own| own.signs), |other| other.signs);
        let keys = match foreign {
            Some(other) => Some(&*other.keys),
            None => own.and_then(|own| own.keys.as_deref()),
        };
        match (keys, is_signed) {
            (Some(keys), true) => keys.signer.verify(message.bytes, self.room),
            (None, _) => true,
            (Some(_), false) => !has_to_be || message.header.status == Status::USER_SESSION_DELETED,
        }
    }

    /// Closes a file that was opened after its requester aborted; otherwise it would stay open
    /// until the session ends.
    fn note_orphan(&mut self, message: &Message<'_>) -> Result<(), SmbStreamError> {
        if message.header.status.is_error() {
            return Ok(());
        }
        let opened: create::Response<'_> = message.body()?;
        self.slots.add_orphan(Some(opened.file_id));
        Ok(())
    }

    /// Handles a break of an oplock or a lease (section 3.2.5.19) by releasing it at once.
    fn note_break(&mut self, message: &Message<'_>) -> Result<(), SmbStreamError> {
        if message.header.command != Command::OplockBreak {
            return Ok(());
        }
        *self.breaks += 1;
        let answer = match message.body()? {
            Notification::Oplock(left) => Acknowledgment::Oplock(left),
            Notification::Lease(lease) if lease.flags.contains(LeaseFlags::ACK_REQUIRED) => {
                Acknowledgment::Lease(LeaseAcknowledgment {
                    flags: LeaseFlags::NONE,
                    lease_key: lease.lease_key,
                    state: lease.new_state,
                    duration: 0,
                })
            }
            Notification::Lease(_) => return Ok(()),
        };
        // Limits memory if a server sends breaks without end.
        if self.acknowledgements.len() < ACKNOWLEDGEMENTS_MAX {
            self.acknowledgements.push(answer);
        }
        Ok(())
    }
}
