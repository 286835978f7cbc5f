//! `filestone ladder`: every rung in random order, what each adds, and how it goes on.

use crate::support::{DELAYING, Scratch, done, done_in_time, filestone, serve, text};
use serde_json::Value;
use std::fs;
use std::io::BufRead;
use std::path::Path;

const SHORT: [&str; 16] = [
    "ladder",
    "-d",
    "200ms",
    "--warm-up",
    "0",
    "--pause",
    "5ms",
    "--seed",
    "5",
    "--repeat",
    "2",
    "--idle-baseline",
    "100ms",
    "--cost-interval",
    "100ms",
    "--no-calibrate",
];

fn ladder<'word>(more: &[&'word str]) -> Vec<&'word str> {
    [&SHORT[..], more].concat()
}

fn rungs(document: &Value) -> &[Value] {
    document["rungs"].as_array().map_or(&[], Vec::as_slice)
}

fn figure<'rung>(rung: &'rung Value, name: &str) -> &'rung Value {
    let figures = rung["figures"].as_array().expect("figures");
    let found = figures.iter().find(|figure| figure["name"] == name);
    found.unwrap_or_else(|| panic!("{name} in {rung}"))
}

#[test]
fn every_rung_is_measured_and_what_it_made_is_gone() {
    let scratch = Scratch::new();
    let (directory, again) = (scratch.name("ladder"), scratch.name("again"));
    let (server, address, _out) = serve(&["--files", "3"]);
    let target = format!("nfs://{address}/export");
    let process = server.id().to_string();
    let asked = ["--server-pid", &process, &target, "-o", &directory];
    let output = done_in_time(&ladder(&asked));
    let told = text(&output.stderr);
    assert!(told.contains("rung=readdirplus, run 2 of 2: "), "{told}");
    let shown = text(&output.stdout);
    let words = shown.replace('\n', " ");
    assert!(words.contains("13 rungs, 26 runs"), "{shown}");

    let found = fs::read_to_string(Path::new(&directory).join("ladder.json")).expect("it is there");
    let found: Value = serde_json::from_str(&found).expect("JSON");
    assert_eq!(rungs(&found).len(), 13);
    assert_eq!(found["end"], "all");
    for rung in rungs(&found) {
        assert_eq!(
            (&rung["runs"], &rung["errors"]),
            (&2.into(), &0.into()),
            "{rung}"
        );
        assert!(rung["failed"].is_null(), "{rung}");
        let response = figure(rung, "response_time.mean");
        let exchange = figure(rung, "service_time.mean");
        let parts = [response, exchange].map(|time| time["value"].as_f64().unwrap_or(0.0));
        assert!(parts[0] >= parts[1] && parts[1] > 0.0, "{rung}");
    }
    let getattr = &rungs(&found)[1];
    assert_eq!(getattr["below"], "null");
    assert!(figure(getattr, "response_time.mean")["step"]["low"].is_number());
    assert_eq!(
        figure(getattr, "server_cpu_per_operation")["has_unmeasured"],
        false
    );
    let create = &rungs(&found)[10];
    assert_eq!(
        figure(create, "server_cpu_per_operation")["has_unmeasured"],
        true
    );

    // The three files, the long one, the link, and the directory of the three.
    let listed = done(&[
        "probe", "readdir", &target, "--count", "1", "--format", "json",
    ]);
    let listed: Value = serde_json::from_slice(&listed.stdout).expect("JSON");
    assert_eq!(listed["totals"]["ledger"]["ok"], 1);
    let names = done(&[
        "probe", "lookup", &target, "--count", "1", "--format", "json",
    ]);
    let names: Value = serde_json::from_slice(&names.stdout).expect("JSON");
    assert_eq!(names["target"]["files"], 3, "nothing of ours is left");

    assert_eq!(text(&done(&["report", &directory]).stdout), shown);
    let csv = text(&done(&["report", &directory, "--format", "csv"]).stdout);
    assert!(csv.starts_with("rung,runs,errors,"), "{csv}");
    assert_eq!(csv.lines().count(), 14);
    for form in ["ladder.svg", "report.html"] {
        assert!(Path::new(&directory).join(form).is_file(), "{form}");
    }
    // With all runs there, nothing is measured.
    let second = text(&done_in_time(&ladder(&asked)).stderr);
    assert!(second.contains("26 runs there already"), "{second}");

    let short = ["--rungs", "null,getattr", &target, "-o", &again];
    done_in_time(&ladder(&short));
    let compared = done(&["compare", &directory, &again, "--format", "json"]);
    let compared: Value = serde_json::from_slice(&compared.stdout).expect("JSON");
    assert_eq!(rungs(&compared).len(), 2);
    assert!(figure(&rungs(&compared)[1], "response_time.mean")["difference"]["value"].is_number());
    for (line, said) in [
        (
            vec!["report", &directory, "--format", "hdr"],
            "this is a ladder",
        ),
        (
            vec!["report", &directory, "--fail-if", "errors"],
            "gates are of runs",
        ),
        (
            vec!["compare", &directory, &again, "--format", "svg"],
            "there is no picture",
        ),
        (vec!["compare", &directory, "nothing"], "this is no ladder"),
        (vec!["explain", &directory], "this is a ladder"),
        (
            ladder(&["--rungs", "null", &target, "-o", &directory]),
            "this is another ladder",
        ),
    ] {
        let refused = filestone(&line);
        assert_eq!(refused.status.code(), Some(2), "{line:?}");
        assert!(
            text(&refused.stderr).contains(said),
            "{}",
            text(&refused.stderr)
        );
    }
}

#[test]
fn a_rung_that_the_server_refuses_is_shown_as_such() {
    let (_server, address, _out) = serve(&["--fault", "error=NFS3ERR_NOTSUPP,proc=readdirplus"]);
    let target = format!("nfs://{address}/export");
    let some = [
        "--rungs",
        "null,readdirplus",
        "--format",
        "csv",
        "--transport",
        "udp",
        &target,
    ];
    let output = filestone(&ladder(&some));
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(
        told.contains("left out: nothing succeeded: NFS3ERR_NOTSUPP (10004)"),
        "{told}"
    );
    let rows = text(&output.stdout);
    let mut rows = rows.lines().skip(1);
    assert!(
        rows.next().is_some_and(|row| row.starts_with("null,2,0,")),
        "{told}"
    );
    assert!(
        rows.next()
            .is_some_and(|row| row.starts_with("readdirplus,0,0,0,0,1,")),
        "{told}"
    );
}

#[test]
fn rungs_are_planned_before_anything_runs() {
    let planned = done(&ladder(&[
        "--dry-run",
        "--rungs",
        "null,read-128K",
        "server:/export",
    ]));
    let shown: Value = serde_json::from_slice(&planned.stdout).expect("JSON");
    assert_eq!(shown[1]["point"], "rung=read-128K");
    assert_eq!(shown[1]["plan"]["workload"]["own_files"], true);
    assert_eq!(shown[0]["plan"]["workload"]["own_files"], Value::Null);
    let udp = ["--dry-run", "--transport", "udp", "server:/export"];
    let planned = done(&ladder(&udp));
    let shown: Value = serde_json::from_slice(&planned.stdout).expect("JSON");
    assert_eq!(shown.as_array().map(Vec::len), Some(12));
    let told = text(&planned.stderr);
    assert!(
        told.contains("read-128K: left out: --io-size 131072"),
        "{told}"
    );
    for more in [
        vec!["--rungs", "read"],
        vec!["--rungs", "read-128K", "--transport", "udp"],
    ] {
        let refused = filestone(&ladder(&more));
        assert_eq!(refused.status.code(), Some(2), "{more:?}");
    }
}

/// The serving of SMB and of echoes, as it says where.
fn address_in(lines: &str, word: &str) -> String {
    let line = lines.split(word).nth(1).unwrap_or_default();
    let found = line
        .split_whitespace()
        .find(|it| it.starts_with("127.0.0.1:"));
    found.expect("an address").trim_end_matches(',').to_owned()
}

/// What a server says until it has said where it sends back what comes.
fn said_by(out: &mut impl BufRead) -> String {
    let mut said = String::new();
    while !said.contains("sending back what comes at 127.0.0.1:") {
        assert!(
            out.read_line(&mut said).is_ok_and(|count| count > 0),
            "{said}"
        );
    }
    said
}

#[test]
fn an_echo_is_the_lowest_rung_and_a_share_has_all_others() {
    let more = ["--smb-port", "0", "--echo-port", "0"];
    let (server, address, mut out) = serve(&more);
    let said = said_by(&mut out);
    let echo = address_in(&said, "sending back what comes at");
    let share = address_in(&said, "serving SMB");
    let process = server.id().to_string();
    let share = format!("smb://{share}/export");
    let nfs = format!("nfs://{address}/export");
    let some = ["--rungs", "null,getattr"];
    for (target, transport, rungs_of, count) in [
        (&share, "tcp", &[][..], 14),
        (&nfs, "tcp", &some[..], 3),
        (&nfs, "udp", &some[..], 3),
    ] {
        let asked = [
            &[
                "--server-pid",
                &process,
                "--echo",
                &echo,
                "--format",
                "json",
            ][..],
            &["--transport", transport, target],
            rungs_of,
        ];
        let output = done_in_time(&ladder(&asked.concat()));
        let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let rungs = rungs(&found);
        assert_eq!(rungs.len(), count, "{target}");
        assert_eq!(
            (&rungs[0]["name"], &rungs[1]["name"]),
            (&"echo".into(), &"null".into())
        );
        assert_eq!(rungs[1]["below"], "echo");
        for rung in rungs {
            let whole = (&rung["runs"], &rung["errors"]);
            assert_eq!(whole, (&2.into(), &0.into()), "{rung}");
            figure(rung, "server_cpu_per_operation");
        }
    }
}

/// A cycle of 800 ms has none and three loads, there and back.
#[test]
fn costs_are_told_from_loads_in_turn() {
    let (server, address, _out) = serve(&DELAYING);
    let target = format!("nfs://{address}/export");
    let process = server.id().to_string();
    let asked = [
        &[
            "--server-pid",
            &process,
            "--rungs",
            "null",
            "--format",
            "json",
        ][..],
        &[
            "--offered",
            "1k",
            "--load-levels",
            "3",
            "--in-flight",
            "32",
            &target,
        ],
    ];
    let output = done_in_time(&ladder(&asked.concat()));
    let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let null = &rungs(&found)[0];
    assert_eq!(null["plan"]["arrivals"]["process"], "levels");
    assert_eq!(null["plan"]["duration_ns"], 800_000_000);
    let cpu = figure(null, "server_cpu_per_operation")["value"].as_f64();
    assert!(cpu.is_some_and(|cpu| cpu > 0.0), "{null}");
    let refused = filestone(&ladder(&["--offered", "1", "--load-levels", "3", &target]));
    assert_eq!(refused.status.code(), Some(2));
    let said = text(&refused.stderr);
    assert!(said.contains("--load-levels: at the lowest load"), "{said}");
}
