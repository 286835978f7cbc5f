//! The files and names that a run's operations speak of, by index. What the server knows the
//! files by is the client's: [`Handles`](crate::client::handles::Handles).
//!
//! Filled before the run by whoever looked the files up, then shared by all
//! clients and never changed: an operation carries four bytes, not a path.

use core::ops::Range;
use filestone_workload::operation::{FileId, Name};

/// What an object is, as far as operations care.
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
    /// The word for it in messages and records.
    pub const fn name(self) -> &'static str {
        match self {
            ObjectKind::File => "file",
            ObjectKind::Directory => "directory",
            ObjectKind::SymbolicLink => "symbolic link",
            ObjectKind::Other => "special file",
        }
    }
}

/// One object of the server.
#[derive(Debug, Clone, Copy)]
pub struct FileEntry {
    /// Its length in bytes when it was looked up.
    pub len: u64,
    /// What it is.
    pub kind: ObjectKind,
    /// Whether its data are `wire::pattern`'s, so that they can be verified.
    pub has_pattern: bool,
}

/// The files and names of a run.
#[derive(Debug, Clone, Default)]
pub struct FileTable {
    files: Vec<FileEntry>,
    names: Vec<Box<[u8]>>,
    /// The objects that read-only operations visit.
    pub subjects: Range<u32>,
    /// The directory of the listed names, of listings and of changes.
    pub directory: Option<FileId>,
    /// One file per client, in a directory of our own, for operations that change a file.
    pub own_files: Range<u32>,
}

impl FileTable {
    /// Adds an object.
    pub fn add(&mut self, entry: FileEntry) -> FileId {
        self.files.push(entry);
        FileId(self.files.len() as u32 - 1)
    }

    /// Adds a name.
    pub fn add_name(&mut self, name: &[u8]) -> Name {
        self.names.push(name.into());
        Name::Listed(self.names.len() as u32 - 1)
    }

    /// The object with this index.
    #[inline]
    pub fn file(&self, id: FileId) -> Option<&FileEntry> {
        self.files.get(id.0 as usize)
    }

    /// The object has been written, and is so long now.
    pub fn set_len(&mut self, id: FileId, len: u64) {
        if let Some(entry) = self.files.get_mut(id.0 as usize) {
            entry.len = len;
        }
    }

    /// How many objects there are.
    pub fn len(&self) -> u32 {
        self.files.len() as u32
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// How many names there are.
    pub fn name_count(&self) -> u32 {
        self.names.len() as u32
    }

    /// The bytes of a listed name.
    #[inline]
    pub fn name(&self, index: u32) -> Option<&[u8]> {
        self.names.get(index as usize).map(|name| &**name)
    }

    /// The file that client `client` may change.
    pub fn own_file(&self, client: u32) -> Option<FileId> {
        of_client(&self.own_files, client)
    }

    /// The subject that is client `client`'s, where each has one.
    pub fn subject_of(&self, client: u32) -> Option<FileId> {
        of_client(&self.subjects, client)
    }
}

/// Files are given to clients in turn.
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
        assert_eq!(table.add_name(b"one"), Name::Listed(0));
        assert_eq!(table.add_name(b"two"), Name::Listed(1));
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
