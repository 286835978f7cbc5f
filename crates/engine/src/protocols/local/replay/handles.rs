//! Handles of a load file and their descriptors.

use super::answer::FailedVerb;
use filestone_workload::load::Cause;
use rustix::fd::OwnedFd;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Object of a handle.
#[derive(Debug)]
pub(super) struct LocalHandle {
    /// The open file or directory.
    pub file: OwnedFd,
    /// Whether it is a directory, which has no data and no O_DIRECT.
    pub is_directory: bool,
    /// Whether it belongs to the run, so that it may be changed.
    pub is_own: bool,
}

/// All open handles of one client: usually a few dozen, thousands if the load needs them.
#[derive(Debug, Default)]
pub(super) struct OpenHandles {
    open: HashMap<u64, LocalHandle, BuildHasherDefault<HandleHasher>>,
}

impl OpenHandles {
    /// Assigns `handle` to `number`; an earlier handle is closed.
    pub fn insert(&mut self, number: u64, handle: LocalHandle) {
        self.open.insert(number, handle);
    }

    /// Returns the object of a handle.
    #[inline]
    pub fn find(&self, number: u64) -> Result<&LocalHandle, FailedVerb> {
        self.open.get(&number).ok_or(Cause::UnknownHandle.into())
    }

    /// Returns the object of a handle if the run may change it.
    pub fn find_own(&self, number: u64) -> Result<&LocalHandle, FailedVerb> {
        let handle = self.find(number)?;
        if handle.is_own {
            Ok(handle)
        } else {
            Err(Cause::Denied.into())
        }
    }

    /// Removes a handle from the table.
    pub fn take(&mut self, number: u64) -> Result<LocalHandle, FailedVerb> {
        self.open.remove(&number).ok_or(Cause::UnknownHandle.into())
    }

    /// Closes all handles.
    pub fn clear(&mut self) {
        self.open.clear();
    }
}

/// Hash for the numbers of a load file. Every ReadX needs a table lookup, and protection against
/// collision attacks is not needed for the user's own load.
#[derive(Debug, Default)]
pub(super) struct HandleHasher(u64);

impl Hasher for HandleHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        // 2^64 divided by the golden ratio; the high half is folded down because the table uses
        // bits of both ends.
        let product = (self.0 ^ number).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = product ^ (product >> 32);
    }
}
