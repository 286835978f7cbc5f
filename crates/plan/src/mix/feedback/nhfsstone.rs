//! nhfsstone's arithmetic, number by number: whole percents, whole milliseconds, the 18 procedures
//! of NFSv2 (RFC 1094, section 2.2).
//!
//! Each process assumes that all others behave as it does: the calls that it claims count once per
//! process. From time to time it reads the kernel's counters, which cover all processes, and
//! computes how far ahead of its schedule the run is.
//!
//! Where the original could divide by zero or loop forever (a pause of 0 ms, a mix without any
//! operation), this module does not. The original raised the rate of a kind that a cache answers
//! without limit; here no kind has more than [`ASKED_MAX`] times the rate of its share, and a pause
//! has at least that fraction of its target length. There are no other differences.

use super::record::CorrectionRecord;
use super::{ASKED_MAX, ProcedureCounts};
use crate::plan::MixCount;
use filestone_workload::operation::OpKind;

/// The procedures of NFSv2 by number. ROOT (3) and WRITECACHE (7) are unused.
pub const PROCEDURES: [Option<OpKind>; 18] = [
    Some(OpKind::Null),
    Some(OpKind::GetAttr),
    Some(OpKind::SetAttr),
    None,
    Some(OpKind::Lookup),
    Some(OpKind::ReadLink),
    Some(OpKind::Read),
    None,
    Some(OpKind::Write),
    Some(OpKind::Create),
    Some(OpKind::Remove),
    Some(OpKind::Rename),
    Some(OpKind::Link),
    Some(OpKind::SymLink),
    Some(OpKind::MkDir),
    Some(OpKind::RmDir),
    Some(OpKind::ReadDir),
    Some(OpKind::FsStat),
];

/// A number for each procedure.
pub type PerProcedure = [i64; PROCEDURES.len()];

/// Minimum length of a sleep, in milliseconds; shorter ones are skipped.
pub const SLEEP_MIN_MS: i64 = 20;
/// Interval between two readings of the kernel's counters, in milliseconds.
pub const SAMPLE_MS: i64 = 5000;
/// Maximum time of the first reading after the start, in seconds.
pub const FIRST_SAMPLE_SECONDS: i64 = 10;
/// The process reads the clock when the sum of the pauses since the last reading exceeds this time,
/// in milliseconds.
const CLOCK_MS: i64 = 1000;
/// The random number of the choice is from 0 to 199 instead of 99, so that the last operations are
/// not starved.
const CHOICE: i64 = 200;
/// Gain of the choice for a deviation of a share.
const CHOICE_GAIN: i64 = 16;
/// Minimum pause after a correction, in milliseconds.
const PAUSE_MIN_MS: i64 = 10;
/// Minimum number of due calls for the rate limit of a kind: before the first correction the number
/// is unknown.
const DUE_MIN: i64 = CHOICE;

/// Parameters of all processes together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoadParameters {
    /// Number of processes.
    pub processes: u32,
    /// Calls per second of all processes.
    pub load: u32,
    /// Number of calls that ends the run.
    pub calls: u64,
    /// The mix in whole percents.
    pub percents: PerProcedure,
}

/// Returns a mix in whole percents, rounded half up, of the procedures of NFSv2. Operations that
/// round to 0 are never executed.
pub fn percents(counts: &[MixCount]) -> PerProcedure {
    let sum = counts.iter().map(|count| u128::from(count.count)).sum();
    percents_of(counts, sum)
}

/// Returns the percentages of `sum` calls, as the original computed them from its mix file.
pub fn percents_of(counts: &[MixCount], sum: u128) -> PerProcedure {
    PROCEDURES.map(|kind| {
        let of_kind = counts.iter().filter(|count| Some(count.operation) == kind);
        let count: u128 = of_kind.map(|count| u128::from(count.count)).sum();
        // Computed via thousandths, as in the original.
        count
            .saturating_mul(1000)
            .checked_div(sum)
            .map_or(0, |thousandths| {
                i64::try_from((thousandths + 5) / 10).unwrap_or(0)
            })
    })
}

/// Returns the mean pause of a process in milliseconds.
pub fn mean_pause_ms(processes: u32, load: u32) -> i64 {
    (i64::from(processes) * 1000 / i64::from(load.max(1))).max(1)
}

/// Returns the operation for a random number: starting at operation (random mod 18) and going
/// round, the weights are subtracted from (random mod 200) until nothing is left.
pub fn choose(random: u64, percents: &PerProcedure, calls: &PerProcedure) -> Option<usize> {
    choose_among(random, percents, percents, calls)
}

/// Returns the operation for a random number, with a choice among operations with an `askable`
/// other than 0.
fn choose_among(
    random: u64,
    askable: &PerProcedure,
    percents: &PerProcedure,
    calls: &PerProcedure,
) -> Option<usize> {
    let total = sum(calls);
    let weight = |operation: usize| {
        let hundredfold = calls[operation].saturating_mul(100);
        let actual = hundredfold.checked_div(total).unwrap_or(0);
        percents[operation] - CHOICE_GAIN * (actual - percents[operation])
    };
    // Operations without a share have a weight of 0 as soon as they are called, so `askable` does
    // not restrict the choice of the original.
    let may_be = |operation: usize| askable[operation] > 0 || percents[operation] == 0;
    let is_asked = |operation: usize| {
        PROCEDURES[operation].is_some() && may_be(operation) && weight(operation) > 0
    };
    if !(0..PROCEDURES.len()).any(is_asked) {
        return None;
    }
    let mut left = (random % CHOICE as u64) as i64;
    let mut operation = (random % PROCEDURES.len() as u64) as usize;
    loop {
        if is_asked(operation) {
            left -= weight(operation);
            if left < 0 {
                return Some(operation);
            }
        }
        operation = (operation + 1) % PROCEDURES.len();
    }
}

/// Returns the pause for a lead of `got` over `want` calls, in milliseconds.
pub fn corrected_pause_ms(mean_pause_ms: i64, got: i64, want: i64, total: i64) -> i64 {
    let thousandths = (got - want).saturating_mul(1000) / total.max(1);
    let pause = mean_pause_ms.saturating_add(mean_pause_ms.saturating_mul(thousandths) / 20);
    if pause <= 0 { PAUSE_MIN_MS } else { pause }
}

/// Next action of a process after an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessAction {
    /// Execute the next operation.
    Operation,
    /// Read the clock, and call [`Process::is_due`].
    Clock,
}

/// State of one process.
#[derive(Debug, Clone)]
pub struct Process {
    task: LoadParameters,
    mean_pause_ms: i64,
    pause_ms: i64,
    /// Sum of the pauses since the clock was read.
    delay_ms: i64,
    next_sample_ms: i64,
    calls: PerProcedure,
    /// Number of claimed calls, and number of due calls at the last correction.
    asked: PerProcedure,
    due: i64,
}

impl Process {
    /// Creates a process that first reads the counters `first_sample_ms` after the start. The
    /// original sampled whole seconds from 0 to 9.
    pub fn new(task: LoadParameters, first_sample_ms: i64) -> Self {
        let mean_pause_ms = mean_pause_ms(task.processes, task.load);
        Self {
            task,
            mean_pause_ms,
            pause_ms: mean_pause_ms,
            delay_ms: 0,
            next_sample_ms: first_sample_ms,
            calls: PerProcedure::default(),
            asked: PerProcedure::default(),
            due: 0,
        }
    }

    /// Returns the length of the sleep before the next operation for a random number: 0 to twice
    /// the pause.
    pub fn sleep_ms(&self, random: u64) -> u64 {
        let sleep = random % (2 * self.pause_ms.max(1)) as u64;
        if sleep < SLEEP_MIN_MS as u64 {
            0
        } else {
            sleep
        }
    }

    /// Returns the kind of the next operation, for the same random number.
    pub fn choose(&self, random: u64) -> Option<OpKind> {
        let percents = &self.task.percents;
        let mut askable = *percents;
        for (percent, asked) in askable.iter_mut().zip(self.asked) {
            let due = *percent * self.due.max(DUE_MIN) / 100;
            if asked as f64 > ASKED_MAX * due as f64 {
                *percent = 0;
            }
        }
        let none = PerProcedure::default();
        choose_among(random, &askable, percents, &self.calls)
            .or_else(|| choose(random, percents, &none))
            .and_then(|index| PROCEDURES[index])
    }

    /// Counts the calls that an operation claims to have made, for all processes.
    pub fn claim(&mut self, kind: OpKind, calls: u64) {
        if let Some(operation) = PROCEDURES.iter().position(|known| *known == Some(kind)) {
            let calls = i64::try_from(calls).unwrap_or(i64::MAX);
            let of_all = calls.saturating_mul(self.task.processes.into());
            self.calls[operation] = self.calls[operation].saturating_add(of_all);
            self.asked[operation] = self.asked[operation].saturating_add(of_all);
        }
    }

    /// Ends an operation.
    pub fn end(&mut self) -> ProcessAction {
        self.delay_ms += self.pause_ms;
        if self.delay_ms > CLOCK_MS || self.seems_complete() {
            self.delay_ms = 0;
            ProcessAction::Clock
        } else {
            ProcessAction::Operation
        }
    }

    /// Whether the process must read the counters now, `elapsed_ms` after the start.
    pub fn is_due(&self, elapsed_ms: i64) -> bool {
        elapsed_ms >= self.next_sample_ms || self.seems_complete()
    }

    /// Corrects the pause with the kernel's counts since the start; `None` when the run has ended.
    pub fn correct(&mut self, elapsed_ms: i64, seen: &ProcedureCounts) -> Option<CorrectionRecord> {
        self.next_sample_ms = elapsed_ms.saturating_add(SAMPLE_MS);
        self.calls = PROCEDURES.map(|kind| {
            let calls = kind.map_or(0, |kind| seen[kind]);
            i64::try_from(calls).unwrap_or(i64::MAX)
        });
        if self.seems_complete() {
            return None;
        }
        let got = sum(&self.calls);
        let want = elapsed_ms.saturating_mul(self.task.processes.into()) / self.mean_pause_ms;
        self.due = want;
        let least = (self.mean_pause_ms as f64 / ASKED_MAX) as i64;
        let corrected = corrected_pause_ms(self.mean_pause_ms, got, want, self.total());
        self.pause_ms = corrected.max(least);
        Some(CorrectionRecord {
            at_ns: nanos(elapsed_ms),
            seen: got.unsigned_abs(),
            wanted: want.unsigned_abs(),
            pause_ns: nanos(self.pause_ms),
        })
    }

    fn total(&self) -> i64 {
        i64::try_from(self.task.calls).unwrap_or(i64::MAX)
    }

    fn seems_complete(&self) -> bool {
        sum(&self.calls) >= self.total()
    }
}

fn sum(calls: &PerProcedure) -> i64 {
    calls
        .iter()
        .fold(0, |sum, calls| sum.saturating_add(*calls))
}

fn nanos(milliseconds: i64) -> u64 {
    milliseconds.unsigned_abs().saturating_mul(1_000_000)
}

#[cfg(test)]
mod tests;
