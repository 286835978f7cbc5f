//! What a simulated client asks of a file server, and what became of it.
//!
//! [`Operation`] is protocol-neutral and small enough to be copied: files and
//! names are indices into the run's `FileTable`,
//! or numbers that a client turns into names. Matches on it have no `_` arm, so
//! a new verb stops the build in every client until it is decided what it means
//! there.

pub use crate::failure::{Failure, ReplyFault};
pub use crate::kind::OpKind;

use crate::time::Timestamp;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which file of the run's file table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileId(pub u32);

/// Which of a client's open files: a number that the workload chooses when it opens one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct OpenId(pub u32);

/// What a file is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OpenAccess {
    /// To be read.
    Read,
    /// To be written.
    Write,
    /// Both.
    ReadWrite,
}

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
    /// Pages before it.
    pub pages: u32,
    /// An earlier cookie, shortened: one that comes again means a listing without an end.
    pub remembered: u32,
}

impl DirectoryCursor {
    /// The place behind the next page, whose last entry has this cookie; `None` if the listing leads
    /// in a circle.
    pub const fn after(self, cookie: u64, verifier: [u8; 8]) -> Option<Self> {
        // Multiplied so that cookies which count up, in whichever half, differ.
        let shortened = (cookie.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32;
        let is_again = self.pages > 0 && (cookie == self.cookie || shortened == self.remembered);
        if is_again {
            return None;
        }
        let pages = self.pages.saturating_add(1);
        let remembered = if pages.is_power_of_two() {
            shortened
        } else {
            self.remembered
        };
        Some(Self {
            cookie,
            verifier,
            pages,
            remembered,
        })
    }
}

/// How safely written data must be kept before the server answers
/// (stable_how, RFC 1813, section 3.3.7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
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
    /// A file opened: the server keeps state for this client until it is closed (NFSv4 OPEN,
    /// SMB2 CREATE). The workload chooses `open`, which the client turns into whatever the
    /// server calls it.
    Open {
        file: FileId,
        open: OpenId,
        access: OpenAccess,
    },
    /// What was opened given back.
    Close { open: OpenId },
    /// A range of bytes of an open file locked, without waiting for another client's lock.
    Lock {
        open: OpenId,
        offset: u64,
        len: u64,
        is_exclusive: bool,
    },
    /// A range of bytes of an open file unlocked.
    Unlock { open: OpenId, offset: u64, len: u64 },
    /// The client's user logged on once more, and off again (SMB2 SESSION_SETUP).
    SessionSetup,
    /// The share connected to once more, and left again (SMB2 TREE_CONNECT).
    TreeConnect,
    /// A directory watched until something in it changes (SMB2 CHANGE_NOTIFY).
    Notify { directory: FileId },
    /// Data that the server copies from one file to the same place of another (SMB2 IOCTL).
    Copy {
        from: FileId,
        to: FileId,
        offset: u64,
        len: u32,
    },
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
            Operation::Open { .. } => OpKind::Open,
            Operation::Close { .. } => OpKind::Close,
            Operation::Lock { .. } => OpKind::Lock,
            Operation::Unlock { .. } => OpKind::Unlock,
            Operation::SessionSetup => OpKind::SessionSetup,
            Operation::TreeConnect => OpKind::TreeConnect,
            Operation::Notify { .. } => OpKind::Notify,
            Operation::Copy { .. } => OpKind::Copy,
        }
    }
}

/// Which slot of which client of a worker an operation occupies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlotId {
    /// Index of the client within its worker.
    pub client: u32,
    /// Index of the slot within the client.
    pub slot: u32,
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
pub enum ReplyInfo {
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
    pub ticket: SlotId,
    /// What became of it.
    pub outcome: Outcome,
    /// What the workload may want to know.
    pub answer: ReplyInfo,
    /// When the connection could take it, if it was down when it was submitted.
    pub usable: Timestamp,
    /// When it was handed to the operating system.
    pub sent: Timestamp,
    /// When the end of its last reply was read, or when it was given up.
    pub done: Timestamp,
    /// RPC calls that it took; retransmissions not counted.
    pub calls: u32,
    /// Calls sent again for want of a reply.
    pub retransmissions: u32,
    /// Bytes sent for it, record marks included.
    pub bytes_sent: u32,
    /// Bytes received for it, record marks included.
    pub bytes_received: u32,
    /// File data read or written, or copied by the server.
    pub data_bytes: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_stays_small_enough_to_be_copied() {
        assert!(size_of::<Operation>() <= 56, "{}", size_of::<Operation>());
    }
}
