//! The files, directories and links that a mix works on: what they are called, how long they
//! are, and where a client finds its own.
//!
//! Everything here follows from a [`FileSetPlan`](crate::plan::FileSetPlan) and a client's
//! number alone, so that a set made by one run is found again, and checked, by the next.
//! Making it is the engine's.
//!
//! ```text
//! TARGET/<name of the set>/made-by-filestone      whose it is, of what recipe, in use by whom
//!                          client0000/            FSSTAT, FSINFO, PATHCONF
//!                            files0/ files1/ …    data files: LOOKUP, GETATTR, READ, WRITE, …
//!                            sym/                 symbolic links: READLINK, SYMLINK
//!                            new/                 CREATE, REMOVE, RENAME
//!                            lin/ dir/ nod/       LINK, MKDIR and RMDIR, MKNOD
//! ```

use crate::operation::FileId;
use core::ops::Range;

/// Data files in one directory at most.
pub const FILES_PER_DIRECTORY: u32 = 1000;

/// Where a client finds its part of the set in the [`FileTable`](crate::workload::FileTable).
///
/// Data file `k` of the client is the table's file `files.start + k`, is called by the table's
/// listed name `names.start + k`, and is in the directory
/// `directories.start + k / FILES_PER_DIRECTORY`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientSet {
    /// The client's own directory.
    pub root: FileId,
    /// The directories that the data files are in.
    pub directories: Range<u32>,
    /// The data files.
    pub files: Range<u32>,
    /// Their names: the same for all clients.
    pub names: Range<u32>,
    /// How many of the data files, from the first one on, are worked on.
    pub working_files: u32,
    /// Symbolic links that are always there, in `sym`.
    pub symbolic_links: Range<u32>,
    /// What comes and goes, by kind.
    pub changing: ChangingDirectories,
    /// Names of each kind that are there at the start: in each of the changing directories
    /// `Name::Numbered` with that directory's letter and the numbers `0..spare_names`.
    pub spare_names: u32,
}

/// The directories in which names come and go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChangingDirectories {
    /// `new`: files made by CREATE. Letter `f`.
    pub created: FileId,
    /// `lin`: hard links to data files. Letter `l`.
    pub links: FileId,
    /// `sym`: symbolic links made by SYMLINK. Letter `s`.
    pub symbolic_links: FileId,
    /// `nod`: pipes made by MKNOD. Letter `p`.
    pub nodes: FileId,
    /// `dir`: directories made by MKDIR. Letter `d`.
    pub directories: FileId,
}
