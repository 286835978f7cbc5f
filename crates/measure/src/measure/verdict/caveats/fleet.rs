//! Finds caveats of fleets: clients that gave up, and settings that were changed.

use crate::measure::caveat::Caveat;
use crate::measure::fleet_record::{ClientState, FleetRecord, SettingsGeneration};
use crate::measure::run_record::{Phase, RunRecord};

/// Returns the caveats that only fleets have.
pub fn find(record: &RunRecord, fleet: &FleetRecord) -> Vec<Caveat> {
    let caveats = [of_lost(fleet), of_changed_settings(record)];
    caveats.into_iter().flatten().collect()
}

/// Finds clients that gave up: their load is missing after that.
fn of_lost(fleet: &FleetRecord) -> Option<Caveat> {
    let states = fleet.groups.iter().flat_map(|group| &group.states);
    let failed = states.filter(|count| count.state == ClientState::Failed);
    let lost: u64 = failed.map(|count| u64::from(count.clients)).sum();
    let clients = fleet.groups.iter().map(|group| u64::from(group.clients));
    let first = fleet.lost.first();
    (lost > 0).then(|| Caveat::ClientsLost {
        lost,
        clients: clients.sum(),
        first: first.map_or("its connection was given up".into(), |first| {
            first.reason.clone()
        }),
    })
}

/// Finds changes during the measurement. Earlier changes that all clients had applied from its
/// start mix nothing.
fn of_changed_settings(record: &RunRecord) -> Option<Caveat> {
    let measured = record.intervals.iter();
    let measured = measured.filter(|interval| interval.phase == Phase::Measure);
    let all = measured.filter_map(|interval| interval.settings);
    let all = all.reduce(SettingsGeneration::and)?;
    let changes = u64::from(all.generation.saturating_sub(all.oldest()));
    (changes > 0).then_some(Caveat::SettingsChanged { changes })
}
