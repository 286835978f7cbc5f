//! Whether the load generator set the figures of a run.

use crate::measure::verdict::caveats::{did_not_run, waited_for_others};
use crate::measure::verdict::{BUSY_PERCENT, Check, CheckSubject, checks, generator_use};
use crate::measure::{Caveat, RunRecord};

/// The load generator's part in the figures of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GeneratorPart {
    /// It had no processor time left.
    Limit,
    /// It could not run for a part of the time: a quota, another virtual machine, or a stop.
    Absent,
    /// It waited for a processor, because of other programs, and had next to no time left besides.
    Waited,
    /// It sent operations later than they were due.
    Late,
    /// It had next to no processor time left, and no load was lost.
    NearLimit,
    /// It waited for a processor, and had time left nevertheless.
    WaitedNotLimit,
    /// It had processor time left, and was in time.
    NotLimit,
}

impl GeneratorPart {
    /// By the checks of a run.
    pub fn of(record: &RunRecord) -> Self {
        Self::by(record, &checks(record))
    }

    pub(super) fn by(record: &RunRecord, checks: &[Check]) -> Self {
        let fails = |is_such: fn(&CheckSubject) -> bool| {
            let mut failed = checks.iter().filter(|check| check.fails());
            failed.any(|check| is_such(&check.subject))
        };
        let busy = busy_percent(record);
        let waited = waited_percent(record);
        if fails(|subject| matches!(subject, CheckSubject::Headroom { .. })) {
            Self::Limit
        } else if did_not_run(record).is_some() {
            Self::Absent
        } else if waited.is_some_and(|waited| busy + waited >= BUSY_PERCENT) {
            Self::Waited
        } else if fails(|subject| matches!(subject, CheckSubject::DispatchDelay { .. })) {
            Self::Late
        } else if busy >= BUSY_PERCENT {
            Self::NearLimit
        } else if waited.is_some() {
            Self::WaitedNotLimit
        } else {
            Self::NotLimit
        }
    }

    /// In words that go on from `generator 27 % busy: `.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Limit => "the limit",
            Self::Absent => "cannot tell, it did not run for a part of the time",
            Self::Waited => "cannot tell, it waited for a processor",
            Self::Late => "cannot tell, it was late",
            Self::NearLimit => "near the limit",
            Self::WaitedNotLimit => "not the limit, though it waited for a processor",
            Self::NotLimit => "not the limit",
        }
    }
}

/// For how much of the window other programs kept a thread waiting, if it is worth a caveat.
fn waited_percent(record: &RunRecord) -> Option<f64> {
    match waited_for_others(record)? {
        Caveat::WaitedForProcessor { waited_percent, .. } => Some(waited_percent),
        _ => None,
    }
}

/// How busy the load generator was: see [`generator_use`].
pub fn busy_percent(record: &RunRecord) -> f64 {
    generator_use(record).map_or(0.0, |used| used.percent)
}
