//! Operations that a simulated client executes on a file server, and their outcomes.
//!
//! [`Operation`] is protocol-neutral and small enough to be copied: files and names are indices
//! into the run's `FileTable`, or numbers that a client converts to names. Matches on it have no
//! `_` arm, so a new operation breaks the build of every client until the client implements it.

pub use crate::failure::{Failure, ReplyFault};
pub use crate::kind::OpKind;

use crate::JsonSchema;
use crate::time::Timestamp;

/// Index of a file in the run's file table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileId(pub u32);

/// Identifier of a client's open file: a number that the workload chooses when it opens one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct OpenId(pub u32);

/// Access mode of an open file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OpenAccess {
    /// Reading.
    Read,
    /// Writing.
    Write,
    /// Reading and writing.
    ReadWrite,
}

/// A name in a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ObjectName {
    /// A name listed in the file table.
    Listed(u32),
    /// A name that consists of a letter and sixteen hexadecimal digits.
    Numbered {
        /// The first character.
        letter: u8,
        /// The rest, in hexadecimal.
        number: u64,
    },
}

/// Position of a directory listing: cookie and verifier of RFC 1813, section 3.3.16.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DirectoryCursor {
    /// Cookie of the last entry seen; 0 starts at the beginning.
    pub cookie: u64,
    /// Verifier; the server checks it to detect whether the cookie is still valid.
    pub verifier: [u8; 8],
    /// Number of pages before this position.
    pub pages: u32,
    /// An earlier cookie, shortened: if it occurs again, the listing never ends.
    pub remembered: u32,
}

impl DirectoryCursor {
    /// Returns the position after the next page, if the last entry of that page has this cookie;
    /// `None` if the listing is circular.
    pub const fn after(self, cookie: u64, verifier: [u8; 8]) -> Option<Self> {
        // Multiplied so that cookies that count up in either half differ.
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

crate::choices! {
    /// Stability level of written data before the server replies (stable_how, RFC 1813, section
    /// 3.3.7).
    #[derive(Default)]
    pub enum Stability {
        /// The server may reply before the data are on stable storage
        Unstable = "unstable", default;
        /// The data and the metadata to find them are on stable storage
        DataSync = "data-sync";
        /// The data and all metadata are on stable storage
        FileSync = "file-sync";
    }
}

/// Change by SETATTR.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttributeChange {
    /// Set the modification time to the server's time.
    Touch,
    /// Set the permission bits.
    Mode(u32),
    /// Set the length in bytes.
    Size(u64),
}

/// An operation of a simulated client on a file server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // the fields are the arguments of the procedure named
pub enum Operation {
    /// An empty exchange.
    Null,
    /// Get the attributes of a file.
    GetAttr { file: FileId },
    /// Set attributes.
    SetAttr {
        file: FileId,
        change: AttributeChange,
    },
    /// Look up a name.
    Lookup { directory: FileId, name: ObjectName },
    /// Get the subset of the `wanted` permissions that the caller has.
    Access { file: FileId, wanted: u32 },
    /// Read the target of a symbolic link.
    ReadLink { link: FileId },
    /// Read file data.
    Read { file: FileId, offset: u64, len: u32 },
    /// Write file data; the bytes are those of `wire::pattern` for the offset.
    Write {
        file: FileId,
        offset: u64,
        len: u32,
        stability: Stability,
    },
    /// Create a regular file.
    Create { directory: FileId, name: ObjectName },
    /// Create a directory.
    MakeDirectory { directory: FileId, name: ObjectName },
    /// Create a symbolic link.
    MakeSymlink {
        directory: FileId,
        name: ObjectName,
        target: ObjectName,
    },
    /// Create a named pipe.
    MakeNode { directory: FileId, name: ObjectName },
    /// Remove a name.
    Remove { directory: FileId, name: ObjectName },
    /// Remove an empty directory.
    RemoveDirectory { directory: FileId, name: ObjectName },
    /// Rename an object.
    Rename {
        from_directory: FileId,
        from: ObjectName,
        to_directory: FileId,
        to: ObjectName,
    },
    /// Create a second name for a file.
    Link {
        file: FileId,
        directory: FileId,
        name: ObjectName,
    },
    /// Read one page of a directory's names.
    ReadDirectory {
        directory: FileId,
        cursor: DirectoryCursor,
        len: u32,
    },
    /// Read one page of a directory's names with attributes and handles.
    ReadDirectoryPlus {
        directory: FileId,
        cursor: DirectoryCursor,
        len: u32,
    },
    /// Get the free space and free files.
    FileSystemStatus { file: FileId },
    /// Get the capabilities and preferences of the server.
    FileSystemInfo { file: FileId },
    /// Get the POSIX limits.
    PathConfiguration { file: FileId },
    /// Commit unstable data to stable storage.
    Commit { file: FileId, offset: u64, len: u32 },
    /// Open a file: the server keeps state for this client until it is closed (NFSv4 OPEN, SMB2
    /// CREATE). The workload chooses `open`, which the client maps to the server's identifier.
    Open {
        file: FileId,
        open: OpenId,
        access: OpenAccess,
    },
    /// Close an open file.
    Close { open: OpenId },
    /// Lock a range of bytes of an open file, without waiting for another client's lock.
    Lock {
        open: OpenId,
        offset: u64,
        len: u64,
        is_exclusive: bool,
    },
    /// Unlock a range of bytes of an open file.
    Unlock { open: OpenId, offset: u64, len: u64 },
    /// Log on the client's user again, and log off (SMB2 SESSION_SETUP).
    SessionSetup,
    /// Connect to the share again, and disconnect (SMB2 TREE_CONNECT).
    TreeConnect,
    /// Wait until a directory changes (SMB2 CHANGE_NOTIFY).
    Notify { directory: FileId },
    /// Copy data on the server from one file to the same offset of another (SMB2 IOCTL).
    Copy {
        from: FileId,
        to: FileId,
        offset: u64,
        len: u32,
    },
}

impl Operation {
    /// Returns the kind of this operation.
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

/// Slot that an operation occupies: the client of a worker, and the slot of the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlotId {
    /// Index of the client within its worker.
    pub client: u32,
    /// Index of the slot within the client.
    pub slot: u32,
}

/// Outcome of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The result was the expected one.
    Ok,
    /// The server replied with a failure, or the result was wrong.
    Failed(Failure),
    /// No reply arrived within the timeout.
    TimedOut,
    /// The connection was lost before the reply.
    Disconnected,
    /// The operation was never sent.
    Skipped,
}

/// Information in a reply that the workload needs to continue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReplyInfo {
    /// No information.
    #[default]
    Plain,
    /// A page of a directory listing.
    Directory {
        /// Position of the next page.
        cursor: DirectoryCursor,
        /// Whether this was the last page.
        end: bool,
        /// Excess of the entries over the requested size, in bytes.
        excess_bytes: u32,
    },
}

/// Completion of an operation, as the backend observed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completion {
    /// Slot of the operation.
    pub ticket: SlotId,
    /// Outcome of the operation.
    pub outcome: Outcome,
    /// Information for the workload.
    pub answer: ReplyInfo,
    /// Earliest time that the connection could take the operation, if the connection was down when
    /// it was submitted.
    pub usable: Timestamp,
    /// Time of the transfer to the operating system.
    pub sent: Timestamp,
    /// Time when the end of the last reply was read, or the operation was aborted.
    pub done: Timestamp,
    /// Number of RPC calls, without retransmissions.
    pub calls: u32,
    /// Number of retransmissions.
    pub retransmissions: u32,
    /// Bytes sent for the operation, including record marks.
    pub bytes_sent: u32,
    /// Bytes received for the operation, including record marks.
    pub bytes_received: u32,
    /// Bytes of file data read or written, or copied by the server.
    pub data_bytes: u32,
}

impl Completion {
    /// Returns the success of an operation of one call, without bytes.
    #[inline]
    pub const fn success(ticket: SlotId, sent: Timestamp, done: Timestamp) -> Self {
        Self {
            ticket,
            outcome: Outcome::Ok,
            answer: ReplyInfo::Plain,
            usable: Timestamp::ZERO,
            sent,
            done,
            calls: 1,
            retransmissions: 0,
            bytes_sent: 0,
            bytes_received: 0,
            data_bytes: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_stays_small_enough_to_be_copied() {
        assert!(size_of::<Operation>() <= 56, "{}", size_of::<Operation>());
    }
}
