//! `filestone sweep`: points in random order, what they come to, and how it goes on.

use crate::support::{Running, Scratch, done, done_in_time, filestone, serve, text};
use filestone_measure::measure::RunRecord;
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

const SHORT: [&str; 4] = ["--pause", "5ms", "--seed", "5"];
const PROBE: [&str; 5] = ["probe", "read", "-d", "200ms", "--no-calibrate"];

/// A sweep over a probe of the built-in server.
fn sweep<'word>(more: &[&'word str], behind: &[&'word str]) -> Vec<&'word str> {
    [&["sweep"], &SHORT[..], more, &["--"], &PROBE, behind].concat()
}

fn document(directory: &str) -> Value {
    let text = fs::read_to_string(format!("{directory}/sweep.json")).expect("it was written");
    serde_json::from_str(&text).expect("JSON")
}

fn record(path: &Path) -> RunRecord {
    let text = fs::read(path).expect("a record of each run");
    serde_json::from_slice(&text).expect("a record")
}

/// All records below a sweep's directory: their paths and texts.
fn records(directory: &str) -> Vec<(PathBuf, String)> {
    let points = fs::read_dir(directory).expect("it is there");
    let points = points
        .map(|point| point.expect("an entry").path())
        .filter(|path| path.is_dir());
    let runs = points.flat_map(|point| fs::read_dir(point).expect("a point"));
    let records = runs.map(|run| run.expect("an entry").path().join("run.json"));
    let mut records: Vec<_> = records
        .filter_map(|path| Some((path.clone(), fs::read_to_string(path).ok()?)))
        .collect();
    records.sort();
    records
}

#[test]
fn every_point_is_measured_in_random_order_and_reported_again() {
    let scratch = Scratch::new();
    let directory = scratch.name("swept");
    let over = [
        "--param",
        "io-size=512,4K",
        "--param",
        "transport=tcp,udp",
        "--repeat",
        "2",
    ];
    let output = done(&sweep(&[&over[..], &["-o", &directory]].concat(), &[]));
    let told = text(&output.stderr);
    assert!(
        told.contains("io-size=512, transport=udp, run 1 of 2: "),
        "{told}"
    );
    assert!(told.contains(" left"), "{told}");
    let shown = text(&output.stdout);
    // Where lines end depends on their words.
    let words = shown.replace('\n', " ");
    assert!(
        words.contains("4 points, 8 runs") && shown.contains("4 KiB"),
        "{shown}"
    );

    let found = document(&directory);
    let order: Vec<u64> = serde_json::from_value(found["order"].clone()).expect("numbers");
    assert_eq!(order.len(), 8);
    for round in order.chunks(4) {
        let mut sorted = round.to_vec();
        sorted.sort_unstable();
        assert_eq!(sorted, [1, 2, 3, 4], "{order:?}");
    }
    assert_ne!(order[..4], [1, 2, 3, 4], "in order of the seed");
    let second = record(Path::new(&format!(
        "{directory}/3-io-size=512,transport=udp/002/run.json"
    )));
    assert_eq!(second.plan.seed, 6);
    assert_eq!(second.plan.probe().map(|probe| probe.size_bytes), Some(512));

    let again = text(&done(&["report", &directory]).stdout);
    assert_eq!(again, shown);
    let csv = text(&done(&["report", &directory, "--format", "csv"]).stdout);
    assert!(
        csv.starts_with("io_size,transport,runs,errors,retransmissions,late_replies,failed,"),
        "{csv}"
    );
    assert_eq!(csv.lines().count(), 5);
    assert_eq!(
        csv,
        fs::read_to_string(format!("{directory}/sweep.csv")).expect("a file")
    );
    for name in ["sweep.svg", "sweep.gnuplot", "report.html"] {
        assert!(Path::new(&directory).join(name).is_file(), "{name}");
    }
    for (arguments, said) in [
        (["report", &directory, "--format", "hdr"], "this is a sweep"),
        (
            ["report", &directory, "--fail-if", "errors"],
            "gates are of runs",
        ),
        (
            ["history", &directory, "--format", "json"],
            "this is a sweep",
        ),
        (
            ["explain", &directory, "--format", "json"],
            "this is a sweep",
        ),
    ] {
        let refused = filestone(&arguments);
        assert_eq!(refused.status.code(), Some(2), "{arguments:?}");
        assert!(
            text(&refused.stderr).contains(said),
            "{}",
            text(&refused.stderr)
        );
    }
}

#[test]
fn it_goes_on_where_it_was_interrupted_as_if_it_had_not_been() {
    let scratch = Scratch::new();
    let (whole, broken) = (scratch.name("whole"), scratch.name("broken"));
    let over = ["--param", "in-flight=1..4", "--repeat", "2", "-o"];
    done(&sweep(&[&over[..], &[&whole]].concat(), &[]));
    let line = sweep(&[&over[..], &[&broken]].concat(), &[]);

    let mut first = Running::start(&line);
    let mut said = BufReader::new(first.err());
    let mut told = String::new();
    while told.matches("run ").count() < 3 {
        assert_ne!(
            said.read_line(&mut told).expect("it says what it does"),
            0,
            "{told}"
        );
    }
    first.interrupt();
    let rest: Vec<String> = said.lines().map_while(Result::ok).collect();
    assert_eq!(first.exit_code(), Some(130), "{rest:?}");
    let rest = rest.join("\n");
    assert!(rest.contains("the same command line goes on"), "{rest}");
    assert_eq!(document(&broken)["end"], "interrupted");
    let kept = records(&broken);
    assert!((3..6).contains(&kept.len()), "{}", kept.len());

    // One more that was broken off: half of a record is none.
    let (path, half) = kept.first().expect("three at least");
    fs::write(path, &half[..half.len() / 2]).expect("it is ours");
    let second = done(&line);
    let told = text(&second.stderr);
    assert!(
        told.contains("this record was broken off; it is made again"),
        "{told}"
    );
    assert!(
        told.contains("there already, from an earlier time"),
        "{told}"
    );
    let [found, expected] = [&broken, &whole].map(|directory| document(directory));
    assert_eq!(found["order"], expected["order"]);
    assert_eq!(found["end"], "all");
    let now = records(&broken);
    assert_eq!(now.len(), 6);
    for (path, text) in &kept[1..] {
        assert!(
            now.contains(&(path.clone(), text.clone())),
            "{} was measured again",
            path.display()
        );
    }
    // With all runs there, nothing is measured.
    let third = text(&done(&line).stderr);
    assert!(!third.contains("run 1 of 2: "), "{third}");
}

#[test]
fn another_sweep_is_refused_and_more_runs_are_not() {
    let scratch = Scratch::new();
    let directory = scratch.name("swept");
    let begin = [
        "--param",
        "io-size=512,1K",
        "--repeat",
        "1",
        "-o",
        &directory,
    ];
    done(&sweep(&begin, &[]));
    for (more, behind, why) in [
        (
            vec!["--param", "io-size=512,2K"],
            vec![],
            "its point io-size=1024 is not io-size=2048",
        ),
        (
            vec!["--param", "io-size=512"],
            vec![],
            "it has 2 points, and not 1",
        ),
        (
            vec!["--param", "io-size=512,1K"],
            vec!["-j", "2"],
            "its point io-size=512 has another plan",
        ),
        (
            vec!["--param", "io-size=512,1K", "--seed", "6"],
            vec![],
            "its seed is 5, and not 6",
        ),
    ] {
        let mut line = sweep(&[&more[..], &["-o", &directory]].concat(), &behind);
        if more.contains(&"--seed") {
            line.drain(3..5);
        }
        let refused = filestone(&line);
        assert_eq!(refused.status.code(), Some(2), "{line:?}");
        assert!(
            text(&refused.stderr).contains(why),
            "{}",
            text(&refused.stderr)
        );
    }
    let other = scratch.file("other", "something");
    let refused = filestone(&sweep(
        &["--param", "io-size=1", "-o", &scratch.name("")],
        &[],
    ));
    assert_eq!(refused.status.code(), Some(2), "{other} must stay");
    let more = [
        "--param",
        "io-size=512,1K",
        "--repeat",
        "2",
        "-o",
        &directory,
    ];
    done(&sweep(&more, &[]));
    assert_eq!(records(&directory).len(), 4);
}

#[test]
fn every_point_is_planned_before_anything_runs() {
    let planned = done(&sweep(
        &["--param", "io-size=512..2K", "--dry-run"],
        &["-j", "3"],
    ));
    let points: Value = serde_json::from_slice(&planned.stdout).expect("JSON");
    let points = points.as_array().expect("a list");
    assert_eq!(points.len(), 3);
    assert_eq!(points[2]["point"], "io-size=2048");
    assert_eq!(points[2]["plan"]["in_flight"], 3);
    for (over, behind, said) in [
        ("io-size=512,2M", vec![], "point io-size=2097152: "),
        (
            "transport=tcp,sctp",
            vec![],
            "point transport=sctp: --transport sctp: ",
        ),
        ("sise=1", vec![], "--param sise: probe has no option --sise"),
        (
            "io-size=1",
            vec!["-o", "x"],
            "--output behind --: here it is sweep's",
        ),
        ("io-size=1", vec!["--io-size", "2"], "--io-size behind --"),
        (
            "io-size=1",
            vec!["-s", "2"],
            "point io-size=1: --io-size: given twice",
        ),
    ] {
        let refused = filestone(&sweep(&["--param", over], &behind));
        assert_eq!(refused.status.code(), Some(2), "{over}");
        assert!(
            text(&refused.stderr).contains(said),
            "{}",
            text(&refused.stderr)
        );
    }
}

#[test]
fn a_point_that_cannot_be_measured_is_left_out_and_the_others_go_on() {
    // A server that refuses every READ, whatever its size.
    let (_server, address, _out) = serve(&["--fault", "error=NFS3ERR_IO,proc=read"]);
    let target = format!("nfs://{address}/export/file");
    let over = ["--param", "io-size=1,2", "--repeat", "1", "--format", "csv"];
    let output = filestone(&sweep(&over, &[&target]));
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    assert!(
        text(&output.stderr).contains("left out: nothing succeeded"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn it_is_enough_when_the_interval_is_narrow_and_gates_are_of_each_run() {
    let until = [
        "--param",
        "clients=1,2",
        "--repeat-until",
        "50%",
        "--figure",
        "achieved",
        "--format",
        "json",
    ];
    let output = filestone(&sweep(&until, &["--fail-if", "achieved > 1/s"]));
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(found["end"], "enough");
    let runs = found["points"]
        .as_array()
        .expect("points")
        .iter()
        .map(|point| point["runs"].as_u64());
    let runs: Vec<_> = runs.collect();
    assert!(
        runs.len() == 2 && runs.iter().all(|runs| *runs >= Some(5)),
        "{runs:?}"
    );
}

/// Costs that the runs read have columns and can be what a sweep is about; what they do not read is refused.
#[test]
fn costs_are_columns_and_figures_where_they_are_read() {
    let scratch = Scratch::new();
    let directory = scratch.name("costs");
    let about = [
        "--param",
        "io-size=512,4K",
        "--repeat",
        "2",
        "--figure",
        "wire_bytes_per_operation",
        "-o",
        &directory,
    ];
    let read = [
        "--cost",
        "--idle-baseline",
        "200ms",
        "--cost-interval",
        "100ms",
    ];
    let shown = text(&done(&sweep(&about, &read)).stdout);
    assert!(shown.contains("wire bytes"), "{shown}");
    assert!(!shown.contains("server CPU"), "{shown}");
    let csv = fs::read_to_string(format!("{directory}/sweep.csv")).expect("rows");
    assert!(csv.contains(",wire_bytes_per_operation_bytes,"), "{csv}");
    let found = document(&directory);
    assert_eq!(found["figure"], "wire_bytes_per_operation");

    let output = filestone(&sweep(&about[..6], &[]));
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(
        told.contains("does not read what operations cost"),
        "{told}"
    );
    let output = filestone(&sweep(&[&about[..4], &["--cost"]].concat(), &[]));
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("--read-study"), "{told}");
}

/// The study of a server on the loopback interface, which is its own other end: all graphs but those of
/// what comes back and of the server's host.
#[test]
fn the_read_study_is_a_sweep_with_graphs_of_its_own() {
    let scratch = Scratch::new();
    let directory = scratch.name("study");
    let (_server, address, _out) = serve(&["--file-size", "1M"]);
    let target = format!("nfs://{address}/export/file");
    let quick = [
        "--repeat",
        "1",
        "--pause",
        "0",
        "--idle-baseline",
        "5ms",
        "--cost-interval",
        "100ms",
    ];
    let study = [
        &["sweep", "--read-study", &target, "-o", &directory],
        &quick[..],
        &["--", "-d", "20ms", "--warm-up", "0"],
    ];
    // What an attempt has measured stays in the directory.
    let output = done_in_time(&study.concat());
    let told = text(&output.stderr);
    assert!(
        told.contains("over udp the server takes reads of up to "),
        "{told}"
    );
    let shown = text(&output.stdout);
    let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.starts_with("read study: ") && words.contains("85 points, 85 runs"),
        "{shown}"
    );
    assert!(words.contains("GETATTR − NULL over udp: "), "{shown}");
    assert!(words.contains("--server-pid, --server-local, "), "{shown}");
    for name in ["sweep", "response-time", "packets", "interrupts"] {
        let svg = fs::read_to_string(format!("{directory}/{name}.svg")).expect(name);
        assert!(svg.starts_with("<svg "), "{name}");
    }
    let csv = fs::read_to_string(format!("{directory}/sweep.csv")).expect("rows");
    assert!(
        csv.starts_with("call,transport,") && csv.contains("\ngetattr,udp,"),
        "{csv}"
    );
    let again = text(&done(&["report", &directory]).stdout);
    assert_eq!(again, shown);
}

#[test]
fn the_read_study_says_before_how_long_it_takes() {
    let target = [
        "sweep",
        "--read-study",
        "nfs://127.0.0.1:1/export/file",
        "--dry-run",
    ];
    let shown = text(&done(&target).stdout);
    let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("258 runs, 3 of each, in random order: about 12 min 30 s"),
        "{shown}"
    );
    let plans = done(&[&target[..], &["--format", "json"]].concat());
    let plans: Vec<Value> = serde_json::from_slice(&plans.stdout).expect("plans");
    assert_eq!(plans.len(), 86);
    let refused = filestone(&[&target[..], &["--", "--io-size", "4K"]].concat());
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused.stderr));
}
