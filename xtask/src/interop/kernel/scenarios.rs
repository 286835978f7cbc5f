//! Behavior of Linux's server and client that neither the built-in server nor nfs-ganesha has.

use super::Ground;
use super::guest::{GUEST, HOST};
use crate::interop::checks::Scenario;
use crate::process::Running;
use crate::record::Record;
use anyhow::{Context, Result, bail};
use std::process::Stdio;
use std::time::Duration;

/// Time limit of a single script in the guest, except for those with a longer one.
const SCRIPT_LIMIT: Duration = Duration::from_secs(60);
/// Time limit of the mount scenario, which took 16 s on many machines, and once more than 60 s.
const A_MOUNT_LIMIT: Duration = Duration::from_secs(240);
/// Load with one file that is removed while it is open, and one that is open at the end of an
/// iteration.
const OPEN_FILES: &str = r#"Deltree "\clients\client1" NT_STATUS_OK
Mkdir "\clients" NT_STATUS_OK
Mkdir "\clients\client1" NT_STATUS_OK
NTCreateX "\clients\client1\removed" 0x40 0x2 10001 NT_STATUS_OK
WriteX 10001 0 4096 4096 NT_STATUS_OK
Unlink "\clients\client1\removed" 0x6 NT_STATUS_OK
NTCreateX "\clients\client1\open" 0x40 0x2 10002 NT_STATUS_OK
WriteX 10002 0 4096 4096 NT_STATUS_OK
ReadX 10002 0 4096 4096 NT_STATUS_OK
"#;
/// Port of the port mapper, which the built-in server implements on its only port.
const PORT_MAPPER: &str = "111";

/// Scenarios against Linux's server and client.
pub const ALL: &[Scenario<Ground>] = &[
    (
        "a directory of many pages is listed",
        a_directory_of_many_pages,
    ),
    ("locks of our server are waited for", locks_are_waited_for),
    (
        "a mount of version 3 is left as it was",
        a_mount_of_version_3,
    ),
    (
        "a mount of version 4.2 is left as it was",
        a_mount_of_version_4,
    ),
    ("calls are counted as knfsd counts them", calls_are_counted),
    ("a mix through a mount of version 3", a_mix_on_version_3),
    ("a mix through a mount of version 4.2", a_mix_on_version_4),
    ("the server restarts in a replay", a_restart_in_a_replay),
    ("the server restarts in a clean-up", a_restart_in_a_clean_up),
];

/// Lists a large directory: knfsd applies the count limit only to entries, not to attributes and
/// verifier.
fn a_directory_of_many_pages(ground: &Ground) -> Result<String> {
    const NAMES: u32 = 2000;
    let script =
        format!("mkdir -p /export/many; cd /export/many; seq -f name%05g 1 {NAMES} | xargs touch");
    ground.guest.succeed(&script, SCRIPT_LIMIT)?;
    let target = format!("nfs://{GUEST}/export/many");
    let mut said = Vec::new();
    for operation in ["readdir", "readdirplus"] {
        let options = ["--count", "200", "--in-flight", "4"];
        let record = Record::read(&ground.bed.probe(operation, &target, &options)?)?;
        let (scheduled, ok) = (
            record.number("/totals/ledger/scheduled")?,
            record.number("/totals/ledger/ok")?,
        );
        if ok != scheduled {
            bail!("{operation}: {ok} of {scheduled} ok");
        }
        said.push(format!("{operation}: {ok} of {scheduled} ok"));
    }
    Ok(said.join(", "))
}

/// Tests two mounts of the built-in server as two clients: the second gets the lock when the first
/// releases it. Without a grant message the kernel would only retry after 30 s.
fn locks_are_waited_for(ground: &Ground) -> Result<String> {
    let arguments = ["serve", "--port", PORT_MAPPER, "--bind", HOST];
    let mut command = ground.bed.command(&arguments);
    let mut server = Running::start(command.stdout(Stdio::null()), &[])?;
    let port: u16 = PORT_MAPPER.parse()?;
    let address = std::net::SocketAddr::new(HOST.parse()?, port);
    server.wait_for(address, SCRIPT_LIMIT)?;
    let script = format!(
        "options=vers=3,port={port},mountport={port},noac,nosharecache\n\
         mkdir -p /mnt/one /mnt/two\n\
         mount -t nfs -o $options {HOST}:/export /mnt/one || exit\n\
         mount -t nfs -o $options {HOST}:/export /mnt/two || exit\n\
         touch /mnt/one/lock\n\
         flock -x /mnt/one/lock sleep 2 & sleep 0.5\n\
         before=$(cut -d' ' -f1 /proc/uptime)\n\
         timeout 10 flock -x /mnt/two/lock true; status=$?\n\
         echo \"$before $(cut -d' ' -f1 /proc/uptime)\"\n\
         wait; umount /mnt/one /mnt/two; exit $status"
    );
    let said = ground.guest.succeed(&script, SCRIPT_LIMIT)?;
    let moments: Vec<f64> = said
        .split_whitespace()
        .filter_map(|word| word.parse().ok())
        .collect();
    let [before, after] = moments[..] else {
        bail!("the guest said {said}");
    };
    Ok(format!("granted after {:.1} s", after - before))
}

/// Checks that two runs that differ only in their number of calls differ by the same number at the
/// server: calls before the operations are in both. The longer run also compares its calls with the
/// server's counters, which must agree without a caveat. It runs in the guest, which has the
/// counters.
fn calls_are_counted(ground: &Ground) -> Result<String> {
    const FEW: u32 = 500;
    const MANY: u32 = 4500;
    /// Largest permitted share of missing or additional calls.
    const OFF_MAX: f64 = 0.001;
    let script = format!(
        "mkdir -p /export/counted; calls() {{ sed -n 's/^rpc \\([0-9]*\\) .*/\\1/p' /proc/net/rpc/nfsd; }}\n\
         probe() {{ /share/filestone probe getattr nfs://127.0.0.1/export/counted --server-here \
         --cost-idle 0 --no-calibrate --as json --count $1; }}\n\
         before=$(calls); probe {FEW} >/dev/null || exit; between=$(calls); probe {MANY} || exit\n\
         echo $before $between $(calls) >&2"
    );
    let output = ground.guest.run(&script, SCRIPT_LIMIT)?;
    let record = Record::read(&output)?;
    let said = String::from_utf8_lossy(&output.stderr);
    let numbers = said.lines().last().unwrap_or_default().split(' ');
    let numbers: Vec<f64> = numbers.filter_map(|word| word.parse().ok()).collect();
    let [before, between, after] = numbers[..] else {
        bail!("the guest said {said}");
    };
    let (more, asked) = (
        (after - between) - (between - before),
        f64::from(MANY - FEW),
    );
    if (more / asked - 1.0).abs() > OFF_MAX {
        bail!("{asked} more operations were {more} more calls at the server");
    }
    let doubt = record.list("/caveats").iter();
    let mut doubt = doubt.filter(|caveat| caveat["caveat"] == "server-calls-differ");
    if let Some(caveat) = doubt.next() {
        bail!("a healthy run has {caveat}");
    }
    let number = |name: &str| record.number(&format!("/cost/calls/{name}"));
    let (counted, made, uncertainty) =
        (number("counted")?, number("made")?, number("uncertainty")?);
    if (counted - made).abs() > OFF_MAX * made + uncertainty {
        bail!("{counted} calls counted, {made} ± {uncertainty} made");
    }
    Ok(format!(
        "{asked} more operations, {more} more calls; within the run {counted} counted, {made:.0} ± \
         {uncertainty:.0} made"
    ))
}

fn a_mount_of_version_3(ground: &Ground) -> Result<String> {
    a_mount(ground, "3")
}

fn a_mount_of_version_4(ground: &Ground) -> Result<String> {
    a_mount(ground, "4.2")
}

/// Replays twice in a row, after a run that was killed, and as the first of two layers. The
/// leftovers of a live run over another connection must not be removed. A run is killed once it is
/// at work: the time until it writes its marker file, before which its directory is not claimed,
/// depends on the machine.
fn a_mount(ground: &Ground, version: &str) -> Result<String> {
    std::fs::write(ground.guest.share.join("open.load"), OPEN_FILES)?;
    let script = format!(
        "PS4='+ $(cut -d\" \" -f1 /proc/uptime) '; set -ex; load=/share/open.load\n\
         mnt=/mnt/v{version}; export=/export/v{version}; mkdir -p $mnt $export\n\
         mount -t nfs -o vers={version} 127.0.0.1:/export $mnt; here=$mnt/v{version}\n\
         replay() {{ /share/filestone replay \"$@\" >/dev/null; }}\n\
         empty() {{ [ -z \"$(ls -A $here)\" ] || {{ ls -AR $here; exit 1; }}; }}\n\
         at_work() {{ timeout 60 sh -c \"until [ -e $1/clients/client0 ]; do sleep 0.1; done\"; }}\n\
         for run in 1 2; do replay $load --run-once --on local:$here; empty; done\n\
         /share/filestone replay $load -d 60s --on local:$here >/dev/null 2>&1 &\n\
         killed=$!; at_work $export; kill -9 $killed; wait $killed || true; [ -e $here/clients ]\n\
         replay $load --run-once --remove-leftover --on local:$here; empty\n\
         replay $load --run-once --on local:$here,nfs://127.0.0.1$export; empty\n\
         /share/filestone replay $load -d 60s --on nfs://127.0.0.1$export >/dev/null 2>&1 &\n\
         alive=$!; at_work $export\n\
         ! replay $load --run-once --remove-leftover --on local:$here 2>/share/refused\n\
         kill -9 $alive; wait $alive || true; grep -q 'another run' /share/refused\n\
         replay $load --run-once --remove-leftover --on local:$here; empty\n\
         umount $mnt"
    );
    let output = ground.guest.run(&script, A_MOUNT_LIMIT)?;
    let trace = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        bail!("{}: {trace}", output.status);
    }
    let (longest, step) = longest_step(&trace).context("the script left no trace")?;
    Ok(format!(
        "nothing is left by two runs, one killed, two layers; longest: {longest:.1} s, {step}"
    ))
}

/// Returns the longest step of a script's trace, whose lines are `+`, the uptime, and a command.
fn longest_step(trace: &str) -> Option<(f64, &str)> {
    let steps: Vec<(f64, &str)> = trace
        .lines()
        .filter_map(|line| line.trim_start_matches('+').trim_start().split_once(' '))
        .filter_map(|(moment, command)| Some((moment.parse().ok()?, command)))
        .collect();
    steps
        .windows(2)
        .map(|pair| (pair[1].0 - pair[0].0, pair[0].1))
        .max_by(|one, other| one.0.total_cmp(&other.0))
}

fn a_mix_on_version_3(ground: &Ground) -> Result<String> {
    a_mix_through(ground, "3")
}

fn a_mix_on_version_4(ground: &Ground) -> Result<String> {
    a_mix_through(ground, "4.2")
}

/// Compares the kernel's counts with nhfsstone's mix: in such a short run each share must be within
/// three points, and the load within 8 %. No kind may exceed ten times its share.
fn a_mix_through(ground: &Ground, version: &str) -> Result<String> {
    const POINTS_MAX: f64 = 3.0;
    const OFFERED: f64 = 100.0;
    const LOAD_LIMIT: f64 = 0.08;
    let script = format!(
        "set -e; mnt=/mnt/mix{version}; mkdir -p $mnt /export/mix{version}\n\
         mount -t nfs -o vers={version},nosharecache 127.0.0.1:/export/mix{version} $mnt\n\
         /share/filestone mix --on local:$mnt --mix nhfsstone --offered {OFFERED} -d 10s \
         --warm-up 0s --remove-set --as json\n\
         [ -z \"$(ls -A $mnt)\" ] || {{ ls -AR $mnt >&2; exit 1; }}\n\
         umount $mnt"
    );
    let record = Record::read(&ground.guest.run(&script, SCRIPT_LIMIT)?)?;
    let mut worst = 0.0_f64;
    for operation in record.list("/mix/operations") {
        let percent = |name: &str| operation[name].as_f64().unwrap_or_default();
        worst = worst.max((percent("got_percent") - percent("want_percent")).abs());
    }
    let calls = record.number("/mix/wire/calls")?;
    let load = calls * 1e9 / record.number("/window_ns")?;
    if worst > POINTS_MAX || (load / OFFERED - 1.0).abs() > LOAD_LIMIT {
        bail!(
            "{load:.1} calls/s, the worst share {worst:.2} points off: {:?}",
            record.list("/mix/operations")
        );
    }
    Ok(format!(
        "{load:.1} calls/s, the worst share {worst:.2} points off"
    ))
}

/// Script that stops the server in the guest for a second and starts it again.
const RESTART: &str = "rpc.nfsd 0; sleep 1; rpc.nfsd -t -u -p 2049 -H 0.0.0.0 8";

fn a_restart_in_a_replay(ground: &Ground) -> Result<String> {
    ground
        .guest
        .succeed("mkdir -p /export/restart", SCRIPT_LIMIT)?;
    let restart = ground.guest.spawn(&format!("sleep 2; {RESTART}"))?;
    let target = format!("nfs://{GUEST}/export/restart");
    let output = ground.bed.run(&[
        "replay",
        "office",
        "--on",
        &target,
        "--clients",
        "2",
        "-d",
        "6s",
        "--as",
        "json",
    ])?;
    restart.wait(SCRIPT_LIMIT)?;
    let record = Record::read(&output)?;
    let left = ground
        .guest
        .succeed("ls -A /export/restart", SCRIPT_LIMIT)?;
    if !left.trim().is_empty() {
        bail!("left behind: {left}");
    }
    let number = |pointer: &str| record.number(pointer);
    let last = record
        .list("/intervals")
        .iter()
        .rev()
        .find(|interval| interval["phase"] == "measure")
        .and_then(|interval| interval["ledger"]["ok"].as_f64());
    let last = last.context("no interval was measured")?;
    if last == 0.0 {
        bail!("nothing succeeded after the restart");
    }
    Ok(format!(
        "{} of {} ok, {last} of them in the last second",
        number("/totals/ledger/ok")?,
        number("/totals/ledger/scheduled")?
    ))
}

/// Stops the server after the first twenty of some hundred files of the set were removed.
fn a_restart_in_a_clean_up(ground: &Ground) -> Result<String> {
    ground
        .guest
        .succeed("mkdir -p /export/cleared", SCRIPT_LIMIT)?;
    let target = format!("nfs://{GUEST}/export/cleared");
    let restart = ground.guest.spawn(&format!(
        "most=0; for look in $(seq 1200); do\n\
         now=$(find /export/cleared -type f | wc -l)\n\
         [ $now -le $most ] || most=$now\n\
         [ $now -ge $((most - 20)) ] || break\n\
         sleep 0.02; done; echo $now of $most; {RESTART}"
    ))?;
    let output = ground.bed.run(&[
        "mix",
        &target,
        "--offered",
        "100",
        "-d",
        "1s",
        "--clients",
        "4",
        "--remove-set",
        "--no-calibrate",
        "--as",
        "json",
    ])?;
    let when = restart.wait(SCRIPT_LIMIT)?;
    let record = Record::read(&output)?;
    let left = ground
        .guest
        .succeed("ls -A /export/cleared", SCRIPT_LIMIT)?;
    if !left.trim().is_empty() {
        bail!("left behind: {left}");
    }
    Ok(format!(
        "{} ok, stopped with {} files left, nothing is left",
        record.number("/totals/ledger/ok")?,
        String::from_utf8_lossy(&when.stdout).trim()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_step_is_found_in_a_trace() {
        let trace = "+ 1.00 mount a\n++ 1.50 ls -A b\nls: no such file\n+ 4.00 umount a\n";
        assert_eq!(longest_step(trace), Some((2.5, "ls -A b")));
        assert_eq!(longest_step("nothing"), None);
    }
}
