//! Directories read through a buffer that is used again.

use rustix::fd::BorrowedFd;
use rustix::fs::{FileType, RawDir};
use rustix::io::Errno;
use std::ops::ControlFlow;

/// As much as the C library asks for at a time: the number of system calls is
/// part of what is compared.
const BUFFER_BYTES: usize = 32 * 1024;

/// The buffer.
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

    /// Shows each entry, `.` and `..` too, until `visit` breaks off.
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

/// Whether it is the directory itself or its parent.
pub(crate) fn is_dot(name: &[u8]) -> bool {
    name == b"." || name == b".."
}
