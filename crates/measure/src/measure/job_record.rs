//! What only a job of several hosts has to tell: each host's part of it.

use crate::measure::caveat::Caveat;
use crate::measure::generator_record::{Headroom, Host, RunOutcome};
use crate::measure::processors::ProcessorsRecord;
use filestone_workload::recording::ledger::Ledger;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The hosts of a job.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct JobRecord {
    /// One entry per host, or per process that made load, in the order of their parts.
    pub hosts: Vec<HostRecord>,
    /// Those that were lost while the job ran: nothing of theirs is in the totals.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<LostHostRecord>,
}

/// One host's part of a job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct HostRecord {
    /// Its name; with its part, where several parts were made by hosts of that name.
    pub name: String,
    /// Which part of the job it had, from 0 on.
    pub part: u32,
    /// What it is.
    pub host: Host,
    /// When its window began, RFC 3339, UTC, by its own clock.
    pub started_at: String,
    /// Length of its window in nanoseconds.
    pub window_ns: u64,
    /// How its part ended.
    pub end: RunOutcome,
    /// Its clients.
    pub clients: u32,
    /// Its threads.
    pub workers: u32,
    /// How many processors these are bound to, if they are (`--pin`); records of before do not say.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub bound_processors: u32,
    /// Where its measured operations went.
    pub ledger: Ledger,
    /// Its part of the offered load, in operations per second, in an open loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offered_load_ops_per_s: Option<f64>,
    /// Operations of its own that ended well in the window, per second of it.
    pub achieved_load_ops_per_s: f64,
    /// File data of its own per second of the window.
    pub goodput_bytes_per_s: f64,
    /// Mean response time of its operations.
    pub response_time_mean_ns: f64,
    /// Half of them took no longer.
    pub response_time_p50_ns: u64,
    /// 99 % of them took no longer.
    pub response_time_p99_ns: u64,
    /// The longest.
    pub response_time_max_ns: u64,
    /// 99 % of its operations were sent no later than this after they could have been.
    pub dispatch_delay_p99_ns: u64,
    /// How busy its busiest thread was, as a share of the window.
    pub busy_percent: f64,
    /// What the tool itself can do there, if that was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub headroom: Option<Headroom>,
    /// Who had its processors, if that was looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processors: Option<ProcessorsRecord>,
    /// What is known of its clock, where hosts compared theirs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<HostClockRecord>,
    /// Reasons to doubt its numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub caveats: Vec<Caveat>,
}

/// A host's clock, against that of the host that coordinates the job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct HostClockRecord {
    /// How far its time of day was ahead, in nanoseconds.
    pub ahead_ns: i64,
    /// The offset is known to be no further off than this: half of the shortest exchange.
    pub uncertainty_ns: u64,
    /// By how much the offset had changed at the end of the run.
    pub drift_ns: i64,
    /// How long after the agreed moment it began, by its own clock.
    pub late_ns: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
const fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl HostClockRecord {
    /// How far from the agreed moment it may have begun, in nanoseconds.
    pub const fn start_uncertainty_ns(&self) -> u64 {
        self.uncertainty_ns.saturating_add(self.late_ns)
    }
}

/// A host that was lost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct LostHostRecord {
    /// Its name.
    pub name: String,
    /// Which part of the job it had, from 0 on.
    pub part: u32,
    /// What the job was doing then.
    pub phase: String,
    /// What is known of it.
    pub reason: String,
    /// Why its file set stays on the server as it left it, where it could not be removed or given up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remains: Option<String>,
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A host with one client that saw this mean response time.
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
