//! nhfsstone's own arithmetic, number by number: whole percents, whole milliseconds, the 18
//! procedures of NFSv2 (RFC 1094, section 2.2).
//!
//! One process of it supposes that all others do as it does: what it claims counts as many
//! times as there are processes. From time to time it reads the kernel's counters, which are
//! those of all processes, and sees how far ahead of its schedule the run is.
//!
//! Where the original could divide by zero or run for ever (a pause of 0 ms, a mix without
//! any operation), this does not. It asked without end for what a cache swallows; here no kind is
//! asked more than [`ASKED_MAX`] times what its share asks, and no pause is shorter than that part
//! of what it should be. Nothing else differs.

use super::record::CorrectionRecord;
use super::{ASKED_MAX, Calls};
use crate::plan::MixCount;
use filestone_workload::operation::OpKind;

/// The procedures of NFSv2 by number. ROOT (3) and WRITECACHE (7) are unused and asked by nobody.
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

/// A number for each of them.
pub type PerProcedure = [i64; PROCEDURES.len()];

/// Sleeps shorter than this are skipped, in milliseconds.
pub const SLEEP_MIN_MS: i64 = 20;
/// Distance of two looks at the kernel's counters, in milliseconds.
pub const SAMPLE_MS: i64 = 5000;
/// The first look comes up to so many seconds after the start.
pub const FIRST_SAMPLE_SECONDS: i64 = 10;
/// The clock is read when the pauses since the last reading sum to more than this.
const CLOCK_MS: i64 = 1000;
/// The choice counts from 0 to 199 instead of 99, so as not to starve the operations at the end.
const CHOICE: i64 = 200;
/// How strongly a share that is off changes the choice.
const CHOICE_GAIN: i64 = 16;
/// The pause when a correction leaves none.
const PAUSE_MIN_MS: i64 = 10;
/// Calls that are always taken for due when it is looked whether a kind was asked too often:
/// before the first correction, nothing is known.
const DUE_MIN: i64 = CHOICE;

/// What is asked of all processes together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Task {
    /// How many processes there are.
    pub processes: u32,
    /// Calls per second of all of them.
    pub load: u32,
    /// Calls that end the run.
    pub calls: u64,
    /// The mix in whole percents.
    pub percents: PerProcedure,
}

/// A mix in whole percents, rounded half up, of the procedures that NFSv2 has. What rounds to
/// 0 is never asked.
pub fn percents(counts: &[MixCount]) -> PerProcedure {
    let sum = counts.iter().map(|count| u128::from(count.count)).sum();
    percents_of(counts, sum)
}

/// The same of so many calls, as the original read them from its mix file.
pub fn percents_of(counts: &[MixCount], sum: u128) -> PerProcedure {
    PROCEDURES.map(|kind| {
        let of_kind = counts.iter().filter(|count| Some(count.operation) == kind);
        let count: u128 = of_kind.map(|count| u128::from(count.count)).sum();
        // In thousandths first, as the original did it.
        count
            .saturating_mul(1000)
            .checked_div(sum)
            .map_or(0, |thousandths| {
                i64::try_from((thousandths + 5) / 10).unwrap_or(0)
            })
    })
}

/// The mean pause of a process in milliseconds.
pub fn mean_pause_ms(processes: u32, load: u32) -> i64 {
    (i64::from(processes) * 1000 / i64::from(load.max(1))).max(1)
}

/// The operation that follows from a random number: from operation (random mod 18) on round
/// all of them, until (random mod 200) is used up by their weights.
pub fn choose(random: u64, percents: &PerProcedure, calls: &PerProcedure) -> Option<usize> {
    choose_among(random, percents, percents, calls)
}

/// The same among those operations only of which `askable` is not 0.
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
    // What has no share is beyond it as soon as it is called, so `askable` takes nothing away
    // from what the original chose among.
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

/// The pause that follows from a lead of `got` over `want` calls, in milliseconds.
pub fn corrected_pause_ms(mean_pause_ms: i64, got: i64, want: i64, total: i64) -> i64 {
    let thousandths = (got - want).saturating_mul(1000) / total.max(1);
    let pause = mean_pause_ms.saturating_add(mean_pause_ms.saturating_mul(thousandths) / 20);
    if pause <= 0 { PAUSE_MIN_MS } else { pause }
}

/// What a process does after an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// The next operation.
    Operation,
    /// It reads the clock, and asks [`Process::is_due`].
    Clock,
}

/// One process.
#[derive(Debug, Clone)]
pub struct Process {
    task: Task,
    mean_pause_ms: i64,
    pause_ms: i64,
    /// Pauses since the clock was read.
    delay_ms: i64,
    next_sample_ms: i64,
    calls: PerProcedure,
    /// All that was claimed, and what was due at the last correction.
    asked: PerProcedure,
    due: i64,
}

impl Process {
    /// A process that looks at the counters for the first time `first_sample_ms` after the
    /// start: the original drew whole seconds from 0 to 9.
    pub fn new(task: Task, first_sample_ms: i64) -> Self {
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

    /// How long it sleeps before its next operation, by a random number: 0 to twice its pause.
    pub fn sleep_ms(&self, random: u64) -> u64 {
        let sleep = random % (2 * self.pause_ms.max(1)) as u64;
        if sleep < SLEEP_MIN_MS as u64 {
            0
        } else {
            sleep
        }
    }

    /// The kind that it asks next, by the same random number.
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

    /// Counts calls that an operation claims to have made, for all processes.
    pub fn claim(&mut self, kind: OpKind, calls: u64) {
        if let Some(operation) = PROCEDURES.iter().position(|known| *known == Some(kind)) {
            let calls = i64::try_from(calls).unwrap_or(i64::MAX);
            let of_all = calls.saturating_mul(self.task.processes.into());
            self.calls[operation] = self.calls[operation].saturating_add(of_all);
            self.asked[operation] = self.asked[operation].saturating_add(of_all);
        }
    }

    /// Ends an operation.
    pub fn end(&mut self) -> Next {
        self.delay_ms += self.pause_ms;
        if self.delay_ms > CLOCK_MS || self.seems_complete() {
            self.delay_ms = 0;
            Next::Clock
        } else {
            Next::Operation
        }
    }

    /// Whether the counters are to be read, `elapsed_ms` after the start.
    pub fn is_due(&self, elapsed_ms: i64) -> bool {
        elapsed_ms >= self.next_sample_ms || self.seems_complete()
    }

    /// Takes what the kernel has counted since the start; `None` when the run is over.
    pub fn correct(&mut self, elapsed_ms: i64, seen: &Calls) -> Option<CorrectionRecord> {
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
