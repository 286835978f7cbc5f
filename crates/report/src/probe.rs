//! Report of a probe: the result in one line, response times, capacity of the load generator,
//! outcomes of operations.

use super::document::page::{Detail, Fact};
use super::document::table::Table;
use super::document::{Block, Document};
use super::parts::units::operations_per_second;
use super::parts::{facts, heading, known, ledger, percentile};
use super::summary;
use filestone_measure::explanation::{GeneratorPart, busy_percent};
use filestone_measure::measure::run_record::Headroom;
use filestone_measure::measure::verdict::percentile::TimesOf;
use filestone_measure::measure::{RunRecord, ShortReads};
use filestone_plan::plan::Plan;
use filestone_workload::recording::Ledger;
use filestone_workload::text::{bytes_text, counted, thousands, time_text};

/// Returns the report. Caveats are printed separately, on standard error.
pub fn report(record: &RunRecord, detail: Detail) -> Document {
    Document::default()
        .push(answer(record))
        .with(heading::heading(record))
        .with(percentile::with_legend([percentile::table(record)]))
        .tables((detail == Detail::Clients).then(|| summary::of_rows(record)))
        .blank()
        .facts(cost(record, detail))
        .tables(what_failed(record))
        .with(percentile::with_legend(ledger::failed_times(record)))
        .with(percentile::with_legend(ledger::unmeasured(record)))
        .with(ledger::ledger(&record.totals.ledger))
}

/// Returns operations per second, response times, the kind of load, and whether the load generator
/// limited these figures: one line, or two on a narrow page.
fn answer(record: &RunRecord) -> Block {
    let mut parts = vec![rate(record)];
    parts.extend(errors(&record.totals.ledger));
    parts.extend(short_reads(record));
    parts.extend(times(record));
    parts.extend([load(&record.plan), generator(record)]);
    Block::Parts(parts)
}

fn rate(record: &RunRecord) -> String {
    let achieved = known::figure(record, "achieved").map_or_else(
        || {
            let achieved = rounded(record.totals.achieved_load_ops_per_s);
            format!("{achieved} operations/s")
        },
        known::load,
    );
    match record.totals.offered_load_ops_per_s {
        None => achieved,
        Some(offered) => format!("{achieved} of {} offered", rounded(offered)),
    }
}

/// Formats the mean size of a READ if some were cut short by the end of a file.
fn short_reads(record: &RunRecord) -> Option<String> {
    let short = ShortReads::of(record)?;
    let size = bytes_text(short.size_bytes.into());
    Some(format!(
        "{} bytes a READ of {size} asked for",
        rounded(short.mean_bytes)
    ))
}

/// Formats errors; `None` for a run without any.
fn errors(ledger: &Ledger) -> Option<String> {
    let bad = ledger.unsuccessful() + ledger.skipped;
    let (bad, scheduled) = (Some(bad).filter(|bad| *bad > 0)?, ledger.scheduled);
    Some(format!(
        "{} of {} without success",
        thousands(bad),
        thousands(scheduled)
    ))
}

fn times(record: &RunRecord) -> Vec<String> {
    let times = &record.totals.response_time_ns;
    if times.count == 0 {
        return vec![];
    }
    let of = TimesOf::all(&record.totals);
    // The interval of a percentile decides its format, as in the table below.
    let text = |name, quantile, nanos: u64| {
        let time = known::percentile(record, quantile).unwrap_or_else(|| {
            let mark = percentile::mark(of.is_known(quantile));
            format!("{}{mark}", time_text(nanos as f64))
        });
        format!("{name} {time}")
    };
    // An unknown 99th percentile is shown only in the table, which marks it.
    let has_tail = known::percentile(record, 0.99).is_some() || of.is_known(0.99);
    let tail = if has_tail {
        text("p99", 0.99, times.p99)
    } else {
        format!("max {}", time_text(times.max as f64))
    };
    vec![text("p50", 0.5, times.p50), tail]
}

/// Rounds to three significant digits, the precision of a rate over a few seconds; the exact value
/// is below.
fn rounded(load: f64) -> String {
    let digits = load.abs().max(1.0).log10().floor() as i32;
    match digits {
        0 => format!("{load:.2}"),
        1 => format!("{load:.1}"),
        _ => {
            let unit = 10_f64.powi(digits - 2);
            thousands(((load / unit).round() * unit) as u64)
        }
    }
}

fn load(plan: &Plan) -> String {
    let clients = counted(plan.clients.into(), "client");
    match plan.arrivals.offered_load() {
        None => format!("{clients} × {} in flight", thousands(plan.in_flight.into())),
        Some(_) => clients,
    }
}

/// Formats the load of the busiest worker, and the conclusion.
fn generator(record: &RunRecord) -> String {
    let busy = busy_percent(record);
    let part = GeneratorPart::of(record).words();
    format!("generator {busy:.0} % busy: {part}")
}

/// Formats the capacity of the load generator with the same number in flight, and the share that
/// this run used.
pub fn headroom(record: &RunRecord, headroom: &Headroom) -> String {
    let can = headroom.engine_ops_per_s;
    let did = record.totals.achieved_load_ops_per_s;
    let times = if did <= 0.0 {
        String::new()
    } else if can < 0.9 * did {
        // This load proves that the capacity is higher: the measurement was disturbed.
        ", less than this load: disturbed when it was measured".into()
    } else {
        format!(", {:.1} times this load", can / did)
    };
    format!(
        "{} {} operations/s by one worker on this host with {} in flight{times}",
        thousands(can.round() as u64),
        headroom.exchange,
        thousands(headroom.in_flight.into()),
    )
}

/// Returns load, bytes and cost, one fact per line.
fn cost(record: &RunRecord, detail: Detail) -> Vec<Fact> {
    let offered = record.totals.offered_load_ops_per_s;
    let offered = offered.map(|load| ("offered load", operations_per_second(load)));
    let can = record.headroom.as_ref();
    let headroom = can.map(|can| ("headroom", headroom(record, can)));
    let facts = [
        offered,
        Some(("achieved load", facts::achieved_load(record))),
        facts::goodput(record),
        facts::read_data(&record.plan),
        record.measured().and_then(|_| facts::wire_bytes(record)),
        facts::client_cpu(record),
        facts::connections(record),
        facts::memory(record),
        headroom,
        known::why_none(record, detail),
    ];
    facts.into_iter().flatten().collect()
}

/// Returns failures by status; `None` if all operations succeeded.
fn what_failed(record: &RunRecord) -> Option<Table> {
    let kind = record.measured()?;
    let ended = &kind.ledger;
    let skipped = (ended.skipped > 0).then_some(("skipped: due, but never sent", ended.skipped));
    let rows = ledger::failures(kind).chain(skipped);
    let rows = rows.map(|(name, count)| (name.into(), count, ended.scheduled));
    ledger::errors_table(rows.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::page::PageWidth;
    use crate::fixtures;
    use filestone_measure::measure::OneSidedFigureRecord;
    use filestone_measure::measure::caveat::Caveat;
    use filestone_measure::measure::verdict::caveats::find;
    use filestone_plan::plan::WorkloadPlan;
    use filestone_workload::operation::OpKind;

    fn answer_of(record: &RunRecord) -> String {
        answer(record).text(PageWidth::of(200))
    }

    #[test]
    fn the_answer_is_one_line_or_two_on_a_narrow_page() {
        let mut record = fixtures::plain();
        record.totals.achieved_load_ops_per_s = 24_913.4;
        (record.plan.clients, record.plan.in_flight) = (3, 4);
        let totals = &mut record.totals;
        totals.response_time_ns.count = 20_000;
        (totals.response_time_ns.p50, totals.response_time_ns.p99) = (29_800, 101_200);
        totals.workers[0].busy_percent = 27.2;
        assert_eq!(
            answer_of(&record),
            "24,900 operations/s, p50 29.8 µs, p99 101 µs, 3 clients × 4 in flight, generator 27 % \
             busy: not the limit\n"
        );
        assert_eq!(
            answer(&record).text(PageWidth::default()),
            "24,900 operations/s, p50 29.8 µs, p99 101 µs, 3 clients × 4 in flight,\n\
             generator 27 % busy: not the limit\n"
        );
    }

    #[test]
    fn the_answer_says_how_well_its_figures_are_known() {
        let text = answer_of(&fixtures::in_stretches());
        insta::assert_snapshot!(text);
    }

    #[test]
    fn who_was_the_limit_is_said_by_the_rules_of_the_caveats() {
        let mut record = fixtures::plain();
        let mut ends = |busy: f64, is_open: bool, waited: f64| {
            record.totals.workers[0].busy_percent = busy;
            record.totals.workers[0].run_delay_percent = waited;
            record.totals.offered_load_ops_per_s =
                is_open.then_some(record.totals.achieved_load_ops_per_s);
            record.caveats = find(&record);
            let narrow = answer(&record).text(PageWidth::default());
            assert!(
                narrow.lines().all(|line| line.chars().count() <= 80),
                "{narrow}"
            );
            let text = answer_of(&record);
            let (_, verdict) = text.trim_end().split_once("busy: ").expect("a verdict");
            verdict.to_string()
        };
        assert_eq!(ends(94.0, false, 0.0), "not the limit");
        assert_eq!(ends(96.0, false, 0.0), "the limit");
        assert_eq!(ends(100.0, true, 0.0), "near the limit");
        let waited = "not the limit, though it waited for a processor";
        assert_eq!(ends(1.0, false, 8.0), waited);
        assert_eq!(ends(50.0, false, 44.0), waited);
        let untold = "cannot tell, it waited for a processor";
        assert_eq!(ends(50.0, false, 46.0), untold);
    }

    #[test]
    fn the_answer_and_the_table_have_one_interval() {
        let marks = |record: &RunRecord| {
            let table = percentile::table(record).render(PageWidth::default());
            let mut lines = table.lines();
            let line = lines.find(|line| line.starts_with("response time"));
            line.map_or(0, |line| line.matches('~').count())
        };
        let mut record = fixtures::in_stretches();
        // The marks of p99.9 and p99.99, by ranks.
        assert_eq!(marks(&record), 2);
        let mut figures = record.totals.figures.iter_mut();
        let tail = figures.find(|figure| figure.name == "response_time.p99");
        tail.expect("it is kept").high = 1_600_000.0;
        let text = answer_of(&record);
        assert!(text.contains("p99 160 µs (150 µs to 1.6 ms)"), "{text}");
        // If p99 is unknown, percentiles further out are unknown too.
        assert_eq!(marks(&record), 3);
    }

    #[test]
    fn a_percentile_without_an_upper_end_is_not_quoted() {
        let mut record = fixtures::in_stretches();
        let totals = &mut record.totals;
        totals
            .figures
            .retain(|figure| figure.name != "response_time.p99");
        let mut open = OneSidedFigureRecord {
            name: "response_time.p99".into(),
            unit: "ns".into(),
            low: 71_200.0,
            confidence: 0.95,
        };
        totals.open_figures = vec![open.clone()];
        // By ranks alone it would be known; its lower end is below the median.
        let text = answer_of(&record);
        assert!(!text.contains("p99"), "{text}");
        assert!(text.contains("max "), "{text}");
        let caveat = find(&record).into_iter().find_map(|caveat| match caveat {
            Caveat::TooFewSamples { from_ns, to_ns, .. } => Some([from_ns, to_ns]),
            _ => None,
        });
        assert_eq!(caveat, Some([71_200, 0]));
        open.low = 151_000.0;
        record.totals.open_figures = vec![open];
        let text = answer_of(&record);
        assert!(text.contains("p99 over 150 µs"), "{text}");
    }

    #[test]
    fn reads_that_the_end_of_a_file_cuts_short_are_in_the_answer() {
        let mut record = fixtures::plain();
        let WorkloadPlan::Probe(probe) = &mut record.plan.workload else {
            panic!("a probe");
        };
        (probe.operation, probe.size_bytes) = (OpKind::Read, 131_072);
        let kind = &mut record.totals.kinds[0];
        kind.operation = OpKind::Read;
        // Files of 3 bytes.
        kind.data_bytes = 3 * kind.ledger.ok;
        let text = answer_of(&record);
        assert!(
            text.contains("/s, 3.00 bytes a READ of 128 KiB asked for, p50 "),
            "{text}"
        );
        let is_short = |caveat: &Caveat| matches!(caveat, Caveat::ShortReads { .. });
        assert!(find(&record).iter().any(is_short));
        let kind = &mut record.totals.kinds[0];
        kind.data_bytes = 131_072 * kind.ledger.ok;
        assert!(!answer_of(&record).contains("a READ"));
        assert!(!find(&record).iter().any(is_short));
    }

    #[test]
    fn rates_have_three_digits_that_count() {
        let shown = [0.0, 1.234, 12.34, 123.4, 1234.0, 98_765.0, 1_234_567.0].map(rounded);
        let expected = [
            "0.00",
            "1.23",
            "12.3",
            "123",
            "1,230",
            "98,800",
            "1,230,000",
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn what_did_not_succeed_is_part_of_the_answer() {
        let record = fixtures::with_errors();
        assert!(answer_of(&record).contains("/s, 9 of 600 without success, p50 "));
    }
}
