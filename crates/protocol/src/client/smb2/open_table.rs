//! What a client has open on its server, whichever of its slots opened it.
//!
//! What was open over a connection that is gone is gone with it, but for handles that outlive it:
//! they are away until one of the slots has taken them up again.

use super::copy_limits::{CopyLimits, ResumeKey};
use super::open_contexts::OpenContexts;
use filestone_wire::smb2;
use filestone_workload::operation::{FileId, OpenId};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What a client has open.
#[derive(Debug, Default)]
pub struct OpenTable(Mutex<Maps>);

/// By what something open is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OpenKey {
    /// It is held open of this file.
    Held(FileId),
    /// The workload calls it so.
    Open(OpenId),
}

/// Something that is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handle {
    /// The server's name for it.
    pub file_id: smb2::FileId,
    /// Of which file of the run; none of those that do not outlive their connection.
    pub file: Option<FileId>,
    /// By what it is taken up again once its connection is gone.
    pub outlives: Option<OpenContexts>,
}

impl Handle {
    /// What is gone with its connection.
    pub const fn plain(file_id: smb2::FileId) -> Self {
        Self {
            file_id,
            file: None,
            outlives: None,
        }
    }
}

/// What is found under a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandleState {
    /// It is open.
    Open(smb2::FileId),
    /// Its connection is gone: whoever sees that takes it up again, and says how that went.
    Disconnected(Handle),
    /// Another slot is at that, or about to open it.
    Opening,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    handle: Handle,
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
    /// How many connections were lost before the one over which it is open.
    losses: u32,
    /// By what the server knows files that are held as sources of copies.
    keys: HashMap<u32, ResumeKey>,
    /// What the server copies at once, as far as it has said so.
    copy_limits: CopyLimits,
    entries: HashMap<OpenKey, Entry>,
}

impl OpenTable {
    fn maps(&self) -> MutexGuard<'_, Maps> {
        // All slots of a client are on one thread, and nothing can panic while it is held.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is under a key. What is away is this caller's to take up again.
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

    /// What is open under a key, and not away.
    pub fn here(&self, key: OpenKey) -> Option<smb2::FileId> {
        let maps = self.maps();
        let entry = maps.entries.get(&key)?;
        (entry.state == State::Open).then_some(entry.handle.file_id)
    }

    /// Holds a file open; what was held of it already, which stays.
    pub fn hold(&self, file: FileId, handle: Handle) -> Option<smb2::FileId> {
        let (key, mut maps) = (OpenKey::Held(file), self.maps());
        match maps.entries.get(&key) {
            Some(held) if held.state == State::Open => return Some(held.handle.file_id),
            _ => {}
        }
        maps.insert(key, handle, State::Open);
        None
    }

    /// By what the server knows this file as the source of copies.
    pub(super) fn resume_key(&self, file: FileId) -> Option<ResumeKey> {
        self.maps().keys.get(&file.0).copied()
    }

    /// By that, as long as the file is held.
    pub(super) fn keep_resume_key(&self, file: FileId, key: ResumeKey) {
        self.maps().keys.insert(file.0, key);
    }

    /// What the server copies at once.
    pub(super) fn copy_limits(&self) -> CopyLimits {
        self.maps().copy_limits
    }

    /// That from now on, for all slots.
    pub(super) fn limit_copies(&self, limits: CopyLimits) {
        self.maps().copy_limits = limits;
    }

    /// From now on this is under the key.
    pub fn insert(&self, key: OpenKey, handle: Handle) {
        self.maps().insert(key, handle, State::Open);
    }

    /// A slot is about to open it: the others wait for that, or until it is removed.
    pub fn expect(&self, key: OpenKey) {
        let nothing = Handle::plain(smb2::FileId {
            persistent: 0,
            volatile: 0,
        });
        self.maps().insert(key, nothing, State::Opening);
    }

    /// It could not be tried to the end: it is away as before.
    pub fn stays_away(&self, key: OpenKey, handle: Handle) {
        self.maps().insert(key, handle, State::Disconnected);
    }

    /// What is open under a key, which is forgotten.
    pub fn take(&self, key: OpenKey) -> Option<smb2::FileId> {
        let entry = self.maps().entries.remove(&key)?;
        (entry.state == State::Open).then_some(entry.handle.file_id)
    }

    /// Any of the keys under which something is.
    pub fn any(&self) -> Option<OpenKey> {
        self.maps().entries.keys().next().copied()
    }

    /// So many connections are gone: what was open over one of them is away, or gone, too.
    pub fn see_losses(&self, losses: u32) {
        let mut maps = self.maps();
        if maps.losses != losses {
            maps.losses = losses;
            maps.keys.clear();
            maps.entries.retain(|_, entry| {
                entry.state = match entry.state {
                    State::Open => State::Disconnected,
                    // Who is at it hears of the loss, too.
                    other => other,
                };
                entry.state == State::Opening || entry.handle.outlives.is_some()
            });
        }
    }
}

impl Maps {
    fn insert(&mut self, key: OpenKey, handle: Handle, state: State) {
        self.entries.insert(key, Entry { handle, state });
    }
}

#[cfg(test)]
mod tests {
    use super::super::open_contexts::{DurableHandleId, Oplock};
    use super::*;

    const FILE: FileId = FileId(3);
    const KEY: OpenKey = OpenKey::Held(FILE);

    fn handle(number: u64, is_durable: bool) -> Handle {
        Handle {
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
        // The connection is lost once more before that is done.
        opens.see_losses(2);
        opens.stays_away(KEY, durable);
        assert_eq!(opens.lookup(KEY), Some(HandleState::Disconnected(durable)));
        opens.insert(KEY, handle(2, true));
        assert_eq!(opens.take(KEY), Some(handle(2, true).file_id));
        assert_eq!(opens.any(), None);
    }
}
