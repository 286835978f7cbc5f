//! Emulation of a load file's open handles on an NFS server, which has no open files.

use crate::client::nfs3::sequence::{NfsActionResult, WriteResult};
use crate::client::open_files::OpenedFile;
use filestone_wire::nfs3::write::StableHow;
use filestone_wire::nfs3::{Handle, Verifier};

/// A file or directory that a load file has open.
#[derive(Debug, Clone, Copy)]
pub(super) struct NfsOpenFile {
    /// The file handle.
    pub handle: Handle,
    /// Whether it was opened for reading.
    pub reads: bool,
    /// Whether it may be modified: the run created it, and opened it for writing.
    pub is_own: bool,
    /// Whether writes to it are stable before they are answered.
    pub is_stable: bool,
    /// Verifier of the unstable writes since the last COMMIT.
    uncommitted: Option<Verifier>,
    /// Whether the server restarted between two of these writes.
    is_lost: bool,
}

impl NfsOpenFile {
    /// Creates a newly opened file.
    pub fn new(handle: Handle, is_own: bool) -> Self {
        Self {
            handle,
            reads: true,
            is_own,
            is_stable: false,
            uncommitted: None,
            is_lost: false,
        }
    }

    /// Returns whether there are writes that need a COMMIT.
    pub fn needs_commit(&self) -> bool {
        self.uncommitted.is_some()
    }

    /// Records a write.
    pub fn note(&mut self, written: WriteResult) {
        if written.committed == StableHow::Unstable {
            let first = *self.uncommitted.get_or_insert(written.verifier);
            self.is_lost |= first != written.verifier;
        }
    }

    /// Records a COMMIT. A verifier that differs from the writes' means that the server may have
    /// lost them (RFC 1813, section 3.3.21): a client that cannot send them again reports EIO, and
    /// so does filestone.
    pub fn committed(&mut self, verifier: Verifier) -> NfsActionResult<()> {
        let expected = self.uncommitted.take();
        let is_lost = std::mem::take(&mut self.is_lost);
        if is_lost || expected.is_some_and(|expected| expected != verifier) {
            return Err(filestone_wire::nfs3::Status::IO.into());
        }
        Ok(())
    }
}

impl OpenedFile for NfsOpenFile {
    fn is_own(&self) -> bool {
        self.is_own
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNSTABLE: WriteResult = WriteResult {
        count: 1,
        committed: StableHow::Unstable,
        verifier: [1; 8],
    };

    fn opened() -> NfsOpenFile {
        NfsOpenFile::new(Handle::EMPTY, true)
    }

    #[test]
    fn only_unstable_writes_need_a_commit() {
        let mut file = opened();
        file.note(WriteResult {
            committed: StableHow::FileSync,
            ..UNSTABLE
        });
        assert!(!file.needs_commit());
        file.note(UNSTABLE);
        assert!(file.needs_commit());
        assert!(file.committed([1; 8]).is_ok());
        assert!(!file.needs_commit());
    }

    #[test]
    fn a_server_that_restarted_has_lost_what_was_not_committed() {
        let mut file = opened();
        file.note(UNSTABLE);
        assert!(file.committed([2; 8]).is_err());
        assert!(file.committed([2; 8]).is_ok(), "it is reported once");
        file.note(UNSTABLE);
        file.note(WriteResult {
            verifier: [2; 8],
            ..UNSTABLE
        });
        assert!(file.committed([1; 8]).is_err(), "even if it came back");
    }
}
