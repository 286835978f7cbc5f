//! What a line expects, what a layer answered, and whether they agree.
//!
//! The vocabularies (NT status of CIFS-style loads, status numbers of NFS, the operating
//! system's errno) meet in [`Cause`].

pub use crate::failure::{Cause, Mismatch};

use crate::failure::{ProtocolStatus, StatusSpace};

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
    /// A failure for this reason. [`Cause::Other`]: ERROR, or a code that has no
    /// reason of its own here; then any failure will do.
    Failure(Cause),
    /// Exactly this NFSv3 (or NLM v4) status.
    Number(u32),
    /// `*`: anything.
    Anything,
}

impl Status {
    /// Whether the layer did what was asked.
    pub const fn is_ok(&self) -> bool {
        matches!(
            self,
            Status::Ok | Status::WrongLength { .. } | Status::WrongAccess { .. } | Status::Unknown
        )
    }

    /// Why not; `None` when it did.
    pub fn cause(&self) -> Option<Cause> {
        match *self {
            Status::Ok
            | Status::WrongLength { .. }
            | Status::WrongAccess { .. }
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
            (Expected::Number(0) | Expected::Success, _) => match status {
                Status::WrongLength { .. } => Some(Mismatch::WrongLength),
                Status::WrongAccess { .. } => Some(Mismatch::WrongAccess),
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
            (Expected::Failure(Cause::Other), _) => None,
            // A component that is missing and one that is no directory look alike
            // to a client that only asks for the whole path.
            (Expected::Failure(Cause::NotFound), status)
                if status.cause() == Some(Cause::NotDirectory) =>
            {
                None
            }
            (Expected::Failure(cause), status) => {
                (Some(*cause) != status.cause()).then_some(Mismatch::OtherFailure)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_failure_is_recognised_in_every_layer() {
        let expected = Expected::Failure(Cause::NotFound);
        for status in [
            Status::Failed(StatusSpace::Nfs3.status(2)),
            Status::Failed(StatusSpace::Errno.status(2)),
            Status::Refused(Cause::NotFound),
        ] {
            assert_eq!(expected.mismatch(&status), None, "{status:?}");
        }
        assert_eq!(expected.mismatch(&Status::Ok), Some(Mismatch::Succeeded));
        assert_eq!(
            expected.mismatch(&Status::Failed(StatusSpace::Errno.status(28))),
            Some(Mismatch::OtherFailure)
        );
        assert_eq!(
            Expected::Failure(Cause::Other)
                .mismatch(&Status::Failed(StatusSpace::Errno.status(28))),
            None
        );
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
    }
}
