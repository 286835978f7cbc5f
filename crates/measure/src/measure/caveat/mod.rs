//! Reasons to doubt a number, as data with their figures.
//!
//! Each renders as one sentence with the numbers in it, and one that says what
//! to do.

mod sentence;

pub use sentence::quantile_name;

use crate::measure::absence::AbsenceCause;
use crate::measure::host_difference::HostDifference;
use crate::measure::losses::LossRecord;
use crate::measure::outcome_count::{OutcomeCount, percent};
use crate::measure::shortfall::Shortfall;
use filestone_workload::operation::OpKind;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A reason to doubt a number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "caveat", rename_all = "kebab-case")]
#[allow(missing_docs)] // the fields are the figures of the sentence
pub enum Caveat {
    /// A worker had no time left: the load generator was the limit.
    GeneratorWasTheLimit {
        worker: u32,
        busy_percent: f64,
        workers: u32,
        /// All workers together used that share of so many processors; `None`: this worker of one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        processors: Option<f64>,
    },
    /// An interval was not ended when it was to be.
    LongInterval {
        /// Since the window opened.
        from_ns: u64,
        length_ns: u64,
        planned_ns: u64,
        /// How many there are; the longest is told.
        count: u64,
    },
    /// The load generator could not run for a part of the window.
    DidNotRun {
        cause: AbsenceCause,
        /// Of the window; of this host's processors, if they were stolen.
        percent: f64,
        /// Of the longest late wake-up.
        from_ns: u64,
        length_ns: u64,
        throttled_periods: u64,
        periods: u64,
    },
    /// For a stretch of the window no operation succeeded.
    NothingCompleted {
        from_ns: u64,
        to_ns: u64,
        /// Operations that failed in it.
        failed: u64,
        /// How many stretches there are; the longest is told.
        stretches: u64,
        total_ns: u64,
    },
    /// A thread, a worker's or a client's, was kept waiting for a processor by other programs.
    WaitedForProcessor { worker: u32, waited_percent: f64 },
    /// Our own threads kept each other waiting for processors, on average.
    WaitedForOwnThreads {
        threads: u32,
        processors: u32,
        waited_percent: f64,
    },
    /// The size asked for is beyond what the server takes in one call.
    TransferBeyondServer {
        size_bytes: u64,
        server_max_bytes: u64,
    },
    /// The end of a file cut READs short.
    ShortReads {
        count: u64,
        reads: u64,
        mean_bytes: f64,
        size_bytes: u32,
    },
    /// Operations went out late by our own fault.
    DispatchDelay {
        mean_ns: f64,
        response_time_mean_ns: f64,
    },
    /// The offered load was not achieved.
    AchievedBelowOffered {
        offered_load_ops_per_s: f64,
        achieved_load_ops_per_s: f64,
        /// Why; records of before it was looked for have none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cause: Option<Shortfall>,
    },
    /// Clients with a rate moved less than that.
    RateMissed {
        /// Which clients.
        who: String,
        kept_percent: f64,
        service_time_mean_ns: f64,
        cause: Shortfall,
    },
    /// More was done than was due.
    AchievedAboveOffered {
        offered_load_ops_per_s: f64,
        achieved_load_ops_per_s: f64,
        /// Operations that the warm-up left over; 0 through a kernel mount.
        left_over: u64,
        /// Who did not keep up in the warm-up; records of before it was looked for have none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cause: Option<Shortfall>,
    },
    /// Operations were due and never sent.
    Skipped { count: u64, scheduled: u64 },
    /// A percentile of all operations is not known: too few lie above it, or they lie far apart.
    #[serde(alias = "few-above-quantile-of")]
    FewAboveQuantile {
        quantile: f64,
        above: u64,
        /// All operations.
        #[serde(default, alias = "ended")]
        count: u64,
        /// It is in this interval with 95 % confidence.
        #[serde(default)]
        from_ns: u64,
        /// 0 if it reaches beyond the slowest operation.
        #[serde(default)]
        to_ns: u64,
    },
    /// Compiled without optimisation.
    DebugBuild,
    /// Reading the clock is dear.
    SlowClock { source: String, read_ns: f64 },
    /// Client and server share this host.
    Loopback { built_in: bool },
    /// The server is reached by a link between network namespaces, and may share this host.
    MayShareHost { interface: String },
    /// Operations, measured or not, ended otherwise than expected.
    #[serde(
        alias = "unsuccessful",
        alias = "mismatches",
        alias = "companions-unsuccessful"
    )]
    UnexpectedOutcomes {
        count: u64,
        /// Of all that ended; in records of older methods of all that were due, or of all lines.
        #[serde(alias = "ended", alias = "scheduled", alias = "lines")]
        completed: u64,
        /// In which ways. Records of older methods say none: they were judged by other rules, by which such a
        /// run counts.
        #[serde(default)]
        outcomes: Vec<OutcomeCount>,
    },
    /// Answers had a missing or wrong signature: they are not known to be the server's.
    Forged { count: u64 },
    /// Calls were sent again: the network or the server lost some.
    Retransmissions { count: u64, calls: u64 },
    /// Replies came after their call was given up, or twice.
    LateReplies { count: u64 },
    /// Pages of directories held more than was asked for.
    LongListings { count: u64, excess_bytes_max: u64 },
    /// An interface counted other than what the messages come to by the model.
    WireDiffers {
        interface: String,
        counted_bytes_per_operation: f64,
        difference_percent: f64,
    },
    /// Much went through an interface before the run, when nothing was sent.
    InterfaceNotQuiet {
        interface: String,
        idle_bytes_per_s: f64,
        percent_of_load: f64,
    },
    /// The server's kernel counted other calls than were made.
    ServerCallsDiffer {
        counted: u64,
        made: u64,
        difference_percent: f64,
    },
    /// A source of readings did not always answer.
    ReadingsFailed {
        source_name: String,
        failed: u64,
        tried: u64,
        reason: String,
    },
    /// The connection was lost and made again.
    Reconnected {
        times: u64,
        unusable_ns: u64,
        /// Records of before reasons were kept have none.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        losses: Vec<LossRecord>,
    },
    /// The server took the clients for guests, and a user was asked for.
    NotTheUser { user: String },
    /// The connections of some clients could not be made again.
    ConnectionsLost { count: u64, clients: u64 },
    /// The server asked for patience, and the clients of a replay waited.
    Jukebox { calls: u64, pauses_ns: u64 },
    /// Somebody ended the run early.
    Interrupted { after_ns: u64 },
    /// The run ended because the server was gone.
    TargetLost { message: String },
    /// The ledger does not balance: a bug in this program.
    LedgerOutOfBalance { missing: i64, scheduled: u64 },
    /// Something of ours could not be taken away.
    LeftBehind { path: String, reason: String },
    /// A file set that stays is still marked as in use.
    FileSetStillClaimed { path: String, reason: String },
    /// Clients of a replay ended early.
    ClientsLost {
        lost: u64,
        clients: u64,
        first: String,
    },
    /// Clients of a fleet were told so often to go by something else while they were measured.
    SettingsChanged { changes: u64 },
    /// A load was replayed over bare TCP: what it expects is not checked there. In records of
    /// versions that took it for a reason to doubt the numbers.
    NothingChecked,
    /// A mix of system calls was not compared with the kernel's counters.
    NotSeenOnTheWire { directory: String },
    /// Load points of a curve were measured although their response time was not steady.
    PointsNotSteady {
        points: u64,
        of: u64,
        first_ops_per_s: f64,
    },
    /// Load points of a curve were not achieved.
    PointsBelowOffered {
        points: u64,
        of: u64,
        first_ops_per_s: f64,
        achieved_load_ops_per_s: f64,
    },
    /// Operations of a load point waited long before they were sent.
    PointsWaited {
        points: u64,
        of: u64,
        first_ops_per_s: f64,
        waited_percent: f64,
    },
    /// Load points were measured for a few relaxation times of their queue only.
    PointsTooShort {
        points: u64,
        of: u64,
        first_ops_per_s: f64,
        /// How many they were at the first of them.
        relaxations: f64,
    },
    /// The stretches of a search were a few relaxation times of the queue near its answer only, so that
    /// none is given.
    StretchesTooShort {
        stretch_ns: u64,
        relaxation_time_ns: f64,
    },
    /// The load generator, not the server, set the peak of a curve.
    PeakOfGenerator { peak_ops_per_s: f64 },
    /// The search for the peak of a curve was broken off.
    PeakUnfinished { peak_ops_per_s: f64 },
    /// nhfsstone's own rule: |got − want|, summed over all operations, is above 10 %.
    MixInvalid { off_by_percent: f64 },
    /// A kernel's client could not be made to call a procedure as often as was wanted.
    NotCaused {
        /// The one of which most is missing.
        operation: OpKind,
        wanted_per_s: f64,
        at_most_per_s: f64,
        /// And which else.
        others: Vec<OpKind>,
    },
    /// Operations of a mix are more than 2 % of their share away from it.
    MixOff {
        operation: OpKind,
        want_percent: f64,
        got_percent: f64,
        operations: u64,
        of: u64,
    },
    /// What was in flight is not what Little's law says.
    LittlesLaw {
        in_flight_mean: f64,
        in_flight_by_littles_law: f64,
    },
    /// The first and the last third of the window differ.
    Drift {
        first_third_mean_ns: f64,
        last_third_mean_ns: f64,
    },
    /// What keeps the file set in its proportions is a load of its own.
    #[serde(rename = "companion-load")]
    UnmeasuredLoad { calls: u64, all_calls: u64 },
    /// In a closed loop fewer operations ended in the window than were in flight.
    Outlasted {
        ended: u64,
        slots: u64,
        window_ns: u64,
    },
    /// The measured window is shorter than a scheduler's whims.
    ShortRun { window_ns: u64 },
    /// A host of the job was lost while it ran.
    HostLost {
        host: String,
        phase: String,
        reason: String,
    },
    /// A host of the job is unlike the others.
    HostDiffers {
        host: String,
        difference: HostDifference,
        figure: f64,
        median: f64,
    },
    /// There are reasons to doubt what one host of the job measured.
    HostDoubtful { host: String, caveats: Vec<String> },
    /// The hosts of the job began further apart than an interval is long, or may have.
    StartsApart { apart_ns: u64, interval_ns: u64 },
}

impl Caveat {
    /// The sentence, and what to do about it.
    pub fn sentence(&self) -> (String, Option<&'static str>) {
        (sentence::of(self), sentence::help_for(self))
    }

    /// Why a run with this caveat does not count, in a few words with the figure.
    pub fn reason(&self) -> String {
        sentence::reason(self)
    }

    /// How far its rule is broken, in the unit of the rule's threshold; only of rules which a run may
    /// break to a certain extent and still count. None has what an older method found, which counted
    /// the operations of one role alone.
    pub(crate) fn extent(&self) -> Option<f64> {
        match self {
            Self::DispatchDelay {
                mean_ns,
                response_time_mean_ns,
            } => Some(100.0 * mean_ns / response_time_mean_ns.max(1.0)),
            Self::UnexpectedOutcomes {
                count,
                completed,
                outcomes,
            } if *count > 1 && !outcomes.is_empty() => Some(percent(*count, *completed)),
            _ => None,
        }
    }

    /// Whether the numbers of the record cannot be trusted at all.
    pub fn is_fatal(&self) -> bool {
        matches!(self, Caveat::LedgerOutOfBalance { .. })
    }
}
