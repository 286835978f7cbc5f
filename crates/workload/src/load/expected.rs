//! Expected and actual results of lines, and their comparison.
//!
//! NT status of CIFS-style loads, status numbers of NFS and the operating system's errno are
//! compared by [`Cause`].

pub use crate::failure::{Cause, Mismatch};

use crate::failure::{Failure, ProtocolStatus, StatusSpace};
use crate::payload::VerifyError;

/// Result of one action in a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActionStatus {
    /// Success.
    Ok,
    /// Success, but the number of bytes differs from the load file.
    WrongLength {
        /// Number in the load file.
        expected: u64,
        /// Actual number.
        got: u64,
    },
    /// Success, but ACCESS granted other bits than in the load file.
    WrongAccess {
        /// Bits in the load file.
        expected: u64,
        /// Granted bits.
        got: u64,
    },
    /// Success, but the read data differ from the written data.
    WrongData(VerifyError),
    /// Failure with a status of the protocol or of the operating system.
    Failed(ProtocolStatus),
    /// Refused for this reason before anything was sent.
    Refused(Cause),
    /// The layer only transfers bytes and does not know the result (bare TCP): any expectation
    /// matches.
    Unknown,
}

/// Expected result of a line of a load file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// NT_STATUS_OK, SUCCESS, 0x0.
    Success,
    /// ERROR: any failure.
    Failure,
    /// ERROR of a READ by path: any failure, or fewer bytes than requested.
    FailureOrShort,
    /// A failure with this NT status: the exact status from a server with NT statuses, elsewhere
    /// the same cause, or any failure if there is no protocol-independent cause.
    Nt(u32),
    /// Exactly this NFSv3 (or NLM v4) status.
    Number(u32),
    /// `*`: any result.
    Anything,
}

impl ActionStatus {
    /// Returns the status, or the fault if one was found in the data.
    #[must_use]
    pub fn with_fault(self, fault: Option<VerifyError>) -> Self {
        match (self, fault) {
            (ActionStatus::Ok, Some(fault)) => ActionStatus::WrongData(fault),
            (status, _) => status,
        }
    }

    /// Whether the action succeeded.
    pub const fn is_ok(&self) -> bool {
        matches!(
            self,
            ActionStatus::Ok
                | ActionStatus::WrongLength { .. }
                | ActionStatus::WrongAccess { .. }
                | ActionStatus::WrongData(_)
                | ActionStatus::Unknown
        )
    }

    /// Returns the failure for this mismatch of a line: if it should have succeeded, with the
    /// actual status.
    pub const fn failure(&self, mismatch: Mismatch) -> Failure {
        match (mismatch, self) {
            (Mismatch::Failed, ActionStatus::Failed(status)) => Failure::InsteadOfSuccess(*status),
            _ => Failure::Unexpected(mismatch),
        }
    }

    /// Returns the cause of the failure; `None` after a success.
    pub fn cause(&self) -> Option<Cause> {
        match *self {
            ActionStatus::Ok
            | ActionStatus::WrongLength { .. }
            | ActionStatus::WrongAccess { .. }
            | ActionStatus::WrongData(_)
            | ActionStatus::Unknown => None,
            ActionStatus::Failed(status) => Some(status.cause()),
            ActionStatus::Refused(cause) => Some(cause),
        }
    }
}

/// Numbering scheme of numbers in load files (RFC 1813 section 2.6).
const NUMBERS: StatusSpace = StatusSpace::Nfs3;

/// Whether numbers in load files can belong to this numbering scheme, which includes the separate
/// one of NLM for locks (RFC 1813, appendix II).
const fn is_written(space: StatusSpace) -> bool {
    matches!(space, NUMBERS | StatusSpace::Nlm)
}

impl Expected {
    /// Whether the line expects a failure.
    pub const fn is_failure(&self) -> bool {
        matches!(
            self,
            Expected::Failure | Expected::FailureOrShort | Expected::Nt(_)
        )
    }

    /// Returns the name of a number in the load file, in the numbering scheme of `status`.
    pub fn number_name(number: u32, status: &ActionStatus) -> String {
        match status {
            ActionStatus::Failed(got) if is_written(got.space) => got.space.name(number),
            _ => NUMBERS.name(number),
        }
    }

    /// Returns the difference of `status` from the expected result; `None` if they match.
    pub fn mismatch(&self, status: &ActionStatus) -> Option<Mismatch> {
        match (self, status) {
            (Expected::Anything, _) | (_, ActionStatus::Unknown) => None,
            (Expected::FailureOrShort, ActionStatus::WrongLength { .. }) => None,
            (Expected::Number(0) | Expected::Success, _) => match status {
                ActionStatus::WrongLength { .. } => Some(Mismatch::WrongLength),
                ActionStatus::WrongAccess { .. } => Some(Mismatch::WrongAccess),
                ActionStatus::WrongData(_) => Some(Mismatch::WrongData),
                status if status.is_ok() => None,
                _ => Some(Mismatch::Failed),
            },
            (_, status) if status.is_ok() => Some(Mismatch::Succeeded),
            (Expected::Number(wanted), status) => {
                let is_met = match status {
                    ActionStatus::Failed(got) if is_written(got.space) => *wanted == got.number,
                    status => Some(NUMBERS.cause(*wanted)) == status.cause(),
                };
                (!is_met).then_some(Mismatch::OtherFailure)
            }
            (Expected::Failure | Expected::FailureOrShort, _) => None,
            (Expected::Nt(wanted), status) => {
                (!is_nt_met(*wanted, status)).then_some(Mismatch::OtherFailure)
            }
        }
    }
}

/// Whether a failure has this NT status, or the same cause if it has another kind of status.
fn is_nt_met(wanted: u32, status: &ActionStatus) -> bool {
    if let ActionStatus::Failed(got) = status
        && got.space == StatusSpace::Nt
    {
        return got.number == wanted;
    }
    match (StatusSpace::Nt.cause(wanted), status.cause()) {
        (Cause::Other, _) => true,
        // A missing component and one that is not a directory cannot be distinguished by a client
        // that only requests the whole path.
        (Cause::NotFound, Some(Cause::NotDirectory)) => true,
        (wanted, got) => got == Some(wanted),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use filestone_wire::smb2;

    const MISSING: Expected = Expected::Nt(smb2::Status::OBJECT_NAME_NOT_FOUND.0);

    fn nt(status: smb2::Status) -> ActionStatus {
        ActionStatus::Failed(StatusSpace::Nt.status(status.0))
    }

    #[test]
    fn an_nt_status_must_be_met_exactly() {
        let other = Some(Mismatch::OtherFailure);
        for (status, mismatch) in [
            (smb2::Status::OBJECT_NAME_NOT_FOUND, None),
            // The same cause, but a different status.
            (smb2::Status::OBJECT_PATH_NOT_FOUND, other),
            (smb2::Status::NO_SUCH_FILE, other),
            (smb2::Status::NOT_A_DIRECTORY, other),
        ] {
            assert_eq!(MISSING.mismatch(&nt(status)), mismatch, "{status}");
            assert_eq!(Expected::Failure.mismatch(&nt(status)), None);
        }
        assert_eq!(
            MISSING.mismatch(&ActionStatus::Refused(Cause::NotFound)),
            None
        );
        // Without a protocol-independent cause, any failure matches, except for SMB.
        let sharing = Expected::Nt(smb2::Status::SHARING_VIOLATION.0);
        let full = ActionStatus::Failed(StatusSpace::Errno.status(28));
        assert_eq!(sharing.mismatch(&full), None);
        assert_eq!(sharing.mismatch(&nt(smb2::Status::DISK_FULL)), other);
    }

    #[test]
    fn the_same_failure_is_recognised_in_every_layer() {
        for status in [
            ActionStatus::Failed(StatusSpace::Nfs3.status(2)),
            ActionStatus::Failed(StatusSpace::Errno.status(2)),
            ActionStatus::Failed(StatusSpace::Errno.status(20)),
            nt(smb2::Status::OBJECT_NAME_NOT_FOUND),
            ActionStatus::Refused(Cause::NotFound),
        ] {
            assert_eq!(MISSING.mismatch(&status), None, "{status:?}");
        }
        assert_eq!(
            MISSING.mismatch(&ActionStatus::Ok),
            Some(Mismatch::Succeeded)
        );
        let full = ActionStatus::Failed(StatusSpace::Errno.status(28));
        assert_eq!(MISSING.mismatch(&full), Some(Mismatch::OtherFailure));
        assert_eq!(Expected::Failure.mismatch(&full), None);
    }

    #[test]
    fn a_status_number_must_be_met_exactly() {
        let expected = Expected::Number(66);
        assert_eq!(
            expected.mismatch(&ActionStatus::Failed(StatusSpace::Nfs3.status(66))),
            None
        );
        assert_eq!(
            expected.mismatch(&ActionStatus::Failed(StatusSpace::Nfs3.status(70))),
            Some(Mismatch::OtherFailure)
        );
        assert_eq!(
            expected.mismatch(&ActionStatus::Failed(StatusSpace::Errno.status(39))),
            None
        );
        assert_eq!(Expected::Number(0).mismatch(&ActionStatus::Ok), None);
    }

    #[test]
    fn a_short_read_is_a_mismatch_of_its_own() {
        let short = ActionStatus::WrongLength {
            expected: 4096,
            got: 0,
        };
        assert_eq!(
            Expected::Success.mismatch(&short),
            Some(Mismatch::WrongLength)
        );
        assert_eq!(Expected::Anything.mismatch(&short), None);
        let succeeded = Some(Mismatch::Succeeded);
        assert_eq!(Expected::Failure.mismatch(&short), succeeded);
        let either = Expected::FailureOrShort;
        assert_eq!(either.mismatch(&short), None);
        assert_eq!(either.mismatch(&ActionStatus::Ok), succeeded);
        assert_eq!(either.mismatch(&ActionStatus::Refused(Cause::Denied)), None);
    }
}
