//! `filestone replay` and dbench's own command line, from outside, for a moment
//! each: what must hold of every run is checked, numbers are not.

use crate::support::{Scratch, filestone, text};
use filestone_measure::measure::RunRecord;
use filestone_measure::measure::run_record::RunOutcome;
use std::path::Path;

#[test]
fn one_load_on_three_layers_is_three_records_without_a_mismatch() {
    let scratch = Scratch::new();
    let layers = format!("{},tcp:,nfs:", scratch.local());
    let output = filestone(&[
        "replay",
        "mail",
        "--run-once",
        "-c",
        "2",
        "--layer",
        &layers,
        "--format",
        "json",
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let records: Vec<RunRecord> =
        serde_json::from_slice(&output.stdout).expect("a list of records");
    assert_eq!(records.len(), 3);
    for record in &records {
        assert_eq!(record.check(), Ok(()));
        assert_eq!(record.end, RunOutcome::Finished);
        let replay = record.replay.as_ref().expect("a replay");
        assert_eq!(replay.mismatch_count, 0, "{:?}", replay.mismatches);
        assert_eq!(replay.clients.len(), 2);
        let lines: Vec<u64> = replay.clients.iter().map(|client| client.lines).collect();
        assert_eq!(lines[0], lines[1]);
    }
    let ended = records.iter().map(|record| record.totals.ledger.ended());
    let ended: Vec<u64> = ended.collect();
    assert!(ended.iter().all(|count| *count == ended[0]), "{ended:?}");
    assert!(scratch.is_empty());
}

/// Two passes of two clients: what is named at the top of the share is below `clients` here.
#[test]
fn a_load_that_names_files_by_path_is_met_line_by_line() {
    let scratch = Scratch::new();
    let folder = Scratch::new();
    let load = folder.file("by_path.load", include_str!("by_path.load"));
    let layers = format!("{},nfs:", scratch.local());
    let on_layers = [
        "-c",
        "2",
        "--layer",
        &layers,
        "--run-once",
        "--format",
        "json",
    ];
    let output = filestone(&[&["replay", &load][..], &on_layers].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let records: Vec<RunRecord> =
        serde_json::from_slice(&output.stdout).expect("a list of records");
    assert_eq!(records.len(), 2);
    for record in &records {
        assert_eq!(record.check(), Ok(()));
        let replay = record.replay.as_ref().expect("a replay");
        assert_eq!(replay.mismatch_count, 0, "{:?}", replay.mismatches);
        // 50 + 3 × 4096 + 65,536 + 1 + 10 bytes of each client.
        assert_eq!(replay.bytes_written, 2 * 77_885);
        // 84 + 84 + 4096 + 1 + 65,536: a short read counts with what it brought.
        assert_eq!(replay.bytes_read, 2 * 69_801);
    }
    assert!(scratch.is_empty());
    let refused = filestone(&["replay", &load, "--run-once", "--layer", "tcp:"]);
    assert_eq!(refused.status.code(), Some(2));
    let told = text(&refused.stderr);
    assert!(
        told.contains("READDIR") && told.contains("no message"),
        "{told}"
    );
}

#[test]
fn what_is_kept_of_several_layers_can_be_reported_and_run_again() {
    let scratch = Scratch::new();
    let path = scratch.path().join("out");
    let path = path.to_str().expect("a path of ours");
    let output = filestone(&[
        "replay",
        "mail",
        "--run-once",
        "--layer",
        "local:,nfs:",
        "-o",
        path,
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let shown = text(&output.stdout);
    for part in ["Throughput ", "mail on each layer", "one pass, msecs"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let report = filestone(&["report", path]);
    let reported = text(&report.stdout);
    assert!(reported.contains("mail on each layer"), "{reported}");
    assert_eq!(
        filestone(&["report", path, "--format", "csv"])
            .status
            .code(),
        Some(2)
    );
    let drawn = std::fs::read_to_string(Path::new(path).join("layers.svg")).expect("a picture");
    assert_eq!(
        text(&filestone(&["report", path, "--format", "svg"]).stdout),
        drawn
    );
    let one = Path::new(path).join("2-nfs");
    assert!(one.join("percentiles.svg").is_file() && one.join("over-time.svg").is_file());
    let one = one.to_str().expect("a path of ours");
    for format in ["text", "json", "csv", "gnuplot", "hdr", "svg"] {
        let report = filestone(&["report", one, "--format", format]);
        assert_eq!(report.status.code(), Some(0), "{format}");
        assert!(!report.stdout.is_empty(), "{format}");
    }
    let again = filestone(&["run", path, "--format", "json"]);
    assert_eq!(again.status.code(), Some(0), "{}", text(&again.stderr));
    let records: Vec<RunRecord> = serde_json::from_slice(&again.stdout).expect("records");
    assert_eq!(records.len(), 2);
}

#[test]
fn a_tree_of_somebody_else_is_never_touched() {
    let scratch = Scratch::new();
    let theirs = scratch.path().join("clients/theirs");
    std::fs::create_dir_all(&theirs).expect("a temporary directory");
    for more in [&[][..], &["--remove-leftover"]] {
        let target = scratch.local();
        let mut arguments = vec!["replay", "mail", "--run-once", "--layer", &target];
        arguments.extend(more);
        let output = filestone(&arguments);
        assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
        assert!(theirs.is_dir());
    }
}

#[test]
fn what_was_left_over_is_refused_and_taken_away_when_asked_to() {
    let scratch = Scratch::new();
    let target = scratch.local();
    let run = |more: &[&str]| {
        let mut arguments = vec!["replay", "mail", "--run-once", "--layer", &target];
        arguments.extend(more);
        filestone(&arguments).status.code()
    };
    assert_eq!(run(&["--skip-cleanup"]), Some(0));
    assert!(!scratch.is_empty());
    assert_eq!(run(&[]), Some(2));
    assert_eq!(run(&["--remove-leftover"]), Some(0));
    assert!(scratch.is_empty());
}

#[test]
fn every_error_of_a_load_file_is_told_before_anything_is_made() {
    let scratch = Scratch::new();
    let load = scratch.path().join("bad.load");
    std::fs::write(&load, "NTCreatX 1\nFlash 1\n").expect("a temporary file");
    let load = load.to_str().expect("a path of ours");
    let output = filestone(&["replay", load, "--layer", &scratch.local()]);
    assert_eq!(output.status.code(), Some(2));
    let told = text(&output.stderr);
    for line in ["bad.load:1:", "bad.load:2:"] {
        assert!(told.contains(line), "{told}");
    }
    assert!(!scratch.path().join("clients").exists());
}

#[test]
fn dbenchs_own_command_line_gives_its_line_and_exit_codes() {
    let scratch = Scratch::new();
    let directory = scratch.path().to_str().expect("a path of ours");
    let output = filestone(&[
        "compat",
        "dbench",
        "-B",
        "fileio",
        "-c",
        "mail",
        "-D",
        directory,
        "--warmup=0",
        "-t1",
        "--run-once",
        "2",
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let shown = text(&output.stdout);
    let last = shown.lines().last().unwrap_or_default();
    assert!(last.starts_with("Throughput "), "{shown}");
    assert!(
        last.contains(" MB/sec  2 clients  2 procs  max_latency="),
        "{shown}"
    );
    assert!(scratch.is_empty());
    for (arguments, code) in [
        (vec!["compat", "dbench"], 1),
        (vec!["compat", "dbench", "-B", "scsi", "-c", "x", "1"], 10),
        (vec!["compat", "dbench", "-c", "/nowhere/x", "1"], 1),
        (vec!["compat", "dbench", "--help"], 0),
    ] {
        assert_eq!(
            filestone(&arguments).status.code(),
            Some(code),
            "{arguments:?}"
        );
    }
}
