//! What a client has open on its server, whichever of its slots opened it.

use super::copy_limits::{CopyLimits, ResumeKey};
use crate::operation::{FileId, OpenId};
use filestone_wire::smb2;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What a client has open.
#[derive(Debug, Default)]
pub struct Opens(Mutex<Maps>);

#[derive(Debug, Default)]
struct Maps {
    /// How many connections were lost before the one over which it is open.
    losses: u32,
    held: HashMap<u32, smb2::FileId>,
    opens: HashMap<u32, smb2::FileId>,
    /// By what the server knows files that are held as sources of copies.
    keys: HashMap<u32, ResumeKey>,
    /// What the server copies at once, as far as it has said so.
    copy_limits: CopyLimits,
}

impl Opens {
    fn maps(&self) -> MutexGuard<'_, Maps> {
        // All slots of a client are on one thread, and nothing can panic while it is held.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is held open of a file.
    pub fn held(&self, file: FileId) -> Option<smb2::FileId> {
        self.maps().held.get(&file.0).copied()
    }

    /// Holds a file open; what was held of it already, which stays.
    pub fn hold(&self, file: FileId, open: smb2::FileId) -> Option<smb2::FileId> {
        let mut maps = self.maps();
        if let Some(held) = maps.held.get(&file.0) {
            return Some(*held);
        }
        maps.held.insert(file.0, open);
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

    /// What the workload calls `open` from now on.
    pub fn insert_open(&self, open: OpenId, file_id: smb2::FileId) {
        self.maps().opens.insert(open.0, file_id);
    }

    /// What the workload calls so.
    pub fn open(&self, open: OpenId) -> Option<smb2::FileId> {
        self.maps().opens.get(&open.0).copied()
    }

    /// The same, which is not called so any more.
    pub fn take_open(&self, open: OpenId) -> Option<smb2::FileId> {
        self.maps().opens.remove(&open.0)
    }

    /// Any of all that is open, which is forgotten.
    pub fn take_any(&self) -> Option<smb2::FileId> {
        let mut maps = self.maps();
        if let Some(file) = maps.held.keys().next().copied() {
            return maps.held.remove(&file);
        }
        let open = maps.opens.keys().next().copied()?;
        maps.opens.remove(&open)
    }

    /// So many connections are gone: what was open over one of them is, too.
    pub fn see_losses(&self, losses: u32) {
        let mut maps = self.maps();
        if maps.losses != losses {
            maps.losses = losses;
            maps.held.clear();
            maps.opens.clear();
            maps.keys.clear();
        }
    }
}
