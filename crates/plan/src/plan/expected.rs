//! Failure statuses that count as expected (`--expect`).

use crate::JsonSchema;
use filestone_wire::{nfs3, nlm, smb2};
use filestone_workload::failure::{ProtocolStatus, StatusSpace};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Maximum number of statuses in a plan.
pub const EXPECTED_MAX: usize = 64;

/// A status by its name in its standard. An operation that fails with it ends as expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct ExpectedStatus(ProtocolStatus);

/// Error returned when a name is not that of a status.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is no status: expected a name of nfsstat3 (NFS3ERR_NOENT), of NLM (NLM4_DENIED), of NTSTATUS \
     (STATUS_DISK_FULL), or of errno (ENOENT)"
)]
pub struct NoSuchStatus(String);

/// Names of errno (Linux, asm-generic/errno-base.h and errno.h) that file systems return.
const ERRNOS: [(&str, u32); 27] = [
    ("EPERM", 1),
    ("ENOENT", 2),
    ("EIO", 5),
    ("ENXIO", 6),
    ("EAGAIN", 11),
    ("ENOMEM", 12),
    ("EACCES", 13),
    ("EBUSY", 16),
    ("EEXIST", 17),
    ("EXDEV", 18),
    ("ENODEV", 19),
    ("ENOTDIR", 20),
    ("EISDIR", 21),
    ("EINVAL", 22),
    ("ENFILE", 23),
    ("EMFILE", 24),
    ("EFBIG", 27),
    ("ENOSPC", 28),
    ("EROFS", 30),
    ("EMLINK", 31),
    ("ENAMETOOLONG", 36),
    ("ENOTEMPTY", 39),
    ("ELOOP", 40),
    ("EOPNOTSUPP", 95),
    ("ETIMEDOUT", 110),
    ("ESTALE", 116),
    ("EDQUOT", 122),
];

impl ExpectedStatus {
    /// Returns the status.
    pub const fn status(self) -> ProtocolStatus {
        self.0
    }
}

impl FromStr for ExpectedStatus {
    type Err = NoSuchStatus;

    fn from_str(name: &str) -> Result<Self, NoSuchStatus> {
        let upper = name.trim().to_ascii_uppercase();
        let of_nfs = || nfs3::Status::from_name(&upper).map(|status| (StatusSpace::Nfs3, status.0));
        let of_nlm = || nlm::Status::from_name(&upper).map(|status| (StatusSpace::Nlm, status.0));
        // Samba and load files write NT_STATUS.
        let of_nt = || {
            let name = upper.strip_prefix("NT_").unwrap_or(&upper);
            smb2::Status::from_name(name).map(|status| (StatusSpace::Nt, status.0))
        };
        let of_errno = || {
            let mut errnos = ERRNOS.iter();
            let found = errnos.find(|(known, _)| *known == upper);
            found.map(|(_, number)| (StatusSpace::Errno, *number))
        };
        let found = of_nfs().or_else(of_nlm).or_else(of_nt).or_else(of_errno);
        // A success status is not a failure.
        let found = found.filter(|(_, number)| *number != 0);
        let (space, number) = found.ok_or_else(|| NoSuchStatus(name.into()))?;
        Ok(Self(space.status(number)))
    }
}

/// The name alone, as in a plan and on a command line.
impl fmt::Display for ExpectedStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ProtocolStatus { space, number } = self.0;
        let name = match space {
            StatusSpace::Nfs3 => nfs3::Status(number).name(),
            StatusSpace::Nlm => nlm::Status(number).name(),
            StatusSpace::Nt => smb2::Status(number).name(),
            StatusSpace::Errno => {
                let found = ERRNOS.iter().find(|(_, known)| *known == number);
                found.map(|(name, _)| *name)
            }
            StatusSpace::RpcAccept | StatusSpace::RpcDenied | StatusSpace::Unnamed => None,
        };
        f.write_str(name.unwrap_or_default())
    }
}

impl TryFrom<String> for ExpectedStatus {
    type Error = NoSuchStatus;

    fn try_from(name: String) -> Result<Self, NoSuchStatus> {
        name.parse()
    }
}

impl From<ExpectedStatus> for String {
    fn from(status: ExpectedStatus) -> Self {
        status.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_known_by_its_name_in_each_space() {
        for (written, name, status) in [
            (
                "NFS3ERR_NOENT",
                "NFS3ERR_NOENT",
                StatusSpace::Nfs3.status(2),
            ),
            (
                "nfs3err_stale",
                "NFS3ERR_STALE",
                StatusSpace::Nfs3.status(70),
            ),
            ("NLM4_DENIED", "NLM4_DENIED", StatusSpace::Nlm.status(1)),
            (
                "NT_STATUS_DISK_FULL",
                "STATUS_DISK_FULL",
                StatusSpace::Nt.status(0xc000_007f),
            ),
            ("ENOENT", "ENOENT", StatusSpace::Errno.status(2)),
        ] {
            let expected: ExpectedStatus = written.parse().expect(written);
            assert_eq!(expected.status(), status);
            assert_eq!(expected.to_string(), name);
            let json = serde_json::to_string(&expected).expect("a text");
            assert_eq!(
                serde_json::from_str::<ExpectedStatus>(&json).ok(),
                Some(expected)
            );
        }
        for wrong in ["", "2", "NFS3_OK", "NFS3ERR_NOSUCH", "STATUS_SUCCESS", "ok"] {
            let error = wrong.parse::<ExpectedStatus>().expect_err(wrong);
            assert!(error.to_string().contains("is no status"), "{error}");
        }
    }
}
