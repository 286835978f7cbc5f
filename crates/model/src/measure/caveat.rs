//! Reasons to doubt a number, as data with their figures.
//!
//! Each renders as one sentence with the numbers in it, and one that says what
//! to do.

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
                    "offered {offered_load_ops_per_s:.0} operations/s, achieved {achieved_load_ops_per_s:.0} ({:.1} %)",
                    100.0 * achieved_load_ops_per_s / offered_load_ops_per_s.max(f64::MIN_POSITIVE)
                ),
                Some("offer less, or allow more calls in flight (--in-flight) if slot wait is high"),
            ),
            Caveat::Skipped { count, scheduled } => (
                format!("{count} of {scheduled} operations were due and never sent: every slot was taken until the end"),
                Some("the response times of these would have been the longest; allow more in flight or offer less"),
            ),
            Caveat::FewAboveQuantile { quantile, above } => (
                format!("only {above} operations lie above p{}: it is a guess", quantile_name(*quantile)),
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
                format!("{count} of {ended} operations did not succeed, mostly {most_frequent}; their times are among those shown"),
                Some("see the table of errors"),
            ),
            Caveat::Retransmissions { count, calls } => (
                format!("{count} of {calls} calls were sent again because no reply came in time"),
                Some("look for loss on the network (netstat -su) or lower the load"),
            ),
            Caveat::LateReplies { count } => (
                format!("{count} replies came for calls that were already answered or given up"),
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
                (format!("the run was interrupted after {:.2} s", *after_ns as f64 / 1e9), None)
            }
            Caveat::TargetLost { message } => (
                format!("the run ended early: {message}"),
                Some("what was measured up to then is kept"),
            ),
            Caveat::LedgerOutOfBalance { missing, scheduled } => (
                format!("internal error: {missing} of {scheduled} operations are unaccounted for"),
                Some("please report this with the record (--output DIR)"),
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
        assert_eq!(what, "offered 20000 operations/s, achieved 17312 (86.6 %)");
        assert!(help.is_some_and(|help| help.contains("--in-flight")));
        assert_eq!(quantile_name(0.9999), "99.99");
    }
}
