//! Results that only a job of several hosts has: each host's part.

use crate::JsonSchema;
use crate::measure::caveat::Caveat;
use crate::measure::generator_record::{Headroom, Host, RunOutcome};
use crate::measure::processors::ProcessorsRecord;
use filestone_workload::recording::ledger::Ledger;
use serde::{Deserialize, Serialize};

/// The hosts of a job.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct JobRecord {
    /// Results of each host, or of each process that generated load, in the order of their parts.
    pub hosts: Vec<HostRecord>,
    /// Hosts that were lost during the job; the totals do not include their parts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<LostHostRecord>,
}

/// Part of a job that one host ran.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostRecord {
    /// Host name, with the number of the part if hosts with the same name had several parts.
    pub name: String,
    /// Number of its part of the job, starting at 0.
    pub part: u32,
    /// Properties of the host.
    pub host: Host,
    /// Start of its window, RFC 3339, UTC, by its clock.
    pub started_at: String,
    /// Length of its window in nanoseconds.
    pub window_ns: u64,
    /// End of its part.
    pub end: RunOutcome,
    /// Number of its clients.
    pub clients: u32,
    /// Number of its threads.
    pub workers: u32,
    /// Number of CPUs that the threads are pinned to (`--pin`), 0 if they are not; absent in older
    /// records.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub bound_processors: u32,
    /// Outcomes of its measured operations.
    pub ledger: Ledger,
    /// Part of the offered load, in operations per second, in an open loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offered_load_ops_per_s: Option<f64>,
    /// Successful operations of this host in the window, per second.
    pub achieved_load_ops_per_s: f64,
    /// File data of this host in bytes per second of the window.
    pub goodput_bytes_per_s: f64,
    /// Mean response time of its operations.
    pub response_time_mean_ns: f64,
    /// Median response time.
    pub response_time_p50_ns: u64,
    /// 99th percentile of the response time.
    pub response_time_p99_ns: u64,
    /// Maximum response time.
    pub response_time_max_ns: u64,
    /// 99th percentile of the dispatch delay: time from ready to sent.
    pub dispatch_delay_p99_ns: u64,
    /// Highest CPU use of its threads, as a percentage of the window.
    pub busy_percent: f64,
    /// Capacity of the tool itself on this host, if it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub headroom: Option<Headroom>,
    /// CPU use of this and other programs, if it was observed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processors: Option<ProcessorsRecord>,
    /// Offset of its clock, if the hosts compared their clocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<HostClockRecord>,
    /// Caveats of its results.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub caveats: Vec<Caveat>,
}

/// A host's clock, relative to that of the coordinating host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct HostClockRecord {
    /// Offset of its time of day in nanoseconds; positive if it is ahead.
    pub ahead_ns: i64,
    /// Maximum error of the offset: half of the shortest exchange.
    pub uncertainty_ns: u64,
    /// Change of the offset until the end of the run, in nanoseconds.
    pub drift_ns: i64,
    /// Delay of its start after the agreed moment, by its clock, in nanoseconds.
    pub late_ns: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
const fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl HostClockRecord {
    /// Returns the maximum distance of its start from the agreed moment, in nanoseconds.
    pub const fn start_uncertainty_ns(&self) -> u64 {
        self.uncertainty_ns.saturating_add(self.late_ns)
    }
}

/// A host that was lost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LostHostRecord {
    /// Host name.
    pub name: String,
    /// Number of its part of the job, starting at 0.
    pub part: u32,
    /// Phase of the job at that time.
    pub phase: String,
    /// Reason of the loss.
    pub reason: String,
    /// Reason why its file set remains on the server, if it could not be removed or released.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remains: Option<String>,
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Returns a host with one client and this mean response time.
    pub(crate) fn host(name: &str, response_time_mean_ns: f64) -> HostRecord {
        HostRecord {
            name: name.into(),
            part: 0,
            host: Host::default(),
            started_at: "2026-11-24T16:05:00.000Z".into(),
            window_ns: 30_000_000_000,
            end: RunOutcome::Finished,
            clients: 1,
            workers: 1,
            bound_processors: 0,
            ledger: Ledger::default(),
            offered_load_ops_per_s: None,
            achieved_load_ops_per_s: 1000.0,
            goodput_bytes_per_s: 0.0,
            response_time_mean_ns,
            response_time_p50_ns: 0,
            response_time_p99_ns: 0,
            response_time_max_ns: 0,
            dispatch_delay_p99_ns: 0,
            busy_percent: 0.0,
            headroom: None,
            processors: None,
            clock: None,
            caveats: vec![],
        }
    }
}
