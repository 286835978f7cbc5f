//! Result of a verb, before conversion to a reply.

use crate::replay::LayerReply;
use filestone_host::exhaustion::is_exhausted;
use filestone_workload::failure::StatusSpace;
use filestone_workload::load::{ActionStatus, Cause};
use rustix::io::Errno;

/// Result of a verb.
pub(super) type VerbResult = Result<Done, FailedVerb>;

/// A verb that was executed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Done {
    status: ActionStatus,
    data_bytes: u64,
}

/// A verb that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FailedVerb(pub ActionStatus);

impl Done {
    /// Executed, without file data.
    pub const OK: Self = Self {
        status: ActionStatus::Ok,
        data_bytes: 0,
    };

    /// Executed, with this status.
    pub const fn with(status: ActionStatus) -> Self {
        Self {
            status,
            data_bytes: 0,
        }
    }

    /// Executed, with `moved` bytes of file data read or written.
    pub const fn data(status: ActionStatus, moved: u64) -> Self {
        Self {
            status,
            data_bytes: moved,
        }
    }
}

impl FailedVerb {
    /// Returns the errno if exhaustion of a resource of this host caused the failure; then the file
    /// system has not answered.
    pub fn exhaustion(self) -> Option<Errno> {
        let ActionStatus::Failed(status) = self.0 else {
            return None;
        };
        let errno = Errno::from_raw_os_error(i32::try_from(status.number).ok()?);
        (status.space == StatusSpace::Errno && is_exhausted(errno)).then_some(errno)
    }
}

impl From<Errno> for FailedVerb {
    fn from(errno: Errno) -> Self {
        let number = errno.raw_os_error().unsigned_abs();
        FailedVerb(ActionStatus::Failed(StatusSpace::Errno.status(number)))
    }
}

impl From<Cause> for FailedVerb {
    fn from(cause: Cause) -> Self {
        FailedVerb(ActionStatus::Refused(cause))
    }
}

/// Converts to a reply for the runner; `partial` is the number of bytes moved before a failure.
pub(super) fn reply(answer: VerbResult, partial: u64) -> LayerReply {
    match answer {
        Ok(done) => LayerReply {
            data_bytes: done.data_bytes,
            ..LayerReply::of(done.status)
        },
        Err(FailedVerb(status)) => LayerReply {
            data_bytes: partial,
            ..LayerReply::of(status)
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_this_host_lacks_is_no_answer_of_a_file_system() {
        for errno in [Errno::MFILE, Errno::NFILE, Errno::NOMEM] {
            assert_eq!(FailedVerb::from(errno).exhaustion(), Some(errno));
        }
        for errno in [Errno::NOENT, Errno::NOSPC, Errno::IO, Errno::DQUOT] {
            assert_eq!(FailedVerb::from(errno).exhaustion(), None);
        }
        assert_eq!(FailedVerb::from(Cause::Denied).exhaustion(), None);
        // The same number in another status space is not an errno.
        let status = StatusSpace::Nfs3.status(Errno::MFILE.raw_os_error().unsigned_abs());
        assert_eq!(FailedVerb(ActionStatus::Failed(status)).exhaustion(), None);
    }
}
