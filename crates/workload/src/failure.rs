//! Failures of operations that were answered, for all protocols.
//!
//! Each protocol numbers its statuses separately. A [`ProtocolStatus`] has the number and its
//! protocol, so that it can be named, and compared by cause.

use crate::JsonSchema;
use core::fmt;
use filestone_wire::rpc::{AcceptStatus, AuthStatus};
use filestone_wire::{nfs3, nlm, smb2};
use serde::{Deserialize, Serialize};

/// Failure of an operation that was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Failure {
    /// A status of the protocol, such as NFS3ERR_STALE (70).
    Status(ProtocolStatus),
    /// The reply did not match its call.
    BadReply(ReplyFault),
    /// The result was not the one that the load file expects.
    Unexpected(Mismatch),
    /// A failure status where the load file expects success.
    InsteadOfSuccess(ProtocolStatus),
}

/// Mismatch of a reply and its call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReplyFault {
    /// The reply ended early, was too long or had a value that the standard does not define.
    Undecodable,
    /// The reply had more data than requested.
    TooMuchData,
    /// The data were not those that were written.
    WrongData,
    /// The reply has the wrong file type or count for its call.
    Inconsistent,
    /// The signature was missing or wrong, so the reply may not be from the server.
    Forged,
    /// Legal, but less than requested: READ ended before the end of the file, or WRITE accepted a
    /// part.
    Short,
}

/// Difference between a result and the one that the load file expects.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Mismatch {
    /// The operation should have succeeded.
    Failed,
    /// The operation should have failed.
    Succeeded,
    /// The operation should have failed with another status.
    OtherFailure,
    /// The operation transferred a different number of bytes.
    WrongLength,
    /// ACCESS granted different bits.
    WrongAccess,
    /// The operation returned data other than those written.
    WrongData,
}

impl Mismatch {
    /// Returns the description in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Mismatch::Failed => "should have succeeded",
            Mismatch::Succeeded => "should have failed",
            Mismatch::OtherFailure => "failed for another reason",
            Mismatch::WrongLength => "moved another number of bytes",
            Mismatch::WrongAccess => "granted other access",
            Mismatch::WrongData => "brought other data than were written",
        }
    }
}

/// Cause of a failure, common to all protocols: general enough to apply to each of them, specific
/// enough to distinguish a missing file from a full disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// The name or a directory in its path does not exist: ENOENT, NFS3ERR_NOENT,
    /// NT_STATUS_OBJECT_NAME_NOT_FOUND, _OBJECT_PATH_NOT_FOUND, _NO_SUCH_FILE.
    NotFound,
    /// The name exists already: EEXIST, NFS3ERR_EXIST, _OBJECT_NAME_COLLISION.
    Exists,
    /// Not allowed: EACCES, EPERM, EROFS, NFS3ERR_ACCES, _ACCESS_DENIED.
    Denied,
    /// The path or a part of it is not a directory: ENOTDIR, NFS3ERR_NOTDIR.
    NotDirectory,
    /// The object is a directory, which the operation does not allow: EISDIR, NFS3ERR_ISDIR,
    /// _FILE_IS_A_DIRECTORY.
    IsDirectory,
    /// The directory is not empty: ENOTEMPTY, NFS3ERR_NOTEMPTY, _DIRECTORY_NOT_EMPTY.
    NotEmpty,
    /// No space: ENOSPC, EDQUOT, NFS3ERR_NOSPC, _DISK_FULL.
    NoSpace,
    /// Another client holds a lock: EAGAIN of fcntl, NLM4_DENIED, _LOCK_NOT_GRANTED.
    Locked,
    /// A handle that the load file did not open, or that failed to open.
    UnknownHandle,
    /// Any other cause.
    Other,
}

impl Cause {
    /// Returns the name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Cause::NotFound => "not found",
            Cause::Exists => "exists already",
            Cause::Denied => "not allowed",
            Cause::NotDirectory => "not a directory",
            Cause::IsDirectory => "is a directory",
            Cause::NotEmpty => "not empty",
            Cause::NoSpace => "no space left",
            Cause::Locked => "locked by another client",
            Cause::UnknownHandle => "a handle that is not open",
            Cause::Other => "failure",
        }
    }
}

/// A status of a protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProtocolStatus {
    /// The numbering scheme.
    pub space: StatusSpace,
    /// The number in this scheme.
    pub number: u32,
}

macro_rules! status_spaces {
    ($($(#[doc = $doc:literal])* $space:ident: $name:expr, $cause:expr;)*) => {
        /// Numbering schemes of statuses: a registry, with one line for each.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum StatusSpace { $($(#[doc = $doc])* $space,)* }

        impl StatusSpace {
            /// Returns the name of a number in this scheme, such as `NFS3ERR_STALE (70)`.
            pub fn name(self, number: u32) -> String {
                match self { $(StatusSpace::$space => ($name)(number),)* }
            }

            /// Returns the protocol-independent cause of a number in this scheme.
            pub fn cause(self, number: u32) -> Cause {
                match self { $(StatusSpace::$space => ($cause)(number),)* }
            }
        }
    };
}

status_spaces! {
    /// nfsstat3, RFC 1813 section 2.6.
    Nfs3: |number| nfs3::Status(number).to_string(), cause_of_nfs;
    /// accept_stat, RFC 5531 section 9: the call was accepted and not executed.
    RpcAccept: name_of_accept, |_| Cause::Other;
    /// auth_stat, RFC 5531 section 9: the call was denied. 0, which is AUTH_OK there, represents
    /// RPC_MISMATCH.
    RpcDenied: name_of_denied, |_| Cause::Other;
    /// nlm4_stats, RFC 1813 section 6.1.3.
    Nlm: |number| nlm::Status(number).to_string(), cause_of_nlm;
    /// errno of Linux.
    Errno: name_of_errno, cause_of_errno;
    /// NTSTATUS, MS-ERREF section 2.3.1.
    Nt: |number| smb2::Status(number).to_string(), cause_of_nt;
    /// Statuses of a protocol without a line here.
    Unnamed: |number| format!("status {number}"), |_| Cause::Other;
}

impl StatusSpace {
    /// Returns the status with this number.
    pub const fn status(self, number: u32) -> ProtocolStatus {
        ProtocolStatus {
            space: self,
            number,
        }
    }

    /// Returns a failure with this number.
    pub const fn failure(self, number: u32) -> Failure {
        Failure::Status(self.status(number))
    }
}

impl ProtocolStatus {
    /// Returns the protocol-independent cause.
    pub fn cause(self) -> Cause {
        self.space.cause(self.number)
    }
}

impl From<ProtocolStatus> for Failure {
    fn from(status: ProtocolStatus) -> Self {
        Self::Status(status)
    }
}

impl Failure {
    /// RPC_MISMATCH: the server has a different version of RPC.
    pub const RPC_MISMATCH: Self = StatusSpace::RpcDenied.failure(0);

    /// Returns the protocol-independent cause.
    pub fn cause(self) -> Cause {
        match self {
            Failure::Status(status) => status.cause(),
            Failure::BadReply(_) | Failure::Unexpected(_) | Failure::InsteadOfSuccess(_) => {
                Cause::Other
            }
        }
    }

    /// Returns the protocol status, if there is one.
    pub const fn status(self) -> Option<ProtocolStatus> {
        match self {
            Failure::Status(status) | Failure::InsteadOfSuccess(status) => Some(status),
            Failure::BadReply(_) | Failure::Unexpected(_) => None,
        }
    }

    /// Returns the difference from the expected result, if there is one.
    pub const fn mismatch(self) -> Option<Mismatch> {
        match self {
            Failure::Unexpected(mismatch) => Some(mismatch),
            Failure::InsteadOfSuccess(_) => Some(Mismatch::Failed),
            Failure::Status(_) | Failure::BadReply(_) => None,
        }
    }
}

impl fmt::Display for ReplyFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ReplyFault::Undecodable => "reply that cannot be decoded",
            ReplyFault::TooMuchData => "reply with more data than asked for",
            ReplyFault::WrongData => "reply with wrong data",
            ReplyFault::Inconsistent => "reply that contradicts its call",
            ReplyFault::Forged => "reply with a missing or wrong signature",
            ReplyFault::Short => "short transfer: less data than asked for",
        })
    }
}

impl fmt::Display for ProtocolStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.space.name(self.number))
    }
}

/// The failure as the protocol's standard spells it, with its number.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Status(status) | Failure::InsteadOfSuccess(status) => status.fmt(f),
            Failure::BadReply(fault) => fault.fmt(f),
            Failure::Unexpected(mismatch) => f.write_str(mismatch.name()),
        }
    }
}

fn name_of_accept(number: u32) -> String {
    let name = match number {
        1 => "PROG_UNAVAIL",
        2 => "PROG_MISMATCH",
        3 => "PROC_UNAVAIL",
        4 => "GARBAGE_ARGS",
        _ => "SYSTEM_ERR",
    };
    format!("{name} ({number})")
}

fn name_of_denied(number: u32) -> String {
    match number {
        0 => "RPC_MISMATCH (0)".into(),
        number => AuthStatus(number).to_string(),
    }
}

fn name_of_errno(number: u32) -> String {
    let error = std::io::Error::from_raw_os_error(i32::try_from(number).unwrap_or(i32::MAX));
    let text = error.to_string();
    let name = text.split(" (os error").next().unwrap_or(&text);
    format!("{name} ({number})")
}

/// Returns the accept_stat number of a call that was accepted and not executed.
pub const fn accept_number(status: &AcceptStatus) -> u32 {
    match status {
        AcceptStatus::Success => 0,
        AcceptStatus::ProgUnavail => 1,
        AcceptStatus::ProgMismatch { .. } => 2,
        AcceptStatus::ProcUnavail => 3,
        AcceptStatus::GarbageArgs => 4,
        AcceptStatus::SystemErr => 5,
    }
}

/// Returns the cause of an nfsstat3 (RFC 1813, section 2.6).
const fn cause_of_nfs(number: u32) -> Cause {
    match number {
        2 => Cause::NotFound,
        1 | 13 | 30 => Cause::Denied,
        17 => Cause::Exists,
        20 => Cause::NotDirectory,
        21 => Cause::IsDirectory,
        28 | 69 => Cause::NoSpace,
        66 => Cause::NotEmpty,
        _ => Cause::Other,
    }
}

/// Returns the cause of a Linux errno, as reported by the local layer.
const fn cause_of_errno(number: u32) -> Cause {
    match number {
        2 => Cause::NotFound,
        1 | 13 | 30 => Cause::Denied,
        11 => Cause::Locked,
        17 => Cause::Exists,
        20 => Cause::NotDirectory,
        21 => Cause::IsDirectory,
        28 | 122 => Cause::NoSpace,
        39 => Cause::NotEmpty,
        _ => Cause::Other,
    }
}

/// Returns the cause of an nlm4_stats (RFC 1813, section 6.1.3).
const fn cause_of_nlm(number: u32) -> Cause {
    match number {
        1 => Cause::Locked,
        _ => Cause::Other,
    }
}

/// Returns the cause of an NTSTATUS (MS-ERREF, section 2.3.1).
const fn cause_of_nt(number: u32) -> Cause {
    use smb2::Status;
    match Status(number) {
        Status::OBJECT_NAME_NOT_FOUND
        | Status::OBJECT_PATH_NOT_FOUND
        | Status::NO_SUCH_FILE
        | Status::NOT_FOUND => Cause::NotFound,
        Status::OBJECT_NAME_COLLISION => Cause::Exists,
        Status::ACCESS_DENIED
        | Status::PRIVILEGE_NOT_HELD
        | Status::MEDIA_WRITE_PROTECTED
        | Status::NETWORK_ACCESS_DENIED => Cause::Denied,
        Status::NOT_A_DIRECTORY => Cause::NotDirectory,
        Status::FILE_IS_A_DIRECTORY => Cause::IsDirectory,
        Status::DIRECTORY_NOT_EMPTY => Cause::NotEmpty,
        Status::DISK_FULL | Status::QUOTA_EXCEEDED | Status::DISK_QUOTA_EXCEEDED => Cause::NoSpace,
        Status::LOCK_NOT_GRANTED | Status::FILE_LOCK_CONFLICT => Cause::Locked,
        Status::INVALID_HANDLE | Status::FILE_CLOSED => Cause::UnknownHandle,
        _ => Cause::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_names_itself_as_its_space_does() {
        for (failure, name) in [
            (StatusSpace::Nfs3.failure(70), "NFS3ERR_STALE (70)"),
            (StatusSpace::Nfs3.failure(9), "nfsstat3 9"),
            (StatusSpace::RpcAccept.failure(4), "GARBAGE_ARGS (4)"),
            (StatusSpace::RpcDenied.failure(5), "AUTH_TOOWEAK (5)"),
            (Failure::RPC_MISMATCH, "RPC_MISMATCH (0)"),
            (StatusSpace::Nlm.failure(1), "NLM4_DENIED (1)"),
            (
                StatusSpace::Errno.failure(2),
                "No such file or directory (2)",
            ),
            (
                StatusSpace::Nt.failure(0xc000_0022),
                "STATUS_ACCESS_DENIED (0xc0000022)",
            ),
            (StatusSpace::Unnamed.failure(7), "status 7"),
            (
                Failure::BadReply(ReplyFault::WrongData),
                "reply with wrong data",
            ),
        ] {
            assert_eq!(failure.to_string(), name);
        }
    }

    #[test]
    fn the_same_cause_has_a_number_in_each_space() {
        for failure in [
            StatusSpace::Nfs3.failure(17),
            StatusSpace::Errno.failure(17),
            StatusSpace::Nt.failure(0xc000_0035),
        ] {
            assert_eq!(failure.cause(), Cause::Exists);
        }
        assert_eq!(StatusSpace::Nlm.failure(1).cause(), Cause::Locked);
        assert_eq!(StatusSpace::RpcDenied.failure(2).cause(), Cause::Other);
    }
}
