//! Influence of the load generator on the figures of a run.

use crate::measure::caveat::thresholds::BUSY_PERCENT;
use crate::measure::verdict::caveats::{did_not_run, waited_for_others};
use crate::measure::verdict::{Check, CheckSubject, checks, generator_use};
use crate::measure::{Caveat, RunRecord};

/// Influence of the load generator on the figures of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GeneratorPart {
    /// The load generator had no CPU time left.
    Limit,
    /// The load generator could not run for a part of the time: a quota, another virtual machine,
    /// or a stop.
    Absent,
    /// The load generator waited for a CPU because of other programs, and had almost no time left.
    Waited,
    /// The load generator sent operations later than they were due.
    Late,
    /// The load generator had almost no CPU time left, but no load was lost.
    NearLimit,
    /// The load generator waited for a CPU, but had time left.
    WaitedNotLimit,
    /// The load generator had CPU time left, and was on time.
    NotLimit,
}

impl GeneratorPart {
    /// Determines the influence from the checks of a run.
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

    /// Returns the text that follows `generator 27 % busy: `.
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

/// Returns the share of the window that a thread waited because of other programs, in percent, if
/// it exceeds the limit of the caveat.
fn waited_percent(record: &RunRecord) -> Option<f64> {
    match waited_for_others(record)? {
        Caveat::CpuRunDelay {
            run_delay_percent: waited_percent,
            ..
        } => Some(waited_percent),
        _ => None,
    }
}

/// Returns the CPU use of the load generator in percent: see [`generator_use`].
pub fn busy_percent(record: &RunRecord) -> f64 {
    generator_use(record).map_or(0.0, |used| used.percent)
}
