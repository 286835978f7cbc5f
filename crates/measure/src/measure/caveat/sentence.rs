//! Sentences for caveats, with their figures, and what to do about each.

mod clients;
mod cost;
mod curve;
mod hosts;
mod load;
mod mix;
mod progress;

use super::Caveat;
use crate::measure::losses::LossRecord;
use filestone_workload::text::{thousands, time_text};

/// Returns the sentence of a caveat, with its figures.
pub fn of(caveat: &Caveat) -> String {
    match caveat {
        Caveat::WaitedForProcessor { worker, waited_percent } => waited(*worker, *waited_percent),
        Caveat::WaitedForOwnThreads { threads, processors, waited_percent } => {
            waited_for_own(*threads, *processors, *waited_percent)
        }
        Caveat::TransferBeyondServer { size_bytes, server_max_bytes } => transfer(*size_bytes, *server_max_bytes),
        Caveat::ShortReads { count, reads, mean_bytes, size_bytes } => format!(
            "at least {}: {mean_bytes:.0} bytes on average, of {} asked for",
            of_all(*count, *reads, "READs were cut short by the end of the file"),
            thousands(u64::from(*size_bytes))
        ),
        Caveat::DispatchDelay { mean_ns, response_time_mean_ns } => dispatch_delay(*mean_ns, *response_time_mean_ns),
        Caveat::AchievedBelowOffered { .. } | Caveat::AchievedAboveOffered { .. } | Caveat::Outlasted { .. } | Caveat::RateMissed { .. }
        | Caveat::GeneratorWasTheLimit { .. } => load::of(caveat).unwrap_or_default(),
        Caveat::Skipped { count, scheduled } => of_all(*count, *scheduled, SKIPPED),
        Caveat::FewAboveQuantile { quantile, above, count, from_ns, to_ns } => {
            few_above(*quantile, *above, *count, [*from_ns, *to_ns])
        }
        Caveat::DebugBuild => DEBUG_BUILD.into(),
        Caveat::SlowClock { source, read_ns } => slow_clock(source, *read_ns),
        Caveat::Loopback { built_in: true } => {
            "the built-in server shares this host's processors with the load generator: this measures the tool, not a server".into()
        }
        Caveat::Loopback { built_in: false } => {
            "the server shares this host with the load generator: both compete for the processors and no wire is involved".into()
        }
        Caveat::UnexpectedOutcomes { count, completed, outcomes } => load::unexpected(*count, *completed, outcomes),
        Caveat::Forged { count } => forged(*count),
        Caveat::Retransmissions { count, calls } => {
            of_all(*count, *calls, "calls were sent again because no reply came in time")
        }
        Caveat::LateReplies { count } => late_replies(*count),
        Caveat::WireDiffers { .. } | Caveat::InterfaceNotQuiet { .. } | Caveat::ServerCallsDiffer { .. }
        | Caveat::ReadingsFailed { .. } => cost::of(caveat).unwrap_or_default(),
        Caveat::LongListings { count, excess_bytes_max } => long_listings(*count, *excess_bytes_max),
        Caveat::NotTheUser { user } => not_the_user(user),
        Caveat::Reconnected { times, unusable_ns, losses } => reconnected(*times, *unusable_ns, losses),
        Caveat::ConnectionsLost { count, clients } => of_all(*count, *clients, NOT_BACK),
        Caveat::Jukebox { calls, pauses_ns } => jukebox(*calls, *pauses_ns),
        Caveat::Interrupted { after_ns } => format!("the run was interrupted after {:.3} s", seconds(*after_ns)),
        Caveat::TargetLost { message } => format!("the run ended early: {message}"),
        Caveat::LedgerOutOfBalance { missing, scheduled } => {
            format!("internal error: {missing} of {scheduled} operations are unaccounted for")
        }
        Caveat::LeftBehind { path, reason } => format!("{path} could not be removed: {reason}"),
        Caveat::NothingChecked => NOTHING_CHECKED.into(),
        Caveat::NotSeenOnTheWire { directory } => format!(
            "{directory}: system calls were made and no counters looked at: what reached a server, if there is one, is not known"
        ),
        Caveat::MixInvalid { .. }
        | Caveat::NotCaused { .. }
        | Caveat::MixOff { .. }
        | Caveat::LittlesLaw { .. }
        | Caveat::Drift { .. }
        | Caveat::UnmeasuredLoad { .. }
        | Caveat::FileSetStillClaimed { .. } => mix::of(caveat).unwrap_or_default(),
        Caveat::ShortRun { window_ns } => format!("the measured window is only {:.3} s long", seconds(*window_ns)),
        Caveat::ClientsLost { .. } | Caveat::SettingsChanged { .. } => clients::of(caveat).unwrap_or_default(),
        Caveat::HostLost { .. } | Caveat::MayShareHost { .. } | Caveat::HostDiffers { .. } | Caveat::HostDoubtful { .. }
        | Caveat::StartsApart { .. } => hosts::of(caveat).unwrap_or_default(),
        Caveat::LongInterval { .. } | Caveat::DidNotRun { .. } | Caveat::NothingCompleted { .. } => {
            progress::of(caveat).unwrap_or_default()
        }
        Caveat::PointsNotSteady { .. } | Caveat::PointsBelowOffered { .. } | Caveat::PointsWaited { .. } | Caveat::PointsTooShort { .. }
        | Caveat::StretchesTooShort { .. } | Caveat::PeakOfGenerator { .. } | Caveat::PeakUnfinished { .. } => {
            curve::of(caveat).unwrap_or_default()
        }
    }
}

/// Returns why a run is invalid, in a few words with the figure. Caveats of valid runs have no such
/// text; their sentence is returned.
pub fn reason(caveat: &Caveat) -> String {
    match caveat {
        Caveat::LedgerOutOfBalance { missing, scheduled } => of_all(
            missing.unsigned_abs(),
            *scheduled,
            "operations are unaccounted for",
        ),
        Caveat::TargetLost { .. } => "the target was lost".into(),
        Caveat::MixInvalid { off_by_percent } => format!("the mix is off by {off_by_percent:.1} %"),
        Caveat::LittlesLaw {
            in_flight_mean,
            in_flight_by_littles_law,
        } => format!(
            "{in_flight_mean:.2} operations were in flight, {in_flight_by_littles_law:.2} by Little's law"
        ),
        Caveat::DispatchDelay { .. } => format!(
            "dispatch delay is {:.0} % of the response time",
            caveat.extent().unwrap_or_default()
        ),
        Caveat::UnexpectedOutcomes { outcomes, .. } => {
            let percent = caveat.extent().unwrap_or_default();
            load::unexpected_share(percent, outcomes)
        }
        _ => of(caveat),
    }
}

/// Returns what to do about it, if there is something.
pub fn help_for(caveat: &Caveat) -> Option<&'static str> {
    Some(match caveat {
        Caveat::WaitedForProcessor { .. } => WAITED_HELP,
        Caveat::WaitedForOwnThreads { .. } => WAITED_FOR_OWN_HELP,
        Caveat::TransferBeyondServer { .. } => {
            "use a --size that the server takes: an NFS server answers more with less, an SMB server refuses it"
        }
        Caveat::ShortReads { .. } => {
            "use a --size that the files are multiples of, or larger files: the rate is that of smaller READs"
        }
        Caveat::DispatchDelay { .. } => {
            "leave a processor to the load generator, use --busy-poll, or lower the load"
        }
        Caveat::AchievedBelowOffered { .. }
        | Caveat::AchievedAboveOffered { .. }
        | Caveat::Outlasted { .. }
        | Caveat::RateMissed { .. }
        | Caveat::GeneratorWasTheLimit { .. } => return load::help_for(caveat),
        Caveat::Skipped { .. } => {
            "the response times of these would have been the longest; allow more in flight or offer less"
        }
        Caveat::FewAboveQuantile { .. } => {
            "run longer (--duration) before quoting it, or a percentile above it; ~ marks them"
        }
        Caveat::DebugBuild => "build with --release",
        Caveat::SlowClock { source, .. } => faster_clock(source),
        Caveat::Loopback { built_in: true } => "name a target, such as nfs://server/export",
        Caveat::Loopback { built_in: false } | Caveat::MayShareHost { .. } => {
            "run the load generator on another host for figures to publish"
        }
        Caveat::UnexpectedOutcomes { outcomes, .. } => load::help_for_errors(outcomes),
        Caveat::Forged { .. } => FORGED_HELP,
        Caveat::Retransmissions { .. } => RETRANSMISSIONS_HELP,
        Caveat::LateReplies { .. } => "raise --timeout, or look for a server that answers twice",
        Caveat::WireDiffers { .. }
        | Caveat::InterfaceNotQuiet { .. }
        | Caveat::ServerCallsDiffer { .. }
        | Caveat::ReadingsFailed { .. } => return cost::help_for(caveat),
        Caveat::LongListings { .. } => LONG_LISTINGS_HELP,
        Caveat::NotTheUser { .. } => NOT_THE_USER_HELP,
        Caveat::Reconnected { .. } => RECONNECTED_HELP,
        Caveat::ConnectionsLost { .. } => NOT_BACK_HELP,
        Caveat::Jukebox { .. } => JUKEBOX_HELP,
        Caveat::TargetLost { .. } => "what was measured up to then is kept",
        Caveat::LedgerOutOfBalance { .. } => "please report this with the record (--output DIR)",
        Caveat::LeftBehind { .. } => {
            "--remove-leftover removes what this run made there, and nothing else"
        }
        Caveat::NotSeenOnTheWire { .. } => {
            "on an NFS mount, leave the feedback on: it shows what is asked beside what is seen"
        }
        Caveat::MixInvalid { .. }
        | Caveat::NotCaused { .. }
        | Caveat::MixOff { .. }
        | Caveat::LittlesLaw { .. }
        | Caveat::Drift { .. }
        | Caveat::UnmeasuredLoad { .. }
        | Caveat::FileSetStillClaimed { .. } => return mix::help_for(caveat),
        Caveat::ShortRun { .. } => "run for at least a second",
        _ => {
            let other = clients::help_for(caveat).or_else(|| hosts::help_for(caveat));
            let other = other.or_else(|| progress::help_for(caveat));
            return other.or_else(|| curve::help_for(caveat));
        }
    })
}

const FORGED_HELP: &str = "something changes messages on the way, or answers in the server's place; \
     none of them was taken for an answer";
const NOT_THE_USER_HELP: &str = "a guest has other rights than the user, and its messages are neither \
     signed nor encrypted; check the name and the password, or leave the user out";
/// Maximum number of reasons for losses in a sentence; the record has all of them.
const REASONS_SHOWN: usize = 3;
const RECONNECTED_HELP: &str = "what was cut off is disconnected in the ledger; what was due meanwhile \
     waited for a connection, though no slot was missing, and that is part of its slot wait; calls of a \
     replay went out again, and the wait is in their response times";
const SKIPPED: &str = "operations were due and never sent: every slot was taken, or the connection \
     down, until the end";
const NOTHING_CHECKED: &str =
    "bare TCP only carries bytes: no result was compared with the load file";
const NOT_BACK: &str = "clients lost their connections and did not get them back";
const NOT_BACK_HELP: &str =
    "the others went on (--on-lost); what these had due is skipped or was not due any more";
const WAITED_HELP: &str = "stop other programs, give the load generator a processor of its own \
     (--pin), or use another host";
const WAITED_FOR_OWN_HELP: &str = "use more hosts, or fewer clients or workers on this one";

fn forged(count: u64) -> String {
    let were = match count {
        1 => "1 operation was".into(),
        count => format!("{} operations were", thousands(count)),
    };
    format!("{were} answered with a missing or wrong signature")
}

fn waited(thread: u32, percent: f64) -> String {
    format!(
        "thread {thread} of the load generator was ready to run but had no processor for {percent:.0} % of the time: other programs slowed it"
    )
}

fn waited_for_own(threads: u32, processors: u32, percent: f64) -> String {
    format!(
        "the load generator's {threads} threads were ready to run but had no processor for {percent:.0} % of the time: they share {processors} with each other, and that wait is in the response times"
    )
}

fn transfer(size_bytes: u64, server_max_bytes: u64) -> String {
    format!(
        "calls asked for {} bytes, but the server says it moves at most {} at a time",
        thousands(size_bytes),
        thousands(server_max_bytes)
    )
}

fn late_replies(count: u64) -> String {
    format!(
        "{} replies came for calls that were already answered or given up",
        thousands(count)
    )
}

fn slow_clock(source: &str, read_ns: f64) -> String {
    format!(
        "reading the clock ({source}) takes {read_ns:.0} ns, which adds to every batch of replies"
    )
}

const RETRANSMISSIONS_HELP: &str = "look for loss on the network (netstat -su) or lower the load";

const LONG_LISTINGS_HELP: &str = "they count as answered; a client that holds its server to RFC 1813, section 3.3.16, would refuse them";

fn long_listings(count: u64, excess_bytes_max: u64) -> String {
    format!(
        "{} replies to READDIR or READDIRPLUS held more entries than asked for, by up to {} bytes",
        thousands(count),
        thousands(excess_bytes_max)
    )
}

const DEBUG_BUILD: &str =
    "this is a debug build: its own costs are several times those of a release build";
const JUKEBOX_HELP: &str = "their lengths are the client's, not the server's; look for what keeps \
     the server (a tape, a lease, its grace period)";

fn jukebox(calls: u64, pauses_ns: u64) -> String {
    format!(
        "the server answered {} calls with NFS3ERR_JUKEBOX; the pauses before they were made again, {:.2} s together, are in the response times",
        thousands(calls),
        seconds(pauses_ns)
    )
}

fn not_the_user(user: &str) -> String {
    format!("the run asked for the user {user}, and the server let its clients in as guests")
}

fn reconnected(times: u64, unusable_ns: u64, losses: &[LossRecord]) -> String {
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

fn dispatch_delay(mean_ns: f64, response_time_mean_ns: f64) -> String {
    format!(
        "operations left {} late on average by our own fault, {:.1} % of the mean response time of {}",
        time_text(mean_ns),
        100.0 * mean_ns / response_time_mean_ns.max(1.0),
        time_text(response_time_mean_ns)
    )
}

/// Older records have no interval.
fn few_above(quantile: f64, above: u64, count: u64, [from_ns, to_ns]: [u64; 2]) -> String {
    let name = quantile_name(quantile);
    let lie = match above {
        1 => "1 operation lies".into(),
        above => format!("{} operations lie", thousands(above)),
    };
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

/// Formats `3 of 1,000 operations …`.
fn of_all(count: u64, all: u64, what: &str) -> String {
    format!("{} of {} {what}", thousands(count), thousands(all))
}

/// Formats a load: `12,000/s`.
fn per_second(load: f64) -> String {
    format!("{}/s", thousands(load.max(0.0).round() as u64))
}

fn seconds(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}

/// Formats 0.999 as `99.9`.
pub fn quantile_name(quantile: f64) -> String {
    let percent = (quantile * 1e6).round() / 1e4;
    format!("{percent}")
}

/// Returns what to do about a clock that is slow to read.
fn faster_clock(source: &str) -> &'static str {
    match source {
        // Linux's names of the counters of x86 and Arm CPUs.
        "tsc" | "arch_sys_counter" => {
            "there is no better clock source than this one: a virtual machine that traps its reads, \
             a processor at a low frequency or a debug build makes it slow"
        }
        _ => "use a host whose clock source is the processor's own counter, such as tsc",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caveat_is_a_sentence_with_its_figures() {
        let (what, help) = Caveat::AchievedBelowOffered {
            offered_load_ops_per_s: 20_000.0,
            achieved_load_ops_per_s: 17_312.0,
            cause: None,
        }
        .sentence();
        assert_eq!(
            what,
            "offered 20,000 operations/s, achieved 17,312 (86.6 %)"
        );
        assert!(help.is_some_and(|help| help.contains("--in-flight")));
        assert_eq!(quantile_name(0.9999), "99.99");
    }

    #[test]
    fn a_slow_clock_is_told_to_be_what_it_is_not_already() {
        let help = |source: &str| {
            let source = source.to_string();
            let read_ns = 61.0;
            Caveat::SlowClock { source, read_ns }.sentence().1
        };
        let says = |source, word| help(source).is_some_and(|help| help.contains(word));
        assert!(says("hpet", "such as tsc"));
        for best in ["tsc", "arch_sys_counter"] {
            assert!(says(best, "no better clock source"), "{best}");
            assert!(!says(best, "use a host"), "{best}");
        }
    }
}
