//! Whether a run of a mix counts: each check with its figure, its bound and its verdict.
//!
//! The caveats judge, with their bounds; here all figures are shown, so that a run that counts
//! says why. What a run is too short, or too disturbed, to tell has no verdict.

use super::page::Page;
use super::table::{Column, Table};
use super::text::{calls_per_second, operations_per_second};
use crate::quantity::{grouped, time_text};
use filestone_model::measure::caveat::{
    self, ABOVE_MIN, BUSY_PERCENT, Caveat, DISPATCH_SHARE, DRIFT_SHARE, LITTLE_SHARE, OFF_SHARE,
};
use filestone_model::measure::mix_record::MixRecord;
use filestone_model::measure::run_record::RunEnd;
use filestone_model::measure::{Ledger, RunRecord};
use filestone_model::operation::OpKind;

/// Standard errors beyond which a drift is no chance, at 95 %.
const STANDARD_ERRORS: f64 = 1.96;

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
        Some(mix_check(record, mix)),
        achieved(record, mix),
        dispatch(record),
        busy(record),
        Some(errors(&record.totals.ledger)),
        little(record, mix),
        steady(record, mix),
        Some(samples(record)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The block of checks.
pub fn render(record: &RunRecord, mix: &MixRecord, page: Page) -> String {
    table(&checks(record, mix), page)
}

/// Checks as a table; the figures are sentences, so they stand last, where they may wrap.
pub fn table(checks: &[Check], page: Page) -> String {
    let mut table = Table::new([
        Column::text("validity").at_least(14),
        Column::text("VERDICT"),
        Column::text("BOUND"),
        Column::text("FIGURE"),
    ]);
    for check in checks {
        let verdict = match check.holds {
            Some(true) => "holds",
            Some(false) => "FAILS",
            None => "-",
        };
        table.row([check.name, verdict, &check.bound, &check.figure]);
    }
    format!("\n{}", table.render(page))
}

/// Whether none of the record's caveats is such.
fn no_caveat(record: &RunRecord, is_such: impl Fn(&Caveat) -> bool) -> bool {
    !record.caveats.iter().any(is_such)
}

fn percent_of(share: f64) -> f64 {
    100.0 * share
}

fn mix_check(record: &RunRecord, mix: &MixRecord) -> Check {
    // What was seen on the wire counts, where it could be seen.
    let rows: Vec<(OpKind, f64, f64)> = match &mix.wire {
        Some(wire) => wire
            .operations
            .iter()
            .map(|row| (row.operation, row.got_percent, row.want_percent))
            .collect(),
        None => mix
            .operations
            .iter()
            .map(|row| (row.operation, row.got_percent, row.want_percent))
            .collect(),
    };
    let blamed = record.caveats.iter().find_map(|caveat| match caveat {
        Caveat::MixOff { operation, .. } => Some(*operation),
        _ => None,
    });
    let deviation = |row: &&(OpKind, f64, f64)| (row.1 - row.2).abs();
    let most = match blamed {
        Some(operation) => rows.iter().find(|row| row.0 == operation),
        None => rows
            .iter()
            .max_by(|one, other| deviation(one).total_cmp(&deviation(other))),
    };
    let most = most.map_or_else(String::new, |(operation, got, want)| {
        format!("; {} {got:.2} % for {want:.2} %", operation.name())
    });
    Check {
        name: "mix",
        figure: format!("off by {:.2} % in all{most}", mix.off_by()),
        bound: match mix.wire {
            Some(_) => format!("± {} points", percent_of(OFF_SHARE)),
            None => format!("each ± {} %", percent_of(OFF_SHARE)),
        },
        holds: Some(no_caveat(record, |caveat| {
            matches!(caveat, Caveat::MixInvalid { .. } | Caveat::MixOff { .. })
        })),
    }
}

/// Only of an open loop. Of a run that somebody ended, nothing is said.
fn achieved(record: &RunRecord, mix: &MixRecord) -> Option<Check> {
    let due = caveat::due_load_ops_per_s(record)?;
    let percent = percent_of(caveat::achieved_share(record)?);
    let is_below = |caveat: &Caveat| matches!(caveat, Caveat::AchievedBelowOffered { .. });
    Some(Check {
        name: "achieved",
        figure: match mix.wire {
            Some(_) => format!(
                "{percent:.2} % of the {} that were offered, on the wire",
                calls_per_second(due)
            ),
            None => format!(
                "{percent:.2} % of the {} that were due",
                operations_per_second(due)
            ),
        },
        bound: format!("≥ {:.0} %", percent_of(caveat::achieved_share_min(record))),
        holds: (record.end == RunEnd::Finished).then(|| no_caveat(record, is_below)),
    })
}

fn dispatch(record: &RunRecord) -> Option<Check> {
    let totals = &record.totals;
    let (late, response) = (&totals.dispatch_delay_ns, &totals.response_time_ns);
    let is_open = record.totals.offered_load_ops_per_s.is_some();
    if !is_open || late.count == 0 || response.mean <= 0.0 {
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
        bound: format!("≤ {} %", percent_of(DISPATCH_SHARE)),
        holds: Some(no_caveat(record, |caveat| {
            matches!(caveat, Caveat::DispatchDelay { .. })
        })),
    })
}

/// How much of the load generator was left.
fn busy(record: &RunRecord) -> Option<Check> {
    let busiest = record
        .totals
        .workers
        .iter()
        .map(|worker| worker.busy_percent)
        .max_by(f64::total_cmp)?
        // Its last look at the clock may be a little later than the window's end.
        .min(100.0);
    let ceiling = record.headroom.as_ref().map_or_else(String::new, |can| {
        format!(
            "; one alone exchanges {} NULL/s with the built-in server",
            grouped(can.engine_ops_per_s.round() as u64)
        )
    });
    let was_limit = |caveat: &Caveat| matches!(caveat, Caveat::GeneratorWasTheLimit { .. });
    // Before due moments a worker spins: busy with nothing, if no load was lost.
    let holds = match no_caveat(record, was_limit) {
        true => (busiest < BUSY_PERCENT).then_some(true),
        false => Some(false),
    };
    Some(Check {
        name: "headroom",
        figure: format!("busiest worker {busiest:.0} % busy{ceiling}"),
        bound: format!("< {BUSY_PERCENT} %"),
        holds,
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
/// observed as a whole: where it does not, something was counted wrong or not at all. The law
/// leaves open what our own lateness holds, so what is judged, and shown, is how far the count
/// is outside of that.
fn little(record: &RunRecord, mix: &MixRecord) -> Option<Check> {
    let counted = mix.in_flight_mean;
    let (least, most) = caveat::in_flight_by_law(record, mix);
    if counted <= 0.0 || least <= 0.0 {
        return None;
    }
    let percent = 100.0 * (counted / counted.max(least).min(most) - 1.0);
    let (least, most) = (format!("{least:.3}"), format!("{most:.3}"));
    let law = match least == most {
        true => least,
        false => format!("{least} to {most}"),
    };
    let is_told = caveat::is_littles_law_told(record, mix);
    let is_off = |caveat: &Caveat| matches!(caveat, Caveat::LittlesLaw { .. });
    Some(Check {
        name: "in flight",
        figure: format!("{counted:.3} counted, {law} by Little's law: {percent:+.2} %"),
        bound: format!("± {} %", percent_of(LITTLE_SHARE)),
        holds: is_told.then(|| no_caveat(record, is_off)),
    })
}

/// Nothing from so few intervals that chance is not known.
fn steady(record: &RunRecord, mix: &MixRecord) -> Option<Check> {
    let (first, last) = (mix.thirds.first()?, mix.thirds.last()?);
    if !caveat::is_steadiness_told(record, mix) || first.response_time_mean_ns <= 0.0 {
        return None;
    }
    let drift = last.response_time_mean_ns - first.response_time_mean_ns;
    let chance = STANDARD_ERRORS * first.standard_error_ns.hypot(last.standard_error_ns);
    let percent = |nanos: f64| 100.0 * nanos / first.response_time_mean_ns;
    let is_drift = |caveat: &Caveat| matches!(caveat, Caveat::Drift { .. });
    Some(Check {
        name: "steady state",
        figure: format!(
            "response time {:+.1} % from the first third to the last, chance ± {:.1} %",
            percent(drift),
            percent(chance)
        ),
        bound: format!("± {} %", percent_of(DRIFT_SHARE)),
        holds: Some(no_caveat(record, is_drift)),
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
    let too_few = |caveat: &Caveat| matches!(caveat, Caveat::FewAboveQuantile { quantile, .. } if *quantile <= 0.99);
    Check {
        name: "samples",
        figure,
        bound: format!("p99: ≥ {ABOVE_MIN}"),
        holds: Some(no_caveat(record, too_few)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::canned;
    use filestone_model::measure::caveat::find;
    use filestone_model::plan::ArrivalsPlan;

    fn verdict(record: &RunRecord, name: &str) -> Option<Option<bool>> {
        let mix = record.mix.as_ref().expect("a mix");
        let checks = checks(record, mix);
        let check = checks.into_iter().find(|check| check.name == name);
        check.map(|check| check.holds)
    }

    fn figure(record: &RunRecord, name: &str) -> String {
        let mix = record.mix.as_ref().expect("a mix");
        let checks = checks(record, mix);
        let check = checks.into_iter().find(|check| check.name == name);
        check.expect("it is made").figure
    }

    #[test]
    fn no_worker_is_busy_for_more_than_all_of_the_time() {
        let mut record = canned::mix();
        record.totals.workers[0].busy_percent = 100.6;
        assert!(figure(&record, "headroom").starts_with("busiest worker 100 % busy"));
    }

    #[test]
    fn where_the_caveats_say_nothing_no_check_fails() {
        let mut record = canned::mix();
        // What was counted is more than 5 % above the law, and the dispatch delay explains it.
        let mix = record.mix.as_mut().expect("a mix");
        let law = mix.in_flight_by_littles_law;
        mix.in_flight_mean = 1.2 * law;
        record.totals.dispatch_delay_ns.sum = (0.2 * law * record.window_ns as f64) as u64;
        record.caveats = find(&record);
        assert_eq!(verdict(&record, "in flight"), Some(Some(true)));
        assert!(figure(&record, "in flight").ends_with(" by Little's law: +0.00 %"));
        record.totals.dispatch_delay_ns.sum = 0;
        record.caveats = find(&record);
        assert_eq!(verdict(&record, "in flight"), Some(Some(false)));
        assert!(figure(&record, "in flight").ends_with(" by Little's law: +20.00 %"));
        record.totals.reconnections = 1;
        record.caveats = find(&record);
        assert_eq!(verdict(&record, "in flight"), Some(None));
    }

    #[test]
    fn what_the_warm_up_left_over_is_not_more_than_all_of_what_was_due() {
        let mut record = canned::mix();
        record.totals.achieved_load_ops_per_s = 4001.0 / 2.0;
        record.caveats = find(&record);
        let mix = record.mix.as_ref().expect("a mix");
        let checks = checks(&record, mix);
        let achieved = checks.iter().find(|check| check.name == "achieved");
        let figure = &achieved.expect("an open loop").figure;
        assert!(figure.starts_with("100.00 % of the 2,000 "), "{figure}");
    }

    #[test]
    fn of_a_few_intervals_nothing_is_said_about_a_drift() {
        let mut record = canned::mix();
        assert_eq!(verdict(&record, "steady state"), None);
        let one = record.intervals.first().expect("an interval").clone();
        record.intervals = vec![one; 6];
        let thirds = &mut record.mix.as_mut().expect("a mix").thirds;
        for (third, mean) in thirds.iter_mut().zip([100.0, 110.0, 120.0]) {
            third.ended = 100;
            (third.response_time_mean_ns, third.standard_error_ns) = (mean, 1.0);
        }
        record.caveats = find(&record);
        assert_eq!(verdict(&record, "steady state"), Some(Some(false)));
        let thirds = &mut record.mix.as_mut().expect("a mix").thirds;
        thirds
            .iter_mut()
            .for_each(|third| third.standard_error_ns = 20.0);
        record.caveats = find(&record);
        assert_eq!(verdict(&record, "steady state"), Some(Some(true)));
    }

    #[test]
    fn a_count_of_random_arrivals_may_take_as_long_as_chance_lets_it() {
        let mut record = canned::mix();
        let offered_load_ops_per_s = 2000.0;
        record.plan.arrivals = ArrivalsPlan::Poisson {
            offered_load_ops_per_s,
        };
        record.totals.offered_load_ops_per_s = Some(offered_load_ops_per_s);
        record.plan.count = Some(100);
        for (achieved, holds) in [(1600.0, true), (1500.0, false)] {
            record.totals.achieved_load_ops_per_s = achieved;
            record.caveats = find(&record);
            assert_eq!(verdict(&record, "achieved"), Some(Some(holds)));
        }
    }
}
