//! Kinds of operation for counting: file operations, or exchanges of one protocol.
//!
//! [`OpKind`] is a registry: a new protocol with exchanges that are not file operations adds a
//! table here.

use crate::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! kinds {
    ($($(#[doc = $table_doc:literal])* $table:ident { $($kind:ident = $name:literal, $doc:literal;)* })*) => {
        /// Kind of operation for counting.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        pub enum OpKind { $($(#[doc = $doc] #[serde(rename = $name)] $kind,)*)* }

        impl OpKind {
            /// All kinds, table by table.
            pub const ALL: &'static [OpKind] = &[$($(OpKind::$kind,)*)*];

            $($(#[doc = $table_doc])* pub const $table: &'static [OpKind] = &[$(OpKind::$kind,)*];)*

            /// The name on the command line and in records, in lower case.
            pub const fn name(self) -> &'static str {
                match self { $($(OpKind::$kind => $name,)*)* }
            }

            /// Returns the kind of that name, case-insensitively. READDIRPLUS has a second name,
            /// which is common in texts.
            pub fn from_name(name: &str) -> Option<OpKind> {
                if name.eq_ignore_ascii_case(READDIR_PLUS) {
                    return Some(OpKind::ReadDirPlus);
                }
                Self::ALL.iter().copied().find(|kind| kind.name().eq_ignore_ascii_case(name))
            }
        }
    };
}

/// The second name of READDIRPLUS.
pub const READDIR_PLUS: &str = "readdir+";

kinds! {
    /// File operations that need no open file, which probes and mixes can execute.
    STATELESS {
        Null = "null", "An empty exchange.";
        GetAttr = "getattr", "Attributes of a file.";
        SetAttr = "setattr", "Change of attributes.";
        Lookup = "lookup", "A name to a file.";
        Access = "access", "Which permissions the caller has.";
        ReadLink = "readlink", "Where a symbolic link points.";
        Read = "read", "File data.";
        Write = "write", "File data, the other way.";
        Create = "create", "A new regular file.";
        MkDir = "mkdir", "A new directory.";
        SymLink = "symlink", "A new symbolic link.";
        MkNod = "mknod", "A new special file.";
        Remove = "remove", "A name of a file taken away.";
        RmDir = "rmdir", "An empty directory taken away.";
        Rename = "rename", "A name changed.";
        Link = "link", "A second name for a file.";
        ReadDir = "readdir", "A page of a directory's names.";
        ReadDirPlus = "readdirplus", "A page of a directory's names with attributes.";
        FsStat = "fsstat", "Space and files left.";
        FsInfo = "fsinfo", "What the server prefers and can do.";
        PathConf = "pathconf", "POSIX limits.";
        Commit = "commit", "Unstable data made stable.";
    }
    /// Exchanges of SMB in CIFS-style load files; `Close` is also a file operation.
    SMB {
        Deltree = "deltree", "A whole tree removed: as many calls as it takes.";
        Flush = "flush", "SMB_COM_FLUSH, MS-CIFS section 2.2.4.6.";
        Close = "close", "SMB_COM_CLOSE, section 2.2.4.5.";
        LockX = "lockx", "SMB_COM_LOCKING_ANDX that locks, section 2.2.4.32.";
        ReadX = "readx", "SMB_COM_READ_ANDX, section 2.2.4.42.";
        WriteX = "writex", "SMB_COM_WRITE_ANDX, section 2.2.4.43.";
        Unlink = "unlink", "SMB_COM_DELETE, section 2.2.4.7.";
        UnlockX = "unlockx", "SMB_COM_LOCKING_ANDX that unlocks, section 2.2.4.32.";
        FindFirst = "find_first", "TRANS2_FIND_FIRST2, section 2.2.6.2.";
        SetFileInformation = "set_file_information", "TRANS2_SET_FILE_INFORMATION, section 2.2.6.9.";
        QueryFileInformation = "query_file_information", "TRANS2_QUERY_FILE_INFORMATION, section 2.2.6.8.";
        QueryPathInformation = "query_path_information", "TRANS2_QUERY_PATH_INFORMATION, section 2.2.6.6.";
        QueryFsInformation = "query_fs_information", "TRANS2_QUERY_FS_INFORMATION, section 2.2.6.4.";
        NtCreateX = "ntcreatex", "SMB_COM_NT_CREATE_ANDX, section 2.2.4.64.";
        OpenX = "openx", "SMB_COM_OPEN_ANDX of dbench 1 loads, section 2.2.4.41.";
    }
    /// Exchanges of the Network Lock Manager.
    NLM {
        Lock4 = "lock4", "NLMPROC4_LOCK, RFC 1813 appendix II.";
        Unlock4 = "unlock4", "NLMPROC4_UNLOCK.";
        Test4 = "test4", "NLMPROC4_TEST.";
    }
    /// Exchanges of SMB2 that are not file operations.
    SMB2 {
        SessionSetup = "session-setup", "A user logged on and off again: MS-SMB2, sections 2.2.5 and 2.2.7.";
        TreeConnect = "tree-connect", "A share connected to and left again: sections 2.2.9 and 2.2.11.";
        Notify = "notify", "A change of a directory reported: section 2.2.35.";
        Copy = "copy", "Data that the server copies from one file to another: section 2.2.31.1.";
    }
    /// Operations on open files, in addition to `Close`.
    STATEFUL {
        Open = "open", "A file opened: state at the server until it is closed.";
        Lock = "lock", "A range of bytes of an open file locked.";
        Unlock = "unlock", "Such a range given back.";
    }
}

/// The kinds that only load files have, not probes or mixes, as a pattern. A match on
/// [`OpKind::STATELESS`] names the rest with it, and still has no `_` arm.
#[macro_export]
macro_rules! only_in_loads {
    () => {
        $crate::kind::OpKind::Deltree
            | $crate::kind::OpKind::Flush
            | $crate::kind::OpKind::Close
            | $crate::kind::OpKind::LockX
            | $crate::kind::OpKind::ReadX
            | $crate::kind::OpKind::WriteX
            | $crate::kind::OpKind::Unlink
            | $crate::kind::OpKind::UnlockX
            | $crate::kind::OpKind::FindFirst
            | $crate::kind::OpKind::SetFileInformation
            | $crate::kind::OpKind::QueryFileInformation
            | $crate::kind::OpKind::QueryPathInformation
            | $crate::kind::OpKind::QueryFsInformation
            | $crate::kind::OpKind::NtCreateX
            | $crate::kind::OpKind::OpenX
            | $crate::kind::OpKind::Lock4
            | $crate::kind::OpKind::Unlock4
            | $crate::kind::OpKind::Test4
            | $crate::kind::OpKind::Open
    };
}

/// The kinds that a probe has in addition to [`OpKind::STATELESS`], and a mix does not, as a
/// pattern.
#[macro_export]
macro_rules! only_in_probes {
    () => {
        $crate::kind::OpKind::SessionSetup
            | $crate::kind::OpKind::TreeConnect
            | $crate::kind::OpKind::Notify
            | $crate::kind::OpKind::Copy
            | $crate::kind::OpKind::Lock
            | $crate::kind::OpKind::Unlock
    };
}

impl OpKind {
    /// Returns the kinds of probes: those of mixes, and those that need state.
    pub fn probed() -> impl Iterator<Item = OpKind> {
        let own = Self::SMB2.iter().chain(&[OpKind::Lock]);
        Self::STATELESS.iter().chain(own).copied()
    }

    /// Number of kinds.
    pub const COUNT: usize = Self::ALL.len();

    /// Returns this kind's index in [`OpKind::ALL`] and in a [`PerKind`].
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// Array with a value for each kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PerKind<T>([T; OpKind::COUNT]);

impl<T> PerKind<T> {
    /// Creates the values with `of`.
    pub fn from_fn(mut of: impl FnMut(OpKind) -> T) -> Self {
        Self(core::array::from_fn(|index| of(OpKind::ALL[index])))
    }

    /// Returns each kind with its value.
    pub fn iter(&self) -> impl Iterator<Item = (OpKind, &T)> {
        OpKind::ALL.iter().copied().zip(&self.0)
    }

    /// Returns each kind with a mutable reference to its value.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (OpKind, &mut T)> {
        OpKind::ALL.iter().copied().zip(&mut self.0)
    }

    /// Returns the values.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.0.iter()
    }
}

impl<T: Default> Default for PerKind<T> {
    fn default() -> Self {
        Self::from_fn(|_| T::default())
    }
}

impl<T> core::ops::Index<OpKind> for PerKind<T> {
    type Output = T;

    #[inline]
    fn index(&self, kind: OpKind) -> &T {
        &self.0[kind.index()]
    }
}

impl<T> core::ops::IndexMut<OpKind> for PerKind<T> {
    #[inline]
    fn index_mut(&mut self, kind: OpKind) -> &mut T {
        &mut self.0[kind.index()]
    }
}

/// Role of an operation: the subject of the run, or auxiliary.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Counted and timed as the run's subject.
    Measured,
    /// Restores the state that the next measured operation needs, such as the REMOVE after a
    /// measured CREATE. Counted and timed in a separate row.
    #[serde(alias = "companion")]
    Unmeasured,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_found_by_its_place_and_by_its_name() {
        for (number, kind) in OpKind::ALL.iter().enumerate() {
            assert_eq!(kind.index(), number);
            assert_eq!(OpKind::from_name(&kind.name().to_uppercase()), Some(*kind));
        }
        assert_eq!(OpKind::from_name("READDIR+"), Some(OpKind::ReadDirPlus));
    }

    #[test]
    fn records_name_kinds_as_the_command_line_does() {
        for kind in OpKind::ALL {
            let json = serde_json::to_string(kind).expect("a kind is a string");
            assert_eq!(json, format!("\"{}\"", kind.name()));
        }
    }

    #[test]
    fn a_table_has_a_value_for_every_kind() {
        let mut names = PerKind::from_fn(OpKind::name);
        names[OpKind::Commit] = "other";
        assert_eq!(names[OpKind::Open], "open");
        assert!(
            names
                .iter()
                .all(|(kind, name)| kind == OpKind::Commit || kind.name() == *name)
        );
    }
}
