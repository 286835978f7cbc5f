//! LOCK, CANCEL, OPLOCK_BREAK (MS-SMB2, sections 3.3.5.14, 3.3.5.16 and 3.3.5.22).

use filestone_wire::smb2::compound::Message;
use filestone_wire::smb2::lock::{LockElement, LockFlags, Request, Response};
use filestone_wire::smb2::oplock_break::{Acknowledgment, OplockBreak};
use filestone_wire::smb2::{OplockLevel, Status};

use super::connection::WaitingFor;
use super::exchange::{Answered, CommandFailure, Exchange, put};
use super::held::{ByteRange, LeaseOwner, Lock};
use super::open_table::{Awaited, GlobalOpenTable};
use crate::reply::ReplySink;
use crate::tree::InodeNumber;

/// Largest number of ranges in one request.
const ELEMENTS_MAX: usize = 256;

/// Owner of locks.
#[derive(Clone, Copy)]
struct Owner {
    number: InodeNumber,
    open: u64,
}

impl Exchange<'_> {
    pub fn lock(&mut self, message: &Message<'_>, sink: &mut ReplySink) -> Answered {
        let request: Request<'_> = message.body()?;
        // The open of a request that has waited may be closed by now, which released its locks.
        let has_waited = self.resumed.is_some();
        let opened = self.open(request.file_id);
        let (open, number) = match opened {
            Ok((id, open)) if !open.is_directory => (id, open.number),
            Ok(_) => return Err(Status::INVALID_DEVICE_REQUEST.into()),
            Err(_) if has_waited => return Err(Status::RANGE_NOT_LOCKED.into()),
            Err(status) => return Err(status.into()),
        };
        let first = request.locks.get(0).ok_or(Status::INVALID_PARAMETER)?;
        if request.locks.len() > ELEMENTS_MAX {
            return Err(Status::INVALID_PARAMETER.into());
        }
        let owner = Owner { number, open };
        let shared = self.shared;
        let mut open_table = shared.open_table();
        let elements = request.locks.iter();
        let answered = if first.flags.contains(LockFlags::UNLOCK) {
            unlock_all(&mut open_table, owner, elements)
        } else {
            // In a request with several ranges, none may wait (section 3.3.5.14.2).
            let waits = |element: LockElement| !element.flags.contains(LockFlags::FAIL_IMMEDIATELY);
            let waits = request.locks.iter().any(waits);
            if waits && request.locks.len() > 1 {
                return Err(Status::INVALID_PARAMETER.into());
            }
            match lock_all(&mut open_table, owner, elements) {
                Err(Status::LOCK_NOT_GRANTED) if waits => {
                    let waiter = self.waiter()?;
                    open_table.wait(number, Awaited::Lock, waiter)?;
                    return Err(CommandFailure::Wait(WaitingFor::Lock { number, open }));
                }
                answered => answered,
            }
        };
        open_table.changed(number, open);
        self.connection.outbox.extend(open_table.take_letters());
        answered?;
        put(sink, &Response::default())
    }

    /// Cancels a waiting request, which is answered with CANCELLED; CANCEL itself has no response.
    /// Returns the AsyncId of the request, if it waits.
    pub fn cancelled(&self) -> Option<u64> {
        use filestone_wire::smb2::Route;
        match self.header.route {
            Route::Async(id) => self.connection.waiting.contains_key(&id).then_some(id),
            Route::Sync { .. } => {
                let mut waiting = self.connection.waiting.iter();
                let message_id = self.header.message_id;
                let found = waiting.find(|(_, waiting)| waiting.message_id == message_id);
                found.map(|(id, _)| *id)
            }
        }
    }

    /// Removes a waiting request.
    pub fn stop_waiting(&self, async_id: u64, waits_for: WaitingFor) {
        let (WaitingFor::Lock { number, .. } | WaitingFor::Break { number, .. }) = waits_for else {
            return;
        };
        let waiter = self.connection.waiter(async_id);
        self.shared.open_table().stop_waiting(number, waiter);
    }

    pub fn oplock_break(&mut self, message: &Message<'_>, sink: &mut ReplySink) -> Answered {
        let acknowledgment: Acknowledgment = message.body()?;
        let shared = self.shared;
        let answered = match acknowledgment {
            Acknowledgment::Oplock(OplockBreak { level, file_id }) => {
                let (id, open) = self.open(file_id)?;
                let number = open.number;
                if level == OplockLevel::LEASE {
                    return Err(Status::INVALID_PARAMETER.into());
                }
                let mut open_table = shared.open_table();
                let answered = open_table.acknowledge_oplock(number, id, level);
                self.connection.outbox.extend(open_table.take_letters());
                answered
            }
            Acknowledgment::Lease(lease) => {
                let agreed = self.connection.agreed.as_ref();
                let client = agreed.map_or([0; 16], |agreed| agreed.client_guid);
                let owner = LeaseOwner {
                    client,
                    key: lease.lease_key,
                };
                let mut open_table = shared.open_table();
                let answered = open_table.acknowledge_lease(owner, lease.state);
                self.connection.outbox.extend(open_table.take_letters());
                answered
            }
        };
        answered?;
        put(sink, &acknowledgment)
    }
}

/// Unlocks ranges in order; ranges before one that is not locked stay unlocked.
fn unlock_all(
    open_table: &mut GlobalOpenTable,
    owner: Owner,
    elements: impl Iterator<Item = LockElement>,
) -> Result<(), Status> {
    for element in elements {
        if element.flags != LockFlags::UNLOCK {
            return Err(Status::INVALID_PARAMETER);
        }
        let range = ByteRange::new(element.offset, element.length)?;
        open_table.unlock(owner.number, owner.open, range)?;
    }
    Ok(())
}

/// Locks all ranges, or none.
fn lock_all(
    open_table: &mut GlobalOpenTable,
    owner: Owner,
    elements: impl Iterator<Item = LockElement>,
) -> Result<(), Status> {
    let mut set = Vec::new();
    for element in elements {
        let locked = lock_one(open_table, owner, element);
        match locked {
            Ok(range) => set.push(range),
            Err(status) => {
                for range in set {
                    let _ = open_table.unlock(owner.number, owner.open, range);
                }
                return Err(status);
            }
        }
    }
    Ok(())
}

fn lock_one(
    open_table: &mut GlobalOpenTable,
    owner: Owner,
    element: LockElement,
) -> Result<ByteRange, Status> {
    let kind = element.flags.without(LockFlags::FAIL_IMMEDIATELY);
    let is_exclusive = match kind {
        LockFlags::EXCLUSIVE_LOCK => true,
        LockFlags::SHARED_LOCK => false,
        _ => return Err(Status::INVALID_PARAMETER),
    };
    let range = ByteRange::new(element.offset, element.length)?;
    let lock = Lock {
        open: owner.open,
        range,
        is_exclusive,
    };
    open_table.lock(owner.number, lock)?;
    Ok(range)
}
