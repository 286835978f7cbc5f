//! Five hundred clients of a fleet whose server is stopped for five seconds, or is killed and
//! restarted without state. The expected counts of each client are derived here.
//!
//! Each client writes on its own schedule, 4 writes a second. A late client makes up for no more
//! than a second of it.
//!
//! **Frozen** from F to F + 5 s, with calls that may take longer: each client writes everything due
//! before F, waits with one write, and continues at F + 5 s as if it were F + 4 s: it loses 4 s. In
//! a window of D it starts by B (its directory and its file are made first), so it makes all of `4
//! (D - 4 s)` writes, except those due before B, one that is cut off at either end, and one that
//! was due in between. No operation fails.
//!
//! **Killed** and restarted after a second: its calls are sent again over new connections, and the
//! server does not have its file. The client tries again after pauses of 100, 200, 400, 800, 1,000
//! and 1,000 ms, and gives up when 3.5 s have passed since its write was due. That is with the
//! sixth failure, 2.5 s after the first, if the server was away for a second or more since then,
//! and otherwise with the seventh: so it fails six or seven times (one failure more if a connection
//! is made while the server starts), and for 3.5 s to 5.5 s.

use super::server::Server;
use super::verdict::{self, Verdict, VerdictKind};
use crate::process::{Folder, Logged};
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const CLIENTS: u64 = 500;
const WRITES_PER_S: u64 = 4;
const WINDOW_S: u64 = 14;
/// Time from the start of the run to the fault.
const INTO_RUN: Duration = Duration::from_secs(4);
const FROZEN: Duration = Duration::from_secs(5);
const AWAY: Duration = Duration::from_secs(1);
/// Part of its schedule that a late client makes up for, in seconds.
const MADE_UP_S: u64 = 1;
/// Latest start of a client on a busy host, in seconds.
const BEGUN_S: u64 = 2;
/// Time limit of a run.
const LIMIT: Duration = Duration::from_secs(60);

/// The fault of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    Frozen,
    Killed,
}

impl Fault {
    const ALL: [Self; 2] = [Self::Frozen, Self::Killed];

    const fn name(self) -> &'static str {
        match self {
            Fault::Frozen => "frozen for 5 s",
            Fault::Killed => "killed, and back after 1 s",
        }
    }
}

/// Runs both. Returns whether all went well.
pub fn run(filestone: &Path) -> bool {
    let mut is_good = true;
    for fault in Fault::ALL {
        let verdict = match attempt(filestone, fault) {
            Ok(seen) => evaluate(fault, &seen),
            Err(error) => Verdict::bad("ERROR", format!("{error:#}")),
        };
        let (name, word) = (fault.name(), verdict.word);
        println!("{CLIENTS} clients, {name}: {word}: {}", verdict.detail);
        is_good &= verdict.kind == VerdictKind::Good;
    }
    is_good
}

/// Observations of a run.
struct Seen {
    code: Option<i32>,
    record: Value,
}

fn attempt(filestone: &Path, fault: Fault) -> Result<Seen> {
    let folder = Folder::new("crowd")?;
    let mut server = Server::start(filestone, &[])?;
    let mut command = Command::new(filestone);
    command
        .args(["fleet", "--writers", &CLIENTS.to_string()])
        .arg(format!("nfs://{}/export", server.address))
        .args(["--size", "4K", "--file-size", "16K"])
        .arg(format!("--rate={WRITES_PER_S}ops/s"))
        .arg(format!("--duration={WINDOW_S}s"))
        .args(["--as", "json", "--mark", "0"]);
    let run = Logged::start(&mut command, &[], &folder.path)?;
    std::thread::sleep(INTO_RUN);
    match fault {
        Fault::Frozen => {
            server.freeze()?;
            std::thread::sleep(FROZEN);
            server.thaw()?;
        }
        Fault::Killed => {
            server.kill();
            std::thread::sleep(AWAY);
            server.start_again()?;
        }
    }
    let output = run.wait(LIMIT)?;
    let told = String::from_utf8_lossy(&output.stderr);
    ensure!(!told.contains("panicked"), "{told}");
    let record =
        serde_json::from_slice(&output.stdout).with_context(|| format!("no record: {told}"))?;
    Ok(Seen {
        code: output.status.code(),
        record,
    })
}

fn evaluate(fault: Fault, seen: &Seen) -> Verdict {
    if let Some(verdict) = verdict::balances(&seen.record) {
        return verdict;
    }
    let group = &seen.record["fleet"]["groups"][0];
    let counter = |name: &str| group["counters"][name].as_u64().unwrap_or(u64::MAX);
    let clients = |state: &str| {
        let states = group["states"].as_array().into_iter().flatten();
        let mut of_state = states.filter(|entry| entry["state"] == state);
        of_state
            .next()
            .and_then(|entry| entry["clients"].as_u64())
            .unwrap_or(0)
    };
    let ok = seen.record["totals"]["ledger"]["ok"].as_u64();
    let writes = |name: &str| group[name].as_u64().unwrap_or(u64::MAX) / 4096;
    let (least, most) = (writes("client_bytes_min"), writes("client_bytes_max"));
    let failing_ms = counter("failing_ns") / 1_000_000;
    let whole = WRITES_PER_S * (WINDOW_S - FROZEN.as_secs() + MADE_UP_S);
    let (wanted, failures, failing) = match fault {
        Fault::Frozen => (whole - WRITES_PER_S * BEGUN_S - 2..=whole + 2, 0..=0, 0..=0),
        Fault::Killed => (
            0..=WRITES_PER_S * INTO_RUN.as_secs() + 1,
            6 * CLIENTS..=8 * CLIENTS,
            3500 * CLIENTS..=5500 * CLIENTS,
        ),
    };
    let (state, code) = match fault {
        Fault::Frozen => ("running", Some(0)),
        // All clients have given up, so that no operations are possible.
        Fault::Killed => ("failed", seen.code),
    };
    let found = format!(
        "{least} to {most} writes a client, {} failures, failing {failing_ms} ms in all, {} {state}, \
         exit code {:?}",
        counter("failures"),
        clients(state),
        seen.code
    );
    let faults = [
        (
            !wanted.contains(&least) || !wanted.contains(&most),
            format!("not {wanted:?} writes"),
        ),
        (
            !failures.contains(&counter("failures")),
            format!("not {failures:?} failures"),
        ),
        (
            !failing.contains(&failing_ms),
            format!("not failing for {failing:?} ms"),
        ),
        (clients(state) != CLIENTS, format!("not all are {state}")),
        (counter("checksum_errors") != 0, "checksum errors".into()),
        (
            ok != Some(counter("writes")),
            format!("the ledger has {ok:?} writes"),
        ),
        (seen.code != code, format!("not {code:?}")),
    ];
    match faults.into_iter().find(|(is_wrong, _)| *is_wrong) {
        Some((_, what)) => Verdict::bad("COUNTS", format!("{what}: {found}")),
        None => Verdict::good(found),
    }
}
