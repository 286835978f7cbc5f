//! The report of a search: the highest load that keeps an objective, as an interval, and
//! the loads that were tried.

use super::curve::subtitle;
use super::picture::{Axis, Line, Mark, Picture, Style};
use super::{micros, mix, sketch, text};
use crate::quantity::{grouped, time_text};
use filestone_model::measure::RunRecord;
use filestone_model::measure::caveat::quantile_name;
use filestone_model::measure::curve_record::{ObjectiveRecord, SearchEnd, TriedRecord};
use filestone_model::plan::{Figure, Objective};

/// The report; nothing if the record is not a search's.
pub fn render(record: &RunRecord) -> String {
    let Some(objective) = &record.objective else {
        return String::new();
    };
    let mut text = text::heading(record);
    text.push_str(&format!("\n{}\n", answer(objective)));
    text.push_str(&table(objective));
    text.push_str(&sketch::render(&picture(record, objective)));
    if let (Some(plan), Some(mix)) = (record.plan.mix(), &record.mix) {
        text.push('\n');
        for (name, value) in mix::what_was_asked(record, plan, &mix.file_set) {
            text.push_str(&format!("{name:<16}{value}\n"));
        }
    }
    text.push_str(&mix::errors(record));
    text.push_str(&text::ledger(&record.totals.ledger));
    text
}

/// `p99 < 2.00 ms`.
pub fn objective_text(objective: &Objective) -> String {
    format!(
        "{} < {}",
        figure_name(objective.figure),
        time_text(objective.below_ns as f64)
    )
}

/// `mean`, `p99`.
pub fn figure_name(figure: Figure) -> String {
    match figure {
        Figure::Mean => "mean".into(),
        Figure::Quantile { quantile } => quantile_name(quantile),
    }
}

/// What was found, in one sentence.
fn answer(record: &ObjectiveRecord) -> String {
    let objective = objective_text(&record.objective);
    let between = match (record.lower_ops_per_s, record.upper_ops_per_s) {
        (Some(lower), Some(upper)) => Some(format!(
            "between {} and {} operations/s",
            load(lower),
            load(upper)
        )),
        (Some(lower), None) => Some(format!("at least {} operations/s", load(lower))),
        (None, Some(upper)) => Some(format!("at most {} operations/s", load(upper))),
        (None, None) => None,
    };
    let end = match record.end {
        SearchEnd::Precise => "",
        SearchEnd::TimeOver => "; time was over before it was known as precisely as was asked",
        SearchEnd::NeverHolds => "; it does not even hold at the lowest load that was tried",
        SearchEnd::AlwaysHolds => "; it holds at every load that the load generator can offer",
        SearchEnd::Interrupted => "; somebody stopped the search",
    };
    match (record.load_ops_per_s, between) {
        (Some(most_likely), Some(between)) => format!(
            "{objective} holds up to {} operations/s: {between} with 95 % confidence{end}",
            load(most_likely)
        ),
        (None, Some(between)) => {
            format!("{objective} holds up to {between}, with 95 % confidence{end}")
        }
        (Some(most_likely), None) => {
            format!("{objective} holds up to about {} operations/s{end}", load(most_likely))
        }
        (None, None) => format!("{objective}: no load was found{end}"),
    }
}

fn load(load: f64) -> String {
    if load < 1000.0 {
        format!("{load:.1}")
    } else {
        grouped(load.round() as u64)
    }
}

/// One row per load that was tried, in order.
fn table(record: &ObjectiveRecord) -> String {
    let figure = figure_name(record.objective.figure).to_uppercase();
    let mut text = format!(
        "\n{:>10}{:>10}{:>12}{:>14}{:>12}{:>10}{:>10}  OBJECTIVE\n",
        "OFFERED/S",
        "DONE/S",
        "OPERATIONS",
        format!("{figure} usecs"),
        "ABOVE",
        "ABOVE %",
        "TIME s"
    );
    for tried in &record.tried {
        let percent = 100.0 * tried.above as f64 / tried.ended.max(1) as f64;
        let holds = if holds(record, tried) { "holds" } else { "broken" };
        text.push_str(&format!(
            "{:>10}{:>10}{:>12}{:>14}{:>12}{percent:>10.3}{:>10.1}  {holds}\n",
            load(tried.offered_load_ops_per_s),
            load(tried.achieved_load_ops_per_s),
            grouped(tried.ended),
            micros(tried.figure_ns as f64),
            grouped(tried.above),
            tried.end_ns.saturating_sub(tried.start_ns) as f64 / 1e9,
        ));
    }
    text
}

const fn holds(record: &ObjectiveRecord, tried: &TriedRecord) -> bool {
    tried.figure_ns < record.objective.below_ns
}

/// The loads that were tried as a picture, in order of load, with what was found.
pub fn picture(record: &RunRecord, objective: &ObjectiveRecord) -> Picture {
    let timed = objective.tried.iter().filter(|tried| tried.ended > 0);
    let mut points: Vec<(f64, f64)> = timed
        .map(|tried| (tried.offered_load_ops_per_s, tried.figure_ns as f64 / 1e9))
        .collect();
    points.sort_by(|one, other| one.0.total_cmp(&other.0));
    let below = objective.objective.below_ns as f64 / 1e9;
    let ends = points.first().zip(points.last());
    let bound = ends.map_or_else(Vec::new, |(first, last)| {
        vec![(first.0, below), (last.0, below)]
    });
    let name = figure_name(objective.objective.figure);
    let mut lines = vec![
        Line::new(&format!("{name} of the loads tried"), Style::First, points),
        Line::new(&objective_text(&objective.objective), Style::Bound, bound),
    ];
    lines.retain(|line| !line.points.is_empty());
    let found = [
        (objective.lower_ops_per_s, "at least"),
        (objective.load_ops_per_s, "most likely"),
        (objective.upper_ops_per_s, "at most"),
    ];
    Picture {
        title: format!(
            "Highest load with {} of {}",
            objective_text(&objective.objective),
            text::place_of(&record.plan.target)
        ),
        subtitle: subtitle(record),
        x: Axis::load("offered load (operations/s)"),
        y: Axis::time(&format!("{name} of the response time")),
        lines,
        marks: found
            .into_iter()
            .filter_map(|(x, text)| Some(Mark { x: x?, text: text.into() }))
            .collect(),
    }
}

/// The loads that were tried as comma-separated values.
pub fn csv(record: &ObjectiveRecord) -> String {
    let mut text = String::from(
        "offered_load_ops_per_s,achieved_load_ops_per_s,ended,figure_ns,above,start_ns,end_ns,\
         holds\n",
    );
    for tried in &record.tried {
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
    use crate::render::canned;

    #[test]
    fn a_search_that_found_its_load() {
        insta::assert_snapshot!(render(&canned::objective()));
    }

    #[test]
    fn every_end_of_a_search_has_its_sentence() {
        let mut record = canned::objective().objective.expect("a search");
        let mut text = String::new();
        for end in [
            SearchEnd::Precise,
            SearchEnd::TimeOver,
            SearchEnd::NeverHolds,
            SearchEnd::AlwaysHolds,
            SearchEnd::Interrupted,
        ] {
            record.end = end;
            match end {
                SearchEnd::NeverHolds => {
                    record.load_ops_per_s = None;
                    record.lower_ops_per_s = None;
                }
                SearchEnd::AlwaysHolds => {
                    record.lower_ops_per_s = Some(90_000.0);
                    record.upper_ops_per_s = None;
                }
                SearchEnd::Interrupted => record.lower_ops_per_s = None,
                SearchEnd::Precise | SearchEnd::TimeOver => {}
            }
            text.push_str(&answer(&record));
            text.push('\n');
        }
        insta::assert_snapshot!(text);
    }

    #[test]
    fn the_values_have_a_row_per_load() {
        insta::assert_snapshot!(csv(&canned::objective().objective.expect("a search")));
    }
}
