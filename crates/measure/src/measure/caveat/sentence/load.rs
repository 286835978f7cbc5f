//! Caveats about an achieved load that differs from the offered one.

use super::Caveat;
use crate::measure::outcome_count::{OutcomeCount, percent};
use crate::measure::shortfall::Shortfall;
use filestone_workload::text::{counted, thousands, time_text};

/// Meaning of NFS3ERR_JUKEBOX, and why a load generator that does not retry counts it as an error.
const JUKEBOX_HELP: &str = "NFS3ERR_JUKEBOX: the server asks the client to wait and to ask again; probes and mixes count \
     it as an error and go on. Look for what keeps the server (a tape, a lease, its grace period)";

const LINK_HELP: &str = "ask for less, or use a faster link or a second one";

/// Returns what to do about operations with these outcomes, the most frequent first.
pub(super) fn help_for_errors(outcomes: &[OutcomeCount]) -> &'static str {
    let most_frequent = outcomes.first();
    if most_frequent.is_some_and(|most| most.outcome.starts_with("NFS3ERR_JUKEBOX")) {
        JUKEBOX_HELP
    } else {
        "see the table of errors, or of mismatches; --expect STATUS names failures that are wanted"
    }
}

/// Maximum number of outcomes named in a sentence.
const NAMED_MAX: usize = 4;

/// Describes the number of operations with an unexpected outcome, and the outcomes.
pub(super) fn unexpected(count: u64, completed: u64, outcomes: &[OutcomeCount]) -> String {
    let share = percent(count, completed);
    let mut text = format!(
        "{} of {} operations ({share:.1} %) ended otherwise than expected",
        thousands(count),
        thousands(completed)
    );
    let named = outcomes.iter().take(NAMED_MAX).map(|one| {
        let (outcome, operation) = (&one.outcome, one.operation.name());
        format!("{} {outcome} of {operation}", thousands(one.count))
    });
    let mut ways: Vec<String> = named.collect();
    if let Some(more) = outcomes
        .len()
        .checked_sub(NAMED_MAX)
        .filter(|more| *more > 0)
    {
        ways.push(format!("{} more", counted(more as u64, "way")));
    }
    if !ways.is_empty() {
        text.push_str(&format!(": {}", ways.join(", ")));
    }
    text
}

/// Describes the share of unexpected outcomes as the reason why a run is invalid.
pub(super) fn unexpected_share(percent: f64, outcomes: &[OutcomeCount]) -> String {
    let most = outcomes.first().map_or_else(String::new, |most| {
        format!(", mostly {} of {}", most.outcome, most.operation.name())
    });
    format!("{percent:.1} % of the operations ended otherwise than expected{most}")
}

/// Returns the sentence, if the caveat is about the load.
pub(super) fn of(caveat: &Caveat) -> Option<String> {
    Some(match caveat {
        Caveat::AchievedBelowOffered {
            offered_load_ops_per_s,
            achieved_load_ops_per_s,
            cause,
        } => format!(
            "{}{}",
            achieved(*offered_load_ops_per_s, *achieved_load_ops_per_s),
            cause.map_or("", because)
        ),
        Caveat::AchievedAboveOffered {
            offered_load_ops_per_s,
            achieved_load_ops_per_s,
            left_over,
            ..
        } => {
            let achieved = achieved(*offered_load_ops_per_s, *achieved_load_ops_per_s);
            match left_over {
                0 => achieved,
                count => format!(
                    "{achieved}: {} operations of the warm-up were worked off in the window",
                    thousands(*count)
                ),
            }
        }
        Caveat::GeneratorWasTheLimit {
            busy_percent,
            workers,
            processors: Some(processors),
            ..
        } => format!(
            "the {workers} workers used {busy_percent:.0} % of the {} that they may use, so the load generator was the limit, or near it",
            processors_text(*processors)
        ),
        Caveat::GeneratorWasTheLimit {
            worker,
            busy_percent,
            workers,
            ..
        } => format!(
            "worker {worker} of {workers} was busy {busy_percent:.0} % of the time, so the load generator was the limit, or near it"
        ),
        Caveat::RateMissed {
            who,
            kept_percent,
            service_time_mean_ns,
            cause,
        } => format!(
            "{who} kept {kept_percent:.1} % of the rate asked for{}",
            because_of_rate(*cause, *service_time_mean_ns)
        ),
        Caveat::Outlasted {
            ended,
            slots,
            window_ns,
        } => format!(
            "{} ended in the window of {:.3} s, in which {} may be in flight: a response takes \
             longer than the window is",
            counted(*ended, "operation"),
            *window_ns as f64 / 1e9,
            thousands(*slots)
        ),
        _ => return None,
    })
}

/// Returns what to do about it.
pub(super) fn help_for(caveat: &Caveat) -> Option<&'static str> {
    Some(match caveat {
        Caveat::Outlasted { .. } => {
            "operations/s say little: run for many times as long as one takes (--duration), or for a \
             count of them (--count)"
        }
        Caveat::GeneratorWasTheLimit {
            processors: Some(_),
            ..
        } => "use a host with more processors, or a second one; compare with `filestone calibrate`",
        Caveat::GeneratorWasTheLimit { .. } => {
            "use more workers (--workers) or a second host; compare with `filestone calibrate`"
        }
        Caveat::RateMissed { cause, .. } => match cause {
            Shortfall::Link => LINK_HELP,
            Shortfall::Errors | Shortfall::Jukebox => "see the table of errors",
            Shortfall::Connection => "see how often and for how long connections were down",
            Shortfall::Generator => {
                "ask for less (--rate), or use more workers (--workers) or a second host"
            }
            Shortfall::Slots | Shortfall::Server => {
                "ask for less (--rate), use longer transfers (--size, read_size, write_size), or more clients \
                 with a part of the rate each; clients make up for one second of what is late at most, so slot \
                 wait does not grow beyond that"
            }
        },
        Caveat::AchievedBelowOffered { cause, .. } => match cause {
            Some(Shortfall::Errors) => {
                "see the table of errors; less load does not help against them"
            }
            Some(Shortfall::Jukebox) => JUKEBOX_HELP,
            Some(Shortfall::Connection) => {
                "see how often and for how long connections were down; look at the network"
            }
            Some(Shortfall::Link) => LINK_HELP,
            Some(Shortfall::Generator) => {
                "leave a processor to the load generator, use more workers (--workers) or a second host"
            }
            Some(Shortfall::Slots) => {
                "allow more calls in flight (--in-flight; where a client does one thing after the \
                 other, --clients): if no more is achieved then, it is the server; or offer less"
            }
            Some(Shortfall::Server) | None => {
                "offer less, or allow more calls in flight (--in-flight) if slot wait is high"
            }
        },
        Caveat::AchievedAboveOffered { left_over: 0, .. } => {
            "run longer; the load comes near to what is offered with every correction"
        }
        Caveat::AchievedAboveOffered {
            cause: Some(Shortfall::Generator),
            ..
        } => {
            "the load generator did not keep up in the warm-up: leave a processor to it, warm up for \
             longer (--warm-up), or offer less"
        }
        Caveat::AchievedAboveOffered { .. } => {
            "the server did not keep up in the warm-up: warm up for longer (--warm-up), or offer less"
        }
        _ => return None,
    })
}

/// Formats `2 processors`, or `0.5 processors` of a quota.
fn processors_text(processors: f64) -> String {
    let number = ((processors * 100.0).round() / 100.0).to_string();
    let unit = if number == "1" {
        "processor"
    } else {
        "processors"
    };
    format!("{number} {unit}")
}

/// Describes the cause; a client of a fleet or of a replay has one transfer in flight at a time.
fn because_of_rate(cause: Shortfall, service_time_mean_ns: f64) -> String {
    match cause {
        Shortfall::Slots | Shortfall::Server => format!(
            ": a client has one transfer under way at a time, and the server took {} for each on average",
            time_text(service_time_mean_ns)
        ),
        cause => because(cause).into(),
    }
}

const fn because(cause: Shortfall) -> &'static str {
    match cause {
        Shortfall::Errors | Shortfall::Jukebox => ": the rest ended with errors",
        Shortfall::Connection => ": connections were down",
        Shortfall::Link => ": the link to the server was full",
        Shortfall::Generator => ": the load generator did not keep up",
        Shortfall::Slots => ": as many operations were in flight as may be",
        Shortfall::Server => ": the server did not keep up",
    }
}

fn achieved(offered: f64, achieved: f64) -> String {
    format!(
        "offered {} operations/s, achieved {} ({:.1} %)",
        thousands(offered.round() as u64),
        thousands(achieved.round() as u64),
        100.0 * achieved / offered.max(f64::MIN_POSITIVE)
    )
}
