//! Whether a run of a mix counts: each check with its figure, its bound and its verdict.
//!
//! The same figures are behind the caveats; here all of them are shown, so that a run
//! that counts says why.

use crate::quantity::{grouped, time_text};
use filestone_model::measure::mix_record::{MixOperationRecord, MixRecord, ThirdRecord};
use filestone_model::measure::{Ledger, RunRecord};

/// Sum of the shares' deviations, in percent, above which the mix is another one.
const OFF_BY_MAX: f64 = 2.0;
/// Achieved below this share of what was offered is another load.
const ACHIEVED_MIN: f64 = 98.0;
/// Our own lateness above this share of the response time distorts it.
const DISPATCH_MAX: f64 = 1.0;
/// A worker busier than this was the limit, or near it.
const BUSY_MAX: f64 = 95.0;
/// Two ways to know the operations in flight must agree that well.
const LITTLE_MAX: f64 = 5.0;
/// Drift of the response time from the first third to the last.
const DRIFT_MAX: f64 = 10.0;
/// Standard errors beyond which a drift is no chance, at 95 %.
const STANDARD_ERRORS: f64 = 1.96;
/// Operations above a percentile before it is quoted.
const ABOVE_MIN: u64 = 100;

/// One check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// What is checked.
    pub name: &'static str,
    /// What came out.
    pub figure: String,
    /// What it must be.
    pub bound: String,
    /// Whether it is; `None` if nothing can be said.
    pub holds: Option<bool>,
}

/// All checks of a mix.
pub fn checks(record: &RunRecord, mix: &MixRecord) -> Vec<Check> {
    [
        Some(mix_check(mix)),
        achieved(record),
        dispatch(record),
        busy(record),
        Some(errors(&record.totals.ledger)),
        little(mix),
        steady(&mix.thirds),
        Some(samples(record)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The block of checks.
pub fn render(record: &RunRecord, mix: &MixRecord) -> String {
    table(&checks(record, mix))
}

/// Checks as a table.
pub fn table(checks: &[Check]) -> String {
    let width = checks.iter().map(|check| check.figure.chars().count());
    let width = width.max().unwrap_or(0).max("FIGURE".len());
    let mut text = format!(
        "\n{:<16}{:<width$}  {:<12}VERDICT\n",
        "validity", "FIGURE", "BOUND"
    );
    for check in checks {
        let verdict = match check.holds {
            Some(true) => "holds",
            Some(false) => "FAILS",
            None => "-",
        };
        text.push_str(&format!(
            "{:<16}{:<width$}  {:<12}{verdict}\n",
            check.name, check.figure, check.bound
        ));
    }
    text
}

fn mix_check(mix: &MixRecord) -> Check {
    let deviation = |row: &&MixOperationRecord| (row.got_percent - row.want_percent).abs();
    let most = mix
        .operations
        .iter()
        .max_by(|one, other| deviation(one).total_cmp(&deviation(other)));
    let most = most.map_or_else(String::new, |row| {
        format!(
            "; {} {:.2} % for {:.2} %",
            row.operation.name(),
            row.got_percent,
            row.want_percent
        )
    });
    Check {
        name: "mix",
        figure: format!("off by {:.2} % in all{most}", mix.off_by_percent),
        bound: format!("≤ {OFF_BY_MAX} %"),
        holds: Some(mix.off_by_percent <= OFF_BY_MAX),
    }
}

/// Only of an open loop. Of random arrivals, what came due is what was offered.
fn achieved(record: &RunRecord) -> Option<Check> {
    let totals = &record.totals;
    let offered = totals.offered_load_ops_per_s?;
    let seconds = record.window_ns as f64 / 1e9;
    let due = if seconds > 0.0 {
        offered.min(totals.ledger.scheduled as f64 / seconds)
    } else {
        offered
    };
    let percent = 100.0 * totals.achieved_load_ops_per_s / due.max(f64::MIN_POSITIVE);
    Some(Check {
        name: "achieved",
        figure: format!(
            "{percent:.2} % of the {} operations/s that were due",
            grouped(due.round() as u64)
        ),
        bound: format!("≥ {ACHIEVED_MIN} %"),
        holds: Some(percent >= ACHIEVED_MIN),
    })
}

fn dispatch(record: &RunRecord) -> Option<Check> {
    let totals = &record.totals;
    let (late, response) = (&totals.dispatch_delay_ns, &totals.response_time_ns);
    if late.count == 0 || response.mean <= 0.0 {
        return None;
    }
    let percent = 100.0 * late.mean / response.mean;
    Some(Check {
        name: "dispatch delay",
        figure: format!(
            "mean {}, p99 {}: {percent:.2} % of the response time",
            time_text(late.mean),
            time_text(late.p99 as f64)
        ),
        bound: format!("≤ {DISPATCH_MAX} %"),
        holds: Some(percent <= DISPATCH_MAX),
    })
}

/// How much of the load generator was left.
fn busy(record: &RunRecord) -> Option<Check> {
    let busiest = record
        .totals
        .workers
        .iter()
        .map(|worker| worker.busy_percent)
        .max_by(f64::total_cmp)?;
    let ceiling = record.headroom.as_ref().map_or_else(String::new, |can| {
        format!(
            "; one alone can do {} operations/s",
            grouped(can.engine_ops_per_s.round() as u64)
        )
    });
    Some(Check {
        name: "headroom",
        figure: format!("busiest worker {busiest:.0} % busy{ceiling}"),
        bound: format!("≤ {BUSY_MAX} %"),
        holds: Some(busiest <= BUSY_MAX),
    })
}

fn errors(ledger: &Ledger) -> Check {
    let bad = ledger.failed + ledger.timed_out + ledger.disconnected;
    let skipped = match ledger.skipped {
        0 => String::new(),
        count => format!(", {} never sent", grouped(count)),
    };
    Check {
        name: "errors",
        figure: format!(
            "{} of {} operations{skipped}",
            grouped(bad),
            grouped(ledger.scheduled)
        ),
        bound: "0".into(),
        holds: Some(bad == 0 && ledger.skipped == 0),
    }
}

/// In flight = load × time in flight (Little 1961), which holds for any system that is
/// observed as a whole: where it does not, something was counted wrong or not at all.
fn little(mix: &MixRecord) -> Option<Check> {
    let (counted, law) = (mix.in_flight_mean, mix.in_flight_by_littles_law);
    if counted <= 0.0 || law <= 0.0 {
        return None;
    }
    let percent = 100.0 * (counted / law - 1.0);
    Some(Check {
        name: "in flight",
        figure: format!("{counted:.3} counted, {law:.3} by Little's law: {percent:+.2} %"),
        bound: format!("± {LITTLE_MAX} %"),
        holds: Some(percent.abs() <= LITTLE_MAX),
    })
}

fn steady(thirds: &[ThirdRecord]) -> Option<Check> {
    let (first, last) = (thirds.first()?, thirds.last()?);
    if first.ended == 0 || last.ended == 0 || first.response_time_mean_ns <= 0.0 {
        return None;
    }
    let drift = last.response_time_mean_ns - first.response_time_mean_ns;
    let chance = STANDARD_ERRORS * first.standard_error_ns.hypot(last.standard_error_ns);
    let percent = |nanos: f64| 100.0 * nanos / first.response_time_mean_ns;
    let is_drift = percent(drift).abs() > DRIFT_MAX && drift.abs() > chance;
    Some(Check {
        name: "steady state",
        figure: format!(
            "response time {:+.1} % from the first third to the last, chance ± {:.1} %",
            percent(drift),
            percent(chance)
        ),
        bound: format!("± {DRIFT_MAX} %"),
        holds: Some(!is_drift),
    })
}

/// The highest percentile of the report that has enough operations above it.
fn samples(record: &RunRecord) -> Check {
    let count = record.totals.response_time_ns.count;
    let above = |per: u64| count / per;
    let quotable = [("p99.9", 1000), ("p99", 100), ("p90", 10), ("p50", 2)]
        .into_iter()
        .find(|(_, per)| above(*per) >= ABOVE_MIN);
    let figure = match quotable {
        Some((name, per)) => format!("{} operations above {name}", grouped(above(per))),
        None => format!("only {} operations in all", grouped(count)),
    };
    Check {
        name: "samples",
        figure,
        bound: format!("p99: ≥ {ABOVE_MIN}"),
        holds: Some(above(100) >= ABOVE_MIN),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn little_holds_within_five_percent_only() {
        let mut mix = MixRecord {
            in_flight_mean: 1.04,
            in_flight_by_littles_law: 1.0,
            ..MixRecord::default()
        };
        assert_eq!(little(&mix).and_then(|check| check.holds), Some(true));
        mix.in_flight_mean = 0.9;
        assert_eq!(little(&mix).and_then(|check| check.holds), Some(false));
        mix.in_flight_by_littles_law = 0.0;
        assert_eq!(little(&mix), None);
    }

    #[test]
    fn a_drift_within_chance_is_none() {
        let third = |mean, error| ThirdRecord {
            ended: 100,
            response_time_mean_ns: mean,
            standard_error_ns: error,
        };
        let holds = |error| {
            let thirds = [
                third(100.0, error),
                third(110.0, error),
                third(120.0, error),
            ];
            steady(&thirds).and_then(|check| check.holds)
        };
        assert_eq!(holds(1.0), Some(false));
        assert_eq!(holds(20.0), Some(true));
    }
}
