//! Reasons to doubt a number, as data with their figures.
//!
//! Each renders as one sentence with the numbers in it, and one that says what
//! to do.

use crate::measure::run_record::{RunEnd, RunRecord};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A reason to doubt a number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "caveat", rename_all = "kebab-case")]
#[allow(missing_docs)] // the fields are the figures of the sentence
pub enum Caveat {
    /// A worker had no time left: the load generator was the limit.
    GeneratorWasTheLimit {
        worker: u32,
        busy_percent: f64,
        workers: u32,
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
    },
    /// Operations were due and never sent.
    Skipped { count: u64, scheduled: u64 },
    /// Fewer than 100 operations lie above a percentile that is shown.
    FewAboveQuantile { quantile: f64, above: u64 },
    /// Compiled without optimisation.
    DebugBuild,
    /// Reading the clock is dear.
    SlowClock { source: String, read_ns: f64 },
    /// Client and server share this host.
    Loopback { built_in: bool },
    /// Operations that did not succeed are among those timed.
    Unsuccessful {
        count: u64,
        ended: u64,
        most_frequent: String,
    },
    /// Calls were sent again: the network or the server lost some.
    Retransmissions { count: u64, calls: u64 },
    /// Replies came after their call was given up, or twice.
    LateReplies { count: u64 },
    /// The connection was lost and made again.
    Reconnected { times: u64, unusable_ns: u64 },
    /// Somebody ended the run early.
    Interrupted { after_ns: u64 },
    /// The run ended because the server was gone.
    TargetLost { message: String },
    /// The ledger does not balance: a bug in this program.
    LedgerOutOfBalance { missing: i64, scheduled: u64 },
    /// Something of ours could not be taken away.
    LeftBehind { path: String, reason: String },
    /// The measured window is shorter than a scheduler's whims.
    ShortRun { window_ns: u64 },
}

impl Caveat {
    /// The sentence, and what to do about it.
    pub fn sentence(&self) -> (String, Option<&'static str>) {
        match self {
            Caveat::GeneratorWasTheLimit { worker, busy_percent, workers } => (
                format!(
                    "worker {worker} of {workers} was busy {busy_percent:.0} % of the time, so the load generator was the limit, or near it"
                ),
                Some("use more workers (--workers) or a second host; compare with `filestone calibrate`"),
            ),
            Caveat::DispatchDelay { mean_ns, response_time_mean_ns } => (
                format!(
                    "operations left {} late on average by our own fault, {:.1} % of the mean response time of {}",
                    micros(*mean_ns),
                    100.0 * mean_ns / response_time_mean_ns.max(1.0),
                    micros(*response_time_mean_ns)
                ),
                Some("leave a processor to the load generator, use --busy-poll, or lower the load"),
            ),
            Caveat::AchievedBelowOffered { offered_load_ops_per_s, achieved_load_ops_per_s } => (
                format!(
                    "offered {} operations/s, achieved {} ({:.1} %)",
                    grouped(offered_load_ops_per_s.round() as u64),
                    grouped(achieved_load_ops_per_s.round() as u64),
                    100.0 * achieved_load_ops_per_s / offered_load_ops_per_s.max(f64::MIN_POSITIVE)
                ),
                Some("offer less, or allow more calls in flight (--in-flight) if slot wait is high"),
            ),
            Caveat::Skipped { count, scheduled } => (
                format!(
                    "{} of {} operations were due and never sent: every slot was taken until the end",
                    grouped(*count),
                    grouped(*scheduled)
                ),
                Some("the response times of these would have been the longest; allow more in flight or offer less"),
            ),
            Caveat::FewAboveQuantile { quantile, above } => (
                match above {
                    0 => format!("no operation lies above p{}: it is the maximum", quantile_name(*quantile)),
                    1 => format!("only 1 operation lies above p{}: it is a guess", quantile_name(*quantile)),
                    above => format!("only {above} operations lie above p{}: it is a guess", quantile_name(*quantile)),
                },
                Some("run longer (--duration) before quoting it; 100 or more make it worth quoting"),
            ),
            Caveat::DebugBuild => (
                "this is a debug build: its own costs are several times those of a release build".into(),
                Some("build with --release"),
            ),
            Caveat::SlowClock { source, read_ns } => (
                format!("reading the clock ({source}) takes {read_ns:.0} ns, which adds to every batch of replies"),
                Some("use a host whose clock source is tsc"),
            ),
            Caveat::Loopback { built_in: true } => (
                "the built-in server shares this host's processors with the load generator: this measures the tool, not a server".into(),
                Some("name a target, such as nfs://server/export"),
            ),
            Caveat::Loopback { built_in: false } => (
                "the server shares this host with the load generator: both compete for the processors and no wire is involved".into(),
                Some("run the load generator on another host for figures to publish"),
            ),
            Caveat::Unsuccessful { count, ended, most_frequent } => (
                format!(
                    "{} of {} operations did not succeed, mostly {most_frequent}; their times are among those shown",
                    grouped(*count),
                    grouped(*ended)
                ),
                Some("see the table of errors"),
            ),
            Caveat::Retransmissions { count, calls } => (
                format!(
                    "{} of {} calls were sent again because no reply came in time",
                    grouped(*count),
                    grouped(*calls)
                ),
                Some("look for loss on the network (netstat -su) or lower the load"),
            ),
            Caveat::LateReplies { count } => (
                format!(
                    "{} replies came for calls that were already answered or given up",
                    grouped(*count)
                ),
                Some("raise --timeout, or look for a server that answers twice"),
            ),
            Caveat::Reconnected { times, unusable_ns } => (
                format!(
                    "connections were lost and made again {times} times; together they were unusable for {:.2} s",
                    *unusable_ns as f64 / 1e9
                ),
                Some("see disconnected operations in the ledger; slot wait holds the time spent waiting"),
            ),
            Caveat::Interrupted { after_ns } => {
                (format!("the run was interrupted after {:.3} s", *after_ns as f64 / 1e9), None)
            }
            Caveat::TargetLost { message } => (
                format!("the run ended early: {message}"),
                Some("what was measured up to then is kept"),
            ),
            Caveat::LedgerOutOfBalance { missing, scheduled } => (
                format!("internal error: {missing} of {scheduled} operations are unaccounted for"),
                Some("please report this with the record (--output DIR)"),
            ),
            Caveat::LeftBehind { path, reason } => (
                format!("{path} could not be removed: {reason}"),
                Some("it holds nothing but what this run made; remove it by hand"),
            ),
            Caveat::ShortRun { window_ns } => (
                format!("the measured window is only {:.3} s long", *window_ns as f64 / 1e9),
                Some("run for at least a second"),
            ),
        }
    }

    /// Whether the numbers of the record cannot be trusted at all.
    pub fn is_fatal(&self) -> bool {
        matches!(self, Caveat::LedgerOutOfBalance { .. })
    }
}

/// A count with its thousands apart: `17,312`.
fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A worker busier than this was the limit, or near it.
const BUSY_PERCENT: f64 = 95.0;
/// Lateness of our own above this share of the response time is worth a caveat.
const DISPATCH_SHARE: f64 = 0.01;
/// Achieved below this share of offered is worth one.
const ACHIEVED_SHARE: f64 = 0.99;
/// Operations that should lie above a percentile before it is quoted.
const ABOVE_MIN: u64 = 100;
/// A clock dearer than this adds to what is measured.
const CLOCK_READ_NS: f64 = 50.0;

/// The reasons to doubt a record's numbers.
pub fn find(record: &RunRecord) -> Vec<Caveat> {
    let mut caveats = Vec::new();
    let totals = &record.totals;
    if totals.ledger.missing() != 0 {
        caveats.push(Caveat::LedgerOutOfBalance {
            missing: totals.ledger.missing() as i64,
            scheduled: totals.ledger.scheduled,
        });
    }
    match &record.end {
        RunEnd::Finished => {}
        RunEnd::Interrupted => caveats.push(Caveat::Interrupted {
            after_ns: record.window_ns,
        }),
        RunEnd::TargetLost { message } => caveats.push(Caveat::TargetLost {
            message: message.clone(),
        }),
    }
    find_errors(record, &mut caveats);
    find_limits(record, &mut caveats);
    find_doubts(record, &mut caveats);
    caveats
}

/// What went wrong with operations and connections.
fn find_errors(record: &RunRecord, caveats: &mut Vec<Caveat>) {
    let totals = &record.totals;
    let ledger = &totals.ledger;
    let count = ledger.failed + ledger.timed_out + ledger.disconnected;
    if count > 0 {
        caveats.push(Caveat::Unsuccessful {
            count,
            ended: ledger.ended(),
            most_frequent: most_frequent(record),
        });
    }
    let retransmissions: u64 = totals.kinds.iter().map(|kind| kind.retransmissions).sum();
    if retransmissions > 0 {
        let calls = totals.kinds.iter().map(|kind| kind.calls).sum();
        caveats.push(Caveat::Retransmissions {
            count: retransmissions,
            calls,
        });
    }
    if totals.late_replies > 0 {
        caveats.push(Caveat::LateReplies {
            count: totals.late_replies,
        });
    }
    if totals.reconnections > 0 {
        caveats.push(Caveat::Reconnected {
            times: totals.reconnections,
            unusable_ns: totals.unusable_ns,
        });
    }
}

fn most_frequent(record: &RunRecord) -> String {
    let ledger = &record.totals.ledger;
    let failure = record.measured().and_then(|kind| kind.failures.first());
    let causes = [
        (
            failure.map_or(0, |failure| failure.count),
            failure.map_or("failed", |failure| failure.failure.as_str()),
        ),
        (ledger.timed_out, "timed out"),
        (ledger.disconnected, "disconnected"),
    ];
    causes
        .iter()
        .max_by_key(|(count, _)| *count)
        .map_or_else(String::new, |(_, cause)| (*cause).to_string())
}

/// Whether the load generator, and not the server, set the numbers.
fn find_limits(record: &RunRecord, caveats: &mut Vec<Caveat>) {
    let (plan, totals) = (&record.plan, &record.totals);
    let offered = totals.offered_load_ops_per_s;
    let is_below =
        offered.is_some_and(|offered| totals.achieved_load_ops_per_s < ACHIEVED_SHARE * offered);
    // A worker that spins is always busy; an open loop spins before due moments.
    // There being busy says nothing unless load was lost.
    let busiest = totals
        .workers
        .iter()
        .max_by(|one, other| one.busy_percent.total_cmp(&other.busy_percent));
    if let Some(worker) = busiest.filter(|worker| worker.busy_percent >= BUSY_PERCENT)
        && ((offered.is_none() && !plan.busy_poll) || is_below)
    {
        caveats.push(Caveat::GeneratorWasTheLimit {
            worker: worker.worker,
            busy_percent: worker.busy_percent.min(100.0),
            workers: plan.workers,
        });
    }
    if let (Some(offered_load_ops_per_s), true) =
        (offered, is_below && record.end == RunEnd::Finished)
    {
        let achieved_load_ops_per_s = totals.achieved_load_ops_per_s;
        caveats.push(Caveat::AchievedBelowOffered {
            offered_load_ops_per_s,
            achieved_load_ops_per_s,
        });
    }
    if totals.ledger.skipped > 0 {
        caveats.push(Caveat::Skipped {
            count: totals.ledger.skipped,
            scheduled: totals.ledger.scheduled,
        });
    }
    let (delay, response) = (totals.dispatch_delay_ns.mean, totals.response_time_ns.mean);
    if offered.is_some() && delay > DISPATCH_SHARE * response {
        caveats.push(Caveat::DispatchDelay {
            mean_ns: delay,
            response_time_mean_ns: response,
        });
    }
}

/// What makes the numbers uncertain or unfit to be quoted.
fn find_doubts(record: &RunRecord, caveats: &mut Vec<Caveat>) {
    let count = record.totals.response_time_ns.count;
    let quantile = [(0.99, 100), (0.999, 1000)]
        .into_iter()
        .find(|(_, one_in)| count / one_in < ABOVE_MIN);
    if let Some((quantile, one_in)) = quantile {
        caveats.push(Caveat::FewAboveQuantile {
            quantile,
            above: count / one_in,
        });
    }
    if record.window_ns < 1_000_000_000 && record.plan.count.is_none() {
        caveats.push(Caveat::ShortRun {
            window_ns: record.window_ns,
        });
    }
    if record.tool.profile == "debug" {
        caveats.push(Caveat::DebugBuild);
    }
    if record.host.clock_read_ns > CLOCK_READ_NS {
        caveats.push(Caveat::SlowClock {
            source: record.host.clock_source.clone(),
            read_ns: record.host.clock_read_ns,
        });
    }
    if record.target.local {
        caveats.push(Caveat::Loopback {
            built_in: record.target.built_in,
        });
    }
}

/// `99.9` for 0.999.
pub fn quantile_name(quantile: f64) -> String {
    let percent = (quantile * 1e6).round() / 1e4;
    format!("{percent}")
}

fn micros(nanos: f64) -> String {
    format!("{:.1} µs", nanos / 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caveat_is_a_sentence_with_its_figures() {
        let (what, help) = Caveat::AchievedBelowOffered {
            offered_load_ops_per_s: 20_000.0,
            achieved_load_ops_per_s: 17_312.0,
        }
        .sentence();
        assert_eq!(
            what,
            "offered 20,000 operations/s, achieved 17,312 (86.6 %)"
        );
        assert_eq!(
            [grouped(0), grouped(999), grouped(1_000_000)],
            ["0", "999", "1,000,000"]
        );
        assert!(help.is_some_and(|help| help.contains("--in-flight")));
        assert_eq!(quantile_name(0.9999), "99.99");
    }
}
