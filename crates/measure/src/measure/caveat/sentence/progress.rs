//! Caveats about parts of a run without progress.

use super::seconds;
use crate::measure::absence::AbsenceCause;
use crate::measure::caveat::Caveat;
use filestone_workload::text::{counted, thousands};

/// Returns the sentence, if the caveat is one of these.
pub fn of(caveat: &Caveat) -> Option<String> {
    Some(match caveat {
        Caveat::LongInterval {
            from_ns,
            length_ns,
            planned_ns,
            count,
        } => {
            let more = match count {
                0 | 1 => String::new(),
                count => format!(" (and {} more)", thousands(count - 1)),
            };
            format!(
                "the interval that began at {:.1} s lasted {:.1} s instead of {:.1} s{more}: the load generator did not run",
                seconds(*from_ns),
                seconds(*length_ns),
                seconds(*planned_ns)
            )
        }
        Caveat::DidNotRun {
            cause,
            percent,
            from_ns,
            length_ns,
            throttled_periods,
            periods,
        } => match cause {
            AbsenceCause::Quota => format!(
                "the CPU quota of its control group kept the load generator from running for {percent:.0} % of the time (throttled in {} of {} periods)",
                thousands(*throttled_periods),
                thousands(*periods)
            ),
            AbsenceCause::Stolen => format!(
                "other virtual machines had {percent:.0} % of the time of this host's processors (steal)"
            ),
            AbsenceCause::Stopped => format!(
                "the load generator did not run for {percent:.0} % of the time, at the longest for {:.1} s from {:.1} s on",
                seconds(*length_ns),
                seconds(*from_ns)
            ),
        },
        Caveat::NothingCompleted {
            from_ns,
            to_ns,
            failed,
            stretches,
            total_ns,
        } => {
            let failed = match failed {
                0 => String::new(),
                failed => format!("; {} failed in that time", counted(*failed, "operation")),
            };
            let more = match stretches {
                0 | 1 => String::new(),
                stretches => format!(
                    " ({} such stretches, {:.1} s together)",
                    thousands(*stretches),
                    seconds(*total_ns)
                ),
            };
            format!(
                "nothing completed from {:.1} s to {:.1} s{more}{failed}",
                seconds(*from_ns),
                seconds(*to_ns)
            )
        }
        _ => return None,
    })
}

/// Returns what to do about it.
pub const fn help_for(caveat: &Caveat) -> Option<&'static str> {
    match caveat {
        Caveat::LongInterval { .. }
        | Caveat::DidNotRun {
            cause: AbsenceCause::Stopped,
            ..
        } => Some(
            "it was stopped (SIGSTOP, a debugger), frozen or suspended, or its host was; what was due then \
             was late or not sent: run again without that",
        ),
        Caveat::DidNotRun {
            cause: AbsenceCause::Quota,
            ..
        } => Some(
            "raise the quota (cpu.max; --cpus of a container, CPUQuota= of a systemd unit), or use another host",
        ),
        Caveat::DidNotRun {
            cause: AbsenceCause::Stolen,
            ..
        } => Some("use a host, or processors, that no other virtual machine shares"),
        Caveat::NothingCompleted { .. } => Some(
            "the server, the way to it or this host stood still; percentiles hide that, because a closed loop \
             sends nothing meanwhile: see over-time.svg (--output)",
        ),
        _ => None,
    }
}
