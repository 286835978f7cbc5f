use super::*;
use crate::document::page::PageWidth;
use crate::{fixtures, json};
use filestone_measure::comparison::{ComparedRun, compare};
use filestone_measure::measure::RunRecord;

fn question() -> ComparisonOptions {
    let judged = ["achieved", "response_time.p50"];
    ComparisonOptions {
        tolerance: 0.0,
        detect: 0.02,
        judged: judged.map(|name| name.parse().expect("a figure")).to_vec(),
    }
}

/// A run whose times are the canned ones multiplied by `slower`, and whose rates are divided by it.
fn run(name: &str, slower: f64, change: impl Fn(&mut RunRecord)) -> ReadRun {
    let mut record = fixtures::in_stretches();
    record.totals.achieved_load_ops_per_s /= slower;
    record.totals.goodput_bytes_per_s /= slower;
    let times = &mut record.totals.response_time_ns;
    times.mean *= slower;
    times.p50 = (times.p50 as f64 * slower) as u64;
    for figure in &mut record.totals.figures {
        let factor = if figure.unit == "ns" {
            slower
        } else {
            1.0 / slower
        };
        figure.value *= factor;
        figure.standard_error *= factor;
    }
    change(&mut record);
    ReadRun {
        path: format!("{name}/run.json").into(),
        run: ComparedRun::from(&record),
    }
}

fn side(name: &str, slower: &[f64]) -> Vec<ReadRun> {
    let runs = (1..).zip(slower);
    runs.map(|(place, slower)| run(&format!("{name}{place}"), *slower, |_| ()))
        .collect()
}

fn compared(base: Vec<ReadRun>, new: Vec<ReadRun>) -> Compared {
    compared_by(question(), base, new)
}

fn compared_by(question: ComparisonOptions, base: Vec<ReadRun>, new: Vec<ReadRun>) -> Compared {
    let side =
        |runs: &[ReadRun]| Side::of(runs.iter().map(|read| read.run.figures(&question.judged)));
    let (one, other) = (side(&base), side(&new));
    let comparison = compare(&one, &other, &question);
    Compared {
        missing: missing(&one, &other, &comparison, &question),
        comparison,
        base,
        new,
        question,
        despite: vec![],
        method: Method::Apart,
    }
}

const BASE: [f64; 4] = [1.0, 1.001, 0.999, 1.0];

#[test]
fn several_runs_that_are_worse() {
    let found = compared(side("a", &BASE), side("b", &[1.04, 1.05, 1.03, 1.04]));
    insta::assert_snapshot!(report(&found).text(PageWidth::default()));
}

#[test]
fn one_run_a_side() {
    let found = compared(side("a", &[1.0]), side("b", &[1.04]));
    insta::assert_snapshot!(report(&found).text(PageWidth::default()));
}

#[test]
fn one_run_against_several_that_are_the_same() {
    let found = compared(side("a", &BASE), side("b", &[1.0]));
    insta::assert_snapshot!(report(&found).text(PageWidth::default()));
}

#[test]
fn runs_that_are_too_short_alone() {
    let short = |name: &str| {
        vec![run(name, 1.0, |record| {
            record.totals.figures.clear();
            record.intervals.clear();
        })]
    };
    let found = compared(short("a"), short("b"));
    assert_eq!(found.comparison.verdict, ComparisonVerdict::Inconclusive);
    insta::assert_snapshot!(report(&found).text(PageWidth::default()));
}

#[test]
fn how_many_runs_would_tell_is_said_roughly_and_of_what_decides() {
    let apart = |spread: f64| side("a", &[1.0, 1.0 + spread, 1.0 / (1.0 + spread), 1.0]);
    let shown =
        |spread: f64| report(&compared(apart(spread), apart(spread))).text(PageWidth::default());
    let wide = shown(4.0);
    assert!(
        wide.starts_with("cannot tell: over 1,000 more runs of 20 s a side would"),
        "{wide}"
    );
    let rough = shown(0.15);
    assert!(
        rough.starts_with("cannot tell: 520 more runs of 20 s a side would"),
        "{rough}"
    );
    let told = rough.matches("more runs");
    assert_eq!(told.count(), 3, "the heading and two rows: {rough}");
}

#[test]
fn a_figure_that_cannot_be_compared_decides_nothing() {
    let mut question = question();
    question.judged = vec!["write.goodput".parse().expect("a figure")];
    let found = compared_by(question, side("a", &BASE), side("b", &BASE));
    let shown = report(&found).text(PageWidth::default()).replace('\n', " ");
    assert!(
        shown.contains("not compared    write.goodput: not both sides have it"),
        "{shown}"
    );
    assert!(
        !shown.contains("decide.") && !shown.contains("* decides"),
        "{shown}"
    );
    assert!(shown.contains("looking at 6 figures (Holm)"), "{shown}");
}

#[test]
fn sides_of_ab_are_called_as_its_options_are() {
    let mut found = compared(side("a", &BASE), side("b", &[1.04, 1.05, 1.03, 1.04]));
    found.method = Method::InTurn;
    let shown = report(&found).text(PageWidth::default());
    assert!(
        shown.starts_with("B is worse: achieved is 3.8 % less"),
        "{shown}"
    );
    let words = shown.split_whitespace();
    let foreign = words.filter(|word| ["base", "new"].contains(word));
    assert_eq!(foreign.count(), 0, "{shown}");
}

#[test]
fn for_programs() {
    let found = compared(side("a", &BASE), side("b", &[0.96, 0.95, 0.97, 0.96]));
    let document = json::document(&document::of(&found)).expect("JSON");
    let document: serde_json::Value = serde_json::from_str(&document).expect("JSON");
    assert_eq!(document["verdict"], "better");
    assert_eq!(document["figures"][0]["is_judged"], true);
    let csv = document::csv(&found);
    let cells = csv.lines().map(|line| line.split(',').count());
    assert!(cells.clone().all(|cells| cells == 15), "{csv}");
    assert_eq!(cells.count(), found.comparison.rows.len() + 1);
}

#[test]
fn both_sides_are_drawn() {
    let found = compared(side("a", &BASE), side("b", &BASE));
    let drawn = picture::picture(&found).expect("our own histograms");
    let names = drawn.panels[0].lines.iter().map(|line| line.name.as_str());
    assert_eq!(names.collect::<Vec<_>>(), ["base", "new"]);
    assert!(crate::picture::render(&drawn).contains("Response times compared"));
}
