//! Caveats of a mix in addition to its checks: procedures that could not be called often enough,
//! and operations that keep the file set in its proportions.

use crate::measure::caveat::Caveat;
use crate::measure::caveat::thresholds::UNMEASURED_PERCENT;
use crate::measure::mix_record::{WireLimitRecord, WireRecord};
use crate::measure::run_record::{KindRecord, RunRecord};
use filestone_workload::recording::sample::Role;

/// Returns the caveat about procedures that the kernel's client could not be made to call, with the
/// largest shortfall first.
pub(super) fn not_caused(wire: &WireRecord) -> Option<Caveat> {
    let missing = |limit: &WireLimitRecord| limit.wanted_per_s - limit.at_most_per_s;
    let mut limits = wire.limits.clone();
    limits.sort_by(|one, other| missing(other).total_cmp(&missing(one)));
    let most = limits.first()?;
    Some(Caveat::NotCaused {
        operation: most.operation,
        wanted_per_s: most.wanted_per_s,
        at_most_per_s: most.at_most_per_s,
        others: limits.iter().skip(1).map(|limit| limit.operation).collect(),
    })
}

pub(super) fn find_unmeasured(record: &RunRecord, caveats: &mut Vec<Caveat>) {
    let kinds = &record.totals.kinds;
    let unmeasured: Vec<&KindRecord> = kinds
        .iter()
        .filter(|kind| kind.role == Role::Unmeasured)
        .collect();
    let calls: u64 = unmeasured.iter().map(|kind| kind.calls).sum();
    let all_calls: u64 = kinds.iter().map(|kind| kind.calls).sum();
    if calls * 100 > all_calls * UNMEASURED_PERCENT {
        caveats.push(Caveat::UnmeasuredLoad { calls, all_calls });
    }
}

#[cfg(test)]
pub(crate) mod tests;
