//! The run record: the JSON document that every report is made from.

use crate::JsonSchema;
use crate::cost::CostRecord;
use crate::measure::caveat::Caveat;
use crate::measure::connections_record::ConnectionsRecord;
use crate::measure::curve_record::{CurveRecord, ObjectiveRecord};
use crate::measure::figure_record::{FigureRecord, OneSidedFigureRecord, RecordedInterval};
use crate::measure::fleet_record::{FleetRecord, SettingsGeneration};
use crate::measure::gate_record::GateRecord;
pub use crate::measure::generator_record::{Headroom, Host, RunOutcome};
use crate::measure::job_record::JobRecord;
use crate::measure::losses::LossRecord;
use crate::measure::mix_record::MixRecord;
use crate::measure::mount_record::MountRecord;
use crate::measure::processors::{ProcessorsRecord, ThreadTime};
use crate::measure::replay_record::ReplayRecord;
use crate::measure::stamps::StampsRecord;
use crate::measure::validity_record::Validity;
use filestone_plan::plan::Plan;
use filestone_workload::figure::TimeKind;
use filestone_workload::operation::OpKind;
use filestone_workload::recording::distribution::DistributionRecord;
use filestone_workload::recording::interval::TickCounts;
use filestone_workload::recording::ledger::Ledger;
use filestone_workload::recording::sample::Role;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Format version of the record, incremented with each change of its format: 2 renamed keys, roles
/// and caveats, which are still read by their names in format 1.
pub const FORMAT: u32 = 2;
/// Version of the method of measurement, incremented if the same events give a different number.
pub const METHOD: u32 = 3;
/// First method that separates the times of failed operations from those of successful ones.
const METHOD_SUCCESSES_APART: u32 = 3;

/// Record of one run, self-contained.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunRecord {
    /// Format version of this document.
    pub format: u32,
    /// Method of measurement: records of different methods must not be compared.
    pub method: u32,
    /// Program that wrote this record.
    pub tool: Tool,
    /// Start of the measured window, RFC 3339, UTC.
    pub started_at: String,
    /// Plan of the run.
    pub plan: Plan,
    /// Host of the load generator.
    pub host: Host,
    /// Target of the load, as it described itself.
    pub target: Target,
    /// Capacity of the tool itself on this host, if it was measured.
    pub headroom: Option<Headroom>,
    /// CPU use of this and other programs on this host, if it was observed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processors: Option<ProcessorsRecord>,
    /// Setup of the clients' connections, if the load generator made them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections: Option<ConnectionsRecord>,
    /// Cost of operations on the network and at the server, if it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<CostRecord>,
    /// Hosts of the run, if it was a job of several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<JobRecord>,
    /// End of the run.
    pub end: RunOutcome,
    /// Actual length of the measured window in nanoseconds.
    pub window_ns: u64,
    /// Results that only a replay has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<ReplayRecord>,
    /// Results that only a fleet has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fleet: Option<FleetRecord>,
    /// Results that only a mix has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mix: Option<MixRecord>,
    /// Times of calls in the kernel, in the network and at the server, of a run with kernel
    /// timestamps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stamps: Option<StampsRecord>,
    /// Load–response curve, of a run that measured one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub curve: Option<CurveRecord>,
    /// Highest load that meets an objective, of a run that searched for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objective: Option<ObjectiveRecord>,
    /// Sums over the whole window.
    pub totals: Totals,
    /// Intervals; operations that ended after the window closed are in a last entry of phase
    /// `drain`.
    pub intervals: Vec<IntervalRecord>,
    /// Counts of each tick of 100 ms.
    pub ticks: Vec<TickRecord>,
    /// Caveats of the run.
    pub caveats: Vec<Caveat>,
    /// Validity of the results; absent in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validity: Option<Validity>,
    /// Results of the plan's gates.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<GateRecord>,
}

/// The program that wrote a record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tool {
    /// Name of the program.
    pub name: String,
    /// Version of the program.
    pub version: String,
    /// `release` or `debug`.
    pub profile: String,
}

impl Tool {
    /// Returns the value for a release build of filestone.
    pub fn release(version: &str) -> Self {
        Self {
            name: "filestone".into(),
            version: version.into(),
            profile: "release".into(),
        }
    }
}

/// The target of the load, as it described itself.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Target {
    /// Address and port that operations went to.
    pub address: String,
    /// Whether the target is the built-in server.
    pub built_in: bool,
    /// Whether the target is on this host.
    pub local: bool,
    /// The export that was mounted.
    pub export: String,
    /// Path that was looked up below the export.
    pub walked: String,
    /// The object under test: `file`, `directory`, …
    pub object: String,
    /// Length of the object in bytes.
    pub object_bytes: u64,
    /// Number of files that operations use.
    pub files: u64,
    /// Maximum READ size of the server (FSINFO rtmax).
    pub read_max_bytes: u64,
    /// Maximum WRITE size of the server (FSINFO wtmax).
    pub write_max_bytes: u64,
    /// Speed of the outgoing interface, if the target is another host and this host reports the
    /// speed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_mbit_per_s: Option<u32>,
    /// Link between network namespaces that leads to the target without a router, if there is no
    /// other evidence that it is on this host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace_link: Option<String>,
    /// Session parameters negotiated with an SMB server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionRecord>,
    /// Mounts of the target's directories on this host, without duplicates.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mounts: Vec<MountRecord>,
}

/// An SMB session as established, which may differ from the request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionRecord {
    /// Dialect: `3.1.1`.
    pub dialect: String,
    /// Signing algorithm, if messages are signed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signing: Option<String>,
    /// Encryption algorithm, if messages are encrypted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encryption: Option<String>,
    /// Account that the server assigned to the clients.
    pub account: SessionIdentity,
    /// Number of connections of each client's session: its channels.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub channels: u32,
    /// Interfaces reported by the server; queried for sessions with several channels. All channels
    /// connect to the configured address.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interfaces: Vec<InterfaceRecord>,
    /// Durable handles, if they were requested (`--durable`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub durable: Option<DurableHandles>,
}

/// Durable handles, which a server keeps for a client whose connection is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct DurableHandles {
    /// Opens that requested one.
    #[serde(alias = "asked")]
    pub requested: u64,
    /// Opens that were granted one.
    pub granted: u64,
    /// Handles that were reclaimed after a lost connection.
    pub reclaimed: u64,
    /// Handles that the server no longer had: the files were opened again.
    #[serde(alias = "gone")]
    pub lost: u64,
}

impl DurableHandles {
    /// Returns the sum of both.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self {
            requested: self.requested + other.requested,
            granted: self.granted + other.granted,
            reclaimed: self.reclaimed + other.reclaimed,
            lost: self.lost + other.lost,
        }
    }

    /// Formats `durable handles: 12 asked for, 12 granted, 4 taken up again, 0 gone`.
    fn text(self) -> String {
        let Self {
            requested: asked,
            granted,
            reclaimed,
            lost: gone,
        } = self;
        format!(
            "durable handles: {asked} asked for, {granted} granted, {reclaimed} taken up again, {gone} gone"
        )
    }
}

const fn one() -> u32 {
    1
}

const fn is_one(number: &u32) -> bool {
    *number == 1
}

/// An interface of an SMB server, as reported by the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InterfaceRecord {
    /// Address of the interface.
    pub address: String,
    /// Link speed in bits per second.
    pub link_bits_per_s: u64,
    /// Whether the interface supports RSS, which spreads connections over CPUs.
    pub rss: bool,
    /// Whether the interface supports RDMA.
    pub rdma: bool,
}

/// Account that a server assigned to a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SessionIdentity {
    /// The configured user.
    User,
    /// Guest account.
    Guest,
    /// Anonymous.
    Anonymous,
}

impl SessionRecord {
    /// Formats the session: `SMB 3.1.1 signed with AES-128-GMAC, as guest`, or `SMB 3.1.1 unsigned
    /// over 4 channels a client`.
    pub fn text(&self) -> String {
        let protection = match (&self.encryption, &self.signing) {
            (Some(cipher), _) => format!("encrypted with {cipher}"),
            (None, Some(algorithm)) => format!("signed with {algorithm}"),
            (None, None) => "unsigned".into(),
        };
        let account = match self.account {
            SessionIdentity::User => "",
            SessionIdentity::Guest => ", as guest",
            SessionIdentity::Anonymous => ", as nobody",
        };
        let channels = match self.channels {
            1 => String::new(),
            channels => format!(" over {channels} channels a client"),
        };
        let durable = self.durable.map(|handles| format!("; {}", handles.text()));
        let durable = durable.unwrap_or_default();
        format!(
            "SMB {} {protection}{channels}{account}{durable}",
            self.dialect
        )
    }
}

/// Sums over the measured window.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Totals {
    /// Outcomes of the measured operations.
    pub ledger: Ledger,
    /// Operations due per second, in an open loop.
    pub offered_load_ops_per_s: Option<f64>,
    /// Operations that succeeded in the window, whenever they were due, per second.
    pub achieved_load_ops_per_s: f64,
    /// File data of completed operations per second of the window.
    pub goodput_bytes_per_s: f64,
    /// Response time (due → done) of measured operations.
    pub response_time_ns: DistributionRecord,
    /// Service time (sent → done) of measured operations.
    pub service_time_ns: DistributionRecord,
    /// Slot wait (due → ready): waiting for a slot or a connection.
    pub slot_wait_ns: DistributionRecord,
    /// Dispatch delay (ready → sent): delay of the load generator.
    pub dispatch_delay_ns: DistributionRecord,
    /// One row per kind of operation and role.
    pub kinds: Vec<KindRecord>,
    /// Operations in flight, measured or not, averaged over the window's time.
    #[serde(default)]
    pub in_flight_mean: f64,
    /// Part of `in_flight_mean` that a connection held until the server granted credits, or while
    /// it was down; `None` if the server does not grant credits, and in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_mean: Option<f64>,
    /// Replies that arrived too late or twice.
    pub late_replies: u64,
    /// Pages of directories whose entries exceeded `count` or `maxcount` bytes.
    #[serde(default)]
    #[serde(alias = "long_listings")]
    pub oversized_listings: u64,
    /// Maximum excess of such a page in bytes.
    #[serde(default)]
    #[serde(alias = "listing_excess_bytes_max")]
    pub oversized_listing_bytes_max: u32,
    /// Connections that were established again.
    pub reconnections: u64,
    /// Time that connections were unusable, summed over all connections.
    #[serde(alias = "unusable_ns")]
    pub disconnected_ns: u64,
    /// Reasons for lost connections, most frequent first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub losses: Vec<LossRecord>,
    /// Clients whose connections could not be established again.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub lost_clients: u64,
    /// CPU time of all workers in the window, in nanoseconds, without time spent spinning.
    pub client_cpu_ns: u64,
    /// CPU time per operation in nanoseconds, including unmeasured operations.
    pub client_cpu_ns_per_op: f64,
    /// Results of each worker.
    pub workers: Vec<WorkerRecord>,
    /// Headline figures that have a 95 % interval.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<FigureRecord>,
    /// Headline figures with a known lower end of the interval only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open_figures: Vec<OneSidedFigureRecord>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Totals {
    /// Returns the stored interval of the figure with this name.
    pub fn kept_interval(&self, name: &str) -> Option<RecordedInterval<'_>> {
        let whole = self.figures.iter().find(|figure| figure.name == name);
        let open = || self.open_figures.iter().find(|figure| figure.name == name);
        whole
            .map(RecordedInterval::TwoSided)
            .or_else(|| open().map(RecordedInterval::OneSided))
    }

    /// Returns the times of measured operations, of all kinds or of one.
    pub fn times(&self, operation: Option<OpKind>, timed: TimeKind) -> Option<&DistributionRecord> {
        let (response, service) = match operation {
            None => (&self.response_time_ns, &self.service_time_ns),
            Some(operation) => {
                let mut kinds = self.kinds.iter();
                let kind = kinds
                    .find(|kind| kind.role == Role::Measured && kind.operation == operation)?;
                (&kind.response_time_ns, &kind.service_time_ns)
            }
        };
        Some(match timed {
            TimeKind::Response => response,
            TimeKind::Service => service,
        })
    }

    /// Returns the operations of all kinds and roles with an unexpected outcome.
    pub fn errors(&self) -> u64 {
        let kinds = self.kinds.iter();
        let errors = kinds.map(|kind| kind.ledger.unexpected());
        errors.fold(0, u64::saturating_add)
    }

    /// Returns the number of operations that succeeded in the window minus those that were due in
    /// it and succeeded. Positive: operations left over from the warm-up. Negative: operations that
    /// ended after the window.
    pub fn left_over(&self, window_ns: u64) -> i64 {
        let ended = (self.achieved_load_ops_per_s * window_ns as f64 / 1e9).round();
        (ended as i64).saturating_sub_unsigned(self.ledger.ok)
    }
}

/// Part of one worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkerRecord {
    /// Number of the worker.
    pub worker: u32,
    /// Number of its clients.
    pub clients: u32,
    /// CPU time in the window, in nanoseconds.
    pub cpu_ns: u64,
    /// Part of the CPU time spent spinning.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[serde(alias = "spun_ns")]
    pub busy_poll_ns: u64,
    /// Remaining CPU time, spent on work, as a percentage of the window.
    pub busy_percent: f64,
    /// Share of the window that the worker was ready to run without a CPU, in percent.
    #[serde(alias = "waited_percent")]
    pub run_delay_percent: f64,
}

impl WorkerRecord {
    /// Returns the times of its thread in a window of `window_ns`.
    pub fn time(&self, window_ns: u64) -> ThreadTime {
        ThreadTime {
            thread: self.worker,
            cpu_ns: self.cpu_ns,
            waited_ns: (self.run_delay_percent / 100.0 * window_ns as f64) as u64,
        }
    }
}

/// Operations of one kind in one role.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KindRecord {
    /// Kind of operation.
    pub operation: OpKind,
    /// Role of the operations.
    pub role: Role,
    /// Outcomes of the operations.
    pub ledger: Ledger,
    /// Response time (due → done) of successful operations.
    pub response_time_ns: DistributionRecord,
    /// Service time (sent → done) of successful operations.
    pub service_time_ns: DistributionRecord,
    /// Response time (due → done) of operations that were sent and failed; records of methods
    /// before 3 include them in `response_time_ns`.
    #[serde(default, skip_serializing_if = "DistributionRecord::is_empty")]
    pub failed_time_ns: DistributionRecord,
    /// Sum of the service times (sent → done) of failed operations, in nanoseconds.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub failed_service_sum_ns: u64,
    /// RPC calls made.
    pub calls: u64,
    /// Number of retransmissions; a call that was sent three times counts twice.
    pub retransmissions: u64,
    /// Bytes sent, record marks included.
    pub bytes_sent: u64,
    /// Bytes received, record marks included.
    pub bytes_received: u64,
    /// File data moved by successful operations.
    pub data_bytes: u64,
    /// Failures by their names in the standard, with numbers.
    pub failures: Vec<FailureCount>,
}

/// Number of occurrences of one failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FailureCount {
    /// Name of the failure, such as `NFS3ERR_STALE (70)`.
    pub failure: String,
    /// Number of occurrences.
    pub count: u64,
}

/// Phase of the run that an interval belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Within the measured window.
    Measure,
    /// After the window: operations that were in flight when it closed.
    Drain,
}

/// Counts and times of one interval of the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IntervalRecord {
    /// Start, in nanoseconds since the window opened.
    pub start_ns: u64,
    /// End, in nanoseconds since the window opened.
    pub end_ns: u64,
    /// Phase of the run.
    pub phase: Phase,
    /// Changes of a fleet that preceded this interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<SettingsGeneration>,
    /// Operations that ended in this interval; `scheduled` counts those that started in it, so the
    /// ledger balances only over the whole run.
    pub ledger: Ledger,
    /// Bytes sent.
    pub bytes_sent: u64,
    /// Bytes received.
    pub bytes_received: u64,
    /// CPU time of all workers, in nanoseconds, without time spent spinning.
    pub client_cpu_ns: u64,
    /// Rows of kinds of operations by role.
    pub kinds: Vec<IntervalKindRecord>,
}

/// Operations of one kind in one interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IntervalKindRecord {
    /// Kind of operation.
    pub operation: OpKind,
    /// Role of the operations.
    pub role: Role,
    /// Outcomes of the operations.
    pub ledger: Ledger,
    /// File data moved.
    #[serde(default)]
    pub data_bytes: u64,
    /// Response time (due → done).
    pub response_time_ns: DistributionRecord,
    /// Service time (sent → done).
    pub service_time_ns: DistributionRecord,
}

impl IntervalRecord {
    /// Returns the response times of all measured kinds together; `None` if there are no times, or
    /// if a histogram cannot be read.
    pub fn response_time(&self) -> Option<Cow<'_, DistributionRecord>> {
        let measured = self.kinds.iter();
        let times: Vec<&DistributionRecord> = measured
            .filter(|kind| kind.role == Role::Measured)
            .map(|kind| &kind.response_time_ns)
            .filter(|times| times.count > 0)
            .collect();
        match times.as_slice() {
            [] => None,
            [times] => Some(Cow::Borrowed(times)),
            several => DistributionRecord::merged(several).ok().map(Cow::Owned),
        }
    }
}

/// Counts of one tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TickRecord {
    /// Start, in nanoseconds since the window opened.
    pub start_ns: u64,
    /// Length in nanoseconds.
    pub len_ns: u64,
    /// Measured operations that ended.
    pub ended: u64,
    /// Measured operations that were sent and succeeded; absent in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ok: Option<u64>,
    /// Measured operations without a time that ended as expected: they failed as the plan expects,
    /// or their client knew the result without a call; 0 in older records.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub untimed_as_expected: u64,
    /// Sum of the response times of the operations in `ok`, in nanoseconds.
    pub response_time_sum_ns: u64,
    /// Minimum response time.
    pub response_time_min_ns: u64,
    /// Maximum response time.
    pub response_time_max_ns: u64,
    /// Bytes sent.
    pub bytes_sent: u64,
    /// Bytes received.
    pub bytes_received: u64,
}

impl TickRecord {
    /// Creates a record of these counts.
    pub fn new(start_ns: u64, len_ns: u64, counts: &TickCounts) -> Self {
        Self {
            start_ns,
            len_ns,
            ended: counts.ended(),
            ok: Some(counts.ok),
            untimed_as_expected: counts.untimed_as_expected,
            response_time_sum_ns: counts.response_time_sum,
            response_time_min_ns: counts.response_time_min,
            response_time_max_ns: counts.response_time_max,
            bytes_sent: counts.bytes_sent,
            bytes_received: counts.bytes_received,
        }
    }

    /// Returns the operations that succeeded; in records without that count, all that ended.
    pub const fn ok_or_ended(&self) -> u64 {
        match self.ok {
            Some(ok) => ok,
            None => self.ended,
        }
    }

    /// Returns the operations that ended as expected, with a time or without.
    pub const fn as_expected(&self) -> u64 {
        self.ok_or_ended().saturating_add(self.untimed_as_expected)
    }

    /// Returns the counts of this record.
    pub const fn counts(&self) -> TickCounts {
        TickCounts {
            ok: self.ok_or_ended(),
            untimed: self.ended.saturating_sub(self.ok_or_ended()),
            untimed_as_expected: self.untimed_as_expected,
            response_time_sum: self.response_time_sum_ns,
            response_time_min: self.response_time_min_ns,
            response_time_max: self.response_time_max_ns,
            bytes_sent: self.bytes_sent,
            bytes_received: self.bytes_received,
        }
    }
}

/// A record that contradicts itself.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvariantViolation {
    /// Not every scheduled operation is accounted for.
    #[error("{missing} of {scheduled} operations are unaccounted for")]
    Ledger {
        /// Number of operations that are unaccounted for.
        missing: i128,
        /// Number of scheduled operations.
        scheduled: u64,
    },
    /// A row is not `min ≤ p50 ≤ … ≤ max`.
    #[error("the row of {what} is out of order")]
    Order {
        /// Name of the row.
        what: String,
    },
    /// Two counts that must be equal differ.
    #[error("{what}: {left} in one place, {right} in another")]
    Count {
        /// Name of the counts.
        what: String,
        /// First count.
        left: u64,
        /// Second count.
        right: u64,
    },
    /// A part is more than its whole.
    #[error("{what} is {part}, of {whole} in all")]
    Part {
        /// Name of the part.
        what: String,
        /// Size of the part.
        part: u64,
        /// Size of the whole.
        whole: u64,
    },
    /// A number is NaN or infinite.
    #[error("{what} is not a number")]
    NotANumber {
        /// Name of the number.
        what: String,
    },
    /// A histogram contradicts its row.
    #[error("{what}: {why}")]
    Histogram {
        /// Name of the row.
        what: String,
        /// Description of the contradiction.
        why: String,
    },
    /// A number is negative.
    #[error("{what} is {value}, which is less than 0")]
    Negative {
        /// Name of the number.
        what: String,
        /// Value of the number.
        value: String,
    },
    /// Operations ended in a window of length 0.
    #[error("its window is 0 ns long, and {ended} operations ended in it")]
    NoWindow {
        /// Number of operations.
        ended: u64,
    },
    /// The lower end of a figure's interval is above its upper end.
    #[error("the interval of {what} ends at {high} and begins at {low}")]
    Interval {
        /// Name of the figure.
        what: String,
        /// Lower end.
        low: String,
        /// Upper end.
        high: String,
    },
}

impl RunRecord {
    /// Whether the offered load is in calls, of which an operation may need several: a mix through a
    /// kernel mount.
    pub fn is_in_calls(&self) -> bool {
        let mix = self.mix.as_ref();
        mix.is_some_and(|mix| mix.wire.is_some() || mix.asked_calls.is_some())
    }

    /// Creates the record of a run of this plan, without results.
    pub fn new(plan: Plan, tool: Tool) -> Self {
        Self {
            format: FORMAT,
            method: METHOD,
            tool,
            started_at: String::new(),
            window_ns: plan.duration_ns.unwrap_or(0),
            plan,
            host: Host::default(),
            target: Target::default(),
            headroom: None,
            processors: None,
            connections: None,
            cost: None,
            stamps: None,
            job: None,
            end: RunOutcome::Finished,
            replay: None,
            fleet: None,
            mix: None,
            curve: None,
            objective: None,
            totals: Totals::default(),
            intervals: vec![],
            ticks: vec![],
            caveats: vec![],
            validity: None,
            gates: vec![],
        }
    }

    /// Returns whether operations of a kind sent no call, on a layer whose operations are calls:
    /// they completed without the server, so their times do not describe it.
    pub fn is_without_call(&self, kind: &KindRecord) -> bool {
        let mut kinds = self.totals.kinds.iter();
        kind.calls == 0 && kinds.any(|other| other.calls > 0)
    }

    /// Returns the row of the first measured kind.
    pub fn measured(&self) -> Option<&KindRecord> {
        self.totals
            .kinds
            .iter()
            .find(|kind| kind.role == Role::Measured)
    }

    /// Checks the invariants that hold in every record.
    pub fn check(&self) -> Result<(), InvariantViolation> {
        let totals = &self.totals;
        let missing = totals.ledger.missing();
        if missing != 0 {
            return Err(InvariantViolation::Ledger {
                missing,
                scheduled: totals.ledger.scheduled,
            });
        }
        check_count(
            "response times and operations that ended well",
            totals.response_time_ns.count,
            self.timed(&totals.ledger),
        )?;
        check_count(
            "operations in ticks and in totals",
            self.ticks.iter().map(|tick| tick.ended).sum(),
            totals.ledger.ended(),
        )?;
        for number in [
            totals.achieved_load_ops_per_s,
            totals.goodput_bytes_per_s,
            totals.client_cpu_ns_per_op,
        ] {
            if !number.is_finite() {
                return Err(InvariantViolation::NotANumber {
                    what: "a total".into(),
                });
            }
        }
        for (what, row) in [
            ("response time", &totals.response_time_ns),
            ("service time", &totals.service_time_ns),
            ("slot wait", &totals.slot_wait_ns),
            ("dispatch delay", &totals.dispatch_delay_ns),
        ] {
            check_row(what, row)?;
        }
        totals
            .kinds
            .iter()
            .try_for_each(|kind| self.check_kind(kind))
    }

    /// Returns the number of operations of a ledger whose times are in this record's distributions.
    fn timed(&self, ledger: &Ledger) -> u64 {
        if self.method < METHOD_SUCCESSES_APART {
            ledger.ended()
        } else {
            ledger.timed()
        }
    }

    fn check_kind(&self, kind: &KindRecord) -> Result<(), InvariantViolation> {
        let name = kind.operation.name();
        let missing = kind.ledger.missing();
        if missing != 0 {
            return Err(InvariantViolation::Ledger {
                missing,
                scheduled: kind.ledger.scheduled,
            });
        }
        let timed = self.timed(&kind.ledger);
        check_count(name, kind.response_time_ns.count, timed)?;
        check_count(name, kind.service_time_ns.count, timed)?;
        // Some of the failed operations were not sent.
        let failed = kind.failed_time_ns.count;
        check_count(name, failed, failed.min(kind.ledger.unsuccessful()))?;
        check_row(name, &kind.failed_time_ns)?;
        check_count(
            name,
            kind.failures.iter().map(|failure| failure.count).sum(),
            kind.ledger.failed,
        )?;
        check_row(name, &kind.response_time_ns)?;
        check_row(name, &kind.service_time_ns)?;
        let rows = self.intervals.iter().flat_map(|interval| &interval.kinds);
        let mut intervals = Ledger::default();
        for row in rows.filter(|row| (row.operation, row.role) == (kind.operation, kind.role)) {
            check_row(name, &row.response_time_ns)?;
            check_count(name, row.response_time_ns.count, self.timed(&row.ledger))?;
            intervals.add(&row.ledger);
        }
        check_count(name, intervals.scheduled, kind.ledger.scheduled)?;
        check_count(name, intervals.ended(), kind.ledger.ended())
    }
}

fn check_count(what: &str, left: u64, right: u64) -> Result<(), InvariantViolation> {
    if left == right {
        Ok(())
    } else {
        Err(InvariantViolation::Count {
            what: what.into(),
            left,
            right,
        })
    }
}

fn check_row(what: &str, row: &DistributionRecord) -> Result<(), InvariantViolation> {
    if row.is_ordered() {
        Ok(())
    } else {
        Err(InvariantViolation::Order { what: what.into() })
    }
}
