//! Open files of a load by the load file's numbers, and ranges of their data.

use crate::client::call_slot::{ActionError, ActionResult};
use filestone_workload::load::{ActionStatus, Cause};
use std::collections::BTreeMap;

/// A range of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Extent {
    /// Start offset.
    pub offset: u64,
    /// Length in bytes.
    pub len: u64,
}

impl Extent {
    /// Refuses ranges that end beyond the maximum file size.
    pub fn check(self) -> ActionResult<()> {
        match self.offset.checked_add(self.len) {
            Some(_) => Ok(()),
            None => Err(ActionError::refused(Cause::Other)),
        }
    }

    /// Returns the length of the next piece after `done` bytes, at most `most`.
    pub fn piece(self, done: u64, most: u32) -> u32 {
        u32::try_from(self.len.saturating_sub(done)).map_or(most, |left| left.min(most))
    }
}

/// Returns the status of a transfer of `got` bytes.
pub fn transferred(expected: u64, got: u64) -> ActionStatus {
    if expected == got {
        ActionStatus::Ok
    } else {
        ActionStatus::WrongLength { expected, got }
    }
}

/// An open file or directory.
pub(super) trait OpenedFile {
    /// Returns whether it belongs to the run, so that it may be modified.
    fn is_own(&self) -> bool;
}

/// Open files by their numbers in the load file. Only a few are open at a time: comparisons are
/// faster than a hash.
#[derive(Debug)]
pub(super) struct OpenFiles<F>(BTreeMap<u64, F>);

impl<F> Default for OpenFiles<F> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<F: OpenedFile> OpenFiles<F> {
    /// Adds an open file under this number; returns the previous one: a trace that reuses a number
    /// has lost its Close.
    pub fn insert(&mut self, number: u64, file: F) -> Option<F> {
        self.0.insert(number, file)
    }

    /// Returns an open file.
    pub fn find(&mut self, number: u64) -> ActionResult<&mut F> {
        let unknown = || ActionError::refused(Cause::UnknownHandle);
        self.0.get_mut(&number).ok_or_else(unknown)
    }

    /// Returns an open file that the run may modify.
    pub fn find_own(&mut self, number: u64) -> ActionResult<&mut F> {
        let file = self.find(number)?;
        if file.is_own() {
            Ok(file)
        } else {
            Err(ActionError::refused(Cause::Denied))
        }
    }

    /// Returns an open file, if there is one with this number.
    pub fn get(&self, number: u64) -> Option<&F> {
        self.0.get(&number)
    }

    /// Returns the numbers of all open files.
    pub fn numbers(&self) -> Vec<u64> {
        self.0.keys().copied().collect()
    }

    /// Removes one file.
    pub fn remove(&mut self, number: u64) -> ActionResult<F> {
        let unknown = || ActionError::refused(Cause::UnknownHandle);
        self.0.remove(&number).ok_or_else(unknown)
    }

    /// Removes all files.
    pub fn take_all(&mut self) -> Vec<F> {
        std::mem::take(&mut self.0).into_values().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_is_no_longer_than_the_server_takes_nor_than_what_is_left() {
        let piece = |len, done| Extent { offset: 0, len }.piece(done, 64);
        assert_eq!(piece(100, 0), 64);
        assert_eq!(piece(100, 64), 36);
        assert_eq!(piece(u64::MAX, 0), 64);
        assert_eq!(piece(0, 0), 0);
    }
}
