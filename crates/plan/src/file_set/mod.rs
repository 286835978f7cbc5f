//! The files, directories and links that a mix works on: names, lengths, and the position of each
//! client's part.
//!
//! Everything here depends only on a [`FileSetPlan`] and a client's number, so that a later run
//! finds and verifies a set of an earlier run. The engine creates the set.
//!
//! ```text
//! TARGET/<name of the set>/made-by-filestone      marker file: owner, specification, current user
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
    FileSetTotals, Layout, client_directory, client_of, file_name, file_of, files_directory,
    files_directory_of, link_name, link_of,
};
pub use lengths::FileSizeSampler;
pub use part::SetEntry;
pub use plan::{FileSetPlan, FileSizes, Popularity, SizeClass};
pub use popularity::FileSampler;
pub use recipe::FileSetSpec;

use core::ops::Range;
use filestone_workload::operation::FileId;

/// Maximum number of data files in one directory.
pub const FILES_PER_DIRECTORY: u32 = 1000;
/// Maximum length of a data file: 1 TiB.
pub const LENGTH_MAX: u64 = 1 << 40;
/// Maximum number of data files of each client.
pub const FILES_MAX: u32 = 10_000_000;
/// Maximum number of objects of all clients together: each needs about a hundred bytes of memory.
pub const OBJECTS_MAX: u64 = 100_000_000;
/// Maximum number of classes of file sizes.
pub const CLASSES_MAX: usize = 64;

/// Position of a client's part of the set in the `FileTable`.
///
/// Data file `k` of the client is file `files.start + k` of the table, has the listed name
/// `names.start + k` of the table, and is in the directory
/// `directories.start + k / FILES_PER_DIRECTORY`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientSet {
    /// The client's directory.
    pub root: FileId,
    /// The directories of the data files.
    pub directories: Range<u32>,
    /// The data files.
    pub files: Range<u32>,
    /// Names of the data files, the same for all clients.
    pub names: Range<u32>,
    /// Number of data files in the working set, which are the first ones.
    pub working_files: u32,
    /// Permanent symbolic links, in `sym`; empty if no operation reads them.
    pub symbolic_links: Range<u32>,
    /// The directories with changing names, by kind.
    pub changing: ChangingDirectories,
    /// Number of names of each kind at the start: in each of the changing directories
    /// `ObjectName::Numbered` with that directory's letter and the numbers `0..spare_names`.
    pub spare_names: u32,
}

/// The directories with names that operations create and remove.
///
/// A directory that no operation of the mix needs is not created; its field then refers to the
/// client's directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChangingDirectories {
    /// `new`: files created by CREATE. Letter `f`.
    pub created: FileId,
    /// `lin`: hard links to data files. Letter `l`.
    pub links: FileId,
    /// `sym`: symbolic links created by SYMLINK. Letter `s`.
    pub symbolic_links: FileId,
    /// `nod`: pipes created by MKNOD. Letter `p`.
    pub nodes: FileId,
    /// `dir`: directories created by MKDIR. Letter `d`.
    pub directories: FileId,
}
