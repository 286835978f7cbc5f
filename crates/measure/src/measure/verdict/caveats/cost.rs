//! Finds caveats about the cost of operations.

use crate::cost::{CallsRecord, CostRecord, WireCostRecord};
use crate::measure::caveat::Caveat;
use crate::measure::caveat::thresholds::{
    CALLS_OFF_PERCENT, IDLE_TRAFFIC_PERCENT, WIRE_OFF_PERCENT,
};

/// Traffic between idle hosts, such as ARP, in bytes per second.
const IDLE_BYTES_PER_S: f64 = 200.0;

/// Returns the caveats about readings and network traffic.
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

/// Returns the caveat if others use the interface, from the traffic before the run.
fn carries_more(wire: &WireCostRecord) -> Option<Caveat> {
    let (idle, percent) = other_traffic(wire)?;
    Some(Caveat::InterfaceNotQuiet {
        interface: wire.interface.clone(),
        idle_bytes_per_s: idle,
        percent_of_load: percent,
    })
}

/// Returns the other traffic in bytes per second and in percent of the traffic under load, if it
/// exceeds the traffic between idle hosts.
fn other_traffic(wire: &WireCostRecord) -> Option<(f64, f64)> {
    let (idle, load) = wire.idle_bytes_per_s.zip(wire.load_bytes_per_s)?;
    let percent = 100.0 * idle / load.max(1.0);
    (idle > IDLE_BYTES_PER_S && percent > IDLE_TRAFFIC_PERCENT).then_some((idle, percent))
}

/// Returns the caveat if the server's kernel counted another number of calls than were made. A
/// kernel that counted less than half of them is not that of the server.
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

/// Returns the caveat of a difference that exceeds the interval of the counts, unless other traffic,
/// which [`carries_more`] reports, may be the cause.
fn differs(wire: &WireCostRecord) -> Option<Caveat> {
    let (counted, percent) = wire.bytes_per_operation.zip(wire.difference_percent)?;
    let by_chance = 100.0 * counted.half_width / counted.value.abs().max(1.0);
    let is_off = percent.abs() - by_chance > WIRE_OFF_PERCENT;
    (is_off && !is_within_other_traffic(wire, percent)).then(|| Caveat::WireDiffers {
        interface: wire.interface.clone(),
        counted_bytes_per_operation: counted.value,
        difference_percent: percent,
    })
}

/// Returns whether other traffic may cause a difference, in percent of the expected bytes. Its rate
/// before the run is subtracted, so its changes remain. A negative count has no other cause.
fn is_within_other_traffic(wire: &WireCostRecord, difference_percent: f64) -> bool {
    let counted_percent = 100.0 + difference_percent;
    other_traffic(wire).is_some_and(|(_, percent_of_load)| {
        counted_percent <= 0.0
            || 100.0 * difference_percent.abs() / counted_percent <= percent_of_load
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::CostEstimate;

    /// 100 of 100,000 calls are a thousandth, and 50 more were in flight.
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
        // A server in the kernel in addition to the one that is called.
        assert_eq!([0, 40_000, 60_000].map(is_told), [false, false, true]);
    }

    /// The difference is 4 and then 40 % of the counted bytes. Others make 10 % of the traffic, or
    /// none.
    #[test]
    fn a_difference_that_other_traffic_may_cause_is_no_caveat_of_its_own() {
        let is_told = |value, difference_percent, idle| {
            let wire = WireCostRecord {
                bytes_per_operation: Some(CostEstimate {
                    value,
                    half_width: 0.1,
                }),
                difference_percent: Some(difference_percent),
                idle_bytes_per_s: Some(idle),
                load_bytes_per_s: Some(1e6),
                ..WireCostRecord::default()
            };
            differs(&wire).is_some()
        };
        let expected = 96.0;
        for (counted, is_told_when_shared) in [(100.0, false), (160.0, true), (-500.0, false)] {
            let percent = 100.0 * (counted - expected) / expected;
            assert!(is_told(counted, percent, 0.0), "{counted}");
            assert_eq!(
                is_told(counted, percent, 1e5),
                is_told_when_shared,
                "{counted}"
            );
        }
    }

    /// A nearly idle link: 150 bytes per second are exchanged by idle hosts.
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
