//! What is to be doubted in a mix: whether it is the mix that was asked for, whether it was
//! steady, and whether the counts and the times of it agree.

use super::Caveat;
use super::find::ABOVE_MIN;
use crate::measure::mix_record::{MixRecord, ThirdRecord, WireLimitRecord, WireRecord};
use crate::measure::run_record::{KindRecord, Phase, RunRecord};
use crate::measure::sample::Role;
use crate::mix::deck::CARDS;
use crate::operation::OpKind;

/// nhfsstone's limit for the sum of |got − want| over all operations.
const INVALID_PERCENT: f64 = 10.0;
/// An operation's count may be so far from its share, of the share.
pub const OFF_SHARE: f64 = 0.02;
/// Chance explains so many standard deviations.
const DEVIATIONS: f64 = 3.0;
/// Little's law may be missed by so much.
pub const LITTLE_SHARE: f64 = 0.05;
/// How much of the window an operation may take for what hangs over at its ends not to matter.
const OVERHANG_SHARE: f64 = 0.01;
/// A change from the first third to the last above this is a drift.
pub const DRIFT_SHARE: f64 = 0.1;
/// Standard errors on either side that hold a difference with 95 % confidence.
const STANDARD_ERRORS: f64 = 1.959_964;
/// Intervals from which each third has two, and so a standard error.
const INTERVALS_MIN: usize = 6;
/// Companions above this share of all calls are a load of their own.
const COMPANION_PERCENT: u64 = 2;
/// The percentiles that are shown of each operation: one in how many lies above them.
const SHOWN: [(f64, u64); 4] = [(0.5, 2), (0.9, 10), (0.95, 20), (0.99, 100)];

/// The reasons to doubt a mix.
pub(super) fn find(record: &RunRecord, mix: &MixRecord, caveats: &mut Vec<Caveat>) {
    find_shares(record, mix, caveats);
    find_companions(record, caveats);
    caveats.extend(littles_law(record, mix));
    caveats.extend(drift(record, mix));
    caveats.extend(few_above(record));
}

/// One operation's part in the mix.
#[derive(Debug, Clone, Copy)]
struct Row {
    operation: OpKind,
    want_percent: f64,
    got_percent: f64,
    count: u64,
}

impl Row {
    /// How many more there are than its share of `all`.
    fn off(&self, all: u64) -> f64 {
        self.count as f64 - self.expected(all)
    }

    fn expected(&self, all: u64) -> f64 {
        all as f64 * self.want_percent / 100.0
    }

    /// How many more or fewer there may be of `all`: 2 % of its share, or what the decks of so
    /// many clients explain if that is more.
    ///
    /// At any moment a client is somewhere within a deck. After k of its n cards a kind with
    /// share p has kp cards with the variance kp(1 − p)(n − k)/(n − 1), on average over all k
    /// np(1 − p)/6; and up to a card more or less is carried over to the next deck, evenly
    /// spread: 1/3. This counts twice, for a window begins and ends somewhere.
    ///
    /// On the wire of a kernel's client, where calls come about in other ways, too, it is 2 % of
    /// all calls, or what chance explains if that is more.
    fn allowed(&self, all: u64, clients: Option<u32>) -> f64 {
        let share = self.want_percent / 100.0;
        let Some(clients) = clients else {
            let deviation = (all as f64 * share * (1.0 - share)).sqrt();
            return (OFF_SHARE * all as f64).max(DEVIATIONS * deviation);
        };
        let of_client = CARDS as f64 * share * (1.0 - share) / 6.0 + 1.0 / 3.0;
        let deviation = (2.0 * f64::from(clients) * of_client).sqrt();
        (OFF_SHARE * self.expected(all)).max(DEVIATIONS * deviation)
    }
}

/// The shares that count: those on the wire, where they could be seen.
fn rows(mix: &MixRecord) -> Vec<Row> {
    match &mix.wire {
        Some(wire) => wire
            .operations
            .iter()
            .map(|row| Row {
                operation: row.operation,
                want_percent: row.want_percent,
                got_percent: row.got_percent,
                count: row.seen,
            })
            .collect(),
        None => mix
            .operations
            .iter()
            .map(|row| Row {
                operation: row.operation,
                want_percent: row.want_percent,
                got_percent: row.got_percent,
                count: row.count,
            })
            .collect(),
    }
}

fn find_shares(record: &RunRecord, mix: &MixRecord, caveats: &mut Vec<Caveat>) {
    let off_by_percent = mix.off_by();
    if off_by_percent > INVALID_PERCENT {
        caveats.push(Caveat::MixInvalid { off_by_percent });
    }
    let rows = rows(mix);
    let (all, clients) = match &mix.wire {
        Some(wire) => (wire.calls, None),
        None => (
            rows.iter().map(|row| row.count).sum(),
            Some(record.plan.clients),
        ),
    };
    let limits = mix.wire.iter().flat_map(|wire| &wire.limits);
    let limited: Vec<OpKind> = limits.map(|limit| limit.operation).collect();
    caveats.extend(mix.wire.as_ref().and_then(not_caused));
    // Of nothing, no operation is more off than another.
    if all == 0 {
        return;
    }
    let beyond = |row: &Row| row.off(all).abs() / row.allowed(all, clients);
    let is_off = |row: &&Row| beyond(row) > 1.0 && !limited.contains(&row.operation);
    let off: Vec<&Row> = rows.iter().filter(is_off).collect();
    let worst = off
        .iter()
        .max_by(|one, other| beyond(one).total_cmp(&beyond(other)));
    if let Some(worst) = worst {
        caveats.push(Caveat::MixOff {
            operation: worst.operation,
            want_percent: worst.want_percent,
            got_percent: worst.got_percent,
            operations: off.len() as u64,
            of: rows.len() as u64,
        });
    }
}

/// What the kernel's client could not be made to call, the most wanted of it first.
fn not_caused(wire: &WireRecord) -> Option<Caveat> {
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

fn find_companions(record: &RunRecord, caveats: &mut Vec<Caveat>) {
    let kinds = &record.totals.kinds;
    let companions: Vec<&KindRecord> = kinds
        .iter()
        .filter(|kind| kind.role == Role::Companion)
        .collect();
    let calls: u64 = companions.iter().map(|kind| kind.calls).sum();
    let all_calls: u64 = kinds.iter().map(|kind| kind.calls).sum();
    if calls * 100 > all_calls * COMPANION_PERCENT {
        caveats.push(Caveat::CompanionLoad { calls, all_calls });
    }
    let ended: u64 = companions.iter().map(|kind| kind.ledger.ended()).sum();
    let count = ended - companions.iter().map(|kind| kind.ledger.ok).sum::<u64>();
    if count > 0 {
        caveats.push(Caveat::CompanionsUnsuccessful {
            count,
            ended,
            most_frequent: super::find::most_frequent(record, Role::Companion),
        });
    }
}

/// Operations in flight, the fewest and the most, by Little's law.
///
/// The load generator counts an operation as in flight from when it hands it to its connection,
/// the service time begins when it is sent; what lies between is part of the dispatch delay.
/// So what was counted is between achieved load × service time and achieved load × (service
/// time + dispatch delay).
pub fn in_flight_by_law(record: &RunRecord, mix: &MixRecord) -> (f64, f64) {
    let window_ns = record.window_ns.max(1) as f64;
    let least = mix.in_flight_by_littles_law;
    let delay = record.totals.dispatch_delay_ns.sum as f64 / window_ns;
    (least, least + delay)
}

/// Whether counts and times agree. A connection that was lost holds operations that are not
/// sent.
fn littles_law(record: &RunRecord, mix: &MixRecord) -> Option<Caveat> {
    let counted = mix.in_flight_mean;
    let (least, most) = in_flight_by_law(record, mix);
    let is_off = counted < (1.0 - LITTLE_SHARE) * least || counted > (1.0 + LITTLE_SHARE) * most;
    (is_off && is_littles_law_told(record, mix)).then_some(Caveat::LittlesLaw {
        in_flight_mean: counted,
        in_flight_by_littles_law: least,
    })
}

/// Whether Little's law can be held against a run: not if what hangs over at the ends of the
/// window matters, nor if a connection was lost. What was due before the window and sent in it,
/// after waiting for a slot, hangs over, too: overload does not break the law.
pub fn is_littles_law_told(record: &RunRecord, mix: &MixRecord) -> bool {
    let totals = &record.totals;
    let is_long_enough =
        totals.response_time_ns.mean < OVERHANG_SHARE * record.window_ns.max(1) as f64;
    mix.in_flight_mean > 0.0
        && mix.in_flight_by_littles_law > 0.0
        && is_long_enough
        && totals.reconnections == 0
}

/// Whether it can be told if the load was steady: from so many intervals that chance is known.
/// A load that is steered is not meant to be steady.
pub fn is_steadiness_told(record: &RunRecord, mix: &MixRecord) -> bool {
    let [first, _, last] = mix.thirds.as_slice() else {
        return false;
    };
    let measured = record.intervals.iter();
    let intervals = measured.filter(|interval| interval.phase == Phase::Measure);
    record.plan.steering.is_none()
        && intervals.count() >= INTERVALS_MIN
        && first.ended > 0
        && last.ended > 0
}

fn drift(record: &RunRecord, mix: &MixRecord) -> Option<Caveat> {
    let [first, _, last] = mix.thirds.as_slice() else {
        return None;
    };
    if !is_steadiness_told(record, mix) {
        return None;
    }
    let variance = |third: &ThirdRecord| third.standard_error_ns.powi(2);
    let chance = STANDARD_ERRORS * (variance(first) + variance(last)).sqrt();
    let change = (last.response_time_mean_ns - first.response_time_mean_ns).abs();
    let is_drift = change > DRIFT_SHARE * first.response_time_mean_ns && change > chance;
    is_drift.then_some(Caveat::Drift {
        first_third_mean_ns: first.response_time_mean_ns,
        last_third_mean_ns: last.response_time_mean_ns,
    })
}

/// The kind with the fewest operations, if they are too few for a percentile that is shown.
fn few_above(record: &RunRecord) -> Option<Caveat> {
    let kinds = record.totals.kinds.iter();
    let measured: Vec<(OpKind, u64)> = kinds
        .filter(|kind| kind.role == Role::Measured && kind.response_time_ns.count > 0)
        .map(|kind| (kind.operation, kind.response_time_ns.count))
        .collect();
    let lacking = |count: u64| {
        let mut shown = SHOWN.into_iter();
        shown.find(|(_, one_in)| count / one_in < ABOVE_MIN)
    };
    let (operation, ended) = measured.iter().copied().min_by_key(|(_, count)| *count)?;
    let (quantile, one_in) = lacking(ended)?;
    let operations = measured
        .iter()
        .filter(|(_, count)| lacking(*count).is_some());
    Some(Caveat::FewAboveQuantileOf {
        operation,
        quantile,
        above: ended / one_in,
        ended,
        operations: operations.count() as u64,
        of: measured.len() as u64,
    })
}

#[cfg(test)]
pub(super) mod tests;
