//! Validity checks of a run of a mix, each with its figure, bound and verdict.
//!
//! `filestone-measure` evaluates the checks and derives the caveats from them. All checks are printed, so
//! that a valid run shows the reasons. An inconclusive check states how long a run would have to
//! be.

use crate::document::table::{Column, Table};
use crate::parts::units::{calls_per_second, operations_per_second};
use crate::quantity;
use filestone_measure::measure::verdict::{
    self, Bound, Check, CheckSubject, InconclusiveReason, PercentileOfAll, ShareDeviation, Verdict,
    percentile,
};
use filestone_measure::measure::{RunRecord, Validity};
use filestone_workload::text::{thousands, time_text};

/// Returns the checks.
pub fn table(record: &RunRecord) -> Table {
    let mut table = Table::new([
        Column::text("validity").at_least(14),
        Column::text("FIGURE ± 95 %"),
        Column::text("BOUND"),
        Column::text("VERDICT"),
    ]);
    for check in &verdict::checks(record) {
        table.row([
            name(&check.subject).to_string(),
            figure(check),
            bound(check),
            verdict_text(record, check).to_string(),
        ]);
        table.note(explanation(record, check));
    }
    table
}

const fn name(subject: &CheckSubject) -> &'static str {
    match subject {
        CheckSubject::MixInAll => "mix",
        CheckSubject::MixOf(_) | CheckSubject::MixOnWireOf(_) => "worst share",
        CheckSubject::Achieved { .. } => "achieved",
        CheckSubject::DispatchDelay { .. } => "dispatch delay",
        CheckSubject::Headroom { .. } => "headroom",
        CheckSubject::Unexpected { .. } => "unexpected",
        CheckSubject::Skipped { .. } => "never sent",
        CheckSubject::InFlight { .. } => "in flight",
        CheckSubject::SteadyState { .. } => "steady state",
        CheckSubject::SamplesAbove(_) | CheckSubject::PercentileSpread(_) => "percentiles",
    }
}

/// Returns the text of a verdict. A check whose figure is out of bounds fails only if it is the
/// reason why the run does not count, so that the table agrees with the heading.
fn verdict_text(record: &RunRecord, check: &Check) -> &'static str {
    match check.verdict {
        Verdict::Passes => "holds",
        Verdict::Fails if check.leaves(record) == Validity::DoesNotCount => "FAILS",
        Verdict::Fails => "caveat",
        Verdict::Inconclusive(_) => "cannot tell",
    }
}

/// Unit of a check's figure, its chance and its bound.
enum Unit {
    Percent,
    /// Signed percentage of a deviation.
    Deviation,
    Nanos,
    Count,
    Times,
}

const fn unit(subject: &CheckSubject) -> Unit {
    match subject {
        CheckSubject::MixInAll
        | CheckSubject::Achieved { .. }
        | CheckSubject::Headroom { .. }
        | CheckSubject::Unexpected { .. } => Unit::Percent,
        CheckSubject::MixOf(_)
        | CheckSubject::MixOnWireOf(_)
        | CheckSubject::InFlight { .. }
        | CheckSubject::SteadyState { .. } => Unit::Deviation,
        CheckSubject::DispatchDelay { .. } => Unit::Nanos,
        CheckSubject::Skipped { .. } | CheckSubject::SamplesAbove(_) => Unit::Count,
        CheckSubject::PercentileSpread(_) => Unit::Times,
    }
}

/// Formats the figure with its significant digits.
fn figure(check: &Check) -> String {
    let Check { figure, chance, .. } = *check;
    match unit(&check.subject) {
        Unit::Percent => format!("{} %", quantity::with_chance(figure, chance, 2)),
        Unit::Deviation => {
            let sign = if figure > 0.0 { "+" } else { "" };
            format!("{sign}{} %", quantity::with_chance(figure, chance, 2))
        }
        Unit::Nanos => quantity::time_with_chance(figure, chance),
        Unit::Count => thousands(figure.max(0.0) as u64),
        Unit::Times if figure.is_infinite() => "no upper end".into(),
        Unit::Times => format!("factor {figure:.2}"),
    }
}

/// Formats the bound that was applied.
fn bound(check: &Check) -> String {
    let number = |value: f64| match unit(&check.subject) {
        Unit::Percent | Unit::Deviation => format!("{} %", quantity::plain(value, 2)),
        Unit::Nanos => time_text(value),
        Unit::Count => thousands(value.max(0.0) as u64),
        Unit::Times => format!("factor {}", quantity::plain(value, 1)),
    };
    let Bound { least, ideal, most } = check.bound;
    match (least, most) {
        (Some(_), Some(most)) if ideal == 0.0 => format!("± {}", number(most)),
        (Some(least), Some(most)) => format!("{} to {}", quantity::plain(least, 2), number(most)),
        (None, Some(0.0)) => "0".into(),
        (None, Some(most)) => format!("≤ {}", number(most)),
        (Some(least), None) => format!("≥ {}", number(least)),
        (None, None) => String::new(),
    }
}

/// Explains the figure, and the requirement for a verdict.
fn explanation(record: &RunRecord, check: &Check) -> String {
    let what = what(record, check);
    match check.verdict {
        Verdict::Inconclusive(untold) => format!("{what}; {}", to_tell(record, untold)),
        Verdict::Passes | Verdict::Fails => what,
    }
}

fn what(record: &RunRecord, check: &Check) -> String {
    match &check.subject {
        CheckSubject::MixInAll => "off the mix, summed over all operations".into(),
        CheckSubject::MixOf(share) => format!("off its share: {}", of_share(share)),
        CheckSubject::MixOnWireOf(share) => {
            format!("of all calls on the wire: {}", of_share(share))
        }
        CheckSubject::Achieved { due_ops_per_s, .. } => achieved(record, *due_ops_per_s),
        CheckSubject::DispatchDelay {
            p99_ns,
            response_time_mean_ns,
        } => format!(
            "late in the mean, {:.1} % of the response time; p99 {}",
            100.0 * check.figure / response_time_mean_ns,
            time_text(*p99_ns as f64)
        ),
        CheckSubject::Headroom {
            processors: Some(processors),
            workers,
            ..
        } => format!("of the {processors} processors that they may use the {workers} workers used"),
        CheckSubject::Headroom { .. } => {
            let ceiling = record.headroom.as_ref().map_or_else(String::new, |can| {
                format!(
                    "; one alone exchanges {} {}/s with the built-in server",
                    quantity::load_text(can.engine_ops_per_s, 0.05 * can.engine_ops_per_s),
                    can.exchange
                )
            });
            format!("of the window the busiest worker was busy{ceiling}")
        }
        CheckSubject::Unexpected { count, completed } => format!(
            "of {} completed operations, unmeasured ones included: {} ended otherwise than expected",
            thousands(*completed),
            thousands(*count)
        ),
        CheckSubject::Skipped { scheduled } => format!("of {} operations", thousands(*scheduled)),
        CheckSubject::InFlight {
            counted,
            least,
            most,
        } => {
            let (least, most) = (format!("{least:.3}"), format!("{most:.3}"));
            let law = if least == most {
                least
            } else {
                format!("{least} to {most}")
            };
            format!("outside of Little's law: {counted:.3} counted, {law} by the law")
        }
        CheckSubject::SteadyState { first_ns, last_ns } => format!(
            "response time from the first third to the last: {} to {}",
            time_text(*first_ns),
            time_text(*last_ns)
        ),
        CheckSubject::SamplesAbove(of) => format!(
            "lie above the p99 of {} operations; it takes {} operations",
            thousands(of.count),
            thousands((percentile::beyond_min(of.quantile) / (1.0 - of.quantile)).ceil() as u64)
        ),
        CheckSubject::PercentileSpread(of) => spread(of),
    }
}

fn of_share(share: &ShareDeviation) -> String {
    format!(
        "{}, {:.2} % for {:.2} %",
        share.operation.name(),
        share.got_percent,
        share.want_percent
    )
}

fn achieved(record: &RunRecord, due: f64) -> String {
    match &record.mix {
        Some(mix) if mix.wire.is_some() => {
            format!(
                "of the {} that were offered, on the wire",
                calls_per_second(due)
            )
        }
        Some(mix) if mix.asked_calls.is_some() => {
            format!(
                "of the {} that were offered, as asked",
                calls_per_second(due)
            )
        }
        _ => format!("of the {} that were due", operations_per_second(due)),
    }
}

fn spread(of: &PercentileOfAll) -> String {
    let from = time_text(of.from_ns as f64);
    match of.to_ns {
        Some(to) => format!(
            "between the ends of the 95 % interval of the p99, {from} to {}",
            time_text(to as f64)
        ),
        None => format!(
            "of the 95 % interval of the p99, over {from}: it reaches beyond the slowest operation"
        ),
    }
}

/// Describes the requirement for a verdict.
fn to_tell(record: &RunRecord, untold: InconclusiveReason) -> String {
    match untold {
        InconclusiveReason::TooShort { times } => {
            format!("a run of about {} tells", length(record, times))
        }
        InconclusiveReason::NothingLost => "but no load was lost".into(),
        InconclusiveReason::ConnectionLost => {
            "a lost connection held operations that were not sent".into()
        }
        InconclusiveReason::WarmUpBacklog => {
            "operations take too long for such a window: run longer, or offer less".into()
        }
        InconclusiveReason::EndedEarly => "the run ended early".into(),
    }
}

/// Formats the length of a run that is `times` as long, rounded up to two digits.
fn length(record: &RunRecord, times: f64) -> String {
    if record.plan.count.is_some() {
        let count = record.totals.ledger.ended() as f64 * times;
        return format!("{} operations", thousands(rounded_up(count) as u64));
    }
    let seconds = record.window_ns as f64 / 1e9 * times;
    match seconds {
        _ if seconds < 120.0 => format!("{} s", rounded_up(seconds).ceil()),
        _ if seconds < 7200.0 => format!("{} min", rounded_up(seconds / 60.0).ceil()),
        _ => format!("{} h", rounded_up(seconds / 3600.0).ceil()),
    }
}

fn rounded_up(value: f64) -> f64 {
    let unit = 10f64.powf(value.max(1.0).log10().floor() - 1.0);
    (value / unit - 1e-9).ceil() * unit
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::page::PageWidth;
    use crate::fixtures;
    use filestone_measure::measure::Caveat;
    use filestone_measure::measure::run_record::FailureCount;
    use filestone_measure::measure::verdict::caveats::find;
    use filestone_plan::plan::ArrivalsPlan;

    fn check(record: &RunRecord, called: &str) -> Option<Check> {
        let mut checks = verdict::checks(record).into_iter();
        checks.find(|check| name(&check.subject) == called)
    }

    fn is(record: &RunRecord, called: &str) -> &'static str {
        check(record, called).map_or("-", |check| verdict_text(record, &check))
    }

    fn shown(record: &RunRecord, called: &str) -> String {
        let check = check(record, called).expect("it is made");
        format!("{} {}", figure(&check), explanation(record, &check))
    }

    fn has(record: &RunRecord, is_such: impl Fn(&Caveat) -> bool) -> bool {
        find(record).iter().any(is_such)
    }

    #[test]
    fn no_worker_is_busy_for_more_than_all_of_the_time() {
        let mut record = fixtures::mix();
        record.totals.workers[0].busy_percent = 100.6;
        assert!(shown(&record, "headroom").starts_with("100.00 % of the window"));
        // No load was lost.
        assert_eq!(is(&record, "headroom"), "cannot tell");
        record.plan.arrivals = ArrivalsPlan::Closed;
        record.totals.offered_load_ops_per_s = None;
        assert_eq!(is(&record, "headroom"), "caveat");
        assert!(has(&record, |caveat| matches!(
            caveat,
            Caveat::GeneratorWasTheLimit { .. }
        )));
    }

    #[test]
    fn table_and_caveats_say_the_same() {
        let mut record = fixtures::mix();
        // The counted number is more than 5 % above the law, and the dispatch delay explains it.
        let mix = record.mix.as_mut().expect("a mix");
        let law = mix.in_flight_by_littles_law;
        mix.in_flight_mean = 1.2 * law;
        let is_law = |caveat: &Caveat| matches!(caveat, Caveat::LittlesLaw { .. });
        record.totals.dispatch_delay_ns.sum = (0.2 * law * record.window_ns as f64) as u64;
        assert_eq!(is(&record, "in flight"), "holds");
        assert!(!has(&record, is_law));
        record.totals.dispatch_delay_ns.sum = 0;
        assert_eq!(is(&record, "in flight"), "FAILS");
        assert!(shown(&record, "in flight").starts_with("+20.0"));
        assert!(has(&record, is_law));
        record.totals.reconnections = 1;
        assert_eq!(is(&record, "in flight"), "cannot tell");
        assert!(!has(&record, is_law));
    }

    #[test]
    fn what_the_warm_up_left_over_is_not_more_than_all_of_what_was_due() {
        let mut record = fixtures::mix();
        record.totals.achieved_load_ops_per_s = 4001.0 / 2.0;
        let text = shown(&record, "achieved");
        assert!(text.starts_with("100.00 "), "{text}");
        assert!(
            text.ends_with(" % of the 2,000 operations/s that were due"),
            "{text}"
        );
        assert_eq!(is(&record, "achieved"), "holds");
    }

    #[test]
    fn a_backlog_of_the_warm_up_is_another_load_than_the_one_offered() {
        let mut record = fixtures::mix();
        record.totals.achieved_load_ops_per_s = 1.13 * 2000.0;
        assert_eq!(is(&record, "achieved"), "caveat");
        assert!(has(&record, |caveat| matches!(
            caveat,
            Caveat::AchievedAboveOffered {
                warm_up_backlog: 520,
                ..
            }
        )));
        let text = crate::parts::shortfall::sentence(&record).expect("it is said at the top");
        assert!(
            text.starts_with(
                "The server did not keep up in the warm-up, and 520 operations of it ended in the \
                 window"
            ),
            "{text}"
        );
        // A load generator that sends late does not mean that the server is overloaded.
        let totals = &mut record.totals;
        totals.dispatch_delay_ns.mean = 0.998 * totals.response_time_ns.mean;
        let text = crate::parts::shortfall::sentence(&record).expect("it is said at the top");
        assert!(
            text.starts_with("The load generator did not keep up in the warm-up"),
            "{text}"
        );
        let mut caveats = find(&record).into_iter();
        let help = caveats.find_map(|caveat| match caveat {
            Caveat::AchievedAboveOffered { .. } => caveat.sentence().1,
            _ => None,
        });
        assert!(
            help.is_some_and(|help| help.starts_with("the load generator did not keep up")),
            "{help:?}"
        );
    }

    #[test]
    fn a_drift_that_chance_explains_cannot_be_told() {
        let mut record = fixtures::mix();
        let thirds = |record: &mut RunRecord, last: f64, error: f64| {
            let thirds = &mut record.mix.as_mut().expect("a mix").thirds;
            for (third, mean) in thirds.iter_mut().zip([100.0, 100.0, last]) {
                third.ended = 100;
                (third.response_time_mean_ns, third.standard_error_ns) = (mean, error);
            }
        };
        thirds(&mut record, 120.0, 1.0);
        assert_eq!(is(&record, "steady state"), "caveat");
        thirds(&mut record, 105.0, 1.0);
        assert_eq!(is(&record, "steady state"), "holds");
        // +226 % with a chance of ± 1176 %, in two seconds.
        thirds(&mut record, 326.0, 600.0 / std::f64::consts::SQRT_2);
        assert_eq!(is(&record, "steady state"), "cannot tell");
        let text = shown(&record, "steady state");
        assert!(text.starts_with("+200 ± 1200 %"), "{text}");
        // (1176/10)² times two seconds are 7 h 41 min.
        assert!(text.ends_with("; a run of about 8 h tells"), "{text}");
        let is_drift = |caveat: &Caveat| matches!(caveat, Caveat::Drift { .. });
        assert!(!has(&record, is_drift));
    }

    #[test]
    fn a_count_of_random_arrivals_may_take_as_long_as_chance_lets_it() {
        let mut record = fixtures::mix();
        record.plan.count = Some(100);
        record.window_ns = 50_000_000;
        for (achieved, said) in [(1600.0, "cannot tell"), (1500.0, "caveat")] {
            record.totals.achieved_load_ops_per_s = achieved;
            assert_eq!(is(&record, "achieved"), said);
        }
    }

    #[test]
    fn errors_that_explain_what_is_missing_are_named() {
        let mut record = fixtures::mix();
        let fail = |record: &mut RunRecord, failure: &str| {
            let kind = &mut record.totals.kinds[0];
            kind.failures = vec![filestone_measure::measure::run_record::FailureCount {
                failure: failure.into(),
                count: 400,
            }];
            let ledger = &mut record.totals.ledger;
            (ledger.ok, ledger.failed) = (3600, 400);
            record.totals.achieved_load_ops_per_s = 1800.0;
        };
        let help = |record: &RunRecord| {
            let caveats = find(record);
            let mut below = caveats
                .iter()
                .filter(|caveat| matches!(caveat, Caveat::AchievedBelowOffered { .. }));
            below.next().and_then(|caveat| caveat.sentence().1)
        };
        fail(&mut record, "NFS3ERR_IO (5)");
        assert!(help(&record).is_some_and(|help| help.contains("table of errors")));
        fail(&mut record, "NFS3ERR_JUKEBOX (10008)");
        assert!(help(&record).is_some_and(|help| help.contains("asks the client to wait")));
        let text = crate::parts::shortfall::sentence(&record).expect("it is said at the top");
        assert!(text.contains("NFS3ERR_JUKEBOX"), "{text}");
        // Without errors the server is the cause.
        record.totals.ledger.failed = 0;
        assert!(help(&record).is_some_and(|help| help.contains("offer less")));
    }

    #[test]
    fn what_was_never_sent_is_no_error() {
        let mut record = fixtures::mix();
        record.totals.ledger.skipped = 2966;
        assert_eq!(is(&record, "never sent"), "caveat");
        let text = shown(&record, "never sent");
        assert_eq!(text, "2,966 of 4,000 operations");
        assert_eq!(is(&record, "unexpected"), "holds");
    }

    #[test]
    fn unexpected_outcomes_are_a_caveat_and_from_5_percent_on_the_reason_why_not() {
        let failed = |count: u64| {
            let mut record = fixtures::mix();
            let kind = &mut record.totals.kinds[0];
            kind.ledger.ok -= count;
            kind.ledger.failed = count;
            let failure = "NFS3ERR_IO (5)".into();
            kind.failures = vec![FailureCount { failure, count }];
            record
        };
        let kinds = fixtures::mix().totals.kinds;
        let completed: u64 = kinds.iter().map(|kind| kind.ledger.ended()).sum();
        for (count, said) in [
            (completed / 100, "holds"),
            (completed / 100 + 1, "caveat"),
            (completed / 20, "caveat"),
            (completed / 20 + 1, "FAILS"),
        ] {
            assert_eq!(is(&failed(count), "unexpected"), said, "{count}");
        }
    }

    #[test]
    fn a_check_fails_exactly_if_the_run_does_not_count_by_it() {
        let heading = |record: &RunRecord| {
            let record = RunRecord {
                caveats: find(record),
                ..record.clone()
            };
            crate::parts::validity::heading(&record).text(PageWidth::default())
        };
        let late = |share: f64| {
            let mut record = fixtures::mix();
            let totals = &mut record.totals;
            let delay = &mut totals.dispatch_delay_ns;
            delay.mean = share * totals.response_time_ns.mean;
            record
        };
        // 0.35 of the response time is due to the load generator.
        let record = late(0.35);
        assert_eq!(is(&record, "dispatch delay"), "FAILS");
        let said = heading(&record);
        let reason = "does not count (dispatch delay is 35 % of the response time)";
        assert!(said.contains(reason), "{said}");
        let record = late(0.2);
        assert_eq!(is(&record, "dispatch delay"), "caveat");
        let said = heading(&record);
        assert!(
            said.contains("counts, with caveats: dispatch-delay"),
            "{said}"
        );
        for record in fixtures::mixes() {
            let checks = verdict::checks(&record);
            let has_failed = |check: &Check| verdict_text(&record, check) == "FAILS";
            let fails = checks.iter().any(has_failed);
            let said = heading(&record);
            assert_eq!(fails, said.contains("does not count"), "{said}");
        }
    }

    #[test]
    fn the_block_of_checks() {
        insta::assert_snapshot!(table(&fixtures::mix()).render(PageWidth::default()));
    }
}
