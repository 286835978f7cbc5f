//! Load files with the programs that they were made for: dbench's load, its peer, its clients, and
//! nfs-ganesha.
//!
//! No package contains the NFS load files of dbench 5. If `FILESTONE_DBENCH_SOURCE` names a clone
//! of its repository (or a directory with `nfs*.load` in it), they are read from there; otherwise
//! that scenario reports that it was skipped.

use super::checks::{Bed, Scenario};
use crate::process::{self, Running};
use crate::record::Record;
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

/// The load file of Debian's package `dbench`.
const CLIENT_TXT: &str = "/usr/share/dbench/client.txt";
/// tbench's only port.
const TBENCH: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 7003);
/// Time limit of an iteration of client.txt over NFS, which takes long on a small machine.
const PASS_LIMIT: Duration = Duration::from_secs(300);
/// Environment variable with the path of a clone of dbench's repository.
const SOURCE: &str = "FILESTONE_DBENCH_SOURCE";
/// Loads that filestone generates.
const MADE: &[&str] = &["office", "build", "untar", "mail", "database"];

/// Scenarios for load files.
pub const SCENARIOS: &[Scenario] = &[
    (
        "check counts client.txt as it is known",
        client_txt_is_known,
    ),
    ("client.txt, a pass on a directory", a_pass_on_a_directory),
    ("client.txt, a pass against tbench_srv", a_pass_over_tcp),
    ("client.txt, a pass over NFS", a_pass_over_nfs),
    (
        "client.txt, a pass over NFS to ourselves",
        a_pass_to_ourselves,
    ),
    ("tbench against serve --tbench", tbench_against_us),
    ("as dbench, as tbench", as_the_ancestors),
    ("our loads in every layer", our_loads),
    ("our loads by dbench", our_loads_by_dbench),
    ("locks of two clients", locks),
    ("NFS loads of dbench 5", nfs_loads),
    ("a tree that was left over", left_over),
];

/// Expected counts of `filestone check` for client.txt; docs/reference/load-file.md has the
/// originals.
const KINDS: &[(&str, u64)] = &[
    ("ReadX", 124_199),
    ("NTCreateX", 79_230),
    ("QUERY_PATH_INFORMATION", 71_814),
    ("Close", 58_200),
    ("WriteX", 39_502),
    ("FIND_FIRST", 27_765),
    ("Unlink", 16_000),
    ("QUERY_FS_INFORMATION", 13_168),
    ("QUERY_FILE_INFORMATION", 12_585),
    ("SET_FILE_INFORMATION", 6_454),
    ("Flush", 5_553),
    ("Rename", 3_355),
    ("LockX", 258),
    ("UnlockX", 258),
    ("Deltree", 2),
    ("Mkdir", 1),
];

fn long_run(bed: &Bed, arguments: &[&str]) -> Result<Output> {
    process::run(&mut bed.command(arguments), &[], &bed.folder, PASS_LIMIT)
        .with_context(|| format!("filestone {}", arguments.join(" ")))
}

/// Runs one iteration of a load with one client; all results must be as the load expects.
fn pass(bed: &Bed, load: &str, on: &str, options: &[&str]) -> Result<Record> {
    as_expected(bed, load, on, &[&["--run-once"], options].concat())
}

/// Runs a load; all results must be as the load expects.
fn as_expected(bed: &Bed, load: &str, on: &str, options: &[&str]) -> Result<Record> {
    let arguments = ["replay", load, "--on", on, "--as", "json"];
    let record = Record::read(&long_run(bed, &[&arguments, options].concat())?)?;
    let mismatches = record.number("/replay/mismatch_count")?;
    if mismatches > 0.0 {
        bail!(
            "{mismatches} mismatches: {:?}",
            record.list("/replay/mismatches")
        );
    }
    for client in record.list("/replay/clients") {
        if let Some(lost) = client["lost"].as_str() {
            bail!("a client was lost: {lost}");
        }
    }
    Ok(record)
}

/// Returns the operations of the iteration and their rate per second, as text.
fn figures(record: &Record) -> Result<String> {
    Ok(format!(
        "{:.0} operations, {:.0}/s, 0 mismatches",
        record.number("/totals/ledger/scheduled")?,
        record.number("/totals/achieved_load_ops_per_s")?
    ))
}

fn client_txt_is_known(bed: &Bed) -> Result<String> {
    let output = long_run(bed, &["check", CLIENT_TXT, "--as", "json"])?;
    let said = String::from_utf8_lossy(&output.stderr);
    let document: Value = serde_json::from_slice(&output.stdout)
        .with_context(|| format!("check printed no JSON: {said}"))?;
    let contents = &document[0]["contents"];
    let count = |pointer: &str| contents.pointer(pointer).and_then(Value::as_u64);
    let failures: u64 = contents["expected_failures"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|failure| failure["count"].as_u64())
        .sum();
    let known = [
        ("operations", count("/operations"), 458_344),
        (
            "bytes written",
            count("/writes/bytes_returned"),
            1_015_974_170,
        ),
        ("bytes read", count("/reads/bytes_returned"), 1_472_088_767),
        ("live set", count("/tree/live_set_bytes"), 23_965_486),
        ("expected failures", Some(failures), 59_743),
    ];
    for (what, found, wanted) in known {
        if found != Some(wanted) {
            bail!("{what}: {found:?} instead of {wanted}");
        }
    }
    let kinds = contents["kinds"].as_array().map_or(&[][..], Vec::as_slice);
    for (verb, wanted) in KINDS {
        let found = kinds.iter().find(|kind| kind["verb"] == *verb);
        if found.is_none_or(|kind| kind["count"] != *wanted) {
            bail!("{verb}: {found:?} instead of {wanted}");
        }
    }
    Ok("458,344 operations, 59,743 expected to fail, live set 23,965,486 bytes".into())
}

/// A directory below the folder, removed when dropped.
struct Place(PathBuf);

impl Place {
    fn new(bed: &Bed, name: &str) -> Result<Self> {
        let path = bed.folder.join(name);
        std::fs::create_dir(&path)?;
        Ok(Self(path))
    }

    fn on(&self) -> String {
        format!("local:{}", self.0.display())
    }

    fn is_empty(&self) -> Result<bool> {
        Ok(std::fs::read_dir(&self.0)?.next().is_none())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // It is removed with the folder at the latest.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn a_pass_on_a_directory(bed: &Bed) -> Result<String> {
    let place = Place::new(bed, "pass")?;
    let record = pass(bed, CLIENT_TXT, &place.on(), &["--clients", "2"])?;
    if !place.is_empty()? {
        bail!("something was left in {}", place.0.display());
    }
    figures(&record)
}

fn tbench_srv() -> Result<Running> {
    let mut command = Command::new("/usr/bin/tbench_srv");
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut running = Running::start(&mut command, &[])?;
    running.wait_for(TBENCH, Duration::from_secs(5))?;
    Ok(running)
}

/// Bytes of one iteration in both directions, as moved by dbench's tbench.
const PASS_BYTES: (f64, f64) = (1_058_692_738.0, 1_513_330_583.0);

fn a_pass_over_tcp(bed: &Bed) -> Result<String> {
    let _server = tbench_srv()?;
    let record = pass(bed, CLIENT_TXT, "tcp:127.0.0.1", &[])?;
    let sum = |field: &str| -> f64 {
        let kinds = record.list("/totals/kinds").iter();
        kinds.filter_map(|kind| kind[field].as_f64()).sum()
    };
    let moved = (sum("bytes_sent"), sum("bytes_received"));
    if moved != PASS_BYTES {
        bail!("{moved:?} bytes sent and received instead of {PASS_BYTES:?}");
    }
    Ok("1,058,692,738 bytes sent, 1,513,330,583 received".into())
}

fn a_pass_over_nfs(bed: &Bed) -> Result<String> {
    figures(&pass(bed, CLIENT_TXT, "nfs://127.0.0.1/export", &[])?)
}

fn a_pass_to_ourselves(bed: &Bed) -> Result<String> {
    figures(&pass(bed, CLIENT_TXT, "nfs:", &[])?)
}

fn throughput(output: &Output) -> Result<String> {
    let said = String::from_utf8_lossy(&output.stdout);
    let line = said.lines().find(|line| line.starts_with("Throughput "));
    let mb_per_s = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok());
    match (line, mb_per_s) {
        (Some(line), Some(mb_per_s)) if mb_per_s > 0.0 => Ok(line.to_owned()),
        _ => bail!(
            "no throughput: {said}{}",
            String::from_utf8_lossy(&output.stderr)
        ),
    }
}

fn tbench_against_us(bed: &Bed) -> Result<String> {
    let mut command = bed.command(&["serve", "--tbench"]);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut server = Running::start(&mut command, &[])?;
    server.wait_for(TBENCH, Duration::from_secs(5))?;
    let mut tbench = Command::new("/usr/bin/tbench");
    tbench.args(["-c", CLIENT_TXT, "-t", "2", "2", "127.0.0.1"]);
    throughput(&process::run(&mut tbench, &[], &bed.folder, PASS_LIMIT)?)
}

fn as_the_ancestors(bed: &Bed) -> Result<String> {
    let place = Place::new(bed, "ancestors")?;
    let directory = place.0.display().to_string();
    let dbench = [
        "as", "dbench", "-c", CLIENT_TXT, "-t", "2", "-D", &directory, "2",
    ];
    let said = throughput(&long_run(bed, &dbench)?)?;
    let _server = tbench_srv()?;
    let tbench = [
        "as",
        "tbench",
        "-c",
        CLIENT_TXT,
        "-t",
        "2",
        "2",
        "127.0.0.1",
    ];
    throughput(&long_run(bed, &tbench)?)?;
    Ok(said)
}

fn our_loads(bed: &Bed) -> Result<String> {
    let place = Place::new(bed, "ours")?;
    let server = tbench_srv()?;
    let mut operations = 0.0;
    for load in MADE {
        for on in [
            &place.on(),
            "tcp:127.0.0.1",
            "nfs://127.0.0.1/export",
            "nfs://127.0.0.1/mem",
        ] {
            let record = pass(bed, load, on, &["--clients", "2"])
                .with_context(|| format!("{load} on {on}"))?;
            operations += record.number("/totals/ledger/scheduled")?;
        }
    }
    drop(server);
    Ok(format!("{operations:.0} operations, 0 mismatches"))
}

fn our_loads_by_dbench(bed: &Bed) -> Result<String> {
    let loads = crate::tidy::root()?.join("loads");
    for load in MADE {
        let place = Place::new(bed, "by-dbench")?;
        let mut dbench = Command::new("/usr/bin/dbench");
        dbench
            // Its throughput is taken from its last row, which a run of one second lacks.
            .args(["-t", "3", "-c"])
            .arg(loads.join(format!("{load}.load")));
        dbench.arg("-D").arg(&place.0).arg("1");
        let output = process::run(&mut dbench, &[], &bed.folder, PASS_LIMIT)?;
        throughput(&output).with_context(|| format!("{load} by dbench"))?;
    }
    Ok(format!("{} loads", MADE.len()))
}

/// Each client locks a private range and one that both use: a second lock on the latter may be
/// granted or denied, and nothing else.
const LOCKS: &str = "MKDIR3 \"/clients\" *\n\
    MKDIR3 \"/clients/client1\" *\n\
    CREATE3 \"/clients/client1/own\" 0x00000000\n\
    REPEAT 200\n\
    LOCK4 \"/clients/client1/own\" +child 1 0x00000000\n\
    UNLOCK4 \"/clients/client1/own\" 0 1000000 0x00000000\n\
    TEST4 \"/clients/client1/own\" 0 1 0x00000000\n";

fn locks(bed: &Bed) -> Result<String> {
    let path = bed.folder.join("locks.load");
    std::fs::write(&path, LOCKS)?;
    let options = ["--enable-nlm", "--clients", "2"];
    let name = path.display().to_string();
    figures(&pass(bed, &name, "nfs://127.0.0.1/export", &options)?)
}

/// Returns the NFS loads in the directory that the environment names.
fn foreign_loads(folder: &Path) -> Result<Option<Vec<PathBuf>>> {
    let Some(source) = std::env::var_os(SOURCE).map(PathBuf::from) else {
        return Ok(None);
    };
    let names = ["nfs.load", "nfs_2.load", "nfs_3.load", "nfs_lock.load"];
    let mut found = Vec::new();
    for name in names {
        let path = folder.join(name);
        let plain = source.join("loadfiles").join(name);
        if plain.is_file() {
            std::fs::copy(&plain, &path)?;
        } else {
            let output = Command::new("git")
                .arg("--git-dir")
                .arg(&source)
                .args(["show", &format!("HEAD:loadfiles/{name}")])
                .output()?;
            if !output.status.success() {
                bail!("{}: no {name} there", source.display());
            }
            std::fs::write(&path, output.stdout)?;
        }
        found.push(path);
    }
    Ok(Some(found))
}

fn nfs_loads(bed: &Bed) -> Result<String> {
    let Some(loads) = foreign_loads(&bed.folder)? else {
        return Ok(format!(
            "left out: {SOURCE} names no clone of dbench's repository"
        ));
    };
    // Some of their lines refer to a file that they do not make.
    std::fs::write(bed.folder.join("disk/foo.dbench"), b"")?;
    let mut operations = 0.0;
    for load in &loads {
        let name = load.display().to_string();
        // One of them repeats a line ten million times, so it runs only for a moment. In the
        // others, clients would compete for one lock, and one would be denied.
        let options: &[&str] = if name.contains("nfs_lock") {
            &["--enable-nlm", "--clients", "2", "--duration", "3s"]
        } else {
            &["--enable-nlm", "--run-once"]
        };
        let record = as_expected(bed, &name, "nfs://127.0.0.1/export", options)
            .with_context(|| name.clone())?;
        operations += record.number("/totals/ledger/scheduled")?;
    }
    Ok(format!(
        "{} loads, {operations:.0} operations, 0 mismatches",
        loads.len()
    ))
}

fn left_over(bed: &Bed) -> Result<String> {
    let place = Place::new(bed, "left-over")?;
    let on = place.on();
    let arguments = ["replay", "untar", "--on", &on, "--run-once"];
    let kept = long_run(bed, &[&arguments[..], &["--skip-cleanup"]].concat())?;
    if !kept.status.success() {
        bail!("ended with {}", kept.status);
    }
    let refused = long_run(bed, &arguments)?;
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    if refused.status.code() != Some(2) || !said.contains("left over") {
        bail!("ended with {}: {said}", refused.status);
    }
    let cleared = long_run(bed, &[&arguments[..], &["--remove-leftover"]].concat())?;
    if !cleared.status.success() || !place.is_empty()? {
        bail!(
            "--remove-leftover ended with {}: {}",
            cleared.status,
            String::from_utf8_lossy(&cleared.stderr)
        );
    }
    Ok(said.lines().next().unwrap_or_default().to_owned())
}
