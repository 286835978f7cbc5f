//! What connections share: which files are open and how, their locks, and who waits for whom.
//!
//! A pure state machine. What another connection has to be told is a [`Letter`], which the caller
//! takes along and a worker delivers.

use std::collections::HashMap;
use std::sync::Arc;

use filestone_wire::smb2::create::ShareAccess;
use filestone_wire::smb2::{AccessMask, Status};

use super::held::{Caching, LeaseHeld, LeaseOwner, Lock};
use super::place::{Letter, Notice, Place, Waiter};
use crate::tree::InodeNumber;

/// Opens of all clients together.
const OPENS_MAX: usize = 1 << 20;
/// Sessions of all clients together, established or not.
const SESSIONS_MAX: usize = 1 << 16;
/// Requests that wait for a lock or for the end of a break, of all clients together.
const WAITERS_MAX: usize = 4096;

/// An open of a file, as others see it.
#[derive(Debug)]
pub struct Holder {
    pub open: u64,
    pub place: Place,
    pub session_id: u64,
    pub access: AccessMask,
    pub share: ShareAccess,
    pub deletes_on_close: bool,
    pub caching: Caching,
}

/// What opens are for that keep others from opening (MS-FSA, section 2.1.5.1.2.2).
const SHARED_BY_READ: AccessMask = AccessMask(AccessMask::READ_DATA.0 | AccessMask::EXECUTE.0);
const SHARED_BY_WRITE: AccessMask =
    AccessMask(AccessMask::WRITE_DATA.0 | AccessMask::APPEND_DATA.0);

/// Whether opens with this access touch data or the name; others are never in anybody's way.
pub fn touches(access: AccessMask) -> bool {
    let all = SHARED_BY_READ.0 | SHARED_BY_WRITE.0 | AccessMask::DELETE.0;
    access.0 & all != 0
}

/// Whether `access` goes beyond what `share` leaves to others.
fn exceeds(access: AccessMask, share: ShareAccess) -> bool {
    let is_for = |rights: AccessMask| access.0 & rights.0 != 0;
    (is_for(SHARED_BY_READ) && !share.contains(ShareAccess::READ))
        || (is_for(SHARED_BY_WRITE) && !share.contains(ShareAccess::WRITE))
        || (is_for(AccessMask::DELETE) && !share.contains(ShareAccess::DELETE))
}

impl Holder {
    /// Whether an open with this access and sharing cannot be beside this one.
    pub fn excludes(&self, access: AccessMask, share: ShareAccess) -> bool {
        touches(access)
            && touches(self.access)
            && (exceeds(access, self.share) || exceeds(self.access, share))
    }
}

/// A file or directory that is open.
#[derive(Debug)]
pub struct OpenFile {
    /// Where its name stands.
    pub parent: InodeNumber,
    /// Its name there.
    pub name: Arc<[u8]>,
    /// It is removed when its last open is closed.
    pub is_delete_pending: bool,
    pub holders: Vec<Holder>,
    pub leases: Vec<LeaseHeld>,
    pub locks: Vec<Lock>,
    waiters: Vec<Waiter>,
}

/// A name to be removed.
#[derive(Debug, PartialEq, Eq)]
pub struct Doomed {
    pub number: InodeNumber,
    pub parent: InodeNumber,
    pub name: Arc<[u8]>,
}

#[derive(Debug)]
struct SessionEntry {
    place: Place,
    user: String,
}

/// All of it.
#[derive(Debug, Default)]
pub struct Hub {
    pub(super) files: HashMap<InodeNumber, OpenFile>,
    sessions: HashMap<u64, SessionEntry>,
    open_count: usize,
    pub(super) lock_count: usize,
    waiter_count: usize,
    /// The files of leases: each is of one.
    pub(super) lease_files: HashMap<LeaseOwner, InodeNumber>,
    last_number: u64,
    letters: Vec<Letter>,
}

impl Hub {
    /// A number that no open and no session has or had.
    pub fn next_number(&mut self) -> u64 {
        self.last_number += 1;
        self.last_number
    }

    /// What is to be delivered.
    pub fn take_letters(&mut self) -> Vec<Letter> {
        std::mem::take(&mut self.letters)
    }

    pub(super) fn send(&mut self, to: Place, notice: Notice) {
        self.letters.push(Letter { to, notice });
    }

    /// Enters a session that is to be; its number.
    pub fn add_session(&mut self, place: Place) -> Result<u64, Status> {
        if self.sessions.len() >= SESSIONS_MAX {
            return Err(Status::INSUFFICIENT_RESOURCES);
        }
        let id = self.next_number();
        let user = String::new();
        self.sessions.insert(id, SessionEntry { place, user });
        Ok(id)
    }

    /// Whose a session is; `previous` of the same user gives way to it (section 3.3.5.5.3).
    pub fn own_session(&mut self, id: u64, user: &str, previous: u64) {
        if let Some(entry) = self.sessions.get_mut(&id) {
            entry.user = user.into();
        }
        if let Some(old) = self.sessions.get(&previous)
            && previous != id
            && old.user == user
        {
            self.send(old.place, Notice::DropSession(previous));
        }
    }

    pub fn remove_session(&mut self, id: u64) {
        self.sessions.remove(&id);
    }

    /// The file, if it is open.
    pub fn file(&self, number: InodeNumber) -> Option<&OpenFile> {
        self.files.get(&number)
    }

    /// Whether another open would be one too many.
    pub fn check_room(&self) -> Result<(), Status> {
        if self.open_count >= OPENS_MAX {
            return Err(Status::TOO_MANY_OPENED_FILES);
        }
        Ok(())
    }

    /// Enters an open of a file that has this name.
    pub fn add(
        &mut self,
        number: InodeNumber,
        parent: InodeNumber,
        name: &Arc<[u8]>,
        holder: Holder,
    ) {
        self.open_count += 1;
        let file = self.files.entry(number).or_insert_with(|| OpenFile {
            parent,
            name: Arc::clone(name),
            is_delete_pending: false,
            holders: Vec::with_capacity(1),
            leases: Vec::new(),
            locks: Vec::new(),
            waiters: Vec::new(),
        });
        file.holders.push(holder);
    }

    /// Ends an open; the name that goes with it, if it was the last and the file is to be removed.
    pub fn close(&mut self, number: InodeNumber, open: u64) -> Option<Doomed> {
        let file = self.files.get_mut(&number)?;
        let index = file.holders.iter().position(|holder| holder.open == open)?;
        let holder = file.holders.swap_remove(index);
        self.open_count -= 1;
        file.is_delete_pending |= holder.deletes_on_close;
        let before = file.locks.len();
        file.locks.retain(|lock| lock.open != open);
        self.lock_count -= before - file.locks.len();
        for owner in file.drop_unused_leases() {
            self.lease_files.remove(&owner);
        }
        let doomed = (file.holders.is_empty() && file.is_delete_pending).then(|| Doomed {
            number,
            parent: file.parent,
            name: Arc::clone(&file.name),
        });
        let is_last = file.holders.is_empty();
        self.wake(number);
        if is_last {
            self.files.remove(&number);
        }
        doomed
    }

    /// Lets a request wait until something about the file changes.
    pub fn wait(&mut self, number: InodeNumber, waiter: Waiter) -> Result<(), Status> {
        if self.waiter_count >= WAITERS_MAX {
            return Err(Status::INSUFFICIENT_RESOURCES);
        }
        let file = self.files.get_mut(&number).ok_or(Status::FILE_CLOSED)?;
        file.waiters.push(waiter);
        self.waiter_count += 1;
        Ok(())
    }

    /// A request waits no more.
    pub fn stop_waiting(&mut self, number: InodeNumber, waiter: Waiter) {
        if let Some(file) = self.files.get_mut(&number) {
            let before = file.waiters.len();
            file.waiters.retain(|other| *other != waiter);
            self.waiter_count -= before - file.waiters.len();
        }
    }

    /// Has all who wait for the file try again, in the order in which they came.
    pub fn wake(&mut self, number: InodeNumber) {
        let Some(file) = self.files.get_mut(&number) else {
            return;
        };
        let waiters = std::mem::take(&mut file.waiters);
        self.waiter_count -= waiters.len();
        for waiter in waiters {
            self.send(waiter.place, Notice::Retry(waiter.async_id));
        }
    }

    /// The file is to be removed when it is closed, or is not to be after all.
    pub fn set_delete_pending(&mut self, number: InodeNumber, is_pending: bool) {
        if let Some(file) = self.files.get_mut(&number) {
            file.is_delete_pending = is_pending;
        }
    }

    /// An open file has another name now.
    pub fn renamed(&mut self, number: InodeNumber, parent: InodeNumber, name: &Arc<[u8]>) {
        if let Some(file) = self.files.get_mut(&number) {
            file.parent = parent;
            file.name = Arc::clone(name);
        }
    }

    /// Whether something is open for which `is_within` holds of the directory it lies in.
    pub fn any_open_within(&self, is_within: impl Fn(InodeNumber) -> bool) -> bool {
        self.files.values().any(|file| is_within(file.parent))
    }
}
