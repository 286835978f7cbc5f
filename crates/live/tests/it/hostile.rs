//! What whoever means harm gets: a table of requests, each with its answer. None of them changes anything,
//! and after each the page is served as before.

use crate::served::Served;
use filestone_live::event::{Event, NoteText};
use filestone_live::http_server::listen;
use std::io::{Read, Write};

/// What an attempt gets.
enum Gets {
    /// An answer of this status.
    Status(u16),
    /// Nothing: the connection is closed.
    Closed,
    /// Either: what is refused first is a matter of what came first.
    StatusOrClosed(u16),
}
use Gets::{Closed, Status, StatusOrClosed};

const STOP: &str = r#"{"version":1,"request":{"stop":{"which":"all"}}}"#;

/// A request as such, with a host that is ours.
fn plain(line: &str, headers: &str) -> Vec<u8> {
    format!("{line} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n").into_bytes()
}

fn with_host(host: &str) -> Vec<u8> {
    format!("GET /api/state HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").into_bytes()
}

fn post(headers: &str, body: &str) -> Vec<u8> {
    let len = body.len();
    let text = format!(
        "POST /api/fleet HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {len}\r\n{headers}\r\n{body}"
    );
    text.into_bytes()
}

const JSON: &str = "Content-Type: application/json\r\n";

/// Hosts and origins of others.
fn from_elsewhere() -> Vec<(&'static str, Vec<u8>, Gets)> {
    let origin = |origin: &str| plain("GET /api/state", &format!("Origin: {origin}\r\n"));
    vec![
        (
            "a name that was made to point here",
            with_host("evil.example"),
            Status(421),
        ),
        (
            "the same with our port",
            with_host("evil.example:80"),
            Status(421),
        ),
        (
            "a name that begins like ours",
            with_host("localhost.evil.example"),
            Status(421),
        ),
        (
            "an address in one number",
            with_host("2130706433"),
            Status(421),
        ),
        ("an empty host", with_host(""), Status(421)),
        (
            "a host with a user",
            with_host("localhost@evil.example"),
            Status(421),
        ),
        (
            "no host",
            b"GET /api/state HTTP/1.1\r\nConnection: close\r\n\r\n".to_vec(),
            Status(421),
        ),
        (
            "no host, by HTTP/1.0",
            b"GET /api/state HTTP/1.0\r\n\r\n".to_vec(),
            Status(421),
        ),
        (
            "two hosts",
            plain("GET /api/state", "Host: evil.example\r\n"),
            Status(421),
        ),
        (
            "another host in the request line",
            plain("GET http://evil.example/api/state", ""),
            Status(421),
        ),
        (
            "a page of another site",
            origin("http://evil.example"),
            Status(403),
        ),
        (
            "one of another port",
            origin("http://localhost:1"),
            Status(403),
        ),
        (
            "one of another scheme",
            origin("https://localhost"),
            Status(403),
        ),
        (
            "one without an origin of its own",
            origin("null"),
            Status(403),
        ),
        (
            "what a browser says is of another site",
            plain("GET /api/events", "Sec-Fetch-Site: cross-site\r\n"),
            Status(403),
        ),
        (
            "what it says is of a sister site",
            plain("GET /api/fleet", "Sec-Fetch-Site: same-site\r\n"),
            Status(403),
        ),
        (
            "a form of another site",
            post(
                "Origin: http://evil.example\r\nContent-Type: text/plain\r\n",
                STOP,
            ),
            Status(403),
        ),
    ]
}

/// Guesses and changes without the token.
fn without_token() -> Vec<(&'static str, Vec<u8>, Gets)> {
    let guess = |token: &str| post(&format!("{JSON}Authorization: {token}\r\n"), STOP);
    vec![
        ("a change without a token", post(JSON, STOP), Status(401)),
        ("a short guess", guess("Bearer a"), Status(401)),
        ("an empty one", guess("Bearer "), Status(401)),
        (
            "one of the right length",
            guess("Bearer aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
            Status(401),
        ),
        (
            "one of 10 kB",
            guess(&format!("Bearer {}", "a".repeat(10_000))),
            Status(401),
        ),
        ("another scheme", guess("Basic YTph"), Status(401)),
        (
            "two of them",
            post(
                &format!("{JSON}Authorization: Bearer a\r\nAuthorization: Bearer b\r\n"),
                STOP,
            ),
            Status(401),
        ),
        (
            "one in the address of a change",
            plain(
                "POST /api/fleet?token=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                JSON,
            ),
            Status(401),
        ),
        (
            "a dry run without a token",
            post(JSON, &STOP.replace("\"all\"", "\"all\",\"dry_run\":true")),
            Status(401),
        ),
        (
            "another method by a header",
            post("X-HTTP-Method-Override: PUT\r\n", STOP),
            Status(401),
        ),
    ]
}

/// Paths, methods, sizes, and what is no HTTP.
fn malformed() -> Vec<(&'static str, Vec<u8>, Gets)> {
    let declared = |len: &str| {
        plain(
            "POST /api/fleet",
            &format!("{JSON}Content-Length: {len}\r\n"),
        )
    };
    vec![
        (
            "a path out of the page",
            plain("GET /../../etc/passwd", ""),
            Status(404),
        ),
        (
            "the same in other letters",
            plain("GET /%2e%2e/%2e%2e/etc/passwd", ""),
            Status(404),
        ),
        (
            "a path with a zero byte",
            plain("GET /api/state%00", ""),
            Status(404),
        ),
        (
            "a path of 15 kB",
            plain(&format!("GET /{}", "a".repeat(15_000)), ""),
            Status(404),
        ),
        (
            "a path of 60 kB",
            plain(&format!("GET /{}", "a".repeat(60_000)), ""),
            StatusOrClosed(431),
        ),
        (
            "a change by GET",
            plain("GET /api/fleet?stop=all", ""),
            Status(200),
        ),
        ("DELETE", plain("DELETE /api/fleet", ""), Status(405)),
        ("PUT of the page", plain("PUT /", ""), Status(405)),
        (
            "OPTIONS of another site",
            plain("OPTIONS /api/fleet", "Origin: http://evil.example\r\n"),
            Status(403),
        ),
        ("TRACE", plain("TRACE /api/state", ""), Status(405)),
        (
            "CONNECT",
            b"CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n".to_vec(),
            Status(421),
        ),
        (
            "a method of nobody",
            plain("BREW /api/state", ""),
            Status(405),
        ),
        (
            "1 GB that is only declared",
            declared("1000000000"),
            Status(401),
        ),
        (
            "a length that is none",
            declared("many"),
            StatusOrClosed(400),
        ),
        (
            "a length beyond all",
            declared("99999999999999999999999"),
            StatusOrClosed(400),
        ),
        (
            "two lengths",
            declared("5\r\nContent-Length: 6"),
            StatusOrClosed(400),
        ),
        (
            "chunks and a length",
            plain(
                "POST /api/fleet",
                "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n",
            ),
            StatusOrClosed(401),
        ),
        (
            "100 headers",
            plain("GET /api/state", &"X: y\r\n".repeat(100)),
            StatusOrClosed(431),
        ),
        (
            "a header of 100 kB",
            plain("GET /api/state", &format!("X: {}\r\n", "y".repeat(100_000))),
            StatusOrClosed(431),
        ),
        (
            "a header without an end",
            b"GET / HTTP/1.1\r\nHost: local".to_vec(),
            Closed,
        ),
        (
            "no HTTP",
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".to_vec(),
            StatusOrClosed(400),
        ),
        (
            "HTTP/2 at once",
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(),
            StatusOrClosed(400),
        ),
        ("zero bytes", vec![0; 4096], StatusOrClosed(400)),
        ("line ends alone", b"\r\n\r\n\r\n\r\n".to_vec(), Closed),
        (
            "another protocol's version",
            b"GET / HTTP/9.9\r\nHost: localhost\r\n\r\n".to_vec(),
            StatusOrClosed(400),
        ),
        (
            "a query that is none",
            plain("GET /api/fleet/clients?first=-1", ""),
            Status(400),
        ),
        (
            "a field of nobody",
            plain("GET /api/fleet/clients?evil=1", ""),
            Status(400),
        ),
        (
            "a client of nobody",
            plain("GET /api/fleet/client", ""),
            Status(400),
        ),
    ]
}

#[test]
fn whatever_is_tried_gets_what_the_table_says_and_changes_nothing() {
    let served = Served::new();
    let all: Vec<_> = from_elsewhere()
        .into_iter()
        .chain(without_token())
        .chain(malformed())
        .collect();
    assert!(all.len() >= 40, "{}", all.len());
    for (name, request, gets) in all {
        let answer = served.answer(&request);
        let status: Option<u16> = answer
            .strip_prefix("HTTP/1.1 ")
            .or(answer.strip_prefix("HTTP/1.0 "))
            .and_then(|rest| rest.get(..3)?.parse().ok());
        match gets {
            Status(wanted) => assert_eq!(status, Some(wanted), "{name}: {answer}"),
            Closed => assert!(matches!(status, None | Some(400 | 408)), "{name}: {answer}"),
            StatusOrClosed(wanted) => {
                let is_told = status.is_none_or(|status| status == wanted || status == 400);
                assert!(is_told, "{name}: {answer}");
            }
        }
        if status.is_some_and(|status| status != 400 && status != 431 && status != 414) {
            let lower = answer.to_ascii_lowercase();
            for header in [
                "content-security-policy: default-src 'none'",
                "x-content-type-options: nosniff",
                "cache-control: no-store",
            ] {
                assert!(lower.contains(header), "{name}: {answer}");
            }
            assert!(!lower.contains("access-control-allow"), "{name}: {answer}");
        }
    }
    let looked = served.was_told();
    let changed = looked.iter().filter(|line| !line.contains("\"list\""));
    assert_eq!(changed.count(), 0, "{looked:?}");
    assert!(
        served
            .ask("GET /api/state", "", "")
            .starts_with("HTTP/1.1 200")
    );
}

#[test]
fn with_the_token_too_a_body_is_bounded_and_has_its_time() {
    let served = Served::new();
    let authorized = format!("{JSON}{}", served.authorization());
    let too_long = post(&authorized, &"x".repeat(100_000));
    let answer = served.answer(&too_long);
    assert!(
        answer.is_empty() || answer.starts_with("HTTP/1.1 413"),
        "{answer}"
    );
    let other = post(&served.authorization(), STOP);
    assert!(served.answer(&other).starts_with("HTTP/1.1 415"));
    let never = plain(
        "POST /api/fleet",
        &format!("{authorized}Content-Length: 10\r\n"),
    );
    assert!(served.answer(&never).starts_with("HTTP/1.1 408"));
    assert!(served.was_told().is_empty());
}

#[test]
fn a_body_of_1_gb_is_not_taken() {
    let served = Served::new();
    let mut stream = served.connect();
    let head = format!(
        "POST /api/fleet HTTP/1.1\r\nHost: localhost\r\n{JSON}{}Content-Length: 1000000000\r\n\r\n",
        served.authorization()
    );
    stream.write_all(head.as_bytes()).expect("it is sent");
    let block = vec![b'x'; 1 << 16];
    let mut taken = 0_u64;
    while taken < 1_000_000_000 && stream.write_all(&block).is_ok() {
        taken += block.len() as u64;
    }
    assert!(taken < 100_000_000, "{taken} bytes were taken");
    assert!(served.was_told().is_empty());
}

#[test]
fn a_thousand_connections_that_say_nothing_are_let_go_of() {
    let served = Served::new();
    let mut silent: Vec<_> = (0..1000).map(|_| served.connect()).collect();
    for stream in &mut silent {
        let mut none = Vec::new();
        // Closed at once where there is no room, and else when the time for a head is over.
        let _ = stream.read_to_end(&mut none);
    }
    assert!(
        served
            .ask("GET /api/state", "", "")
            .starts_with("HTTP/1.1 200")
    );
}

#[test]
fn readers_that_never_read_hold_nobody_up() {
    let served = Served::new();
    let request = "GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let never_read: Vec<_> = (0..10)
        .map(|_| {
            let mut stream = served.connect();
            stream.write_all(request.as_bytes()).expect("it is sent");
            stream
        })
        .collect();
    // More than kernels keep for them all.
    let what = "x".repeat(10_000);
    for _ in 0..2000 {
        served
            .feed
            .publish(Event::Remark(NoteText { what: what.clone() }));
    }
    assert!(served.ask("GET /", "", "").starts_with("HTTP/1.1 200"));
    drop(never_read);
}

#[test]
fn a_port_that_is_taken_is_an_error() {
    let served = Served::new();
    let error = listen(served.address).expect_err("it is taken");
    assert_eq!(error.kind(), std::io::ErrorKind::AddrInUse);
}
