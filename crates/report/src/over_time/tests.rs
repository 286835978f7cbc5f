use super::*;
use crate::fixtures;
use crate::picture::render;

fn line<'picture>(picture: &'picture Picture, name: &str) -> &'picture PlotLine {
    let mut lines = picture.panels.iter().flat_map(|panel| &panel.lines);
    lines
        .find(|line| line.name.starts_with(name))
        .unwrap_or_else(|| panic!("no line {name}"))
}

/// A record with `count` intervals, all like its first.
fn stretched(count: u64) -> RunRecord {
    let mut record = fixtures::with_errors();
    let first = record.intervals[0].clone();
    record.intervals = (0..count)
        .map(|index| IntervalRecord {
            start_ns: index * 1_000_000_000,
            end_ns: (index + 1) * 1_000_000_000,
            ..first.clone()
        })
        .collect();
    record.window_ns = count * 1_000_000_000;
    record
}

#[test]
fn errors_and_loads_are_rates_in_the_middle_of_their_interval() {
    let picture = picture(&fixtures::with_errors());
    let errors = line(&picture, "errors");
    assert_eq!(errors.points.len(), 1);
    assert_eq!((errors.points[0].x, errors.points[0].y), (1.5, 9.0));
    let succeeded = line(&picture, "succeeded");
    let points: Vec<(f64, f64)> = succeeded.points.iter().map(|p| (p.x, p.y)).collect();
    assert_eq!(points, [(0.5, 200.0), (1.5, 191.0), (2.5, 200.0)]);
    insta::assert_snapshot!(render(&picture));
}

#[test]
fn a_stopped_load_generator_takes_no_point_from_the_lines_of_load() {
    let mut record = stretched(20);
    // Stalled from 5 to 8 s: a worker delivered one interval of 3 s.
    record.intervals[5].end_ns = 8_000_000_000;
    record.intervals.drain(6..8);
    let picture = picture(&record);
    assert_eq!(line(&picture, "succeeded").points.len(), 18);
}

#[test]
fn a_thinned_line_keeps_its_extremes() {
    let mut record = stretched(1000);
    record.intervals[123].ledger.ok = 0;
    let slow = 9_999_999_999;
    record.intervals[876].kinds[0].response_time_ns.max = slow;
    let picture = picture(&record);
    let succeeded = line(&picture, "succeeded");
    assert!(succeeded.points.len() <= 2 * POINTS_MAX);
    assert!(succeeded.points.iter().any(|point| point.y == 0.0));
    let slowest = line(&picture, "slowest");
    assert!(slowest.points.len() <= POINTS_MAX);
    assert!(slowest.points.iter().any(|point| point.y == seconds(slow)));
    assert!(
        picture.notes[0].contains("stands for 5 intervals of 1 s"),
        "{:?}",
        picture.notes
    );
    let svg = render(&picture);
    assert!(svg.len() < 60_000, "{}", svg.len());
}

#[test]
fn an_interval_in_which_nothing_ended_interrupts_the_lines() {
    let mut record = stretched(3);
    record.intervals[1].kinds.clear();
    let picture = picture(&record);
    let median = line(&picture, "p50");
    assert_eq!(median.points.len(), 2);
    assert!(median.points[1].is_after_gap);
}

#[test]
fn warm_up_window_and_drain_have_their_names() {
    let mut record = stretched(10);
    record.plan.warm_up_ns = 60_000_000_000;
    record.intervals.push(IntervalRecord {
        start_ns: 10_000_000_000,
        end_ns: 12_000_000_000,
        phase: Phase::Drain,
        ..record.intervals[0].clone()
    });
    let spans = spans(&record);
    let ends: Vec<(f64, f64, &str)> = spans
        .iter()
        .map(|span| (span.from, span.to, span.text.as_str()))
        .collect();
    assert_eq!(
        ends,
        [
            (-1.0, 0.0, "warm-up, 60 s"),
            (0.0, 10.0, "measured, 10 s"),
            (10.0, 12.0, "drain")
        ]
    );
}

#[test]
fn a_last_interval_of_a_moment_has_no_rate() {
    let mut record = stretched(3);
    record.intervals[2].end_ns = record.intervals[2].start_ns + 1;
    let picture = picture(&record);
    assert_eq!(line(&picture, "succeeded").points.len(), 2);
}

#[test]
fn a_steered_run_shows_its_steps() {
    let picture = picture(&fixtures::curve());
    let offered = line(&picture, "offered load");
    let curve = fixtures::curve().curve.expect("a curve");
    assert_eq!(offered.points.len(), 2 * curve.points.len());
    // Two seconds of warm-up before each.
    assert_eq!(picture.panels[0].spans.len(), curve.points.len());
    assert_eq!(
        (
            picture.panels[0].spans[1].from,
            picture.panels[0].spans[1].to
        ),
        (7.0, 9.0)
    );
}
