//! What is doubtful about what operations are said to cost.

use crate::measure::caveat::Caveat;

/// The sentence, if it is one of these.
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

/// What to do about it.
pub fn help_for(caveat: &Caveat) -> Option<&'static str> {
    match caveat {
        Caveat::WireDiffers { .. } => Some(
            "an interface that cuts packets itself counts fewer (ip link set DEVICE gso_max_segs 1); over \
             TCP calls in flight share segments; other traffic counts, too",
        ),
        Caveat::ReadingsFailed { .. } => {
            Some("what was read at other moments is kept; a longer --cost-interval asks less often")
        }
        _ => None,
    }
}
