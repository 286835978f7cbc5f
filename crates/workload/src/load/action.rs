//! What one line of a load file asks, with all names and numbers worked out.
//!
//! Names are relative to the directory under test, have no empty, `.` or `..`
//! component and no leading slash; the directory itself is the empty name.
//! The client's own number stands in them already.

use crate::operation::{OpKind, Stability};

/// The actions that only NFS loads have, as a pattern: a match that is about the others names
/// them in one word, and still has no `_` arm.
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

/// What one line asks of a layer. Matches on it have no `_` arm: a new verb
/// stops the build in every layer until somebody decides what it means there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action<'a> {
    // CIFS-style loads: dbench 2 to 5, smbtorture; dbench 1 is mapped to them.
    /// SMB_COM_NT_CREATE_ANDX: opens or creates `path` as `handle`.
    NtCreateX {
        /// Which file.
        path: &'a [u8],
        /// CreateOptions; bit 0x1 wants a directory (MS-CIFS 2.2.4.64.1).
        options: u64,
        /// What to do if it is there or is not.
        disposition: Disposition,
        /// How later lines call it.
        handle: u64,
    },
    /// OPEN of dbench's smb backend: a file, never a directory.
    Open {
        /// Which file.
        path: &'a [u8],
        /// What for, and what if it is there or is not.
        mode: OpenMode,
        /// How later lines call it.
        handle: u64,
    },
    /// dbench 1's SMBopenX: opens `path`, creates it if it is not there, and gives
    /// it the length that the trace reported.
    OpenX {
        /// Which file.
        path: &'a [u8],
        /// Its length afterwards: written out or cut to it.
        len: u64,
        /// How later lines call it.
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
        /// Where, in bytes.
        offset: u64,
        /// How many bytes are asked for.
        len: u64,
        /// How many bytes the load file says came back.
        expected_len: u64,
    },
    /// SMB_COM_WRITE_ANDX.
    WriteX {
        /// An open handle.
        handle: u64,
        /// Where, in bytes.
        offset: u64,
        /// How many bytes.
        len: u64,
        /// How many bytes the load file says were written.
        expected_len: u64,
    },
    /// SMB_COM_FLUSH.
    Flush {
        /// An open handle.
        handle: u64,
    },
    /// SMB_COM_LOCKING_ANDX: an exclusive byte-range lock, or an error at once.
    LockX {
        /// An open handle.
        handle: u64,
        /// First byte.
        offset: u64,
        /// How many bytes.
        len: u64,
    },
    /// The same range set free.
    UnlockX {
        /// An open handle.
        handle: u64,
        /// First byte.
        offset: u64,
        /// How many bytes.
        len: u64,
    },
    /// SMB_COM_DELETE.
    Unlink {
        /// Which file.
        path: &'a [u8],
    },
    /// A new directory (CIFS and MKDIR3).
    Mkdir {
        /// Its name.
        path: &'a [u8],
    },
    /// An empty directory taken away (CIFS and RMDIR3).
    Rmdir {
        /// Its name.
        path: &'a [u8],
    },
    /// A name changed (CIFS and RENAME3).
    Rename {
        /// The name it has.
        from: &'a [u8],
        /// The name it gets.
        to: &'a [u8],
    },
    /// A whole tree taken away; well done too if there is none.
    Deltree {
        /// Its top, which goes too.
        path: &'a [u8],
    },
    /// TRANS2_FIND_FIRST2: names that match the last component of `pattern`.
    FindFirst {
        /// Directory and pattern; `* ? < > "` are wildcards (MS-FSCC 2.1.4).
        pattern: &'a [u8],
        /// Information level.
        level: u64,
        /// How many entries are wanted at most.
        max: u64,
        /// How many entries the load file says came back.
        expected: u64,
    },
    /// TRANS2_QUERY_PATH_INFORMATION; dbench 1's SMBgetatr.
    QueryPathInformation {
        /// Which file.
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
        /// Which directory.
        path: &'a [u8],
    },
    // NFS loads: dbench 4 (git) and 5. Files are named by path.
    /// GETATTR3.
    GetAttr {
        /// Which file.
        path: &'a [u8],
    },
    /// SETATTR3: the modification time becomes the server's.
    SetAttr {
        /// Which file.
        path: &'a [u8],
    },
    /// LOOKUP3.
    Lookup {
        /// Which file.
        path: &'a [u8],
    },
    /// ACCESS3.
    Access {
        /// Which file.
        path: &'a [u8],
        /// Permission bits asked for (RFC 1813 section 3.3.4).
        wanted: u64,
        /// Permission bits that the load file says were granted.
        granted: u64,
    },
    /// READLINK3.
    ReadLink {
        /// Which symbolic link.
        path: &'a [u8],
    },
    /// READ3.
    Read {
        /// Which file.
        path: &'a [u8],
        /// Where, in bytes.
        offset: u64,
        /// How many bytes.
        len: u64,
    },
    /// WRITE3.
    Write {
        /// Which file.
        path: &'a [u8],
        /// Where, in bytes.
        offset: u64,
        /// How many bytes.
        len: u64,
        /// How safely.
        stability: Stability,
    },
    /// CREATE3, UNCHECKED.
    Create {
        /// Its name.
        path: &'a [u8],
    },
    /// SYMLINK3.
    Symlink {
        /// The new link.
        path: &'a [u8],
        /// The text in it, as the load file has it.
        target: &'a [u8],
    },
    /// LINK3.
    Link {
        /// The new name.
        path: &'a [u8],
        /// The file that gets it.
        existing: &'a [u8],
    },
    /// REMOVE3.
    Remove {
        /// Which file.
        path: &'a [u8],
    },
    /// FSSTAT3 of the root.
    FileSystemStatus,
    /// FSINFO3 of the root.
    FileSystemInfo,
    /// PATHCONF3.
    PathConfiguration {
        /// Which file.
        path: &'a [u8],
    },
    /// COMMIT3 of the whole file.
    Commit {
        /// Which file.
        path: &'a [u8],
    },
    /// NLMPROC4_LOCK, exclusive, not blocking.
    Lock4 {
        /// Which file.
        path: &'a [u8],
        /// First byte.
        offset: u64,
        /// How many bytes.
        len: u64,
    },
    /// NLMPROC4_UNLOCK.
    Unlock4 {
        /// Which file.
        path: &'a [u8],
        /// First byte.
        offset: u64,
        /// How many bytes.
        len: u64,
    },
    /// NLMPROC4_TEST.
    Test4 {
        /// Which file.
        path: &'a [u8],
        /// First byte.
        offset: u64,
        /// How many bytes.
        len: u64,
    },
}

/// CreateDisposition (MS-CIFS 2.2.4.64.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Disposition {
    /// FILE_SUPERSEDE (0).
    Supersede,
    /// FILE_OPEN (1): fails if it is not there.
    Open,
    /// FILE_OPEN of a run that only reads, whatever the load file says: no more is asked for than
    /// to read.
    OpenToRead,
    /// FILE_CREATE (2): fails if it is there. dbench does not make it fail, and its
    /// load file counts on that: layers create or open.
    Create,
    /// FILE_OPEN_IF (3): creates it if it is not there.
    OpenIf,
    /// FILE_OVERWRITE (4): cut to nothing; fails if it is not there.
    Overwrite,
    /// FILE_OVERWRITE_IF (5): cut to nothing or created.
    OverwriteIf,
}

impl Disposition {
    /// By its number in the standard.
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

/// What a file is opened for by path, and what if it is there or is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenMode {
    /// To be read.
    pub reads: bool,
    /// To be written.
    pub writes: bool,
    /// Made if it is not there.
    pub creates: bool,
    /// Only if it is not there.
    pub is_exclusive: bool,
    /// Cut to nothing if it is there.
    pub cuts: bool,
    /// Writes to it are stable before they are answered.
    pub is_stable: bool,
}

impl OpenMode {
    /// To be read, as it is.
    pub const READING: Self = Self {
        reads: true,
        writes: false,
        creates: false,
        is_exclusive: false,
        cuts: false,
        is_stable: false,
    };

    /// What flags of an OPEN line say: 0x1 read, 0x2 write, 0x4 both, 0x8 create, 0x10 exclusive,
    /// 0x20 truncate, 0x40 append. libsmbclient reads the first three as C's O_RDONLY (0),
    /// O_WRONLY (1) and O_RDWR (2) put together, so 0x2 and 0x4 at once is to read; and append
    /// only says where it stands, which every line that reads or writes says anew.
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

/// Bit of CreateOptions that wants a directory (FILE_DIRECTORY_FILE).
pub const OPTION_DIRECTORY: u64 = 0x1;
/// Bit of CreateOptions that removes the file when it is closed (FILE_DELETE_ON_CLOSE).
const OPTION_DELETE_ON_CLOSE: u64 = 0x1000;

impl<'a> Action<'a> {
    /// The same with other names, each made of the one that it stands for, in order.
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
    /// The same with reads and writes of at most `limit` bytes (--trunc-io).
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

    /// The same of a run that only reads (--read-only): what is opened is there, and stays as it
    /// is.
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

    /// The kind that it is counted as.
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
        // Exclusive, there is nothing to cut.
        let exclusive = mode(0x3c);
        assert!(exclusive.is_exclusive && !exclusive.cuts);
        assert!(OpenMode::from_flags(0x14).is_err());
        assert!(OpenMode::from_flags(0x80).is_err());
    }
}
