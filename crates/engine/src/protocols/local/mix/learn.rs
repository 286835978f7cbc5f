//! Measures, before the run, the calls on the wire that each kind of operation causes: bursts of
//! one kind at a time, and the increase of the kernel's counters.

use super::caller::{CommitMethod, SyscallExecutor, SystemCalls};
use super::clients::ClientGroup;
use super::kernel::Kernel;
use crate::time::Time;
use filestone_host::control::check_cancelled;
use filestone_host::error::RunError;
use filestone_plan::mix::Counters;
use filestone_plan::plan::MixCount;
use filestone_workload::operation::OpKind;
use std::sync::atomic::AtomicBool;

/// Total time limit in seconds.
pub(super) const LEARN_SECONDS: f64 = 5.0;
/// Number of operations per burst, and the minimum for a valid estimate.
const BURST: usize = 16;
const BURST_MIN: usize = 4;
/// Wait after a burst, until calls that the kernel sends later have been sent and counted.
const AFTERWARDS_NANOS: u64 = 20_000_000;
/// Minimum share of operations that must cause a COMMIT.
const COMMITS_MIN: f64 = 0.5;

/// Measures the calls caused by the operations of one mount's clients, within a share of the total
/// time. Results are not part of the measurement.
pub(super) fn calibrate(
    group: &ClientGroup,
    callers: Vec<&mut SyscallExecutor>,
    counts: &[MixCount],
    share: f64,
    stop: &AtomicBool,
    time: &impl Time,
) -> Result<(), RunError> {
    let Some(kernel) = &group.kernel else {
        return Ok(());
    };
    let seconds = LEARN_SECONDS * share / counts.len().max(1) as f64;
    let mut learning = Learning {
        group,
        kernel,
        callers,
        burst_nanos: (seconds * 1e9) as u64,
        next: 0,
        time,
    };
    learning.calibrate(counts, stop)
}

/// Calibration of the clients of one mount.
struct Learning<'run, T> {
    group: &'run ClientGroup,
    kernel: &'run Kernel,
    callers: Vec<&'run mut SyscallExecutor>,
    /// Time limit of a burst.
    burst_nanos: u64,
    /// Index of the next client.
    next: usize,
    time: &'run T,
}

impl<T: Time> Learning<'_, T> {
    fn calibrate(&mut self, counts: &[MixCount], stop: &AtomicBool) -> Result<(), RunError> {
        let untaught = self.group.arithmetic().clone();
        let mut calls = 0;
        for count in counts {
            check_cancelled(stop)?;
            calls += self.burst_of(count.operation)?;
            if count.operation == OpKind::Commit
                && self.group.arithmetic().own_calls(OpKind::Commit) < COMMITS_MIN
            {
                self.commit_directly()?;
            }
        }
        if calls == 0 {
            // Counters that do not change provide no information.
            *self.group.arithmetic() = untaught;
        }
        Ok(())
    }

    /// Executes operations of one kind; returns the number of calls counted.
    fn burst_of(&mut self, kind: OpKind) -> Result<u64, RunError> {
        let before = self.kernel.read()?;
        let began = self.time.now();
        for number in 0..BURST {
            let elapsed = self.time.now().nanos_since(began);
            if number >= BURST_MIN && elapsed >= self.burst_nanos {
                break;
            }
            self.one_of(kind);
        }
        let now = self.time.now();
        self.time.wait(now.after_nanos(AFTERWARDS_NANOS));
        let calls: Counters = self.kernel.read()?.since(&before);
        let seconds = self.time.now().nanos_since(began) as f64 / 1e9;
        self.group.arithmetic().calibrate(seconds, &calls);
        Ok(calls.total)
    }

    /// Executes an operation, with those that keep the set balanced. Failed operations are ignored;
    /// in the run they count as failed.
    fn one_of(&mut self, kind: OpKind) {
        let index = self.next % self.callers.len().max(1);
        self.next = index + 1;
        let Some(caller) = self.callers.get_mut(index) else {
            return;
        };
        let mut done = Vec::with_capacity(3);
        if let Some(unmeasured) = caller.needs().before(kind) {
            done.extend(caller.call_unmeasured(unmeasured));
        }
        done.extend(caller.operate(kind));
        if let Some(unmeasured) = caller.needs().after {
            done.extend(caller.call_unmeasured(unmeasured));
        }
        let parts = done.iter().flat_map(|done| done.claims);
        self.group.arithmetic().carried_out(kind, parts);
    }

    /// Tries the other method of causing a COMMIT; keeps the first if that does not work either.
    fn commit_directly(&mut self) -> Result<(), RunError> {
        let by_cache = self.group.arithmetic().clone();
        self.commit_by(CommitMethod::Direct);
        self.group.arithmetic().forget(OpKind::Commit);
        self.burst_of(OpKind::Commit)?;
        if self.group.arithmetic().own_calls(OpKind::Commit) < COMMITS_MIN {
            *self.group.arithmetic() = by_cache;
            self.commit_by(CommitMethod::Cached);
        }
        Ok(())
    }

    fn commit_by(&mut self, committing: CommitMethod) {
        for caller in &mut self.callers {
            caller.committing = committing;
        }
    }
}
