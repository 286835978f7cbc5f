//! The Network Lock Manager, version 4 (RFC 1813, appendix II), without waiting.
//!
//! A LOCK that would have to wait is NLM4_DENIED, whether it offers to wait or not, so nothing is
//! ever called back, and CANCEL finds nothing to cancel.

mod locks;

use filestone_wire::nlm::test::{Holder, Outcome};
use filestone_wire::nlm::{
    LockRange, NetObject, Procedure, Status, StatusReply, cancel, lock, test, unlock,
};
use filestone_wire::rpc::{AcceptStatus, CallHeader};
use filestone_wire::xdr::{Encode, Reader, Writer};

use super::{Refusal, Service, with_arguments};
use crate::tree::handle::HandleParts;

pub use self::locks::LockTable;
use self::locks::{Range, Refused};

impl Service {
    pub(super) fn nlm(
        &self,
        header: &CallHeader<'_>,
        arguments: Reader<'_>,
        out: &mut Writer<'_>,
    ) -> Result<(), Refusal> {
        let unavailable = Refusal::Accepted(AcceptStatus::ProcUnavail);
        let procedure = Procedure::from_number(header.procedure).ok_or(unavailable)?;
        match procedure {
            Procedure::Null => with_arguments(arguments, out, |(), _| {})?,
            Procedure::Test => with_arguments(arguments, out, |asked: test::Args<'_>, out| {
                self.test_lock(&asked, out);
            })?,
            Procedure::Lock => with_arguments(arguments, out, |asked: lock::Args<'_>, out| {
                let stat = self.lock(&asked);
                answer(asked.cookie, stat, out);
            })?,
            Procedure::Cancel => with_arguments(arguments, out, |asked: cancel::Args<'_>, out| {
                answer(asked.cookie, Status::DENIED, out);
            })?,
            Procedure::Unlock => with_arguments(arguments, out, |asked: unlock::Args<'_>, out| {
                let stat = self.unlock(&asked.alock);
                answer(asked.cookie, stat, out);
            })?,
            // What a server calls at its clients.
            Procedure::Granted => return Err(unavailable),
        }
        Ok(())
    }

    fn test_lock(&self, asked: &test::Args<'_>, out: &mut Writer<'_>) {
        let alock = &asked.alock;
        let locks = self.locks();
        let found = self.parts_of(alock).map(|file| {
            let range = Range::new(alock.offset, alock.len);
            locks.conflict(file, alock, range, asked.exclusive)
        });
        let outcome = match found {
            Err(status) => Outcome::Status(status),
            Ok(None) => Outcome::Status(Status::GRANTED),
            Ok(Some(held)) => Outcome::Denied(Holder {
                exclusive: held.exclusive,
                svid: held.owner.svid,
                owner: NetObject(&held.owner.owner),
                offset: held.range.first,
                len: held.range.len(),
            }),
        };
        let cookie = asked.cookie;
        test::Reply { cookie, outcome }.encode(out);
    }

    fn lock(&self, asked: &lock::Args<'_>) -> Status {
        let alock = &asked.alock;
        let file = match self.parts_of(alock) {
            Ok(file) => file,
            Err(status) => return status,
        };
        let range = Range::new(alock.offset, alock.len);
        let mut locks = self.locks();
        if locks.is_full() {
            let tree = self.tree();
            locks.retain_files(|file| tree.resolve(&file.encode()).is_ok());
        }
        match locks.set(file, alock, range, asked.exclusive) {
            Ok(()) => Status::GRANTED,
            Err(Refused::Conflict) => Status::DENIED,
            Err(Refused::Full) => Status::DENIED_NOLOCKS,
        }
    }

    fn unlock(&self, alock: &LockRange<'_>) -> Status {
        match self.parts_of(alock) {
            Ok(file) => {
                let range = Range::new(alock.offset, alock.len);
                match self.locks().clear(file, alock, range) {
                    Ok(()) => Status::GRANTED,
                    Err(_) => Status::DENIED_NOLOCKS,
                }
            }
            Err(status) => status,
        }
    }

    /// The file of a lock; it must be there.
    fn parts_of(&self, alock: &LockRange<'_>) -> Result<HandleParts, Status> {
        self.tree()
            .resolve(alock.fh.0)
            .map_err(|_| Status::STALE_FH)?;
        HandleParts::decode(alock.fh.0).ok_or(Status::STALE_FH)
    }
}

fn answer(cookie: NetObject<'_>, stat: Status, out: &mut Writer<'_>) {
    StatusReply { cookie, stat }.encode(out);
}
