//! Valid and invalid requests over TCP, and their responses.

use super::*;
use crate::http_server::{HttpServer, ListenerLimits, Site, listen};
use filestone_measure::measure::run_record::Tool;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;

struct Served {
    address: SocketAddr,
    site: MetricsSite,
    #[expect(dead_code, reason = "it is served until this is dropped")]
    hosting: HttpServer,
}

fn serve() -> Served {
    let metrics = Arc::new(Metrics::new(Tool::release("1.2.3")));
    let site = MetricsSite::new(metrics);
    let listener = listen("127.0.0.1:0".parse().expect("an address")).expect("a port");
    let address = listener.local_addr().expect("an address");
    let served = Site {
        listener,
        router: site.router(address),
        limits: ListenerLimits::default(),
    };
    let hosting = HttpServer::start(vec![served], &[]).expect("a thread");
    Served {
        address,
        site,
        hosting,
    }
}

/// Sends these bytes and returns everything received until the connection closes.
fn ask(address: SocketAddr, request: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).expect("a connection");
    // The server may respond and close before the request is sent completely.
    let _ = stream.write_all(request);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

fn get(address: SocketAddr, path: &str, headers: &str) -> String {
    let request =
        format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{headers}\r\n");
    ask(address, request.as_bytes())
}

#[test]
fn metrics_are_read_in_the_format_that_is_asked_for() {
    let served = serve();
    let plain = get(served.address, "/metrics", "");
    assert!(plain.starts_with("HTTP/1.1 200"), "{plain}");
    assert!(
        plain.contains("content-type: text/plain; version=0.0.4"),
        "{plain}"
    );
    assert!(plain.contains("filestone_build_info{version=\"1.2.3\",profile=\"release\"} 1"));
    let wanted = "Accept: application/openmetrics-text;version=1.0.0,*/*;q=0.1\r\n";
    let open = get(served.address, "/metrics", wanted);
    assert!(open.contains("content-type: application/openmetrics-text; version=1.0.0"));
    assert!(open.ends_with("# EOF\n"));
    let wanted = "Accept: application/vnd.google.protobuf;\
                  proto=io.prometheus.client.MetricFamily;encoding=delimited\r\n";
    let native = get(served.address, "/metrics", wanted);
    assert!(native.contains("content-type: application/vnd.google.protobuf;"));
    assert!(served.site.is_scraped());
}

#[test]
fn what_is_no_scrape_is_refused_and_changes_nothing() {
    let served = serve();
    let own = served.address;
    for (request, status) in [
        (
            format!("POST /metrics HTTP/1.1\r\nHost: {own}\r\nContent-Length: 0\r\n"),
            405,
        ),
        (format!("DELETE /metrics HTTP/1.1\r\nHost: {own}\r\n"), 405),
        (format!("OPTIONS /metrics HTTP/1.1\r\nHost: {own}\r\n"), 405),
        (
            format!("GET /../etc/passwd HTTP/1.1\r\nHost: {own}\r\n"),
            404,
        ),
        (
            format!("GET /metrics/%2e%2e HTTP/1.1\r\nHost: {own}\r\n"),
            404,
        ),
        (
            "GET /metrics HTTP/1.1\r\nHost: evil.example\r\n".into(),
            421,
        ),
        ("GET /metrics HTTP/1.1\r\n".into(), 421),
        (
            format!("GET /metrics HTTP/1.1\r\nHost: {own}\r\nOrigin: http://evil.example\r\n"),
            403,
        ),
        (
            format!(
                "GET /metrics HTTP/1.1\r\nHost: {own}\r\nX-Long: {}\r\n",
                "x".repeat(1 << 20)
            ),
            431,
        ),
        (
            format!(
                "GET /metrics HTTP/1.1\r\nHost: {own}\r\n{}",
                "X-Many: 1\r\n".repeat(200)
            ),
            431,
        ),
        ("\x16\x03\x01\x02\x00".into(), 400),
    ] {
        let answer = ask(
            own,
            format!("{request}Connection: close\r\n\r\n").as_bytes(),
        );
        let got = answer.split(' ').nth(1);
        assert_eq!(
            got,
            Some(status.to_string().as_str()),
            "{:.80}",
            request.escape_debug()
        );
    }
    assert!(!served.site.is_scraped());
}

#[test]
fn a_body_is_not_read() {
    let served = serve();
    let request = format!(
        "GET /metrics HTTP/1.1\r\nHost: {}\r\nContent-Length: 1073741824\r\n\r\n",
        served.address
    );
    let answer = ask(served.address, request.as_bytes());
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

#[test]
fn the_last_values_are_waited_for_until_they_are_read_or_nobody_wants_them() {
    let served = serve();
    let (begun, most) = (Instant::now(), Duration::from_secs(600));
    assert!(!served.site.wait_for_scrape(begun, most, || true));
    assert!(!served.site.wait_for_scrape(begun, Duration::ZERO, || false));
    let address = served.address;
    let reader = std::thread::spawn(move || {
        get(address, "/", "");
        get(address, "/metrics", "")
    });
    assert!(served.site.wait_for_scrape(begun, most, || false));
    let answer = reader.join().expect("an answer");
    assert!(answer.contains("filestone_build_info"));
    // An earlier scrape does not cover a later state.
    let later = Instant::now();
    assert!(!served.site.wait_for_scrape(later, Duration::ZERO, || false));
}
