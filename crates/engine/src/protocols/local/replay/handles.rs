//! The handles of a load file and the descriptors behind them.

use super::answer::FailedVerb;
use filestone_workload::load::Cause;
use rustix::fd::OwnedFd;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// What a handle stands for.
#[derive(Debug)]
pub(super) struct Handle {
    /// The open file or directory.
    pub file: OwnedFd,
    /// Whether it is a directory, which has no data and no O_DIRECT.
    pub is_directory: bool,
    /// Whether it is the run's own, so that it may be changed.
    pub is_own: bool,
}

/// All handles that one client has open: a few dozen as a rule, thousands if the
/// load wants it.
#[derive(Debug, Default)]
pub(super) struct Handles {
    open: HashMap<u64, Handle, BuildHasherDefault<HandleHasher>>,
}

impl Handles {
    /// From now on `number` is `handle`; what it was before is closed.
    pub fn insert(&mut self, number: u64, handle: Handle) {
        self.open.insert(number, handle);
    }

    /// What it stands for.
    #[inline]
    pub fn find(&self, number: u64) -> Result<&Handle, FailedVerb> {
        self.open.get(&number).ok_or(Cause::UnknownHandle.into())
    }

    /// What it stands for, if the run may change that.
    pub fn find_own(&self, number: u64) -> Result<&Handle, FailedVerb> {
        let handle = self.find(number)?;
        if handle.is_own {
            Ok(handle)
        } else {
            Err(Cause::Denied.into())
        }
    }

    /// Takes it out of the table.
    pub fn take(&mut self, number: u64) -> Result<Handle, FailedVerb> {
        self.open.remove(&number).ok_or(Cause::UnknownHandle.into())
    }

    /// Closes all.
    pub fn clear(&mut self) {
        self.open.clear();
    }
}

/// A hash for numbers of a load file: nobody attacks a benchmark with its own
/// load, and a table lookup stands in each ReadX.
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
        // 2^64 divided by the golden ratio; the high half is folded down because
        // the table uses bits of both ends.
        let product = (self.0 ^ number).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = product ^ (product >> 32);
    }
}
