//! What only a fleet has to tell: its groups, the steps of its ramp, and what stopped it.

use crate::measure::replay_record::MismatchRecord;
use filestone_workload::recording::distribution::DistributionRecord;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What all clients are called.
pub const ALL: &str = "all";

/// What a client is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ClientState {
    /// It has not begun: its step is still to come; or it waits for a file that another writes or reads.
    Waiting,
    /// It has begun, and its connection is not there yet.
    Connecting,
    /// It makes its directory, and the files that it reads.
    Starting,
    /// It reads or writes.
    Running,
    /// It has done enough, and ends its file.
    Quiescing,
    /// It has done enough.
    Stopped,
    /// Something has failed, which it tries again.
    Failing,
    /// What has failed was tried for long enough, or its connection was given up.
    Failed,
}

impl ClientState {
    /// All of them.
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

    /// The word for it.
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

/// How far the first connection of a client is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectStatus {
    /// It needs none.
    None,
    /// It is not there yet.
    Pending,
    /// It was made in so many nanoseconds.
    Connected(u64),
}

/// What clients have done, the whole run long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct FleetCounters {
    /// Reads that ended well.
    pub reads: u64,
    /// Writes that ended well.
    pub writes: u64,
    /// Bytes read.
    pub bytes_read: u64,
    /// Bytes written.
    pub bytes_written: u64,
    /// Files that were read to their ends.
    pub files_read: u64,
    /// Files that were written, and closed well.
    pub files_written: u64,
    /// Reads that brought other data than were written.
    pub checksum_errors: u64,
    /// Operations that failed otherwise.
    pub failures: u64,
    /// How long clients were failing, in nanoseconds.
    pub failing_ns: u64,
    /// Reads and writes that the load generator sent later than the plan's health rule allows.
    pub late: u64,
    /// Of clients with a rate: what the transfers that they began take by it, in nanoseconds.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub scheduled_ns: u64,
    /// By how much they fell behind their rates, whether or not they were to make up for it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub behind_ns: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl FleetCounters {
    /// These and others.
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

    /// The share of their rates that clients kept, in percent; `None` without a rate.
    pub fn kept_percent(&self) -> Option<f64> {
        let asked = self.scheduled_ns.saturating_add(self.behind_ns);
        (self.scheduled_ns > 0).then(|| 100.0 * self.scheduled_ns as f64 / asked as f64)
    }
}

/// What a fleet did, besides what every run has in its totals.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct FleetRecord {
    /// One entry per step of the ramp that began; one without a ramp.
    pub steps: Vec<StepRecord>,
    /// What stopped it before its time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped_by: Option<HealthFinding>,
    /// One entry per group.
    pub groups: Vec<GroupRecord>,
    /// What failed, by kind of operation and of result, most frequent first; the lines are numbers of
    /// clients.
    pub mismatches: Vec<MismatchRecord>,
    /// The first clients that gave up, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<LostClient>,
    /// Calls made again, after a pause, because the server was not ready.
    pub busy_calls: u64,
    /// What was changed while it ran, in the order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<ChangeRecord>,
}

/// What can be done to clients while they run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ChangeKind {
    /// They begin again.
    Start,
    /// They end their operations.
    Stop,
    /// They end their files.
    Quiesce,
    /// They go by other settings.
    Set,
}

impl ChangeKind {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Stop => "stop",
            Self::Quiesce => "quiesce",
            Self::Set => "set",
        }
    }
}

/// A change of a fleet while it ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ChangeRecord {
    /// Which it was, from 1 on.
    pub number: u32,
    /// When clients were told, in nanoseconds since the run began; each takes it up within 50 ms.
    pub at_ns: u64,
    /// What was done.
    pub what: ChangeKind,
    /// To whom, as it was asked.
    pub which: String,
    /// How many clients that were.
    pub clients: u32,
    /// When all of them were seen to go by it, in nanoseconds since the run began; none if the run was
    /// over before, and in records of versions that did not look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled_ns: Option<u64>,
    /// Which settings, and by how much.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<SettingChange>,
}

/// After which changes of a fleet something was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SettingsGeneration {
    /// The number of the last change before its end; 0 if there was none.
    pub generation: u32,
    /// The oldest generation that clients still went by in it, where not all went by the last one all
    /// the time: it is mixed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mixed_from: Option<u32>,
}

impl SettingsGeneration {
    /// From the oldest that clients went by to the last.
    pub fn new(oldest: u32, last: u32) -> Self {
        Self {
            generation: last,
            mixed_from: (oldest < last).then_some(oldest),
        }
    }

    /// The oldest that clients went by.
    pub fn oldest(self) -> u32 {
        self.mixed_from.unwrap_or(self.generation)
    }

    /// That of this and of what follows it, together.
    #[must_use]
    pub fn and(self, next: Self) -> Self {
        Self::new(
            self.oldest().min(next.oldest()),
            self.generation.max(next.generation),
        )
    }
}

impl fmt::Display for SettingsGeneration {
    /// `1`, or `0-1` of what is mixed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.mixed_from {
            Some(oldest) => write!(f, "{oldest}-{}", self.generation),
            None => write!(f, "{}", self.generation),
        }
    }
}

/// A setting of clients that was changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SettingChange {
    /// Its key in a plan.
    pub key: String,
    /// Its value before.
    pub from: String,
    /// Its value from then on.
    pub to: String,
    /// Of how many clients.
    pub clients: u32,
}

/// A client that gave up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct LostClient {
    /// Its number.
    pub client: u32,
    /// Why.
    pub why: String,
}

/// What a fleet came to with so many clients.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct StepRecord {
    /// Clients that had begun.
    pub clients: u32,
    /// Start, in nanoseconds since the run began.
    pub start_ns: u64,
    /// End, likewise.
    pub end_ns: u64,
    /// After which changes it was measured; records of versions that did not look have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<SettingsGeneration>,
    /// 99 % of the connections of the clients that began with it took no longer to be made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connect_time_p99_ns: Option<u64>,
    /// Reads and writes that ended well, per second.
    pub achieved_load_ops_per_s: f64,
    /// Their data per second.
    pub goodput_bytes_per_s: f64,
    /// due → done of reads and writes.
    pub response_time_ns: DistributionRecord,
    /// Operations of all kinds that did not end well.
    pub errors: u64,
    /// Reads that brought other data than were written.
    pub checksum_errors: u64,
    /// The most that the load generator took of memory, and the built-in server if it is in the same
    /// process.
    pub memory_bytes: u64,
    /// The most that the server took, where it is a process of this host that the plan names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_memory_bytes: Option<u64>,
}

/// How long reads and writes took at most, from when they were due: the ends of stretches, four to a
/// doubling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct LatencyBounds {
    /// How many there were.
    pub count: u64,
    /// Half of them took no longer; none where that is more than 268 s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p50_ns: Option<u64>,
    /// 99 % of them took no longer, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99_ns: Option<u64>,
}

/// What clients of a group came to.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct GroupRecord {
    /// Its name.
    pub name: String,
    /// Its clients.
    pub clients: u32,
    /// What they were doing when the run was over.
    pub states: Vec<StateCount>,
    /// What they have done.
    pub counters: FleetCounters,
    /// Bits read per second of the run.
    pub read_bits_per_s: f64,
    /// Bits written per second of the run.
    pub write_bits_per_s: f64,
    /// The same of the last 20 s.
    pub read_bits_per_s_20s: f64,
    /// The same of the last 20 s.
    pub write_bits_per_s_20s: f64,
    /// How long its reads and writes took at most; none if there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_time_at_most: Option<LatencyBounds>,
    /// Bytes that the client has read and written that has moved least.
    pub client_bytes_min: u64,
    /// The same of the one that has moved most.
    pub client_bytes_max: u64,
}

impl GroupRecord {
    /// All of these together, of which the times are these.
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
            response_time_at_most: times,
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

/// How many clients were in a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct StateCount {
    /// Which.
    pub state: ClientState,
    /// How many.
    pub clients: u32,
}

/// A rule of health.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum HealthRule {
    /// How long connections take to be made.
    Connect,
    /// How long reads and writes take.
    Response,
    /// How many operations fail.
    Errors,
    /// How late the load generator is.
    Lateness,
}

impl HealthRule {
    /// The key of the plan that says it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Connect => "connect",
            Self::Response => "response",
            Self::Errors => "errors",
            Self::Lateness => "lateness",
        }
    }
}

/// A rule that was broken.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct HealthFinding {
    /// Which.
    pub rule: HealthRule,
    /// With how many clients.
    pub clients: u32,
    /// When, in nanoseconds since the run began.
    pub at_ns: u64,
    /// What was found: nanoseconds, a share of errors, or of late operations.
    pub value: f64,
    /// What the rule allows.
    pub limit: f64,
}
