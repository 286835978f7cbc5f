//! Open files of a client on its server, shared by all of its slots.
//!
//! Opens of a lost connection are lost with it, except durable handles: they are disconnected until
//! one of the slots has reclaimed them.

use super::copy_limits::{CopyLimits, ResumeKey};
use super::open_contexts::OpenContexts;
use filestone_wire::smb2;
use filestone_workload::operation::{FileId, OpenId};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Open files of a client.
#[derive(Debug, Default)]
pub struct OpenTable(Mutex<Maps>);

/// Key of an open file in the client's open table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OpenKey {
    /// An open of this file that is held between operations.
    Held(FileId),
    /// An open of the workload, with this id.
    Open(OpenId),
}

/// An open file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SmbHandle {
    /// FileId of the server.
    pub file_id: smb2::FileId,
    /// The file of the run; `None` for handles that are not durable.
    pub file: Option<FileId>,
    /// Create contexts for a reclaim after the loss of its connection.
    pub outlives: Option<OpenContexts>,
}

impl SmbHandle {
    /// Creates a handle that is lost with its connection.
    pub const fn plain(file_id: smb2::FileId) -> Self {
        Self {
            file_id,
            file: None,
            outlives: None,
        }
    }
}

/// State of the open that a key refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandleState {
    /// The file is open.
    Open(smb2::FileId),
    /// The connection was lost: the caller must reclaim the handle, and report the result.
    Disconnected(SmbHandle),
    /// Another slot is reclaiming the handle, or about to open the file.
    Opening,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    handle: SmbHandle,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    Disconnected,
    Opening,
}

#[derive(Debug, Default)]
struct Maps {
    /// Number of losses before the current connection.
    losses: u32,
    /// Resume keys of files that are held as sources of copies.
    keys: HashMap<u32, ResumeKey>,
    /// Copy limits of the server, if it has reported them.
    copy_limits: CopyLimits,
    entries: HashMap<OpenKey, Entry>,
}

impl OpenTable {
    fn maps(&self) -> MutexGuard<'_, Maps> {
        // All slots of a client are on one thread, and no code that holds the lock can panic.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the state of a key. A disconnected handle is left to this caller to reclaim.
    pub fn lookup(&self, key: OpenKey) -> Option<HandleState> {
        let mut maps = self.maps();
        let entry = maps.entries.get_mut(&key)?;
        Some(match entry.state {
            State::Open => HandleState::Open(entry.handle.file_id),
            State::Opening => HandleState::Opening,
            State::Disconnected => {
                entry.state = State::Opening;
                HandleState::Disconnected(entry.handle)
            }
        })
    }

    /// Returns the open of a key, unless it is disconnected.
    pub fn here(&self, key: OpenKey) -> Option<smb2::FileId> {
        let maps = self.maps();
        let entry = maps.entries.get(&key)?;
        (entry.state == State::Open).then_some(entry.handle.file_id)
    }

    /// Holds a file open; returns an open already held, which stays.
    pub fn hold(&self, file: FileId, handle: SmbHandle) -> Option<smb2::FileId> {
        let (key, mut maps) = (OpenKey::Held(file), self.maps());
        match maps.entries.get(&key) {
            Some(held) if held.state == State::Open => return Some(held.handle.file_id),
            _ => {}
        }
        maps.insert(key, handle, State::Open);
        None
    }

    /// Returns the resume key of this file as a source of copies.
    pub(super) fn resume_key(&self, file: FileId) -> Option<ResumeKey> {
        self.maps().keys.get(&file.0).copied()
    }

    /// Stores the resume key of a held file.
    pub(super) fn keep_resume_key(&self, file: FileId, key: ResumeKey) {
        self.maps().keys.insert(file.0, key);
    }

    /// Returns the copy limits of the server.
    pub(super) fn copy_limits(&self) -> CopyLimits {
        self.maps().copy_limits
    }

    /// Sets the copy limits for all slots.
    pub(super) fn limit_copies(&self, limits: CopyLimits) {
        self.maps().copy_limits = limits;
    }

    /// Stores an open under the key.
    pub fn insert(&self, key: OpenKey, handle: SmbHandle) {
        self.maps().insert(key, handle, State::Open);
    }

    /// Marks a file that a slot is about to open: other slots wait until it is open or removed.
    pub fn expect(&self, key: OpenKey) {
        let nothing = SmbHandle::plain(smb2::FileId {
            persistent: 0,
            volatile: 0,
        });
        self.maps().insert(key, nothing, State::Opening);
    }

    /// Marks a handle as disconnected again after an unfinished reclaim.
    pub fn stays_away(&self, key: OpenKey, handle: SmbHandle) {
        self.maps().insert(key, handle, State::Disconnected);
    }

    /// Removes the entry of a key; returns its open.
    pub fn take(&self, key: OpenKey) -> Option<smb2::FileId> {
        let entry = self.maps().entries.remove(&key)?;
        (entry.state == State::Open).then_some(entry.handle.file_id)
    }

    /// Returns any key in the table.
    pub fn any(&self) -> Option<OpenKey> {
        self.maps().entries.keys().next().copied()
    }

    /// Handles the current number of losses: opens of a lost connection become disconnected, or are
    /// dropped.
    pub fn see_losses(&self, losses: u32) {
        let mut maps = self.maps();
        if maps.losses != losses {
            maps.losses = losses;
            maps.keys.clear();
            maps.entries.retain(|_, entry| {
                entry.state = match entry.state {
                    State::Open => State::Disconnected,
                    // The slot that works on it sees the loss, too.
                    other => other,
                };
                entry.state == State::Opening || entry.handle.outlives.is_some()
            });
        }
    }
}

impl Maps {
    fn insert(&mut self, key: OpenKey, handle: SmbHandle, state: State) {
        self.entries.insert(key, Entry { handle, state });
    }
}

#[cfg(test)]
mod tests {
    use super::super::open_contexts::{DurableHandleId, Oplock};
    use super::*;

    const FILE: FileId = FileId(3);
    const KEY: OpenKey = OpenKey::Held(FILE);

    fn handle(number: u64, is_durable: bool) -> SmbHandle {
        SmbHandle {
            file_id: smb2::FileId {
                persistent: number,
                volatile: number,
            },
            file: Some(FILE),
            outlives: is_durable.then_some(OpenContexts {
                oplock: Oplock::Batch,
                durability: Some(DurableHandleId::V1),
                reclaims: None,
            }),
        }
    }

    #[test]
    fn what_does_not_outlive_its_connection_is_gone_with_it() {
        let opens = OpenTable::default();
        let plain = handle(1, false);
        assert_eq!(opens.hold(FILE, plain), None);
        assert_eq!(opens.hold(FILE, handle(2, false)), Some(plain.file_id));
        opens.see_losses(0);
        assert_eq!(opens.lookup(KEY), Some(HandleState::Open(plain.file_id)));
        opens.see_losses(1);
        assert_eq!(opens.lookup(KEY), None);
    }

    #[test]
    fn one_slot_takes_up_again_what_outlives_its_connection() {
        let opens = OpenTable::default();
        let durable = handle(1, true);
        opens.insert(KEY, durable);
        opens.see_losses(1);
        assert_eq!(opens.here(KEY), None);
        assert_eq!(opens.lookup(KEY), Some(HandleState::Disconnected(durable)));
        assert_eq!(opens.lookup(KEY), Some(HandleState::Opening));
        // The connection is lost once more before the reclaim is done.
        opens.see_losses(2);
        opens.stays_away(KEY, durable);
        assert_eq!(opens.lookup(KEY), Some(HandleState::Disconnected(durable)));
        opens.insert(KEY, handle(2, true));
        assert_eq!(opens.take(KEY), Some(handle(2, true).file_id));
        assert_eq!(opens.any(), None);
    }
}
