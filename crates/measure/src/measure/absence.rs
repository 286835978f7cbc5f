//! Time in which the load generator could not run, whatever it wanted to do: its control group had
//! used up its quota, another virtual machine had the processor, or it was stopped.
//!
//! A thread that does not run sends nothing, and notices nothing: in a closed loop the load is just
//! less. So it is looked for from outside of the workers.

use filestone_workload::time::Timestamp;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A wake-up that is later than this was not the scheduler's doing.
pub const GAP_MIN_NS: u64 = 100_000_000;

/// Wake-ups of the coordinating thread that came much too late: nothing of this process ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct WakeUpGaps {
    /// How many there were.
    pub count: u64,
    /// How late they were together, in nanoseconds.
    pub total_ns: u64,
    /// Where the longest began, in nanoseconds since the window opened.
    pub longest_from_ns: u64,
    /// How long it was.
    pub longest_ns: u64,
}

impl WakeUpGaps {
    /// Notes a wake-up that was `due`, and when it came; what is outside of the window that opens at
    /// `opens` and closes at `closes` is left out.
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

/// How often the quota of a control group stopped its threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Throttling {
    /// Periods of the quota.
    pub periods: u64,
    /// Those in which the group used it up.
    pub throttled: u64,
    /// How long its threads stood still then, summed over processors, in nanoseconds.
    pub throttled_ns: u64,
}

impl Throttling {
    /// What was counted since `before`.
    #[must_use]
    pub const fn since(self, before: Self) -> Self {
        Self {
            periods: self.periods.saturating_sub(before.periods),
            throttled: self.throttled.saturating_sub(before.throttled),
            throttled_ns: self.throttled_ns.saturating_sub(before.throttled_ns),
        }
    }
}

/// Time in which the load generator could not run, of a run's record.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct AbsenceRecord {
    /// Processors of which its control group may have the time; `None` without a quota.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quota: Option<f64>,
    /// What that quota did; `None` where the kernel does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttling: Option<Throttling>,
    /// Share of the window in which a thread stood still by it, on average.
    #[serde(default)]
    pub throttled_percent: f64,
    /// Share of this host's processors that other virtual machines took; `None` where the kernel
    /// does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stolen_percent: Option<f64>,
    /// Wake-ups that came much too late.
    #[serde(default)]
    pub gaps: WakeUpGaps,
}

/// Why a load generator did not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum AbsenceCause {
    /// Its control group had used up its quota of processor time.
    Quota,
    /// Other virtual machines had its processors.
    Stolen,
    /// It was stopped, frozen or suspended.
    Stopped,
}

impl AbsenceRecord {
    /// The most telling cause, and the share of a window of so many nanoseconds that it took, in percent;
    /// `None` below the thresholds.
    pub fn cause(&self, window_ns: u64) -> Option<(AbsenceCause, f64)> {
        let stopped = 100.0 * self.gaps.total_ns as f64 / window_ns.max(1) as f64;
        let stolen = self.stolen_percent.unwrap_or(0.0);
        let causes = [
            // A thread that is throttled for long wakes up late, too, so the quota comes first.
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

/// A load generator that did not run for this share of the window has another load, and other long
/// response times, than were asked for.
pub const ABSENT_PERCENT: f64 = 1.0;
/// A virtual machine always loses some time to others; from here on it shows.
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
        // Before the window, and late by no more than a scheduler may be.
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
