//! Events that a command publishes while it measures.

use crate::JsonSchema;
use filestone_control::load_control::RemainingTime;
use filestone_measure::measure::run_record::{IntervalRecord, Phase, Target};
use filestone_plan::plan::Plan;
use filestone_workload::recording::sample::Role;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// An event of a measuring command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// A run begins; commands with several runs publish one event per run.
    RunBegun(Arc<RunBegun>),
    /// Current activity before or after the measured window.
    Preparing(NoteText),
    /// A note about the target for the user.
    Remark(NoteText),
    /// The target has been found; the load starts.
    Prepared(Arc<Target>),
    /// An interval is complete.
    Interval(Arc<IntervalFigures>),
    /// Current state of the load controller.
    Steering(SteeringStatus),
    /// Replay progress, published every second.
    Progress(ReplayProgress),
    /// A point of a curve, search, sweep, ladder or trial has been measured.
    Point(Arc<Point>),
    /// Latest counter rates of the server, if its counters are read.
    Server(Arc<ServerShare>),
    /// A fleet was changed during its run.
    Changed(Arc<Changed>),
    /// A run has ended.
    RunEnded(Arc<RunEnded>),
    /// The clients of a fleet can be controlled from now until the end of the run.
    Controllable,
    /// The report of the ended run is available.
    ReportReady,
    /// The command has ended; this is the last event.
    Closed(Closed),
}

/// A sentence of text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NoteText {
    /// The text.
    pub what: String,
}

/// Start of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunBegun {
    /// Number of the run within the command, from 1.
    pub number: u32,
    /// Name of the run among several: `block 3 of about 24, A`. Empty for a single run.
    pub name: String,
    /// Plan of the run.
    pub plan: Plan,
}

/// State of the load controller, and how much longer it lasts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SteeringStatus {
    /// The current activity.
    pub what: String,
    /// Remaining time of the activity in nanoseconds, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_ns: Option<u64>,
    /// Kind of `left_ns`: upper bound, lower bound or estimate.
    pub bound: RemainingTimeKind,
}

/// Precision of a remaining time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RemainingTimeKind {
    /// An estimate.
    About,
    /// An upper bound.
    AtMost,
    /// A lower bound.
    AtLeast,
}

impl SteeringStatus {
    /// Creates the status of a controller that reports `what` and the remaining time.
    pub fn new(what: &str, left: Option<RemainingTime>) -> Self {
        let (left_ns, bound) = match left {
            None => (None, RemainingTimeKind::About),
            Some(RemainingTime::About(nanos)) => (Some(nanos), RemainingTimeKind::About),
            Some(RemainingTime::AtMost(nanos)) => (Some(nanos), RemainingTimeKind::AtMost),
            Some(RemainingTime::AtLeast(nanos)) => (Some(nanos), RemainingTimeKind::AtLeast),
        };
        Self {
            what: what.into(),
            left_ns,
            bound,
        }
    }
}

/// Progress of a replay.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReplayProgress {
    /// `warm-up`, `execute` or `clean-up`.
    pub phase: String,
    /// Number of clients; during the clean-up, only those not cleaned up yet.
    pub clients: u32,
    /// Lines executed per client, on average.
    pub line: u64,
    /// File data rate since the phase began, in bytes per second.
    pub bytes_per_s: f64,
    /// Seconds since the phase began.
    pub seconds: f64,
    /// Longest response time since the previous progress event, in nanoseconds.
    pub response_time_max_ns: u64,
}

/// Figures of one interval.
///
/// For display only: unlike a record of an interval, it contains no histograms.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IntervalFigures {
    /// Start, in nanoseconds after the window opened.
    pub start_ns: u64,
    /// End, in nanoseconds after the window opened.
    pub end_ns: u64,
    /// Phase of the run.
    pub phase: Phase,
    /// Sum over every measured operation.
    pub all: OperationFigures,
    /// Figures per kind of operation, without unmeasured operations.
    pub kinds: Vec<KindFigures>,
    /// Bytes sent.
    pub bytes_sent: u64,
    /// Bytes received.
    pub bytes_received: u64,
    /// CPU time of all workers, in nanoseconds, excluding time spent spinning.
    pub client_cpu_ns: u64,
    /// Resident memory of this process, in bytes; 0 if the host does not report it.
    pub resident_bytes: u64,
    /// Delay between the time an operation could be sent and the time it was sent: the lateness of
    /// the load generator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dispatch_delay_ns: Option<LatencySummary>,
}

/// Operation counts and response times of one interval.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct OperationFigures {
    /// Operations that became due.
    pub scheduled: u64,
    /// Operations that succeeded as expected.
    pub ok: u64,
    /// Operations that failed, timed out or were lost with their connection.
    pub unsuccessful: u64,
    /// Operations that were due but never sent.
    pub skipped: u64,
    /// File data moved, in bytes.
    pub data_bytes: u64,
    /// Time from due to done; `None` if no operation ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_time_ns: Option<LatencySummary>,
}

/// Figures of one kind of operation, for one or more intervals.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KindFigures {
    /// Name of the operation; empty for the sum of all kinds.
    pub operation: String,
    /// Figures of the operation.
    #[serde(flatten)]
    pub figures: OperationFigures,
}

impl OperationFigures {
    /// Adds the figures of a later interval. Its response times replace the current ones.
    pub fn add(&mut self, later: &Self) {
        self.scheduled += later.scheduled;
        self.ok += later.ok;
        self.unsuccessful += later.unsuccessful;
        self.skipped += later.skipped;
        self.data_bytes += later.data_bytes;
        if later.response_time_ns.is_some() {
            self.response_time_ns = later.response_time_ns;
        }
    }
}

/// Summary of a distribution, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Times")]
pub struct LatencySummary {
    /// Number of values.
    pub count: u64,
    /// Mean.
    pub mean: f64,
    /// Median.
    pub p50: u64,
    /// 90th percentile.
    pub p90: u64,
    /// 99th percentile.
    pub p99: u64,
    /// 99.9th percentile.
    pub p99_9: u64,
    /// Maximum.
    pub max: u64,
}

impl LatencySummary {
    /// Summarizes a distribution; `None` if it is empty.
    pub fn of(record: &filestone_workload::recording::DistributionRecord) -> Option<Self> {
        (record.count > 0).then_some(Self {
            count: record.count,
            mean: record.mean,
            p50: record.p50,
            p90: record.p90,
            p99: record.p99,
            p99_9: record.p99_9,
            max: record.max,
        })
    }
}

impl IntervalFigures {
    /// Extracts the figures from the record of an interval.
    pub fn of(record: &IntervalRecord) -> Self {
        let measured = record.kinds.iter();
        let measured = measured.filter(|kind| kind.role == Role::Measured);
        let kinds: Vec<KindFigures> = measured
            .map(|kind| KindFigures {
                operation: kind.operation.name().into(),
                figures: OperationFigures {
                    scheduled: kind.ledger.scheduled,
                    ok: kind.ledger.ok,
                    unsuccessful: kind.ledger.unsuccessful(),
                    skipped: kind.ledger.skipped,
                    data_bytes: kind.data_bytes,
                    response_time_ns: LatencySummary::of(&kind.response_time_ns),
                },
            })
            .collect();
        let times = record.response_time();
        Self {
            start_ns: record.start_ns,
            end_ns: record.end_ns,
            phase: record.phase,
            all: OperationFigures {
                scheduled: record.ledger.scheduled,
                ok: record.ledger.ok,
                unsuccessful: record.ledger.unsuccessful(),
                skipped: record.ledger.skipped,
                data_bytes: kinds.iter().map(|kind| kind.figures.data_bytes).sum(),
                response_time_ns: times.and_then(|times| LatencySummary::of(&times)),
            },
            kinds,
            bytes_sent: record.bytes_sent,
            bytes_received: record.bytes_received,
            client_cpu_ns: record.client_cpu_ns,
            resident_bytes: 0,
            dispatch_delay_ns: None,
        }
    }
}

/// A point of a curve, search, sweep, ladder or trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Point {
    /// Name of the series that contains the point, such as a figure with its unit. Each series is
    /// drawn as one line.
    pub series: String,
    /// Label of the point: `size=512`, `12,000/s`, `A`.
    pub name: String,
    /// Part of the series, such as the upward leg of a curve; empty for a series without parts.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub part: String,
    /// Position on the axis, if it is a number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<f64>,
    /// Label of the axis, with its unit.
    pub axis: String,
    /// Number of runs or intervals that the point summarizes.
    pub runs: u32,
    /// Figures of the point, in display order.
    pub figures: Vec<PointFigure>,
}

/// A figure of a point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PointFigure {
    /// Name of the figure.
    pub name: String,
    /// Unit of the figure: `ns`, `ops/s`, `bytes/s`, `bytes`, `%` or empty.
    pub unit: String,
    /// Value of the figure.
    pub value: f64,
    /// Lower end of the 95 % interval, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// Upper end of the 95 % interval, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
}

/// Latest counter rates of the server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServerShare {
    /// Rates by source of readings.
    pub sources: Vec<SourceRates>,
}

/// Counter rates of one source between its last two readings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SourceRates {
    /// Address or name of the source.
    pub source: String,
    /// Rates per second by counter name as in records; the name ends with the unit.
    pub per_s: BTreeMap<String, f64>,
}

/// A change of a running fleet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Changed {
    /// Number of the change within the run.
    pub number: u32,
    /// Nanoseconds since the run began, warm-up included.
    pub at_ns: u64,
    /// Description of the change: `set rate=5Mbit/s of writers, 250 clients`.
    pub what: String,
}

/// Result of a run that has ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunEnded {
    /// Number of the run within the command, from 1.
    pub number: u32,
    /// Outcome: `finished`, `interrupted`, `target-lost`, or `failed` if there is no record.
    pub end: String,
    /// Validity of the results: `counts`, `with-caveats` or `does-not-count`; empty if the run
    /// failed.
    pub validity: String,
    /// Reason of the failure, if the run failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Caveats about the results.
    pub caveats: Vec<CaveatText>,
    /// Length of the measured window in nanoseconds.
    pub window_ns: u64,
    /// Sum over every measured operation of the whole window.
    pub all: OperationFigures,
    /// Operations that succeeded in the window, per second.
    pub achieved_load_ops_per_s: f64,
    /// Failures by their names in the standard, most frequent first.
    pub failures: Vec<Failures>,
}

/// A caveat about the results.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CaveatText {
    /// Identifier of the caveat, as in docs/reference/validity.md.
    pub id: String,
    /// Sentence that explains the caveat.
    pub sentence: String,
    /// Advice for the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

/// Number of failures of one kind of operation with one error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Failures {
    /// Kind of operation.
    pub operation: String,
    /// Name of the error, such as `NFS3ERR_STALE (70)`.
    pub failure: String,
    /// Number of failures.
    pub count: u64,
}

/// End of the command.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Closed {
    /// Location of the stored result, if it was stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
}
