//! What each kind of system call becomes on the wire, before the run is measured: bursts of one
//! kind at a time, and what the kernel has counted of them.

use super::caller::{Caller, Committing};
use super::client::Company;
use super::kernel::Kernel;
use crate::control::go_on;
use crate::error::RunError;
use filestone_model::mix::Counters;
use filestone_model::operation::OpKind;
use filestone_model::plan::MixCount;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// How long it may take in all.
pub(super) const LEARN_SECONDS: f64 = 5.0;
/// Operations of a kind, and the fewest from which something is learnt.
const BURST: usize = 16;
const BURST_MIN: usize = 4;
/// What a system call leaves to be sent afterwards has been sent then, and counted.
const AFTERWARDS: Duration = Duration::from_millis(20);
/// A COMMIT is caused by an operation if it is so in most cases.
const COMMITS_MIN: f64 = 0.5;

/// Learns of each mount what its clients' operations become. Nothing of it is measured.
pub(super) fn learn_all(
    companies: &[Company],
    (callers, places): (&mut [Caller], &[usize]),
    counts: &[MixCount],
    stop: &AtomicBool,
) -> Result<(), RunError> {
    for (place, company) in companies.iter().enumerate() {
        let Some(kernel) = &company.kernel else {
            continue;
        };
        let of_company = callers.iter_mut().zip(places);
        let of_company = of_company.filter(|(_, of)| **of == place);
        let mut learning = Learning {
            company,
            kernel,
            callers: of_company.map(|(caller, _)| caller).collect(),
            burst: Duration::from_secs_f64(
                LEARN_SECONDS / (companies.len() * counts.len().max(1)) as f64,
            ),
            next: 0,
        };
        learning.learn(counts, stop)?;
    }
    Ok(())
}

/// The clients of one mount.
struct Learning<'run> {
    company: &'run Company,
    kernel: &'run Kernel,
    callers: Vec<&'run mut Caller>,
    /// How long a burst may take.
    burst: Duration,
    /// Whose turn it is.
    next: usize,
}

impl Learning<'_> {
    fn learn(&mut self, counts: &[MixCount], stop: &AtomicBool) -> Result<(), RunError> {
        let untaught = self.company.group().clone();
        let mut calls = 0;
        for count in counts {
            go_on(stop)?;
            calls += self.burst_of(count.operation)?;
            if count.operation == OpKind::Commit
                && self.company.group().own_calls(OpKind::Commit) < COMMITS_MIN
            {
                self.commit_directly()?;
            }
        }
        if calls == 0 {
            // Counters that stand still teach nothing.
            *self.company.group() = untaught;
        }
        Ok(())
    }

    /// Operations of one kind; how many calls were counted of them.
    fn burst_of(&mut self, kind: OpKind) -> Result<u64, RunError> {
        let before = self.kernel.read()?;
        let began = Instant::now();
        for number in 0..BURST {
            if number >= BURST_MIN && began.elapsed() >= self.burst {
                break;
            }
            self.one_of(kind);
        }
        std::thread::sleep(AFTERWARDS);
        let calls: Counters = self.kernel.read()?.since(&before);
        let seconds = began.elapsed().as_secs_f64();
        self.company.group().learn(seconds, &calls);
        Ok(calls.total)
    }

    /// One operation, with what keeps the set in its proportions. One that fails is none: in the
    /// run it will be counted as failed.
    fn one_of(&mut self, kind: OpKind) {
        let index = self.next % self.callers.len().max(1);
        self.next = index + 1;
        let Some(caller) = self.callers.get_mut(index) else {
            return;
        };
        let mut done = Vec::with_capacity(3);
        if let Some(companion) = caller.before(kind) {
            done.extend(caller.accompany(companion));
        }
        done.extend(caller.carry_out(kind));
        if let Some(companion) = caller.after() {
            done.extend(caller.accompany(companion));
        }
        let parts = done.iter().flat_map(|done| done.claims);
        self.company.group().carried_out(kind, parts);
    }

    /// The other way to cause a COMMIT; the first one stays if that is none, either.
    fn commit_directly(&mut self) -> Result<(), RunError> {
        let by_cache = self.company.group().clone();
        self.commit_by(Committing::Direct);
        self.company.group().forget(OpKind::Commit);
        self.burst_of(OpKind::Commit)?;
        if self.company.group().own_calls(OpKind::Commit) < COMMITS_MIN {
            *self.company.group() = by_cache;
            self.commit_by(Committing::Cached);
        }
        Ok(())
    }

    fn commit_by(&mut self, committing: Committing) {
        for caller in &mut self.callers {
            caller.committing = committing;
        }
    }
}
