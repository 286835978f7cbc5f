//! The files, directories and links that a mix works on: what they are called, how long they
//! are, and where a client finds its own.
//!
//! Everything here follows from a [`FileSetPlan`] and a client's
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

mod changing;
mod error;
mod layout;
mod lengths;
mod part;
mod plan;
mod popularity;
mod recipe;
mod sizes_text;

pub use changing::VolatileDirectory;
pub use error::FileSetError;
pub use layout::{
    Layout, Totals, client_directory, client_of, file_name, file_of, files_directory,
    files_directory_of, link_name, link_of,
};
pub use lengths::FileSizeSampler;
pub use part::SetEntry;
pub use plan::{FileSetPlan, FileSizes, Popularity, SizeClass};
pub use popularity::FileSampler;
pub use recipe::FileSetSpec;

use core::ops::Range;
use filestone_workload::operation::FileId;

/// Data files in one directory at most.
pub const FILES_PER_DIRECTORY: u32 = 1000;
/// The longest data file: 1 TiB.
pub const LENGTH_MAX: u64 = 1 << 40;
/// Data files of each client at most.
pub const FILES_MAX: u32 = 10_000_000;
/// Objects of all clients together at most: each takes about a hundred bytes of memory.
pub const OBJECTS_MAX: u64 = 100_000_000;
/// Classes of file sizes at most.
pub const CLASSES_MAX: usize = 64;

/// Where a client finds its part of the set in the `FileTable`.
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
    /// Symbolic links that are always there, in `sym`; none if nothing reads them.
    pub symbolic_links: Range<u32>,
    /// What comes and goes, by kind.
    pub changing: ChangingDirectories,
    /// Names of each kind that are there at the start: in each of the changing directories
    /// `Name::Numbered` with that directory's letter and the numbers `0..spare_names`.
    pub spare_names: u32,
}

/// The directories in which names come and go.
///
/// A directory that no operation of the mix needs is not made, and stands here as the
/// client's own.
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
