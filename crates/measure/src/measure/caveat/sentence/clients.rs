//! Caveats about single clients of a run: early end, or changed settings.

use crate::measure::caveat::Caveat;
use filestone_workload::text::counted;

/// Returns the sentence, if the caveat is one of these.
pub fn of(caveat: &Caveat) -> Option<String> {
    match caveat {
        Caveat::ClientsLost {
            lost,
            clients,
            first,
        } => Some(format!(
            "{lost} of {clients} clients ended early; the first because {first}"
        )),
        Caveat::SettingsChanged { changes } => Some(format!(
            "clients were changed {} while they were measured: totals are of all their settings together",
            counted(*changes, "time")
        )),
        _ => None,
    }
}

/// Returns what to do about it.
pub const fn help_for(caveat: &Caveat) -> Option<&'static str> {
    match caveat {
        Caveat::ClientsLost { .. } => Some("its load is missing from the numbers after that"),
        Caveat::SettingsChanged { .. } => Some(
            "the table of changes says when; rows and intervals that have one number of settings are of these alone",
        ),
        _ => None,
    }
}
