//! `filestone ab`: two servers in turn, and servers that are no sample.

use crate::support::{Running, Scratch, filestone, serve, text};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::process::Output;
use std::time::{Duration, Instant};

/// A port that nobody uses at this moment.
fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    listener.local_addr().expect("an address").port()
}

fn server(port: u16, more: &str) -> String {
    let binary = env!("CARGO_BIN_EXE_filestone");
    format!("exec {binary} serve --bind 127.0.0.1 --port {port} {more}")
}

fn words<'word>(more: &[&'word str], target: &'word str) -> Vec<&'word str> {
    let measured = [
        "--pause",
        "0",
        "--",
        "probe",
        "getattr",
        target,
        "--no-calibrate",
        "--count",
        "60",
    ];
    [&["ab"], more, &measured].concat()
}

fn ab(more: &[&str], port: u16) -> Output {
    let target = format!("nfs://127.0.0.1:{port}/export");
    filestone(&words(more, &target))
}

#[test]
fn a_slower_server_is_told_and_its_runs_are_kept() {
    let scratch = Scratch::new();
    let directory = scratch.name("result");
    let port = free_port();
    let (a, b) = (
        server(port, "--service-time 1ms"),
        server(port, "--service-time 4ms"),
    );
    let output = ab(
        &["--a", &a, "--b", &b, "--seed", "3", "-o", &directory],
        port,
    );
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let shown = text(&output.stdout);
    assert!(shown.contains("worse: response_time.p50"), "{shown}");
    assert!(
        text(&output.stderr).contains("block 16 of about "),
        "{}",
        text(&output.stderr)
    );
    let page = std::fs::read_to_string(format!("{directory}/report.html"));
    let page = page.expect("the page was written");
    assert!(page.contains("Two sides measured in turn"), "{page}");
    let found = std::fs::read(format!("{directory}/ab.json")).expect("it was written");
    let found: Value = serde_json::from_slice(&found).expect("JSON");
    assert_eq!(found["end"], "clear");
    assert_eq!(found["comparison"]["verdict"], "worse");
    let order = found["order"].as_str().expect("letters").as_bytes();
    assert!(
        order.len() >= 16
            && order
                .chunks(4)
                .all(|group| group == b"abba" || group == b"baab")
    );
    for command in ["explain", "history", "compare", "report"] {
        // Of two sides at once none can say anything.
        let more = if command == "compare" {
            vec![directory.as_str()]
        } else {
            vec![]
        };
        let refused = filestone(&[&[command, &directory], &more[..]].concat());
        let told = text(&refused.stderr);
        assert!(told.contains("the blocks of ab"), "{command}: {told}");
        assert!(
            told.contains(&format!("{directory}/a")),
            "{command}: {told}"
        );
    }
    let sides = ["a", "b"].map(|side| format!("{directory}/{side}"));
    let compared = filestone(&["compare", &sides[0], &sides[1]]);
    assert_eq!(
        compared.status.code(),
        Some(1),
        "{}",
        text(&compared.stderr)
    );
    // The other way round it is better.
    let output = ab(&["--a", &b, "--b", &a, "--format", "json"], port);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(found["comparison"]["verdict"], "better");
}

#[test]
fn a_server_that_does_not_start_is_no_sample() {
    let port = free_port();
    let good = server(port, "");
    let output = ab(
        &["--a", "echo no such disk >&2; exit 3", "--b", &good],
        port,
    );
    assert_eq!(output.status.code(), Some(125));
    let told = text(&output.stderr);
    assert!(
        told.contains("A did not start") || told.contains("B did not start"),
        "{told}"
    );
    assert!(told.contains("no such disk"), "{told}");
    assert!(
        !text(&output.stdout).contains("worse"),
        "{}",
        text(&output.stdout)
    );
    let never = ab(
        &[
            "--a",
            "sleep 100",
            "--b",
            "sleep 100",
            "--ready-timeout",
            "300ms",
        ],
        port,
    );
    assert_eq!(never.status.code(), Some(125));
    let told = text(&never.stderr);
    assert!(told.contains("does not answer within 300 ms"), "{told}");
}

#[test]
fn a_server_that_starts_and_dies_is_no_sample() {
    let scratch = Scratch::new();
    let directory = scratch.name("result");
    let port = free_port();
    let good = server(port, "");
    // It answers, and is gone before its run has ended.
    let dying = format!("timeout -s KILL 0.6 {}", good.trim_start_matches("exec "));
    let target = format!("nfs://127.0.0.1:{port}/export");
    let more = ["--a", &good, "--b", &dying, "-o", &directory];
    let mut arguments = words(&more, &target);
    let last = arguments.len() - 1;
    arguments[last] = "1000000";
    arguments.extend(["--reconnect", "100ms"]);
    let output = filestone(&arguments);
    assert_eq!(output.status.code(), Some(125), "{}", text(&output.stderr));
    let told = text(&output.stderr);
    assert!(told.contains("B ended while it was measured"), "{told}");
    assert!(!std::path::Path::new(&format!("{directory}/b/001/run.json")).exists());
    // Nothing that was started goes on.
    assert!(std::net::TcpStream::connect(("127.0.0.1", port)).is_err());
}

#[test]
fn a_run_that_is_invalid_is_no_sample() {
    let port = free_port();
    let (a, b) = (
        server(port, ""),
        server(port, "--fault error=NFS3ERR_IO,proc=access"),
    );
    let target = format!("nfs://127.0.0.1:{port}/export");
    let measured = [
        "mix",
        &target,
        "-c",
        "4",
        "--files",
        "8",
        "--arrivals",
        "closed",
        "-d",
        "400ms",
        "--warm-up",
        "0",
        "--no-calibrate",
    ];
    let sides = ["ab", "--a", &a, "--b", &b, "--pause", "0", "--"];
    let output = filestone(&[&sides[..], &measured].concat());
    assert_eq!(output.status.code(), Some(125), "{}", text(&output.stdout));
    let told = text(&output.stderr);
    let again = told.matches("ended otherwise than expected, mostly NFS3ERR_IO (5) of access)");
    assert_eq!(again.count(), 4, "three blocks and the error: {told}");
    assert!(told.contains("3 times in a row"), "{told}");
}

#[test]
fn what_was_measured_before_it_was_interrupted_is_judged_as_far_as_it_goes() {
    let scratch = Scratch::new();
    let directory = scratch.name("result");
    let port = free_port();
    let server = server(port, "--service-time 1ms");
    let target = format!("nfs://127.0.0.1:{port}/export");
    let more = ["--a", &server, "--b", &server, "-o", &directory];
    let mut run = Running::start(&words(&more, &target));
    let mut lines = BufReader::new(run.err()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.starts_with("block 3 ")));
    run.interrupt();
    lines.for_each(drop);
    assert_eq!(run.exit_code(), Some(130));
    let found = std::fs::read(format!("{directory}/ab.json")).expect("it was written");
    let found: Value = serde_json::from_slice(&found).expect("JSON");
    assert_eq!(found["end"], "interrupted");
    assert_eq!(found["comparison"]["verdict"], "cannot-tell");
    assert!(std::net::TcpStream::connect(("127.0.0.1", port)).is_err());
}

/// Whether there is such a process, and it has not ended.
fn is_running(process: &str) -> bool {
    let state = std::fs::read_to_string(format!("/proc/{process}/stat"));
    state.is_ok_and(|state| !state.contains(") Z "))
}

/// Waits until it is so, for some seconds.
fn comes_true(is_so: impl Fn() -> bool) -> bool {
    let end = Instant::now() + Duration::from_secs(10);
    while !is_so() && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(20));
    }
    is_so()
}

#[test]
fn however_it_ends_no_server_is_left() {
    for signal in [Signal::HUP, Signal::KILL] {
        let port = free_port();
        let server = server(port, "");
        let answers = || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok();
        let target = format!("nfs://127.0.0.1:{port}/export");
        let mut arguments = words(&["--a", &server, "--b", &server], &target);
        arguments.truncate(arguments.len() - 2);
        arguments.extend(["-d", "100s"]);
        let run = Running::start_with_hangup("default", &arguments);
        assert!(comes_true(answers), "{signal:?}");
        run.signal(signal);
        assert_eq!(run.exit_code(), None, "{signal:?}");
        assert!(comes_true(|| !answers()), "{signal:?}");
    }
}

#[test]
fn a_second_interruption_leaves_no_server_that_is_deaf() {
    let scratch = Scratch::new();
    let processes = scratch.name("processes");
    let deaf = format!("trap '' TERM INT; sleep 100 & echo $$ $! > {processes}; wait");
    let target = format!("nfs://127.0.0.1:{}/export", free_port());
    let run = Running::start(&words(&["--a", &deaf, "--b", &deaf], &target));
    let started = || {
        let read = std::fs::read_to_string(&processes).unwrap_or_default();
        let read = read.split_whitespace().map(String::from);
        read.collect::<Vec<_>>()
    };
    assert!(comes_true(|| started().len() == 2));
    run.interrupt();
    // What comes at once is taken for the same signal.
    std::thread::sleep(Duration::from_millis(800));
    run.interrupt();
    assert_eq!(run.exit_code(), Some(130));
    let is_gone = || !started().iter().any(|process| is_running(process));
    assert!(comes_true(is_gone), "{:?}", started());
}

#[test]
fn a_hangup_that_is_ignored_stays_ignored() {
    let port = free_port();
    let server = server(port, "");
    let target = format!("nfs://127.0.0.1:{port}/export");
    let mut arguments = words(&["--a", &server, "--b", &server], &target);
    arguments.truncate(arguments.len() - 2);
    arguments.extend(["-d", "100s"]);
    let mut run = Running::start_with_hangup("ignore", &arguments);
    let answers = || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok();
    assert!(comes_true(answers));
    run.signal(Signal::HUP);
    std::thread::sleep(Duration::from_millis(300));
    assert!(run.goes_on() && answers());
    run.interrupt();
    assert_eq!(run.exit_code(), Some(130));
    assert!(!answers());
}

#[test]
fn a_setting_is_switched_by_commands_that_end() {
    let scratch = Scratch::new();
    let (_server, address, _out) = serve(&["--service-time", "1ms"]);
    let target = format!("nfs://{address}/export");
    let log = scratch.name("log");
    // What a command leaves running is the server that goes on.
    let left = scratch.name("left");
    let a = format!("sleep 100 & echo $! >> {left}; echo a >> {log}");
    let b = format!("echo b >> {log}");
    let more = [
        "--switch",
        "--a",
        &a,
        "--b",
        &b,
        "--min-effect",
        "50%",
        "--target",
        &target,
    ];
    let mut arguments = words(&more, &target);
    // The target stands apart.
    arguments.retain(|word| *word != target);
    let place = arguments
        .iter()
        .position(|word| *word == "--target")
        .expect("it is there");
    arguments.insert(place + 1, &target);
    let output = filestone(&arguments);
    // What a busy host lets them differ by is not what is tried here.
    let code = output.status.code();
    let is_judged = [Some(0), Some(1), Some(125)].contains(&code);
    assert!(is_judged, "{code:?}: {}", text(&output.stderr));
    let switched = std::fs::read_to_string(&log).expect("the commands ran");
    let times = |side| switched.lines().filter(|line| *line == side).count();
    assert!(times("a") >= 8 && times("a") == times("b"), "{switched}");
    let left = std::fs::read_to_string(&left).expect("the commands ran");
    let left: Vec<&str> = left.lines().collect();
    let are_running: Vec<bool> = left.iter().map(|process| is_running(process)).collect();
    for process in left {
        let process = process.parse().ok().and_then(Pid::from_raw);
        let _ = kill_process(process.expect("a number"), Signal::KILL);
    }
    assert!(
        are_running.iter().all(|is_running| *is_running),
        "{are_running:?}"
    );
    let failing = [
        "--switch",
        "--a",
        "echo no >&2; false",
        "--b",
        &b,
        "--target",
        &target,
    ];
    let output = filestone(&[&["ab"], &failing[..], &["--", "probe", "null"]].concat());
    assert_eq!(output.status.code(), Some(125));
    assert!(text(&output.stderr).contains(" failed (exit status: 1)"));
}

#[test]
fn a_server_that_is_there_already_is_no_sample() {
    let (_server, address, _out) = serve(&[]);
    let target = format!("nfs://{address}/export");
    let output = filestone(&[
        "ab", "--a", "true", "--b", "true", "--", "probe", "null", &target,
    ]);
    assert_eq!(output.status.code(), Some(125));
    let told = text(&output.stderr);
    assert!(told.contains("something answers at "), "{told}");
}

#[test]
fn what_cannot_be_measured_of_both_is_refused() {
    for (behind, said) in [
        (vec!["doctor"], "this measures nothing"),
        (vec!["probe", "null"], "names no target"),
        (vec!["mix", "s:/x", "--curve"], "is steered"),
        (
            vec!["probe", "null", "s:/x", "--repeat", "3"],
            "--repeat behind --",
        ),
        (
            vec!["probe", "null", "s:/x", "-o", "x"],
            "--output behind --",
        ),
        (vec!["probe", "nul"], "nul"),
        (
            vec!["probe", "null", "s:/x", "--fail-if", "errors > 0"],
            "--fail-if behind --",
        ),
        (
            vec!["probe", "null", "s:/x", "--strict"],
            "--strict behind --",
        ),
        (
            vec!["probe", "null", "s:/x", "--fail-on-caveat"],
            "--fail-on-caveat behind --",
        ),
    ] {
        let ab = ["ab", "--a", "true", "--b", "true", "--"];
        let output = filestone(&[&ab[..], &behind].concat());
        assert_eq!(
            output.status.code(),
            Some(2),
            "{behind:?}: {}",
            text(&output.stderr)
        );
        let told = text(&output.stderr);
        assert!(told.contains(said), "{behind:?}: {told}");
    }
}
