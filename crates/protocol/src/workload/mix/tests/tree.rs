//! A minimal in-memory file server that decides whether an operation of a mix succeeds.

use crate::workload::{FileEntry, FileTable, ObjectKind};
use filestone_plan::file_set::{ChangingDirectories, ClientSet, FILES_PER_DIRECTORY};
use filestone_wire::nfs3::Status;
use filestone_workload::failure::StatusSpace;
use filestone_workload::operation::{
    DirectoryCursor, FileId, ObjectName, OpKind, Operation, Outcome, ReplyInfo,
};
use std::collections::HashSet;
use std::sync::Arc;

/// Returns the file table and the sets of some clients.
pub(super) fn file_set(
    clients: u32,
    lengths: &[u64],
    links: u32,
    spare_names: u32,
) -> (Arc<FileTable>, Vec<ClientSet>) {
    let mut table = FileTable::default();
    let count = lengths.len() as u32;
    for number in 0..count {
        table.add_name(format!("{number:03}").as_bytes());
    }
    let sets = (0..clients)
        .map(|_| one_set(&mut table, lengths, links, spare_names))
        .collect();
    (Arc::new(table), sets)
}

fn one_set(table: &mut FileTable, lengths: &[u64], links: u32, spare_names: u32) -> ClientSet {
    let mut add = |kind, len| {
        table.add(FileEntry {
            len,
            kind,
            has_pattern: true,
        })
    };
    let root = add(ObjectKind::Directory, 0);
    let count = lengths.len() as u32;
    let mut range = |kind, lengths: &mut dyn Iterator<Item = u64>| {
        let ids: Vec<u32> = lengths.map(|len| add(kind, len).0).collect();
        let first = ids.first().copied().unwrap_or(0);
        first..first + ids.len() as u32
    };
    let directories = count.div_ceil(FILES_PER_DIRECTORY) as usize;
    let directories = range(
        ObjectKind::Directory,
        &mut std::iter::repeat_n(0, directories),
    );
    let files = range(ObjectKind::File, &mut lengths.iter().copied());
    let links = std::iter::repeat_n(3, links as usize);
    let symbolic_links = range(ObjectKind::SymbolicLink, &mut links.into_iter());
    let changing = range(ObjectKind::Directory, &mut std::iter::repeat_n(0, 5));
    let directory = |index| FileId(changing.start + index);
    ClientSet {
        root,
        directories,
        files,
        names: 0..count,
        working_files: count,
        symbolic_links,
        changing: ChangingDirectories {
            created: directory(0),
            links: directory(1),
            symbolic_links: directory(2),
            nodes: directory(3),
            directories: directory(4),
        },
        spare_names,
    }
}

/// The server's state of one client's set.
pub(super) struct Tree {
    table: Arc<FileTable>,
    set: ClientSet,
    /// The changing names: directory, letter and number.
    names: HashSet<(u32, u8, u64)>,
}

impl Tree {
    pub(super) fn new(table: Arc<FileTable>, set: ClientSet) -> Self {
        let changing = [
            (set.changing.created, b'f'),
            (set.changing.links, b'l'),
            (set.changing.symbolic_links, b's'),
            (set.changing.nodes, b'p'),
            (set.changing.directories, b'd'),
        ];
        let spare = u64::from(set.spare_names);
        let names = changing
            .into_iter()
            .flat_map(|(directory, letter)| (0..spare).map(move |n| (directory.0, letter, n)))
            .collect();
        Self { table, set, names }
    }

    /// Returns the number of names in one of the changing directories.
    pub(super) fn count(&self, directory: FileId) -> usize {
        let names = self.names.iter();
        names.filter(|(there, ..)| *there == directory.0).count()
    }

    /// Executes a request according to RFC 1813.
    pub(super) fn apply(&mut self, operation: &Operation) -> (Outcome, ReplyInfo) {
        let answer = match operation {
            Operation::ReadDirectory {
                directory, cursor, ..
            }
            | Operation::ReadDirectoryPlus {
                directory, cursor, ..
            } if self.set.directories.contains(&directory.0) => page(cursor),
            _ => ReplyInfo::Plain,
        };
        let outcome = match self.execute(operation) {
            Ok(()) => Outcome::Ok,
            Err(status) => Outcome::Failed(StatusSpace::Nfs3.failure(status.0)),
        };
        (outcome, answer)
    }

    fn execute(&mut self, operation: &Operation) -> Result<(), Status> {
        let changing = self.set.changing;
        match *operation {
            Operation::Null => Ok(()),
            Operation::GetAttr { file }
            | Operation::SetAttr { file, .. }
            | Operation::Access { file, .. }
            | Operation::Commit { file, .. } => self.data_file(file).map(|_| ()),
            Operation::Read { file, offset, len } => match self.data_file(file)? {
                // Only the end of an empty file is read beyond the end.
                0 => check(offset == 0, Status::INVAL),
                length => check(len > 0 && offset + u64::from(len) <= length, Status::INVAL),
            },
            Operation::Write {
                file, offset, len, ..
            } => {
                let length = self.data_file(file)?;
                check(offset + u64::from(len) <= length, Status::FBIG)
            }
            Operation::Lookup { directory, name } => self.look_up(directory, name),
            Operation::ReadLink { link } => {
                check(self.set.symbolic_links.contains(&link.0), Status::INVAL)
            }
            Operation::ReadDirectory { directory, .. }
            | Operation::ReadDirectoryPlus { directory, .. } => {
                check(self.set.directories.contains(&directory.0), Status::NOTDIR)
            }
            Operation::FileSystemStatus { file }
            | Operation::FileSystemInfo { file }
            | Operation::PathConfiguration { file } => check(file == self.set.root, Status::INVAL),
            // UNCHECKED: an existing file is truncated.
            Operation::Create { directory, name } => {
                self.make(directory, name, changing.created).or(Ok(()))
            }
            Operation::MakeDirectory { directory, name } => {
                self.make(directory, name, changing.directories)
            }
            Operation::MakeSymlink {
                directory, name, ..
            } => self.make(directory, name, changing.symbolic_links),
            Operation::MakeNode { directory, name } => self.make(directory, name, changing.nodes),
            Operation::Link {
                file,
                directory,
                name,
            } => {
                self.data_file(file)?;
                self.make(directory, name, changing.links)
            }
            Operation::Remove { directory, name } => {
                check(directory != changing.directories, Status::ISDIR)?;
                self.take(directory, name)
            }
            Operation::RemoveDirectory { directory, name } => {
                check(directory == changing.directories, Status::NOTDIR)?;
                self.take(directory, name)
            }
            Operation::Rename {
                from_directory,
                from,
                to_directory,
                to,
            } => {
                self.take(from_directory, from)?;
                self.make(to_directory, to, changing.created)
            }
            Operation::Open { .. }
            | Operation::Close { .. }
            | Operation::Lock { .. }
            | Operation::Unlock { .. }
            | Operation::SessionSetup
            | Operation::TreeConnect
            | Operation::Notify { .. }
            | Operation::Copy { .. } => Err(Status::NOTSUPP),
        }
    }

    /// Returns the length of a data file.
    fn data_file(&self, file: FileId) -> Result<u64, Status> {
        check(self.set.files.contains(&file.0), Status::STALE)?;
        self.table
            .file(file)
            .map(|entry| entry.len)
            .ok_or(Status::STALE)
    }

    fn look_up(&self, directory: FileId, name: ObjectName) -> Result<(), Status> {
        let ObjectName::Listed(name) = name else {
            return Err(Status::NOENT);
        };
        let there = directory.0.wrapping_sub(self.set.directories.start);
        let is_there = self.set.names.contains(&name)
            && there == (name - self.set.names.start) / FILES_PER_DIRECTORY;
        check(is_there, Status::NOENT)
    }

    fn make(&mut self, directory: FileId, name: ObjectName, belongs: FileId) -> Result<(), Status> {
        assert_eq!(directory, belongs, "{name:?} is made where it belongs");
        let ObjectName::Numbered { letter, number } = name else {
            return Err(Status::INVAL);
        };
        let is_new = self.names.insert((directory.0, letter, number));
        check(is_new, Status::EXIST)
    }

    fn take(&mut self, directory: FileId, name: ObjectName) -> Result<(), Status> {
        let ObjectName::Numbered { letter, number } = name else {
            return Err(Status::INVAL);
        };
        let was_there = self.names.remove(&(directory.0, letter, number));
        check(was_there, Status::NOENT)
    }
}

fn check(is_so: bool, otherwise: Status) -> Result<(), Status> {
    if is_so { Ok(()) } else { Err(otherwise) }
}

/// Returns a page; three pages form a listing.
fn page(cursor: &DirectoryCursor) -> ReplyInfo {
    let cookie = cursor.cookie + 10;
    let verifier = [7; 8];
    ReplyInfo::Directory {
        cursor: DirectoryCursor {
            cookie,
            verifier,
            ..DirectoryCursor::default()
        },
        end: cookie >= 30,
        excess_bytes: 0,
    }
}

/// Returns the operation without the cookies, which come from the server.
pub(super) fn without_cookies(operation: &Operation) -> Operation {
    let mut operation = *operation;
    if let Operation::ReadDirectory { cursor, .. } | Operation::ReadDirectoryPlus { cursor, .. } =
        &mut operation
    {
        *cursor = DirectoryCursor::default();
    }
    operation
}

/// Returns whether an operation of this kind changes names.
pub(super) fn changes_names(kind: OpKind) -> bool {
    super::needs_to_know(kind) && !matches!(kind, OpKind::ReadDir | OpKind::ReadDirPlus)
}
