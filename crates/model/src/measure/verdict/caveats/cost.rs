//! Reasons to doubt what operations are said to cost.

use crate::cost::{CostRecord, WireCostRecord};
use crate::measure::caveat::Caveat;

/// Bytes that were counted may differ from those of the model by so much.
pub const WIRE_OFF_PERCENT: f64 = 1.0;

/// What is doubtful about readings, and about the wire.
pub fn find(cost: &CostRecord) -> Vec<Caveat> {
    let failed = cost.sources.iter().filter(|source| source.failed > 0);
    let failed = failed.map(|source| Caveat::ReadingsFailed {
        source_name: source.name.clone(),
        failed: source.failed,
        tried: source.failed + source.readings.len() as u64,
        reason: source.first_failure.clone().unwrap_or_default(),
    });
    failed.chain(cost.wire.as_ref().and_then(differs)).collect()
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
