//! `filestone mix` looking for loads, from outside: curves, objectives, and what is left of
//! them when they are cut short.

use crate::support::{Running, Scratch, filestone, record_of, serve, text};
use filestone_measure::measure::RunRecord;
use filestone_measure::measure::curve_record::{SearchStopReason, SweepDirection};
use filestone_measure::measure::run_record::RunOutcome;
use std::io::{BufRead, BufReader, Read};

/// Two clients, few points of few hundred milliseconds.
const POINTS: [&str; 10] = [
    "--curve",
    "--points",
    "3",
    "--point-duration",
    "300ms",
    "--point-warm-up",
    "300ms",
    "--no-calibrate",
    "-c",
    "2",
];

/// A queue of two servers, each of which ends 1000 operations a second.
const QUEUE: [&str; 4] = ["--service-time", "exp:1ms", "--service-workers", "2"];

#[test]
fn a_curve_has_its_points_its_peak_and_its_knee_in_every_format() {
    let (_server, address, _out) = serve(&QUEUE);
    let target = format!("nfs://{address}/export");
    let scratch = Scratch::new();
    let kept = scratch.name("kept");
    let rest = ["--peak", "1800", "--files", "5", "-o", &kept];
    let output = filestone(&[&["mix", &target, "--format", "json"], &POINTS[..], &rest].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let record = record_of(&output);
    let curve = record.curve.expect("a curve");
    let legs: Vec<SweepDirection> = curve.points.iter().map(|point| point.leg).collect();
    let (up, down) = (SweepDirection::Up, SweepDirection::Down);
    assert_eq!(legs, [up, up, up, down, down]);
    let offered = curve
        .points
        .iter()
        .map(|point| point.offered_load_ops_per_s);
    assert_eq!(
        offered.collect::<Vec<_>>(),
        [600.0, 1200.0, 1800.0, 1200.0, 600.0]
    );
    assert!(curve.peak_ops_per_s > 0.0);
    assert_eq!(record.totals.ledger.failed, 0);
    for (format, beginning) in [
        ("text", "verdict         "),
        ("csv", "leg,offered_load_ops_per_s,"),
        ("gnuplot", "$found << EOD"),
        ("svg", "<svg "),
    ] {
        let report = filestone(&["report", &kept, "--format", format]);
        assert_eq!(
            report.status.code(),
            Some(0),
            "{format}: {}",
            text(&report.stderr)
        );
        assert!(text(&report.stdout).starts_with(beginning), "{format}");
    }
    let shown = text(&filestone(&["report", &kept]).stdout);
    for part in [
        "\nmix sfs2008 of nfs://",
        "\nup ",
        "\ndown ",
        "\npeak  ",
        "\nknee  ",
        "\noverall  ",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let drawn_by_gnuplot = "curve.png".to_string();
    let mut names: Vec<String> = std::fs::read_dir(scratch.path().join("kept"))
        .expect("it was made")
        .map(|entry| text(entry.expect("an entry").file_name().as_encoded_bytes()))
        .filter(|name| *name != drawn_by_gnuplot)
        .collect();
    names.sort();
    // No script and no table of what is not drawn of a curve.
    let expected = [
        "curve.csv",
        "curve.gnuplot",
        "curve.svg",
        "intervals.hlog",
        "over-time.svg",
        "report.html",
        "run.json",
    ];
    assert_eq!(names, expected);
    let refused = filestone(&["report", &kept, "--format", "percentiles.svg"]);
    assert_eq!(refused.status.code(), Some(2));
}

#[test]
fn a_search_for_an_objective_says_what_it_tried_and_why_it_ended() {
    let (_server, address, _out) = serve(&QUEUE);
    let target = format!("nfs://{address}/export");
    let scratch = Scratch::new();
    let kept = scratch.name("kept");
    let rest = [
        "--search-timeout",
        "2s",
        "--no-calibrate",
        "-c",
        "2",
        "--files",
        "5",
    ];
    let asked = ["mix", &target, "--slo", "p90<10ms", "-o", &kept];
    let output = filestone(&[&asked[..], &rest].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let shown = text(&output.stdout);
    assert!(shown.contains("\np90<10ms"), "{shown}");
    let report = filestone(&["report", &kept, "--format", "json"]);
    let record = record_of(&report);
    let objective = record.objective.expect("a search");
    assert!(!objective.steps.is_empty());
    assert!(matches!(
        objective.end,
        SearchStopReason::TimedOut | SearchStopReason::Precise
    ));
    let csv = text(&filestone(&["report", &kept, "--format", "csv"]).stdout);
    assert_eq!(csv.lines().count(), objective.steps.len() + 1, "{csv}");
    assert!(scratch.path().join("kept/search.svg").is_file());
    // What was due beyond the server's load is no row per operation.
    assert!(!shown.contains("skipped: due"), "{shown}");
}

#[test]
fn an_interrupted_curve_keeps_the_points_that_it_has_and_exits_with_130() {
    let rest = ["--peak", "900", "-m", "100ms", "--format", "json"];
    let mut points = POINTS.to_vec();
    points[2] = "100";
    let mut run = Running::start(&[&["mix"], &points[..], &rest].concat());
    // A point takes six rows, and one of them is on the way.
    let mut rows = BufReader::new(run.err());
    for _ in 0..20 {
        rows.read_line(&mut String::new()).expect("a row");
    }
    run.interrupt();
    let mut document = String::new();
    run.out().read_to_string(&mut document).expect("a record");
    let record: RunRecord = serde_json::from_str(&document).expect("a whole record");
    assert_eq!(record.check(), Ok(()));
    assert_eq!(record.end, RunOutcome::Interrupted);
    let curve = record.curve.expect("a curve");
    assert!(
        !curve.points.is_empty() && curve.points.len() < 100,
        "{}",
        curve.points.len()
    );
    assert_eq!(run.exit_code(), Some(130));
}
