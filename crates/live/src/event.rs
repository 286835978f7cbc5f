//! What can happen while a command measures, as it is published.

use crate::shared::Shared;
use filestone_control::load_control::RemainingTime;
use filestone_measure::measure::run_record::{IntervalRecord, Phase, Target};
use filestone_plan::plan::Plan;
use filestone_workload::recording::sample::Role;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// A run begins: of a command that makes several, the next one.
    RunBegun(Shared<RunBegun>),
    /// What is being done before or after the measured window.
    Preparing(NoteText),
    /// What whoever asked should know of the target.
    Remark(NoteText),
    /// The target has been found, and the load begins.
    Prepared(Shared<Target>),
    /// An interval is complete.
    Interval(Shared<IntervalFigures>),
    /// What a steered run is doing.
    Steering(SteeringStatus),
    /// A second of a replay has passed.
    Progress(ReplayProgress),
    /// A point of a curve, search, sweep, ladder or trial is known.
    Point(Shared<Point>),
    /// What the server counted lately, where it is read.
    Server(Shared<ServerShare>),
    /// A fleet was changed while it runs.
    Changed(Shared<Changed>),
    /// A run is over.
    RunEnded(Shared<RunEnded>),
    /// The clients of a fleet can be told something from now on, until its run is over.
    Controllable,
    /// The report of the run that is over can be taken.
    ReportReady,
    /// The command is over: nothing comes any more.
    Closed(Closed),
}

/// A sentence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct NoteText {
    /// What is told.
    pub what: String,
}

/// A run that begins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct RunBegun {
    /// Which run of the command, from 1.
    pub number: u32,
    /// What it is called among several: `block 3 of about 24, A`. Empty of the only one.
    pub name: String,
    /// What is to be done.
    pub plan: Plan,
}

/// What a steered run is doing, and for how long.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SteeringStatus {
    /// What it is doing.
    pub what: String,
    /// How long it will go on, in nanoseconds, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_ns: Option<u64>,
    /// Whether that is the most that it takes, the least, or about as much.
    pub bound: RemainingTimeKind,
}

/// How exactly it is known how long something goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RemainingTimeKind {
    /// About so long.
    About,
    /// No longer.
    AtMost,
    /// No shorter.
    AtLeast,
}

impl SteeringStatus {
    /// Of a steering that tells what it is doing.
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

/// How far a replay is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ReplayProgress {
    /// `warm-up`, `execute` or `clean-up`.
    pub phase: String,
    /// All clients; in the clean-up, those that are not clean.
    pub clients: u32,
    /// Lines that a client has carried out, on average.
    pub line: u64,
    /// File data per second since the phase began.
    pub bytes_per_s: f64,
    /// Seconds since the phase began.
    pub seconds: f64,
    /// Longest response time since the last one, in nanoseconds.
    pub response_time_max_ns: u64,
}

/// The figures of one interval.
///
/// A record of an interval holds histograms, too; these are for showing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct IntervalFigures {
    /// Start, in nanoseconds since the window opened.
    pub start_ns: u64,
    /// End, likewise.
    pub end_ns: u64,
    /// Part of the run.
    pub phase: Phase,
    /// All measured operations together.
    pub all: OperationFigures,
    /// Each kind of operation. Where operations of a kind are made that are not measured, they are left out.
    pub kinds: Vec<KindFigures>,
    /// Bytes sent.
    pub bytes_sent: u64,
    /// Bytes received.
    pub bytes_received: u64,
    /// Processor time of all workers, in nanoseconds, without what they spent looking.
    pub client_cpu_ns: u64,
    /// What this process occupies of memory, in bytes; 0 if this host does not say.
    pub resident_bytes: u64,
    /// When operations were sent after they could have been: the generator's own lateness.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dispatch_delay_ns: Option<Times>,
}

/// What operations of one interval came to.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct OperationFigures {
    /// Those that began.
    pub scheduled: u64,
    /// Answered as expected.
    pub ok: u64,
    /// Answered with a failure, not in time, or lost with their connection.
    pub unsuccessful: u64,
    /// Due, but never sent.
    pub skipped: u64,
    /// File data moved, in bytes.
    pub data_bytes: u64,
    /// due → done; none if none ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_time_ns: Option<Times>,
}

/// One kind of operation: of one interval, or of many.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct KindFigures {
    /// Which kind; empty of all kinds together.
    pub operation: String,
    /// What they came to.
    #[serde(flatten)]
    pub figures: OperationFigures,
}

impl OperationFigures {
    /// Adds those of a later interval, whose response times take the place of these.
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

/// Some of a distribution, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Times {
    /// How many values.
    pub count: u64,
    /// The mean.
    pub mean: f64,
    /// Median.
    pub p50: u64,
    /// 90th percentile.
    pub p90: u64,
    /// 99th percentile.
    pub p99: u64,
    /// 99.9th percentile.
    pub p99_9: u64,
    /// The longest.
    pub max: u64,
}

impl Times {
    /// Of a distribution with values.
    pub fn of(record: &filestone_measure::measure::DistributionRecord) -> Option<Self> {
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
    /// Those of a record of an interval.
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
                    response_time_ns: Times::of(&kind.response_time_ns),
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
                response_time_ns: times.and_then(|times| Times::of(&times)),
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Point {
    /// What it belongs to, such as the name of a figure with its unit: points of one series are one line.
    pub series: String,
    /// What it is called: `size=512`, `12,000/s`, `A`.
    pub name: String,
    /// The part of its series, such as the way up of a curve; empty of one without parts.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub part: String,
    /// Where it stands on the axis, if that is a number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<f64>,
    /// What the axis is, with its unit.
    pub axis: String,
    /// How many runs, or intervals, it is of.
    pub runs: u32,
    /// Its figures, in the order in which they are shown.
    pub figures: Vec<PointFigure>,
}

/// A figure of a point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PointFigure {
    /// Its name.
    pub name: String,
    /// Its unit: `ns`, `ops/s`, `bytes/s`, `bytes`, `%` or empty.
    pub unit: String,
    /// Its value.
    pub value: f64,
    /// The lower end of its 95 % interval, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// The upper end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
}

/// What the server counted lately.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ServerShare {
    /// What each source of readings said.
    pub sources: Vec<SourceRates>,
}

/// What one source counted between its last two readings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SourceRates {
    /// Where it was read.
    pub source: String,
    /// Each counter by its name in records, with its unit at its end, per second.
    pub per_s: BTreeMap<String, f64>,
}

/// A change of a fleet while it runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Changed {
    /// Which change of the run it is.
    pub number: u32,
    /// Nanoseconds since the run began, warm-up included.
    pub at_ns: u64,
    /// What was changed: `set rate=5Mbit/s of writers, 250 clients`.
    pub what: String,
}

/// A run that is over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct RunEnded {
    /// Which run of the command, from 1.
    pub number: u32,
    /// How it ended: `finished`, `interrupted`, `target-lost`, or `failed` if there is no record of it.
    pub end: String,
    /// Whether its numbers count: `counts`, `with-caveats` or `does-not-count`; empty of one that failed.
    pub validity: String,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Reasons to doubt its numbers.
    pub caveats: Vec<CaveatText>,
    /// Length of the measured window in nanoseconds.
    pub window_ns: u64,
    /// All measured operations together, of the whole window.
    pub all: OperationFigures,
    /// Operations that ended well in the window, per second of it.
    pub achieved_load_ops_per_s: f64,
    /// Failures by their names in the standard, the most frequent first.
    pub failures: Vec<Failures>,
}

/// A reason to doubt numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct CaveatText {
    /// Its name, as in docs/reference/validity.md.
    pub id: String,
    /// The sentence.
    pub sentence: String,
    /// What to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

/// How often one kind of operation failed in one way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Failures {
    /// The kind of operation.
    pub operation: String,
    /// The failure, such as `NFS3ERR_STALE (70)`.
    pub failure: String,
    /// How often.
    pub count: u64,
}

/// The command is over.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Closed {
    /// Where the result is kept, if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
}
