//! Caveats about the hosts of a job: lost, different from the others, doubtful, or not synchronous.

use crate::measure::HostDifference;
use crate::measure::caveat::Caveat;
use filestone_workload::text::{thousands, time_text};

/// Returns the sentence, if the caveat is one of these.
pub fn of(caveat: &Caveat) -> Option<String> {
    match caveat {
        Caveat::HostLost {
            host,
            phase,
            reason,
        } => Some(format!(
            "host {host} was lost ({phase}): {reason}; nothing of its part is in the numbers"
        )),
        Caveat::MayShareHost { interface } => Some(format!(
            "the server is reached by {interface}, a link between network namespaces of a host, so it may share this host's processors with the load generator"
        )),
        Caveat::HostDiffers {
            host,
            difference,
            figure,
            median,
        } => Some(differs(host, *difference, *figure, *median)),
        Caveat::HostDoubtful { host, caveats } => {
            Some(format!("host {host}: {}", caveats.join("; ")))
        }
        Caveat::StartsApart {
            apart_ns,
            interval_ns,
        } => Some(format!(
            "the hosts may have begun {} apart, which is more than an interval of {}: rows hold what was not at the same time",
            time_text(*apart_ns as f64),
            time_text(*interval_ns as f64)
        )),
        _ => None,
    }
}

fn differs(host: &str, difference: HostDifference, figure: f64, median: f64) -> String {
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

/// Returns what to do about it.
pub const fn help_for(caveat: &Caveat) -> Option<&'static str> {
    match caveat {
        Caveat::HostLost { .. } => Some(
            "look for why it was lost in what mpirun or the batch system said, and run the job again",
        ),
        Caveat::HostDiffers { .. } => Some(
            "compare its processors, its link and its way to the server with the others' (filestone doctor), or leave it out",
        ),
        Caveat::HostDoubtful { .. } => Some("the record has what each host says, under job.hosts"),
        Caveat::StartsApart { .. } => {
            Some("start them together (mpirun), or use longer intervals (--interval)")
        }
        _ => None,
    }
}
