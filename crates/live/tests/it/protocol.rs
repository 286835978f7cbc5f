//! What the protocol says to whoever may ask.

use crate::served::{Served, body};
use filestone_live::event::{Closed, Event, NoteText};
use std::io::Read;
use std::time::{Duration, Instant};

const STOP: &str = r#"{"version":1,"request":{"stop":{"which":"all"}}}"#;
const JSON: &str = "Content-Type: application/json\r\n";

#[test]
fn the_state_is_what_was_published() {
    let served = Served::new();
    served.feed.publish(Event::Remark(NoteText {
        what: "a remark".into(),
    }));
    let answer = served.ask("GET /api/state", "", "");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let state: serde_json::Value = serde_json::from_str(body(&answer)).expect("JSON");
    assert_eq!(state["remarks"][0], "a remark");
    assert_eq!(state["is_controllable"], true);
}

#[test]
fn events_are_a_snapshot_then_what_happens_and_end_with_the_command() {
    let served = Served::new();
    let mut stream = served.connect();
    let request = "GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n";
    std::io::Write::write_all(&mut stream, request.as_bytes()).expect("it is sent");
    let mut answer = String::new();
    let mut room = [0; 4096];
    while !answer.contains("event: snapshot") {
        let len = stream.read(&mut room).expect("it is told");
        answer.push_str(&String::from_utf8_lossy(&room[..len]));
    }
    served.feed.publish(Event::Preparing(NoteText {
        what: "first".into(),
    }));
    served.feed.publish(Event::Closed(Closed { output: None }));
    let mut rest = String::new();
    // The stream ends, and with it the request; the connection may stay open for another.
    while !rest.contains("closed") {
        let len = stream.read(&mut room).expect("it is told");
        rest.push_str(&String::from_utf8_lossy(&room[..len]));
    }
    assert!(
        rest.contains(r#"data: {"event":"preparing","what":"first"}"#),
        "{rest}"
    );
}

#[test]
fn whoever_has_the_token_tells_the_fleet_and_nobody_else() {
    let served = Served::new();
    for headers in [
        JSON.to_owned(),
        format!("{JSON}Authorization: Bearer x\r\n"),
        format!("{JSON}Authorization: Basic {}\r\n", served.token),
        format!("{JSON}Authorization: Bearer {}x\r\n", served.token),
    ] {
        let answer = served.ask("POST /api/fleet", &headers, STOP);
        assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
    }
    let headers = format!("{JSON}{}", served.authorization());
    let answer = served.ask("POST /api/fleet", &headers, STOP);
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(body(&answer).contains("heard"));
    assert_eq!(served.was_told(), [STOP]);
}

#[test]
fn whoever_looks_asks_for_windows_of_clients() {
    let served = Served::new();
    let query =
        "which=writers&state=failing&order=rate&reversed=true&first=40&count=80&address=10.*";
    let answer = served.ask(&format!("GET /api/fleet/clients?{query}"), "", "");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let told = served.was_told();
    let asked: serde_json::Value = serde_json::from_str(&told[0]).expect("JSON");
    let clients = &asked["request"]["list"]["clients"];
    assert_eq!(clients["first"], 40);
    assert_eq!(clients["order"], "rate");
    assert_eq!(clients["address"], "10.*");
}

#[test]
fn bound_to_more_than_this_host_every_request_needs_the_token() {
    let served = Served::at("0.0.0.0:0");
    for path in [
        "/",
        "/api/state",
        "/api/events",
        "/api/schema",
        "/api/fleet",
        "/nowhere",
    ] {
        let answer = served.ask(&format!("GET {path}"), "", "");
        assert!(answer.starts_with("HTTP/1.1 401"), "{path}: {answer}");
    }
    let with_token = served.ask("GET /api/state", &served.authorization(), "");
    assert!(with_token.starts_with("HTTP/1.1 200"), "{with_token}");
    let document = served.ask(&format!("GET /?token={}", served.token), "", "");
    assert!(document.starts_with("HTTP/1.1 200"), "{document}");
    assert!(served.page.link().contains("/?token="));
}

#[test]
fn the_report_is_handed_to_pages_that_are_open_and_waits_no_longer_than_it_may() {
    let served = Served::new();
    assert!(
        served
            .ask("GET /api/report", "", "")
            .starts_with("HTTP/1.1 404")
    );
    // Nobody watches, so nobody is waited for.
    let begun = Instant::now();
    served
        .page
        .offer("<p>report".into(), Duration::from_secs(3600));
    assert!(begun.elapsed() < Duration::from_secs(1800));
    let answer = served.ask("GET /api/report", "", "");
    assert!(
        answer.contains("attachment") && answer.ends_with("<p>report"),
        "{answer}"
    );
}

#[test]
fn the_end_waits_for_no_reader_that_never_reads() {
    let served = Served::new();
    let mut stream = served.connect();
    let request = "GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n";
    std::io::Write::write_all(&mut stream, request.as_bytes()).expect("it is sent");
    let mut first = [0; 1];
    stream.read_exact(&mut first).expect("it began");
    let Served { hosting, .. } = served;
    hosting.end_within(Duration::from_millis(100));
}
