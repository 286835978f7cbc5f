//! The Network Lock Manager, version 4 (RFC 1813, appendix II).
//!
//! A LOCK that conflicts and offers to wait is answered with NLM4_BLOCKED. When the conflict is
//! gone, the lock is set and passed to the [`GrantSink`](super::GrantSink), which calls GRANTED at
//! the client's lock manager; a client that does not take the lock loses it again. A client may
//! also repeat LOCK: it keeps its position in the queue, and the reply contains the result.

mod holder;
mod locks;
mod waiting;

use std::sync::MutexGuard;

use filestone_wire::nlm::test::{Holder, TestOutcome};
use filestone_wire::nlm::{
    LockRange, NetObject, Procedure, Status, StatusReply, cancel, lock, test, unlock,
};
use filestone_wire::rpc::{AcceptStatus, CallHeader};
use filestone_wire::xdr::{Encode, Reader, Writer};

use super::{CallRejection, Endpoints, Service, with_arguments};
use crate::tree::handle::HandleParts;

use self::holder::NlmRange;
use self::locks::LockRefusal;
pub use self::locks::{Grant, LockTable};
use self::waiting::WaitingLock;

impl Service {
    pub(super) fn nlm(
        &self,
        header: &CallHeader<'_>,
        arguments: Reader<'_>,
        ends: &Endpoints,
        out: &mut Writer<'_>,
    ) -> Result<(), CallRejection> {
        let unavailable = CallRejection::Accepted(AcceptStatus::ProcUnavail);
        let procedure = Procedure::from_number(header.procedure).ok_or(unavailable)?;
        match procedure {
            Procedure::Null => with_arguments(arguments, out, |(), _| {})?,
            Procedure::Test => with_arguments(arguments, out, |asked: test::Args<'_>, out| {
                self.test_lock(&asked, out);
            })?,
            Procedure::Lock => with_arguments(arguments, out, |asked: lock::Args<'_>, out| {
                let stat = self.lock(&asked, ends);
                answer(asked.cookie, stat, out);
            })?,
            Procedure::Cancel => with_arguments(arguments, out, |asked: cancel::Args<'_>, out| {
                let stat = self.cancel(&asked);
                answer(asked.cookie, stat, out);
            })?,
            Procedure::Unlock => with_arguments(arguments, out, |asked: unlock::Args<'_>, out| {
                let stat = self.unlock(&asked.alock);
                answer(asked.cookie, stat, out);
            })?,
            // Procedures that a server calls at its clients.
            Procedure::Granted => return Err(unavailable),
        }
        Ok(())
    }

    fn test_lock(&self, asked: &test::Args<'_>, out: &mut Writer<'_>) {
        let alock = &asked.alock;
        let locks = self.locks();
        let found = self.parts_of(alock).map(|file| {
            let range = NlmRange::new(alock.offset, alock.len);
            locks.conflict(file, alock, range, asked.exclusive)
        });
        let outcome = match found {
            Err(status) => TestOutcome::Status(status),
            Ok(None) => TestOutcome::Status(Status::GRANTED),
            Ok(Some(held)) => TestOutcome::Denied(Holder {
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

    fn lock(&self, asked: &lock::Args<'_>, ends: &Endpoints) -> Status {
        let alock = &asked.alock;
        let file = match self.parts_of(alock) {
            Ok(file) => file,
            Err(status) => return status,
        };
        let range = NlmRange::new(alock.offset, alock.len);
        let mut locks = self.locks();
        if locks.is_full() {
            let tree = self.tree();
            locks.retain_files(|file| tree.resolve(&file.encode()).is_ok());
        }
        match locks.set(file, alock, range, asked.exclusive) {
            Ok(()) => {
                locks.stop_waiting(file, alock, asked.exclusive);
                // A shared lock that replaces an exclusive one may resolve conflicts.
                self.grant_waiting(locks, file);
                Status::GRANTED
            }
            Err(LockRefusal::Conflict) if asked.block => {
                match locks.wait(WaitingLock::new(file, asked, *ends)) {
                    Ok(()) => Status::BLOCKED,
                    Err(_) => Status::DENIED_NOLOCKS,
                }
            }
            Err(LockRefusal::Conflict) => Status::DENIED,
            Err(LockRefusal::Full) => Status::DENIED_NOLOCKS,
        }
    }

    /// Ends a wait, or removes a lock that was granted while this call was in transit.
    fn cancel(&self, asked: &cancel::Args<'_>) -> Status {
        let alock = &asked.alock;
        let file = match self.parts_of(alock) {
            Ok(file) => file,
            Err(status) => return status,
        };
        let mut locks = self.locks();
        if locks.stop_waiting(file, alock, asked.exclusive) {
            return Status::GRANTED;
        }
        if !locks.take_back(file, alock, asked.exclusive) {
            return Status::DENIED;
        }
        self.grant_waiting(locks, file);
        Status::GRANTED
    }

    fn unlock(&self, alock: &LockRange<'_>) -> Status {
        let file = match self.parts_of(alock) {
            Ok(file) => file,
            Err(status) => return status,
        };
        let range = NlmRange::new(alock.offset, alock.len);
        let mut locks = self.locks();
        if locks.clear(file, alock, range).is_err() {
            return Status::DENIED_NOLOCKS;
        }
        self.grant_waiting(locks, file);
        Status::GRANTED
    }

    /// Records whether a client has taken the lock that it waited for; if not, the next waiter may
    /// have it.
    pub fn finalize(&self, grant: &Grant, is_taken: bool) {
        let mut locks = self.locks();
        if is_taken {
            return locks.confirm(grant);
        }
        locks.withdraw(grant);
        self.grant_waiting(locks, grant.waiter.file);
    }

    /// Grants the locks of a file to waiting clients, and notifies them.
    fn grant_waiting(&self, mut locks: MutexGuard<'_, LockTable>, file: HandleParts) {
        let grants = locks.grant_waiting(file);
        drop(locks);
        for grant in grants {
            self.grants.submit(grant);
        }
    }

    /// Returns the file of a lock; it must exist.
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
