//! Byte-range locks of one client: NLM version 4 (RFC 1813, appendix II).
//!
//! Locks are exclusive and non-blocking. The lock manager has a separate connection, because it may
//! listen on another port.

use crate::client::nfs3::sequence::{ActionError, NfsActionResult, NfsCallHandle};
use crate::session::backoff::{BackoffSchedule, BackoffUntil};
use crate::session::rpc::{Program, RpcProcedure};
use filestone_wire::nfs3::Handle;
use filestone_wire::nlm::{
    self, LockRange, NetObject, Procedure, StatusReply, cancel, lock, test, unlock,
};
use filestone_wire::xdr::{Decode, Encode};
use filestone_workload::failure::StatusSpace;
use filestone_workload::load::ActionStatus;
use std::collections::BTreeSet;

/// NLM version 4.
pub const NLM: Program = Program::new(nlm::PROGRAM, nlm::VERSION);

/// Owner of a lock, combined with the number of the client.
const OWNER: &[u8] = b"filestone";

/// Locks of one client.
#[derive(Debug)]
pub(super) struct ClientLocks {
    link: NfsCallHandle,
    /// Time limit for a reply, in nanoseconds.
    timeout_nanos: u64,
    client: i32,
    cookie: u32,
    /// Files that may have a lock.
    held: BTreeSet<Handle>,
}

const fn called(procedure: Procedure) -> RpcProcedure {
    let name = match procedure {
        Procedure::Null => "nlm null",
        Procedure::Test => "nlm test",
        Procedure::Lock => "nlm lock",
        Procedure::Cancel => "nlm cancel",
        Procedure::Unlock => "nlm unlock",
        Procedure::Granted => "nlm granted",
    };
    NLM.procedure(procedure.number(), name)
}

/// Returns the status of a procedure that failed.
pub(super) const fn answer(status: nlm::Status) -> ActionStatus {
    ActionStatus::Failed(StatusSpace::Nlm.status(status.0))
}

fn granted(stat: nlm::Status) -> NfsActionResult<()> {
    match stat {
        nlm::Status::GRANTED => Ok(()),
        status => Err(ActionError::Status(answer(status))),
    }
}

impl ClientLocks {
    /// Creates the locks of client `client`.
    pub fn new(link: NfsCallHandle, timeout_nanos: u64, client: u32) -> Self {
        Self {
            link,
            timeout_nanos,
            client: client as i32,
            cookie: 0,
            held: BTreeSet::new(),
        }
    }

    fn next_cookie(&mut self) -> [u8; 4] {
        self.cookie = self.cookie.wrapping_add(1);
        self.cookie.to_be_bytes()
    }

    fn range<'a>(&self, file: &'a Handle, offset: u64, len: u64) -> LockRange<'a> {
        LockRange {
            caller_name: NetObject(OWNER),
            fh: NetObject(file.as_bytes()),
            owner: NetObject(OWNER),
            svid: self.client,
            offset,
            len,
        }
    }

    /// Sends NLMPROC4_LOCK.
    ///
    /// The request is non-blocking. A server that blocks it despite that would call GRANTED at the
    /// lock manager of this host, which does not belong to filestone; so the request is repeated
    /// within the time limit of a call.
    pub async fn lock(&mut self, file: &Handle, offset: u64, len: u64) -> NfsActionResult<()> {
        let mut pauses: Option<BackoffUntil> = None;
        loop {
            match self.ask(file, offset, len).await? {
                nlm::Status::BLOCKED => {}
                stat => return self.locked(file, stat),
            }
            let (now, limit) = (self.link.now(), self.timeout_nanos);
            let pauses =
                pauses.get_or_insert_with(|| BackoffUntil::new(BackoffSchedule::LOCK, now, limit));
            match pauses.next_nanos(now) {
                Some(nanos) => self.link.pause(nanos).await?,
                None => break,
            }
        }
        // The lock may have been granted since; then it is released with the file.
        self.held.insert(*file);
        self.cancel(file, offset, len).await?;
        granted(nlm::Status::BLOCKED)
    }

    fn locked(&mut self, file: &Handle, stat: nlm::Status) -> NfsActionResult<()> {
        granted(stat)?;
        self.held.insert(*file);
        Ok(())
    }

    async fn ask(&mut self, file: &Handle, offset: u64, len: u64) -> NfsActionResult<nlm::Status> {
        let cookie = self.next_cookie();
        let arguments = lock::Args {
            cookie: NetObject(&cookie),
            block: false,
            exclusive: true,
            alock: self.range(file, offset, len),
            reclaim: false,
            state: 0,
        };
        self.status(Procedure::Lock, &arguments).await
    }

    /// Calls a procedure whose results are only a status.
    fn status(
        &self,
        procedure: Procedure,
        arguments: &impl Encode,
    ) -> impl Future<Output = NfsActionResult<nlm::Status>> {
        self.link.call(called(procedure), arguments, |results| {
            Ok(Ok(StatusReply::from_bytes(results.bytes)?.stat))
        })
    }

    /// Sends NLMPROC4_CANCEL and ignores the status.
    async fn cancel(&mut self, file: &Handle, offset: u64, len: u64) -> NfsActionResult<()> {
        let cookie = self.next_cookie();
        let arguments = cancel::Args {
            cookie: NetObject(&cookie),
            block: false,
            exclusive: true,
            alock: self.range(file, offset, len),
        };
        self.status(Procedure::Cancel, &arguments).await.map(drop)
    }

    /// Sends NLMPROC4_UNLOCK.
    pub async fn unlock(&mut self, file: &Handle, offset: u64, len: u64) -> NfsActionResult<()> {
        let cookie = self.next_cookie();
        let arguments = unlock::Args {
            cookie: NetObject(&cookie),
            alock: self.range(file, offset, len),
        };
        granted(self.status(Procedure::Unlock, &arguments).await?)
    }

    /// Sends NLMPROC4_TEST.
    pub async fn test(&mut self, file: &Handle, offset: u64, len: u64) -> NfsActionResult<()> {
        let cookie = self.next_cookie();
        let arguments = test::Args {
            cookie: NetObject(&cookie),
            exclusive: true,
            alock: self.range(file, offset, len),
        };
        let call = self
            .link
            .call(called(Procedure::Test), &arguments, |results| {
                let reply = test::Reply::from_bytes(results.bytes)?;
                Ok(Ok(reply.outcome.status()))
            });
        granted(call.await?)
    }

    /// Releases all locks on a file that is closed, as closing a file does on every system.
    pub async fn close(&mut self, file: &Handle) -> NfsActionResult<()> {
        if !self.held.remove(file) {
            return Ok(());
        }
        self.unlock(file, 0, 0).await
    }

    /// Releases all locks and ignores the statuses.
    pub async fn close_all(&mut self) -> NfsActionResult<()> {
        while let Some(file) = self.held.pop_first() {
            self.link.check_cancelled()?;
            if let Err(ActionError::ClientFailed) = self.unlock(&file, 0, 0).await {
                return Err(ActionError::ClientFailed);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::nfs3::sequence::{NfsCallSlot, Results, WaitReason};
    use filestone_workload::time::Timestamp;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    const TIMEOUT_NANOS: u64 = 200_000_000;

    /// Requests a lock from a server that answers with these statuses, repeating the last; returns
    /// the result, and the procedures called.
    fn answered(stats: &[nlm::Status]) -> (NfsActionResult<()>, Vec<u32>) {
        let mut call_slot = NfsCallSlot::default();
        let mut locks = ClientLocks::new(NfsCallHandle::HERE, TIMEOUT_NANOS, 0);
        let file = Handle::new(&[1]).expect("a handle");
        let mut locking = pin!(locks.lock(&file, 0, 1));
        let (mut now, mut called) = (Timestamp::ZERO, Vec::new());
        loop {
            call_slot.set_now(now);
            let mut context = Context::from_waker(Waker::noop());
            let polled = call_slot.lend(|| locking.as_mut().poll(&mut context));
            if let Poll::Ready(outcome) = polled {
                assert!(now.nanos() <= TIMEOUT_NANOS);
                return (outcome, called);
            }
            match call_slot.wanted() {
                WaitReason::Reply => {
                    let stat = stats.get(called.len()).or(stats.last());
                    let stat = stat.expect("an answer").0.to_be_bytes();
                    called.push(call_slot.call().procedure.number);
                    let bytes = &[&[0; 4][..], &stat].concat();
                    call_slot.answer(Results { bytes, len: 8 });
                }
                WaitReason::Timer(nanos) => {
                    now = now.after_nanos(nanos);
                    call_slot.rested();
                }
                WaitReason::None => panic!("it waits for nothing"),
            }
        }
    }

    #[test]
    fn a_lock_that_is_blocked_is_asked_for_again() {
        use nlm::Status as S;
        let (outcome, called) = answered(&[S::BLOCKED, S::BLOCKED, S::GRANTED]);
        assert!(outcome.is_ok(), "{outcome:?}");
        let lock = Procedure::Lock.number();
        assert_eq!(called, [lock; 3]);
        let (outcome, called) = answered(&[S::BLOCKED, S::DENIED]);
        let denied = answer(S::DENIED);
        assert!(matches!(outcome, Err(ActionError::Status(status)) if status == denied));
        assert_eq!(called, [lock; 2]);
    }

    #[test]
    fn one_that_stays_blocked_is_cancelled_and_the_answer_is_that() {
        let (outcome, called) = answered(&[nlm::Status::BLOCKED]);
        let blocked = answer(nlm::Status::BLOCKED);
        assert!(matches!(outcome, Err(ActionError::Status(status)) if status == blocked));
        let (last, asked) = called.split_last().expect("calls");
        assert_eq!(*last, Procedure::Cancel.number());
        assert!(asked.len() > 1 && asked.iter().all(|call| *call == Procedure::Lock.number()));
    }
}
