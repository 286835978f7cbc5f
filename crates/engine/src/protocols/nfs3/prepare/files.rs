//! Files found on a server before a run.

use crate::file_set::SetFiles;
use filestone_protocol::client::handles::Handles;
use filestone_protocol::workload::{FileEntry, FileTable, ObjectKind};
use filestone_wire::nfs3::Handle;
use filestone_workload::operation::FileId;

/// An object on the server.
#[derive(Debug, Clone, Copy)]
pub struct FoundFile {
    /// File handle.
    pub handle: Handle,
    /// Length in bytes at the time of the lookup.
    pub len: u64,
    /// Type of the object.
    pub kind: ObjectKind,
    /// Whether the data match `wire::pattern`, so that they can be verified.
    pub has_pattern: bool,
}

/// The files of a run with their handles.
#[derive(Debug, Clone, Default)]
pub struct FoundFiles {
    /// Table of the files that operations refer to.
    pub table: FileTable,
    /// Handle of each file in the table.
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
