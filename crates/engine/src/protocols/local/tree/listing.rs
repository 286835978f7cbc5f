//! Directory listings with a reusable buffer.

use rustix::fd::BorrowedFd;
use rustix::fs::{FileType, RawDir};
use rustix::io::Errno;
use std::ops::ControlFlow;

/// Buffer size of the C library; the number of system calls is part of the comparison.
const BUFFER_BYTES: usize = 32 * 1024;

/// Reusable buffer for directory entries.
#[derive(Debug)]
pub(crate) struct Listing {
    entries: Vec<u8>,
}

impl Listing {
    pub fn new() -> Self {
        Self {
            entries: Vec::with_capacity(BUFFER_BYTES),
        }
    }

    /// Passes each entry, including `.` and `..`, to `visit` until it breaks.
    pub fn read(
        &mut self,
        directory: BorrowedFd<'_>,
        mut visit: impl FnMut(&[u8], FileType) -> ControlFlow<()>,
    ) -> Result<(), Errno> {
        let mut entries = RawDir::new(directory, self.entries.spare_capacity_mut());
        while let Some(entry) = entries.next() {
            let entry = entry?;
            if visit(entry.file_name().to_bytes(), entry.file_type()).is_break() {
                break;
            }
        }
        Ok(())
    }
}

/// Whether the name is the directory itself or its parent.
pub(crate) fn is_dot(name: &[u8]) -> bool {
    name == b"." || name == b".."
}
