//! Handles: which file each stands for, and where its last transfers ended.

use super::contents::HandleContents;
use super::tree::FileNumber;
use std::collections::BTreeMap;

/// What an open handle takes in memory, roughly.
const HANDLE_WEIGHT: u64 = 96;

/// An open handle.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Handle {
    /// `None`: a directory.
    pub file: Option<FileNumber>,
    /// Where the previous read of this handle ended.
    pub read_end: Option<u64>,
    /// Where the previous write of this handle ended.
    pub write_end: Option<u64>,
}

/// All open handles.
#[derive(Debug, Default)]
pub(super) struct Handles {
    open: BTreeMap<u64, Handle>,
    open_max: u64,
}

impl Handles {
    /// Opens a handle; what it stood for until now, if it was open already.
    pub fn open(&mut self, handle: u64, file: Option<FileNumber>) -> Option<Handle> {
        let new = Handle {
            file,
            ..Handle::default()
        };
        let before = self.open.insert(handle, new);
        self.open_max = self.open_max.max(self.open.len() as u64);
        before
    }

    pub fn close(&mut self, handle: u64) -> Option<Handle> {
        self.open.remove(&handle)
    }

    pub fn entry(&mut self, handle: u64) -> Option<&mut Handle> {
        self.open.get_mut(&handle)
    }

    pub fn weight(&self) -> u64 {
        self.open.len() as u64 * HANDLE_WEIGHT
    }

    pub fn finish(&self) -> HandleContents {
        HandleContents {
            open_max: self.open_max,
            left_open: self.open.len() as u64,
        }
    }
}
