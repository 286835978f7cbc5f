//! Byte-range locks of one client: NLM version 4 (RFC 1813, appendix II).
//!
//! Locks are exclusive and do not offer to wait. The lock manager has a connection of
//! its own, because it may listen elsewhere.

use crate::control::Cancellation;
use crate::driver::{Backoff, Repeats, RpcConnection, RpcProcedure, Traffic};
use crate::target::nfs3::calls::{Failure, NLM, NfsResult};
use filestone_model::failure::StatusSpace;
use filestone_model::load::Status;
use filestone_wire::nfs3::Handle;
use filestone_wire::nlm::{
    self, CallerName, LockRange, NetObject, Procedure, StatusReply, cancel, lock, test, unlock,
};
use std::collections::BTreeSet;

/// Whom a lock belongs to, together with the number of the client.
const OWNER: &[u8] = b"filestone";

/// One client's locks.
#[derive(Debug)]
pub struct Locks {
    connection: RpcConnection,
    client: i32,
    cookie: u32,
    /// Files on which a lock may be held.
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

/// The answer of a procedure that did not do what it was to do.
pub(super) const fn answer(status: nlm::Status) -> Status {
    Status::Failed(StatusSpace::Nlm.status(status.0))
}

fn granted(stat: nlm::Status) -> NfsResult<()> {
    match stat {
        nlm::Status::GRANTED => Ok(()),
        status => Err(Failure::Answered(answer(status))),
    }
}

impl Locks {
    /// Locks of client `client` over a connection to NLM.
    pub fn new(connection: RpcConnection, client: u32) -> Self {
        Self {
            connection,
            client: client as i32,
            cookie: 0,
            held: BTreeSet::new(),
        }
    }

    /// What was exchanged since this was asked last.
    pub fn take_traffic(&mut self) -> Traffic {
        self.connection.take_traffic()
    }

    /// From now on, this cancellation ends what waits for the lock manager.
    pub fn cancel_with(&mut self, cancellation: &Cancellation) {
        self.connection.cancel_with(cancellation);
    }

    /// What was done more than once since this was asked last.
    pub fn take_repeats(&mut self) -> Repeats {
        self.connection.take_repeats()
    }

    fn next_cookie(&mut self) -> [u8; 4] {
        self.cookie = self.cookie.wrapping_add(1);
        self.cookie.to_be_bytes()
    }

    fn range<'a>(&self, file: &'a Handle, offset: u64, len: u64) -> LockRange<'a> {
        LockRange {
            caller_name: CallerName(OWNER),
            fh: NetObject(file.as_bytes()),
            owner: NetObject(OWNER),
            svid: self.client,
            offset,
            len,
        }
    }

    /// NLMPROC4_LOCK.
    ///
    /// It does not offer to wait. A server that lets it wait all the same would call GRANTED at
    /// the lock manager of this host, which is not ours; so it is asked again, for as long as a
    /// call may take.
    pub fn lock(&mut self, file: &Handle, offset: u64, len: u64) -> NfsResult<()> {
        let mut backoff = Backoff::lock(self.connection.endpoint().timeout);
        loop {
            match self.ask(file, offset, len)? {
                nlm::Status::BLOCKED => {}
                stat => return self.locked(file, stat),
            }
            match backoff.next_pause() {
                Some(pause) => self.connection.wait(pause)?,
                None => break,
            }
        }
        // It may have been granted since; then it is freed with the file.
        self.held.insert(*file);
        self.cancel(file, offset, len)?;
        granted(nlm::Status::BLOCKED)
    }

    fn locked(&mut self, file: &Handle, stat: nlm::Status) -> NfsResult<()> {
        granted(stat)?;
        self.held.insert(*file);
        Ok(())
    }

    fn ask(&mut self, file: &Handle, offset: u64, len: u64) -> NfsResult<nlm::Status> {
        let cookie = self.next_cookie();
        let arguments = lock::Args {
            cookie: NetObject(&cookie),
            block: false,
            exclusive: true,
            alock: self.range(file, offset, len),
            reclaim: false,
            state: 0,
        };
        let reply: StatusReply<'_> = self.connection.call(called(Procedure::Lock), &arguments)?;
        Ok(reply.stat)
    }

    /// NLMPROC4_CANCEL, whatever the server says to it.
    fn cancel(&mut self, file: &Handle, offset: u64, len: u64) -> NfsResult<()> {
        let cookie = self.next_cookie();
        let arguments = cancel::Args {
            cookie: NetObject(&cookie),
            block: false,
            exclusive: true,
            alock: self.range(file, offset, len),
        };
        let _: StatusReply<'_> = self
            .connection
            .call(called(Procedure::Cancel), &arguments)?;
        Ok(())
    }

    /// NLMPROC4_UNLOCK.
    pub fn unlock(&mut self, file: &Handle, offset: u64, len: u64) -> NfsResult<()> {
        let cookie = self.next_cookie();
        let arguments = unlock::Args {
            cookie: NetObject(&cookie),
            alock: self.range(file, offset, len),
        };
        let reply: StatusReply<'_> = self
            .connection
            .call(called(Procedure::Unlock), &arguments)?;
        granted(reply.stat)
    }

    /// NLMPROC4_TEST.
    pub fn test(&mut self, file: &Handle, offset: u64, len: u64) -> NfsResult<()> {
        let cookie = self.next_cookie();
        let arguments = test::Args {
            cookie: NetObject(&cookie),
            exclusive: true,
            alock: self.range(file, offset, len),
        };
        let reply: test::Reply<'_> = self.connection.call(called(Procedure::Test), &arguments)?;
        granted(reply.outcome.status())
    }

    /// Frees what is held on a file that is closed: all of it, as closing a file
    /// does on every system.
    pub fn close(&mut self, file: &Handle) -> NfsResult<()> {
        if !self.held.remove(file) {
            return Ok(());
        }
        self.unlock(file, 0, 0)
    }

    /// Frees everything, whatever the server says to it.
    pub fn close_all(&mut self) -> NfsResult<()> {
        while let Some(file) = self.held.pop_first() {
            self.connection.go_on()?;
            if let Err(Failure::Lost(lost)) = self.unlock(&file, 0, 0) {
                return Err(lost.into());
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::nfs3::scripted::{self, reply};
    use filestone_wire::nfs3::FileHandle;
    use std::io::Write;

    /// A lock that a server answers with these, the last again and again; what became of it, and
    /// which procedures were called.
    fn answered(stats: &'static [nlm::Status]) -> (NfsResult<()>, Vec<u32>) {
        let mut next = 0;
        let (connection, server) = scripted::connection(move |call, out| {
            let stat = stats.get(next).or(stats.last()).expect("an answer");
            next += 1;
            let results = [&[0; 4][..], &stat.0.to_be_bytes()].concat();
            out.write_all(&reply(call.xid, &results))
        });
        let mut locks = Locks::new(connection, 0);
        let file = Handle::from(FileHandle::new(&[1]).expect("a handle"));
        let outcome = locks.lock(&file, 0, 1);
        drop(locks);
        (outcome, server.join().expect("the server ended"))
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
        assert!(matches!(outcome, Err(Failure::Answered(status)) if status == denied));
        assert_eq!(called, [lock; 2]);
    }

    #[test]
    fn one_that_stays_blocked_is_cancelled_and_the_answer_is_that() {
        let (outcome, called) = answered(&[nlm::Status::BLOCKED]);
        let blocked = answer(nlm::Status::BLOCKED);
        assert!(matches!(outcome, Err(Failure::Answered(status)) if status == blocked));
        let (last, asked) = called.split_last().expect("calls");
        assert_eq!(*last, Procedure::Cancel.number());
        assert!(asked.len() > 1 && asked.iter().all(|call| *call == Procedure::Lock.number()));
    }
}
