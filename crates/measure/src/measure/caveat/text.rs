//! Texts of caveats that take more than a line, and their parts.

use crate::measure::absence::AbsenceCause;
use crate::measure::host_difference::HostDifference;
use crate::measure::losses::LossRecord;
use filestone_workload::operation::OpKind;
use filestone_workload::text::{counted, thousands, time_text};

pub const STOPPED_ADVICE: &str = "it was stopped (SIGSTOP, a debugger), frozen or suspended, or its host was; what was due then \
     was late or not sent: run again without that";
pub const OTHER_HOST_ADVICE: &str = "run the load generator on another host for figures to publish";
/// Maximum number of reasons for losses in a sentence; the record has all of them.
const REASONS_SHOWN: usize = 3;

/// Formats `3 of 1,000 operations …`.
pub fn of_all(count: u64, all: u64, what: &str) -> String {
    format!("{} of {} {what}", thousands(count), thousands(all))
}

/// Formats a load: `12,000/s`.
pub fn per_second(load: f64) -> String {
    format!("{}/s", thousands(load.max(0.0).round() as u64))
}

pub fn seconds(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}

/// Formats `3 of 10 load points …`.
pub fn of_points([points, of]: [u64; 2], first_ops_per_s: f64, what: &str) -> String {
    format!(
        "{points} of {of} load points {what}, the first of them offered {}",
        per_second(first_ops_per_s)
    )
}

pub fn long_interval(from_ns: u64, length_ns: u64, planned_ns: u64, count: u64) -> String {
    let more = match count {
        0 | 1 => String::new(),
        count => format!(" (and {} more)", thousands(count - 1)),
    };
    format!(
        "the interval that began at {:.1} s lasted {:.1} s instead of {:.1} s{more}: the load generator did not run",
        seconds(from_ns),
        seconds(length_ns),
        seconds(planned_ns)
    )
}

pub fn did_not_run(
    cause: AbsenceCause,
    percent: f64,
    [from_ns, length_ns]: [u64; 2],
    [throttled_periods, periods]: [u64; 2],
) -> String {
    match cause {
        AbsenceCause::Quota => format!(
            "the CPU quota of its control group kept the load generator from running for {percent:.0} % of the time (throttled in {} of {} periods)",
            thousands(throttled_periods),
            thousands(periods)
        ),
        AbsenceCause::Stolen => format!(
            "other virtual machines had {percent:.0} % of the time of this host's processors (steal)"
        ),
        AbsenceCause::Stopped => format!(
            "the load generator did not run for {percent:.0} % of the time, at the longest for {:.1} s from {:.1} s on",
            seconds(length_ns),
            seconds(from_ns)
        ),
    }
}

pub fn nothing_completed(
    [from_ns, to_ns]: [u64; 2],
    failed: u64,
    stretches: u64,
    total_ns: u64,
) -> String {
    let failed = match failed {
        0 => String::new(),
        failed => format!("; {} failed in that time", counted(failed, "operation")),
    };
    let more = match stretches {
        0 | 1 => String::new(),
        stretches => format!(
            " ({} such stretches, {:.1} s together)",
            thousands(stretches),
            seconds(total_ns)
        ),
    };
    format!(
        "nothing completed from {:.1} s to {:.1} s{more}{failed}",
        seconds(from_ns),
        seconds(to_ns)
    )
}

/// Older records have no interval.
pub fn few_above(quantile: f64, above: u64, count: u64, [from_ns, to_ns]: [u64; 2]) -> String {
    // 0.999 is p99.9.
    let name = (quantile * 1e6).round() / 1e4;
    let lie = if above == 1 { "lies" } else { "lie" };
    let lie = format!("{} {lie}", counted(above, "operation"));
    let interval = match to_ns {
        _ if from_ns == to_ns => String::new(),
        0 => format!(": over {} (95 %)", time_text(from_ns as f64)),
        // Without operations above it, the sample gives no upper end of the interval of ranks.
        _ if above == 0 => String::new(),
        _ => format!(
            ": between {} and {} (95 %)",
            time_text(from_ns as f64),
            time_text(to_ns as f64)
        ),
    };
    match count {
        0 => format!("p{name} is a guess: {lie} above it"),
        1 => format!("p{name} of 1 operation is a guess; {lie} above it"),
        count => format!(
            "p{name} of {} operations is a guess{interval}; {lie} above it",
            thousands(count)
        ),
    }
}

pub fn reconnected(times: u64, unusable_ns: u64, losses: &[LossRecord]) -> String {
    let shown = losses.iter().take(REASONS_SHOWN);
    let reasons: Vec<String> = shown
        .map(|loss| format!("{} times because {}", thousands(loss.count), loss.reason))
        .collect();
    let reasons = if reasons.is_empty() {
        String::new()
    } else {
        format!(" ({})", reasons.join("; "))
    };
    format!(
        "connections were lost and made again {times} times{reasons}; together they were unusable for {:.2} s",
        seconds(unusable_ns)
    )
}

pub fn peak_unfinished(peak_ops_per_s: f64) -> String {
    if peak_ops_per_s <= 0.0 {
        return "the search for the peak was broken off before a load was known to be kept up with"
            .into();
    }
    format!(
        "the search for the peak was broken off; {} is the highest load known to be kept up with",
        per_second(peak_ops_per_s)
    )
}

pub fn not_caused(operation: OpKind, [wanted, at_most]: [f64; 2], others: &[OpKind]) -> String {
    let others = match others {
        [] => String::new(),
        others => {
            let names: Vec<&str> = others.iter().map(|kind| kind.name()).collect();
            format!(", nor {} as often as the mix wants", names.join(", "))
        }
    };
    format!(
        "this client cannot be made to ask {} more than {at_most:.1} times per second, of {wanted:.1} that the mix wants{others}",
        operation.name()
    )
}

pub fn host_differs(host: &str, difference: HostDifference, figure: f64, median: f64) -> String {
    match difference {
        HostDifference::Slower => format!(
            "host {host} saw a mean response time of {}, the others of {} (median)",
            time_text(figure),
            time_text(median)
        ),
        HostDifference::Later => format!(
            "host {host} sent 1 % of its operations later than {} after they were due and ready, the others than {} (median)",
            time_text(figure),
            time_text(median)
        ),
        HostDifference::Less => format!(
            "host {host} achieved {} operations/s with each of its clients, the others {} (median)",
            thousands(figure.round() as u64),
            thousands(median.round() as u64)
        ),
    }
}
