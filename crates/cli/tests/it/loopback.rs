//! Every command against the built-in server, over loopback and for a moment: what
//! must hold of every run is checked, numbers are not.

use crate::support::{DELAYING, Running, Scratch, done_in_time, filestone, record_of, serve, text};
use filestone_measure::measure::RunRecord;
use filestone_measure::measure::run_record::RunOutcome;
use filestone_workload::operation::OpKind;
use std::io::{BufRead, BufReader, Read};

/// The engine's tests try all of them; as a process, one that needs nothing and one that needs
/// files.
#[test]
fn operations_give_records_that_balance() {
    for kind in [OpKind::Null, OpKind::Create] {
        let mut words = vec!["probe", kind.name(), "--count", "40", "-j", "4"];
        words.extend(["--format", "json", "--no-calibrate"]);
        let output = filestone(&words);
        assert_eq!(
            output.status.code(),
            Some(0),
            "{kind:?}: {}",
            text(&output.stderr)
        );
        let record = record_of(&output);
        assert_eq!(record.totals.ledger.ok, 40, "{kind:?}: {:?}", record.totals);
        assert_eq!(record.end, RunOutcome::Finished);
    }
}

#[test]
fn clients_datagrams_and_an_open_loop_balance_too() {
    let (_server, address, _out) = serve(&DELAYING);
    let target = format!("nfs://{address}/export");
    for more in [
        vec!["--clients", "8", "--workers", "2"],
        vec!["--transport", "udp"],
        vec![&target, "--offered", "2k", "--arrivals", "poisson"],
        vec!["--random", "--verify", "--io-size", "8K", "--busy-poll"],
    ] {
        let mut arguments = vec![
            "probe",
            "read",
            "-d",
            "300ms",
            "--format",
            "json",
            "--no-calibrate",
        ];
        arguments.extend(&more);
        let record = record_of(&done_in_time(&arguments));
        assert!(record.totals.ledger.ok > 0, "{more:?}");
        assert_eq!(record.totals.ledger.failed, 0, "{more:?}");
    }
}

#[test]
fn a_probe_leads_with_its_verdict_and_its_answer_and_has_ncts_table_on_request() {
    let arguments = ["probe", "null", "--count", "200", "--no-calibrate"];
    let shown = text(&filestone(&arguments).stdout);
    assert!(shown.starts_with("verdict         counts"), "{shown}");
    let mut lines = shown.lines().skip(1);
    let answer = lines.find(|line| !line.starts_with(' '));
    let answer = answer.expect("below the verdict");
    assert!(answer.contains(" operations/s, p50 "), "{shown}");
    assert!(!shown.contains("requests per second"), "{shown}");
    let verbose = filestone(&[arguments.as_slice(), &["-v"]].concat());
    let shown = text(&verbose.stdout);
    assert!(shown.contains("requests per second"), "{shown}");
}

#[test]
fn a_run_prints_rows_summary_and_tables_and_keeps_a_directory() {
    let scratch = Scratch::new();
    let directory = scratch.path().join("kept");
    let path = directory.display().to_string();
    let output = filestone(&[
        "probe", "getattr", "-d", "500ms", "-m", "200ms", "-o", &path,
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let shown = text(&output.stdout);
    for part in [
        " SAMPLES      OPS ",
        " 1 client × 1 in flight,\ngenerator ",
        "response time",
        "achieved load",
        "headroom",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(text(&output.stderr).contains("caveat: "));
    for (name, format) in [
        ("percentiles.svg", "percentiles.svg"),
        ("over-time.svg", "over-time.svg"),
        ("report.html", "html"),
    ] {
        let report = filestone(&["report", &path, "--format", format]);
        let kept = std::fs::read_to_string(directory.join(name)).expect("a picture");
        assert_eq!(text(&report.stdout), kept, "{name}");
    }
    for format in ["text", "json", "csv", "gnuplot", "hdr", "svg"] {
        let report = filestone(&["report", &path, "--format", format]);
        assert_eq!(
            report.status.code(),
            Some(0),
            "{format}: {}",
            text(&report.stderr)
        );
        assert!(!report.stdout.is_empty(), "{format}");
    }
    let again = filestone(&["probe", "null", "-d", "1", "-o", &path]);
    assert_eq!(again.status.code(), Some(2));
}

#[test]
fn a_plan_that_was_printed_can_be_run() {
    let planned = filestone(&["probe", "null", "--count", "10", "--seed", "5", "--dry-run"]);
    let scratch = Scratch::new();
    let name = scratch.file("plan.json", &text(&planned.stdout));
    let output = filestone(&["run", &name, "--format", "json", "--no-calibrate"]);
    let record = record_of(&output);
    assert_eq!((record.plan.seed, record.totals.ledger.ok), (5, 10));
}

#[test]
fn caveats_fail_a_run_only_when_asked_to() {
    let run = |more: &str| {
        let output = filestone(&["probe", "null", "-d", "100ms", "--no-calibrate", more]);
        output.status.code()
    };
    assert_eq!(run("--fail-on-caveat"), Some(1));
    assert_eq!(run("--fail-on-caveat=loopback"), Some(1));
    assert_eq!(run("--fail-on-caveat=late-replies"), Some(0));
}

#[test]
fn an_interrupted_run_is_complete_and_exits_with_130() {
    let mut run = Running::start(&[
        "probe",
        "create",
        "-d",
        "60",
        "-m",
        "100ms",
        "--format",
        "json",
        "--no-calibrate",
    ]);
    // With --format json, rows go to standard error: the second line is the header.
    let mut rows = BufReader::new(run.err());
    for _ in 0..3 {
        rows.read_line(&mut String::new()).expect("a row");
    }
    // `timeout` sends every signal twice; that is still the first ^C.
    run.interrupt();
    run.interrupt();
    let mut document = String::new();
    run.out().read_to_string(&mut document).expect("a record");
    let record: RunRecord = serde_json::from_str(&document).expect("a whole record");
    assert_eq!(record.check(), Ok(()));
    assert_eq!(record.end, RunOutcome::Interrupted);
    assert!(record.totals.ledger.ok > 0);
    assert_eq!(run.exit_code(), Some(130));
}

#[test]
fn a_server_that_stops_in_the_middle_leaves_a_record_and_exit_code_3() {
    let (server, address, _out) = serve(&[]);
    let target = format!("nfs://{address}/export/files");
    let mut run = Running::start(&[
        "probe",
        "getattr",
        &target,
        "-d",
        "60",
        "-m",
        "100ms",
        "--reconnect",
        "200ms",
        "--format",
        "json",
        "--no-calibrate",
    ]);
    let mut rows = BufReader::new(run.err());
    for _ in 0..3 {
        rows.read_line(&mut String::new()).expect("a row");
    }
    drop(server);
    let mut document = String::new();
    run.out().read_to_string(&mut document).expect("a record");
    let record: RunRecord = serde_json::from_str(&document).expect("a whole record");
    assert_eq!(record.check(), Ok(()));
    assert!(
        matches!(record.end, RunOutcome::TargetLost { .. }),
        "{:?}",
        record.end
    );
    assert_eq!(run.exit_code(), Some(3));
}

#[test]
fn a_reader_that_goes_away_ends_the_run_without_a_word() {
    let mut run = Running::start(&["probe", "null", "-d", "60", "-m", "100ms", "--no-calibrate"]);
    let mut out = run.out();
    for _ in 0..3 {
        out.read_line(&mut String::new()).expect("a row");
    }
    drop(out);
    assert_eq!(run.exit_code(), Some(0));
}

#[test]
fn serve_counts_what_was_asked_of_it() {
    let (server, address, mut out) = serve(&[]);
    let target = format!("nfs://{address}/export/file");
    let output = filestone(&["probe", "read", &target, "--count", "25", "--no-calibrate"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    server.interrupt();
    let mut counted = String::new();
    out.read_to_string(&mut counted).expect("a table");
    let reads = counted.lines().find(|line| line.starts_with("read "));
    assert!(
        reads.is_some_and(|line| line.trim_end().ends_with(" 25")),
        "{counted}"
    );
    assert_eq!(server.exit_code(), Some(0));
}

#[test]
fn nct_prints_nothing_without_a_reason_and_its_tables_with_one() {
    let (_server, address, _out) = serve(&[]);
    let port = address.rsplit_once(':').expect("a port").1;
    let quiet = filestone(&[
        "compat",
        "nct",
        "-d1",
        "-p",
        port,
        "null",
        "127.0.0.1:/export/file",
    ]);
    assert_eq!(quiet.status.code(), Some(0), "{}", text(&quiet.stderr));
    assert!(quiet.stdout.is_empty());
    let scratch = Scratch::new();
    let directory = scratch.path().join("nct");
    let path = directory.display().to_string();
    let output = filestone(&[
        "compat",
        "nct",
        "-d",
        "1",
        "-m",
        "1",
        "-j4",
        "-o",
        &path,
        "-p",
        port,
        "read",
        "me@127.0.0.1:/export/file",
        "8k",
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let shown = text(&output.stdout);
    for part in [
        "LATMAX\n",
        "         MIN          AVG",
        "  updates\n",
        "               4  jobs\n",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(directory.join("raw").exists() && directory.join("recv.gnuplot").exists());
    let refused = filestone(&[
        "compat",
        "nct",
        "-d1",
        "-p",
        port,
        "null",
        "127.0.0.1:/nowhere",
    ]);
    assert_eq!(refused.status.code(), Some(65), "{}", text(&refused.stderr));
}

#[test]
fn nobody_at_the_port_is_the_targets_fault() {
    // A port that was free a moment ago.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("it is bound").port();
    drop(listener);
    let target = format!("nfs://127.0.0.1:{port}/export");
    let scratch = Scratch::new();
    let directory = scratch.path().join("nobody");
    let path = directory.display().to_string();
    let output = filestone(&["probe", "null", &target, "--no-calibrate", "-o", &path]);
    assert_eq!(output.status.code(), Some(3));
    let said = text(&output.stderr);
    assert!(said.starts_with("error: 127.0.0.1:"), "{said}");
    assert!(said.contains("\nhelp: "), "{said}");
    assert!(
        !directory.exists(),
        "nothing was measured, so nothing is left behind"
    );
}

#[test]
fn the_demo_climbs_its_ladder() {
    let output = filestone(&["demo", "--duration", "250ms", "--format", "json"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let records: Vec<RunRecord> = serde_json::from_slice(&output.stdout).expect("a list");
    const STEPS: usize = 14;
    const ROUNDS: usize = 5;
    assert_eq!(records.len(), ROUNDS * STEPS);
    for record in records {
        assert_eq!(record.check(), Ok(()));
        assert_eq!(record.totals.ledger.ok, record.totals.ledger.scheduled);
    }
}

#[test]
fn calibrate_measures_the_tool_itself() {
    let output = filestone(&["calibrate", "--quick", "--format", "json"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    for (place, exchange) in ["NULL", "ECHO"].into_iter().enumerate() {
        let can = &document["headroom"][place];
        assert_eq!(can["exchange"], exchange);
        let load = can["engine_ops_per_s"].as_f64();
        assert!(load.is_some_and(|load| load > 0.0), "{can}");
    }
}

/// What a run of SMB is compared with are exchanges of SMB.
#[test]
fn the_headroom_of_a_run_is_of_its_own_protocol() {
    for (target, exchange) in [(&[][..], "NULL"), (&["smb:"][..], "ECHO")] {
        let probe = [&["probe", "null", "--count", "50"], target].concat();
        let json = filestone(&[&probe[..], &["--format", "json"]].concat());
        assert_eq!(json.status.code(), Some(0), "{}", text(&json.stderr));
        let record: serde_json::Value = serde_json::from_slice(&json.stdout).expect("JSON");
        assert_eq!(record["headroom"]["exchange"], exchange);
        let shown = text(&filestone(&probe).stdout);
        assert!(
            shown.contains(&format!(" {exchange} operations/s by one worker")),
            "{shown}"
        );
    }
}
