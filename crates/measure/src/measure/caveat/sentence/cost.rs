//! Caveats about the cost of operations.

use crate::measure::caveat::Caveat;
use filestone_workload::text::thousands;

/// Returns the sentence, if the caveat is one of these.
pub fn of(caveat: &Caveat) -> Option<String> {
    match caveat {
        Caveat::WireDiffers {
            interface,
            counted_bytes_per_operation: counted,
            difference_percent,
        } => Some(format!(
            "{interface} counted {counted:.1} bytes for each operation, {difference_percent:+.1} % of what \
             the messages come to"
        )),
        Caveat::InterfaceNotQuiet {
            interface,
            idle_bytes_per_s,
            percent_of_load,
        } => Some(format!(
            "{interface} carried {} bytes/s before the run, when nothing was sent: {percent_of_load:.1} % of what \
             it carried in the run",
            thousands(idle_bytes_per_s.round() as u64)
        )),
        Caveat::ServerCallsDiffer {
            counted,
            made,
            difference_percent,
        } => Some(format!(
            "the server's kernel counted {} calls while {} were made, {difference_percent:+.1} %",
            thousands(*counted),
            thousands(*made)
        )),
        Caveat::ReadingsFailed {
            source_name,
            failed,
            tried,
            reason,
        } => Some(format!(
            "{failed} of {tried} readings of {source_name} failed; the first with {reason}"
        )),
        _ => None,
    }
}

/// Returns what to do about it.
pub fn help_for(caveat: &Caveat) -> Option<&'static str> {
    match caveat {
        Caveat::WireDiffers { .. } => Some(
            "an interface that cuts packets itself counts fewer (ip link set DEVICE gso_max_segs 1); over \
             TCP calls in flight share segments; other traffic counts, too",
        ),
        Caveat::InterfaceNotQuiet { .. } => Some(
            "other traffic counts, too, as far as it comes and goes; use a link of its own, or wait until it is quiet",
        ),
        Caveat::ServerCallsDiffer { .. } => Some(
            "another client uses the server, or calls were lost or received twice: what the server did is not all \
             for this run",
        ),
        Caveat::ReadingsFailed { .. } => {
            Some("what was read at other moments is kept; a longer --cost-interval asks less often")
        }
        _ => None,
    }
}
