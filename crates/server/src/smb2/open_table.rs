//! State shared by connections: open files and their opens, locks, and waiting requests.
//!
//! A pure state machine. Notifications for other connections are [`RoutedEvent`]s, which the caller
//! collects and a worker delivers.

use std::collections::HashMap;
use std::sync::Arc;

use filestone_wire::smb2::create::ShareAccess;
use filestone_wire::smb2::{AccessMask, Status};
use rustc_hash::FxHashMap;

use super::connection_id::{ConnectionId, CrossConnectionEvent, RoutedEvent, Waiter};
use super::held::{CacheGrant, HeldLease, LeaseOwner, Lock};
use crate::tree::InodeNumber;

/// Largest number of opens of all clients.
const OPENS_MAX: usize = 1 << 20;
/// Largest number of sessions of all clients, established or not.
const SESSIONS_MAX: usize = 1 << 16;
/// Largest number of requests of all clients that wait for a lock or for the end of a break.
const WAITERS_MAX: usize = 4096;

/// The name by which a file was opened, one of possibly several names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenName {
    /// Directory that contains it.
    pub parent: InodeNumber,
    /// Spelling in the directory.
    pub spelt: Arc<[u8]>,
}

/// An open of a file, as visible to other opens.
#[derive(Debug)]
pub struct OpenEntry {
    pub open: u64,
    pub name: OpenName,
    pub place: ConnectionId,
    pub session_id: u64,
    pub access: AccessMask,
    pub share: ShareAccess,
    pub deletes_on_close: bool,
    pub caching: CacheGrant,
}

/// Access rights that conflict with sharing modes (MS-FSA, section 2.1.5.1.2.2).
const SHARED_BY_READ: AccessMask = AccessMask(AccessMask::READ_DATA.0 | AccessMask::EXECUTE.0);
const SHARED_BY_WRITE: AccessMask =
    AccessMask(AccessMask::WRITE_DATA.0 | AccessMask::APPEND_DATA.0);

/// Returns whether opens with this access use data or the name; other opens never conflict.
pub fn touches(access: AccessMask) -> bool {
    let all = SHARED_BY_READ.0 | SHARED_BY_WRITE.0 | AccessMask::DELETE.0;
    access.0 & all != 0
}

/// Returns whether `access` exceeds the access that `share` permits.
fn exceeds(access: AccessMask, share: ShareAccess) -> bool {
    let is_for = |rights: AccessMask| access.0 & rights.0 != 0;
    (is_for(SHARED_BY_READ) && !share.contains(ShareAccess::READ))
        || (is_for(SHARED_BY_WRITE) && !share.contains(ShareAccess::WRITE))
        || (is_for(AccessMask::DELETE) && !share.contains(ShareAccess::DELETE))
}

impl OpenEntry {
    /// Returns whether an open with this access and sharing conflicts with this one.
    pub fn excludes(&self, access: AccessMask, share: ShareAccess) -> bool {
        touches(access)
            && touches(self.access)
            && (exceeds(access, self.share) || exceeds(self.access, share))
    }
}

/// An open file or directory.
#[derive(Debug)]
pub struct OpenFile {
    /// Name to remove when the last open is closed.
    doomed: Option<OpenName>,
    pub holders: Vec<OpenEntry>,
    pub leases: Vec<HeldLease>,
    pub locks: Vec<Lock>,
    waiters: Vec<(Awaited, Waiter)>,
    /// Reserved size in bytes, whether written or not.
    reserved: u64,
}

/// Event that a request waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Awaited {
    Lock,
    /// The end of a break.
    Break,
}

impl OpenFile {
    /// Returns whether the file is deleted with its last open.
    pub fn is_delete_pending(&self) -> bool {
        self.doomed.is_some()
    }

    /// Returns the name by which this open has the file.
    pub fn name_of(&self, open: u64) -> Option<&OpenName> {
        let holder = self.holders.iter().find(|holder| holder.open == open);
        holder.map(|holder| &holder.name)
    }

    /// Returns whether a break is in progress.
    fn is_breaking(&self) -> bool {
        let mut oplocks = self.holders.iter().map(|holder| holder.caching);
        let is_breaking = |caching| {
            matches!(
                caching,
                CacheGrant::Oplock {
                    breaking: Some(_),
                    ..
                }
            )
        };
        oplocks.any(is_breaking) || self.leases.iter().any(|lease| lease.breaking.is_some())
    }
}

#[derive(Debug)]
struct SessionEntry {
    place: ConnectionId,
    user: String,
}

/// All open files, sessions, leases and waiting requests.
#[derive(Debug, Default)]
pub struct GlobalOpenTable {
    pub(super) files: FxHashMap<InodeNumber, OpenFile>,
    sessions: FxHashMap<u64, SessionEntry>,
    open_count: usize,
    pub(super) lock_count: usize,
    waiter_count: usize,
    /// File of each lease.
    pub(super) lease_files: HashMap<LeaseOwner, InodeNumber>,
    last_number: u64,
    letters: Vec<RoutedEvent>,
}

impl GlobalOpenTable {
    /// Returns a number that no open and no session has or had.
    pub fn next_number(&mut self) -> u64 {
        self.last_number += 1;
        self.last_number
    }

    /// Removes and returns the events to deliver.
    pub fn take_letters(&mut self) -> Vec<RoutedEvent> {
        std::mem::take(&mut self.letters)
    }

    pub(super) fn send(&mut self, to: ConnectionId, notice: CrossConnectionEvent) {
        self.letters.push(RoutedEvent { to, notice });
    }

    /// Adds a session that is not established yet; returns its number.
    pub fn add_session(&mut self, place: ConnectionId) -> Result<u64, Status> {
        if self.sessions.len() >= SESSIONS_MAX {
            return Err(Status::INSUFFICIENT_RESOURCES);
        }
        let id = self.next_number();
        let user = String::new();
        self.sessions.insert(id, SessionEntry { place, user });
        Ok(id)
    }

    /// Assigns a session to a user; closes the session `previous` if it belongs to the same user
    /// (section 3.3.5.5.3).
    pub fn own_session(&mut self, id: u64, user: &str, previous: u64) {
        if let Some(entry) = self.sessions.get_mut(&id) {
            entry.user = user.into();
        }
        if let Some(old) = self.sessions.get(&previous)
            && previous != id
            && old.user == user
        {
            self.send(old.place, CrossConnectionEvent::DropSession(previous));
        }
    }

    pub fn remove_session(&mut self, id: u64) {
        self.sessions.remove(&id);
    }

    /// Returns the file, if it is open.
    pub fn file(&self, number: InodeNumber) -> Option<&OpenFile> {
        self.files.get(&number)
    }

    /// Returns an error if the limit of opens is reached.
    pub fn check_room(&self) -> Result<(), Status> {
        if self.open_count >= OPENS_MAX {
            return Err(Status::TOO_MANY_OPENED_FILES);
        }
        Ok(())
    }

    /// Adds an open of a file.
    pub fn add(&mut self, number: InodeNumber, holder: OpenEntry) {
        self.open_count += 1;
        let file = self.files.entry(number).or_insert_with(|| OpenFile {
            doomed: None,
            holders: Vec::with_capacity(1),
            leases: Vec::new(),
            locks: Vec::new(),
            waiters: Vec::new(),
            reserved: 0,
        });
        file.holders.push(holder);
    }

    /// Removes an open; returns the name to remove if it was the last open and the file is marked
    /// for deletion.
    pub fn close(&mut self, number: InodeNumber, open: u64) -> Option<OpenName> {
        let file = self.files.get_mut(&number)?;
        let index = file.holders.iter().position(|holder| holder.open == open)?;
        let holder = file.holders.swap_remove(index);
        self.open_count -= 1;
        if holder.deletes_on_close {
            file.doomed.get_or_insert(holder.name);
        }
        let before = file.locks.len();
        file.locks.retain(|lock| lock.open != open);
        self.lock_count -= before - file.locks.len();
        for owner in file.drop_unused_leases() {
            self.lease_files.remove(&owner);
        }
        let is_last = file.holders.is_empty();
        let doomed = file.doomed.take_if(|_| is_last);
        self.wake(number);
        if is_last {
            self.files.remove(&number);
        }
        doomed
    }

    /// Sets the reserved size of an open file, which applies while it is open.
    pub fn reserve(&mut self, number: InodeNumber, bytes: u64) {
        if let Some(file) = self.files.get_mut(&number) {
            file.reserved = bytes;
        }
    }

    /// Returns the reserved size of an open file.
    pub fn reserved(&self, number: InodeNumber) -> u64 {
        self.file(number).map_or(0, |file| file.reserved)
    }

    /// Makes a request wait until the state of the file changes.
    pub fn wait(
        &mut self,
        number: InodeNumber,
        awaited: Awaited,
        waiter: Waiter,
    ) -> Result<(), Status> {
        if self.waiter_count >= WAITERS_MAX {
            return Err(Status::INSUFFICIENT_RESOURCES);
        }
        let file = self.files.get_mut(&number).ok_or(Status::FILE_CLOSED)?;
        file.waiters.push((awaited, waiter));
        self.waiter_count += 1;
        Ok(())
    }

    /// Removes a request from the waiting ones.
    pub fn stop_waiting(&mut self, number: InodeNumber, waiter: Waiter) {
        if let Some(file) = self.files.get_mut(&number) {
            let before = file.waiters.len();
            file.waiters.retain(|(_, other)| *other != waiter);
            self.waiter_count -= before - file.waiters.len();
        }
    }

    /// Retries the requests that wait for the file, in order of arrival; those that wait for a
    /// break only when no break is in progress any more: one break may have several steps.
    pub fn wake(&mut self, number: InodeNumber) {
        let Some(file) = self.files.get_mut(&number) else {
            return;
        };
        let is_breaking = file.is_breaking();
        let woken = file
            .waiters
            .extract_if(.., |(awaited, _)| *awaited == Awaited::Lock || !is_breaking);
        let woken: Vec<_> = woken.collect();
        self.waiter_count -= woken.len();
        for (_, waiter) in woken {
            self.send(waiter.place, CrossConnectionEvent::Retry(waiter.async_id));
        }
    }

    /// Sets or clears the deletion of the name by which `open` has the file, on close.
    pub fn set_delete_pending(&mut self, number: InodeNumber, open: u64, is_pending: bool) {
        if let Some(file) = self.files.get_mut(&number) {
            file.doomed = file.name_of(open).filter(|_| is_pending).cloned();
        }
    }

    /// Updates the names of opens after a rename.
    pub fn renamed(&mut self, number: InodeNumber, from: &OpenName, to: &OpenName) {
        let Some(file) = self.files.get_mut(&number) else {
            return;
        };
        let names = file.holders.iter_mut().map(|holder| &mut holder.name);
        for name in names.chain(&mut file.doomed) {
            if name == from {
                *name = to.clone();
            }
        }
    }

    /// Returns the files that are open by a name in a directory for which `is_within` returns true.
    pub fn open_within(&self, is_within: impl Fn(InodeNumber) -> bool) -> Vec<InodeNumber> {
        let lies_within = |file: &OpenFile| {
            let mut parents = file.holders.iter().map(|holder| holder.name.parent);
            parents.any(&is_within)
        };
        let files = self.files.iter().filter(|(_, file)| lies_within(file));
        files.map(|(number, _)| *number).collect()
    }
}

#[cfg(test)]
mod tests {
    use filestone_wire::smb2::LeaseState;
    use filestone_wire::smb2::oplock_break::Notification;

    use super::super::caching::{LeaseAsked, OpenConflict, OpenRequest, RequestedCaching};
    use super::*;

    const FILE: InodeNumber = InodeNumber(7);

    fn name(spelt: &str) -> OpenName {
        OpenName {
            parent: InodeNumber(1),
            spelt: spelt.as_bytes().into(),
        }
    }

    fn holder(open: u64, spelt: &str) -> OpenEntry {
        OpenEntry {
            open,
            name: name(spelt),
            place: ConnectionId {
                worker: 0,
                token: open,
            },
            session_id: open,
            access: AccessMask::READ_DATA.with(AccessMask::WRITE_DATA),
            share: ShareAccess(7),
            deletes_on_close: false,
            caching: CacheGrant::None,
        }
    }

    #[test]
    fn of_two_links_the_one_goes_by_which_it_was_asked() {
        let mut open_table = GlobalOpenTable::default();
        open_table.add(FILE, holder(1, "a"));
        open_table.add(FILE, holder(2, "b"));
        open_table.set_delete_pending(FILE, 2, true);
        open_table.renamed(FILE, &name("b"), &name("c"));
        assert_eq!(open_table.close(FILE, 2), None);
        assert_eq!(open_table.close(FILE, 1), Some(name("c")));
        let mut goes = holder(3, "a");
        goes.deletes_on_close = true;
        open_table.add(FILE, goes);
        open_table.add(FILE, holder(4, "c"));
        assert_eq!(open_table.close(FILE, 3), None);
        assert_eq!(open_table.close(FILE, 4), Some(name("a")));
    }

    fn owner(client: u8) -> LeaseOwner {
        LeaseOwner {
            client: [client; 16],
            key: [client; 16],
        }
    }

    fn lease(client: u8, state: LeaseState) -> RequestedCaching {
        RequestedCaching::Lease(LeaseAsked {
            owner: owner(client),
            state,
            epoch: 0,
            has_epoch: false,
        })
    }

    /// Returns the sessions that breaks are sent to, and the remaining state.
    fn breaks(open_table: &mut GlobalOpenTable) -> Vec<(u64, LeaseState)> {
        let letters = open_table.take_letters().into_iter();
        let broken = letters.filter_map(|letter| match letter.notice {
            CrossConnectionEvent::Break {
                notification: Notification::Lease(broken),
                ..
            } => Some((letter.to.token, broken.new_state)),
            _ => None,
        });
        broken.collect()
    }

    #[test]
    fn a_lease_that_is_being_taken_back_is_taken_back_further_afterwards() {
        let (read, handle) = (LeaseState::READ_CACHING, LeaseState::HANDLE_CACHING);
        let mut open_table = GlobalOpenTable::default();
        open_table.add(FILE, holder(1, "a"));
        open_table.grant(FILE, 1, lease(1, read.with(handle)));
        // The same lease on a later connection, which receives the breaks.
        open_table.add(FILE, holder(2, "a"));
        open_table.grant(FILE, 2, lease(1, read.with(handle)));
        open_table.close(FILE, 1);
        open_table.add(FILE, holder(3, "a"));
        let excluding = OpenRequest {
            access: AccessMask::READ_DATA,
            share: ShareAccess(0),
            overwrites: false,
            removes: false,
            lease: None,
        };
        assert_eq!(
            open_table.contend(FILE, &excluding),
            Err(OpenConflict::Wait)
        );
        assert_eq!(breaks(&mut open_table), [(2, read)]);
        // A write before the acknowledgement invalidates data that have been read.
        open_table.changed(FILE, 3);
        assert_eq!(breaks(&mut open_table), []);
        assert_eq!(open_table.acknowledge_lease(owner(1), read), Ok(()));
        assert_eq!(breaks(&mut open_table), [(2, LeaseState::NONE)]);
    }
}
