//! `filestone doctor`: what is found, wherever it is asked, and with which exit code it ends.

use crate::support::{Scratch, filestone, serve, text};
use serde_json::Value;
use std::io::Read;
use std::net::{TcpListener, UdpSocket};
use std::process::Output;
use std::time::{Duration, Instant};

fn document(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", text(&output.stderr)))
}

/// What a rule found, if it found something.
fn finding<'d>(document: &'d Value, id: &str) -> Option<&'d Value> {
    let findings = document["findings"].as_array().expect("a list");
    findings.iter().find(|finding| finding["id"] == id)
}

fn level<'d>(document: &'d Value, id: &str) -> Option<&'d str> {
    finding(document, id)?["level"].as_str()
}

/// Findings about this host depend on where the test runs; none of them makes it fail.
fn assert_looked(output: &Output) {
    let code = output.status.code();
    assert!(code == Some(0) || code == Some(1), "{code:?}");
    assert!(output.stderr.is_empty(), "{}", text(&output.stderr));
}

#[test]
fn this_host_is_looked_at_and_every_line_of_the_table_has_a_level() {
    let output = filestone(&["doctor"]);
    assert_looked(&output);
    let shown = text(&output.stdout);
    assert!(shown.starts_with("This host\n"), "{shown}");
    assert!(!shown.contains('\u{1b}'), "no colours in a file: {shown}");
    let line = |id: &str| {
        let mut lines = shown.lines();
        lines.any(|line| line.split_whitespace().nth(1) == Some(id))
    };
    assert!(line("clock") && line("open-files"), "{shown}");
    assert!(!line("target"), "{shown}");
}

#[test]
fn a_server_is_asked_without_being_written_to() {
    let (server, address, mut out) = serve(&[]);
    let target = format!("nfs://{address}/export");
    let output = filestone(&["doctor", &target, "--format", "json"]);
    assert_looked(&output);
    let found = document(&output);
    assert_eq!(found["format"], 1);
    assert_eq!(found["target"], target.as_str());
    for id in ["target", "services", "round-trip", "connect-time", "rights"] {
        assert_eq!(level(&found, id), Some("ok"), "{id}: {found:#}");
    }
    assert_eq!(level(&found, "transfer-sizes"), Some("ok"), "{found:#}");
    assert_eq!(level(&found, "loopback"), Some("warning"), "{found:#}");
    assert_eq!(level(&found, "durability"), Some("note"), "{found:#}");
    let services = &found["facts"]["target"]["services"];
    let names: Vec<&str> = services
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|service| service["name"].as_str())
        .collect();
    assert_eq!(names, ["NFS 3", "NLM 4", "MOUNT 3"]);
    server.interrupt();
    let mut counted = String::new();
    out.read_to_string(&mut counted).expect("it ends");
    let table = counted.split_once("CALLS").expect("a table of calls").1;
    let called = |name: &str| {
        table
            .lines()
            .any(|line| line.split_whitespace().next() == Some(name))
    };
    for name in ["null", "getattr", "access", "fsstat", "fsinfo", "pathconf"] {
        assert!(called(name), "{name}: {table}");
    }
    for name in [
        "write", "create", "mkdir", "setattr", "commit", "remove", "lock",
    ] {
        assert!(!called(name), "{name}: {table}");
    }
}

#[test]
fn a_path_that_is_not_exported_is_a_problem_and_what_was_found_before_stays() {
    let (_server, address, _out) = serve(&[]);
    let output = filestone(&[
        "doctor",
        &format!("nfs://{address}/nothing"),
        "--format",
        "json",
    ]);
    assert_eq!(output.status.code(), Some(3));
    let found = document(&output);
    assert_eq!(level(&found, "target"), Some("problem"), "{found:#}");
    assert_eq!(level(&found, "round-trip"), Some("ok"), "{found:#}");
    assert_eq!(level(&found, "rights"), None, "{found:#}");
}

#[test]
fn a_reply_that_is_cut_off_is_a_problem_of_the_target() {
    let (_server, address, _out) = serve(&["--fault", "truncate=8"]);
    let output = filestone(&[
        "doctor",
        &format!("nfs://{address}/export"),
        "--format",
        "json",
    ]);
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(level(&document(&output), "target"), Some("problem"));
}

#[test]
fn where_nothing_listens_this_host_is_still_told() {
    // A port that is bound and does not listen.
    let closed = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    let port = closed.local_addr().expect("it is bound").port();
    for target in [
        format!("nfs://127.0.0.1:{port}/export"),
        format!("tcp:127.0.0.1:{port}"),
    ] {
        let output = filestone(&["doctor", &target, "--format", "json"]);
        assert_eq!(output.status.code(), Some(3), "{target}");
        let found = document(&output);
        assert_eq!(level(&found, "target"), Some("problem"), "{found:#}");
        assert!(finding(&found, "clock").is_some(), "{found:#}");
    }
}

#[test]
fn a_server_that_takes_connections_and_says_nothing_is_not_waited_for_long() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("it listens").port();
    let began = Instant::now();
    let output = filestone(&["doctor", &format!("nfs://127.0.0.1:{port}/export")]);
    assert!(began.elapsed() < Duration::from_secs(10));
    assert_eq!(output.status.code(), Some(3));
    let shown = text(&output.stdout);
    assert!(shown.contains("no answer within"), "{shown}");
}

#[test]
fn of_a_directory_it_tells_what_is_mounted_there() {
    let scratch = Scratch::new();
    let path = scratch.path().display().to_string();
    for target in [path.clone(), format!("local:{path}")] {
        let output = filestone(&["doctor", &target, "--format", "json"]);
        assert_looked(&output);
        let found = document(&output);
        assert_eq!(level(&found, "target"), Some("ok"), "{found:#}");
        assert_eq!(level(&found, "rights"), Some("ok"), "{found:#}");
        assert!(finding(&found, "file-system").is_some(), "{found:#}");
        assert_eq!(finding(&found, "loopback"), None, "{found:#}");
    }
    assert_eq!(
        std::fs::read_dir(scratch.path())
            .expect("it is there")
            .count(),
        0,
        "nothing is written"
    );
    let output = filestone(&["doctor", &scratch.name("nothing")]);
    assert_eq!(output.status.code(), Some(2), "as of a replay");
}
