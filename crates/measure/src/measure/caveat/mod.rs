//! Caveats of a run, as data with their figures.
//!
//! Each has a sentence with the figures in it, and one that says what to do.

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

/// A reason to doubt a figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "caveat", rename_all = "kebab-case")]
#[allow(missing_docs)] // the fields are the figures of the sentence
pub enum Caveat {
    /// A worker had no time left: the load generator was the bottleneck.
    GeneratorWasTheLimit {
        worker: u32,
        busy_percent: f64,
        workers: u32,
        /// Number of CPUs, if `busy_percent` is the share that all workers used of them; `None` if
        /// it is that of one worker of one CPU.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        processors: Option<f64>,
    },
    /// An interval ended later than planned.
    LongInterval {
        /// In nanoseconds since the window opened.
        from_ns: u64,
        length_ns: u64,
        planned_ns: u64,
        /// Number of such intervals; the figures are those of the longest.
        count: u64,
    },
    /// The load generator could not run for a part of the window.
    DidNotRun {
        cause: AbsenceCause,
        /// Share of the window; with steal, share of this host's CPU time.
        percent: f64,
        /// Start of the longest late wake-up.
        from_ns: u64,
        length_ns: u64,
        throttled_periods: u64,
        periods: u64,
    },
    /// No operation succeeded for a part of the window.
    NothingCompleted {
        from_ns: u64,
        to_ns: u64,
        /// Operations that failed in that part.
        failed: u64,
        /// Number of such parts; the figures are those of the longest.
        stretches: u64,
        total_ns: u64,
    },
    /// A thread of a worker or client waited for a CPU because of other programs.
    WaitedForProcessor { worker: u32, waited_percent: f64 },
    /// The load generator's own threads made each other wait for CPUs, on average.
    WaitedForOwnThreads {
        threads: u32,
        processors: u32,
        waited_percent: f64,
    },
    /// The requested size exceeds the maximum of the server per call.
    TransferBeyondServer {
        size_bytes: u64,
        server_max_bytes: u64,
    },
    /// READs were short because of the end of the file.
    ShortReads {
        count: u64,
        reads: u64,
        mean_bytes: f64,
        size_bytes: u32,
    },
    /// The load generator sent operations late.
    DispatchDelay {
        mean_ns: f64,
        response_time_mean_ns: f64,
    },
    /// The offered load was not achieved.
    AchievedBelowOffered {
        offered_load_ops_per_s: f64,
        achieved_load_ops_per_s: f64,
        /// Cause; absent in older records.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cause: Option<Shortfall>,
    },
    /// Clients with a rate moved less than that.
    RateMissed {
        /// Description of the clients.
        who: String,
        kept_percent: f64,
        service_time_mean_ns: f64,
        cause: Shortfall,
    },
    /// More operations ended than were due.
    AchievedAboveOffered {
        offered_load_ops_per_s: f64,
        achieved_load_ops_per_s: f64,
        /// Operations left over by the warm-up; 0 through a kernel mount.
        left_over: u64,
        /// Cause of the lag in the warm-up; absent in older records.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cause: Option<Shortfall>,
    },
    /// Operations were due and never sent.
    Skipped { count: u64, scheduled: u64 },
    /// A percentile of all operations is uncertain: too few operations are above it, or their times
    /// differ too much.
    #[serde(alias = "few-above-quantile-of")]
    FewAboveQuantile {
        quantile: f64,
        above: u64,
        /// Number of all operations.
        #[serde(default, alias = "ended")]
        count: u64,
        /// Lower end of its 95 % confidence interval.
        #[serde(default)]
        from_ns: u64,
        /// Upper end of the interval; 0 if it exceeds the slowest operation.
        #[serde(default)]
        to_ns: u64,
    },
    /// Compiled without optimization.
    DebugBuild,
    /// Reading the clock is slow.
    SlowClock { source: String, read_ns: f64 },
    /// Client and server share this host.
    Loopback { built_in: bool },
    /// The server is reached by a link between network namespaces, and may share this host.
    MayShareHost { interface: String },
    /// Operations, measured or not, had an unexpected outcome.
    #[serde(
        alias = "unsuccessful",
        alias = "mismatches",
        alias = "companions-unsuccessful"
    )]
    UnexpectedOutcomes {
        count: u64,
        /// Number of operations that ended; in records of older methods, operations that were due,
        /// or lines of a load file.
        #[serde(alias = "ended", alias = "scheduled", alias = "lines")]
        completed: u64,
        /// The outcomes. Empty in records of older methods, which had other rules: such a run is
        /// valid.
        #[serde(default)]
        outcomes: Vec<OutcomeCount>,
    },
    /// Replies had a missing or wrong signature, so they may not be from the server.
    Forged { count: u64 },
    /// Calls were retransmitted: the network or the server lost some.
    Retransmissions { count: u64, calls: u64 },
    /// Replies arrived after their call had timed out, or twice.
    LateReplies { count: u64 },
    /// Pages of directories exceeded the requested size.
    LongListings { count: u64, excess_bytes_max: u64 },
    /// An interface counted more or fewer bytes than the model gives for the messages.
    WireDiffers {
        interface: String,
        counted_bytes_per_operation: f64,
        difference_percent: f64,
    },
    /// An interface had much traffic before the run, when nothing was sent.
    InterfaceNotQuiet {
        interface: String,
        idle_bytes_per_s: f64,
        percent_of_load: f64,
    },
    /// The server's kernel counted another number of calls than were made.
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
    /// The connection was lost and established again.
    Reconnected {
        times: u64,
        unusable_ns: u64,
        /// Reasons of the losses; absent in older records.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        losses: Vec<LossRecord>,
    },
    /// The server treated the clients as guests although a user was configured.
    NotTheUser { user: String },
    /// The connections of some clients could not be established again.
    ConnectionsLost { count: u64, clients: u64 },
    /// The server returned NFS3ERR_JUKEBOX, and the clients of a replay waited.
    Jukebox { calls: u64, pauses_ns: u64 },
    /// The user ended the run early.
    Interrupted { after_ns: u64 },
    /// The run ended because the server was lost.
    TargetLost { message: String },
    /// The ledger does not balance: a bug in this program.
    LedgerOutOfBalance { missing: i64, scheduled: u64 },
    /// A file or directory of filestone could not be removed.
    LeftBehind { path: String, reason: String },
    /// A file set that is kept is still marked as in use.
    FileSetStillClaimed { path: String, reason: String },
    /// Clients of a replay ended early.
    ClientsLost {
        lost: u64,
        clients: u64,
        first: String,
    },
    /// Settings of clients of a fleet were changed during the measurement.
    SettingsChanged { changes: u64 },
    /// A workload was replayed over bare TCP, which does not check results. Only in records of
    /// versions that treated this as a caveat.
    NothingChecked,
    /// A mix of system calls was not compared with the kernel's counters.
    NotSeenOnTheWire { directory: String },
    /// Load points of a curve were measured although their response time was not steady.
    PointsNotSteady {
        points: u64,
        of: u64,
        first_ops_per_s: f64,
    },
    /// Load points of a curve did not achieve their offered load.
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
    /// Load points were measured for only a few relaxation times of their queue.
    PointsTooShort {
        points: u64,
        of: u64,
        first_ops_per_s: f64,
        /// Number of relaxation times at the first of them.
        relaxations: f64,
    },
    /// Loads of a search were measured for only a few relaxation times of the queue near the
    /// result, so that no result is given.
    StretchesTooShort {
        stretch_ns: u64,
        relaxation_time_ns: f64,
    },
    /// The load generator, not the server, limited the peak of a curve.
    PeakOfGenerator { peak_ops_per_s: f64 },
    /// The search for the peak of a curve was interrupted.
    PeakUnfinished { peak_ops_per_s: f64 },
    /// Rule of nhfsstone: |got − want|, summed over all operations, is above 10 %.
    MixInvalid { off_by_percent: f64 },
    /// A kernel's client could not be made to call a procedure as often as the mix requires.
    NotCaused {
        /// Operation with the largest shortfall.
        operation: OpKind,
        wanted_per_s: f64,
        at_most_per_s: f64,
        /// Other operations with a shortfall.
        others: Vec<OpKind>,
    },
    /// Operations of a mix deviate from their share by more than 2 % of it.
    MixOff {
        operation: OpKind,
        want_percent: f64,
        got_percent: f64,
        operations: u64,
        of: u64,
    },
    /// The measured number in flight contradicts Little's law.
    LittlesLaw {
        in_flight_mean: f64,
        in_flight_by_littles_law: f64,
    },
    /// The first and the last third of the window differ.
    Drift {
        first_third_mean_ns: f64,
        last_third_mean_ns: f64,
    },
    /// Unmeasured operations, which keep the proportions of the file set, are a considerable load.
    #[serde(rename = "companion-load")]
    UnmeasuredLoad { calls: u64, all_calls: u64 },
    /// In a closed loop fewer operations ended in the window than were in flight.
    Outlasted {
        ended: u64,
        slots: u64,
        window_ns: u64,
    },
    /// The measured window is so short that scheduling delays dominate.
    ShortRun { window_ns: u64 },
    /// A host of the job was lost during the run.
    HostLost {
        host: String,
        phase: String,
        reason: String,
    },
    /// A host of the job differs from the others.
    HostDiffers {
        host: String,
        difference: HostDifference,
        figure: f64,
        median: f64,
    },
    /// Results of one host of the job have caveats.
    HostDoubtful { host: String, caveats: Vec<String> },
    /// The hosts of the job started further apart than the length of an interval, or may have.
    StartsApart { apart_ns: u64, interval_ns: u64 },
}

impl Caveat {
    /// Returns the sentence, and what to do about the caveat.
    pub fn sentence(&self) -> (String, Option<&'static str>) {
        (sentence::of(self), sentence::help_for(self))
    }

    /// Returns why a run with this caveat is invalid, in a few words with the figure.
    pub fn reason(&self) -> String {
        sentence::reason(self)
    }

    /// Returns by how much the run exceeds the rule, in the unit of the rule's threshold; only for
    /// rules that a valid run may break to some extent. `None` for results of an older method,
    /// which counted the operations of one role only.
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

    /// Returns whether the figures of the record cannot be trusted at all.
    pub fn is_fatal(&self) -> bool {
        matches!(self, Caveat::LedgerOutOfBalance { .. })
    }
}
