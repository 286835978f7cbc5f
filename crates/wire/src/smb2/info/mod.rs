//! Information classes of QUERY_INFO, SET_INFO and QUERY_DIRECTORY (MS-FSCC, sections 2.4 and 2.5):
//! those that a workload needs.

mod class;
mod directory;
mod file;
mod file_system;

pub use class::{FileInfoClass, FsInfoClass, InfoClass};
pub use directory::{DirectoryClass, DirectoryWriter, Entries, Entry, ShortName};
pub use file::{
    FileAllocationInformation, FileBasicInformation, FileDispositionInformation,
    FileEndOfFileInformation, FileInternalInformation, FileNetworkOpenInformation,
    FileRenameInformation, FileStandardInformation,
};
pub use file_system::{FileFsFullSizeInformation, FileFsSizeInformation};
