//! Results that only a fleet has: its groups, the steps of its ramp, and the reason of an early
//! stop.

use crate::JsonSchema;
use crate::measure::replay_record::MismatchRecord;
use filestone_workload::recording::distribution::DistributionRecord;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Name of the group of all clients.
pub const ALL: &str = "all";

/// State of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ClientState {
    /// Not started, because its step is still to come; or waiting for a file that another client
    /// writes or reads.
    Waiting,
    /// Started; its connection is not established yet.
    Connecting,
    /// Creating its directory, and the files that it reads.
    Starting,
    /// Reading or writing.
    Running,
    /// Finishing its file after its work is done.
    Quiescing,
    /// Done.
    Stopped,
    /// Retrying a failed operation.
    Failing,
    /// The retry limit was reached, or the connection was given up.
    Failed,
}

impl ClientState {
    /// List of all states.
    pub const ALL: [Self; 8] = [
        Self::Waiting,
        Self::Connecting,
        Self::Starting,
        Self::Running,
        Self::Quiescing,
        Self::Stopped,
        Self::Failing,
        Self::Failed,
    ];

    /// Returns the name of the state.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Connecting => "connecting",
            Self::Starting => "starting",
            Self::Running => "running",
            Self::Quiescing => "quiescing",
            Self::Stopped => "stopped",
            Self::Failing => "failing",
            Self::Failed => "failed",
        }
    }
}

/// State of the first connection of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectStatus {
    /// No connection is needed.
    None,
    /// The connection is not established yet.
    Pending,
    /// Established, with the connect time in nanoseconds.
    Connected(u64),
}

/// Counters of clients over the whole run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct FleetCounters {
    /// Successful reads.
    pub reads: u64,
    /// Successful writes.
    pub writes: u64,
    /// Bytes read.
    pub bytes_read: u64,
    /// Bytes written.
    pub bytes_written: u64,
    /// Files that were read to the end.
    pub files_read: u64,
    /// Files that were written and closed successfully.
    pub files_written: u64,
    /// Reads whose data differed from the written data.
    pub checksum_errors: u64,
    /// Operations that failed otherwise.
    pub failures: u64,
    /// Time that clients spent in state `failing`, in nanoseconds.
    pub failing_ns: u64,
    /// Reads and writes that the load generator sent later than the plan's health rule allows.
    pub late: u64,
    /// Scheduled time of the transfers of clients with a rate, in nanoseconds.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub scheduled_ns: u64,
    /// Time that clients with a rate fell behind it, whether or not they catch up, in nanoseconds.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub behind_ns: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl FleetCounters {
    /// Returns the sum of two counters.
    #[must_use]
    pub const fn with(self, other: &Self) -> Self {
        Self {
            reads: self.reads + other.reads,
            writes: self.writes + other.writes,
            bytes_read: self.bytes_read + other.bytes_read,
            bytes_written: self.bytes_written + other.bytes_written,
            files_read: self.files_read + other.files_read,
            files_written: self.files_written + other.files_written,
            checksum_errors: self.checksum_errors + other.checksum_errors,
            failures: self.failures + other.failures,
            failing_ns: self.failing_ns + other.failing_ns,
            late: self.late + other.late,
            scheduled_ns: self.scheduled_ns.saturating_add(other.scheduled_ns),
            behind_ns: self.behind_ns.saturating_add(other.behind_ns),
        }
    }

    /// Returns the achieved share of the clients' rates, in percent; `None` without a rate.
    pub fn kept_percent(&self) -> Option<f64> {
        let asked = self.scheduled_ns.saturating_add(self.behind_ns);
        (self.scheduled_ns > 0).then(|| 100.0 * self.scheduled_ns as f64 / asked as f64)
    }
}

/// Results of a fleet in addition to the totals that every run has.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct FleetRecord {
    /// Steps of the ramp that began; a single entry without a ramp.
    pub steps: Vec<StepRecord>,
    /// Health rule that stopped the run early.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped_by: Option<HealthFinding>,
    /// Results of each group.
    pub groups: Vec<GroupRecord>,
    /// Failures, by kind of operation and result, most frequent first; `lines` contains numbers of
    /// clients.
    pub mismatches: Vec<MismatchRecord>,
    /// First clients that gave up, with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<LostClient>,
    /// Calls repeated after a pause because the server was not ready.
    pub busy_calls: u64,
    /// Changes during the run, in chronological order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<ChangeRecord>,
}

/// Kind of a change to running clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeKind {
    /// Start the clients again.
    Start,
    /// Stop their operations.
    Stop,
    /// Finish their files.
    Quiesce,
    /// Change their settings.
    Set,
}

impl ChangeKind {
    /// Returns the name of the change.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Stop => "stop",
            Self::Quiesce => "quiesce",
            Self::Set => "set",
        }
    }
}

/// A change of a fleet during its run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangeRecord {
    /// Number of the change, starting at 1.
    pub number: u32,
    /// Time of the request, in nanoseconds since the run began; each client applies it within 50
    /// ms.
    #[serde(alias = "at_ns")]
    pub sent_ns: u64,
    /// Kind of the change.
    #[serde(alias = "what")]
    pub action: ChangeKind,
    /// Selected clients, as in the request.
    #[serde(alias = "which")]
    pub selector: String,
    /// Number of selected clients.
    pub clients: u32,
    /// Time when all of them had applied it, in nanoseconds since the run began; absent if the run
    /// ended before, and in records of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(alias = "settled_ns")]
    pub applied_ns: Option<u64>,
    /// Changed settings, with old and new values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<SettingChange>,
}

/// Changes of a fleet that preceded a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct SettingsGeneration {
    /// Number of the last change before its end; 0 without changes.
    pub generation: u32,
    /// Oldest generation still in use during the measurement, if not all clients used the last one
    /// all the time: the measurement is mixed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mixed_from: Option<u32>,
}

impl SettingsGeneration {
    /// Creates the range from the oldest generation in use to the last.
    pub fn new(oldest: u32, last: u32) -> Self {
        Self {
            generation: last,
            mixed_from: (oldest < last).then_some(oldest),
        }
    }

    /// Returns the oldest generation in use.
    pub fn oldest(self) -> u32 {
        self.mixed_from.unwrap_or(self.generation)
    }

    /// Returns the range that includes this measurement and the next.
    #[must_use]
    pub fn and(self, next: Self) -> Self {
        Self::new(
            self.oldest().min(next.oldest()),
            self.generation.max(next.generation),
        )
    }
}

impl fmt::Display for SettingsGeneration {
    /// Prints `1`, or `0-1` if mixed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.mixed_from {
            Some(oldest) => write!(f, "{oldest}-{}", self.generation),
            None => write!(f, "{}", self.generation),
        }
    }
}

/// A changed setting of clients.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SettingChange {
    /// Key of the setting in a plan.
    pub key: String,
    /// Old value.
    pub from: String,
    /// New value.
    pub to: String,
    /// Number of clients.
    pub clients: u32,
}

/// A client that gave up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LostClient {
    /// Number of the client.
    pub client: u32,
    /// Reason.
    #[serde(alias = "why")]
    pub reason: String,
}

/// Results of one ramp step: number of clients, load and times.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StepRecord {
    /// Number of clients that had started.
    pub clients: u32,
    /// Start, in nanoseconds since the run began.
    pub start_ns: u64,
    /// End, in nanoseconds since the run began.
    pub end_ns: u64,
    /// Changes that preceded the measurement; absent in records of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<SettingsGeneration>,
    /// 99th percentile of the connect times of the clients that started with the step, in
    /// nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connect_time_p99_ns: Option<u64>,
    /// Successful reads and writes per second.
    pub achieved_load_ops_per_s: f64,
    /// Bytes of successful reads and writes per second.
    pub goodput_bytes_per_s: f64,
    /// Response time (due → done) of reads and writes.
    pub response_time_ns: DistributionRecord,
    /// Operations of all kinds that failed.
    pub errors: u64,
    /// Reads whose data differed from the written data.
    pub checksum_errors: u64,
    /// Maximum memory of the load generator, and of the built-in server if it is in the same
    /// process.
    pub memory_bytes: u64,
    /// Maximum memory of the server, if the plan names its process on this host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_memory_bytes: Option<u64>,
}

/// Upper bounds of the response times of reads and writes: bounds of histogram buckets, four per
/// doubling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LatencyBounds {
    /// Number of reads and writes.
    pub count: u64,
    /// Upper bound of the median in nanoseconds; absent above 268 s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p50_ns: Option<u64>,
    /// Upper bound of the 99th percentile in nanoseconds; absent above 268 s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99_ns: Option<u64>,
}

/// Results of the clients of a group.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct GroupRecord {
    /// Name of the group.
    pub name: String,
    /// Number of clients.
    pub clients: u32,
    /// States of the clients at the end of the run.
    pub states: Vec<StateCount>,
    /// Counters of the clients.
    pub counters: FleetCounters,
    /// Bits read per second of the run.
    pub read_bits_per_s: f64,
    /// Bits written per second of the run.
    pub write_bits_per_s: f64,
    /// Bits read per second of the last 20 s.
    pub read_bits_per_s_20s: f64,
    /// Bits written per second of the last 20 s.
    pub write_bits_per_s_20s: f64,
    /// Upper bounds of the response times of its reads and writes; absent without any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(alias = "response_time_at_most")]
    pub response_time_buckets: Option<LatencyBounds>,
    /// Bytes read and written by the client that moved least.
    pub client_bytes_min: u64,
    /// Bytes read and written by the client that moved most.
    pub client_bytes_max: u64,
}

impl GroupRecord {
    /// Returns the sum of these groups, with these times.
    pub fn total(groups: &[Self], times: Option<LatencyBounds>) -> Self {
        let clients = |state: ClientState| {
            let states = groups.iter().flat_map(|group| &group.states);
            let same = states.filter(|count| count.state == state);
            same.map(|count| count.clients).sum()
        };
        let states = ClientState::ALL.map(|state| StateCount {
            state,
            clients: clients(state),
        });
        let sum = |of: fn(&Self) -> f64| groups.iter().map(of).sum();
        let counters = groups.iter().map(|group| &group.counters);
        Self {
            name: ALL.into(),
            clients: groups.iter().map(|group| group.clients).sum(),
            states: states
                .into_iter()
                .filter(|count| count.clients > 0)
                .collect(),
            counters: counters.fold(FleetCounters::default(), FleetCounters::with),
            read_bits_per_s: sum(|group| group.read_bits_per_s),
            write_bits_per_s: sum(|group| group.write_bits_per_s),
            read_bits_per_s_20s: sum(|group| group.read_bits_per_s_20s),
            write_bits_per_s_20s: sum(|group| group.write_bits_per_s_20s),
            response_time_buckets: times,
            client_bytes_min: least(groups),
            client_bytes_max: most(groups),
        }
    }
}

fn least(groups: &[GroupRecord]) -> u64 {
    let bytes = groups.iter().map(|group| group.client_bytes_min);
    bytes.min().unwrap_or(0)
}

fn most(groups: &[GroupRecord]) -> u64 {
    let bytes = groups.iter().map(|group| group.client_bytes_max);
    bytes.max().unwrap_or(0)
}

/// Number of clients in a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StateCount {
    /// The state.
    pub state: ClientState,
    /// Number of clients.
    pub clients: u32,
}

/// A health rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HealthRule {
    /// Connect time.
    Connect,
    /// Response time of reads and writes.
    Response,
    /// Share of failed operations.
    Errors,
    /// Delay of the load generator.
    Lateness,
}

impl HealthRule {
    /// Returns the key of the rule in the plan.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Connect => "connect",
            Self::Response => "response",
            Self::Errors => "errors",
            Self::Lateness => "lateness",
        }
    }
}

/// A health rule that failed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HealthFinding {
    /// The rule.
    pub rule: HealthRule,
    /// Number of clients at that time.
    pub clients: u32,
    /// Time in nanoseconds since the run began.
    pub at_ns: u64,
    /// Measured value: nanoseconds, a share of errors, or of late operations.
    pub value: f64,
    /// Limit of the rule.
    pub limit: f64,
}
