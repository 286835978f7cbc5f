//! Checks of filestone against a server, and their expected results.

use super::fixture::{DIRECTORY, FILE, LINK};
use super::ganesha::Ganesha;
use super::{MOUNT_PORT, NFS_PORT};
use crate::process;
use crate::record::Record;
use crate::table;
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::fs::File;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Time limit of a single run.
pub const RUN_LIMIT: Duration = Duration::from_secs(30);

/// Every procedure, and the object of an export that it is called on.
const PROCEDURES: &[(&str, &str)] = &[
    ("null", ""),
    ("getattr", FILE),
    ("setattr", ""),
    ("lookup", DIRECTORY),
    ("access", DIRECTORY),
    ("readlink", LINK),
    ("read", FILE),
    ("write", ""),
    ("create", ""),
    ("mkdir", ""),
    ("symlink", ""),
    ("mknod", ""),
    ("remove", ""),
    ("rmdir", ""),
    ("rename", ""),
    ("link", ""),
    ("readdir", DIRECTORY),
    ("readdirplus", DIRECTORY),
    ("fsstat", ""),
    ("fsinfo", ""),
    ("pathconf", ""),
    ("commit", ""),
];

/// Configuration for a test of all procedures: name, host, export, transport.
pub type Way = (&'static str, &'static str, &'static str, &'static str);

/// Configurations for nfs-ganesha.
pub const WAYS: &[Way] = &[
    ("TCP disk", "127.0.0.1", "/export", "tcp"),
    ("TCPv6 disk", "[::1]", "/export", "tcp"),
    ("UDP disk", "127.0.0.1", "/export", "udp"),
    ("UDPv6 disk", "[::1]", "/export", "udp"),
    ("TCP memory", "127.0.0.1", "/mem", "tcp"),
    ("UDP memory", "127.0.0.1", "/mem", "udp"),
];

/// Permitted error statuses for operations that a server does not support.
const LEGITIMATE: &[&str] = &["NFS3ERR_NOTSUPP (10004)"];

/// Programs and directories that a check needs.
pub struct Bed {
    pub filestone: PathBuf,
    pub folder: PathBuf,
    pub count: u32,
}

impl Bed {
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.filestone);
        command.args(arguments);
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Result<Output> {
        process::run(&mut self.command(arguments), &[], &self.folder, RUN_LIMIT)
            .with_context(|| format!("filestone {}", arguments.join(" ")))
    }

    pub fn probe(&self, operation: &str, target: &str, options: &[&str]) -> Result<Output> {
        self.run(
            &[
                &[
                    "probe",
                    operation,
                    target,
                    "--as",
                    "json",
                    "--no-calibrate",
                    "--timeout",
                    "10s",
                ],
                options,
            ]
            .concat(),
        )
    }
}

/// Returns `ok` or the permitted statuses, or an error that describes the mismatch.
pub fn evaluate(output: &Output, count: u32) -> Result<String, String> {
    let record = Record::read(output).map_err(|error| format!("{error:#}"))?;
    let number = |pointer: &str| record.number(pointer).map_err(|error| error.to_string());
    let (scheduled, ok) = (
        number("/totals/ledger/scheduled")?,
        number("/totals/ledger/ok")?,
    );
    if record.holds("left-behind") {
        return Err(format!(
            "it left something behind: {:?}",
            record.list("/caveats")
        ));
    }
    if scheduled != f64::from(count) {
        return Err(format!("{scheduled} operations instead of {count}"));
    }
    let failures: Vec<&str> = record
        .list("/totals/kinds")
        .iter()
        .flat_map(|kind| kind["failures"].as_array().into_iter().flatten())
        .filter_map(|failure| failure["failure"].as_str())
        .collect();
    if let Some(wrong) = failures
        .iter()
        .find(|failure| !LEGITIMATE.contains(*failure))
    {
        return Err(format!("{wrong}; {ok} of {scheduled} ok"));
    }
    let failed = number("/totals/ledger/failed")?;
    if ok + failed != scheduled {
        return Err(format!("{ok} ok and {failed} failed of {scheduled}"));
    }
    Ok(failures
        .first()
        .map_or("ok".into(), |status| (*status).to_owned()))
}

/// Calls all 22 procedures in each of these configurations. Returns whether each result was as
/// expected.
pub fn procedures(bed: &Bed, ways: &[Way]) -> Result<bool> {
    let count = bed.count.to_string();
    let mut rows = Vec::new();
    let mut wrong = Vec::new();
    for (operation, object) in PROCEDURES {
        let mut row = vec![operation.to_uppercase()];
        for (_, host, export, transport) in ways {
            let target = format!("nfs://{host}{export}/{object}");
            let target = target.trim_end_matches('/');
            let options = [
                "--count",
                &count,
                "--in-flight",
                "4",
                "--transport",
                transport,
            ];
            let verdict = evaluate(&bed.probe(operation, target, &options)?, bed.count);
            row.push(match verdict {
                Ok(verdict) => verdict,
                Err(what) => {
                    wrong.push(format!("{operation} {target} over {transport}: {what}"));
                    "wrong".into()
                }
            });
        }
        rows.push(row);
    }
    let head: Vec<&str> = std::iter::once("procedure")
        .chain(ways.iter().map(|(name, ..)| *name))
        .collect();
    print!("{}", table::lay_out(&head, &rows, false));
    for what in &wrong {
        eprintln!("error: {what}");
    }
    Ok(wrong.is_empty())
}

/// Name of a scenario, and the function that runs it and describes its result.
pub type Scenario<B = Bed> = (&'static str, fn(&B) -> Result<String>);

/// Further scenarios.
pub const SCENARIOS: &[Scenario] = &[
    ("a file that MNT refuses is walked to", a_file_is_walked_to),
    (
        "data read are compared with what was written",
        data_are_verified,
    ),
    ("data that change behind our back are found", changed_data),
    ("READ of 128 KiB, 8 in flight", long_reads),
    ("ports given instead of asked for", ports_given),
    ("nct's command line", as_nct),
    ("wrong port", wrong_port),
    ("no such export", no_such_export),
    ("no such file", no_such_file),
    ("an HTTP server", http_server),
    ("a server that never answers", silent_server),
    ("^C in the middle of CREATE", interrupted),
    ("nothing is left on the server", nothing_is_left),
];

/// Runs the scenarios whose names contain `only`. Returns whether each had the expected result.
pub fn scenarios<B>(bed: &B, scenarios: &[Scenario<B>], only: Option<&str>) -> Result<bool> {
    let wanted = |name: &str| only.is_none_or(|only| name.contains(only));
    let mut rows = Vec::new();
    let mut is_good = true;
    for (name, scenario) in scenarios.iter().filter(|(name, _)| wanted(name)) {
        let start = Instant::now();
        let (verdict, what) = match scenario(bed) {
            Ok(what) => ("ok", what),
            Err(error) => {
                is_good = false;
                ("wrong", format!("{error:#}"))
            }
        };
        let seconds = format!("{:.1} s", start.elapsed().as_secs_f64());
        rows.push(vec![(*name).to_owned(), verdict.to_owned(), seconds, what]);
    }
    println!();
    print!(
        "{}",
        table::lay_out(&["scenario", "", "took", "what it said"], &rows, false)
    );
    Ok(is_good)
}

fn all_ok(bed: &Bed, operation: &str, target: &str, options: &[&str]) -> Result<Record> {
    let count = bed.count.to_string();
    let options = [&["--count", &count], options].concat();
    let output = bed.probe(operation, target, &options)?;
    match evaluate(&output, bed.count) {
        Ok(verdict) if verdict == "ok" => Record::read(&output),
        Ok(other) => bail!("answered with {other}"),
        Err(what) => bail!(what),
    }
}

/// Expects that a run ends with `code` and that its error contains all of `words`.
pub fn refused(output: &Output, code: i32, words: &[&str]) -> Result<String> {
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    if output.status.code() != Some(code) {
        bail!("ended with {} instead of {code}: {said}", output.status);
    }
    let first = said
        .lines()
        .find(|line| line.starts_with("error: "))
        .unwrap_or_default();
    if first.is_empty() {
        bail!("no line begins with \"error: \": {said}");
    }
    if let Some(word) = words.iter().find(|word| !said.contains(**word)) {
        bail!("does not say \"{word}\": {said}");
    }
    Ok(first.to_owned())
}

fn a_file_is_walked_to(bed: &Bed) -> Result<String> {
    let record = all_ok(
        bed,
        "getattr",
        &format!("nfs://127.0.0.1/export/{DIRECTORY}/file0003"),
        &[],
    )?;
    let text = |pointer| record.text(pointer).unwrap_or_default();
    let (export, walked) = (text("/target/export"), text("/target/walked"));
    if !walked.ends_with("file0003") {
        bail!("mounted {export:?}, looked up {walked:?}");
    }
    Ok(format!("mounted {export}, looked up {walked}"))
}

fn data_are_verified(bed: &Bed) -> Result<String> {
    let target = format!("nfs://127.0.0.1/export/{FILE}");
    let record = all_ok(bed, "read", &target, &["--size", "10000", "--verify"])?;
    Ok(format!(
        "{:.0} bytes of file data",
        record.number("/totals/kinds/0/data_bytes")?
    ))
}

fn changed_data(bed: &Bed) -> Result<String> {
    let target = format!("nfs://127.0.0.1/export/{DIRECTORY}/file0007");
    let file = bed.folder.join("disk").join(DIRECTORY).join("file0007");
    let arguments = [
        "probe",
        "read",
        &target,
        "--verify",
        "--duration",
        "3s",
        "--as",
        "json",
        "--no-calibrate",
    ];
    let Ended { record, .. } =
        cut_short(bed, &arguments, |_| Ok(std::fs::write(file, [7; 4096])?))?;
    let failure = &record["totals"]["kinds"][0]["failures"][0];
    match (failure["failure"].as_str(), failure["count"].as_u64()) {
        (Some(name), Some(count)) => Ok(format!(
            "{count} of {}: {name}",
            record["totals"]["ledger"]["scheduled"]
        )),
        _ => bail!(
            "none of {} operations failed",
            record["totals"]["ledger"]["scheduled"]
        ),
    }
}

fn long_reads(bed: &Bed) -> Result<String> {
    let target = format!("nfs://127.0.0.1/export/{FILE}");
    let record = all_ok(
        bed,
        "read",
        &target,
        &["--size", "131072", "--in-flight", "8"],
    )?;
    Ok(format!(
        "{:.0} bytes of file data",
        record.number("/totals/kinds/0/data_bytes")?
    ))
}

fn ports_given(bed: &Bed) -> Result<String> {
    let target = format!("nfs://127.0.0.1:{NFS_PORT}/export");
    all_ok(
        bed,
        "fsinfo",
        &target,
        &["--mount-port", &MOUNT_PORT.to_string()],
    )?;
    Ok(target)
}

fn as_nct(bed: &Bed) -> Result<String> {
    let output = bed.run(&[
        "as",
        "nct",
        "-d",
        "1",
        "-m",
        "1",
        "-j",
        "4",
        "getattr",
        "127.0.0.1:/export",
    ])?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let head = said.lines().find(|line| line.contains("SAMPLES"));
    match head {
        Some(head) if output.status.success() => Ok(head.trim().to_owned()),
        _ => bail!(
            "ended with {}: {said}{}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        ),
    }
}

fn wrong_port(bed: &Bed) -> Result<String> {
    let port = process::free_port()?.to_string();
    let target = format!("nfs://127.0.0.1:{port}/export");
    refused(&bed.probe("null", &target, &[])?, 3, &[&port, "refused"])
}

fn no_such_export(bed: &Bed) -> Result<String> {
    let output = bed.probe("getattr", "nfs://127.0.0.1/nowhere", &[])?;
    refused(&output, 3, &["/nowhere", "MNT3ERR_", "/export"])
}

fn no_such_file(bed: &Bed) -> Result<String> {
    let output = bed.probe("getattr", "nfs://127.0.0.1/export/nothing", &[])?;
    refused(&output, 3, &["nothing", "NFS3ERR_NOENT (2)"])
}

/// Answers every connection with `answer`, or accepts it and sends nothing. Returns the port.
fn listen(answer: Option<&'static [u8]>) -> Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let port = listener.local_addr()?.port();
    // The thread ends with this process, without being joined.
    std::thread::spawn(move || {
        let mut kept = Vec::new();
        for stream in listener.incoming().flatten() {
            let mut stream = stream;
            if let Some(answer) = answer {
                let mut question = [0; 512];
                let _ = stream.read(&mut question);
                let _ = stream.write_all(answer);
            } else {
                kept.push(stream);
            }
        }
    });
    Ok(port)
}

fn http_server(bed: &Bed) -> Result<String> {
    let page = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    let port = listen(Some(page))?.to_string();
    let target = format!("nfs://127.0.0.1:{port}/export");
    refused(
        &bed.probe("null", &target, &["--mount-port", &port])?,
        3,
        &[&port],
    )
}

fn silent_server(bed: &Bed) -> Result<String> {
    let port = listen(None)?.to_string();
    let target = format!("nfs://127.0.0.1:{port}/export");
    let arguments = [
        "probe",
        "null",
        &target,
        "--mount-port",
        &port,
        "--timeout",
        "1s",
        "--no-calibrate",
    ];
    refused(&bed.run(&arguments)?, 3, &[&port])
}

/// End of an interrupted run.
pub struct Ended {
    /// Exit code.
    pub code: Option<i32>,
    pub record: Value,
}

/// Starts a run that would take long, applies `meanwhile` to it, and returns its end.
pub fn cut_short(
    bed: &Bed,
    arguments: &[&str],
    meanwhile: impl FnOnce(&process::Running) -> Result<()>,
) -> Result<Ended> {
    let mut command = bed.command(arguments);
    let (out, err) = (bed.folder.join("stdout"), bed.folder.join("stderr"));
    command
        .stdin(Stdio::null())
        .stdout(File::create(&out)?)
        .stderr(File::create(&err)?);
    let running = process::Running::start(&mut command, &[])?;
    std::thread::sleep(Duration::from_millis(1500));
    meanwhile(&running)?;
    let status = running.wait(RUN_LIMIT)?;
    let said = std::fs::read_to_string(&err)?;
    let record: Value = serde_json::from_slice(&std::fs::read(&out)?)
        .with_context(|| format!("ended with {status} and no record: {}", said.trim()))?;
    if record["totals"]["ledger"]["ok"].as_u64().unwrap_or(0) == 0 {
        bail!("ended with {status}, and nothing was kept: {}", said.trim());
    }
    Ok(Ended {
        code: status.code(),
        record,
    })
}

/// Expects this exit code and this end reason of a run.
pub fn ended(run: &Ended, code: i32, reason: &str) -> Result<String> {
    let (end, ok) = (&run.record["end"], &run.record["totals"]["ledger"]["ok"]);
    if run.code != Some(code) || end["reason"] != reason {
        bail!("exit code {:?}, end {end}, {ok} ok", run.code);
    }
    Ok(format!("exit code {code}, {reason}, {ok} operations kept"))
}

fn interrupted(bed: &Bed) -> Result<String> {
    let target = "nfs://127.0.0.1/export";
    let arguments = [
        "probe",
        "create",
        target,
        "--duration",
        "20s",
        "-j",
        "4",
        "--as",
        "json",
        "--no-calibrate",
    ];
    let end = cut_short(bed, &arguments, process::Running::interrupt)?;
    ended(&end, 130, "interrupted")
}

/// Stops the server; this is the last check.
pub fn server_stops(bed: &Bed, server: Ganesha) -> Result<bool> {
    let target = format!("nfs://127.0.0.1/export/{FILE}");
    let arguments = [
        "probe",
        "getattr",
        &target,
        "--duration",
        "20s",
        "--reconnect",
        "1s",
        "--as",
        "json",
        "--no-calibrate",
    ];
    let end = cut_short(bed, &arguments, |_| {
        drop(server);
        Ok(())
    });
    let verdict = end.and_then(|end| ended(&end, 3, "target-lost"));
    match &verdict {
        Ok(what) => println!("the server stops in the middle: ok, {what}"),
        Err(error) => eprintln!("error: the server stops in the middle: {error:#}"),
    }
    Ok(verdict.is_ok())
}

fn nothing_is_left(bed: &Bed) -> Result<String> {
    let mut names: Vec<String> = std::fs::read_dir(bed.folder.join("disk"))?
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    if names != [FILE, DIRECTORY, LINK] {
        bail!("the export holds {}", names.join(", "));
    }
    Ok(format!("the export holds {}", names.join(", ")))
}

/// Prints the rates of NULL and GETATTR here; they are figures of the server, not of filestone.
pub fn figures(bed: &Bed) -> Result<()> {
    let mut rows = Vec::new();
    for (operation, object) in [("null", ""), ("getattr", FILE)] {
        for in_flight in ["1", "32"] {
            let target = format!("nfs://127.0.0.1/export/{object}");
            let output = bed.probe(
                operation,
                target.trim_end_matches('/'),
                &["--duration", "2s", "-j", in_flight],
            )?;
            let record = Record::read(&output)?;
            rows.push(vec![
                format!("{} ×{in_flight}", operation.to_uppercase()),
                format!("{:.0}", record.number("/totals/achieved_load_ops_per_s")?),
                format!(
                    "{:.1}",
                    record.number("/totals/response_time_ns/p50")? / 1000.0
                ),
                format!(
                    "{:.1}",
                    record.number("/totals/response_time_ns/p99")? / 1000.0
                ),
            ]);
        }
    }
    println!();
    print!(
        "{}",
        table::lay_out(&["", "ops/s", "p50 µs", "p99 µs"], &rows, false)
    );
    Ok(())
}
