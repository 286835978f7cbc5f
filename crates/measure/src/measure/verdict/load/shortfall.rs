//! Determines the cause of a shortfall.

use super::generator_use;
use crate::measure::caveat::thresholds::BUSY_PERCENT;
use crate::measure::flow::{LittlesLaw, SLOTS_TAKEN_PERCENT};
use crate::measure::run_record::RunRecord;
use crate::measure::shortfall::Shortfall;

/// Share of the response time above which the load generator's delay explains the shortfall.
const DISPATCH_SHARE: f64 = 0.5;
/// Share of the shortfall above which the time of connections that were down explains it.
const DOWN_SHARE: f64 = 0.5;

/// Returns the cause, for a run that achieved less than `least` of the due load.
pub(super) fn of(record: &RunRecord, due_ops_per_s: f64, least: f64) -> Shortfall {
    let totals = &record.totals;
    let seconds = record.window_ns.max(1) as f64 / 1e9;
    let achieved = super::achieved_load_ops_per_s(record);
    let unsuccessful = totals.ledger.unsuccessful();
    if achieved + unsuccessful as f64 / seconds >= least * due_ops_per_s {
        return if mostly_jukebox(record) {
            Shortfall::Jukebox
        } else {
            Shortfall::Errors
        };
    }
    let missing_s = seconds * (1.0 - achieved / due_ops_per_s);
    let down_s = totals.disconnected_ns as f64 / 1e9 / f64::from(record.plan.clients.max(1));
    if down_s > DOWN_SHARE * missing_s {
        return Shortfall::Connection;
    }
    if is_generator_behind(record) {
        return Shortfall::Generator;
    }
    if LittlesLaw::of(record).takes(SLOTS_TAKEN_PERCENT) {
        return Shortfall::Slots;
    }
    Shortfall::Server
}

/// Returns why the warm-up left operations over that ended in the window.
pub fn of_warm_up(record: &RunRecord) -> Shortfall {
    if is_generator_behind(record) {
        Shortfall::Generator
    } else {
        Shortfall::Server
    }
}

/// Returns whether the load generator had no CPU time left, or sent operations so late that the
/// delay is most of their response times.
pub(in crate::measure::verdict) fn is_generator_behind(record: &RunRecord) -> bool {
    let totals = &record.totals;
    let is_busy = generator_use(record).is_some_and(|used| used.percent >= BUSY_PERCENT);
    let (late, response) = (totals.dispatch_delay_ns.mean, totals.response_time_ns.mean);
    is_busy || late > DISPATCH_SHARE * response
}

/// Returns whether most failures are NFS3ERR_JUKEBOX.
fn mostly_jukebox(record: &RunRecord) -> bool {
    let failures = record.totals.kinds.iter().flat_map(|kind| &kind.failures);
    let (jukebox, all) = failures.fold((0u64, 0u64), |(jukebox, all), failure| {
        let is_jukebox = failure.failure.starts_with("NFS3ERR_JUKEBOX");
        (
            jukebox + failure.count * u64::from(is_jukebox),
            all + failure.count,
        )
    });
    2 * jukebox > all
}
