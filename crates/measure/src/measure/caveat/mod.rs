//! Caveats of a run: one table with their figures, rules and texts.
//!
//! A caveat is a rule that a run breaks. Broken rules are detected near their figures
//! ([`super::verdict::caveats`], the curve's caveats, the engine). Each has an entry here and a
//! section in `docs/reference/validity.md`; a test of `cli` checks that.

mod load;
#[macro_use]
mod rule;
#[cfg(test)]
mod tests;
mod text;
pub mod thresholds;

pub use rule::ValidityRule;

use self::text::{of_all, of_points, per_second, seconds};
use self::thresholds::*;
use super::absence::{ABSENT_PERCENT, AbsenceCause};
use super::host_difference::HostDifference;
use super::losses::LossRecord;
use super::outcome_count::{OutcomeCount, percent};
use super::shortfall::Shortfall;
use super::validity_record::Validity;
use crate::JsonSchema;
use filestone_plan::plan::TICK_NANOS;
use filestone_workload::operation::OpKind;
use filestone_workload::text::{counted, thousands, time_text};
use filestone_workload::threshold::Threshold;
use serde::{Deserialize, Serialize};

caveats! {
    order {
        LedgerOutOfBalance, TargetLost, MixInvalid, LittlesLaw, GeneratorWasTheLimit, LongInterval, DidNotRun,
        NothingCompleted, CpuRunDelay, CpuRunDelaySelf, DispatchDelay, AchievedBelowOffered, RateMissed,
        AchievedAboveOffered, Skipped, UnexpectedOutcomes, Forged, ClientsLost, SettingsChanged, NotTheUser,
        ConnectionsLost, Reconnected, Retransmissions, LateReplies, LongListings, WireDiffers, InterfaceNotQuiet,
        ServerCallsDiffer, ReadingsFailed, Jukebox, TransferBeyondServer, ShortReads, MixOff, NotCaused,
        NotSeenOnTheWire, NothingChecked, UnmeasuredLoad, Drift, TooFewSamples, PeakOfGenerator, PeakUnfinished,
        PointsNotSteady, PointsBelowOffered, PointsWaited, PointsTooShort, StretchesTooShort, WindowTooShort, ShortRun,
        HostLost, HostDiffers, HostSuspect, StartSkew, Interrupted, DebugBuild, SlowClock, Loopback, MayShareHost,
        Leftover, FileSetStillClaimed,
    }

    /// A worker had no time left: the load generator was the bottleneck.
    GeneratorWasTheLimit {
        worker: u32,
        busy_percent: f64,
        workers: u32,
        /// Number of CPUs, if `busy_percent` is the share that all workers used of them; `None` if
        /// it is that of one worker of one CPU.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        processors: Option<f64>,
    }
    rule "generator-was-the-limit": WithCaveats, BUSY_PERCENT, "% of the window";
    sentence load::generator_limit(*worker, *busy_percent, *workers, *processors);
    advice match processors {
        Some(_) => "use a host with more processors, or a second one; compare with `filestone calibrate`",
        None => "use more workers (--workers) or a second host; compare with `filestone calibrate`",
    };

    /// An interval ended later than planned.
    LongInterval {
        /// In nanoseconds since the window opened.
        from_ns: u64,
        length_ns: u64,
        planned_ns: u64,
        /// Number of such intervals; the figures are those of the longest.
        count: u64,
    }
    rule "long-interval": WithCaveats, INTERVAL_TIMES as f64, "times its planned length";
    sentence text::long_interval(*from_ns, *length_ns, *planned_ns, *count);
    advice text::STOPPED_ADVICE;

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
    }
    rule "did-not-run": WithCaveats, ABSENT_PERCENT, "% of the window";
    sentence text::did_not_run(*cause, *percent, [*from_ns, *length_ns], [*throttled_periods, *periods]);
    advice match cause {
        AbsenceCause::Quota => {
            "raise the quota (cpu.max; --cpus of a container, CPUQuota= of a systemd unit), or use another host"
        }
        AbsenceCause::Stolen => "use a host, or processors, that no other virtual machine shares",
        AbsenceCause::Stopped => text::STOPPED_ADVICE,
    };

    /// No operation succeeded for a part of the window.
    NothingCompleted {
        from_ns: u64,
        to_ns: u64,
        /// Operations that failed in that part.
        failed: u64,
        /// Number of such parts; the figures are those of the longest.
        stretches: u64,
        total_ns: u64,
    }
    rule "nothing-completed": WithCaveats, (EMPTY_TICKS * TICK_NANOS) as f64 / 1e9, "s without a success";
    sentence text::nothing_completed([*from_ns, *to_ns], *failed, *stretches, *total_ns);
    advice "the server, the way to it or this host stood still; percentiles hide that, because a closed loop \
            sends nothing meanwhile: see over-time.svg (--output)";

    /// A thread of a worker or client waited for a CPU because of other programs.
    CpuRunDelay {
        worker: u32,
        #[serde(alias = "waited_percent")]
        run_delay_percent: f64,
    }
    rule "cpu-run-delay", formerly "waited-for-processor": WithCaveats, WAITED_PERCENT, "% of the window";
    sentence format!(
        "thread {worker} of the load generator was ready to run but had no processor for {run_delay_percent:.0} % of \
         the time: other programs slowed it"
    );
    advice "stop other programs, give the load generator a processor of its own (--pin), or use another host";

    /// The load generator's own threads made each other wait for CPUs, on average.
    CpuRunDelaySelf {
        threads: u32,
        processors: u32,
        #[serde(alias = "waited_percent")]
        run_delay_percent: f64,
    }
    rule "cpu-run-delay-self", formerly "waited-for-own-threads": WithCaveats, WAITED_PERCENT, "% of the window";
    sentence format!(
        "the load generator's {threads} threads were ready to run but had no processor for {run_delay_percent:.0} % of \
         the time: they share {processors} with each other, and that wait is in the response times"
    );
    advice "use more hosts, or fewer clients or workers on this one";

    /// The requested size exceeds the maximum of the server per call.
    TransferBeyondServer { size_bytes: u64, server_max_bytes: u64 }
    rule "transfer-beyond-server": WithCaveats;
    sentence format!(
        "calls asked for {} bytes, but the server says it moves at most {} at a time",
        thousands(*size_bytes),
        thousands(*server_max_bytes)
    );
    advice "use a --io-size that the server takes: an NFS server answers more with less, an SMB server refuses it";

    /// READs were short because of the end of the file.
    ShortReads { count: u64, reads: u64, mean_bytes: f64, size_bytes: u32 }
    rule "short-reads": WithCaveats, SHORT_READS_PERCENT, "% of the READs";
    sentence format!(
        "at least {}: {mean_bytes:.0} bytes on average, of {} asked for",
        of_all(*count, *reads, "READs were cut short by the end of the file"),
        thousands(u64::from(*size_bytes))
    );
    advice "use a --io-size that the files are multiples of, or larger files: the rate is that of smaller READs";

    /// The load generator sent operations late.
    DispatchDelay { mean_ns: f64, response_time_mean_ns: f64 }
    rule "dispatch-delay": WithCaveats, 100.0 * DISPATCH_SHARE, "% of the mean response time",
        at most LATE_PERCENT_MAX, of load::late_percent(*mean_ns, *response_time_mean_ns);
    sentence format!(
        "the load generator sent operations {} late on average, {:.1} % of the mean response time of {}",
        time_text(*mean_ns),
        load::late_percent(*mean_ns, *response_time_mean_ns),
        time_text(*response_time_mean_ns)
    );
    reason format!(
        "dispatch delay is {:.0} % of the response time",
        load::late_percent(*mean_ns, *response_time_mean_ns)
    );
    advice "leave a processor to the load generator, use --busy-poll, or lower the load";

    /// The offered load was not achieved.
    AchievedBelowOffered {
        offered_load_ops_per_s: f64,
        achieved_load_ops_per_s: f64,
        /// Cause; absent in older records.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cause: Option<Shortfall>,
    }
    rule "achieved-below-offered": WithCaveats, ACHIEVED_OFF_PERCENT, "% less than was due";
    sentence format!(
        "{}{}",
        load::achieved(*offered_load_ops_per_s, *achieved_load_ops_per_s),
        cause.map_or("", load::because)
    );
    advice load::advice_below_offered(*cause);

    /// Clients with a rate moved less than that.
    RateMissed {
        /// Description of the clients.
        who: String,
        kept_percent: f64,
        service_time_mean_ns: f64,
        cause: Shortfall,
    }
    rule "rate-missed": WithCaveats, RATE_OFF_PERCENT, "% less than the rate";
    sentence format!(
        "{who} kept {kept_percent:.1} % of the rate asked for{}",
        load::because_of_rate(*cause, *service_time_mean_ns)
    );
    advice load::advice_below_rate(*cause);

    /// More operations ended than were due.
    AchievedAboveOffered {
        offered_load_ops_per_s: f64,
        achieved_load_ops_per_s: f64,
        /// Operations left over by the warm-up; 0 through a kernel mount.
        #[serde(alias = "left_over")]
        warm_up_backlog: u64,
        /// Cause of the lag in the warm-up; absent in older records.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cause: Option<Shortfall>,
    }
    rule "achieved-above-offered": WithCaveats, ACHIEVED_OFF_PERCENT, "% more than was due";
    sentence load::achieved_above(*offered_load_ops_per_s, *achieved_load_ops_per_s, *warm_up_backlog);
    advice match (warm_up_backlog, cause) {
        (0, _) => "run longer; the load comes near to what is offered with every correction",
        (_, Some(Shortfall::Generator)) => {
            "the load generator did not keep up in the warm-up: leave a processor to it, warm up for longer \
             (--warm-up), or offer less"
        }
        _ => "the server did not keep up in the warm-up: warm up for longer (--warm-up), or offer less",
    };

    /// Operations were due and never sent.
    Skipped { count: u64, scheduled: u64 }
    rule "skipped": WithCaveats, 0.0, "operations";
    sentence of_all(
        *count,
        *scheduled,
        "operations were due and never sent: every slot was taken, or the connection down, until the end",
    );
    advice "the response times of these would have been the longest; allow more in flight or offer less";

    /// A percentile of all operations is uncertain: too few operations are above it, or their times
    /// differ too much.
    TooFewSamples {
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
    }
    rule "too-few-samples", formerly "few-above-quantile", formerly "few-above-quantile-of": WithCaveats, SPREAD_MAX, "times from end to end";
    sentence text::few_above(*quantile, *above, *count, [*from_ns, *to_ns]);
    advice "run longer (--duration) before quoting it, or a percentile above it; ~ marks them";

    /// Compiled without optimization.
    DebugBuild
    rule "debug-build": WithCaveats;
    sentence "this is a debug build: its own costs are several times those of a release build";
    advice "build with --release";

    /// Reading the clock is slow.
    SlowClock { source: String, read_ns: f64 }
    rule "slow-clock": WithCaveats, CLOCK_READ_NS, "ns a reading";
    sentence format!(
        "reading the clock ({source}) takes {read_ns:.0} ns, which adds to every batch of replies"
    );
    advice match source.as_str() {
        // Linux's names of the counters of x86 and Arm CPUs.
        "tsc" | "arch_sys_counter" => {
            "there is no better clock source than this one: a virtual machine that traps its reads, a processor at \
             a low frequency or a debug build makes it slow"
        }
        _ => "use a host whose clock source is the processor's own counter, such as tsc",
    };

    /// Client and server share this host.
    Loopback { built_in: bool }
    rule "loopback": WithCaveats;
    sentence if *built_in {
        "the built-in server shares this host's processors with the load generator: this measures the tool, not a \
         server"
    } else {
        "the server shares this host with the load generator: both compete for the processors and no wire is involved"
    };
    advice if *built_in { "name a target, such as nfs://server/export" } else { text::OTHER_HOST_ADVICE };

    /// The server is reached by a link between network namespaces, and may share this host.
    MayShareHost { interface: String }
    rule "may-share-host": WithCaveats;
    sentence format!(
        "the server is reached by {interface}, a link between network namespaces of a host, so it may share this \
         host's processors with the load generator"
    );
    advice text::OTHER_HOST_ADVICE;

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
    }
    rule "unexpected-outcomes": WithCaveats, UNEXPECTED_PERCENT, "% of the completed operations",
        at most UNEXPECTED_PERCENT_MAX, of load::unexpected_percent(*count, *completed, outcomes);
    sentence load::unexpected(*count, *completed, outcomes);
    reason load::unexpected_share(load::unexpected_percent(*count, *completed, outcomes), outcomes);
    advice load::advice_for_errors(outcomes);

    /// Replies had a missing or wrong signature, so they may not be from the server.
    Forged { count: u64 }
    rule "forged": WithCaveats, 0.0, "operations";
    sentence {
        let were = if *count == 1 { "was" } else { "were" };
        format!("{} {were} answered with a missing or wrong signature", counted(*count, "operation"))
    };
    advice "something changes messages on the way, or answers in the server's place; none of them was taken for an \
            answer";

    /// Calls were retransmitted: the network or the server lost some.
    Retransmissions { count: u64, calls: u64 }
    rule "retransmissions": WithCaveats, 0.0, "calls";
    sentence of_all(*count, *calls, "calls were sent again because no reply came in time");
    advice "look for loss on the network (netstat -su) or lower the load";

    /// Replies arrived after their call had timed out, or twice.
    LateReplies { count: u64 }
    rule "late-replies": WithCaveats, 0.0, "replies";
    sentence format!("{} replies came for calls that were already answered or given up", thousands(*count));
    advice "raise --timeout, or look for a server that answers twice";

    /// Pages of directories exceeded the requested size.
    LongListings { count: u64, excess_bytes_max: u64 }
    rule "long-listings": WithCaveats, 0.0, "replies";
    sentence format!(
        "{} replies to READDIR or READDIRPLUS held more entries than asked for, by up to {} bytes",
        thousands(*count),
        thousands(*excess_bytes_max)
    );
    advice "they count as answered; a client that holds its server to RFC 1813, section 3.3.16, would refuse them";

    /// An interface counted more or fewer bytes than the model gives for the messages.
    WireDiffers { interface: String, counted_bytes_per_operation: f64, difference_percent: f64 }
    rule "wire-differs": WithCaveats, WIRE_OFF_PERCENT, "% of the bytes by the model";
    sentence format!(
        "{interface} counted {counted_bytes_per_operation:.1} bytes for each operation, {difference_percent:+.1} % of \
         what the messages come to"
    );
    advice "an interface that cuts packets itself counts fewer (ip link set DEVICE gso_max_segs 1); over TCP calls in \
            flight share segments; other traffic counts, too";

    /// An interface had much traffic before the run, when nothing was sent.
    InterfaceNotQuiet { interface: String, idle_bytes_per_s: f64, percent_of_load: f64 }
    rule "interface-not-quiet": WithCaveats, IDLE_TRAFFIC_PERCENT, "% of the bytes in the window";
    sentence format!(
        "{interface} carried {} bytes/s before the run, when nothing was sent: {percent_of_load:.1} % of what it \
         carried in the run",
        thousands(idle_bytes_per_s.round() as u64)
    );
    advice "other traffic counts, too, as far as it comes and goes; use a link of its own, or wait until it is quiet";

    /// The server's kernel counted another number of calls than were made.
    ServerCallsDiffer { counted: u64, made: u64, difference_percent: f64 }
    rule "server-calls-differ": WithCaveats, 10.0 * CALLS_OFF_PERCENT, "in 1,000 of the calls made";
    sentence format!(
        "the server's kernel counted {} calls while {} were made, {difference_percent:+.1} %",
        thousands(*counted),
        thousands(*made)
    );
    advice "another client uses the server, or calls were lost or received twice: what the server did is not all for \
            this run";

    /// A source of readings did not always answer.
    ReadingsFailed { source_name: String, failed: u64, tried: u64, reason: String }
    rule "readings-failed": WithCaveats, 0.0, "readings";
    sentence format!("{failed} of {tried} readings of {source_name} failed; the first with {reason}");
    advice "what was read at other moments is kept; a longer --cost-interval asks less often";

    /// The connection was lost and established again.
    Reconnected {
        times: u64,
        unusable_ns: u64,
        /// Reasons of the losses; absent in older records.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        losses: Vec<LossRecord>,
    }
    rule "reconnected": WithCaveats, 0.0, "connections";
    sentence text::reconnected(*times, *unusable_ns, losses);
    advice "what was cut off is disconnected in the ledger; what was due meanwhile waited for a connection, though no \
            slot was missing, and that is part of its slot wait; calls of a replay went out again, and the wait is in \
            their response times";

    /// The server treated the clients as guests although a user was configured.
    NotTheUser { user: String }
    rule "not-the-user": WithCaveats;
    sentence format!("the run asked for the user {user}, and the server let its clients in as guests");
    advice "a guest has other rights than the user, and its messages are neither signed nor encrypted; check the name \
            and the password, or leave the user out";

    /// The connections of some clients could not be established again.
    ConnectionsLost { count: u64, clients: u64 }
    rule "connections-lost": WithCaveats, 0.0, "clients";
    sentence of_all(*count, *clients, "clients lost their connections and did not get them back");
    advice "the others went on (--on-lost); what these had due is skipped or was not due any more";

    /// The server returned NFS3ERR_JUKEBOX, and the clients of a replay waited.
    Jukebox { calls: u64, pauses_ns: u64 }
    rule "jukebox": WithCaveats, 0.0, "calls";
    sentence format!(
        "the server answered {} calls with NFS3ERR_JUKEBOX; the pauses before they were made again, {:.2} s together, \
         are in the response times",
        thousands(*calls),
        seconds(*pauses_ns)
    );
    advice "their lengths are the client's, not the server's; look for what keeps the server (a tape, a lease, its \
            grace period)";

    /// The user ended the run early.
    Interrupted { after_ns: u64 }
    rule "interrupted": WithCaveats;
    sentence format!("the run was interrupted after {:.3} s", seconds(*after_ns));
    advice None;

    /// The run ended because the server was lost.
    TargetLost { message: String }
    rule "target-lost": DoesNotCount;
    sentence format!("the run ended early: {message}");
    reason "the target was lost";
    advice "what was measured up to then is kept";

    /// The ledger does not balance: a bug in this program.
    LedgerOutOfBalance { missing: i64, scheduled: u64 }
    rule "ledger-out-of-balance": DoesNotCount, 0.0, "operations";
    sentence format!("internal error: {missing} of {scheduled} operations are unaccounted for");
    reason of_all(missing.unsigned_abs(), *scheduled, "operations are unaccounted for");
    advice "please report this with the record (--output DIR)";

    /// A file or directory of filestone could not be removed.
    Leftover { path: String, reason: String }
    rule "leftover", formerly "left-behind": WithCaveats;
    sentence format!("{path} could not be removed: {reason}");
    advice "--remove-leftover removes what this run made there, and nothing else";

    /// A file set that is kept is still marked as in use.
    FileSetStillClaimed { path: String, reason: String }
    rule "file-set-still-claimed": WithCaveats;
    sentence format!("{path} is still marked as in use by this run: {reason}");
    advice "the next run on this host takes it over; on another, put the line \"given up\" into its made-by-filestone";

    /// Clients of a replay ended early.
    ClientsLost { lost: u64, clients: u64, first: String }
    rule "clients-lost": WithCaveats, 0.0, "clients";
    sentence format!("{lost} of {clients} clients ended early; the first because {first}");
    advice "its load is missing from the numbers after that";

    /// Settings of clients of a fleet were changed during the measurement.
    SettingsChanged { changes: u64 }
    rule "settings-changed": WithCaveats, 0.0, "changes";
    sentence format!(
        "clients were changed {} while they were measured: totals are of all their settings together",
        counted(*changes, "time")
    );
    advice "the table of changes says when; rows and intervals that have one number of settings are of these alone";

    /// A workload was replayed over bare TCP, which does not check results. Only in records of
    /// versions that treated this as a caveat.
    NothingChecked
    rule "nothing-checked": WithCaveats;
    sentence "bare TCP only carries bytes: no result was compared with the load file";
    advice None;

    /// A mix of system calls was not compared with the kernel's counters.
    NotSeenOnTheWire { directory: String }
    rule "not-seen-on-the-wire": WithCaveats;
    sentence format!(
        "{directory}: system calls were made and no counters looked at: what reached a server, if there is one, is \
         not known"
    );
    advice "on an NFS mount, leave the feedback on: it shows what is asked beside what is seen";

    /// Load points of a curve were measured although their response time was not steady.
    PointsNotSteady { points: u64, of: u64, first_ops_per_s: f64 }
    rule "points-not-steady": WithCaveats, 0.0, "load points";
    sentence of_points(
        [*points, *of],
        *first_ops_per_s,
        "were measured before their response times had become steady",
    );
    advice "allow a longer warm-up, or lower the peak if these points are above the server's capacity";

    /// Load points of a curve did not achieve their offered load.
    PointsBelowOffered { points: u64, of: u64, first_ops_per_s: f64, achieved_load_ops_per_s: f64 }
    rule "points-below-offered": WithCaveats, 100.0 * KEPT_UP, "% of the offered load";
    sentence format!(
        "{}, which achieved {}",
        of_points([*points, *of], *first_ops_per_s, "were offered more than was achieved"),
        per_second(*achieved_load_ops_per_s)
    );
    advice "they are left out of the knee and of the overall response time; lower the peak";

    /// Operations of a load point waited long before they were sent.
    PointsWaited { points: u64, of: u64, first_ops_per_s: f64, waited_percent: f64 }
    rule "points-waited": WithCaveats, 100.0 * WAITED_SHARE, "% of the response time";
    sentence format!(
        "{}, where that was {waited_percent:.0} % of the response time",
        of_points([*points, *of], *first_ops_per_s, "had operations wait before they were sent")
    );
    advice "allow more calls in flight (--in-flight), and leave a processor to the load generator";

    /// Load points were measured for only a few relaxation times of their queue.
    PointsTooShort {
        points: u64,
        of: u64,
        first_ops_per_s: f64,
        /// Number of relaxation times at the first of them.
        relaxations: f64,
    }
    rule "points-too-short": WithCaveats, RELAXATIONS_MIN, "relaxation times";
    sentence format!(
        "{}, {relaxations:.0} times: where their queues began, and chance, are part of their response times",
        of_points([*points, *of], *first_ops_per_s, "were measured for few relaxation times of their queue")
    );
    advice "measure each load point for longer (--point-duration), or lower the peak";

    /// Loads of a search were measured for only a few relaxation times of the queue near the
    /// result, so that no result is given.
    StretchesTooShort { stretch_ns: u64, relaxation_time_ns: f64 }
    rule "stretches-too-short": WithCaveats, SEARCH_RELAXATIONS_MIN, "relaxation times";
    sentence format!(
        "no load is named: near it the queue takes {} to forget how it began, and no load was measured for more than \
         {} at a stretch",
        time_text(*relaxation_time_ns),
        time_text(*stretch_ns as f64)
    );
    advice "give the search more time (--search-timeout): a stretch may take 15 % of it; or ask for an objective that \
            holds further below the capacity";

    /// The load generator, not the server, limited the peak of a curve.
    PeakOfGenerator { peak_ops_per_s: f64 }
    rule "peak-of-generator": WithCaveats;
    sentence format!(
        "the server kept up with all that the load generator can offer: the peak of {} achieved is not the server's",
        per_second(*peak_ops_per_s)
    );
    advice "use more workers (--workers) or a second host; compare with `filestone calibrate`";

    /// The search for the peak of a curve was interrupted.
    PeakUnfinished { peak_ops_per_s: f64 }
    rule "peak-unfinished": WithCaveats;
    sentence text::peak_unfinished(*peak_ops_per_s);
    advice "give the peak, or let the run go on for longer";

    /// Rule of nhfsstone: |got − want|, summed over all operations, is above 10 %.
    MixInvalid {
        #[serde(alias = "off_by_percent")]
        deviation_percent: f64,
    }
    rule "mix-invalid": DoesNotCount, INVALID_PERCENT, "% off the mix";
    // Wording of nhfsstone.
    sentence format!("INVALID RUN, mix generated is off by {deviation_percent:.2}%");
    reason format!("the mix is off by {deviation_percent:.1} %");
    advice "this is not the mix that was asked for; look for operations that failed or were skipped, or run longer";

    /// A kernel's client could not be made to call a procedure as often as the mix requires.
    NotCaused {
        /// Operation with the largest shortfall.
        operation: OpKind,
        wanted_per_s: f64,
        at_most_per_s: f64,
        /// Other operations with a shortfall.
        others: Vec<OpKind>,
    }
    rule "not-caused": WithCaveats;
    sentence text::not_caused(*operation, [*wanted_per_s, *at_most_per_s], others);
    advice "take a mix without it, or make the calls over nfs://, where one operation is one call";

    /// Operations of a mix deviate from their share by more than 2 % of it.
    MixOff { operation: OpKind, want_percent: f64, got_percent: f64, operations: u64, of: u64 }
    rule "mix-off": WithCaveats, 100.0 * OFF_SHARE, "% of its share";
    sentence format!(
        "{operations} of {of} operations {} off the mix by more than 2 % of their share; the worst is {}, \
         {got_percent:.2} % instead of {want_percent:.2} %",
        if *operations == 1 { "is" } else { "are" },
        operation.name()
    );
    advice "run longer; if operations were skipped, offer less or allow more calls in flight (--in-flight)";

    /// The measured number in flight contradicts Little's law.
    LittlesLaw { in_flight_mean: f64, in_flight_by_littles_law: f64 }
    rule "littles-law": DoesNotCount, LITTLE_PERCENT, "% outside of the law";
    sentence format!(
        "{in_flight_mean:.2} operations were in flight on average, but achieved load times service time gives \
         {in_flight_by_littles_law:.2} (Little's law)"
    );
    reason format!(
        "{in_flight_mean:.2} operations were in flight, {in_flight_by_littles_law:.2} by Little's law"
    );
    advice "times or counts are not what they seem: look for a load generator that was held up, or a load that changed";

    /// The first and the last third of the window differ.
    Drift { first_third_mean_ns: f64, last_third_mean_ns: f64 }
    rule "drift": WithCaveats, DRIFT_PERCENT, "% from the first third to the last";
    sentence format!(
        "the mean response time went from {} in the first third to {} in the last ({:+.0} %), more than chance explains",
        time_text(*first_third_mean_ns),
        time_text(*last_third_mean_ns),
        100.0 * (last_third_mean_ns - first_third_mean_ns) / first_third_mean_ns.max(1.0)
    );
    advice "no single figure describes a load that is not steady: warm up for longer (--warm-up), or look at the \
            intervals";

    /// Unmeasured operations, which keep the proportions of the file set, are a considerable load.
    UnmeasuredLoad { calls: u64, all_calls: u64 }
    rule "unmeasured-load", formerly "companion-load": WithCaveats, UNMEASURED_PERCENT as f64, "% of all calls";
    sentence format!(
        "{:.1} % of the calls are no part of the mix: {}",
        percent(*calls, *all_calls),
        of_all(*calls, *all_calls, "keep the file set in its proportions")
    );
    advice "the server does them besides; a mix that makes as much as it takes away needs none";

    /// In a closed loop fewer operations ended in the window than were in flight.
    WindowTooShort { ended: u64, slots: u64, window_ns: u64 }
    rule "window-too-short", formerly "outlasted": WithCaveats, 1.0, "operations of each slot";
    sentence format!(
        "{} ended in the window of {:.3} s, in which {} may be in flight: a response takes longer than the window is",
        counted(*ended, "operation"),
        seconds(*window_ns),
        thousands(*slots)
    );
    advice "operations/s say little: run for many times as long as one takes (--duration), or for a count of them \
            (--count)";

    /// The measured window is so short that scheduling delays dominate.
    ShortRun { window_ns: u64 }
    rule "short-run": WithCaveats, WINDOW_MIN_NS as f64 / 1e9, "s";
    sentence format!("the measured window is only {:.3} s long", seconds(*window_ns));
    advice "run for at least a second";

    /// A host of the job was lost during the run.
    HostLost { host: String, phase: String, reason: String }
    rule "host-lost": WithCaveats, 0.0, "hosts";
    sentence format!("host {host} was lost ({phase}): {reason}; nothing of its part is in the numbers");
    advice "look for why it was lost in what mpirun or the batch system said, and run the job again";

    /// A host of the job differs from the others.
    HostDiffers { host: String, difference: HostDifference, figure: f64, median: f64 }
    rule "host-differs": WithCaveats, 100.0 * SLOWER_TIMES, "% of the median of the others";
    sentence text::host_differs(host, *difference, *figure, *median);
    advice "compare its processors, its link and its way to the server with the others' (filestone doctor), or leave \
            it out";

    /// Results of one host of the job have caveats.
    HostSuspect { host: String, caveats: Vec<String> }
    rule "host-suspect", formerly "host-doubtful": WithCaveats;
    sentence format!("host {host}: {}", caveats.join("; "));
    advice "the record has what each host says, under job.hosts";

    /// The hosts of the job started further apart than the length of an interval, or may have.
    StartSkew {
        #[serde(alias = "apart_ns")]
        start_skew_ns: u64,
        interval_ns: u64,
    }
    rule "start-skew", formerly "starts-apart": WithCaveats, 1.0, "intervals";
    sentence format!(
        "the hosts may have begun {} apart, which is more than an interval of {}: rows hold what was not at the same \
         time",
        time_text(*start_skew_ns as f64),
        time_text(*interval_ns as f64)
    );
    advice "start them together (mpirun), or use longer intervals (--interval)";
}
