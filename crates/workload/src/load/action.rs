//! The operation of one line of a load file, with all names and numbers computed.
//!
//! Names are relative to the directory under test, have no empty, `.` or `..` component and no
//! leading slash; the directory itself is the empty name. They already contain the client's number.

use super::action_numbers;
pub use super::action_numbers::{Disposition, OpenMode};
use super::code::NUMBERS;
use crate::operation::{OpKind, Stability};

/// The actions in two tables, and everything that follows from their rows: the enum, the functions
/// that need every field, and a pattern for each table. A row is
///
/// ```text
/// Variant { &name, number, number: check } = Kind;
/// ```
///
/// Names and numbers are in the order of the verb's arguments. `check` is the function of
/// `action_numbers` that converts a number, or refuses it; other numbers may have any value. `Kind`
/// is the kind after `action_numbers::by_path`, which no other row has; if another kind is counted
/// instead, the row names it.
macro_rules! actions {
    ($(
        $(#[$table_doc:meta])*
        $table:ident {
            $(
                $(#[$doc:meta])*
                $variant:ident
                $({ $(&$name:ident),* $(,)? $($number:ident $(: $check:ident)?),* })?
                = $kind:ident $(, counted as $counted:ident)?;
            )*
        }
    )*) => {
        /// The operation of one line for a layer. Matches on it have no `_` arm: a new verb breaks
        /// the build of every layer until the layer implements it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum LoadAction<'a> {
            $($(
                $(#[$doc])*
                $variant $({
                    $(#[doc = doc_of!($name)] $name: &'a [u8],)*
                    $(#[doc = doc_of!($number)] $number: type_of!($($check)?),)*
                })?,
            )*)*
        }

        impl<'a> LoadAction<'a> {
            /// Creates the action of that kind. Returns an error if a number is not valid.
            #[inline]
            pub(super) fn from_operands(
                kind: OpKind,
                first: &'a [u8],
                second: &'a [u8],
                numbers: [u64; NUMBERS],
            ) -> Result<Self, String> {
                Ok(match kind {
                    $($(OpKind::$kind => {
                        $(
                            let [$($name,)* ..] = [first, second];
                            let [$($number,)* ..] = numbers;
                            $($(let $number = action_numbers::$check($number)?;)?)*
                        )?
                        LoadAction::$variant $({ $($name,)* $($number,)* })?
                    })*)*
                    other => return Err(action_numbers::not_in_loads(other)),
                })
            }

            /// Returns the action with other names, each computed from the original one, in order.
            pub fn map_names<'n>(self, mut map: impl FnMut(&'a [u8]) -> &'n [u8]) -> LoadAction<'n> {
                match self {
                    $($(LoadAction::$variant $({ $($name,)* $($number,)* })? => {
                        LoadAction::$variant $({ $($name: map($name),)* $($number,)* })?
                    })*)*
                }
            }

            /// Returns the kind for counting.
            #[inline]
            pub const fn kind(&self) -> OpKind {
                match self {
                    $($(LoadAction::$variant { .. } => {
                        // A second binding shadows the first.
                        let _kind = OpKind::$kind;
                        $(let _kind = OpKind::$counted;)?
                        _kind
                    })*)*
                }
            }
        }

        $(
            $(#[$table_doc])*
            #[macro_export]
            macro_rules! $table {
                () => { $($crate::load::LoadAction::$variant { .. })|* };
            }
        )*
    };
}

/// The type of a number after its check.
#[rustfmt::skip]
macro_rules! type_of {
    () => { u64 };
    (length) => { u64 };
    (disposition) => { Disposition };
    (open_mode) => { OpenMode };
    (stability) => { Stability };
}

/// The documentation of a field, which has the same meaning in every action.
#[rustfmt::skip]
macro_rules! doc_of {
    (path) => { "Path of the object." };
    (from) => { "The old path." };
    (to) => { "The new path." };
    (pattern) => { "Directory and pattern; `* ? < > \"` are wildcards (MS-FSCC 2.1.4)." };
    (target) => { "Target of the link, as in the load file." };
    (existing) => { "Path of the existing file." };
    (handle) => { "Number of the open file in the lines of the load file." };
    (options) => { "CreateOptions; bit 0x1 requests a directory (MS-CIFS 2.2.4.64.1)." };
    (disposition) => { "Action if the file exists or does not exist." };
    (mode) => { "Access, and action if the file exists or does not exist." };
    (offset) => { "Offset of the first byte." };
    (len) => { "Number of bytes." };
    (expected_len) => { "Number of bytes read or written according to the load file." };
    (stability) => { "Stability level." };
    (level) => { "Information level." };
    (max) => { "Maximum number of entries." };
    (expected) => { "Number of entries returned according to the load file." };
    (wanted) => { "Requested permission bits (RFC 1813 section 3.3.4)." };
    (granted) => { "Permission bits granted according to the load file." };
}

actions! {
    /// The actions of loads of SMB clients, as a pattern: dbench 2 to 5, smbtorture; dbench 1 is
    /// mapped to them. NFS loads have some of them, too.
    in_smb_loads {
        /// SMB_COM_NT_CREATE_ANDX: opens or creates `path` as `handle`.
        NtCreateX { &path, options, disposition: disposition, handle } = NtCreateX;
        /// OPEN of dbench's smb backend: a file, never a directory.
        Open { &path, mode: open_mode, handle } = Open, counted as NtCreateX;
        /// dbench 1's SMBopenX: opens `path`, creates it if it does not exist, and extends or
        /// truncates it to `len`, the length that the trace reported.
        OpenX { &path, len: length, handle } = OpenX;
        /// SMB_COM_CLOSE.
        Close { handle } = Close;
        /// SMB_COM_READ_ANDX.
        ReadX { handle, offset, len: length, expected_len } = ReadX;
        /// SMB_COM_WRITE_ANDX.
        WriteX { handle, offset, len: length, expected_len } = WriteX;
        /// SMB_COM_FLUSH.
        Flush { handle } = Flush;
        /// SMB_COM_LOCKING_ANDX: an exclusive byte-range lock, which fails immediately if it is not
        /// available.
        LockX { handle, offset, len } = LockX;
        /// SMB_COM_LOCKING_ANDX: unlocks the same range.
        UnlockX { handle, offset, len } = UnlockX;
        /// SMB_COM_DELETE.
        Unlink { &path } = Unlink;
        /// Creates a directory (CIFS and MKDIR3).
        Mkdir { &path } = MkDir;
        /// Removes an empty directory (CIFS and RMDIR3).
        Rmdir { &path } = RmDir;
        /// Renames an object (CIFS and RENAME3).
        Rename { &from, &to } = Rename;
        /// Removes a whole tree with its root; succeeds if it does not exist.
        Deltree { &path } = Deltree;
        /// TRANS2_FIND_FIRST2: names that match the last component of `pattern`.
        FindFirst { &pattern, level, max, expected } = FindFirst;
        /// TRANS2_QUERY_PATH_INFORMATION; dbench 1's SMBgetatr.
        QueryPathInformation { &path, level } = QueryPathInformation;
        /// TRANS2_QUERY_FILE_INFORMATION.
        QueryFileInformation { handle, level } = QueryFileInformation;
        /// TRANS2_SET_FILE_INFORMATION.
        SetFileInformation { handle, level } = SetFileInformation;
        /// TRANS2_QUERY_FS_INFORMATION.
        QueryFsInformation { level } = QueryFsInformation;
        /// READDIRPLUS3, and READDIR of dbench's smb backend: to the end of the directory.
        ReadDirectoryPlus { &path } = ReadDirPlus;
    }
    /// The actions that only NFS loads have, dbench 4 (git) and 5, as a pattern: a match on the
    /// others names them with it, and still has no `_` arm. Files are named by path.
    only_in_nfs_loads {
        /// GETATTR3.
        GetAttr { &path } = GetAttr;
        /// SETATTR3: sets the modification time to the server's time.
        SetAttr { &path } = SetAttr;
        /// LOOKUP3.
        Lookup { &path } = Lookup;
        /// ACCESS3.
        Access { &path, wanted, granted } = Access;
        /// READLINK3.
        ReadLink { &path } = ReadLink;
        /// READ3.
        Read { &path, offset, len: length } = Read;
        /// WRITE3.
        Write { &path, offset, len: length, stability: stability } = Write;
        /// CREATE3, UNCHECKED.
        Create { &path } = Create;
        /// SYMLINK3: creates `path` as a link.
        Symlink { &path, &target } = SymLink;
        /// LINK3: creates `path` as a second name.
        Link { &path, &existing } = Link;
        /// REMOVE3.
        Remove { &path } = Remove;
        /// FSSTAT3 of the root.
        FileSystemStatus = FsStat;
        /// FSINFO3 of the root.
        FileSystemInfo = FsInfo;
        /// PATHCONF3.
        PathConfiguration { &path } = PathConf;
        /// COMMIT3 of the whole file.
        Commit { &path } = Commit;
        /// NLMPROC4_LOCK, exclusive, not blocking.
        Lock4 { &path, offset, len } = Lock4;
        /// NLMPROC4_UNLOCK.
        Unlock4 { &path, offset, len } = Unlock4;
        /// NLMPROC4_TEST.
        Test4 { &path, offset, len } = Test4;
    }
}

/// Bit of CreateOptions that requests a directory (FILE_DIRECTORY_FILE).
pub const OPTION_DIRECTORY: u64 = 0x1;
/// Bit of CreateOptions that removes the file on close (FILE_DELETE_ON_CLOSE).
const OPTION_DELETE_ON_CLOSE: u64 = 0x1000;

/// Checks whether a number is valid at that position of such an operation.
pub(super) fn check(kind: OpKind, place: usize, number: u64) -> Result<(), String> {
    let mut numbers = [0; NUMBERS];
    if let Some(checked) = numbers.get_mut(place) {
        *checked = number;
    }
    // Zero is valid at every other position.
    LoadAction::from_operands(kind, b"", b"", numbers).map(drop)
}

impl LoadAction<'_> {
    /// Returns the action with reads and writes limited to `limit` bytes (--trunc-io).
    pub fn truncated(mut self, limit: u64) -> Self {
        match &mut self {
            LoadAction::ReadX {
                len, expected_len, ..
            }
            | LoadAction::WriteX {
                len, expected_len, ..
            } => {
                *len = limit.min(*len);
                *expected_len = limit.min(*expected_len);
            }
            LoadAction::Read { len, .. } | LoadAction::Write { len, .. } => *len = limit.min(*len),
            _ => {}
        }
        self
    }

    /// Returns the action for a read-only run (--read-only): opens require an existing file, and do
    /// not change it.
    pub fn reading(mut self) -> Self {
        match &mut self {
            LoadAction::NtCreateX {
                options,
                disposition,
                ..
            } => {
                *options &= !OPTION_DELETE_ON_CLOSE;
                *disposition = Disposition::OpenToRead;
            }
            LoadAction::Open { mode, .. } => *mode = OpenMode::READING,
            _ => {}
        }
        self
    }
}
