//! `--metrics` from outside: what a scrape reads is what the record says.

use crate::support::{DELAYING, Running, Scratch, command, is_late, record_of, serve, text};
use filestone_measure::measure::RunRecord;
use filestone_workload::recording::{Ledger, Role};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Output, Stdio};
use std::time::Duration;

/// Runs it with metrics at a free port, again while it is not let send in time; gives what the last scrape
/// read, and what it printed.
fn scraped(arguments: &[&str]) -> (String, Output) {
    for _ in 0..4 {
        let (last, output, said) = scraped_once(arguments);
        if output.status.code() == Some(0) {
            return (last, output);
        }
        assert!(is_late(&said), "{said}");
    }
    let (last, output, said) = scraped_once(arguments);
    assert_eq!(output.status.code(), Some(0), "{said}");
    (last, output)
}

fn scraped_once(arguments: &[&str]) -> (String, Output, String) {
    let metrics = [
        "--metrics",
        "0",
        "--metrics-linger",
        "60s",
        "--format",
        "json",
    ];
    let mut child = command(&[arguments, &metrics].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary was built");
    let mut errors = BufReader::new(child.stderr.take().expect("it is piped"));
    let address = loop {
        let mut line = String::new();
        assert!(errors.read_line(&mut line).expect("a line") > 0, "no link");
        if let Some((_, link)) = line.split_once("http://") {
            break link.trim().trim_end_matches("/metrics").to_owned();
        }
    };
    let output = std::thread::spawn(move || child.wait_with_output().expect("it ends"));
    let mut last = String::new();
    // It ends when it has been read after the end.
    while let Some(now) = scrape(&address) {
        never_down(&last, &now);
        last = now;
        std::thread::sleep(Duration::from_millis(20));
    }
    let output = output.join().expect("an output");
    let mut said = String::new();
    errors.read_to_string(&mut said).expect("UTF-8");
    assert!(last.contains("filestone_run_phase{phase=\"finished\"} 1\n"));
    (last, output, said)
}

/// What is read; nothing if nobody listens any more.
fn scrape(address: &str) -> Option<String> {
    let mut stream = TcpStream::connect(address).ok()?;
    let accept = "application/openmetrics-text;version=1.0.0";
    let request = format!(
        "GET /metrics HTTP/1.1\r\nHost: {address}\r\nAccept: {accept}\r\nConnection: close\r\n\r\n"
    );
    // A connection that nobody takes any more is none.
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).ok()?;
    let answer = text(&answer);
    let (head, body) = answer.split_once("\r\n\r\n")?;
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    assert!(body.ends_with("# EOF\n"));
    Some(body.to_owned())
}

/// Counters of a scrape are not below those of the one before.
fn never_down(before: &str, now: &str) {
    let is_counter = |series: &str| {
        let name = series.split('{').next().unwrap_or_default();
        ["_total", "_bucket", "_sum", "_count"]
            .iter()
            .any(|suffix| name.ends_with(suffix))
    };
    for line in before.lines().filter(|line| !line.starts_with('#')) {
        let (series, then) = line.rsplit_once(' ').expect("a value");
        if is_counter(series) {
            let then: f64 = then.parse().expect("a number");
            assert!(value(now, series) >= then, "{series} went down");
        }
    }
}

fn value(text: &str, series: &str) -> f64 {
    let mut lines = text.lines();
    let line = lines.find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
    let line = line.unwrap_or_else(|| panic!("there is no {series}"));
    line.parse().expect("a number")
}

fn outcomes(ledger: &Ledger) -> [(&str, u64); 6] {
    [
        ("ok", ledger.ok),
        ("failed", ledger.failed),
        ("timed_out", ledger.timed_out),
        ("disconnected", ledger.disconnected),
        ("skipped", ledger.skipped),
        ("in_flight", ledger.in_flight),
    ]
}

/// Each of these records' counts, and no others.
fn holds(text: &str, records: &[RunRecord]) {
    for kind in &records[0].totals.kinds {
        let same = records.iter().flat_map(|record| &record.totals.kinds);
        let same: Vec<_> = same
            .filter(|other| (other.operation, other.role) == (kind.operation, kind.role))
            .collect();
        let role = match kind.role {
            Role::Measured => "measured",
            Role::Unmeasured => "unmeasured",
        };
        let labels = format!("operation=\"{}\",role=\"{role}\"", kind.operation.name());
        let counted = |name: &str| value(text, &format!("filestone_{name}{{{labels}}}"));
        let mut ledger = Ledger::default();
        same.iter().for_each(|kind| ledger.add(&kind.ledger));
        assert_eq!(
            counted("operations_scheduled_total"),
            ledger.scheduled as f64
        );
        for (outcome, count) in outcomes(&ledger) {
            let series = format!("filestone_operations_total{{{labels},outcome=\"{outcome}\"}}");
            assert_eq!(value(text, &series), count as f64, "{series}");
        }
        let sum = |of: fn(&filestone_measure::measure::run_record::KindRecord) -> u64| {
            same.iter().map(|kind| of(kind)).sum::<u64>()
        };
        for (name, expected) in [
            (
                "response_time_seconds_count",
                sum(|kind| kind.response_time_ns.count),
            ),
            (
                "service_time_seconds_count",
                sum(|kind| kind.service_time_ns.count),
            ),
            ("calls_total", sum(|kind| kind.calls)),
            ("sent_bytes_total", sum(|kind| kind.bytes_sent)),
            ("received_bytes_total", sum(|kind| kind.bytes_received)),
            ("data_bytes_total", sum(|kind| kind.data_bytes)),
        ] {
            assert_eq!(counted(name), expected as f64, "{name} of {labels}");
        }
        let nanos = counted("response_time_seconds_sum") * 1e9;
        assert_eq!(nanos.round() as u64, sum(|kind| kind.response_time_ns.sum));
        let beyond = format!("filestone_response_time_seconds_bucket{{le=\"+Inf\",{labels}}}");
        assert_eq!(value(text, &beyond), counted("response_time_seconds_count"));
    }
}

#[test]
fn the_last_scrape_of_a_probe_is_its_record() {
    let (text, output) = scraped(&[
        "probe",
        "create",
        "--no-calibrate",
        "--duration",
        "700ms",
        "--warm-up",
        "200ms",
    ]);
    let record = record_of(&output);
    assert!(record.totals.kinds.len() > 1, "it has companions");
    holds(&text, &[record]);
}

#[test]
fn the_last_scrape_of_a_mix_is_its_record() {
    let (_server, address, _out) = serve(&DELAYING);
    let target = format!("nfs://{address}/export");
    let (text, output) = scraped(&[
        "mix",
        &target,
        "--no-calibrate",
        "--offered",
        "500",
        "--clients",
        "2",
        "--duration",
        "1200ms",
    ]);
    let record = record_of(&output);
    assert!(record.totals.kinds.len() > 4, "it is a mix");
    holds(&text, &[record]);
}

#[test]
fn the_last_scrape_of_a_replay_on_each_layer_is_both_records() {
    let scratch = Scratch::new();
    let layers = format!("{},nfs:", scratch.local());
    let (text, output) = scraped(&[
        "replay",
        "mail",
        "--run-once",
        "-c",
        "2",
        "--layer",
        &layers,
    ]);
    let records: Vec<RunRecord> = serde_json::from_slice(&output.stdout).expect("two records");
    assert_eq!(records.len(), 2);
    holds(&text, &records);
}

#[test]
fn a_port_that_is_taken_is_said_before_anything_is_measured() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("an address").port().to_string();
    let output = crate::support::filestone(&["probe", "null", "--metrics", &port]);
    assert_eq!(output.status.code(), Some(4));
    let said = text(&output.stderr);
    assert!(
        said.contains(&format!("--metrics 127.0.0.1:{port}")),
        "{said}"
    );
    assert!(said.contains("name another port"), "{said}");
}

#[test]
fn nobody_is_waited_for_who_never_came() {
    let run = Running::start(&[
        "probe",
        "null",
        "--count",
        "10",
        "--no-calibrate",
        "--metrics",
        "0",
    ]);
    assert_eq!(run.exit_code(), Some(0));
}
