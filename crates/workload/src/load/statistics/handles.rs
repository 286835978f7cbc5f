//! Handles: their files, and the ends of their last transfers.

use super::contents::HandleContents;
use super::tree::FileNumber;
use std::collections::BTreeMap;

/// Approximate memory use of an open handle.
const HANDLE_WEIGHT: u64 = 96;

/// An open handle.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TrackedHandle {
    /// The file; `None` for a directory.
    pub file: Option<FileNumber>,
    /// End of the previous read of this handle.
    pub read_end: Option<u64>,
    /// End of the previous write of this handle.
    pub write_end: Option<u64>,
}

/// The open handles.
#[derive(Debug, Default)]
pub(super) struct TrackedHandles {
    open: BTreeMap<u64, TrackedHandle>,
    open_max: u64,
}

impl TrackedHandles {
    /// Opens a handle. Returns its previous state, if it was already open.
    pub fn open(&mut self, handle: u64, file: Option<FileNumber>) -> Option<TrackedHandle> {
        let new = TrackedHandle {
            file,
            ..TrackedHandle::default()
        };
        let before = self.open.insert(handle, new);
        self.open_max = self.open_max.max(self.open.len() as u64);
        before
    }

    pub fn close(&mut self, handle: u64) -> Option<TrackedHandle> {
        self.open.remove(&handle)
    }

    pub fn entry(&mut self, handle: u64) -> Option<&mut TrackedHandle> {
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
