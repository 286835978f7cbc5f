//! The operation of one line of a load file, with all names and numbers computed.
//!
//! Names are relative to the directory under test, have no empty, `.` or `..` component and no
//! leading slash; the directory itself is the empty name. They already contain the client's number.

use crate::operation::{OpKind, Stability};

/// The actions that only NFS loads have, as a pattern: a match on the others names them with it,
/// and still has no `_` arm.
#[macro_export]
macro_rules! only_in_nfs_loads {
    () => {
        $crate::load::Action::GetAttr { .. }
            | $crate::load::Action::SetAttr { .. }
            | $crate::load::Action::Lookup { .. }
            | $crate::load::Action::Access { .. }
            | $crate::load::Action::ReadLink { .. }
            | $crate::load::Action::Read { .. }
            | $crate::load::Action::Write { .. }
            | $crate::load::Action::Create { .. }
            | $crate::load::Action::Symlink { .. }
            | $crate::load::Action::Link { .. }
            | $crate::load::Action::Remove { .. }
            | $crate::load::Action::FileSystemStatus
            | $crate::load::Action::FileSystemInfo
            | $crate::load::Action::PathConfiguration { .. }
            | $crate::load::Action::Commit { .. }
            | $crate::load::Action::Lock4 { .. }
            | $crate::load::Action::Unlock4 { .. }
            | $crate::load::Action::Test4 { .. }
    };
}

/// The operation of one line for a layer. Matches on it have no `_` arm: a new verb breaks the
/// build of every layer until the layer implements it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action<'a> {
    // CIFS-style loads: dbench 2 to 5, smbtorture; dbench 1 is mapped to them.
    /// SMB_COM_NT_CREATE_ANDX: opens or creates `path` as `handle`.
    NtCreateX {
        /// Path of the file.
        path: &'a [u8],
        /// CreateOptions; bit 0x1 requests a directory (MS-CIFS 2.2.4.64.1).
        options: u64,
        /// Action if the file exists or does not exist.
        disposition: Disposition,
        /// Handle in later lines.
        handle: u64,
    },
    /// OPEN of dbench's smb backend: a file, never a directory.
    Open {
        /// Path of the file.
        path: &'a [u8],
        /// Access, and action if the file exists or does not exist.
        mode: OpenMode,
        /// Handle in later lines.
        handle: u64,
    },
    /// dbench 1's SMBopenX: opens `path`, creates it if it does not exist, and sets the length that
    /// the trace reported.
    OpenX {
        /// Path of the file.
        path: &'a [u8],
        /// Length of the file afterwards: extended or truncated to it.
        len: u64,
        /// Handle in later lines.
        handle: u64,
    },
    /// SMB_COM_CLOSE.
    Close {
        /// An open handle.
        handle: u64,
    },
    /// SMB_COM_READ_ANDX.
    ReadX {
        /// An open handle.
        handle: u64,
        /// Offset in bytes.
        offset: u64,
        /// Number of bytes requested.
        len: u64,
        /// Number of bytes returned according to the load file.
        expected_len: u64,
    },
    /// SMB_COM_WRITE_ANDX.
    WriteX {
        /// An open handle.
        handle: u64,
        /// Offset in bytes.
        offset: u64,
        /// Number of bytes.
        len: u64,
        /// Number of bytes written according to the load file.
        expected_len: u64,
    },
    /// SMB_COM_FLUSH.
    Flush {
        /// An open handle.
        handle: u64,
    },
    /// SMB_COM_LOCKING_ANDX: an exclusive byte-range lock, which fails immediately if it is not
    /// available.
    LockX {
        /// An open handle.
        handle: u64,
        /// Offset of the first byte.
        offset: u64,
        /// Number of bytes.
        len: u64,
    },
    /// SMB_COM_LOCKING_ANDX: unlocks the same range.
    UnlockX {
        /// An open handle.
        handle: u64,
        /// Offset of the first byte.
        offset: u64,
        /// Number of bytes.
        len: u64,
    },
    /// SMB_COM_DELETE.
    Unlink {
        /// Path of the file.
        path: &'a [u8],
    },
    /// Creates a directory (CIFS and MKDIR3).
    Mkdir {
        /// Path of the directory.
        path: &'a [u8],
    },
    /// Removes an empty directory (CIFS and RMDIR3).
    Rmdir {
        /// Path of the directory.
        path: &'a [u8],
    },
    /// Renames an object (CIFS and RENAME3).
    Rename {
        /// The old path.
        from: &'a [u8],
        /// The new path.
        to: &'a [u8],
    },
    /// Removes a whole tree; succeeds if it does not exist.
    Deltree {
        /// Root of the tree, which is also removed.
        path: &'a [u8],
    },
    /// TRANS2_FIND_FIRST2: names that match the last component of `pattern`.
    FindFirst {
        /// Directory and pattern; `* ? < > "` are wildcards (MS-FSCC 2.1.4).
        pattern: &'a [u8],
        /// Information level.
        level: u64,
        /// Maximum number of entries.
        max: u64,
        /// Number of entries returned according to the load file.
        expected: u64,
    },
    /// TRANS2_QUERY_PATH_INFORMATION; dbench 1's SMBgetatr.
    QueryPathInformation {
        /// Path of the file.
        path: &'a [u8],
        /// Information level.
        level: u64,
    },
    /// TRANS2_QUERY_FILE_INFORMATION.
    QueryFileInformation {
        /// An open handle.
        handle: u64,
        /// Information level.
        level: u64,
    },
    /// TRANS2_SET_FILE_INFORMATION.
    SetFileInformation {
        /// An open handle.
        handle: u64,
        /// Information level.
        level: u64,
    },
    /// TRANS2_QUERY_FS_INFORMATION.
    QueryFsInformation {
        /// Information level.
        level: u64,
    },
    /// READDIRPLUS3, and READDIR of dbench's smb backend: to the end of the directory.
    ReadDirectoryPlus {
        /// Path of the directory.
        path: &'a [u8],
    },
    // NFS loads: dbench 4 (git) and 5. Files are named by path.
    /// GETATTR3.
    GetAttr {
        /// Path of the file.
        path: &'a [u8],
    },
    /// SETATTR3: sets the modification time to the server's time.
    SetAttr {
        /// Path of the file.
        path: &'a [u8],
    },
    /// LOOKUP3.
    Lookup {
        /// Path of the file.
        path: &'a [u8],
    },
    /// ACCESS3.
    Access {
        /// Path of the file.
        path: &'a [u8],
        /// Requested permission bits (RFC 1813 section 3.3.4).
        wanted: u64,
        /// Permission bits granted according to the load file.
        granted: u64,
    },
    /// READLINK3.
    ReadLink {
        /// Path of the symbolic link.
        path: &'a [u8],
    },
    /// READ3.
    Read {
        /// Path of the file.
        path: &'a [u8],
        /// Offset in bytes.
        offset: u64,
        /// Number of bytes.
        len: u64,
    },
    /// WRITE3.
    Write {
        /// Path of the file.
        path: &'a [u8],
        /// Offset in bytes.
        offset: u64,
        /// Number of bytes.
        len: u64,
        /// Stability level.
        stability: Stability,
    },
    /// CREATE3, UNCHECKED.
    Create {
        /// Path of the file.
        path: &'a [u8],
    },
    /// SYMLINK3.
    Symlink {
        /// Path of the new link.
        path: &'a [u8],
        /// Target of the link, as in the load file.
        target: &'a [u8],
    },
    /// LINK3.
    Link {
        /// The new path.
        path: &'a [u8],
        /// Path of the existing file.
        existing: &'a [u8],
    },
    /// REMOVE3.
    Remove {
        /// Path of the file.
        path: &'a [u8],
    },
    /// FSSTAT3 of the root.
    FileSystemStatus,
    /// FSINFO3 of the root.
    FileSystemInfo,
    /// PATHCONF3.
    PathConfiguration {
        /// Path of the file.
        path: &'a [u8],
    },
    /// COMMIT3 of the whole file.
    Commit {
        /// Path of the file.
        path: &'a [u8],
    },
    /// NLMPROC4_LOCK, exclusive, not blocking.
    Lock4 {
        /// Path of the file.
        path: &'a [u8],
        /// Offset of the first byte.
        offset: u64,
        /// Number of bytes.
        len: u64,
    },
    /// NLMPROC4_UNLOCK.
    Unlock4 {
        /// Path of the file.
        path: &'a [u8],
        /// Offset of the first byte.
        offset: u64,
        /// Number of bytes.
        len: u64,
    },
    /// NLMPROC4_TEST.
    Test4 {
        /// Path of the file.
        path: &'a [u8],
        /// Offset of the first byte.
        offset: u64,
        /// Number of bytes.
        len: u64,
    },
}

/// CreateDisposition (MS-CIFS 2.2.4.64.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Disposition {
    /// FILE_SUPERSEDE (0).
    Supersede,
    /// FILE_OPEN (1): fails if the file does not exist.
    Open,
    /// FILE_OPEN in a read-only run, whatever the load file contains: only read access is
    /// requested.
    OpenToRead,
    /// FILE_CREATE (2): fails if the file exists. dbench does not let it fail, and its load file
    /// relies on that: layers create or open.
    Create,
    /// FILE_OPEN_IF (3): creates the file if it does not exist.
    OpenIf,
    /// FILE_OVERWRITE (4): truncates the file; fails if it does not exist.
    Overwrite,
    /// FILE_OVERWRITE_IF (5): truncates or creates the file.
    OverwriteIf,
}

impl Disposition {
    /// Returns the disposition with this number in the standard.
    pub const fn from_number(number: u64) -> Option<Self> {
        Some(match number {
            0 => Disposition::Supersede,
            1 => Disposition::Open,
            2 => Disposition::Create,
            3 => Disposition::OpenIf,
            4 => Disposition::Overwrite,
            5 => Disposition::OverwriteIf,
            _ => return None,
        })
    }
}

/// Access mode of an open by path, and action if the file exists or does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenMode {
    /// Whether read access is requested.
    pub reads: bool,
    /// Whether write access is requested.
    pub writes: bool,
    /// Whether the file is created if it does not exist.
    pub creates: bool,
    /// Whether the open fails if the file exists.
    pub is_exclusive: bool,
    /// Whether an existing file is truncated.
    pub cuts: bool,
    /// Whether writes are stable before the server replies.
    pub is_stable: bool,
}

impl OpenMode {
    /// Opens for reading without changes.
    pub const READING: Self = Self {
        reads: true,
        writes: false,
        creates: false,
        is_exclusive: false,
        cuts: false,
        is_stable: false,
    };

    /// Parses the flags of an OPEN line: 0x1 read, 0x2 write, 0x4 both, 0x8 create, 0x10 exclusive,
    /// 0x20 truncate, 0x40 append. libsmbclient combines the first three as C's O_RDONLY (0),
    /// O_WRONLY (1) and O_RDWR (2), so 0x2 with 0x4 opens for reading; append only affects the file
    /// position, which every line that reads or writes contains.
    pub(super) fn from_flags(flags: u64) -> Result<Self, String> {
        const ALL: u64 = 0x7f;
        if flags & !ALL != 0 {
            return Err(format!("flags {flags:#x} have bits that none of 0x7f are"));
        }
        let has = |bit: u64| flags & bit != 0;
        let (one_way, both_ways) = (has(0x2), has(0x4));
        let (creates, is_exclusive) = (has(0x8), has(0x10));
        if is_exclusive && !creates {
            return Err("0x10, exclusive, means nothing without 0x8, create".to_owned());
        }
        Ok(Self {
            reads: both_ways || !one_way,
            writes: one_way != both_ways,
            creates,
            is_exclusive,
            cuts: has(0x20) && !is_exclusive,
            is_stable: false,
        })
    }
}

/// Bit of CreateOptions that requests a directory (FILE_DIRECTORY_FILE).
pub const OPTION_DIRECTORY: u64 = 0x1;
/// Bit of CreateOptions that removes the file on close (FILE_DELETE_ON_CLOSE).
const OPTION_DELETE_ON_CLOSE: u64 = 0x1000;

impl<'a> Action<'a> {
    /// Returns the action with other names, each computed from the original one, in order.
    #[rustfmt::skip]
    pub fn map_names<'n>(self, mut name: impl FnMut(&'a [u8]) -> &'n [u8]) -> Action<'n> {
        match self {
            Action::NtCreateX { path, options, disposition, handle } => Action::NtCreateX { path: name(path), options, disposition, handle },
            Action::Open { path, mode, handle } => Action::Open { path: name(path), mode, handle },
            Action::OpenX { path, len, handle } => Action::OpenX { path: name(path), len, handle },
            Action::Close { handle } => Action::Close { handle },
            Action::ReadX { handle, offset, len, expected_len } => Action::ReadX { handle, offset, len, expected_len },
            Action::WriteX { handle, offset, len, expected_len } => Action::WriteX { handle, offset, len, expected_len },
            Action::Flush { handle } => Action::Flush { handle },
            Action::LockX { handle, offset, len } => Action::LockX { handle, offset, len },
            Action::UnlockX { handle, offset, len } => Action::UnlockX { handle, offset, len },
            Action::Unlink { path } => Action::Unlink { path: name(path) },
            Action::Mkdir { path } => Action::Mkdir { path: name(path) },
            Action::Rmdir { path } => Action::Rmdir { path: name(path) },
            Action::Rename { from, to } => Action::Rename { from: name(from), to: name(to) },
            Action::Deltree { path } => Action::Deltree { path: name(path) },
            Action::FindFirst { pattern, level, max, expected } => Action::FindFirst { pattern: name(pattern), level, max, expected },
            Action::QueryPathInformation { path, level } => Action::QueryPathInformation { path: name(path), level },
            Action::QueryFileInformation { handle, level } => Action::QueryFileInformation { handle, level },
            Action::SetFileInformation { handle, level } => Action::SetFileInformation { handle, level },
            Action::QueryFsInformation { level } => Action::QueryFsInformation { level },
            Action::GetAttr { path } => Action::GetAttr { path: name(path) },
            Action::SetAttr { path } => Action::SetAttr { path: name(path) },
            Action::Lookup { path } => Action::Lookup { path: name(path) },
            Action::Access { path, wanted, granted } => Action::Access { path: name(path), wanted, granted },
            Action::ReadLink { path } => Action::ReadLink { path: name(path) },
            Action::Read { path, offset, len } => Action::Read { path: name(path), offset, len },
            Action::Write { path, offset, len, stability } => Action::Write { path: name(path), offset, len, stability },
            Action::Create { path } => Action::Create { path: name(path) },
            Action::Symlink { path, target } => Action::Symlink { path: name(path), target: name(target) },
            Action::Link { path, existing } => Action::Link { path: name(path), existing: name(existing) },
            Action::Remove { path } => Action::Remove { path: name(path) },
            Action::ReadDirectoryPlus { path } => Action::ReadDirectoryPlus { path: name(path) },
            Action::FileSystemStatus => Action::FileSystemStatus,
            Action::FileSystemInfo => Action::FileSystemInfo,
            Action::PathConfiguration { path } => Action::PathConfiguration { path: name(path) },
            Action::Commit { path } => Action::Commit { path: name(path) },
            Action::Lock4 { path, offset, len } => Action::Lock4 { path: name(path), offset, len },
            Action::Unlock4 { path, offset, len } => Action::Unlock4 { path: name(path), offset, len },
            Action::Test4 { path, offset, len } => Action::Test4 { path: name(path), offset, len },
        }
    }
}

impl Action<'_> {
    /// Returns the action with reads and writes limited to `limit` bytes (--trunc-io).
    pub fn truncated(self, limit: u64) -> Self {
        match self {
            Action::ReadX {
                handle,
                offset,
                len,
                expected_len,
            } => Action::ReadX {
                handle,
                offset,
                len: len.min(limit),
                expected_len: expected_len.min(limit),
            },
            Action::WriteX {
                handle,
                offset,
                len,
                expected_len,
            } => Action::WriteX {
                handle,
                offset,
                len: len.min(limit),
                expected_len: expected_len.min(limit),
            },
            Action::Read { path, offset, len } => Action::Read {
                path,
                offset,
                len: len.min(limit),
            },
            Action::Write {
                path,
                offset,
                len,
                stability,
            } => Action::Write {
                path,
                offset,
                len: len.min(limit),
                stability,
            },
            other => other,
        }
    }

    /// Returns the action for a read-only run (--read-only): opens require an existing file, and do
    /// not change it.
    pub fn reading(self) -> Self {
        match self {
            Action::NtCreateX {
                path,
                options,
                disposition: _,
                handle,
            } => Action::NtCreateX {
                path,
                options: options & !OPTION_DELETE_ON_CLOSE,
                disposition: Disposition::OpenToRead,
                handle,
            },
            Action::Open {
                path,
                mode: _,
                handle,
            } => Action::Open {
                path,
                mode: OpenMode::READING,
                handle,
            },
            other => other,
        }
    }

    /// Returns the kind for counting.
    pub const fn kind(&self) -> OpKind {
        match self {
            Action::NtCreateX { .. } | Action::Open { .. } => OpKind::NtCreateX,
            Action::OpenX { .. } => OpKind::OpenX,
            Action::Close { .. } => OpKind::Close,
            Action::ReadX { .. } => OpKind::ReadX,
            Action::WriteX { .. } => OpKind::WriteX,
            Action::Flush { .. } => OpKind::Flush,
            Action::LockX { .. } => OpKind::LockX,
            Action::UnlockX { .. } => OpKind::UnlockX,
            Action::Unlink { .. } => OpKind::Unlink,
            Action::Mkdir { .. } => OpKind::MkDir,
            Action::Rmdir { .. } => OpKind::RmDir,
            Action::Rename { .. } => OpKind::Rename,
            Action::Deltree { .. } => OpKind::Deltree,
            Action::FindFirst { .. } => OpKind::FindFirst,
            Action::QueryPathInformation { .. } => OpKind::QueryPathInformation,
            Action::QueryFileInformation { .. } => OpKind::QueryFileInformation,
            Action::SetFileInformation { .. } => OpKind::SetFileInformation,
            Action::QueryFsInformation { .. } => OpKind::QueryFsInformation,
            Action::GetAttr { .. } => OpKind::GetAttr,
            Action::SetAttr { .. } => OpKind::SetAttr,
            Action::Lookup { .. } => OpKind::Lookup,
            Action::Access { .. } => OpKind::Access,
            Action::ReadLink { .. } => OpKind::ReadLink,
            Action::Read { .. } => OpKind::Read,
            Action::Write { .. } => OpKind::Write,
            Action::Create { .. } => OpKind::Create,
            Action::Symlink { .. } => OpKind::SymLink,
            Action::Link { .. } => OpKind::Link,
            Action::Remove { .. } => OpKind::Remove,
            Action::ReadDirectoryPlus { .. } => OpKind::ReadDirPlus,
            Action::FileSystemStatus => OpKind::FsStat,
            Action::FileSystemInfo => OpKind::FsInfo,
            Action::PathConfiguration { .. } => OpKind::PathConf,
            Action::Commit { .. } => OpKind::Commit,
            Action::Lock4 { .. } => OpKind::Lock4,
            Action::Unlock4 { .. } => OpKind::Unlock4,
            Action::Test4 { .. } => OpKind::Test4,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_mean_what_they_mean_to_libsmbclient() {
        let mode = |flags| OpenMode::from_flags(flags).expect("they mean something");
        let access = |flags| (mode(flags).reads, mode(flags).writes);
        for (flags, reads_and_writes) in [
            (0, (true, false)),
            (0x1, (true, false)),
            (0x2, (false, true)),
            (0x3, (false, true)),
            (0x4, (true, true)),
            (0x5, (true, true)),
            (0x6, (true, false)),
        ] {
            assert_eq!(access(flags), reads_and_writes, "{flags:#x}");
        }
        assert_eq!(mode(0x41), OpenMode::READING);
        let made = mode(0x2c);
        assert!(made.creates && made.cuts && !made.is_exclusive);
        // With exclusive, there is nothing to truncate.
        let exclusive = mode(0x3c);
        assert!(exclusive.is_exclusive && !exclusive.cuts);
        assert!(OpenMode::from_flags(0x14).is_err());
        assert!(OpenMode::from_flags(0x80).is_err());
    }
}
