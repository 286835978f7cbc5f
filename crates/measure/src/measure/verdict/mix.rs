//! Checks of a mix: whether its shares are as requested, whether it was steady, and whether counts
//! and times are consistent.

use super::{Bound, Check, CheckSubject, InconclusiveReason, STANDARD_ERRORS, ShareDeviation};
use crate::measure::caveat::thresholds::{
    DRIFT_PERCENT, INVALID_PERCENT, LITTLE_PERCENT, OFF_SHARE,
};
use crate::measure::mix_record::{MixRecord, ThirdRecord};
use crate::measure::run_record::RunRecord;
use filestone_plan::mix::shuffled_mix::CARDS;
use filestone_workload::operation::OpKind;

/// Number of standard deviations that chance explains.
const DEVIATIONS: f64 = 3.0;
/// Part of a share from which the effect of chance makes a check inconclusive.
const CHANCE_MAX: f64 = 0.25;
/// Maximum duration of an operation as a share of the window, for which the ends of the window do
/// not matter.
const OVERHANG_SHARE: f64 = 0.01;
/// Minimum number of batches in a third for an estimate of their variance.
const BATCHES_MIN: u64 = 6;

/// An operation of the mix.
#[derive(Debug, Clone, Copy)]
struct Row {
    operation: OpKind,
    want_percent: f64,
    got_percent: f64,
    count: u64,
}

impl Row {
    /// Returns the difference between the count and the operation's share of `all`.
    fn off(&self, all: u64) -> f64 {
        self.count as f64 - self.expected(all)
    }

    fn expected(&self, all: u64) -> f64 {
        all as f64 * self.want_percent / 100.0
    }

    /// Returns the permitted deviation of the count, with `all` operations: 2 % of the share, or
    /// more if the shuffled decks of `clients` clients explain more.
    ///
    /// At any moment a client is at some position within a deck. After k of its n cards, a kind
    /// with share p has kp cards with the variance kp(1 − p)(n − k)/(n − 1), averaged over all k
    /// np(1 − p)/6. Up to one card is carried over to the next deck, uniformly distributed: 1/3.
    /// Both count twice, for the start and the end of the window.
    ///
    /// For calls of a kernel's client, which have other causes, too, it is 2 % of all calls, or
    /// more if chance explains more.
    fn allowed(&self, all: u64, clients: Option<u32>) -> f64 {
        let by_chance = DEVIATIONS * self.deviation(all, clients);
        match clients {
            Some(_) => (OFF_SHARE * self.expected(all)).max(by_chance),
            None => (OFF_SHARE * all as f64).max(by_chance),
        }
    }

    /// Returns the standard deviation of the count, from the decks of `clients` clients or, on the
    /// network, from chance.
    fn deviation(&self, all: u64, clients: Option<u32>) -> f64 {
        let share = self.want_percent / 100.0;
        let variance = match clients {
            Some(clients) => {
                let of_client = CARDS as f64 * share * (1.0 - share) / 6.0 + 1.0 / 3.0;
                2.0 * f64::from(clients) * of_client
            }
            None => all as f64 * share * (1.0 - share),
        };
        variance.sqrt()
    }
}

/// Returns the shares that are checked: those on the network, if they were counted.
fn rows(mix: &MixRecord) -> Vec<Row> {
    let row = |operation, [want_percent, got_percent]: [f64; 2], count| Row {
        operation,
        want_percent,
        got_percent,
        count,
    };
    match &mix.wire {
        Some(wire) => {
            let rows = wire.operations.iter();
            rows.map(|of| {
                row(
                    of.operation,
                    [of.expected_percent, of.actual_percent],
                    of.seen,
                )
            })
            .collect()
        }
        None => {
            let rows = mix.operations.iter();
            rows.map(|of| {
                row(
                    of.operation,
                    [of.expected_percent, of.actual_percent],
                    of.count,
                )
            })
            .collect()
        }
    }
}

/// Checks requested and achieved shares of all operations together: nhfsstone's rule. Inconclusive
/// if chance explains the deviation, with few operations.
pub(super) fn in_all(record: &RunRecord, mix: &MixRecord) -> Check {
    let bound = Bound::at_most(INVALID_PERCENT);
    let (rows, all, clients) = counts(record, mix);
    let check = Check::judged(CheckSubject::MixInAll, mix.off_by(), bound, 0.0);
    let deviations = rows.iter().map(|row| row.deviation(all, clients));
    let chance = 100.0 * deviations.sum::<f64>() / all.max(1) as f64;
    let is_untold = check.fails() && bound.holds(check.figure - chance);
    let times = (2.0 * chance / INVALID_PERCENT).max(1.0);
    check.unless(is_untold.then_some(InconclusiveReason::TooShort { times }))
}

/// Returns the shares that are checked, the number of operations, and the number of clients that
/// shuffled them; `None` on the network, where a kernel made the calls.
fn counts(record: &RunRecord, mix: &MixRecord) -> (Vec<Row>, u64, Option<u32>) {
    let rows = rows(mix);
    match &mix.wire {
        Some(wire) => (rows, wire.calls, None),
        None => {
            let all = rows.iter().map(|row| row.count).sum();
            (rows, all, Some(record.plan.clients))
        }
    }
}

/// Checks the operation with the largest deviation, relative to the permitted one; `None` without
/// operations.
pub(super) fn worst_share(record: &RunRecord, mix: &MixRecord) -> Option<Check> {
    let (rows, all, clients) = counts(record, mix);
    if all == 0 {
        return None;
    }
    let limits = mix.wire.iter().flat_map(|wire| &wire.limits);
    let limited: Vec<OpKind> = limits.map(|limit| limit.operation).collect();
    let beyond = |row: &Row| row.off(all).abs() / row.allowed(all, clients);
    let judged = rows.iter().filter(|row| !limited.contains(&row.operation));
    let judged: Vec<&Row> = judged
        .filter(|row| row.want_percent > 0.0 || row.count > 0)
        .collect();
    let worst = judged
        .iter()
        .max_by(|one, other| beyond(one).total_cmp(&beyond(other)))?;
    let figures = ShareDeviation {
        operation: worst.operation,
        want_percent: worst.want_percent,
        got_percent: worst.got_percent,
        off: judged.iter().filter(|row| beyond(row) > 1.0).count() as u64,
        of: rows.len() as u64,
    };
    Some(match clients {
        None => {
            let percent = |count: f64| 100.0 * count / all as f64;
            let bound = Bound::around(0.0, percent(worst.allowed(all, None)));
            let subject = CheckSubject::MixOnWireOf(figures);
            Check::judged(subject, percent(worst.off(all)), bound, 0.0)
        }
        Some(count) => of_share(worst, figures, all, count),
    })
}

/// Checks an operation against its share. Inconclusive if the number of operations is so small that
/// shuffling explains a large part of the share.
fn of_share(worst: &Row, figures: ShareDeviation, all: u64, clients: u32) -> Check {
    let expected = worst.expected(all).max(f64::MIN_POSITIVE);
    let percent = |count: f64| 100.0 * count / expected;
    let bound = Bound::around(0.0, percent(worst.allowed(all, Some(clients))));
    let check = Check::judged(
        CheckSubject::MixOf(figures),
        percent(worst.off(all)),
        bound,
        0.0,
    );
    let by_decks = DEVIATIONS * worst.deviation(all, Some(clients)) / expected;
    let times = by_decks / CHANCE_MAX;
    let is_untold = !check.fails() && times > 1.0;
    check.unless(is_untold.then_some(InconclusiveReason::TooShort { times }))
}

/// Returns the minimum and maximum number of operations in flight by Little's law.
///
/// The load generator counts an operation as in flight from the moment it is passed to its
/// connection, but the service time begins with the send; the time between is part of the dispatch
/// delay. The count is therefore between achieved load × service time and achieved load × (service
/// time + dispatch delay). Over SMB a connection may hold operations until the server grants
/// credits for them. These are in flight, and are added; operations that wait for a slot are not in
/// flight. Older records do not distinguish these waits, so all of them may have been for credits.
///
/// Operations that end after the window are counted until its end, but have their whole service
/// time in the sum: each may take the longest one beyond the window, where a server pauses.
pub fn in_flight_by_law(record: &RunRecord, mix: &MixRecord) -> (f64, f64) {
    let window_ns = record.window_ns.max(1) as f64;
    let totals = &record.totals;
    let after = totals.left_over(record.window_ns).min(0).unsigned_abs() as f64;
    let beyond = after * totals.service_time_ns.max as f64 / window_ns;
    let most = mix.in_flight_by_littles_law;
    let least = (most - beyond).max(0.0);
    let late = totals.dispatch_delay_ns.sum as f64 / window_ns;
    let held = if record.plan.target.grants_credits() {
        let waited = totals.slot_wait_ns.sum as f64 / window_ns;
        totals.held_mean.unwrap_or(waited)
    } else {
        0.0
    };
    (least, most + late + held)
}

/// Checks that in flight = load × time in flight (Little 1961). The law holds for any system that
/// is observed as a whole; otherwise a count is wrong or missing. The figure is the distance of the
/// count from the range that the law permits.
///
/// A lost connection holds operations that are not sent. Overload does not break the law:
/// operations due before the window and sent in it, after waiting for a slot, are part of the
/// overhang, too.
pub(super) fn in_flight(record: &RunRecord, mix: &MixRecord) -> Option<Check> {
    let counted = mix.in_flight_mean;
    let (least, most) = in_flight_by_law(record, mix);
    if counted <= 0.0 || mix.in_flight_by_littles_law <= 0.0 {
        return None;
    }
    let subject = CheckSubject::InFlight {
        counted,
        least,
        most,
    };
    let percent = 100.0 * (counted / counted.max(least).min(most) - 1.0);
    let chance = 100.0 * overhang(record) / mix.in_flight_by_littles_law;
    let check = Check::judged(subject, percent, Bound::around(0.0, LITTLE_PERCENT), chance);
    let totals = &record.totals;
    let overhang_max_ns = OVERHANG_SHARE * record.window_ns.max(1) as f64;
    Some(if totals.reconnections + totals.lost_clients > 0 {
        check.unless(Some(InconclusiveReason::ConnectionLost))
    } else if totals.response_time_ns.mean >= overhang_max_ns {
        check.unless(Some(InconclusiveReason::WarmUpBacklog))
    } else {
        check
    })
}

/// Returns half of the 95 % interval of the overhang at the ends of the window, in mean operations
/// in flight.
///
/// An operation sent before the window is counted in flight but not in the sums; one that completes
/// after it is in the sums in full. With λ sent per second and service time S, the sum of their
/// remaining times at a moment has the variance λE[S³]/3 (M/G/∞), and there are two ends.
fn overhang(record: &RunRecord) -> f64 {
    let window_ns = record.window_ns.max(1) as f64;
    let kinds = record.totals.kinds.iter();
    let cubes: f64 = kinds.map(|kind| kind.service_time_ns.moment_sum(3)).sum();
    let variance = 2.0 * cubes / window_ns / 3.0;
    STANDARD_ERRORS * variance.sqrt() / window_ns
}

/// Checks that the response times of the first and the last third are equal.
pub(super) fn steady(mix: &MixRecord) -> Option<Check> {
    let [first, _, last] = mix.thirds.as_slice() else {
        return None;
    };
    if first.response_time_mean_ns <= 0.0 || first.ended == 0 || last.ended == 0 {
        return None;
    }
    let percent = |nanos: f64| 100.0 * nanos / first.response_time_mean_ns;
    let drift = last.response_time_mean_ns - first.response_time_mean_ns;
    let chance = STANDARD_ERRORS * first.standard_error_ns.hypot(last.standard_error_ns);
    let subject = CheckSubject::SteadyState {
        first_ns: first.response_time_mean_ns,
        last_ns: last.response_time_mean_ns,
    };
    let bound = Bound::around(0.0, DRIFT_PERCENT);
    let check = Check::judged(subject, percent(drift), bound, percent(chance));
    let fewest = first.batches.min(last.batches);
    let times = BATCHES_MIN as f64 / fewest.max(1) as f64;
    // Older records have no number of batches, but a standard error.
    let is_told =
        |third: &ThirdRecord| third.batches >= BATCHES_MIN || third.standard_error_ns > 0.0;
    let is_untold = !(is_told(first) && is_told(last)) || (fewest > 0 && fewest < BATCHES_MIN);
    Some(check.unless(is_untold.then_some(InconclusiveReason::TooShort { times })))
}
