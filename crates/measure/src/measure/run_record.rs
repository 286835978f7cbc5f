//! The run record: one JSON document from which every report is made.

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
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Changes when the shape of the record does.
pub const FORMAT: u32 = 1;
/// Changes when a number would come out differently for the same events.
pub const METHOD: u32 = 3;
/// The first method by which the times of operations that did not end well are apart from those of the
/// others.
const METHOD_SUCCESSES_APART: u32 = 3;

/// One run, self-contained.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct RunRecord {
    /// Shape of this document.
    pub format: u32,
    /// Method of measurement: records of different methods must not be compared.
    pub method: u32,
    /// What made this record.
    pub tool: Tool,
    /// When the measured window began, RFC 3339, UTC.
    pub started_at: String,
    /// What was to be done.
    pub plan: Plan,
    /// Where the load came from.
    pub host: Host,
    /// What the load went to, as it described itself.
    pub target: Target,
    /// What the tool itself can do on this host, if it was measured.
    pub headroom: Option<Headroom>,
    /// Who had this host's processors, if that was looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processors: Option<ProcessorsRecord>,
    /// How its clients were connected, if that was the load generator's to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections: Option<ConnectionsRecord>,
    /// What operations cost on the way and at the server, if that was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<CostRecord>,
    /// The hosts that made it together, if it was a job of several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<JobRecord>,
    /// How the run ended.
    pub end: RunOutcome,
    /// Length of the measured window in nanoseconds, as it was.
    pub window_ns: u64,
    /// What only a replay has to tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<ReplayRecord>,
    /// What only a fleet has to tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fleet: Option<FleetRecord>,
    /// What only a mix has to tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mix: Option<MixRecord>,
    /// Where calls were while they were under way, of a run that has them stamped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stamps: Option<StampsRecord>,
    /// The load–response curve of a run that was steered along one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub curve: Option<CurveRecord>,
    /// The highest load that keeps an objective, of a run that looked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objective: Option<ObjectiveRecord>,
    /// Sums over the whole window.
    pub totals: Totals,
    /// One entry per period; what ends after the window closed is in a last
    /// entry of phase `drain`.
    pub intervals: Vec<IntervalRecord>,
    /// One entry per 100 ms, counts only.
    pub ticks: Vec<TickRecord>,
    /// Reasons to doubt the numbers.
    pub caveats: Vec<Caveat>,
    /// Whether they count; older records do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validity: Option<Validity>,
    /// What came of the plan's gates.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<GateRecord>,
}

/// The program that made a record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// `release` or `debug`.
    pub profile: String,
}

impl Tool {
    /// A release build of filestone.
    pub fn release(version: &str) -> Self {
        Self {
            name: "filestone".into(),
            version: version.into(),
            profile: "release".into(),
        }
    }
}

/// What the load went to.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Target {
    /// Address and port that operations went to.
    pub address: String,
    /// Whether it is the built-in server.
    pub built_in: bool,
    /// Whether it is on this host.
    pub local: bool,
    /// The export that was mounted.
    pub export: String,
    /// What had to be looked up below it.
    pub walked: String,
    /// The object under test: `file`, `directory`, …
    pub object: String,
    /// Its length in bytes.
    pub object_bytes: u64,
    /// Files that operations visit.
    pub files: u64,
    /// Largest READ that the server takes (FSINFO rtmax).
    pub read_max_bytes: u64,
    /// Largest WRITE that the server takes (FSINFO wtmax).
    pub write_max_bytes: u64,
    /// Speed of the interface on the way there, where it is another host and this one tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_mbit_per_s: Option<u32>,
    /// The link between network namespaces by which it is reached without a router, where nothing says that
    /// it is this host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace_link: Option<String>,
    /// What was agreed upon with an SMB server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionRecord>,
    /// The mounts that directories of this host are on, each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mounts: Vec<MountRecord>,
}

/// A session of SMB as it came to be, whatever was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SessionRecord {
    /// The dialect: `3.1.1`.
    pub dialect: String,
    /// By what every message is signed, if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signing: Option<String>,
    /// By what every message is encrypted, if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encryption: Option<String>,
    /// Who the server takes the clients for.
    pub account: SessionIdentity,
    /// Connections of each client's session: its channels.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub channels: u32,
    /// By which interfaces the server says that it can be reached, which is asked where a session
    /// has several channels. All of them go to the address that was named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interfaces: Vec<InterfaceRecord>,
    /// Handles that were to outlive their connections, where they were asked for (`--durable`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub durable: Option<DurableHandles>,
}

/// Handles of files that a server was to keep for a client whose connection is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct DurableHandles {
    /// Opens that asked for one.
    pub asked: u64,
    /// Those that were given one.
    pub granted: u64,
    /// Handles that were taken up again after a lost connection.
    pub reclaimed: u64,
    /// Handles that the server did not have any more: files were opened anew.
    pub gone: u64,
}

impl DurableHandles {
    /// Those of both.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self {
            asked: self.asked + other.asked,
            granted: self.granted + other.granted,
            reclaimed: self.reclaimed + other.reclaimed,
            gone: self.gone + other.gone,
        }
    }

    /// In a few words: `durable handles: 12 asked for, 12 granted, 4 taken up again, 0 gone`.
    fn text(self) -> String {
        let Self {
            asked,
            granted,
            reclaimed,
            gone,
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

/// An interface of an SMB server, as it says itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct InterfaceRecord {
    /// Its address.
    pub address: String,
    /// Bits per second of its link.
    pub link_bits_per_s: u64,
    /// Whether it spreads connections over processors.
    pub rss: bool,
    /// Whether it can be reached by RDMA.
    pub rdma: bool,
}

/// Who a server takes a client for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SessionIdentity {
    /// The user that was named.
    User,
    /// A guest.
    Guest,
    /// Nobody.
    Anonymous,
}

impl SessionRecord {
    /// In a few words: `SMB 3.1.1 signed with AES-128-GMAC, as guest`, or `SMB 3.1.1 unsigned over 4
    /// channels a client`.
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
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Totals {
    /// Where the measured operations went.
    pub ledger: Ledger,
    /// Operations due per second, in an open loop.
    pub offered_load_ops_per_s: Option<f64>,
    /// Operations that ended well in the window, whenever they were due, per second of it.
    pub achieved_load_ops_per_s: f64,
    /// File data of completed operations per second of the window.
    pub goodput_bytes_per_s: f64,
    /// due → done of measured operations.
    pub response_time_ns: DistributionRecord,
    /// sent → done of measured operations.
    pub service_time_ns: DistributionRecord,
    /// due → ready: waiting for a slot or a connection.
    pub slot_wait_ns: DistributionRecord,
    /// ready → sent: our own lateness.
    pub dispatch_delay_ns: DistributionRecord,
    /// One row per kind of operation and role.
    pub kinds: Vec<KindRecord>,
    /// Operations in flight, measured or not, averaged over the window's time.
    #[serde(default)]
    pub in_flight_mean: f64,
    /// Of these, operations that a connection held until the server granted credits for them, or while it was
    /// down; `None` where a server grants none, and in records of before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_mean: Option<f64>,
    /// Replies that came too late or twice.
    pub late_replies: u64,
    /// Pages of directories whose entries took more bytes than `count` or `maxcount` allowed.
    #[serde(default)]
    pub long_listings: u64,
    /// By how many bytes the longest of them did.
    #[serde(default)]
    pub listing_excess_bytes_max: u32,
    /// Connections made again.
    pub reconnections: u64,
    /// How long connections were unusable, summed over all.
    pub unusable_ns: u64,
    /// Why connections were lost, the most frequent reason first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub losses: Vec<LossRecord>,
    /// Clients whose connections could not be made again.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub lost_clients: u64,
    /// Processor time of all workers in the window, in nanoseconds, without what they spent
    /// looking for what had not come.
    pub client_cpu_ns: u64,
    /// The same per operation, unmeasured operations included.
    pub client_cpu_ns_per_op: f64,
    /// One entry per worker.
    pub workers: Vec<WorkerRecord>,
    /// The headline figures that have a 95 % interval.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<FigureRecord>,
    /// Those of which only a lower end is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open_figures: Vec<OneSidedFigureRecord>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Totals {
    /// The interval that is kept of the figure with this name.
    pub fn kept_interval(&self, name: &str) -> Option<RecordedInterval<'_>> {
        let whole = self.figures.iter().find(|figure| figure.name == name);
        let open = || self.open_figures.iter().find(|figure| figure.name == name);
        whole
            .map(RecordedInterval::TwoSided)
            .or_else(|| open().map(RecordedInterval::OneSided))
    }

    /// The times of measured operations, of all of them or of one kind.
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

    /// Operations of all kinds and roles that ended otherwise than expected.
    pub fn errors(&self) -> u64 {
        let kinds = self.kinds.iter();
        let errors = kinds.map(|kind| kind.ledger.unexpected());
        errors.fold(0, u64::saturating_add)
    }

    /// How many more operations ended well in the window than were due in it and ended well.
    /// More than 0: left over from the warm-up. Less: they ended after the window.
    pub fn left_over(&self, window_ns: u64) -> i64 {
        let ended = (self.achieved_load_ops_per_s * window_ns as f64 / 1e9).round();
        (ended as i64).saturating_sub_unsigned(self.ledger.ok)
    }
}

/// One worker's share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct WorkerRecord {
    /// Its number.
    pub worker: u32,
    /// Its clients.
    pub clients: u32,
    /// Its processor time in the window, in nanoseconds.
    pub cpu_ns: u64,
    /// How much of it was spent looking for what had not come.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub spun_ns: u64,
    /// The rest of it, which went into the work, as a share of the window.
    pub busy_percent: f64,
    /// Share of the window in which it was ready to run and had no processor.
    pub waited_percent: f64,
}

impl WorkerRecord {
    /// What its thread came to in a window of so many nanoseconds.
    pub fn time(&self, window_ns: u64) -> ThreadTime {
        ThreadTime {
            thread: self.worker,
            cpu_ns: self.cpu_ns,
            waited_ns: (self.waited_percent / 100.0 * window_ns as f64) as u64,
        }
    }
}

/// One kind of operation in one role.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct KindRecord {
    /// Which kind.
    pub operation: OpKind,
    /// In which role.
    pub role: Role,
    /// Where they went.
    pub ledger: Ledger,
    /// due → done of those that ended well.
    pub response_time_ns: DistributionRecord,
    /// sent → done of those that ended well.
    pub service_time_ns: DistributionRecord,
    /// due → done of those that were sent and did not end well; records of methods before 3 have them
    /// among the others.
    #[serde(default, skip_serializing_if = "DistributionRecord::is_empty")]
    pub failed_time_ns: DistributionRecord,
    /// sent → done of these, summed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub failed_service_sum_ns: u64,
    /// RPC calls made.
    pub calls: u64,
    /// Calls sent again.
    pub retransmissions: u64,
    /// Bytes sent, record marks included.
    pub bytes_sent: u64,
    /// Bytes received, record marks included.
    pub bytes_received: u64,
    /// File data moved by those that ended well.
    pub data_bytes: u64,
    /// Failures by their names in the standard, with numbers.
    pub failures: Vec<FailureCount>,
}

/// How often one failure was seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct FailureCount {
    /// Its name, such as `NFS3ERR_STALE (70)`.
    pub failure: String,
    /// How often.
    pub count: u64,
}

/// Which part of the run an interval belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Inside the measured window.
    Measure,
    /// After it: operations that were in flight when it closed.
    Drain,
}

/// One period of the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct IntervalRecord {
    /// Start, in nanoseconds since the window opened.
    pub start_ns: u64,
    /// End, likewise.
    pub end_ns: u64,
    /// Part of the run.
    pub phase: Phase,
    /// Of a fleet: after which changes of it this was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<SettingsGeneration>,
    /// Operations of this interval by their end; scheduled counts those that
    /// began in it, so it balances only over the whole run.
    pub ledger: Ledger,
    /// Bytes sent.
    pub bytes_sent: u64,
    /// Bytes received.
    pub bytes_received: u64,
    /// Processor time of all workers, in nanoseconds, without what they spent looking.
    pub client_cpu_ns: u64,
    /// One row per kind of operation and role.
    pub kinds: Vec<IntervalKindRecord>,
}

/// One kind of operation in one period.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct IntervalKindRecord {
    /// Which kind.
    pub operation: OpKind,
    /// In which role.
    pub role: Role,
    /// Where they went.
    pub ledger: Ledger,
    /// File data moved.
    #[serde(default)]
    pub data_bytes: u64,
    /// due → done.
    pub response_time_ns: DistributionRecord,
    /// sent → done.
    pub service_time_ns: DistributionRecord,
}

impl IntervalRecord {
    /// The response times of all measured kinds together; `None` if nothing was
    /// timed, or if a histogram cannot be read.
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TickRecord {
    /// Start, in nanoseconds since the window opened.
    pub start_ns: u64,
    /// Length in nanoseconds.
    pub len_ns: u64,
    /// Measured operations that ended.
    pub ended: u64,
    /// Those of them that ended well, after they were sent; records of before do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ok: Option<u64>,
    /// Those of the others that ended as expected nevertheless: they failed as the plan expects, or their
    /// client knew the answer; 0 in records of before.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub untimed_as_expected: u64,
    /// Sum of the response times of those that are `ok`, in nanoseconds.
    pub response_time_sum_ns: u64,
    /// The shortest.
    pub response_time_min_ns: u64,
    /// The longest.
    pub response_time_max_ns: u64,
    /// Bytes sent.
    pub bytes_sent: u64,
    /// Bytes received.
    pub bytes_received: u64,
}

impl TickRecord {
    /// A record of these counts.
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

    /// Operations that succeeded; all that ended, where the record does not say.
    pub const fn ok_or_ended(&self) -> u64 {
        match self.ok {
            Some(ok) => ok,
            None => self.ended,
        }
    }

    /// Operations that ended as expected, with a time or without.
    pub const fn as_expected(&self) -> u64 {
        self.ok_or_ended().saturating_add(self.untimed_as_expected)
    }

    /// The counts of this record.
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
        /// How many.
        missing: i128,
        /// Of how many.
        scheduled: u64,
    },
    /// A row is not `min ≤ p50 ≤ … ≤ max`.
    #[error("the row of {what} is out of order")]
    Order {
        /// Which row.
        what: String,
    },
    /// Two counts of the same thing differ.
    #[error("{what}: {left} in one place, {right} in another")]
    Count {
        /// Of what.
        what: String,
        /// One count.
        left: u64,
        /// The other.
        right: u64,
    },
    /// A part is more than its whole.
    #[error("{what} is {part}, of {whole} in all")]
    Part {
        /// Of what.
        what: String,
        /// How many there are of the part.
        part: u64,
        /// And in all.
        whole: u64,
    },
    /// A number is not a number.
    #[error("{what} is not a number")]
    NotANumber {
        /// Which.
        what: String,
    },
    /// A histogram is not that of its row.
    #[error("{what}: {why}")]
    Histogram {
        /// Of what.
        what: String,
        /// Why not.
        why: String,
    },
    /// A number is less than it can be.
    #[error("{what} is {value}, which is less than 0")]
    Negative {
        /// Which.
        what: String,
        /// It.
        value: String,
    },
    /// Operations ended in a window that has no length.
    #[error("its window is 0 ns long, and {ended} operations ended in it")]
    NoWindow {
        /// How many.
        ended: u64,
    },
    /// The interval of a figure has its ends the wrong way round.
    #[error("the interval of {what} ends at {high} and begins at {low}")]
    Interval {
        /// Of which figure.
        what: String,
        /// The lower end.
        low: String,
        /// The upper end.
        high: String,
    },
}

impl RunRecord {
    /// A run of this plan, of which nothing else is known yet.
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

    /// Whether operations of a kind sent nothing, on a layer whose operations are calls: they were answered
    /// without a server, so their times say nothing of one.
    pub fn is_without_call(&self, kind: &KindRecord) -> bool {
        let mut kinds = self.totals.kinds.iter();
        kind.calls == 0 && kinds.any(|other| other.calls > 0)
    }

    /// The row of the kind that the run is about.
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

    /// Operations whose times are in this record's distributions, of those that a ledger counts.
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
        // Some of those that failed were not sent.
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
