//! Work type of a mix through a mount: the request to a client, and the result of its system calls.
//! Any implementation of the system calls is a blocking client.

use super::caller::{Prerequisites, SyscallResult, SystemCalls, UnmeasuredOperation};
use crate::backend::blocking::{BlockingClient, Unended, WorkResult};
use filestone_host::exhaustion::is_exhausted;
use filestone_workload::failure::StatusSpace;
use filestone_workload::language::{WorkItem, WorkType};
use filestone_workload::operation::{OpKind, Outcome};

/// Work type whose items are kinds of operations.
#[derive(Debug)]
pub enum MountKinds {}

impl WorkType for MountKinds {
    type WorkItem<'a> = MountWork<'a>;
}

/// Request to a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RequestedWork {
    /// An operation of the mix.
    Measured(OpKind),
    /// An operation that keeps the set balanced.
    Unmeasured(UnmeasuredOperation),
    /// After a failure, checks whether further operations can succeed. The check is not counted or
    /// timed.
    Loss,
}

/// Request to a client, and the place for its result.
#[derive(Debug)]
pub struct MountWork<'a> {
    pub(super) asked: RequestedWork,
    pub(super) account: &'a mut Account,
}

/// Result of an operation, including the additional ones it needed.
#[derive(Debug, Default)]
pub(super) struct Account {
    /// Results of the system calls.
    pub done: Vec<SyscallResult>,
    pub needs: Prerequisites,
    /// Whether an operation has failed since the last [`RequestedWork::Loss`] check.
    pub has_failed: bool,
    /// Reason why no further operation can succeed.
    pub lost: Option<String>,
}

impl WorkItem for MountWork<'_> {
    fn kind(&self) -> OpKind {
        match self.asked {
            RequestedWork::Measured(kind) => kind,
            RequestedWork::Unmeasured(unmeasured) => unmeasured.kind,
            RequestedWork::Loss => OpKind::GetAttr,
        }
    }
}

impl<C: SystemCalls> BlockingClient for C {
    type Language = MountKinds;

    fn execute(&mut self, work: MountWork<'_>) -> Result<WorkResult, Unended> {
        let kind = work.kind();
        let MountWork { asked, account } = work;
        let result = match asked {
            RequestedWork::Measured(kind) => self.operate(kind),
            RequestedWork::Unmeasured(unmeasured) => self.call_unmeasured(unmeasured),
            RequestedWork::Loss => {
                account.lost = self.lost();
                return Ok(WorkResult::of(Outcome::Ok));
            }
        };
        let (outcome, done) = match result {
            Ok(done) => (Outcome::Ok, done),
            Err(errno) if is_exhausted(errno) => return Err(Unended::Exhausted(errno.into())),
            Err(errno) => {
                account.has_failed = true;
                let number = errno.raw_os_error().unsigned_abs();
                let outcome = Outcome::Failed(StatusSpace::Errno.failure(number));
                (outcome, SyscallResult::calls(kind, 1))
            }
        };
        account.needs = self.needs();
        account.done.push(done);
        Ok(WorkResult {
            calls: u32::try_from(done.sum()).unwrap_or(u32::MAX),
            data_bytes: done.data_bytes,
            ..WorkResult::of(outcome)
        })
    }
}
