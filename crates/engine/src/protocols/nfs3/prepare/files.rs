//! What has been found of a server's files before a run.

use crate::file_set::SetFiles;
use filestone_protocol::client::handles::Handles;
use filestone_protocol::workload::{FileEntry, FileTable, ObjectKind};
use filestone_wire::nfs3::Handle;
use filestone_workload::operation::FileId;

/// One object of the server.
#[derive(Debug, Clone, Copy)]
pub struct FoundFile {
    /// What the server knows it by.
    pub handle: Handle,
    /// Its length in bytes when it was looked up.
    pub len: u64,
    /// What it is.
    pub kind: ObjectKind,
    /// Whether its data are `wire::pattern`'s, so that they can be verified.
    pub has_pattern: bool,
}

/// The files of a run, and what the server knows them by.
#[derive(Debug, Clone, Default)]
pub struct FoundFiles {
    /// What operations speak of.
    pub table: FileTable,
    /// The handle of each of its files.
    pub handles: Handles<Handle>,
}

impl FoundFiles {
    /// Adds an object.
    pub fn add(&mut self, file: FoundFile) -> FileId {
        self.handles.add(file.handle);
        self.table.add(FileEntry {
            len: file.len,
            kind: file.kind,
            has_pattern: file.has_pattern,
        })
    }
}

impl From<SetFiles<Handle>> for FoundFiles {
    fn from(SetFiles { table, handles }: SetFiles<Handle>) -> Self {
        Self { table, handles }
    }
}
