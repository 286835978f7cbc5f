//! Time that the load generator could not run, because its control group had used up its quota,
//! another virtual machine had the CPU, or the process was stopped.
//!
//! A thread that does not run sends nothing and notices nothing: in a closed loop the load is
//! merely lower. The time is therefore measured outside of the workers.

use crate::JsonSchema;
use filestone_workload::time::Timestamp;
use serde::{Deserialize, Serialize};

/// Minimum delay of a wake-up, in nanoseconds, that is not explained by the scheduler.
pub const GAP_MIN_NS: u64 = 100_000_000;

/// Wake-ups of the coordinating thread that were far too late: nothing of this process ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct WakeUpGaps {
    /// Number of late wake-ups.
    pub count: u64,
    /// Sum of their delays in nanoseconds.
    pub total_ns: u64,
    /// Start of the longest delay, in nanoseconds since the window opened.
    pub longest_from_ns: u64,
    /// Longest delay in nanoseconds.
    pub longest_ns: u64,
}

impl WakeUpGaps {
    /// Records a wake-up that was due at `due` and came at `came`. Only the part within the window
    /// from `opens` to `closes` counts.
    pub fn note(&mut self, due: Timestamp, came: Timestamp, opens: Timestamp, closes: Timestamp) {
        if came.nanos_since(due) < GAP_MIN_NS {
            return;
        }
        let from = due.max(opens);
        let nanos = came.min(closes).nanos_since(from);
        if nanos == 0 {
            return;
        }
        self.count += 1;
        self.total_ns += nanos;
        if nanos > self.longest_ns {
            self.longest_ns = nanos;
            self.longest_from_ns = from.nanos_since(opens);
        }
    }
}

/// Throttling by the quota of a control group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Throttling {
    /// Periods of the quota.
    pub periods: u64,
    /// Periods with the quota used up.
    pub throttled: u64,
    /// Time that its threads were throttled, summed over CPUs, in nanoseconds.
    pub throttled_ns: u64,
}

impl Throttling {
    /// Returns the difference since `before`.
    #[must_use]
    pub const fn since(self, before: Self) -> Self {
        Self {
            periods: self.periods.saturating_sub(before.periods),
            throttled: self.throttled.saturating_sub(before.throttled),
            throttled_ns: self.throttled_ns.saturating_sub(before.throttled_ns),
        }
    }
}

/// Time that the load generator could not run.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct AbsenceRecord {
    /// Quota of its control group in CPUs; `None` without a quota.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quota: Option<f64>,
    /// Throttling by that quota; `None` if the kernel does not report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttling: Option<Throttling>,
    /// Share of the window that a thread was throttled, on average, in percent.
    #[serde(default)]
    pub throttled_percent: f64,
    /// Share of this host's CPU time used by other virtual machines (steal), in percent; `None` if
    /// the kernel does not report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stolen_percent: Option<f64>,
    /// Wake-ups that were far too late.
    #[serde(default)]
    pub gaps: WakeUpGaps,
}

/// Reason why a load generator did not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AbsenceCause {
    /// The control group had used up its CPU quota.
    Quota,
    /// Other virtual machines had the CPUs (steal).
    Stolen,
    /// The process was stopped, frozen or suspended.
    Stopped,
}

impl AbsenceRecord {
    /// Returns the main cause, and the time that it took in percent of a window of `window_ns`;
    /// `None` below the thresholds.
    pub fn cause(&self, window_ns: u64) -> Option<(AbsenceCause, f64)> {
        let stopped = 100.0 * self.gaps.total_ns as f64 / window_ns.max(1) as f64;
        let stolen = self.stolen_percent.unwrap_or(0.0);
        let causes = [
            // A thread that is throttled for long wakes up late, too, so the quota is checked
            // first.
            (AbsenceCause::Quota, self.throttled_percent, ABSENT_PERCENT),
            (AbsenceCause::Stopped, stopped, ABSENT_PERCENT),
            (AbsenceCause::Stolen, stolen, STOLEN_PERCENT),
        ];
        let found = causes
            .into_iter()
            .find(|(_, percent, most)| percent >= most);
        found.map(|(cause, percent, _)| (cause, percent.min(100.0)))
    }
}

/// Share of the window, in percent, from which a pause of the load generator causes a caveat: load
/// and response times differ from those requested.
pub const ABSENT_PERCENT: f64 = 1.0;
/// Share of steal time, in percent, from which it affects results; a virtual machine always has
/// some.
pub const STOLEN_PERCENT: f64 = 5.0;

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn at(millis: u64) -> Timestamp {
        Timestamp::from_nanos(millis * MS)
    }

    #[test]
    fn late_wake_ups_are_counted_within_the_window_alone() {
        let mut gaps = WakeUpGaps::default();
        let mut note = |due, came| gaps.note(at(due), at(came), at(1000), at(5000));
        // Before the window, and a delay within that of a scheduler.
        note(100, 900);
        note(2000, 2099);
        // Half of it in the window; stopped from 2.5 s to 4 s; beyond the end.
        note(500, 1500);
        note(2500, 4000);
        note(4800, 6000);
        assert_eq!(gaps.count, 3);
        assert_eq!(gaps.total_ns, (500 + 1500 + 200) * MS);
        assert_eq!(
            (gaps.longest_from_ns, gaps.longest_ns),
            (1500 * MS, 1500 * MS)
        );
    }

    #[test]
    fn the_cause_is_the_quota_before_the_gaps_that_it_makes() {
        let window_ns = 10_000 * MS;
        let stopped = AbsenceRecord {
            gaps: WakeUpGaps {
                count: 1,
                total_ns: 3000 * MS,
                longest_from_ns: 0,
                longest_ns: 3000 * MS,
            },
            ..AbsenceRecord::default()
        };
        assert_eq!(
            stopped.cause(window_ns),
            Some((AbsenceCause::Stopped, 30.0))
        );
        let throttled = AbsenceRecord {
            throttled_percent: 85.0,
            ..stopped
        };
        assert_eq!(
            throttled.cause(window_ns),
            Some((AbsenceCause::Quota, 85.0))
        );
        let healthy = AbsenceRecord {
            stolen_percent: Some(1.0),
            throttled_percent: 0.5,
            ..AbsenceRecord::default()
        };
        assert_eq!(healthy.cause(window_ns), None);
        let stolen = AbsenceRecord {
            stolen_percent: Some(12.0),
            ..healthy
        };
        assert_eq!(stolen.cause(window_ns), Some((AbsenceCause::Stolen, 12.0)));
    }
}
