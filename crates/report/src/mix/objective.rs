//! Report of a search: the highest load that meets an objective, as an interval, and the loads that
//! were tried.

use super::{asked, errors};
use crate::caption;
use crate::document::table::{Column, Table};
use crate::document::{Block, Document};
use crate::parts::units::{self, micros};
use crate::parts::{heading, ledger};
use crate::picture::{Axis, Form, Panel, Picture, PlotLine, PlotMark, Span, Style};
use crate::quantity::{load_text, resolution};
use filestone_measure::measure::RunRecord;
use filestone_measure::measure::curve_record::{
    ObjectiveRecord, SearchStepRecord, SearchStopReason,
};
use filestone_measure::measure::verdict::{LoadVerdict, Verdict};
use filestone_workload::text::thousands;

/// Returns the report.
pub fn report(record: &RunRecord, objective: &ObjectiveRecord) -> Document {
    let mut document = heading::heading(record)
        .paragraphs([answer(objective)])
        .tables([table(objective)])
        .push(Block::Picture(picture(record, objective)));
    if let (Some(plan), Some(mix)) = (record.plan.mix(), &record.mix) {
        let asked = asked::facts(record, plan, &mix.file_set);
        document = document.blank().facts(asked);
    }
    document
        .with(errors::section(record))
        .with(ledger::ledger(&record.totals.ledger))
}

/// Describes the result in one sentence.
fn answer(record: &ObjectiveRecord) -> String {
    let objective = record.objective;
    let per_second = |load: Option<f64>, text: &dyn Fn(f64) -> String| {
        load.map(|load| format!("{} operations/s", text(load)))
    };
    let half_width = half_width(record);
    let found = per_second(record.load_ops_per_s, &|load| load_text(load, half_width));
    let lower = per_second(record.lower_ops_per_s, &|load| below(load, half_width));
    let upper = per_second(record.upper_ops_per_s, &|load| above(load, half_width));
    let confidence = "with 95 % confidence";
    match (record.end, found, lower, upper) {
        (SearchStopReason::NeverMet, _, _, upper) => {
            let below = upper.map_or_else(String::new, |upper| {
                format!(": the highest load is below {upper}, {confidence}")
            });
            format!("{objective} does not even hold at the lowest load that was tried{below}")
        }
        (SearchStopReason::AlwaysMet, _, lower, _) => {
            let above = lower.map_or_else(String::new, |lower| {
                format!(": the highest load is above {lower}, {confidence}")
            });
            format!("{objective} holds at all that the load generator can offer{above}")
        }
        (end, Some(found), Some(_), Some(upper)) => {
            let lower = record.lower_ops_per_s;
            let lower = lower.map_or_else(String::new, |load| below(load, half_width));
            format!(
                "{objective} holds up to {found}: between {lower} and {upper} {confidence}{}",
                because(end)
            )
        }
        (end, found, lower, upper) => {
            let parts = [
                found.map(|found| format!("about {found}")),
                lower.map(|lower| format!("at least {lower}")),
                upper.map(|upper| format!("at most {upper}")),
            ];
            let parts: Vec<String> = parts.into_iter().flatten().collect();
            match parts.as_slice() {
                [] => format!("{}{}", without_bounds(record), because(end)),
                parts => format!(
                    "{objective} holds up to {}{}",
                    parts.join(", "),
                    because(end)
                ),
            }
        }
    }
}

/// Returns the half-width of the interval; 0 if one of its ends is missing.
fn half_width(record: &ObjectiveRecord) -> f64 {
    let ends = record.lower_ops_per_s.zip(record.upper_ops_per_s);
    ends.map_or(0.0, |(lower, upper)| (upper - lower) / 2.0)
}

/// Formats the lower end of an interval; ends are rounded outwards.
fn below(load: f64, half_width: f64) -> String {
    outwards(load, half_width, f64::floor)
}

fn above(load: f64, half_width: f64) -> String {
    outwards(load, half_width, f64::ceil)
}

fn outwards(load: f64, half_width: f64, round: fn(f64) -> f64) -> String {
    match resolution(half_width) {
        unit if unit > 0.0 => load_text(round(load / unit) * unit, half_width),
        _ => units::load(load),
    }
}

/// Describes a search that found neither a load nor a bound.
fn without_bounds(record: &ObjectiveRecord) -> String {
    let objective = record.objective;
    if let Some(held) = record.highest_passed_ops_per_s {
        let broken = record.lowest_failed_ops_per_s;
        let broken = broken.map_or_else(String::new, |broken| {
            format!(", and not at {}", units::load(broken))
        });
        return format!(
            "{objective} holds up to at least {} operations/s{broken}, as far as was seen",
            units::load(held)
        );
    }
    let tried = record.steps.iter().filter(|tried| tried.ended > 0);
    let lowest = tried.min_by(|one, other| {
        let (one, other) = (one.offered_load_ops_per_s, other.offered_load_ops_per_s);
        one.total_cmp(&other)
    });
    match lowest {
        Some(lowest) if !holds(record, lowest) => format!(
            "{objective} does not even hold at the lowest load that was tried, {} operations/s",
            units::load(lowest.offered_load_ops_per_s)
        ),
        _ => format!("{objective}: no load was found"),
    }
}

/// Returns the reason why the result is not more precise.
const fn because(end: SearchStopReason) -> &'static str {
    match end {
        SearchStopReason::TimedOut => {
            "; the search time ended before the requested precision was reached"
        }
        SearchStopReason::Interrupted => "; the search was interrupted",
        SearchStopReason::Precise | SearchStopReason::NeverMet | SearchStopReason::AlwaysMet => "",
    }
}

/// Returns a table with a row per load that was tried, in order.
fn table(record: &ObjectiveRecord) -> Table {
    let figure = record.objective.figure.to_string().to_uppercase();
    let mut table = Table::new([
        Column::figure("OFFERED/S"),
        Column::figure("DONE/S").gives_way(3),
        Column::figure("OPERATIONS").gives_way(2),
        Column::figure(format!("{figure} usecs")),
        Column::figure("ABOVE").gives_way(1),
        Column::figure("ABOVE %"),
        Column::figure("TIME s"),
        Column::text("OBJECTIVE"),
    ]);
    for tried in &record.steps {
        let percent = 100.0 * tried.above as f64 / tried.ended.max(1) as f64;
        let seconds = tried.end_ns.saturating_sub(tried.start_ns) as f64 / 1e9;
        table.row([
            units::load(tried.offered_load_ops_per_s),
            units::load(tried.achieved_load_ops_per_s),
            thousands(tried.ended),
            micros(tried.figure_ns as f64),
            thousands(tried.above),
            format!("{percent:.3}"),
            format!("{seconds:.1}"),
            at_load(LoadVerdict::of(&record.objective, tried)).into(),
        ]);
    }
    table
}

const fn at_load(found: LoadVerdict) -> &'static str {
    match found {
        LoadVerdict::NotKeptUp => "not kept up with",
        LoadVerdict::Judged(Verdict::Passes) => "holds",
        LoadVerdict::Judged(Verdict::Fails) => "broken",
        LoadVerdict::Judged(Verdict::Inconclusive(_)) => "cannot tell",
    }
}

const fn holds(record: &ObjectiveRecord, tried: &SearchStepRecord) -> bool {
    tried.figure_ns < record.objective.below_ns
}

/// Returns the picture of the loads that were tried, in order of load, with the result.
pub fn picture(record: &RunRecord, objective: &ObjectiveRecord) -> Picture {
    let timed = objective.steps.iter().filter(|tried| tried.ended > 0);
    let mut points: Vec<(f64, f64)> = timed
        .map(|tried| (tried.offered_load_ops_per_s, tried.figure_ns as f64 / 1e9))
        .collect();
    points.sort_by(|one, other| one.0.total_cmp(&other.0));
    let below = objective.objective.below_ns as f64 / 1e9;
    let ends = points.first().zip(points.last());
    let bound = ends.map_or_else(Vec::new, |(first, last)| {
        vec![(first.0, below), (last.0, below)]
    });
    let name = objective.objective.figure.to_string();
    let mut lines = vec![
        // Each load was tried separately: no values are known between two of them.
        PlotLine {
            form: Form::Scattered,
            ..PlotLine::joined(&format!("{name} of the loads tried"), Style::First, points)
        },
        PlotLine::joined(&objective.objective.to_string(), Style::Bound, bound),
    ];
    lines.retain(|line| !line.points.is_empty());
    let found = [
        (objective.lower_ops_per_s, "at least"),
        (objective.load_ops_per_s, "most likely"),
        (objective.upper_ops_per_s, "at most"),
    ];
    let mut panel = Panel::new(
        Axis::load("offered load (operations/s)"),
        Axis::time(&format!("{name} of the response time")),
        lines,
    );
    panel.marks = PlotMark::known(found);
    let bounds = objective.lower_ops_per_s.zip(objective.upper_ops_per_s);
    panel.spans.extend(bounds.map(|(from, to)| Span {
        from,
        to,
        text: String::new(),
        is_shaded: true,
    }));
    let title = format!("Highest load with {}", objective.objective);
    let notes = match bounds {
        Some(_) => vec!["grey: the highest load is here, with 95 % confidence".into()],
        None => vec![],
    };
    caption::picture(record, &title, vec![panel], notes)
}

/// Formats the loads that were tried as comma-separated values.
pub fn csv(record: &ObjectiveRecord) -> String {
    let mut text = String::from(
        "offered_load_ops_per_s,achieved_load_ops_per_s,ended,figure_ns,above,start_ns,end_ns,\
         holds\n",
    );
    for tried in &record.steps {
        text.push_str(&format!(
            "{:.3},{:.3},{},{},{},{},{},{}\n",
            tried.offered_load_ops_per_s,
            tried.achieved_load_ops_per_s,
            tried.ended,
            tried.figure_ns,
            tried.above,
            tried.start_ns,
            tried.end_ns,
            u8::from(holds(record, tried)),
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::page::{Detail, PageWidth};
    use crate::fixtures;
    use crate::mix;

    #[test]
    fn a_search_that_found_its_load() {
        let report = mix::report(&fixtures::objective(), Detail::Whole);
        insta::assert_snapshot!(report.text(PageWidth::default()));
    }

    #[test]
    fn every_end_of_a_search_has_its_sentence() {
        let mut record = fixtures::objective().objective.expect("a search");
        let mut text = String::new();
        for end in [
            SearchStopReason::Precise,
            SearchStopReason::TimedOut,
            SearchStopReason::NeverMet,
            SearchStopReason::AlwaysMet,
            SearchStopReason::Interrupted,
        ] {
            record.end = end;
            match end {
                SearchStopReason::NeverMet => {
                    record.load_ops_per_s = None;
                    record.lower_ops_per_s = None;
                }
                SearchStopReason::AlwaysMet => {
                    record.lower_ops_per_s = Some(90_000.0);
                    record.upper_ops_per_s = None;
                }
                SearchStopReason::Interrupted => record.lower_ops_per_s = None,
                SearchStopReason::Precise | SearchStopReason::TimedOut => {}
            }
            text.push_str(&answer(&record));
            text.push('\n');
        }
        insta::assert_snapshot!(text);
    }

    #[test]
    fn what_never_holds_is_said_so_when_time_is_over_too() {
        let mut record = fixtures::objective().objective.expect("a search");
        record.objective.below_ns = 1;
        record.end = SearchStopReason::TimedOut;
        record.load_ops_per_s = None;
        record.lower_ops_per_s = None;
        record.upper_ops_per_s = None;
        record.highest_passed_ops_per_s = None;
        let said = answer(&record);
        assert!(said.contains("does not even hold at the lowest"), "{said}");
        record.steps.clear();
        assert!(answer(&record).contains("no load was found"));
    }

    #[test]
    fn the_values_have_a_row_per_load() {
        insta::assert_snapshot!(csv(&fixtures::objective().objective.expect("a search")));
    }
}
