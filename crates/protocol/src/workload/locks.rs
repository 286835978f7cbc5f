//! LOCK, repeated: each slot has the client's file open, and uses a separate range of it.
//!
//! ```text
//!   ─▶ LOCK ─▶ UNLOCK ─▶ LOCK ─▶ …
//!       ▲ │ the file is no longer open
//!       │ ▼
//!      OPEN
//! ```
//!
//! Only LOCK is measured. The files of all slots are open before it begins.

use crate::workload::{Next, Workload};
use filestone_workload::failure::{Cause, Failure};
use filestone_workload::operation::{Completion, FileId, OpenAccess, OpenId, Operation, Outcome};
use filestone_workload::time::Timestamp;

/// Next operation of a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Open,
    Lock,
    Unlock,
}

/// Lock workload of one client.
#[derive(Debug)]
pub struct LockWorkload {
    /// The locked file; `None` if there is no file for this client, so that it ends.
    file: Option<FileId>,
    /// Length of each range in bytes.
    len: u64,
    /// Last operation of each slot.
    slots: Vec<Step>,
}

impl LockWorkload {
    /// Creates locks of `len` bytes in `file`, for a client with `slots` slots.
    pub fn new(file: Option<FileId>, len: u32, slots: u32) -> Self {
        Self {
            file,
            len: u64::from(len),
            slots: vec![Step::Lock; slots as usize],
        }
    }

    fn operation(&self, slot: u32, step: Step) -> Option<Operation> {
        let (open, offset, len) = (OpenId(slot), u64::from(slot) * self.len, self.len);
        let file = self.file?;
        Some(match step {
            Step::Open => Operation::Open {
                file,
                open,
                access: OpenAccess::ReadWrite,
            },
            Step::Lock => Operation::Lock {
                open,
                offset,
                len,
                is_exclusive: true,
            },
            Step::Unlock => Operation::Unlock { open, offset, len },
        })
    }
}

/// Returns the step after a step with this outcome.
fn step_after(step: Step, outcome: Outcome) -> Step {
    match (step, outcome) {
        // The lock is requested even if the file could not be opened: its failure is counted.
        (Step::Open, _) => Step::Lock,
        (_, Outcome::Disconnected) => Step::Open,
        (_, Outcome::Failed(failure)) if is_not_open(failure) => Step::Open,
        // It is unknown whether an unanswered call took the lock.
        (Step::Lock, Outcome::Ok | Outcome::TimedOut) => Step::Unlock,
        (Step::Lock, Outcome::Failed(_) | Outcome::Skipped) | (Step::Unlock, _) => Step::Lock,
    }
}

/// Returns whether the server reports no such open file, or the client has none to use.
fn is_not_open(failure: Failure) -> bool {
    matches!(failure, Failure::BadReply(_)) || failure.cause() == Cause::UnknownHandle
}

impl Workload for LockWorkload {
    fn prepare_slot(&mut self, slot: u32, after: Option<&Completion>) -> Option<Operation> {
        let last = *self.slots.get(slot as usize)?;
        let step = after.map_or(Step::Lock, |after| step_after(last, after.outcome));
        self.slots[slot as usize] = step;
        let is_unmeasured = step != Step::Lock;
        is_unmeasured.then(|| self.operation(slot, step)).flatten()
    }

    fn needs_preparation(&self) -> bool {
        true
    }

    fn next(&mut self, slot: u32, _now: Timestamp) -> Next<Operation> {
        Next::or_nothing(self.operation(slot, Step::Lock))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use filestone_workload::failure::{ReplyFault, StatusSpace};
    use filestone_workload::operation::{OpKind, SlotId};

    fn completion(outcome: Outcome) -> Completion {
        Completion {
            outcome,
            ..Completion::success(
                SlotId { client: 0, slot: 1 },
                Timestamp::ZERO,
                Timestamp::ZERO,
            )
        }
    }

    /// Returns the operations that slot 1 issues for this sequence of outcomes.
    fn asked(outcomes: &[Outcome]) -> Vec<OpKind> {
        let mut locks = LockWorkload::new(Some(FileId(5)), 4096, 2);
        let mut last = None;
        let mut kinds = vec![];
        for outcome in outcomes {
            let restoring = locks.prepare_slot(1, last.as_ref());
            let operation = restoring.or_else(|| locks.next(1, Timestamp::ZERO).measured());
            kinds.push(operation.expect("locks for ever").kind());
            last = Some(completion(*outcome));
        }
        kinds
    }

    #[test]
    fn a_lock_is_given_back_before_the_next_one() {
        use OpKind::{Lock, Open, Unlock};
        let closed = Outcome::Failed(StatusSpace::Nt.failure(0xc000_0128));
        let taken = Outcome::Failed(StatusSpace::Nt.failure(0xc000_0055));
        let odd = Outcome::Failed(Failure::BadReply(ReplyFault::Undecodable));
        for (outcomes, kinds) in [
            ([Outcome::Ok; 5], [Lock, Unlock, Lock, Unlock, Lock]),
            (
                [odd, Outcome::Ok, closed, odd, Outcome::TimedOut],
                [Lock, Open, Lock, Open, Lock],
            ),
            (
                [taken, Outcome::TimedOut, Outcome::Disconnected, odd, taken],
                [Lock, Lock, Unlock, Open, Lock],
            ),
        ] {
            assert_eq!(asked(&outcomes), kinds, "{outcomes:?}");
        }
    }

    #[test]
    fn slots_have_ranges_that_do_not_touch() {
        let mut locks = LockWorkload::new(Some(FileId(5)), 4096, 2);
        for slot in [0, 1] {
            let (offset, len) = (u64::from(slot) * 4096, 4096);
            assert_eq!(
                locks.next(slot, Timestamp::ZERO).measured(),
                Some(Operation::Lock {
                    open: OpenId(slot),
                    offset,
                    len,
                    is_exclusive: true,
                })
            );
        }
    }

    #[test]
    fn without_a_file_there_is_nothing_to_lock() {
        let mut locks = LockWorkload::new(None, 4096, 1);
        assert_eq!(locks.prepare_slot(0, None), None);
        assert_eq!(locks.next(0, Timestamp::ZERO), Next::Idle);
        assert_eq!(locks.prepare_slot(9, None), None, "no such slot");
    }
}
