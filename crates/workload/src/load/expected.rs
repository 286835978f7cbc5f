//! What a line expects, what a layer answered, and whether they agree.
//!
//! The vocabularies (NT status of CIFS-style loads, status numbers of NFS, the operating
//! system's errno) meet in [`Cause`].

pub use crate::failure::{Cause, Mismatch};

use crate::failure::{Failure, ProtocolStatus, StatusSpace};
use crate::payload::VerifyError;

/// What a layer answered to one action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Done.
    Ok,
    /// Done, but with fewer or more bytes than the load file says came back.
    WrongLength {
        /// What the load file says.
        expected: u64,
        /// What came.
        got: u64,
    },
    /// Done, but ACCESS granted other bits than the load file says.
    WrongAccess {
        /// What the load file says.
        expected: u64,
        /// What was granted.
        got: u64,
    },
    /// Done, but what was read is not what was written.
    WrongData(VerifyError),
    /// Not done: the status of the protocol, or of the operating system.
    Failed(ProtocolStatus),
    /// Refused before it was sent, for this reason.
    Refused(Cause),
    /// The layer only carries bytes and cannot say (bare TCP): whatever is expected.
    Unknown,
}

/// What a line of a load file expects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// NT_STATUS_OK, SUCCESS, 0x0.
    Success,
    /// ERROR: any failure will do.
    Failure,
    /// ERROR of a READ by path: any failure, and fewer bytes than were asked for.
    FailureOrShort,
    /// A failure with this NT status: with exactly it from a server that answers with NT statuses;
    /// elsewhere for its reason, and for any if it has none that all protocols know.
    Nt(u32),
    /// Exactly this NFSv3 (or NLM v4) status.
    Number(u32),
    /// `*`: anything.
    Anything,
}

impl Status {
    /// The same of data in which something was found.
    #[must_use]
    pub fn with_fault(self, fault: Option<VerifyError>) -> Self {
        match (self, fault) {
            (Status::Ok, Some(fault)) => Status::WrongData(fault),
            (status, _) => status,
        }
    }

    /// Whether the layer did what was asked.
    pub const fn is_ok(&self) -> bool {
        matches!(
            self,
            Status::Ok
                | Status::WrongLength { .. }
                | Status::WrongAccess { .. }
                | Status::WrongData(_)
                | Status::Unknown
        )
    }

    /// The failure of a line of which this is a mismatch: where it should have succeeded, with what
    /// came in place of that.
    pub const fn failure(&self, mismatch: Mismatch) -> Failure {
        match (mismatch, self) {
            (Mismatch::Failed, Status::Failed(status)) => Failure::InsteadOfSuccess(*status),
            _ => Failure::Unexpected(mismatch),
        }
    }

    /// Why not; `None` when it did.
    pub fn cause(&self) -> Option<Cause> {
        match *self {
            Status::Ok
            | Status::WrongLength { .. }
            | Status::WrongAccess { .. }
            | Status::WrongData(_)
            | Status::Unknown => None,
            Status::Failed(status) => Some(status.cause()),
            Status::Refused(cause) => Some(cause),
        }
    }
}

/// Whose numbers load files write (RFC 1813 section 2.6).
const NUMBERS: StatusSpace = StatusSpace::Nfs3;

/// Whether load files write the numbers of this space: those of locks, too, of which NLM has its
/// own (RFC 1813, appendix II).
const fn is_written(space: StatusSpace) -> bool {
    matches!(space, NUMBERS | StatusSpace::Nlm)
}

impl Expected {
    /// Whether the line is to fail.
    pub const fn is_failure(&self) -> bool {
        matches!(
            self,
            Expected::Failure | Expected::FailureOrShort | Expected::Nt(_)
        )
    }

    /// What the load file writes, as whoever answered `status` names it.
    pub fn number_name(number: u32, status: &Status) -> String {
        match status {
            Status::Failed(got) if is_written(got.space) => got.space.name(number),
            _ => NUMBERS.name(number),
        }
    }

    /// How `status` differs from what is expected; `None` when it does not.
    pub fn mismatch(&self, status: &Status) -> Option<Mismatch> {
        match (self, status) {
            (Expected::Anything, _) | (_, Status::Unknown) => None,
            (Expected::FailureOrShort, Status::WrongLength { .. }) => None,
            (Expected::Number(0) | Expected::Success, _) => match status {
                Status::WrongLength { .. } => Some(Mismatch::WrongLength),
                Status::WrongAccess { .. } => Some(Mismatch::WrongAccess),
                Status::WrongData(_) => Some(Mismatch::WrongData),
                status if status.is_ok() => None,
                _ => Some(Mismatch::Failed),
            },
            (_, status) if status.is_ok() => Some(Mismatch::Succeeded),
            (Expected::Number(wanted), status) => {
                let is_met = match status {
                    Status::Failed(got) if is_written(got.space) => *wanted == got.number,
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

/// Whether what failed has this NT status, or failed for its reason where statuses are others.
fn is_nt_met(wanted: u32, status: &Status) -> bool {
    if let Status::Failed(got) = status
        && got.space == StatusSpace::Nt
    {
        return got.number == wanted;
    }
    match (StatusSpace::Nt.cause(wanted), status.cause()) {
        (Cause::Other, _) => true,
        // A component that is missing and one that is no directory look alike
        // to a client that only asks for the whole path.
        (Cause::NotFound, Some(Cause::NotDirectory)) => true,
        (wanted, got) => got == Some(wanted),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use filestone_wire::smb2;

    const MISSING: Expected = Expected::Nt(smb2::Status::OBJECT_NAME_NOT_FOUND.0);

    fn nt(status: smb2::Status) -> Status {
        Status::Failed(StatusSpace::Nt.status(status.0))
    }

    #[test]
    fn an_nt_status_must_be_met_exactly() {
        let other = Some(Mismatch::OtherFailure);
        for (status, mismatch) in [
            (smb2::Status::OBJECT_NAME_NOT_FOUND, None),
            // The same cause, and still another status.
            (smb2::Status::OBJECT_PATH_NOT_FOUND, other),
            (smb2::Status::NO_SUCH_FILE, other),
            (smb2::Status::NOT_A_DIRECTORY, other),
        ] {
            assert_eq!(MISSING.mismatch(&nt(status)), mismatch, "{status}");
            assert_eq!(Expected::Failure.mismatch(&nt(status)), None);
        }
        assert_eq!(MISSING.mismatch(&Status::Refused(Cause::NotFound)), None);
        // Without a cause that all protocols know, any failure will do; but not of SMB.
        let sharing = Expected::Nt(smb2::Status::SHARING_VIOLATION.0);
        let full = Status::Failed(StatusSpace::Errno.status(28));
        assert_eq!(sharing.mismatch(&full), None);
        assert_eq!(sharing.mismatch(&nt(smb2::Status::DISK_FULL)), other);
    }

    #[test]
    fn the_same_failure_is_recognised_in_every_layer() {
        for status in [
            Status::Failed(StatusSpace::Nfs3.status(2)),
            Status::Failed(StatusSpace::Errno.status(2)),
            Status::Failed(StatusSpace::Errno.status(20)),
            nt(smb2::Status::OBJECT_NAME_NOT_FOUND),
            Status::Refused(Cause::NotFound),
        ] {
            assert_eq!(MISSING.mismatch(&status), None, "{status:?}");
        }
        assert_eq!(MISSING.mismatch(&Status::Ok), Some(Mismatch::Succeeded));
        let full = Status::Failed(StatusSpace::Errno.status(28));
        assert_eq!(MISSING.mismatch(&full), Some(Mismatch::OtherFailure));
        assert_eq!(Expected::Failure.mismatch(&full), None);
    }

    #[test]
    fn a_status_number_must_be_met_exactly() {
        let expected = Expected::Number(66);
        assert_eq!(
            expected.mismatch(&Status::Failed(StatusSpace::Nfs3.status(66))),
            None
        );
        assert_eq!(
            expected.mismatch(&Status::Failed(StatusSpace::Nfs3.status(70))),
            Some(Mismatch::OtherFailure)
        );
        assert_eq!(
            expected.mismatch(&Status::Failed(StatusSpace::Errno.status(39))),
            None
        );
        assert_eq!(Expected::Number(0).mismatch(&Status::Ok), None);
    }

    #[test]
    fn a_short_read_is_a_mismatch_of_its_own() {
        let short = Status::WrongLength {
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
        assert_eq!(either.mismatch(&Status::Ok), succeeded);
        assert_eq!(either.mismatch(&Status::Refused(Cause::Denied)), None);
    }
}
