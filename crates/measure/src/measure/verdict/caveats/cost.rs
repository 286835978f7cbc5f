//! Reasons to doubt what operations are said to cost.

use crate::cost::{CallsRecord, CostRecord, WireCostRecord};
use crate::measure::caveat::Caveat;

/// Bytes that were counted may differ from those of the model by so much.
pub const WIRE_OFF_PERCENT: f64 = 1.0;
/// Calls that the server counted may differ from those that were made by so much.
pub const CALLS_OFF_PERCENT: f64 = 0.1;
/// Before a run so much may go through the interface, of what goes through it in the run.
pub const IDLE_TRAFFIC_PERCENT: f64 = 1.0;
/// What hosts say to each other anyway, such as who has which address.
const IDLE_BYTES_PER_S: f64 = 200.0;

/// What is doubtful about readings, and about the wire.
pub fn find(cost: &CostRecord) -> Vec<Caveat> {
    let failed = cost.sources.iter().filter(|source| source.failed > 0);
    let failed = failed.map(|source| Caveat::ReadingsFailed {
        source_name: source.name.clone(),
        failed: source.failed,
        tried: source.failed + source.readings.len() as u64,
        reason: source.first_failure.clone().unwrap_or_default(),
    });
    let wire = cost.wire.as_ref();
    failed
        .chain(wire.and_then(differs))
        .chain(wire.and_then(carries_more))
        .chain(cost.calls.as_ref().and_then(counts_other))
        .collect()
}

/// Whether others use the interface, by what went through it before the run.
fn carries_more(wire: &WireCostRecord) -> Option<Caveat> {
    let (idle, load) = wire.idle_bytes_per_s.zip(wire.load_bytes_per_s)?;
    let percent = 100.0 * idle / load.max(1.0);
    let is_busy = idle > IDLE_BYTES_PER_S && percent > IDLE_TRAFFIC_PERCENT;
    is_busy.then(|| Caveat::InterfaceNotQuiet {
        interface: wire.interface.clone(),
        idle_bytes_per_s: idle,
        percent_of_load: percent,
    })
}

/// Whether the server's kernel counted other calls than were made. One that counted less than half of
/// them is not the server that was called.
fn counts_other(calls: &CallsRecord) -> Option<Caveat> {
    let counted = calls.counted as f64;
    let most = calls.made * CALLS_OFF_PERCENT / 100.0 + calls.uncertainty;
    let is_server = counted > calls.made / 2.0;
    let is_off = (counted - calls.made).abs() > most;
    (is_server && is_off).then(|| Caveat::ServerCallsDiffer {
        counted: calls.counted,
        made: calls.made.round() as u64,
        difference_percent: 100.0 * (counted - calls.made) / calls.made.max(1.0),
    })
}

/// A difference that the interval of what was counted explains says nothing.
fn differs(wire: &WireCostRecord) -> Option<Caveat> {
    let (counted, percent) = wire.bytes_per_operation.zip(wire.difference_percent)?;
    let by_chance = 100.0 * counted.half_width / counted.value.abs().max(1.0);
    (percent.abs() - by_chance > WIRE_OFF_PERCENT).then(|| Caveat::WireDiffers {
        interface: wire.interface.clone(),
        counted_bytes_per_operation: counted.value,
        difference_percent: percent,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of 100,000 calls 100 are a thousandth, and 50 more were in flight.
    #[test]
    fn calls_of_another_server_say_nothing_and_fewer_are_told_as_more_are() {
        let is_told = |counted| {
            let calls = CallsRecord {
                counted,
                made: 100_000.0,
                uncertainty: 50.0,
            };
            counts_other(&calls).is_some()
        };
        assert_eq!(
            [99_849, 99_851, 100_149, 100_151].map(is_told),
            [true, false, false, true]
        );
        // A server in the kernel that runs beside the one that is called.
        assert_eq!([0, 40_000, 60_000].map(is_told), [false, false, true]);
    }

    /// A link that carries next to nothing: 150 bytes a second are what hosts say to each other.
    #[test]
    fn what_hosts_say_to_each_other_anyway_is_no_other_traffic() {
        let is_told = |idle, load| {
            let wire = WireCostRecord {
                idle_bytes_per_s: Some(idle),
                load_bytes_per_s: Some(load),
                ..WireCostRecord::default()
            };
            carries_more(&wire).is_some()
        };
        assert!(!is_told(150.0, 1000.0) && is_told(250.0, 1000.0));
        assert!(!is_told(9000.0, 1e6) && is_told(11_000.0, 1e6));
    }
}
