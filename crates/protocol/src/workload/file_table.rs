//! Files and names that a run's operations refer to, by index. Server-side identifiers such as file
//! handles are kept by the client: [`ServerHandles`](crate::client::handles::ServerHandles).
//!
//! Filled before the run, when the files are looked up; then shared by all clients and never
//! changed: an operation contains four bytes, not a path.

use core::ops::Range;
use filestone_workload::operation::{FileId, ObjectName};

/// Kind of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    SymbolicLink,
    /// Any other kind.
    Other,
}

impl ObjectKind {
    /// Returns the word for it in messages and records.
    pub const fn name(self) -> &'static str {
        match self {
            ObjectKind::File => "file",
            ObjectKind::Directory => "directory",
            ObjectKind::SymbolicLink => "symbolic link",
            ObjectKind::Other => "special file",
        }
    }
}

/// An object on the server.
#[derive(Debug, Clone, Copy)]
pub struct FileEntry {
    /// Length in bytes at the time of the lookup.
    pub len: u64,
    /// Kind of the object.
    pub kind: ObjectKind,
    /// Whether the data are those of `wire::pattern`, so that they can be verified.
    pub has_pattern: bool,
}

/// The files and names of a run.
#[derive(Debug, Clone, Default)]
pub struct FileTable {
    files: Vec<FileEntry>,
    names: Vec<Box<[u8]>>,
    /// Objects that read-only operations visit.
    pub subjects: Range<u32>,
    /// Directory used for listed names, for listings and for changes.
    pub directory: Option<FileId>,
    /// Files of the clients, one each, in a directory that filestone created, for operations that
    /// modify a file.
    pub own_files: Range<u32>,
}

impl FileTable {
    /// Adds an object.
    pub fn add(&mut self, entry: FileEntry) -> FileId {
        self.files.push(entry);
        FileId(self.files.len() as u32 - 1)
    }

    /// Adds a name.
    pub fn add_name(&mut self, name: &[u8]) -> ObjectName {
        self.names.push(name.into());
        ObjectName::Listed(self.names.len() as u32 - 1)
    }

    /// Returns the object with this index.
    #[inline]
    pub fn file(&self, id: FileId) -> Option<&FileEntry> {
        self.files.get(id.0 as usize)
    }

    /// Sets the length of an object after a write.
    pub fn set_len(&mut self, id: FileId, len: u64) {
        if let Some(entry) = self.files.get_mut(id.0 as usize) {
            entry.len = len;
        }
    }

    /// Returns the number of objects.
    pub fn len(&self) -> u32 {
        self.files.len() as u32
    }

    /// Returns whether there are no objects.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Returns the number of names.
    pub fn name_count(&self) -> u32 {
        self.names.len() as u32
    }

    /// Returns the bytes of a listed name.
    #[inline]
    pub fn name(&self, index: u32) -> Option<&[u8]> {
        self.names.get(index as usize).map(|name| &**name)
    }

    /// Returns the file that client `client` may modify.
    pub fn own_file(&self, client: u32) -> Option<FileId> {
        of_client(&self.own_files, client)
    }

    /// Returns the subject of client `client`, if each client has one.
    pub fn subject_of(&self, client: u32) -> Option<FileId> {
        of_client(&self.subjects, client)
    }
}

/// Assigns files to clients round robin.
fn of_client(files: &Range<u32>, client: u32) -> Option<FileId> {
    let count = files.end.checked_sub(files.start);
    let count = count.filter(|count| *count > 0)?;
    Some(FileId(files.start + client % count))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file() -> FileEntry {
        FileEntry {
            len: 7,
            kind: ObjectKind::File,
            has_pattern: false,
        }
    }

    #[test]
    fn files_and_names_are_found_by_the_index_they_were_given() {
        let mut table = FileTable::default();
        assert!(table.is_empty());
        assert_eq!(table.add(file()), FileId(0));
        assert_eq!(table.add(file()), FileId(1));
        assert_eq!(table.add_name(b"one"), ObjectName::Listed(0));
        assert_eq!(table.add_name(b"two"), ObjectName::Listed(1));
        assert_eq!((table.len(), table.name_count()), (2, 2));
        assert_eq!(table.name(1), Some(&b"two"[..]));
        assert_eq!(table.file(FileId(1)).map(|entry| entry.len), Some(7));
        assert!(table.file(FileId(2)).is_none() && table.name(2).is_none());
    }

    #[test]
    fn every_client_has_a_file_of_its_own_if_there_are_enough() {
        let mut table = FileTable::default();
        assert_eq!(table.own_file(0), None);
        table.own_files = 5..8;
        let own: Vec<_> = (0..4).filter_map(|client| table.own_file(client)).collect();
        assert_eq!(own, [FileId(5), FileId(6), FileId(7), FileId(5)]);
    }
}
