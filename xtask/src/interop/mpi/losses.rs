//! Kills, stops or slows a rank of a mix while the job prepares, warms up, measures or cleans up:
//! the job must end soon, keep its record if anything was measured, and leave no file set.

use super::{Bed, SERVER_PORT, hosts, mix_at, rank_of};
use crate::process::Running;
use anyhow::{Context, Result, ensure};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Programs that this test needs in addition to MPI.
pub const NEEDED: &crate::interop::Needed = &[("/usr/bin/nfs-ls", "libnfs-utils")];
/// Server options: one call at a time, so that making and removing file sets takes seconds.
const SERVED: &[&str] = &["--service-time", "2ms"];
/// The affected rank; its part of the job is the last.
const RANK: &str = "2";
/// File set of that part.
const ITS_SET: &str = "3of3";
/// Metrics port of rank 0, which publishes its phase.
const METRICS_PORT: u16 = 20_771;
/// Stopped time and running time in the cycle of a slowed rank.
const SLOWED: (Duration, Duration) = (Duration::from_millis(200), Duration::from_millis(100));
const SLOWED_FOR: Duration = Duration::from_secs(3);
/// Time limit for a phase to start.
const PHASE_WITHIN: Duration = Duration::from_secs(40);
/// Time limit for the end of the job after a rank was killed or stopped: the watchdog (2 s), the
/// clean-up of the other ranks, removal of the lost rank's file set, and disconnection (5 s), each
/// on a server that takes seconds for it.
const LOST_ENDS_WITHIN: Duration = Duration::from_secs(20);
/// Time limit for the end of the job after a rank was slowed, which includes the rest of the run.
const SLOWED_ENDS_WITHIN: Duration = Duration::from_secs(40);
/// Time limit for the end of a stopped rank after it continues.
const WOKEN_ENDS_WITHIN: Duration = Duration::from_secs(10);
/// Polling interval.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Event that affects a rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mishap {
    Killed,
    Stopped,
    Slowed,
}

/// Phase of the event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum During {
    Prepare,
    WarmUp,
    Measure,
    CleanUp,
}

impl During {
    /// Returns the name in rank 0's metrics.
    const fn name(self) -> &'static str {
        match self {
            Self::Prepare => "preparing",
            Self::WarmUp => "warm-up",
            Self::Measure => "measure",
            Self::CleanUp => "clean-up",
        }
    }

    /// Returns the phase in the record.
    const fn phase_of_loss(self) -> &'static str {
        match self {
            Self::Prepare => "preparing",
            Self::WarmUp | Self::Measure => "measuring",
            Self::CleanUp => "ending",
        }
    }
}

/// Runs every event in every phase. Returns whether all ended as documented.
pub fn run(bed: &Bed<'_>, only: Option<&str>) -> bool {
    let mut is_good = true;
    for mishap in [Mishap::Killed, Mishap::Stopped, Mishap::Slowed] {
        for during in [
            During::Prepare,
            During::WarmUp,
            During::Measure,
            During::CleanUp,
        ] {
            let name = format!("a rank is {mishap:?} during {}", during.name()).to_lowercase();
            if only.is_none_or(|only| name.contains(only)) {
                is_good &= super::told(bed, &name, |bed| case(bed, mishap, during));
            }
        }
    }
    is_good
}

/// A job with an affected rank.
struct Struck {
    job: Running,
    first: Pid,
    rank: Pid,
    log: PathBuf,
    /// File with rank 0's exit code: launchers that tolerate the loss of ranks return another one.
    code: PathBuf,
    record: PathBuf,
}

fn case(bed: &Bed<'_>, mishap: Mishap, during: During) -> Result<String> {
    let name = format!("{mishap:?}-{}", during.name());
    let _server = bed.serve_with("127.0.0.1", None, SERVED)?;
    let mut struck = start(bed, &name)?;
    let told = follow(&mut struck, mishap, during);
    told.with_context(|| {
        let said = std::fs::read_to_string(&struck.log).unwrap_or_default();
        format!("the job said:\n{said}")
    })
}

/// Applies the event in its phase, and checks everything up to an export without file sets.
fn follow(struck: &mut Struck, mishap: Mishap, during: During) -> Result<String> {
    await_phase(during)?;
    let begun = Instant::now();
    strike(struck, mishap)?;
    let limit = match mishap {
        Mishap::Killed | Mishap::Stopped => LOST_ENDS_WITHIN,
        Mishap::Slowed => SLOWED_ENDS_WITHIN,
    };
    // Launchers wait for a stopped rank, so the end of rank 0 counts.
    let first = struck.first;
    ended_within(limit, || Ok(!exists(first)))?;
    let took = begun.elapsed();
    check_export(struck)?;
    if mishap == Mishap::Stopped {
        // The launcher may have killed it.
        let _ = kill_process(struck.rank, Signal::CONT);
    }
    let job = &mut struck.job;
    ended_within(WOKEN_ENDS_WITHIN, || Ok(job.ended()?.is_some()))?;
    let code = std::fs::read_to_string(&struck.code).unwrap_or_default();
    let rank = struck.rank;
    ended_within(WOKEN_ENDS_WITHIN, || Ok(!exists(rank)))?;
    // A rank that continues must not make files again.
    check_export(struck)?;
    let outcome = match mishap {
        Mishap::Slowed => check_whole(struck, code.trim())?,
        Mishap::Killed | Mishap::Stopped => check_lost(struck, during, code.trim())?,
    };
    Ok(format!("{outcome}; over {:.1} s later", took.as_secs_f64()))
}

/// Starts a mix with three ranks.
fn start(bed: &Bed<'_>, name: &str) -> Result<Struck> {
    let record = bed.folder.join(name);
    let log = bed.folder.join(format!("{name}.log"));
    let code = bed.folder.join(format!("{name}.code"));
    let mut command = bed.launcher(None);
    command
        .args(bed.family.survives.unwrap_or_default())
        .args(["-n", "1", "sh", "-c", "\"$@\"; echo $? > \"$0\""])
        .arg(&code);
    mix_at(&mut command, &bed.filestone, "127.0.0.1", "120");
    let metrics = format!("127.0.0.1:{METRICS_PORT}");
    command
        .args(["--files", "30", "--clients", "6"])
        .args(["--warm-up", "3s", "--duration", "3s", "--watchdog", "2s"])
        .args(["--metrics", &metrics, "--metrics-linger", "0s"])
        .arg("--output")
        .arg(&record);
    // Options of the other ranks have no effect.
    command
        .args([":", "-n", "2"])
        .arg(&bed.filestone)
        .args(["mix", "nfs://127.0.0.1/export"]);
    command
        .stdout(std::process::Stdio::null())
        .stderr(std::fs::File::create(&log)?);
    let job = Running::start_group(&mut command)?;
    let limit = Duration::from_secs(20);
    Ok(Struck {
        first: rank_of(job.id(), "0", limit)?,
        rank: rank_of(job.id(), RANK, limit)?,
        job,
        log,
        code,
        record,
    })
}

/// Waits until the job is in the middle of a phase.
fn await_phase(during: During) -> Result<()> {
    let wanted = format!("filestone_run_phase{{phase=\"{}\"}} 1", during.name());
    ended_within(PHASE_WITHIN, || {
        let is_it = metrics().is_some_and(|text| text.contains(&wanted));
        Ok(is_it && (during != During::Prepare || names()?.contains(ITS_SET)))
    })
    .with_context(|| format!("{} did not come", during.name()))?;
    std::thread::sleep(Duration::from_millis(500));
    Ok(())
}

/// Fetches the metrics of rank 0, if it already publishes them.
fn metrics() -> Option<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", METRICS_PORT)).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(2))).ok()?;
    let request = format!(
        "GET /metrics HTTP/1.1\r\nHost: 127.0.0.1:{METRICS_PORT}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).ok()?;
    let mut text = String::new();
    stream.read_to_string(&mut text).ok()?;
    Some(text)
}

/// Returns the names in the server's export, listed by a foreign client.
fn names() -> Result<String> {
    let url = format!("nfs://127.0.0.1/export?nfsport={SERVER_PORT}&mountport={SERVER_PORT}");
    let listed = Command::new("nfs-ls").arg(url).output()?;
    let text = String::from_utf8_lossy(&listed.stdout).into_owned();
    // Names that the built-in server always has.
    ensure!(
        text.contains("link"),
        "nfs-ls: {text}{}",
        String::from_utf8_lossy(&listed.stderr)
    );
    Ok(text)
}

fn strike(struck: &Struck, mishap: Mishap) -> Result<()> {
    match mishap {
        Mishap::Killed => kill_process(struck.rank, Signal::KILL)?,
        Mishap::Stopped => kill_process(struck.rank, Signal::STOP)?,
        Mishap::Slowed => slow_down(struck.rank)?,
    }
    Ok(())
}

fn slow_down(rank: Pid) -> Result<()> {
    let begun = Instant::now();
    // The process may end in between.
    while begun.elapsed() < SLOWED_FOR && exists(rank) {
        let _ = kill_process(rank, Signal::STOP);
        std::thread::sleep(SLOWED.0);
        let _ = kill_process(rank, Signal::CONT);
        std::thread::sleep(SLOWED.1);
    }
    Ok(())
}

/// Whether a process exists and has not ended.
fn exists(process: Pid) -> bool {
    let status = format!("/proc/{}/stat", process.as_raw_nonzero());
    let status = std::fs::read_to_string(status).unwrap_or_default();
    let state = status
        .rsplit_once(") ")
        .map(|(_, rest)| rest.chars().next());
    test_kill_process(process).is_ok() && state != Some(Some('Z'))
}

fn ended_within(limit: Duration, mut is_so: impl FnMut() -> Result<bool>) -> Result<()> {
    let begun = Instant::now();
    while !is_so()? {
        ensure!(begun.elapsed() < limit, "not within {limit:?}");
        std::thread::sleep(LOOK_EVERY);
    }
    Ok(())
}

fn check_export(struck: &Struck) -> Result<()> {
    let names = names()?;
    let left: Vec<&str> = names.lines().filter(|name| name.contains("of3")).collect();
    ensure!(
        left.is_empty(),
        "{} stays: {left:?}",
        struck.record.display()
    );
    Ok(())
}

fn record_in(folder: &Path) -> Result<Value> {
    let text = std::fs::read_to_string(folder.join("run.json")).context("there is no record")?;
    Ok(serde_json::from_str(&text)?)
}

/// Checks that the record of a job with a slowed rank has all parts.
fn check_whole(struck: &Struck, code: &str) -> Result<String> {
    let record = record_in(&struck.record)?;
    let lost = record.pointer("/job/lost");
    ensure!(lost.is_none(), "a rank was lost: {lost:?}");
    let parts = hosts(&record).len();
    ensure!(parts == 3, "{parts} hosts in the record");
    ensure!(code == "0", "exit code {code}");
    Ok("a record of 3 hosts".into())
}

/// Expects, before the start, an error that names the rank, and afterwards the record of the other
/// ranks.
fn check_lost(struck: &Struck, during: During, code: &str) -> Result<String> {
    let said = std::fs::read_to_string(&struck.log)?;
    if during == During::Prepare {
        ensure!(code == "4", "exit code {code}");
        let wanted = "(rank 2) was lost (preparing): it has not been heard of for 2 s";
        ensure!(said.contains(wanted), "it is not said who was lost");
        ensure!(
            !struck.record.join("run.json").exists(),
            "there is a record"
        );
        return Ok("an error that names the rank, exit code 4".into());
    }
    ensure!(code == "3", "exit code {code}");
    let record = record_in(&struck.record)?;
    let parts = hosts(&record).len();
    ensure!(parts == 2, "{parts} hosts in the record");
    let lost = record.pointer("/job/lost/0").context("nobody is lost")?;
    let phase = lost.get("phase").and_then(Value::as_str);
    ensure!(phase == Some(during.phase_of_loss()), "lost: {lost}");
    ensure!(lost.get("remains").is_none(), "lost: {lost}");
    Ok("the record of 2 hosts, exit code 3".into())
}
