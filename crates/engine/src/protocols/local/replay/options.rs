//! Options of the local layer.

use filestone_plan::made::MadeNames;
use filestone_setup::workspace::test_directory::OnExisting;
use std::sync::Arc;

/// Options of the local layer. Each field corresponds to an option of dbench or extends one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalOptions {
    /// Opens files with O_SYNC (`-s`).
    pub sync: bool,
    /// Syncs the parent directory after unlink, rmdir and rename (`-S`).
    pub sync_directories: bool,
    /// Calls fsync after each WriteX (`-F`).
    pub fsync: bool,
    /// Reads and writes Samba's `user.DosAttrib` of the files (`-x`).
    pub xattr: bool,
    /// Searches missing names case-insensitively (disabled by `--no-resolve`).
    pub resolve: bool,
    /// Omits a WriteX of one byte if the file already has that byte, and extends the file with
    /// ftruncate if it is a zero beyond the end.
    pub one_byte_write_fix: bool,
    /// Omits calls that are known to have no effect.
    pub stat_check: bool,
    /// ReadX and WriteX only count their bytes.
    pub fake_io: bool,
    /// Opens files with O_DIRECT.
    pub direct: bool,
    /// Number of the first client in names.
    pub first_number: u32,
    /// Policy for an existing `clients`.
    pub occupied: OnExisting,
    /// Names that the run can create in `clients`; only these are removed.
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
