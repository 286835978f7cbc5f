//! Byte-range locks of one client: NLM version 4 (RFC 1813, appendix II).
//!
//! Locks are exclusive and not waited for. The lock manager has a connection of
//! its own, because it may listen elsewhere.

use super::calls::{Failure, Outcome};
use super::connection::{Connection, Procedure as Called, Traffic};
use filestone_model::load::Status;
use filestone_wire::nfs3::Handle;
use filestone_wire::nlm::{
    self, CallerName, LockRange, NetObject, Procedure, StatusReply, lock, test, unlock,
};
use std::collections::BTreeSet;

/// Whom a lock belongs to, together with the number of the client.
const OWNER: &[u8] = b"filestone";

/// One client's locks.
#[derive(Debug)]
pub struct Locks {
    connection: Connection,
    client: i32,
    cookie: u32,
    /// Files on which a lock may be held.
    held: BTreeSet<Handle>,
}

const fn called(procedure: Procedure) -> Called {
    Called {
        number: procedure.number(),
        name: match procedure {
            Procedure::Null => "nlm null",
            Procedure::Test => "nlm test",
            Procedure::Lock => "nlm lock",
            Procedure::Cancel => "nlm cancel",
            Procedure::Unlock => "nlm unlock",
            Procedure::Granted => "nlm granted",
        },
    }
}

fn granted(stat: nlm::Status) -> Outcome<()> {
    match stat {
        nlm::Status::GRANTED => Ok(()),
        status => Err(Failure::Answered(Status::Nlm(status.0))),
    }
}

impl Locks {
    /// Locks of client `client` over a connection to NLM.
    pub fn new(connection: Connection, client: u32) -> Self {
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
    pub fn lock(&mut self, file: &Handle, offset: u64, len: u64) -> Outcome<()> {
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
        granted(reply.stat)?;
        self.held.insert(*file);
        Ok(())
    }

    /// NLMPROC4_UNLOCK.
    pub fn unlock(&mut self, file: &Handle, offset: u64, len: u64) -> Outcome<()> {
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
    pub fn test(&mut self, file: &Handle, offset: u64, len: u64) -> Outcome<()> {
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
    pub fn close(&mut self, file: &Handle) -> Outcome<()> {
        match self.held.remove(file) {
            true => self.unlock(file, 0, 0),
            false => Ok(()),
        }
    }

    /// Frees everything, whatever the server says to it.
    pub fn close_all(&mut self) -> Outcome<()> {
        while let Some(file) = self.held.pop_first() {
            if let Err(Failure::Lost(lost)) = self.unlock(&file, 0, 0) {
                return Err(lost.into());
            }
        }
        Ok(())
    }
}
