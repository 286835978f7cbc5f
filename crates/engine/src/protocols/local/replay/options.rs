//! How the local layer works.

use crate::workspace::OnExisting;
use filestone_plan::made::MadeNames;
use std::sync::Arc;

/// How the local layer works. Each field is an option of dbench's, or what that
/// option lacked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalOptions {
    /// Files are opened with O_SYNC (`-s`).
    pub sync: bool,
    /// The parent directory is synchronised after unlink, rmdir and rename (`-S`).
    pub sync_directories: bool,
    /// Each WriteX is followed by fsync (`-F`).
    pub fsync: bool,
    /// Samba's `user.DosAttrib` is read and written beside the files (`-x`).
    pub xattr: bool,
    /// A name that is not there is looked for without regard to case
    /// (off with `--no-resolve`).
    pub resolve: bool,
    /// A WriteX of one byte is not written if that byte is there already, and
    /// extends the file by ftruncate if it is a zero beyond the end.
    pub one_byte_write_fix: bool,
    /// Calls that can be seen to be pointless are not made.
    pub stat_check: bool,
    /// ReadX and WriteX only count their bytes.
    pub fake_io: bool,
    /// Files are opened with O_DIRECT.
    pub direct: bool,
    /// The first client's number in names.
    pub first_number: u32,
    /// What is done where there may be a `clients` already.
    pub occupied: OnExisting,
    /// The names that the run can make in `clients`, which are all that it removes.
    pub made: Arc<MadeNames>,
}

impl Default for LocalOptions {
    fn default() -> Self {
        Self {
            sync: false,
            sync_directories: false,
            fsync: false,
            xattr: false,
            resolve: true,
            one_byte_write_fix: false,
            stat_check: false,
            fake_io: false,
            direct: false,
            first_number: 0,
            occupied: OnExisting::BesideEmpty,
            made: Arc::new(MadeNames::any()),
        }
    }
}
