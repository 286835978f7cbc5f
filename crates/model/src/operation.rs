//! What a simulated client asks of a file server, and what became of it.
//!
//! [`Operation`] is protocol-neutral and small enough to be copied: files and
//! names are indices into the run's [`FileTable`](crate::workload::FileTable),
//! or numbers that a client turns into names. Matches on it have no `_` arm, so
//! a new verb stops the build in every client until somebody decides what it
//! means there.

use crate::time::Moment;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which file of the run's file table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileId(pub u32);

/// A name inside a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Name {
    /// A name listed in the file table.
    Listed(u32),
    /// A name made of a letter and sixteen hexadecimal digits.
    Numbered {
        /// The first character.
        letter: u8,
        /// The rest, in hexadecimal.
        number: u64,
    },
}

/// Where a directory listing goes on: cookie and verifier of RFC 1813, 3.3.16.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DirectoryCursor {
    /// Cookie of the last entry seen; 0 starts at the beginning.
    pub cookie: u64,
    /// The server's word that the cookie is still good.
    pub verifier: [u8; 8],
}

/// How safely written data must be kept before the server answers
/// (stable_how, RFC 1813, section 3.3.7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Stability {
    /// UNSTABLE: the server may answer before anything is on stable storage.
    #[default]
    Unstable,
    /// DATA_SYNC: the data and what is needed to find them.
    DataSync,
    /// FILE_SYNC: the data and all metadata.
    FileSync,
}

/// What SETATTR changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttributeChange {
    /// The modification time becomes the server's time.
    Touch,
    /// The permission bits.
    Mode(u32),
    /// The length in bytes.
    Size(u64),
}

/// One thing a simulated client wants of a file server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // the fields are the arguments of the procedure named
pub enum Operation {
    /// An empty exchange.
    Null,
    /// Attributes of a file.
    GetAttr { file: FileId },
    /// Change of attributes.
    SetAttr {
        file: FileId,
        change: AttributeChange,
    },
    /// A name to a file.
    Lookup { directory: FileId, name: Name },
    /// Which of the wanted permissions the caller has.
    Access { file: FileId, wanted: u32 },
    /// Where a symbolic link points.
    ReadLink { link: FileId },
    /// File data.
    Read { file: FileId, offset: u64, len: u32 },
    /// File data, the other way; the bytes are `wire::pattern`'s for the offset.
    Write {
        file: FileId,
        offset: u64,
        len: u32,
        stability: Stability,
    },
    /// A new regular file.
    Create { directory: FileId, name: Name },
    /// A new directory.
    MakeDirectory { directory: FileId, name: Name },
    /// A new symbolic link.
    MakeSymlink {
        directory: FileId,
        name: Name,
        target: Name,
    },
    /// A new named pipe.
    MakeNode { directory: FileId, name: Name },
    /// A name taken away.
    Remove { directory: FileId, name: Name },
    /// An empty directory taken away.
    RemoveDirectory { directory: FileId, name: Name },
    /// A name changed.
    Rename {
        from_directory: FileId,
        from: Name,
        to_directory: FileId,
        to: Name,
    },
    /// A second name for a file.
    Link {
        file: FileId,
        directory: FileId,
        name: Name,
    },
    /// One page of a directory's names.
    ReadDirectory {
        directory: FileId,
        cursor: DirectoryCursor,
        len: u32,
    },
    /// One page of a directory's names with attributes and handles.
    ReadDirectoryPlus {
        directory: FileId,
        cursor: DirectoryCursor,
        len: u32,
    },
    /// Space and files left.
    FileSystemStatus { file: FileId },
    /// What the server prefers and can do.
    FileSystemInfo { file: FileId },
    /// POSIX limits.
    PathConfiguration { file: FileId },
    /// Unstable data made stable.
    Commit { file: FileId, offset: u64, len: u32 },
}

macro_rules! kinds {
    ($($kind:ident = $name:literal, $doc:literal;)*) => {
        /// What an operation is counted as: the 22 procedures of NFSv3 first, then
        /// the verbs of load files that are none of them.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        pub enum OpKind { $(#[doc = $doc] #[serde(rename = $name)] $kind,)* }

        impl OpKind {
            /// All kinds: first those of RFC 1813, in the order of their numbers.
            pub const ALL: &'static [OpKind] = &[$(OpKind::$kind,)*];

            /// The name on the command line and in records, in lower case.
            pub const fn name(self) -> &'static str {
                match self { $(OpKind::$kind => $name,)* }
            }

            /// The kind of that name, whatever its case.
            pub fn from_name(name: &str) -> Option<OpKind> {
                Self::ALL.iter().copied().find(|kind| kind.name().eq_ignore_ascii_case(name))
            }
        }
    };
}

kinds! {
    Null = "null", "NFSPROC3_NULL, RFC 1813 section 3.3.0.";
    GetAttr = "getattr", "NFSPROC3_GETATTR, section 3.3.1.";
    SetAttr = "setattr", "NFSPROC3_SETATTR, section 3.3.2.";
    Lookup = "lookup", "NFSPROC3_LOOKUP, section 3.3.3.";
    Access = "access", "NFSPROC3_ACCESS, section 3.3.4.";
    ReadLink = "readlink", "NFSPROC3_READLINK, section 3.3.5.";
    Read = "read", "NFSPROC3_READ, section 3.3.6.";
    Write = "write", "NFSPROC3_WRITE, section 3.3.7.";
    Create = "create", "NFSPROC3_CREATE, section 3.3.8.";
    MkDir = "mkdir", "NFSPROC3_MKDIR, section 3.3.9.";
    SymLink = "symlink", "NFSPROC3_SYMLINK, section 3.3.10.";
    MkNod = "mknod", "NFSPROC3_MKNOD, section 3.3.11.";
    Remove = "remove", "NFSPROC3_REMOVE, section 3.3.12.";
    RmDir = "rmdir", "NFSPROC3_RMDIR, section 3.3.13.";
    Rename = "rename", "NFSPROC3_RENAME, section 3.3.14.";
    Link = "link", "NFSPROC3_LINK, section 3.3.15.";
    ReadDir = "readdir", "NFSPROC3_READDIR, section 3.3.16.";
    ReadDirPlus = "readdirplus", "NFSPROC3_READDIRPLUS, section 3.3.17.";
    FsStat = "fsstat", "NFSPROC3_FSSTAT, section 3.3.18.";
    FsInfo = "fsinfo", "NFSPROC3_FSINFO, section 3.3.19.";
    PathConf = "pathconf", "NFSPROC3_PATHCONF, section 3.3.20.";
    Commit = "commit", "NFSPROC3_COMMIT, section 3.3.21.";
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
    Lock4 = "lock4", "NLMPROC4_LOCK, RFC 1813 appendix II.";
    Unlock4 = "unlock4", "NLMPROC4_UNLOCK.";
    Test4 = "test4", "NLMPROC4_TEST.";
}

/// The kinds that only load files have, as a pattern: a match that is about the
/// procedures of NFSv3 names the rest in one word, and still has no `_` arm.
#[macro_export]
macro_rules! only_in_loads {
    () => {
        $crate::operation::OpKind::Deltree
            | $crate::operation::OpKind::Flush
            | $crate::operation::OpKind::Close
            | $crate::operation::OpKind::LockX
            | $crate::operation::OpKind::ReadX
            | $crate::operation::OpKind::WriteX
            | $crate::operation::OpKind::Unlink
            | $crate::operation::OpKind::UnlockX
            | $crate::operation::OpKind::FindFirst
            | $crate::operation::OpKind::SetFileInformation
            | $crate::operation::OpKind::QueryFileInformation
            | $crate::operation::OpKind::QueryPathInformation
            | $crate::operation::OpKind::QueryFsInformation
            | $crate::operation::OpKind::NtCreateX
            | $crate::operation::OpKind::OpenX
            | $crate::operation::OpKind::Lock4
            | $crate::operation::OpKind::Unlock4
            | $crate::operation::OpKind::Test4
    };
}

impl OpKind {
    /// How many kinds there are.
    pub const COUNT: usize = Self::ALL.len();

    /// The procedures of NFSv3: what a single operation can be.
    pub const PROCEDURES: &'static [OpKind] = Self::ALL.split_at(22).0;

    /// This kind's place in tables; of a procedure of NFSv3, its number.
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }
}

impl Operation {
    /// The kind of this operation.
    #[inline]
    pub const fn kind(&self) -> OpKind {
        match self {
            Operation::Null => OpKind::Null,
            Operation::GetAttr { .. } => OpKind::GetAttr,
            Operation::SetAttr { .. } => OpKind::SetAttr,
            Operation::Lookup { .. } => OpKind::Lookup,
            Operation::Access { .. } => OpKind::Access,
            Operation::ReadLink { .. } => OpKind::ReadLink,
            Operation::Read { .. } => OpKind::Read,
            Operation::Write { .. } => OpKind::Write,
            Operation::Create { .. } => OpKind::Create,
            Operation::MakeDirectory { .. } => OpKind::MkDir,
            Operation::MakeSymlink { .. } => OpKind::SymLink,
            Operation::MakeNode { .. } => OpKind::MkNod,
            Operation::Remove { .. } => OpKind::Remove,
            Operation::RemoveDirectory { .. } => OpKind::RmDir,
            Operation::Rename { .. } => OpKind::Rename,
            Operation::Link { .. } => OpKind::Link,
            Operation::ReadDirectory { .. } => OpKind::ReadDir,
            Operation::ReadDirectoryPlus { .. } => OpKind::ReadDirPlus,
            Operation::FileSystemStatus { .. } => OpKind::FsStat,
            Operation::FileSystemInfo { .. } => OpKind::FsInfo,
            Operation::PathConfiguration { .. } => OpKind::PathConf,
            Operation::Commit { .. } => OpKind::Commit,
        }
    }
}

/// Which slot of which client of a worker an operation occupies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ticket {
    /// Index of the client within its worker.
    pub client: u32,
    /// Index of the slot within the client.
    pub slot: u32,
}

/// What went wrong with an operation that was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Failure {
    /// The procedure's own status, such as NFS3ERR_STALE (70).
    Status(u32),
    /// The call was accepted but not executed (accept_stat, RFC 5531 section 9).
    Rejected(u32),
    /// The call was denied (AUTH_TOOWEAK and the like: auth_stat, or RPC_MISMATCH).
    Denied(u32),
    /// The reply did not fit its call.
    BadReply(ReplyFault),
    /// The result was not the one that the load file expects.
    Unexpected(crate::load::Mismatch),
}

/// How a reply did not fit its call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReplyFault {
    /// It ended early, was too long or held a value that the standard has not.
    Undecodable,
    /// More data than was asked for.
    TooMuchData,
    /// The data were not what was written.
    WrongData,
    /// The reply answers another question (wrong file type, wrong count).
    Inconsistent,
    /// Legal, but less than was asked: READ ended before the file did, or WRITE took a part.
    Short,
}

/// What became of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Answered as expected.
    Ok,
    /// Answered, and the answer was a failure.
    Failed(Failure),
    /// Not answered in time.
    TimedOut,
    /// The connection was lost before the answer.
    Disconnected,
    /// Never sent.
    Skipped,
}

/// What an answer said that the workload needs to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Answer {
    /// Nothing of interest.
    #[default]
    Plain,
    /// One page of a directory listing.
    Directory {
        /// Where the next page starts.
        cursor: DirectoryCursor,
        /// Whether this was the last page.
        end: bool,
        /// By how many bytes its entries exceed what was asked for.
        excess_bytes: u32,
    },
}

/// The end of one operation's life, as the backend saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completion {
    /// Whose operation it was.
    pub ticket: Ticket,
    /// What became of it.
    pub outcome: Outcome,
    /// What the workload may want to know.
    pub answer: Answer,
    /// When the connection could take it, if it was down when it was submitted.
    pub usable: Moment,
    /// When it was handed to the operating system.
    pub sent: Moment,
    /// When the end of its last reply was read, or when it was given up.
    pub done: Moment,
    /// RPC calls that it took; retransmissions not counted.
    pub calls: u32,
    /// Calls sent again for want of a reply.
    pub retransmissions: u32,
    /// Bytes sent for it, record marks included.
    pub bytes_sent: u32,
    /// Bytes received for it, record marks included.
    pub bytes_received: u32,
    /// File data read or written.
    pub data_bytes: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_stand_in_the_order_of_the_procedure_numbers() {
        for (number, kind) in OpKind::ALL.iter().enumerate() {
            assert_eq!(kind.index(), number);
            assert_eq!(OpKind::from_name(&kind.name().to_uppercase()), Some(*kind));
        }
        assert_eq!(OpKind::PROCEDURES.last(), Some(&OpKind::Commit));
        assert_eq!(OpKind::Commit.index(), 21);
    }

    #[test]
    fn records_name_kinds_as_the_command_line_does() {
        for kind in OpKind::ALL {
            let json = serde_json::to_string(kind).expect("a kind is a string");
            assert_eq!(json, format!("\"{}\"", kind.name()));
        }
    }

    #[test]
    fn an_operation_stays_small_enough_to_be_copied() {
        assert!(size_of::<Operation>() <= 56, "{}", size_of::<Operation>());
    }
}
