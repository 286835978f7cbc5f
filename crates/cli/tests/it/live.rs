//! `--live`: what is served while a command lasts, and until when.

use crate::support::{Running, filestone, serve, text};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};

/// Starts a command with `--live`; the address in the link that it prints, and what else it says.
fn watched(arguments: &[&str]) -> (Running, String, BufReader<std::process::ChildStderr>) {
    let mut running = Running::start(&[arguments, &["--live"]].concat());
    let mut said = BufReader::new(running.err());
    let mut line = String::new();
    while !line.contains("live page: ") {
        line.clear();
        let len = said.read_line(&mut line).expect("it says something");
        assert_ne!(len, 0, "no link was printed");
    }
    let link = line.split("http://").nth(1).expect("a link");
    let address = link.split('/').next().expect("an address").to_owned();
    (running, address, said)
}

/// Asks for a path; what comes until the connection is closed.
fn get(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("it is served");
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream
        .write_all(request.as_bytes())
        .expect("the request is taken");
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    answer
}

/// The events of a stream.
fn events(answer: &str) -> Vec<Value> {
    let data = answer
        .lines()
        .filter_map(|line| line.strip_prefix("data: "));
    data.map(|text| serde_json::from_str(text).expect("JSON"))
        .collect()
}

#[test]
fn a_run_tells_what_happens_until_its_end_and_then_ends() {
    let (running, address, mut said) =
        watched(&["probe", "null", "--duration", "2s", "--no-calibrate"]);
    let page = get(&address, "/");
    assert!(page.starts_with("HTTP/1.1 200") && page.contains("</html>"));
    // It lasts as long as the command.
    let all = events(&get(&address, "/api/events"));
    // The run has begun in the snapshot, or begins after it.
    let plans = all
        .iter()
        .flat_map(|event| [&event["run"]["plan"], &event["plan"]]);
    let command = plans.filter_map(|plan| plan["command"].as_str()).next();
    assert_eq!(command, Some("probe"));
    let named =
        |name: &str| -> Vec<&Value> { all.iter().filter(|event| event["event"] == name).collect() };
    let sum: u64 = named("interval")
        .iter()
        .filter_map(|interval| interval["all"]["ok"].as_u64())
        .sum();
    let ended = named("run-ended");
    assert_eq!(ended[0]["end"], "finished");
    assert_eq!(ended[0]["all"]["ok"].as_u64(), Some(sum));
    assert_eq!(all.last().expect("some")["event"], "closed");
    let mut rest = String::new();
    said.read_to_string(&mut rest).expect("text");
    assert_eq!(running.exit_code(), Some(0), "{rest}");
    assert!(
        TcpStream::connect(&address).is_err(),
        "it is served no more"
    );
}

#[test]
fn points_of_repeats_are_told_as_they_come() {
    let (running, address, _said) = watched(&[
        "probe",
        "null",
        "--duration",
        "500ms",
        "--repeat",
        "3",
        "--pause",
        "10ms",
        "--no-calibrate",
    ]);
    let all = events(&get(&address, "/api/events"));
    let points: Vec<u64> = all
        .iter()
        .filter(|event| event["event"] == "point")
        .filter_map(|point| point["runs"].as_u64())
        .collect();
    assert_eq!(points, [1, 2, 3]);
    assert_eq!(running.exit_code(), Some(0));
}

#[test]
fn a_curve_tells_its_load_points() {
    let (_server, server, _out) = serve(&["--service-time", "exp:1ms", "--service-workers", "2"]);
    let target = format!("nfs://{server}/export");
    let words = "--curve --points 3 --point-duration 300ms --point-warm-up 300ms --no-calibrate -c 2 \
                 --peak 1800 --files 5";
    let words: Vec<&str> = words.split_whitespace().collect();
    let (running, address, _said) =
        watched(&[&["mix", target.as_str()], words.as_slice()].concat());
    let all = events(&get(&address, "/api/events"));
    let is_point = |event: &&Value| event["event"] == "point";
    // Three upwards, two downwards.
    assert_eq!(all.iter().filter(is_point).count(), 5);
    assert_eq!(running.exit_code(), Some(0));
}

#[test]
fn a_port_that_is_taken_is_an_error_before_anything_is_measured() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("it is bound").port();
    let live = format!("--live={port}");
    let output = filestone(&["probe", "null", "--duration", "1s", &live]);
    assert_eq!(output.status.code(), Some(4));
    let said = text(&output.stderr);
    assert!(said.contains(&format!("--live=127.0.0.1:{port}")), "{said}");
    assert!(output.stdout.is_empty());
}

#[test]
fn what_measures_others_has_the_option_before_its_dashes() {
    let output = filestone(&[
        "sweep",
        "--param",
        "io-size=1,2",
        "--",
        "probe",
        "read",
        "--live",
    ]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("--live behind --"));
}
