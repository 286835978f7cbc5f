//! Whether the load generator set the figures of a run.

use crate::measure::run_record::WorkerRecord;
use crate::measure::verdict::caveats::waited_for_others;
use crate::measure::verdict::{BUSY_PERCENT, Check, Subject, checks};
use crate::measure::{Caveat, RunRecord};

/// The load generator's part in the figures of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GeneratorPart {
    /// It had no processor time left.
    Limit,
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
        let fails = |is_such: fn(&Subject) -> bool| {
            let mut failed = checks.iter().filter(|check| check.fails());
            failed.any(|check| is_such(&check.subject))
        };
        let busy = busy_percent(record);
        let waited = waited_percent(record);
        if fails(|subject| matches!(subject, Subject::Headroom { .. })) {
            Self::Limit
        } else if waited.is_some_and(|waited| busy + waited >= BUSY_PERCENT) {
            Self::Waited
        } else if fails(|subject| matches!(subject, Subject::DispatchDelay { .. })) {
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

/// The worker with the least processor time left.
pub(super) fn busiest(record: &RunRecord) -> Option<&WorkerRecord> {
    let workers = record.totals.workers.iter();
    workers.max_by(|one, other| one.busy_percent.total_cmp(&other.busy_percent))
}

/// How busy the busiest worker was; its last look at the clock may be a little later than the
/// window's end.
pub fn busy_percent(record: &RunRecord) -> f64 {
    busiest(record).map_or(0.0, |worker| worker.busy_percent.min(100.0))
}
