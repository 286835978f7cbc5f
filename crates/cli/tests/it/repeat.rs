//! `--repeat`: several runs of the same, what they come to, and runs that are none.

use crate::support::{Running, Scratch, done, filestone, serve, text};
use filestone_measure::measure::RunRecord;
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::Output;

const SHORT: [&str; 5] = ["--duration", "200ms", "--pause", "10ms", "--no-calibrate"];

/// A probe of the built-in server, again and again.
fn repeated<'word>(more: &[&'word str]) -> Vec<&'word str> {
    [&["probe", "getattr"], &SHORT[..], more].concat()
}

fn document(directory: &str) -> Value {
    let path = format!("{directory}/repeats.json");
    let text = std::fs::read_to_string(&path).expect("it was written");
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn repeats_are_summarized_and_compared() {
    let scratch = Scratch::new();
    let directory = scratch.name("runs");
    let output = filestone(&repeated(&[
        "--repeat", "3", "--seed", "5", "-o", &directory,
    ]));
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    // Where lines end depends on the figures.
    let shown = text(&output.stdout).replace('\n', " ");
    assert!(
        shown.contains("3 runs") && shown.contains("repeats best"),
        "{shown}"
    );
    let told = text(&output.stderr);
    assert!(
        told.contains("repeat 1 of 3: ") && told.contains(" left"),
        "{told}"
    );

    let found = document(&directory);
    assert_eq!(found["end"], "all");
    assert_eq!(found["series"][0]["runs"], 3);
    let seeds = ["001", "002", "003"].map(|run| {
        let path = format!("{directory}/{run}/run.json");
        let record = std::fs::read(path).expect("a record of each run");
        let record: RunRecord = serde_json::from_slice(&record).expect("a record");
        record.plan.seed
    });
    assert_eq!(seeds, [5, 6, 7]);

    let one = scratch.name("one");
    let single = ["probe", "getattr", "-d", "200ms", "--no-calibrate"];
    done(&[&single[..], &["-o", &one]].concat());
    let compared = filestone(&["compare", &directory, &one]);
    assert!(
        text(&compared.stdout).contains("3 runs"),
        "{}",
        text(&compared.stderr)
    );
    // A run that is on both sides would be compared with itself.
    let within = format!("{directory}/001");
    let refused = filestone(&["compare", &directory, &within]);
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused.stdout));
    assert!(text(&refused.stderr).contains("this is one run"));
    let report = filestone(&["report", &directory]);
    assert_eq!(report.status.code(), Some(2));
    assert!(text(&report.stderr).contains("these are repeats"));
    let again = filestone(&repeated(&["--repeat", "2", "-o", &directory]));
    assert_eq!(again.status.code(), Some(2), "nothing is overwritten");
}

#[test]
fn it_is_enough_when_the_interval_is_narrow() {
    let scratch = Scratch::new();
    let directory = scratch.name("runs");
    let until = ["--repeat-until", "50%", "-o", &directory];
    let output = filestone(&repeated(&until));
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let found = document(&directory);
    assert_eq!(found["series"][0]["headline"], "achieved");
    let runs = found["series"][0]["runs"].as_u64().expect("a number");
    assert!(
        found["end"] == "enough" && (5..50).contains(&runs),
        "{found:#}"
    );
    assert_eq!(found["runs_max"], 50);
}

#[test]
fn layers_are_measured_in_random_order() {
    let scratch = Scratch::new();
    let directory = scratch.name("runs");
    let on = format!("{},nfs:", scratch.local());
    let output = filestone(&[
        "replay",
        "office",
        "--layer",
        &on,
        "--repeat",
        "4",
        "-d",
        "100ms",
        "--warm-up",
        "0",
        "--pause",
        "0",
        "--seed",
        "1",
        "-o",
        &directory,
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let found = document(&directory);
    let order: Vec<u64> = serde_json::from_value(found["order"].clone()).expect("numbers");
    let rounds: Vec<&[u64]> = order.chunks(2).collect();
    assert_eq!(rounds.len(), 4);
    assert!(
        rounds.iter().all(|round| round.iter().sum::<u64>() == 3),
        "{order:?}"
    );
    assert!(rounds.contains(&[1, 2].as_slice()) && rounds.contains(&[2, 1].as_slice()));
    for layer in ["1-local", "2-nfs"] {
        let side = format!("{directory}/{layer}");
        let runs = text(&done(&["history", &side]).stdout);
        assert!(runs.contains("of 4 runs: "), "{runs}");
    }
}

#[test]
fn a_mix_has_files_of_its_own_in_each_run() {
    let (_server, address, _out) = serve(&[]);
    let target = format!("nfs://{address}/export");
    let scratch = Scratch::new();
    let directory = scratch.name("runs");
    let output = filestone(&[
        "mix",
        &target,
        "-c",
        "2",
        "--files",
        "4",
        "--arrivals",
        "closed",
        "--warm-up",
        "0",
        "-d",
        "200ms",
        "--pause",
        "0",
        "--no-calibrate",
        "--repeat",
        "2",
        "-o",
        &directory,
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    for run in ["001", "002"] {
        let record = std::fs::read(format!("{directory}/{run}/run.json")).expect("a record");
        let record: Value = serde_json::from_slice(&record).expect("JSON");
        let set = &record["plan"]["workload"]["file_set"]["name"];
        assert_eq!(set, "filestone-set-repeat");
        assert_eq!(
            record["mix"]["file_set"]["found"], 0,
            "{:#}",
            record["mix"]["file_set"]
        );
    }
}

#[test]
fn what_was_measured_before_it_was_interrupted_is_kept() {
    let scratch = Scratch::new();
    let directory = scratch.name("runs");
    let mut arguments = repeated(&["--repeat", "50", "-o", &directory]);
    arguments[3] = "400ms";
    let mut run = Running::start(&arguments);
    let mut lines = BufReader::new(run.err()).lines();
    let second = lines.by_ref().map_while(Result::ok);
    let mut second = second.filter(|line| line.starts_with("repeat 2 "));
    assert!(second.next().is_some());
    run.interrupt();
    drop(second);
    lines.by_ref().for_each(drop);
    assert_eq!(run.exit_code(), Some(130));
    let found = document(&directory);
    assert_eq!(found["end"], "interrupted");
    let runs = found["series"][0]["runs"].as_u64().expect("a number");
    assert!((2..5).contains(&runs), "{found:#}");
    let history = text(&done(&["history", &directory]).stdout);
    assert!(history.contains(&format!("of {runs} runs: ")), "{history}");
}

#[test]
fn a_run_that_loses_its_server_is_no_sample() {
    let (server, address, _out) = serve(&[]);
    let target = format!("nfs://{address}/export");
    let scratch = Scratch::new();
    let directory = scratch.name("runs");
    let more = [
        &target,
        "--repeat",
        "50",
        "--reconnect",
        "200ms",
        "-o",
        &directory,
    ];
    let mut run = Running::start(&repeated(&more));
    let mut lines = BufReader::new(run.err()).lines();
    let first = lines.by_ref().map_while(Result::ok);
    let mut first = first.filter(|line| line.starts_with("repeat 1 "));
    assert!(first.next().is_some());
    drop(first);
    drop(server);
    let rest: Vec<String> = lines.map_while(Result::ok).collect();
    assert_eq!(run.exit_code(), Some(3), "{rest:#?}");
    let found = document(&directory);
    assert_eq!(found["end"], "failed", "{rest:#?}");
    done(&["history", &directory]);
}

/// Repeats of a probe whose server fails every second of its calls for a while. Nothing but the probe
/// calls ACCESS.
fn repeated_with_failures(within: &str, pause: &str, more: &[&str]) -> (Output, String) {
    let fault = format!("error=NFS3ERR_IO,proc=access,p=0.5{within}");
    let (_server, address, _out) = serve(&["--fault", &fault]);
    let target = format!("nfs://{address}/export/files");
    let probe = ["probe", "access", &target, "--no-calibrate"];
    let times = ["--duration", "200ms", "--pause", pause];
    let output = filestone(&[&probe[..], &times, more].concat());
    let told = text(&output.stderr);
    (output, told)
}

#[test]
fn a_run_that_does_not_count_is_left_out_with_the_reason() {
    let scratch = Scratch::new();
    let directory = scratch.name("runs");
    // The first run begins before the failures end, and the second after that.
    let more = ["--repeat", "2", "-o", &directory];
    let (output, told) = repeated_with_failures(",to=8s", "9s", &more);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(
        told.contains("repeat 1 of 2: left out: it does not count: ")
            && told.contains("ended otherwise than expected"),
        "{told}"
    );
    assert!(told.contains("repeat 2 of 2: "), "{told}");
    let found = document(&directory);
    assert_eq!(found["end"], "all", "{told}");
    assert_eq!(found["series"][0]["runs"], 1);
    assert!(std::fs::exists(format!("{directory}/001/unfinished.json")).expect("a directory"));
    done(&["history", &directory]);
}

#[test]
fn three_runs_in_a_row_that_do_not_count_end_the_series() {
    for (repeat, left_out) in [("10", 2), ("2", 2)] {
        let (output, told) = repeated_with_failures("", "10ms", &["--repeat", repeat]);
        assert_eq!(output.status.code(), Some(3), "{told}");
        assert_eq!(told.matches(": left out: ").count(), left_out, "{told}");
        let is_ended = told.contains("repeat 3 of 10: it does not count: ")
            && told.contains(", 3 times in a row");
        assert_eq!(is_ended, repeat == "10", "{told}");
        let shown = text(&output.stdout);
        assert!(shown.contains("does not count ("), "{shown}");
    }
}

#[test]
fn what_cannot_be_repeated_is_refused() {
    for (arguments, said) in [
        (vec!["mix", "--curve", "--repeat", "2"], "is steered"),
        (vec!["probe", "null", "--repeat", "1"], "from 2 to 999"),
        (vec!["probe", "null", "--pause", "1"], "only one run"),
        (vec!["probe", "null", "--repeat-until", "0%"], "0.1% to 50%"),
    ] {
        let output = filestone(&arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let shown = text(&output.stderr);
        assert!(shown.contains(said), "{arguments:?}: {shown}");
    }
}
