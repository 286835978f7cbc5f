//! The language of a mix through a mount: what a client is asked, and where it says what its
//! system calls did. Whatever makes them is a client that blocks.

use super::caller::{Prerequisites, SyscallResult, SystemCalls, UnmeasuredOperation};
use crate::backend::blocking::{BlockingClient, Unended, WorkResult};
use crate::exhaustion::is_exhausted;
use filestone_workload::failure::StatusSpace;
use filestone_workload::language::{WorkItem, WorkType};
use filestone_workload::operation::{OpKind, Outcome};

/// The language: operations by their kinds.
#[derive(Debug)]
pub enum MountKinds {}

impl WorkType for MountKinds {
    type WorkItem<'a> = MountWork<'a>;
}

/// What a client is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    /// An operation of the mix.
    Measured(OpKind),
    /// One that keeps the set in its proportions.
    Unmeasured(UnmeasuredOperation),
    /// After one that failed: whether any can succeed. Neither counted nor timed.
    Loss,
}

/// What is asked, and where the client says what came of it.
#[derive(Debug)]
pub struct MountWork<'a> {
    pub(super) asked: Asked,
    pub(super) account: &'a mut Account,
}

/// What a client says of an operation, and of those that it took besides.
#[derive(Debug, Default)]
pub(super) struct Account {
    /// What their system calls did.
    pub done: Vec<SyscallResult>,
    pub needs: Prerequisites,
    /// Whether one has failed since it was last looked why.
    pub has_failed: bool,
    /// Why no operation can succeed any more.
    pub lost: Option<String>,
}

impl WorkItem for MountWork<'_> {
    fn kind(&self) -> OpKind {
        match self.asked {
            Asked::Measured(kind) => kind,
            Asked::Unmeasured(unmeasured) => unmeasured.kind,
            Asked::Loss => OpKind::GetAttr,
        }
    }
}

impl<C: SystemCalls> BlockingClient for C {
    type Language = MountKinds;

    fn execute(&mut self, work: MountWork<'_>) -> Result<WorkResult, Unended> {
        let kind = work.kind();
        let MountWork { asked, account } = work;
        let result = match asked {
            Asked::Measured(kind) => self.operate(kind),
            Asked::Unmeasured(unmeasured) => self.call_unmeasured(unmeasured),
            Asked::Loss => {
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
