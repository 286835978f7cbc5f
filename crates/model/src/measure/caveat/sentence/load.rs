//! The caveats about a load that was another one than the one offered.

use super::Caveat;
use crate::measure::shortfall::Shortfall;
use crate::text::{counted, thousands};

/// What NFS3ERR_JUKEBOX means, and why a load generator without patience counts it as an error.
const JUKEBOX_HELP: &str = "NFS3ERR_JUKEBOX: the server asks the client to wait and to ask again; probes and mixes count \
     it as an error and go on. Look for what keeps the server (a tape, a lease, its grace period)";

/// What to do about errors of which this one was the most frequent.
pub(super) fn help_for_errors(most_frequent: &str) -> &'static str {
    if most_frequent.starts_with("NFS3ERR_JUKEBOX") {
        JUKEBOX_HELP
    } else {
        "see the table of errors"
    }
}

/// What is to be doubted, if it is about the load.
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

/// What to do about it.
pub(super) fn help_for(caveat: &Caveat) -> Option<&'static str> {
    Some(match caveat {
        Caveat::Outlasted { .. } => {
            "operations/s say little: run for many times as long as one takes (--duration), or for a \
             count of them (--count)"
        }
        Caveat::AchievedBelowOffered { cause, .. } => match cause {
            Some(Shortfall::Errors) => {
                "see the table of errors; less load does not help against them"
            }
            Some(Shortfall::Jukebox) => JUKEBOX_HELP,
            Some(Shortfall::Connection) => {
                "see how often and for how long connections were down; look at the network"
            }
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

const fn because(cause: Shortfall) -> &'static str {
    match cause {
        Shortfall::Errors | Shortfall::Jukebox => ": the rest ended with errors",
        Shortfall::Connection => ": connections were down",
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
